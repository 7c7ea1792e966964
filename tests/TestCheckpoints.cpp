// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CheckpointIO.h"
#include "StepRecord.h"
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

/** Version 0.1 kept multipliers of the equations that it had for such a set, in place of the impulses of a body: as
 * many as the set has distances, and three for each particle beyond those that span a line or a plane. */
TEST(CheckpointsOfRecognizedBodies, FromVersion01AreRefusedAndStatesAreRead) {
    for (const auto& [name, equations] : {std::pair("CO2", 3 + 3), {"benzene", 66 + 9 * 3}}) {
        SCOPED_TRACE(name);
        Vectors x;
        std::vector<double> masses{12, 16, 16};
        if (name == std::string("CO2"))
            x = {Vec3(0.1, 0.2, 0.3), Vec3(0.216, 0.2, 0.3), Vec3(-0.016, 0.2, 0.3)};
        else {
            masses.assign(12, 12);
            for (int i = 0; i < 12; i++)
                x.push_back(Vec3(std::cos(M_PI / 3 * i), std::sin(M_PI / 3 * i), 0) * (i < 6 ? 0.1397 : 0.2481));
        }
        auto system = std::make_unique<System>();
        auto* force = new ConstraintForce();
        for (std::size_t i = 0; i < x.size(); i++) {
            system->addParticle(masses[i]);
            for (std::size_t j = 0; j < i; j++)
                force->addDistance((int) i, (int) j, std::sqrt((x[i] - x[j]).dot(x[i] - x[j])));
        }
        system->addForce(force);
        Simulation s(std::move(system), std::make_unique<RattleIntegrator>(0.001), "Reference");
        s.context->setPositions(x);
        s.context->setVelocitiesToTemperature(300, 1);
        s.integrator->step(2);
        const State state = s.context->getState(State::Positions | State::Velocities);
        std::ostringstream written, beginning, old;
        s.context->createCheckpoint(written);
        write(beginning, checkpointVersionWithBodies);
        const std::size_t start = written.str().find(beginning.str());
        ASSERT_NE(start, std::string::npos);
        std::ostringstream bytes;
        writeText(bytes, "IntegrateRattleStep");
        write(bytes, (std::size_t) equations);
        write(bytes, (std::size_t) 0);
        SavedStep saved;
        StepMoment& moment = saved.reading.moments[0];
        for (auto* perEquation : {&saved.impulses.lambda, &saved.impulses.mu, &moment.multipliers.values,
                                  &saved.reading.velocityMultipliers.values})
            perEquation->resize(equations);
        moment.positions = saved.reading.endPositions = toArrays(x);
        saved.write(bytes);
        old << written.str().substr(0, start);
        writeSealed(old, checkpointVersion, bytes.str());
        std::istringstream stream(old.str());
        expectAll(messageOf([&] { s.context->loadCheckpoint(stream); }),
                  {"earlier version of openmm-constraints", "State"});
        s.context->setState(state);
        s.integrator->step(2);
        EXPECT_LT(distance(s.positions(), x), 0.1);
        std::istringstream ofToday(written.str());
        s.context->loadCheckpoint(ofToday);
        EXPECT_EQ(distance(s.positions(), state.getPositions()), 0);
    }
}

/** All numbers of a saved step. */
static std::vector<double> numbersOf(const SavedStep& saved) {
    const StepReading& reading = saved.reading;
    std::vector<double> all = {saved.stepSize,
                               (double) saved.fingerprint,
                               reading.endTime,
                               reading.box.a.x,
                               reading.otherWork,
                               reading.heat,
                               reading.box.b.y,
                               reading.box.c.z,
                               saved.summary.maxError,
                               (double) saved.summary.converged,
                               reading.globals.at(0),
                               (double) saved.summary.iterations,
                               (double) saved.summary.worstConstraint};
    const auto addNumbers = [&](const std::vector<double>& numbers) {
        all.insert(all.end(), numbers.begin(), numbers.end());
    };
    const auto addVectors = [&](const std::vector<Real3>& vectors) {
        for (const Real3& x : vectors)
            all.insert(all.end(), {x.x, x.y, x.z});
    };
    for (const auto* perConstraint :
         {&saved.impulses.lambda, &saved.impulses.mu, &reading.velocityMultipliers.values, &reading.works})
        addNumbers(*perConstraint);
    for (const auto* perPlace : {&saved.impulses.lambdaOfBodies, &saved.impulses.muOfBodies,
                                 &reading.velocityMultipliers.ofBodies, &reading.endPositions})
        addVectors(*perPlace);
    for (const StepMoment& moment : reading.moments) {
        addNumbers(moment.multipliers.values);
        addVectors(moment.multipliers.ofBodies);
        addVectors(moment.positions);
        all.push_back(moment.time);
    }
    return all;
}

TEST(SavedSteps, AreReadAsTheyWereWritten) {
    const auto vectors = [](double x) { return std::vector<Real3>{{x, x + 1, x + 2}}; };
    SavedStep saved;
    saved.impulses = {{1}, {2}, vectors(3), vectors(6)};
    saved.stepSize = 9;
    saved.fingerprint = 10;
    saved.reading.moments = {{{{11}, vectors(12)}, vectors(19), 28}, {{{36}, vectors(37)}, vectors(40), 43}};
    saved.reading.velocityMultipliers = {{15}, vectors(16)};
    saved.reading.endPositions = vectors(22);
    saved.reading.box = {{25, 0, 0}, {0, 26, 0}, {0, 0, 27}};
    saved.reading.endTime = 29;
    saved.reading.otherWork = 30;
    saved.reading.works = {44};
    saved.reading.heat = 31;
    saved.reading.globals = {32};
    saved.summary.converged = false;
    saved.summary.iterations = 33;
    saved.summary.maxError = 34;
    saved.summary.worstConstraint = 35;
    std::stringstream stream;
    saved.write(stream);
    EXPECT_EQ(numbersOf(SavedStep::read(stream, 1, {1, 1, 1, 2, true})), numbersOf(saved));
}
