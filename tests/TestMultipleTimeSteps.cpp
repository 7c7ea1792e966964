// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// RattleMTSIntegrator and RattleMTSLangevinIntegrator.
#include "support/Langevin.h"
#include "support/Messages.h"
#include "support/ProbeForce.h"
#include "support/Statistics.h"
#include <numeric>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;
using Groups = MultipleTimeSteps::Groups;

namespace {

class TimeSteps : public Langevin {
protected:
    bool hasBath() const {
        return std::get<2>(GetParam()) == "RattleMTSLangevin";
    }
    IntegratorPointer make(double dt, const Groups& groups, double friction = 0, double tolerance = 1e-10) const {
        IntegratorPointer integrator;
        if (hasBath())
            integrator = std::make_unique<RattleMTSLangevinIntegrator>(300, friction, dt, groups);
        else
            integrator = std::make_unique<RattleMTSIntegrator>(dt, groups);
        if (hasBath())
            dynamic_cast<RattleMTSLangevinIntegrator&>(*integrator).setRandomNumberSeed(11);
        integrator->setSolver(std::get<1>(GetParam()));
        integrator->setConstraintTolerance(tolerance);
        return integrator;
    }
    /** A chain whose springs are of two groups: stiff ones between second neighbours, soft ones between third. */
    std::unique_ptr<System> chainSystem() const {
        const TestSystem& system = findSystem("chain");
        auto target = toOpenMM(system, Declared::InForce);
        addSprings(*target, system);
        auto& springs = dynamic_cast<HarmonicBondForce&>(target->getForce(target->getNumForces() - 1));
        auto* soft = new HarmonicBondForce();
        soft->setForceGroup(1);
        for (int b = 0; b < springs.getNumBonds(); b++) {
            int i, j;
            double length, k;
            springs.getBondParameters(b, i, j, length, k);
            if (j - i < 3)
                continue;
            springs.setBondParameters(b, i, j, length, 0);
            soft->addBond(i, j, length, 300);
        }
        target->addForce(soft);
        return target;
    }
    static void removeSprings(HarmonicBondForce& springs) {
        for (int b = 0; b < springs.getNumBonds(); b++) {
            int i, j;
            double length, k;
            springs.getBondParameters(b, i, j, length, k);
            springs.setBondParameters(b, i, j, length, 0);
        }
    }
    Simulation chain(IntegratorPointer integrator) const {
        return start(chainSystem(), std::move(integrator), platform());
    }
    Simulation start(std::unique_ptr<System> target, IntegratorPointer integrator, const std::string& where) const {
        const TestSystem& system = findSystem("chain");
        Simulation s(std::move(target), std::move(integrator), where);
        s.context->setPositions(toVectors(system.positions));
        s.context->setVelocities(tangentVelocities(system, 1, 3));
        return s;
    }
    /** A bond that is stretched by a slow and by a fast spring: dimers along y. */
    Simulation stretchedBySlowAndFast(int n, double dt, double friction) const {
        auto system = std::make_unique<System>();
        auto* bonds = new ConstraintForce();
        auto* slow = new HarmonicBondForce();
        auto* fast = new HarmonicBondForce();
        fast->setForceGroup(1);
        Vectors r;
        for (int i = 0; i < n; i++) {
            const int p0 = system->addParticle(16), p1 = system->addParticle(2);
            bonds->addDistance(p0, p1, length);
            slow->addBond(p0, p1, length - stretch, 0.6 * stiffness);
            fast->addBond(p0, p1, length - stretch, 0.4 * stiffness);
            r.insert(r.end(), {Vec3(0, 0, i), Vec3(0, length, i)});
        }
        for (Force* force : std::initializer_list<Force*>{bonds, slow, fast})
            system->addForce(force);
        Simulation s(std::move(system), make(dt, {{0, 1}, {1, 3}}, friction, 1e-9), platform());
        s.context->setPositions(r);
        return s;
    }
    const double length = 0.1, stretch = 0.02, stiffness = 5000;
    const double pull = stiffness * stretch; // kJ/mol/nm, of both springs
};

} // namespace

TEST_P(TimeSteps, OfOneGroupAndOneSubstepAreThoseOfRattle) {
    if (hasBath())
        return; // the bath stands elsewhere in a step
    const TestSystem& system = findSystem("chain");
    auto plain = std::make_unique<RattleIntegrator>(0.002);
    plain->setSolver(std::get<1>(GetParam()));
    plain->setConstraintTolerance(1e-10);
    Simulation a = chain(make(0.002, {{0, 1}, {1, 1}})), b = chain(std::move(plain));
    for (int block = 0; block < 3; block++) {
        a.integrator->step(5);
        b.integrator->step(5);
        EXPECT_EQ(distance(a.positions(), b.positions()), 0);
        EXPECT_EQ(distance(a.velocities(), b.velocities()), 0);
    }
    EXPECT_GT(distance(a.positions(), toVectors(system.positions)), 1e-3);
}

TEST_P(TimeSteps, OfOneGroupAreShorterStepsOfRattle) {
    Simulation a = chain(make(0.004, {{0, 4}, {1, 4}}));
    auto plain = std::make_unique<RattleIntegrator>(0.001);
    plain->setConstraintTolerance(1e-12);
    Simulation b = chain(std::move(plain));
    a.integrator->step(5);
    b.integrator->step(20);
    EXPECT_LT(distance(a.positions(), b.positions()), 1e-8 + 100 * precision.position);
    EXPECT_LT(distance(a.velocities(), b.velocities()), 1e-5 + 1000 * precision.velocity);
    EXPECT_NEAR(a.context->getTime(), 0.02, 1e-12);
    EXPECT_EQ(a.context->getStepCount(), 5);
}

TEST_P(TimeSteps, HoldTheConstraintsAndTheirTangents) {
    std::vector<TestSystem> parts;
    for (const char* name : {"water", "CH3", "methane", "chain", "ring", "anchor"})
        parts.push_back(findSystem(name));
    Simulation s = simulate(parts, Declared::InForce, GetParam(), 0.004, 1e-9);
    expectTangentMotion(s, parts, 5);
}

TEST_P(TimeSteps, KeepTheEnergyToSecondOrder) {
    double change[2];
    for (int i : {0, 1}) {
        const double dt = i == 0 ? 0.004 : 0.002;
        Simulation s = chain(make(dt, {{1, 1}, {0, 3}}, 0, 1e-11));
        const double before = s.energy();
        change[i] = 0;
        for (int n = 0; n < 40; n++) {
            s.integrator->step(i == 0 ? 2 : 4);
            change[i] = std::max(change[i], std::abs(s.energy() - before));
        }
    }
    EXPECT_GT(change[0], 1e-4);
    EXPECT_LT(change[1], 0.35 * change[0] + 20 * precision.force);
}

TEST_P(TimeSteps, AreReversible) {
    Simulation s = chain(make(0.004, {{1, 1}, {0, 3}}, 0, 1e-13));
    const Vectors before = s.positions();
    s.integrator->step(10);
    EXPECT_GT(distance(s.positions(), before), 1e-2);
    Vectors back = s.velocities();
    for (Vec3& v : back)
        v = -v;
    s.context->setVelocities(back);
    s.integrator->step(10);
    EXPECT_LT(distance(s.positions(), before), 1e-9 + 1000 * precision.position);
}

TEST_P(TimeSteps, AreTheSameOnEveryPlatform) {
    Simulation s = chain(make(0.004, {{1, 1}, {0, 3}}, 50));
    Simulation reference = start(chainSystem(), make(0.004, {{1, 1}, {0, 3}}, 50), "Reference");
    s.integrator->step(5);
    reference.integrator->step(5);
    EXPECT_LT(distance(s.positions(), reference.positions()), 1e-8 + 1000 * precision.position);
    EXPECT_LT(distance(s.velocities(), reference.velocities()), 1e-5 + 1000 * precision.velocity);
    const std::vector<double> read = s.integrator->getMultipliers(), expected = reference.integrator->getMultipliers();
    const double bound = 1e-3 + 1e7 * precision.position;
    for (std::size_t k = 0; k < read.size(); k++)
        EXPECT_NEAR(read[k], expected[k], bound);
    EXPECT_LT(distance(s.integrator->getConstraintForces(), reference.integrator->getConstraintForces()), 2 * bound);
    EXPECT_LT(distance(s.integrator->getConstraintVirial(), reference.integrator->getConstraintVirial()), bound);
}

TEST_P(TimeSteps, ReadTheForcesThatChangeMomenta) {
    // A molecule that turns fast: without other forces, those of all stages are the change of momentum by the step.
    const double dt = 0.004;
    auto system = chainSystem();
    for (int f : {1, 2}) // its springs
        removeSprings(dynamic_cast<HarmonicBondForce&>(system->getForce(f)));
    Simulation s = start(std::move(system), make(dt, {{1, 1}, {0, 3}}), platform());
    s.context->setVelocities(tangentVelocities(findSystem("chain"), 3, 5));
    s.integrator->step(2);
    const Vectors before = s.velocities();
    s.integrator->step(1);
    const Vectors after = s.velocities(), forces = s.integrator->getConstraintForces();
    Vectors expected;
    for (std::size_t i = 0; i < forces.size(); i++)
        expected.push_back((after[i] - before[i]) * (s.system->getParticleMass((int) i) / dt));
    EXPECT_GT(distance(expected, Vectors(expected.size())), 100);
    EXPECT_LT(distance(forces, expected), 1e-5 + 1e5 * precision.velocity);
}

TEST_P(TimeSteps, EvaluateEachGroupAsOftenAsItHasSubsteps) {
    const Groups groups = {{3, 1}, {5, 2}, {0, 6}};
    auto system = chainSystem();
    system->getForce(2).setForceGroup(0); // the soft springs
    Probe probe;
    std::vector<int> evaluated; // groups of each evaluation, a bit each
    probe.atEvaluation = [&] { evaluated.push_back(probe.lastGroups); };
    system->addForce(new ProbeForce(probe));
    Simulation s = start(std::move(system), make(0.004, groups), platform());
    const auto counts = [&] {
        std::vector<int> result;
        for (int group : {0, 3, 5})
            result.push_back((int) std::count_if(evaluated.begin(), evaluated.end(),
                                                 [&](int bits) { return (bits >> group & 1) != 0; }));
        evaluated.clear();
        return result;
    };
    counts();
    s.integrator->step(1);
    EXPECT_EQ(counts(), (std::vector<int>{7, 2, 3})) << "once more at the first step";
    s.integrator->step(4);
    EXPECT_EQ(counts(), (std::vector<int>{24, 4, 8}));
    s.context->setPositions(s.positions());
    s.integrator->step(1);
    EXPECT_EQ(counts(), (std::vector<int>{7, 2, 3})) << "something else may have changed the state";
}

TEST_P(TimeSteps, ReadEachForceOnce) {
    // At rest the constraint force balances the slow and the fast spring from the first step on.
    Simulation s = stretchedBySlowAndFast(3, 0.003, 0);
    for (int step = 0; step < 2; step++) {
        s.integrator->step(1);
        for (double multiplier : s.integrator->getMultipliers())
            EXPECT_NEAR(multiplier, pull, 1e-4 + 1e4 * precision.force);
        const Vectors forces = s.integrator->getConstraintForces();
        EXPECT_NEAR(forces[1][1], pull, 1e-4 + 1e4 * precision.force);
    }
    EXPECT_NE(messageOf([&] { s.integrator->getVelocityMultipliers(); }).find("getMultipliers() has"),
              std::string::npos);
}

TEST_P(TimeSteps, ReadTheWholeCentripetalForce) {
    if (!hasBath())
        return;
    // Bonds that turn freely in the bath: k (d - b) - 2 kT/d, whatever the friction.
    const int n = 120;
    Simulation s = stretchedBySlowAndFast(n, 0.004, 100);
    s.integrator->step(100);
    expectMean(centripetalForces(s, pull, 500, 3), 2 * kT / length, 0.05);
}

TEST_P(TimeSteps, CountTheWorkOfAPull) {
    // The ends of two springs, one slow and one fast, are pulled apart: the work is their energy.
    const double rate = 0.5, dt = 0.001;
    auto system = std::make_unique<System>();
    auto* bond = new ConstraintForce();
    auto* slow = new HarmonicBondForce();
    auto* fast = new HarmonicBondForce();
    fast->setForceGroup(1);
    bond->addDistance(system->addParticle(16), system->addParticle(2), length, rate);
    slow->addBond(0, 1, length, 0.7 * stiffness);
    fast->addBond(0, 1, length, 0.3 * stiffness);
    for (Force* force : std::initializer_list<Force*>{bond, slow, fast})
        system->addForce(force);
    Simulation s(std::move(system), make(dt, {{0, 1}, {1, 2}}), platform());
    expectWorkOfPull(s, length, rate, stiffness, 40);
}

TEST_P(TimeSteps, ContinueFromACheckpointBitForBit) {
    Simulation s = chain(make(0.004, {{1, 1}, {0, 3}}, 20)), restored = chain(make(0.004, {{1, 1}, {0, 3}}, 20));
    s.integrator->step(4);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    restored.context->loadCheckpoint(checkpoint);
    EXPECT_EQ(restored.integrator->getMultipliers(), s.integrator->getMultipliers());
    EXPECT_EQ(distance(restored.integrator->getConstraintForces(), s.integrator->getConstraintForces()), 0);
    EXPECT_EQ(distance(restored.integrator->getConstraintVirial(), s.integrator->getConstraintVirial()), 0);
    s.integrator->step(3);
    restored.integrator->step(3);
    const bool isExact = precision.force == 0; // devices may sort atoms otherwise
    EXPECT_LE(distance(s.positions(), restored.positions()), isExact ? 0 : 1e-9 + 100 * precision.position);
    EXPECT_LE(distance(s.velocities(), restored.velocities()), isExact ? 0 : 1e-6 + 1000 * precision.velocity);
}

TEST_P(TimeSteps, ReturnToTheStartOfAStepThatFails) {
    Simulation s = chain(make(0.004, {{1, 1}, {0, 3}}));
    s.integrator->step(2);
    const Vectors x = s.positions(), multipliers = s.integrator->getConstraintForces();
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each *= 1e6;
    s.context->setVelocities(v);
    const Vectors projected = s.velocities();
    EXPECT_THROW(s.integrator->step(1), OpenMMException);
    EXPECT_EQ(distance(s.positions(), x), 0);
    EXPECT_EQ(distance(s.velocities(), projected), 0);
    EXPECT_EQ(s.context->getStepCount(), 2);
    EXPECT_EQ(distance(s.integrator->getConstraintForces(), multipliers), 0);
}

TEST_P(TimeSteps, RefuseForcesThatTheyWouldLeaveOut) {
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3));
    for (int i = 0; i < 2; i++)
        system->addParticle(10);
    auto* nonbonded = new NonbondedForce();
    nonbonded->setNonbondedMethod(NonbondedForce::PME);
    nonbonded->addParticle(0.5, 0.3, 0.1);
    nonbonded->addParticle(-0.5, 0.3, 0.1);
    nonbonded->setForceGroup(2);
    nonbonded->setReciprocalSpaceForceGroup(7);
    system->addForce(nonbonded);
    system->addForce(new CMMotionRemover());
    system->addForce(new MonteCarloBarostat(1, 300));
    const auto message = [&](const Groups& groups) {
        const IntegratorPointer integrator = make(0.002, groups);
        return messageOf([&] { makeContext(*system, *integrator, "Reference"); });
    };
    EXPECT_NE(message({{2, 1}}).find("The reciprocal space of NonbondedForce (Force 0 of the System) is in force group "
                                     "7"),
              std::string::npos)
        << message({{2, 1}});
    EXPECT_NE(message({{7, 1}}).find("NonbondedForce (Force 0 of the System) is in force group 2"), std::string::npos);
    EXPECT_EQ(message({{7, 1}, {2, 2}, {9, 4}}), "") << "a group without Forces is none that is left out";
    const IntegratorPointer without = make(0.002, {{2, 1}});
    without->setIntegrationForceGroups(1 << 2);
    EXPECT_EQ(messageOf([&] { makeContext(*system, *without, "Reference"); }), "");
    const auto refusal = [&](const Groups& groups) { return messageOf([&] { make(0.002, groups); }); };
    EXPECT_NE(refusal({{0, 1}, {0, 2}}).find("listed twice"), std::string::npos);
    EXPECT_NE(refusal({{0, 2}, {1, 3}}).find("no multiple of 2"), std::string::npos);
    EXPECT_NE(refusal({}).find("at least one"), std::string::npos);
    EXPECT_NE(refusal({{32, 1}}).find("from 0 to 31"), std::string::npos);
    EXPECT_NE(refusal({{-1, 1}}).find("no force group -1"), std::string::npos);
    EXPECT_NE(refusal({{0, 0}}).find("0 substeps"), std::string::npos);
    EXPECT_NE(refusal({{0, 1001}}).find("1 to 1000"), std::string::npos);
}

static std::vector<ConstraintTests::Setup> withAndWithoutBath() {
    std::vector<ConstraintTests::Setup> setups = setupsOf("RattleMTS");
    for (const ConstraintTests::Setup& setup : setupsOf("RattleMTSLangevin"))
        setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, TimeSteps, testing::ValuesIn(withAndWithoutBath()),
                         [](const auto& info) { return nameOf(info.param); });
