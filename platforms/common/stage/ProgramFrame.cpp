// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ProgramFrame.h"

using std::string;

namespace ConstraintPlugin {

ProgramText ProgramFrame::text(bool atBorder, const string& head) const {
    ProgramText text(head);
    text.define("COARSE", traits.isCoarse)
        .define("AT_BORDER", atBorder)
        .define("NUM_BATH_SUMS", numBathSums)
        .define("NO_FAILURE", noFailure)
        .provide("arguments", arguments.definition())
        .need("steps.cc");
    if (atBorder)
        text.need("borderField.cc");
    return text;
}

Program ProgramFrame::programOf(const string& text, std::size_t sharedBytes, bool isCooperative) const {
    arguments.requireKnownIn(text);
    return std::make_shared<LazyProgram>(device, text, sharedBytes, isCooperative);
}

string ProgramFrame::kernelText(bool isShare, const string& name, const string& bounds, const string& memory,
                                const string& body, const string& begin) const {
    return isShare ? arguments.functionText(name, memory, body, begin)
                   : arguments.kernelText(name, bounds, memory, body, begin);
}

} // namespace ConstraintPlugin
