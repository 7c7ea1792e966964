// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Every RattleLangevinIntegrator has its own random numbers and does not change those of OpenMM.
#include "support/Langevin.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class Noise : public Langevin {
protected:
    Simulation chain(int seed = 11) const {
        auto integrator = makeIntegrator(GetParam(), 0.002);
        dynamic_cast<RattleLangevinIntegrator&>(*integrator).setRandomNumberSeed(seed);
        Simulation s(toOpenMM(findSystem("chain"), Declared::InForce), std::move(integrator), platform());
        s.context->setPositions(toVectors(findSystem("chain").positions));
        return s;
    }
};

} // namespace

TEST_P(Noise, OfAContextDoesNotDependOnAnother) {
    Simulation alone = chain();
    alone.integrator->step(10);
    Simulation s = chain();
    s.integrator->step(5);
    const Simulation never = chain();
    Simulation beside = chain(), differs = chain(12);
    for (int i = 0; i < 5; i++) {
        s.integrator->step(1);
        beside.integrator->step(2);
        differs.integrator->step(2);
    }
    EXPECT_EQ(distance(s.positions(), alone.positions()), 0);
    EXPECT_EQ(distance(beside.positions(), alone.positions()), 0);
    EXPECT_GT(distance(differs.positions(), alone.positions()), 1e-3);
    Simulation unique = chain(0), other = chain(0);
    unique.integrator->step(10);
    other.integrator->step(10);
    EXPECT_GT(distance(unique.positions(), other.positions()), 1e-3);
}

TEST_P(Noise, LeavesOpenMMsAlone) {
    // A thermostat and an integrator of OpenMM's that draw from its own generator.
    const auto run = [&](bool withOurs) {
        System system;
        for (int i = 0; i < 10; i++)
            system.addParticle(10);
        auto* thermostat = new AndersenThermostat(300, 100);
        thermostat->setRandomNumberSeed(11);
        system.addForce(thermostat);
        LangevinMiddleIntegrator integrator(300, 10, 0.002);
        integrator.setRandomNumberSeed(11);
        const auto context = makeContext(system, integrator, platform());
        context->setPositions(Vectors(10));
        integrator.step(5);
        if (withOurs)
            chain().integrator->step(3);
        integrator.step(5);
        return context->getState(State::Positions).getPositions();
    };
    EXPECT_EQ(distance(run(true), run(false)), 0);
}

TEST_P(Noise, AStepThatFailsDrawsNothing) {
    Simulation s = chain(), undisturbed = chain();
    for (Simulation* each : {&s, &undisturbed})
        each->integrator->step(3);
    langevin(s).setTemperature(1e12);
    for (int steps : {1, 4}) {
        EXPECT_THROW(s.integrator->step(steps), OpenMMException);
        EXPECT_EQ(s.context->getStepCount(), 3);
    }
    langevin(s).setTemperature(300);
    for (Simulation* each : {&s, &undisturbed})
        each->integrator->step(3);
    EXPECT_EQ(distance(s.positions(), undisturbed.positions()), 0);
    EXPECT_EQ(distance(s.velocities(), undisturbed.velocities()), 0);
}

TEST_P(Noise, GoesOnFromACheckpointUnderAnotherSeed) {
    Simulation s = chain(), restored = chain(99), back = chain(0);
    s.integrator->step(7);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    s.integrator->step(8);
    restored.integrator->step(2);
    for (Simulation* each : {&restored, &back}) {
        checkpoint.seekg(0);
        each->context->loadCheckpoint(checkpoint);
        each->integrator->step(8);
        EXPECT_EQ(distance(s.positions(), each->positions()), 0);
        EXPECT_EQ(distance(s.velocities(), each->velocities()), 0);
    }
}

TEST_P(Noise, OfTheChildrenOfACompoundIntegratorIsTheirOwn) {
    auto system = toOpenMM(findSystem("chain"), Declared::InForce);
    const auto run = [&](std::initializer_list<int> seeds, std::initializer_list<int> children,
                         const std::string& checkpoint = "") {
        CompoundIntegrator compound;
        for (int seed : seeds) {
            auto* child = new RattleLangevinIntegrator(300, 1, 0.001);
            child->setRandomNumberSeed(seed);
            compound.addIntegrator(child);
        }
        const auto context = makeContext(*system, compound, platform());
        context->setPositions(toVectors(findSystem("chain").positions));
        if (!checkpoint.empty()) {
            std::stringstream stream(checkpoint);
            context->loadCheckpoint(stream);
        }
        for (int child : children) {
            compound.setCurrentIntegrator(child);
            compound.step(3);
        }
        std::stringstream stream;
        context->createCheckpoint(stream);
        return std::pair(context->getState(State::Positions).getPositions(), stream.str());
    };
    const Vectors first = run({7, 8}, {0}).first;
    EXPECT_EQ(distance(run({7, 9}, {0}).first, first), 0);
    EXPECT_GT(distance(run({7, 7}, {1}).first, first), 1e-4) << "children of one seed draw different numbers";
    const auto whole = run({7, 8}, {0, 1, 0, 1}), half = run({7, 8}, {0, 1});
    EXPECT_EQ(distance(run({1, 2}, {0, 1}, half.second).first, whole.first), 0);
}

TEST_P(Noise, OfAParticleGoesByItsNumber) {
    // Massless particles before it count, whatever they are. On all platforms the numbers are those of Reference.
    const int n = 4;
    const auto end = [&](const std::string& where) {
        System system;
        Vectors x;
        for (int i = 0; i < n; i++) {
            system.addParticle(i == 1 ? 0 : 3 + i);
            x.emplace_back(0.5 * i, 0, 0);
        }
        auto setup = GetParam();
        const IntegratorPointer integrator = makeIntegrator(setup, 0.01);
        const auto context = makeContext(system, *integrator, where);
        context->setPositions(x);
        integrator->step(10);
        return context->getState(State::Positions).getPositions();
    };
    const Vectors x = end(platform());
    EXPECT_LT(distance(x, end("Reference")), 1e-7 + 10 * precision.position);
    EXPECT_EQ(distance({x[1]}, {Vec3(0.5, 0, 0)}), 0);
    EXPECT_GT(distance({x[2]}, {Vec3(1, 0, 0)}), 1e-3);
}

static std::vector<ConstraintTests::Setup> setups() {
    std::vector<ConstraintTests::Setup> result;
    for (const std::string& platform : platformsUnderTest())
        for (const char* integrator : {"RattleLangevin", "GeodesicLangevin"})
            result.emplace_back(platform, ConstraintIntegrator::MatrixInversion, integrator);
    return result;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Noise, testing::ValuesIn(setups()),
                         [](const auto& info) { return nameOf(info.param); });
