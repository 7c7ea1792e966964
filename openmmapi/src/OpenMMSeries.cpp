// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "OpenMMSeries.h"
#include "openmm/OpenMMException.h"
#include "openmm/Platform.h"

using OpenMM::Platform;

namespace ConstraintPlugin {

/** The first two numbers of a version. */
static std::string seriesOf(const std::string& version) {
    return version.substr(0, version.find('.', version.find('.') + 1));
}

const char* openMMSeries() {
    return OPENMM_SERIES; // of CMakeLists.txt
}

bool isOpenMMSeriesRight() {
    return seriesOf(Platform::getOpenMMVersion()) == openMMSeries();
}

void requireOpenMMSeries() {
    if (isOpenMMSeriesRight())
        return;
    const std::string found = Platform::getOpenMMVersion();
    throw OpenMM::OpenMMException(
        "These libraries of openmm-constraints " CONSTRAINTS_VERSION " are for OpenMM " OPENMM_SERIES ", but OpenMM " +
        found + " is loaded.\nRemedy: pip install openmm-constraints \"openmm==" + seriesOf(found) + ".*\"");
}

} // namespace ConstraintPlugin
