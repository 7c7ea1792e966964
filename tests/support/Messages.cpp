// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Messages.h"
#include "openmm/OpenMMException.h"
#include <gtest/gtest.h>

namespace ConstraintTests {

std::string messageOf(const std::function<void()>& function) {
    try {
        function();
    } catch (const OpenMM::OpenMMException& error) {
        return error.what();
    }
    return "";
}

void expectAll(const std::string& message, const std::vector<std::string>& parts) {
    EXPECT_FALSE(message.empty()) << "no exception";
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
}

} // namespace ConstraintTests
