// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Messages.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <regex>

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

std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
    return std::regex_replace(text, std::regex(pattern), by);
}

std::vector<std::string> matchesOf(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    const int group = std::min<int>(expression.mark_count(), 1);
    return {std::sregex_token_iterator(text.begin(), text.end(), expression, group), std::sregex_token_iterator()};
}

} // namespace ConstraintTests
