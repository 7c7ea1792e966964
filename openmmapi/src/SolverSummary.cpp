// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/SolverSummary.h"
#include <sstream>

namespace ConstraintPlugin {

std::string SolverSummary::str() const {
    std::ostringstream out;
    out << (converged ? "converged" : "NOT converged") << " in " << iterations << " iterations, largest error "
        << maxError << ", tolerance " << tolerance;
    if (worstConstraint >= 0)
        out << " (constraint " << worstConstraint << ")";
    out << "; " << clusters << " clusters, " << solver;
    if (!note.empty())
        out << "; " << note;
    if (fitDeviation > tolerance)
        out << "; linear and planar rigid bodies have fitted lengths, which differ from the given ones by up to "
            << fitDeviation << " (constraint " << fittedConstraint << ")";
    return out.str();
}

} // namespace ConstraintPlugin
