// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CheckpointIO.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class Checkpoints : public testing::TestWithParam<Setup> {
protected:
    Simulation start() const {
        Simulation s = simulate(findSystem("chain"), Declared::InForce, GetParam(), 0.002, 1e-8);
        s.integrator->setWarmStart(true); // the multipliers matter then
        return s;
    }
    static std::string platform() {
        return std::get<0>(GetParam());
    }
};

TEST_P(Checkpoints, ContinueBitForBit) {
    Simulation original = start(), restored = start();
    original.integrator->step(10);
    std::stringstream stream;
    original.context->createCheckpoint(stream);
    const Vectors at = original.positions();
    original.integrator->step(10);
    restored.integrator->step(3); // it has multipliers and forces of its own to forget
    restored.context->loadCheckpoint(stream);
    EXPECT_EQ(distance(restored.positions(), at), 0);
    EXPECT_EQ(restored.context->getStepCount(), 10);
    restored.integrator->step(10);
    EXPECT_EQ(distance(original.positions(), restored.positions()), 0);
    EXPECT_EQ(distance(original.velocities(), restored.velocities()), 0);
    EXPECT_EQ(original.integrator->getSolverSummary().str(), restored.integrator->getSolverSummary().str());
}

TEST_P(Checkpoints, GoBackInTheSameContext) {
    Simulation s = start();
    s.integrator->step(5);
    std::stringstream stream;
    s.context->createCheckpoint(stream);
    s.integrator->step(10);
    const Vectors first = s.positions();
    s.context->loadCheckpoint(stream);
    s.integrator->step(10);
    EXPECT_EQ(distance(s.positions(), first), 0);
}

TEST_P(Checkpoints, OfAnotherSystemAreRefused) {
    Simulation s = start();
    std::stringstream stream;
    s.context->createCheckpoint(stream);
    TestSystem fewer = findSystem("chain");
    fewer.bonds.pop_back();
    Simulation other = simulate(fewer, Declared::InForce, GetParam(), 0.002, 1e-8);
    EXPECT_THROW(other.context->loadCheckpoint(stream), OpenMMException);
}

/** A System with its Context under a CompoundIntegrator of two of ours, or of one and OpenMM's. */
struct CompoundRun {
    std::unique_ptr<System> system;
    std::unique_ptr<CompoundIntegrator> integrator = std::make_unique<CompoundIntegrator>();
    std::unique_ptr<Context> context;

    CompoundRun(const Setup& setup, bool withVerlet) {
        const TestSystem& chain = findSystem("chain");
        system = toOpenMM(chain, withVerlet ? Declared::InSystem : Declared::InForce);
        addSprings(*system, chain);
        integrator->addIntegrator(makeIntegrator(setup, 0.002, 1e-9).release());
        Setup other = setup;
        std::get<2>(other) = "Rattle";
        integrator->addIntegrator(withVerlet ? (Integrator*) new VerletIntegrator(0.001)
                                             : makeIntegrator(other, 0.001, 1e-9).release());
        integrator->getIntegrator(1).setConstraintTolerance(1e-9); // CompoundIntegrator sets the current one's only
        context = makeContext(*system, *integrator, std::get<0>(setup));
        context->setPositions(toVectors(chain.positions));
        context->setVelocities(tangentVelocities(chain, 1, 3));
    }
    void go() {
        for (int child : {1, 0, 1}) {
            integrator->setCurrentIntegrator(child);
            integrator->step(4);
        }
    }
    Vectors positions() const {
        return context->getState(State::Positions).getPositions();
    }
};

TEST_P(Checkpoints, ContinueBitForBitInACompoundIntegrator) {
    CompoundRun original(GetParam(), false), restored(GetParam(), false);
    original.go();
    std::stringstream stream;
    original.context->createCheckpoint(stream);
    original.go();
    restored.context->loadCheckpoint(stream);
    restored.go();
    EXPECT_EQ(distance(original.positions(), restored.positions()), 0);
}

TEST_P(Checkpoints, CompoundIntegratorsOfOursAndOfOpenMMsHoldTheConstraints) {
    const TestSystem& chain = findSystem("chain");
    const ConstraintSet set = toConstraintSet(chain);
    for (bool withVerlet : {false, true}) {
        CompoundRun run(GetParam(), withVerlet);
        run.go();
        EXPECT_TRUE(Verifier(set, chain.box, chain.positions)
                        .accepts(toArrays(run.positions()), 1.01 * attainable(platform(), 1e-9)));
        EXPECT_EQ(run.context->getStepCount(), 12);
        EXPECT_GT(distance(run.positions(), toVectors(chain.positions)), 1e-3);
        const auto& child = dynamic_cast<ConstraintIntegrator&>(run.integrator->getIntegrator(0));
        EXPECT_TRUE(child.getSolverSummary().converged);
    }
}

TEST_P(Checkpoints, ReinitializationPreservesTheState) {
    Simulation s = start();
    s.integrator->step(5);
    const Vectors r = s.positions(), v = s.velocities();
    s.context->reinitialize(true);
    EXPECT_EQ(distance(s.positions(), r), 0);
    EXPECT_EQ(distance(s.velocities(), v), 0);
    EXPECT_EQ(s.context->getStepCount(), 5);
    s.integrator->step(5);
    Simulation through = start();
    through.integrator->step(10);
    EXPECT_LT(distance(s.positions(), through.positions()), 1e-7 + precisionOf(platform()).position);
    EXPECT_LE(s.integrator->getSolverSummary().maxError, std::max(1e-8, precisionOf(platform()).constraint));
}

TEST_P(Checkpoints, ReinitializationTakesNewLengths) {
    Simulation s = start();
    auto& force = dynamic_cast<ConstraintForce&>(s.system->getForce(0));
    int p1, p2;
    double length;
    force.getDistanceParameters(4, p1, p2, length);
    force.setDistanceParameters(4, p1, p2, 1.02 * length);
    s.context->reinitialize(true);
    s.integrator->step(1);
    const Vec3 b = s.positions()[p1] - s.positions()[p2];
    EXPECT_NEAR(std::sqrt(b.dot(b)), 1.02 * length, attainable(platform(), 1e-7) * length);
}

class DamagedCheckpoints : public Checkpoints {};

TEST_P(DamagedCheckpoints, AreNoticedWhicheverByteItIs) {
    Simulation s = simulate(findSystem("OH"), Declared::InForce, GetParam(), 0.002, 1e-8);
    s.integrator->step(3);
    std::ostringstream written;
    s.context->createCheckpoint(written);
    const std::string bytes = written.str();
    const auto load = [&](const std::string& text) {
        std::istringstream stream(text);
        return messageOf([&] { s.context->loadCheckpoint(stream); });
    };
    std::ostringstream beginning;
    write(beginning, std::get<2>(GetParam()) == "RattleNoseHoover" ? checkpointVersionWithOwn : checkpointVersion);
    const std::size_t start = bytes.find(beginning.str());
    ASSERT_NE(start, std::string::npos);
    ASSERT_GT(bytes.size() - start, 100u);
    for (std::size_t i = start; i < bytes.size(); i++) {
        std::string damaged = bytes;
        damaged[i] ^= (char) (1 << i % 8);
        EXPECT_NE(load(damaged), "") << "byte " << i - start << " of " << bytes.size() - start;
        EXPECT_NE(load(bytes.substr(0, i)), "") << "ending after byte " << i - start;
    }
    EXPECT_EQ(load(bytes), "");
}

/** With something of its own behind what all integrators keep, and without. */
static std::vector<ConstraintTests::Setup> damagedSetups() {
    std::vector<ConstraintTests::Setup> setups = setupsOf("RattleNoseHoover");
    setups.push_back({"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"});
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, DamagedCheckpoints, testing::ValuesIn(damagedSetups()),
                         [](const auto& info) { return nameOf(info.param); });

/** TestNoseHoover.cpp has devices. */
static std::vector<ConstraintTests::Setup> noseHooverOnTheHost() {
    std::vector<ConstraintTests::Setup> setups;
    for (const auto& setup : setupsOf("RattleNoseHoover"))
        if (!isDevice(std::get<0>(setup)))
            setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(NoseHoover, Checkpoints, testing::ValuesIn(noseHooverOnTheHost()),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Platforms, Checkpoints, testing::ValuesIn(allSetups()),
                         [](const auto& info) { return nameOf(info.param); });
