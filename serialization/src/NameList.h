// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_NAME_LIST_H_
#define OPENMM_CONSTRAINTS_NAME_LIST_H_

#include "openmm/OpenMMException.h"
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Many names as one text "name name name", so that they are one property instead of a million nodes. Spaces within
 * names, and bytes that an XML reader may change, are written as %hh. */
inline std::string writeNames(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); i++) {
        if (i > 0)
            text += ' ';
        for (const unsigned char c : names[i])
            if (c > ' ' && c < 127 && std::strchr("%&<>\"'", c) == nullptr)
                text += (char) c;
            else {
                char code[4];
                std::snprintf(code, sizeof code, "%%%02x", c);
                text += code;
            }
    }
    return text;
}

/** Read names written by writeNames(): their number is that of the spaces plus one.
 *  @throws OpenMMException if a % begins no code */
inline std::vector<std::string> readNames(const std::string& text) {
    const auto digit = [&](std::size_t place) {
        const char* const digits = "0123456789abcdef";
        const char* const found = place < text.size() && text[place] != 0 ? std::strchr(digits, text[place]) : nullptr;
        if (found == nullptr)
            throw OpenMM::OpenMMException("Malformed XML: a % in a list of names is not followed by two digits 0-f");
        return int(found - digits);
    };
    std::vector<std::string> names(1);
    for (std::size_t i = 0; i < text.size(); i++)
        if (text[i] == ' ')
            names.emplace_back();
        else if (text[i] == '%') {
            names.back() += (char) (16 * digit(i + 1) + digit(i + 2));
            i += 2;
        } else
            names.back() += text[i];
    return names;
}

} // namespace ConstraintPlugin

#endif
