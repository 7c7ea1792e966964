// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_STATE_CHECKS_H_
#define CONSTRAINTS_TESTS_STATE_CHECKS_H_

#include "support/Simulation.h"
#include <functional>
#include <string>

/** What projections and refusals leave of a Context's state. */
namespace ConstraintTests {

void oneStep(Simulation& s);
/** That an action throws, what, and that it changes nothing. */
ConstraintPlugin::ConstraintProblem expectRefusal(Simulation& s, const std::string& kind,
                                                  const std::function<void(Simulation&)>& action);
/** That positions, and the present velocities with one component scaled, are left as they are within a tolerance of
 *  1e-3, and projected within another. */
void expectLeftWithinTheTolerance(Simulation& s, const Vectors& positions, double scale, double tolerance,
                                  double leastMove);

/** That steps of one Context change nothing in another of the same System, with steps of 1 fs and of 2 fs. */
void expectNotMixed(const std::function<Simulation(double stepSize)>& simulate);

/** Positions, each by itself moved into a periodic box, and by what. */
struct Wrapped {
    Vectors positions, images; ///< original = position + image
};
Wrapped wrapped(const Vectors& positions, const Vectors& box);

} // namespace ConstraintTests

#endif
