// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_PROBLEM_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_PROBLEM_H_

#include "openmm/OpenMMException.h"
#include <limits>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** One thing that is wrong with a System's constraints, or went wrong with them in a step. Plain data.
 *
 *  Kinds, when a Context is created:
 *  - "particles": an index out of range, a particle twice, a virtual site, a mass that is no mass
 *  - "target": a value that no coordinate can have; "parameter": one of an expression that is missing or not finite
 *  - "expression": one that cannot be evaluated; "shape": a rigid body that has none
 *  - "box": a length that the periodic box cannot hold by the minimum image
 *  - "straight": a dihedral of particles that are held on one line
 *  - "contradictory": lengths that no positions can have together
 *  - "undecided": coupled constraints of which it cannot be told how many are independent
 *  - "too-large", "memory": a factor that is refused, memory that does not suffice
 *  - "combination": a Force that does not go together with constraints; "integrator": one that cannot hold them
 *  - "topology": names or bonds that are not this System's
 *  - "anchor", "duplicate": a System constraint with one massless end, or two between the same particles. OpenMM
 * refuses them in its own words; the records are diagnose()'s
 *
 *  In a projection or a step:
 *  - "far-off": a start that would be moved too far; "minimum-image": because it is wrapped into a box
 *  - "not-converged", "inconsistent" (a constraint that depends on others does not hold), "no-gradient", "singular",
 *    "not-finite"; "too-fast": a bond that would turn too far in a step
 *  - "rounding": a coordinate too large for its precision; "moving": a target that has left its range
 *  - "off-parameter": a Context parameter that the positions do not meet; "drift": beyond setMaxDrift()
 *  - "raised": what OpenMM or a Force raised, in their words */
struct ConstraintProblem {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    std::string kind;             ///< see above
    std::vector<int> constraints; ///< in the order of getMultipliers(); rigid bodies are not in it
    std::vector<int> particles;   ///< that they join, or that it is about
    double value = none;          ///< what was found ...
    double bound = none;          ///< ... and what it has to keep, in the same unit; both NaN where no number decides
    std::string message;          ///< what is wrong, where, and by how much
    std::string remedy;           ///< what to do about it

    /** The message, and in a line of its own the remedy. */
    std::string text() const;
};

/** What the integrators of this library throw where constraints are at fault. */
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
