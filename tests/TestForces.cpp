// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/ProbeForce.h"
#include "support/Simulation.h"
#include <functional>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

/** A periodic chain in a field with a parameter, springs in a force group of their own, and a probe. */
class Forces : public testing::TestWithParam<Setup> {
protected:
    struct Run {
        std::unique_ptr<Probe> probe = std::make_unique<Probe>();
        HarmonicBondForce* springs = nullptr;
        std::unique_ptr<Simulation> simulation;
    };
    Run start(Declared declared = Declared::InForce) const {
        TestSystem chain = findSystem("chain");
        chain.periodic = true;
        chain.box = {{9, 0, 0}, {0, 9, 0}, {0, 0, 9}};
        Run run;
        auto system = toOpenMM(chain, declared);
        addSprings(*system, chain);
        run.springs = dynamic_cast<HarmonicBondForce*>(&system->getForce(system->getNumForces() - 1));
        run.springs->addBond(0, 30, 1.0, 500); // across half the box: the box matters
        run.springs->setForceGroup(1);
        auto* field = new CustomExternalForce("strength*(x*x+y*z)");
        field->addGlobalParameter("strength", 20.0);
        for (int i = 0; i < chain.numParticles(); i++)
            field->addParticle(i, {});
        system->addForce(field);
        system->addForce(new ProbeForce(*run.probe));
        run.simulation = std::make_unique<Simulation>(std::move(system), makeIntegrator(GetParam(), 0.002, 1e-11),
                                                      std::get<0>(GetParam()));
        run.simulation->context->setPositions(toVectors(chain.positions));
        run.simulation->context->setVelocities(tangentVelocities(chain, 1, 3));
        return run;
    }
    /** After a disturbance between steps, a run goes on as a fresh Context does from the disturbed state.
     *  @param matters  whether the disturbance changes the trajectory */
    void expectFreshForces(const std::function<void(Run&)>& disturb, bool matters,
                           Declared declared = Declared::InForce) const {
        Run run = start(declared), undisturbed = start(declared), fresh = start(declared);
        run.simulation->integrator->step(5);
        undisturbed.simulation->integrator->step(5);
        disturb(run);
        const State state = run.simulation->context->getState(State::Positions | State::Velocities | State::Parameters);
        disturb(fresh); // what a State does not carry
        fresh.simulation->context->setState(state);
        for (Run* each : {&run, &undisturbed, &fresh})
            each->simulation->integrator->step(3);
        const Precision precision = precisionOf(std::get<0>(GetParam()));
        EXPECT_LT(distance(run.simulation->positions(), fresh.simulation->positions()), 1e-10 + precision.position);
        EXPECT_LT(distance(run.simulation->velocities(), fresh.simulation->velocities()),
                  1e-6 + 1000 * precision.velocity);
        const double effect = distance(run.simulation->positions(), undisturbed.simulation->positions());
        if (matters)
            EXPECT_GT(effect, 1e-7 + 2 * precision.position);
        else
            EXPECT_LT(effect, 1e-12 + precision.position);
    }
};

TEST_P(Forces, AreEvaluatedOnceAStep) {
    Run run = start();
    run.simulation->integrator->step(1);
    const int before = run.probe->forceEvaluations;
    // RATTLE needs those of both ends in its very first step.
    EXPECT_EQ(before, std::get<2>(GetParam()) == "Rattle" ? 2 : 1);
    run.simulation->integrator->step(7);
    for (int i = 0; i < 3; i++)
        run.simulation->integrator->step(1);
    EXPECT_EQ(run.probe->forceEvaluations - before, 10);
}

TEST_P(Forces, AreFreshAfterAParameterChanges) {
    expectFreshForces([](Run& run) { run.simulation->context->setParameter("strength", 90.0); }, true);
}

TEST_P(Forces, AreFreshAfterPositionsAreSet) {
    expectFreshForces(
        [](Run& run) {
            Vectors r = run.simulation->positions();
            for (Vec3& each : r)
                each += Vec3(0.3, 0.1, 0.2);
            run.simulation->context->setPositions(r);
        },
        true);
}

TEST_P(Forces, AreFreshAfterVelocitiesAreSet) {
    expectFreshForces(
        [](Run& run) {
            Vectors v = run.simulation->velocities();
            for (Vec3& each : v)
                each += Vec3(0.3, 0.1, 0.2);
            run.simulation->context->setVelocities(v);
        },
        true);
}

TEST_P(Forces, AreFreshAfterTheBoxChanges) {
    expectFreshForces(
        [](Run& run) {
            run.simulation->context->setPeriodicBoxVectors(Vec3(4.3, 0, 0), Vec3(0, 4.2, 0), Vec3(0, 0, 4.1));
        },
        true);
}

TEST_P(Forces, AreFreshAfterParametersInContextAreUpdated) {
    expectFreshForces(
        [](Run& run) {
            run.springs->setBondParameters(0, 0, 2, 0.5, 4000);
            run.springs->updateParametersInContext(*run.simulation->context);
        },
        true);
}

TEST_P(Forces, AreFreshAfterTheForceGroupsChange) {
    expectFreshForces([](Run& run) { run.simulation->integrator->setIntegrationForceGroups(1 << 0); }, true);
    expectFreshForces([](Run& run) { run.simulation->integrator->setIntegrationForceGroups(1 << 1); }, true);
}

TEST_P(Forces, SurviveQueriesOfEnergyAndForces) {
    Run run = start(), undisturbed = start();
    for (int what : {(int) State::Energy, (int) State::Forces, State::Energy | State::Forces | State::Velocities})
        for (int groups : {-1, 1 << 0, 1 << 1, 1 << 7}) {
            run.simulation->context->getState(what, false, groups);
            for (Run* each : {&run, &undisturbed})
                each->simulation->integrator->step(3);
            EXPECT_LT(distance(run.simulation->positions(), undisturbed.simulation->positions()),
                      1e-12 + precisionOf(std::get<0>(GetParam())).position);
        }
}

TEST_P(Forces, SurviveApplyingConstraints) {
    expectFreshForces(
        [](Run& run) {
            run.simulation->integrator->applyConstraints();
            if (std::get<2>(GetParam()) == "Rattle")
                run.simulation->integrator->applyVelocityConstraints();
        },
        false);
    // OpenMM's own verb, which calls no integrator back: it moves positions within its tolerance.
    expectFreshForces([](Run& run) { run.simulation->context->applyConstraints(1e-12); }, false, Declared::InSystem);
}

TEST_P(Forces, OfOtherGroupsAreLeftOut) {
    Run run = start(), all = start();
    run.simulation->integrator->setIntegrationForceGroups(1 << 1);
    run.simulation->integrator->step(5);
    EXPECT_EQ(run.probe->lastGroups, 1 << 1);
    all.simulation->integrator->step(5);
    EXPECT_GT(distance(run.simulation->positions(), all.simulation->positions()), 2e-6);
    // The groups switch no constraint off, though the ConstraintForce is in group 0.
    EXPECT_TRUE(run.simulation->integrator->getSolverSummary().converged);
    EXPECT_LE(run.simulation->integrator->getSolverSummary().maxError,
              std::max(1e-11, precisionOf(std::get<0>(GetParam())).constraint));
    EXPECT_GE(run.simulation->integrator->getSolverSummary().worstConstraint, 0);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Forces, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });
