// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_INTEGRATORS_H_
#define OPENMM_CONSTRAINTS_INTEGRATORS_H_

#include "openmmconstraints/ConstraintForceIntegrator.h"
#include "openmmconstraints/RattleIntegrator.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"
#include "openmmconstraints/RattleMTSIntegrator.h"
#include "openmmconstraints/RattleMTSLangevinIntegrator.h"
#include "openmmconstraints/RattleNoseHooverIntegrator.h"
#include "openmmconstraints/ShakeIntegrator.h"

/** DO(name) for the class of each integrator. */
#define CONSTRAINT_INTEGRATORS(DO)                                                                                     \
    DO(RattleIntegrator)                                                                                               \
    DO(ShakeIntegrator)                                                                                                \
    DO(RattleLangevinIntegrator)                                                                                       \
    DO(RattleNoseHooverIntegrator)                                                                                     \
    DO(RattleMTSIntegrator)                                                                                            \
    DO(RattleMTSLangevinIntegrator)                                                                                    \
    DO(ConstraintForceIntegrator)

/** DO(name) for each time step; an integrator may have several, and chooses by getStepKernelName(). The kernel is
 * called Integrate<name>Step; Reference<name>Step and Common<name>Step implement it. */
#define CONSTRAINT_STEPS(DO)                                                                                           \
    DO(Rattle)                                                                                                         \
    DO(Shake)                                                                                                          \
    DO(RattleLangevin)                                                                                                 \
    DO(GeodesicLangevin)                                                                                               \
    DO(RattleNoseHoover)                                                                                               \
    DO(RattleMTS)                                                                                                      \
    DO(RattleMTSLangevin)                                                                                              \
    DO(ConstraintForce)

#endif
