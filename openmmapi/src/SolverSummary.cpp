// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/SolverSummary.h"
#include <sstream>

namespace ConstraintPlugin {

std::string SolverSummary::str() const {
    std::ostringstream out;
    out << (converged ? "converged" : "NOT converged") << " in " << iterations
        << (iterations == 1 ? " iteration" : " iterations") << ", largest error " << maxError << ", tolerance "
        << tolerance;
    if (worstConstraint >= 0)
        out << " (constraint " << worstConstraint << ")";
    out << "; " << clusters << (clusters == 1 ? " cluster, " : " clusters, ") << solver;
    if (!note.empty())
        out << "; " << note;
    if (fitDeviation > tolerance)
        out << "; linear and planar rigid bodies have fitted lengths, which differ from the given ones by up to "
            << fitDeviation << " (constraint " << fittedConstraint << ")";
    if (absorbed > 0) {
        out << "; rigid bodies hold " << absorbed << (absorbed == 1 ? " constraint" : " constraints")
            << " of their particles, with multipliers of 0";
        if (absorbedDeviation > tolerance)
            out << "; their values differ from the shapes by up to " << absorbedDeviation << " (constraint "
                << absorbedConstraint << ")";
    }
    if (lineShift > 0)
        out << "; rigid bodies have particles moved by up to " << lineShift << " nm onto a line";
    if (joinedBodies > 0)
        out << "; " << joinedBodies << " rigid " << (joinedBodies == 1 ? "body is" : "bodies are") << " joined";
    if (joints > 0)
        out << ", with " << joints << (joints == 1 ? " joint" : " joints") << " at shared particles";
    return out.str();
}

} // namespace ConstraintPlugin
