// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class RattleIntegratorTest : public testing::TestWithParam<Setup> {};
class ShakeIntegratorTest : public testing::TestWithParam<Setup> {};

TEST_P(RattleIntegratorTest, IsReversibleInTime) {
    const TestSystem& system = findSystem("chain");
    Simulation s = simulate(system, Declared::InForce, GetParam(), 0.001, 1e-13);
    const Vectors start = s.positions(), startVelocities = s.velocities();
    const auto flip = [&] {
        Vectors v = s.velocities();
        for (Vec3& each : v)
            each = -each;
        s.context->setVelocities(v);
    };
    s.integrator->step(100);
    EXPECT_GT(distance(s.positions(), start), 0.01) << "it went nowhere: returning is no feat";
    flip();
    s.integrator->step(100);
    flip();
    // Rounding of two hundred steps.
    const Precision precision = precisionOf(std::get<0>(GetParam()));
    EXPECT_LT(distance(s.positions(), start), 1e-9 + 20 * precision.position);
    EXPECT_LT(distance(s.velocities(), startVelocities), 1e-7 + 1000 * precision.velocity);
}

/** A trajectory of another integrator, with System constraints and OpenMM's own solver, on Reference. */
static Vectors builtInTrajectory(const TestSystem& table, Integrator& integrator, int steps) {
    integrator.setConstraintTolerance(1e-11);
    auto system = toOpenMM(table, Declared::InSystem);
    addSprings(*system, table);
    const auto context = makeContext(*system, integrator, "Reference");
    context->setPositions(toVectors(table.positions));
    context->setVelocities(tangentVelocities(table, 1, 3));
    integrator.step(steps);
    return context->getState(State::Positions).getPositions();
}

TEST_P(RattleIntegratorTest, AgreesWithCustomIntegratorsRattle) {
    for (const char* name : {"CH3", "chain", "ring"}) {
        // Velocity Verlet with constraints as OpenMM's documentation of CustomIntegrator gives it.
        CustomIntegrator custom(0.002);
        custom.addPerDofVariable("x1", 0);
        custom.addUpdateContextState();
        custom.addComputePerDof("v", "v+0.5*dt*f/m");
        custom.addComputePerDof("x", "x+dt*v");
        custom.addComputePerDof("x1", "x");
        custom.addConstrainPositions();
        custom.addComputePerDof("v", "v+0.5*dt*f/m+(x-x1)/dt");
        custom.addConstrainVelocities();
        const Vectors expected = builtInTrajectory(findSystem(name), custom, 50);
        Simulation s = simulate(findSystem(name), Declared::InSystem, GetParam(), 0.002, 1e-12);
        s.integrator->step(50);
        EXPECT_LT(distance(s.positions(), expected), 1e-7 + 10 * precisionOf(std::get<0>(GetParam())).position) << name;
        EXPECT_GT(distance(expected, toVectors(findSystem(name).positions)), 1e-2) << name;
    }
}

TEST_P(ShakeIntegratorTest, AgreesWithVerletIntegrator) {
    for (const char* name : {"CH3", "chain", "ring"}) {
        VerletIntegrator verlet(0.002);
        const Vectors expected = builtInTrajectory(findSystem(name), verlet, 50);
        Simulation s = simulate(findSystem(name), Declared::InSystem, GetParam(), 0.002, 1e-12);
        s.integrator->step(50);
        EXPECT_LT(distance(s.positions(), expected), 1e-7 + 10 * precisionOf(std::get<0>(GetParam())).position) << name;
        EXPECT_GT(distance(expected, toVectors(findSystem(name).positions)), 1e-2) << name;
    }
}

TEST_P(ShakeIntegratorTest, KeepsVelocitiesHalfAStepBehindAndKineticEnergyAtTheStep) {
    // A free fall has v = g t exactly; the constraint to a second, equally falling particle does nothing.
    TestSystem pair = findSystem("OH");
    pair.masses = {2, 2};
    auto system = toOpenMM(pair, Declared::InForce);
    auto* fall = new CustomExternalForce("-6*x");
    fall->addParticle(0, {});
    fall->addParticle(1, {});
    system->addForce(fall);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.01), std::get<0>(GetParam()));
    s.context->setPositions(toVectors(pair.positions));
    s.context->setVelocities(Vectors(2, Vec3(3 * -0.005, 0, 0)));
    s.integrator->step(10);
    EXPECT_NEAR(s.velocities()[0][0], 3 * (0.1 - 0.005), 1e-6);
    EXPECT_NEAR(s.context->getState(State::Energy).getKineticEnergy(), 2 * 0.5 * 2 * 0.3 * 0.3, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Platforms, RattleIntegratorTest, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Platforms, ShakeIntegratorTest, testing::ValuesIn(setupsOf("Shake")),
                         [](const auto& info) { return nameOf(info.param); });
