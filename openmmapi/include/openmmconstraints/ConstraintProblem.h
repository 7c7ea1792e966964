// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_PROBLEM_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_PROBLEM_H_

#include "openmm/OpenMMException.h"
#include <limits>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** A problem of a System's constraints, or of a step. Plain data.
 *
 *  Kinds, when a Context is created:
 *  - "particles": an index out of range, a particle twice, a virtual site, a mass that is negative or not a number
 *  - "target": a value that the coordinate cannot have; "parameter": one of an expression that is missing or not finite
 *  - "expression": one that cannot be evaluated; "shape": a rigid body with invalid positions
 *  - "box": a length that the minimum image cannot represent
 *  - "straight": a dihedral of particles that are constrained to one line
 *  - "contradictory": values of one coordinate, or lengths, that no positions have together; failed projections look
 *    for them, too
 *  - "undecided": coupled constraints whose rank could not be determined
 *  - "too-large", "memory": a factor that is too large, lack of memory
 *  - "combination": a Force that does not work with constraints; "integrator": one that does not solve them
 *  - "topology": names or bonds that are not this System's
 *  - "anchor", "duplicate": a System constraint with one massless particle, or two between the same particles. When a
 *    Context is created, OpenMM itself throws; these records are made by diagnose()
 *  - "held-twice": a coordinate that others hold, too. It is a warning, and an exception where it is to be read as a
 *    reaction coordinate
 *
 *  In a projection or a step:
 *  - "far-off": initial positions that would be moved too far; "minimum-image": because they are wrapped into a box
 *  - "not-converged", "inconsistent" (a constraint that depends on others does not hold), "singular", "not-finite";
 *    "too-fast": a bond or a rigid body that would rotate too far in a step
 *  - "no-gradient": there is none at the positions, or that of an expression vanishes on its surface
 *  - "mirror-image": a rigid body at positions that are a mirror image of its shape; "anchors": its particles without
 *    mass are at places that contradict the shape
 *  - "rounding": a coordinate too large for its precision; "moving": a target that has left its range
 *  - "off-parameter": a Context parameter was changed and the positions violate the constraints; "drift": beyond
 *    setMaxDrift()
 *  - "no-positions": how many constraints are independent depends on positions, which are not set
 *  - "raised": an exception of OpenMM or a Force, with its text */
struct ConstraintProblem {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    std::string kind;             ///< see above
    std::vector<int> constraints; ///< in the order of getMultipliers(); rigid bodies are not in it
    std::vector<int> particles;   ///< that they join, or that the problem concerns
    double value = none;          ///< the value that was found, NaN if the problem is not a number
    double bound = none;          ///< its bound, in the same unit
    std::string message;          ///< what is wrong, where, and by how much
    std::string remedy;           ///< what to do about it

    /** The message, and the remedy in a line of its own. */
    std::string text() const;
};

/** The exception that the integrators of this library throw if constraints cannot be solved. */
class ConstraintException : public OpenMM::OpenMMException {
public:
    explicit ConstraintException(ConstraintProblem problem);
    ~ConstraintException() noexcept override;
    const ConstraintProblem& getProblem() const {
        return problem;
    }

private:
    ConstraintProblem problem;
};

} // namespace ConstraintPlugin

#endif
