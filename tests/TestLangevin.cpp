// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// What is random is drawn from a fixed seed, and compared within six standard errors.
#include "support/Langevin.h"
#include "support/Statistics.h"
#include <limits>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

TEST_P(Langevin, WithoutFrictionFollowsShakeIntegrator) {
    for (const char* name : {"CH3", "chain", "ring", "anchor"}) {
        SCOPED_TRACE(name);
        ConstraintTests::Setup other = GetParam();
        std::get<2>(other) = "Shake";
        Simulation s = start(name, 0.002, 0, 1e-12),
                   shake = simulate(findSystem(name), Declared::InForce, other, 0.002);
        shake.integrator->setConstraintTolerance(1e-12);
        s.integrator->step(50);
        shake.integrator->step(50);
        EXPECT_LT(distance(s.positions(), shake.positions()), 1e-7 + 10 * precision.position);
        EXPECT_LT(distance(s.velocities(), shake.velocities()), 1e-5 + 1000 * precision.velocity);
        EXPECT_GT(distance(s.positions(), toVectors(findSystem(name).positions)), 1e-2);
    }
}

TEST_P(Langevin, ReportsTheKineticEnergyOfTangentVelocities) {
    // A free rotor keeps that: the velocity after the drift is along the chord, whose part along the bond is no motion.
    TestSystem rotor = findSystem("OH");
    const double d = rotor.bonds[0].length, m0 = rotor.masses[0], m1 = rotor.masses[1], omega = 20, dt = 0.005;
    rotor.positions = {{0, 0, 0}, {d, 0, 0}};
    Simulation s(toOpenMM(rotor, Declared::InForce), makeIntegrator(GetParam(), dt, 1e-13), platform());
    langevin(s).setFriction(0);
    s.context->setPositions(toVectors(rotor.positions));
    s.context->setVelocities({Vec3(0, -omega * d * m1 / (m0 + m1), 0), Vec3(0, omega * d * m0 / (m0 + m1), 0)});
    const double expected = 0.5 * m0 * m1 / (m0 + m1) * d * d * omega * omega;
    for (int i = 0; i < 10; i++) {
        EXPECT_NEAR(s.context->getState(State::Energy).getKineticEnergy(), expected,
                    (1e-9 + precision.velocity) * expected);
        EXPECT_NEAR(s.integrator->computeSystemTemperature(), 2 * expected / (5 * BOLTZ),
                    1e-6 + 100 * precision.velocity);
        s.integrator->step(1);
    }
    const Vectors v = s.velocities();
    EXPECT_GT(0.5 * (m0 * v[0].dot(v[0]) + m1 * v[1].dot(v[1])), 1.001 * expected);
}

TEST_P(Langevin, AnswersAForceAlongABondBeforeTheDrift) {
    // At rest at 0 K. A kick that only the position stage answers would leave half of it in the velocities.
    const TestSystem& pair = findSystem("OH");
    auto system = toOpenMM(pair, Declared::InForce);
    auto* spring = new HarmonicBondForce();
    spring->addBond(0, 1, 1.5 * pair.bonds[0].length, 1e5);
    system->addForce(spring);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002, 1e-12), platform());
    langevin(s).setTemperature(0);
    s.context->setPositions(toVectors(pair.positions));
    for (int i = 0; i < 3; i++) {
        s.integrator->step(1);
        EXPECT_LT(distance(s.velocities(), Vectors(2)), 1e-6);
        // OpenMM's springs take rounded positions where forces are in single precision, and pull a little to the side.
        EXPECT_LT(distance(s.positions(), toVectors(pair.positions)),
                  1e-9 + precision.position + 0.001 * precision.force);
    }
}

TEST_P(Langevin, ReadsTheForceOfABondAndTheCentripetalOne) {
    const int n = 40;
    const double d = 0.1, stretch = 0.02, k = 5000, dt = 0.002, friction = 100;
    Simulation s = stretchedDimers(n, d, stretch, k, dt);

    langevin(s).setTemperature(300);
    langevin(s).setFriction(friction);
    s.integrator->step(200);
    std::vector<double> read, instantaneous;
    for (int i = 0; i < 1500; i++) {
        s.integrator->step(5);
        const auto sum = [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
        instantaneous.push_back(k * stretch - sum(s.integrator->computeMultipliers()) / n);
        read.push_back(k * stretch - sum(s.integrator->getMultipliers()) / n);
    }
    expectMean(read, 2 * kT / d, 0.05);
    expectMean(instantaneous, 2 * kT / d, 0.05);
    EXPECT_EQ(s.integrator->getVelocityMultipliers(), std::vector<double>(n, 0.0));
}

TEST_P(Langevin, LeavesInVelocitiesOnlyWhatTheBondsTurned) {
    // Along a bond that turned by omega dt: of the order of d omega^2 dt. Random velocities left there would be as
    // large as thermal ones, three orders more.
    const double dt = 1e-4;
    for (const char* name : {"water", "chain", "ring"}) {
        const TestSystem& system = findSystem(name);
        Simulation s = start(name, dt, 1000, 1e-10);
        s.integrator->step(100);
        const ConstraintSet set = toConstraintSet(system);
        const Arrays after = toArrays(s.positions());
        EXPECT_TRUE(Verifier(set, system.box, after).holdsVelocities(toArrays(s.velocities()), dt, 5e-5)) << name;
        EXPECT_FALSE(Verifier(set, system.box, after).holdsVelocities(toArrays(s.velocities()), dt, 1e-10)) << name;
    }
}

TEST_P(Langevin, RepeatsWithASeedAndDiffersWithAnother) {
    const auto end = [&](int seed) {
        auto system = toOpenMM(findSystem("chain"), Declared::InForce);
        auto integrator = makeIntegrator(GetParam(), 0.002);
        dynamic_cast<RattleLangevinIntegrator&>(*integrator).setRandomNumberSeed(seed);
        Simulation s(std::move(system), std::move(integrator), platform());
        s.context->setPositions(toVectors(findSystem("chain").positions));
        s.integrator->step(20);
        return s.positions();
    };
    const Vectors first = end(3);
    EXPECT_EQ(distance(first, end(3)), 0);
    EXPECT_GT(distance(first, end(4)), 1e-3);
    EXPECT_GT(distance(first, end(-3)), 1e-3);
    EXPECT_GT(distance(end(0), end(0)), 1e-3) << "0 stands for a unique seed";
}

TEST_P(Langevin, ContinuesACheckpoint) {
    Simulation original = start("chain", 0.002, 5), restored = start("chain", 0.002, 5);
    original.integrator->step(7);
    std::stringstream stream;
    original.context->createCheckpoint(stream);
    original.context->getState(State::Energy | State::Forces); // looking changes nothing
    original.integrator->computeSystemTemperature();
    original.integrator->step(30);
    restored.integrator->step(2);
    restored.context->loadCheckpoint(stream);
    restored.integrator->step(30);
    EXPECT_EQ(distance(original.positions(), restored.positions()), 0);
    EXPECT_EQ(distance(original.velocities(), restored.velocities()), 0);
    EXPECT_EQ(original.integrator->computeSystemTemperature(), restored.integrator->computeSystemTemperature());
}

TEST_P(Langevin, LeavesMasslessParticlesAndSitesOutOfTheBath) {
    System system;
    system.addParticle(0);
    system.addParticle(0);
    system.setVirtualSite(1, new TwoParticleAverageSite(2, 3, 0.5, 0.5));
    system.addParticle(3);
    system.addParticle(5);
    const IntegratorPointer integrator = makeIntegrator(GetParam(), 0.01);
    const auto context = makeContext(system, *integrator, platform());
    context->setPositions({Vec3(1, 1, 1), Vec3(0.5, 0, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)});
    integrator->step(10);
    const Vectors x = context->getState(State::Positions).getPositions();
    EXPECT_EQ(distance({x[0]}, {Vec3(1, 1, 1)}), 0);
    EXPECT_LT(distance({x[1]}, {(x[2] + x[3]) * 0.5}), 1e-12 + precision.position);
    EXPECT_GT(distance({x[2]}, {Vec3(0, 0, 0)}), 1e-3);
}

TEST_P(Langevin, TakesAStepOfZeroLength) {
    Simulation s = start("chain", 0.0, 100);
    const Vectors r = s.positions(), v = s.velocities();
    s.integrator->step(2);
    EXPECT_LT(distance(s.positions(), r), 1e-12 + precision.position);
    EXPECT_LT(distance(s.velocities(), v), 1e-6 + 10 * precision.velocity);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Langevin, testing::ValuesIn(setupsOf("RattleLangevin")),
                         [](const auto& info) { return nameOf(info.param); });

/** Unconstrained, the two are one algorithm; at 0 K they need no random numbers, which are each one's own. */
TEST(RattleLangevinIntegrator, FollowsLangevinMiddleIntegratorWithoutConstraints) {
    const int n = 4;
    System system;
    auto* well = new CustomExternalForce("200*(x*x+y*y+z*z)^2+30*x*z");
    for (int i = 0; i < n; i++)
        well->addParticle(system.addParticle(i + 1), {});
    system.addForce(well);
    const auto end = [&](Integrator& integrator) {
        const auto context = makeContext(system, integrator, "Reference");
        context->setPositions(Vectors(n, Vec3(0.3, 0.2, 0.1)));
        context->setVelocitiesToTemperature(3000, 17);
        integrator.step(200);
        EXPECT_GT(context->getState(State::Energy).getKineticEnergy(), 1);
        const State state = context->getState(State::Positions | State::Velocities | State::Energy);
        Vectors all = state.getPositions();
        all.insert(all.end(), state.getVelocities().begin(), state.getVelocities().end());
        all.push_back(Vec3(0, state.getKineticEnergy(), 0));
        return all;
    };
    LangevinMiddleIntegrator builtIn(0, 3, 0.004);
    RattleLangevinIntegrator ours(0, 3, 0.004);
    EXPECT_LT(distance(end(ours), end(builtIn)), 1e-10);
}

TEST(RattleLangevinIntegrator, SaysWhatItWasTold) {
    RattleLangevinIntegrator integrator(310, 2, 0.003);
    EXPECT_EQ(integrator.getTemperature(), 310);
    EXPECT_EQ(integrator.getFriction(), 2);
    EXPECT_EQ(integrator.getStepSize(), 0.003);
    EXPECT_EQ(integrator.getRandomNumberSeed(), 0);
    EXPECT_EQ(integrator.getConstraintTolerance(), 1e-5);
    integrator.setTemperature(0);
    integrator.setFriction(0);
    integrator.setRandomNumberSeed(-5);
    EXPECT_EQ(integrator.getTemperature(), 0);
    EXPECT_EQ(integrator.getFriction(), 0);
    EXPECT_EQ(integrator.getRandomNumberSeed(), -5);
}

TEST(RattleLangevinIntegrator, RefusesWhatIsNoTemperatureOrFriction) {
    RattleLangevinIntegrator integrator(310, 2, 0.003);
    const auto expectRefused = [](auto function, const std::string& quantity, double value) {
        try {
            function();
            ADD_FAILURE() << "no exception for a " << quantity << " of " << value;
        } catch (const OpenMMException& error) {
            std::ostringstream number;
            number << value;
            EXPECT_NE(std::string(error.what()).find(quantity), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("got " + number.str()), std::string::npos) << error.what();
        }
    };
    for (double bad : {-1.0, -1e-300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()}) {
        expectRefused([&] { integrator.setTemperature(bad); }, "temperature", bad);
        expectRefused([&] { integrator.setFriction(bad); }, "friction", bad);
        expectRefused([&] { RattleLangevinIntegrator(bad, 1, 0.001); }, "temperature", bad);
        expectRefused([&] { RattleLangevinIntegrator(300, bad, 0.001); }, "friction", bad);
        expectRefused([&] { RattleLangevinIntegrator(300, 1, bad); }, "step size", bad);
    }
    EXPECT_EQ(integrator.getTemperature(), 310);
    EXPECT_EQ(integrator.getFriction(), 2);
}
