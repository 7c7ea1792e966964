// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "TextMarkers.h"
#include "openmm/OpenMMException.h"
#include <set>

namespace ConstraintPlugin {

std::string fillMarkers(const std::string& name, const std::string& text,
                        const std::map<std::string, std::string>& values) {
    std::string result;
    std::set<std::string> found;
    std::size_t begin = 0;
    for (std::size_t first = text.find('$'); first != std::string::npos; first = text.find('$', begin)) {
        const std::size_t last = text.find('$', first + 1);
        const std::string marker = text.substr(first + 1, last == std::string::npos ? last : last - first - 1);
        const auto value = values.find(marker);
        if (last == std::string::npos || value == values.end())
            throw OpenMM::OpenMMException("The kernel text " + name + " has a marker that has no value: $" +
                                          marker.substr(0, marker.find('\n')));
        result += text.substr(begin, first - begin) + value->second;
        found.insert(marker);
        begin = last + 1;
    }
    for (const auto& [marker, value] : values)
        if (found.count(marker) == 0)
            throw OpenMM::OpenMMException("The kernel text " + name + " has no marker $" + marker + "$");
    return result + text.substr(begin);
}

} // namespace ConstraintPlugin
