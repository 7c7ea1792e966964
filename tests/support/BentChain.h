// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_BENT_CHAIN_H_
#define CONSTRAINTS_TESTS_BENT_CHAIN_H_

#include "Kinds.h"
#include "support/Simulation.h"

namespace ConstraintTests {

/** A bent chain of four particles with springs, angles and a torsion, in which any coordinate may be constrained. */
extern const Vectors bentChainPositions, bentChainVelocities;
std::unique_ptr<OpenMM::System> makeBentChain();

/** The coordinate of the first two, three or four particles; Custom: the distance of the centroids of two pairs. */
double valueInBentChain(ConstraintPlugin::CoordinateKind kind, const Vectors& x);
/** Constrain it. */
void constrainBentChain(ConstraintPlugin::ConstraintForce& force, ConstraintPlugin::CoordinateKind kind, double target,
                        double rate = 0, double startTime = 0);
/** Let the target of one go to another value, where a parameter is 1. */
void interpolate(ConstraintPlugin::ConstraintForce& force, ConstraintPlugin::CoordinateKind kind, int index,
                 const std::string& parameter, double value1);

} // namespace ConstraintTests

#endif
