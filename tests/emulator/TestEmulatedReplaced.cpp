// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// OpenMM's integrators with this library's solver on CUDA (ConstraintForce::setReplacesSolver), by kernels of both.
#include "Emulated.h"
#include "support/ForeignRun.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** With a constraint of the System, for which a CustomIntegrator asks: of two massless particles, which it moves not.
 */
InitialState withReplacedSolver(InitialState start) {
    addReplacing(*start.system);
    const int first = start.system->addParticle(0), second = start.system->addParticle(0);
    start.system->addConstraint(first, second, 0.1);
    for (double x : {3.0, 3.1}) {
        start.positions.emplace_back(x, 0, 0);
        start.velocities.emplace_back();
    }
    for (int f = 0; f < start.system->getNumForces(); f++)
        if (auto* nonbonded = dynamic_cast<NonbondedForce*>(&start.system->getForce(f)))
            for (int i = 0; i < 2; i++)
                nonbonded->addParticle(0, 0.1, 0);
    return start;
}

ForeignRun begin(InitialState start, const std::string& integrator, const std::string& platform) {
    ForeignRun run(std::move(start.system), makeForeign(integrator, 0.0005, 1e-9), platform);
    run.context->setPositions(start.positions);
    run.context->setVelocities(start.velocities);
    return run;
}

class EmulatedReplaced : public testing::TestWithParam<std::string> {};

TEST_P(EmulatedReplaced, ComputesWhatReferenceComputes) {
    for (InitialState (*start)() : {molecule, bodies, joints, chainOfBodies}) {
        std::vector<Vectors> ends;
        for (const char* platform : {"Reference", "CUDAMixed"}) {
            ForeignRun run = begin(withReplacedSolver(start()), GetParam(), platform);
            run.integrator->step(3);
            ends.push_back(run.positions());
        }
        EXPECT_LT(distance(ends[0], ends[1]), 1e-8);
    }
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedReplaced, testing::Values("Verlet", "FrictionlessLangevinMiddle", "CustomVerlet"),
                         [](const auto& info) { return info.param; });

} // namespace
