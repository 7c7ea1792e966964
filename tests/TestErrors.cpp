// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Messages.h"
#include "support/ProbeForce.h"
#include "support/Simulation.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

static const double notANumber = std::numeric_limits<double>::quiet_NaN();

class Errors : public testing::TestWithParam<Setup> {
protected:
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    bool isLangevin() const {
        return std::get<2>(GetParam()) == "RattleLangevin";
    }
    /** What creating a Context of n particles of mass 5 with given distances throws. */
    std::string creating(int n, const std::vector<TestSystem::Bond>& bonds, bool periodic = false,
                         const std::function<void(System&)>& change = {}) const {
        System system;
        for (int i = 0; i < n; i++)
            system.addParticle(5);
        auto* force = new ConstraintForce();
        force->setUsesPeriodicBoundaryConditions(periodic);
        for (const auto& bond : bonds)
            force->addDistance(bond.i, bond.j, bond.length);
        system.addForce(force);
        if (change)
            change(system);
        const IntegratorPointer integrator = makeIntegrator(GetParam(), 0.001, 1e-6);
        return messageOf([&] { makeContext(system, *integrator, platform()); });
    }
    /** A failing step throws, leaves the state of the last good step, and once more is possible after a repair.
     *  @return the message */
    static std::string expectFailureLeavesTheState(Simulation& s) {
        const State before = s.context->getState(State::Positions | State::Velocities);
        const std::string message = messageOf([&] { s.integrator->step(1); });
        EXPECT_EQ(distance(s.positions(), before.getPositions()), 0);
        EXPECT_EQ(distance(s.velocities(), before.getVelocities()), 0);
        EXPECT_EQ(s.context->getState(0).getTime(), before.getTime());
        EXPECT_EQ(s.context->getStepCount(), before.getStepCount());
        return message;
    }
};

TEST_P(Errors, BadIndicesAreNamed) {
    expectAll(creating(3, {{0, 1, 0.1}, {2, 3, 0.1}}), {"distance 1", "index 0", "particle index 3", "3 particles"});
    expectAll(creating(3, {{-1, 1, 0.1}}), {"particle index -1", "out of range"});
    expectAll(creating(3, {{2, 2, 0.1}}), {"particle 2 to itself"});
    EXPECT_EQ(creating(3, {{0, 1, 0.1}}), "");
}

TEST_P(Errors, NamesOfParticlesAreGivenBesideTheirNumbers) {
    const std::vector<std::string> names = {"A:LEU3:CA", "", "A:LEU3:HA"};
    const auto naming = [&](System& s) {
        s.addConstraint(2, 0, -0.1); // comes first
        dynamic_cast<ConstraintForce&>(s.getForce(0)).setParticleNames(names);
    };
    expectAll(creating(4, {{0, 1, 0.1}}, false, naming),
              {"System constraint 0 (particles 2 and 0: A:LEU3:HA and A:LEU3:CA)"});
    const auto onlyNames = [&](System& s) {
        s.setParticleMass(3, -1);
        auto* force = new ConstraintForce();
        force->setParticleNames({"", "", "", "X1"});
        s.addForce(force);
    };
    expectAll(creating(4, {{0, 3, 0.1}}, false, onlyNames), {"(particles 0 and 3: 0 and X1)", "particle 3 (X1)"});
    const auto tooMany = [&](System& s) {
        dynamic_cast<ConstraintForce&>(s.getForce(0)).setParticleNames(std::vector<std::string>(5, "X"));
    };
    expectAll(creating(4, {{0, 1, 0.1}}, false, tooMany), {"names of 5 particles", "only 4", "setTopology"});
}

TEST_P(Errors, NamesOfParticlesAreGivenWhereStepsFail) {
    const TestSystem& molecule = findSystem("CH2");
    auto system = toOpenMM(molecule, Declared::InSystem);
    system->addParticle(1);
    auto* field = new CustomExternalForce("switch*x/(1-switch)");
    field->addGlobalParameter("switch", 0);
    field->addParticle(3, {});
    system->addForce(field);
    auto* force = new ConstraintForce(); // names alone
    force->setParticleNames({"C", "H1", "H2", "free"});
    system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform());
    Vectors r = toVectors(molecule.positions);
    r.push_back(Vec3(1, 1, 1));
    s.context->setPositions(r);
    s.integrator->step(1);
    s.context->setParameter("switch", 1);
    expectAll(expectFailureLeavesTheState(s), {"particle 3 (free)", "NaN"});
    s.context->setParameter("switch", 0);
    r[2] = r[1];
    s.context->setPositions(r);
    expectAll(expectFailureLeavesTheState(s), {"(particles 1 and 2: H1 and H2)"});
}

TEST_P(Errors, NamesAloneAskForNoIntegratorOfOurs) {
    System system;
    system.addParticle(1);
    auto* force = new ConstraintForce();
    force->setParticleNames({"X"});
    system.addForce(force);
    VerletIntegrator verlet(0.001);
    BrownianIntegrator brownian(300, 1, 0.001);
    for (Integrator* integrator : {(Integrator*) &verlet, (Integrator*) &brownian}) {
        const auto context = makeContext(system, *integrator, platform());
        context->setPositions({Vec3()});
        integrator->step(2);
        EXPECT_EQ(context->getStepCount(), 2);
    }
}

TEST_P(Errors, BadLengthsAreNamed) {
    for (double length : {0.0, -0.1, notANumber, std::numeric_limits<double>::infinity()})
        expectAll(creating(3, {{0, 2, length}}), {"particles 0 and 2", "not a positive number"});
}

TEST_P(Errors, VirtualSitesAreRefused) {
    expectAll(creating(3, {{0, 2, 0.1}}, false,
                       [](System& s) {
                           s.setParticleMass(2, 0);
                           s.setVirtualSite(2, new TwoParticleAverageSite(0, 1, 0.5, 0.5));
                       }),
              {"particle 2", "virtual site"});
}

TEST_P(Errors, LengthsBeyondHalfTheBoxAreRefusedWhereImagesAreTaken) {
    const auto box = [](System& s) { s.setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 4)); };
    EXPECT_EQ(creating(2, {{0, 1, 0.99}}, true, box), "");
    expectAll(creating(2, {{0, 1, 1.01}}, true, box), {"particles 0 and 1", "1.01", "half the shortest width"});
    EXPECT_EQ(creating(2, {{0, 1, 1.01}}, false, box), "");
}

TEST_P(Errors, ABoxThatShrinksBelowALengthIsNamedAtTheStep) {
    TestSystem pair = findSystem("OH");
    pair.periodic = true;
    Simulation s = simulate(pair, Declared::InForce, GetParam(), 0.001);
    s.integrator->step(1);
    s.context->setPeriodicBoxVectors(Vec3(0.15, 0, 0), Vec3(0, 0.15, 0), Vec3(0, 0, 0.15));
    expectAll(expectFailureLeavesTheState(s), {"particles 0 and 1", "half the shortest width"});
}

TEST_P(Errors, ContradictoryLengthsAreNamedAtCreation) {
    expectAll(creating(2, {{0, 1, 0.1}, {1, 0, 0.11}}), {"distance 0", "distance 1", "0.1 and 0.11", "Remove"});
    EXPECT_EQ(creating(2, {{0, 1, 0.1}, {1, 0, 0.1 + 1e-8}}), "") << "within the tolerance of 1e-6";
    expectAll(creating(4, {{0, 1, 0.1}, {2, 3, 0.1}, {2, 1, 0.1}, {1, 3, 0.21}}),
              {"particles 1 and 3", "contradict", "0.21"});
}

TEST_P(Errors, ATetrahedronThatCannotCloseIsNamed) {
    // Every face is possible; the height over the third does not reach.
    TestSystem body = findSystem("methane");
    body.masses.resize(4);
    body.positions = {{0, 0, 0}, {0.1, 0, 0}, {0.05, 0.0866, 0}, {0.05, 0.03, 0.02}};
    body.bonds = {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.1}, {0, 3, 0.052}, {1, 3, 0.052}, {2, 3, 0.052}};
    Simulation s = simulate(body, Declared::InForce, GetParam(), 0.001, 1e-8);
    s.integrator->setMaxIterations(500); // no number is enough
    const std::string message = expectFailureLeavesTheState(s);
    EXPECT_TRUE(message.find("particles") != std::string::npos) << message;
    expectAll(message, {"Remedy"});
}

TEST_P(Errors, SingularSetsAreNamed) {
    // A flat hexagon of triangles: it folds along each of its diagonals, so it is not rigid, and to second order only
    // some of its admissible velocities can go on.
    TestSystem flat = findSystem("methane");
    flat.masses.assign(7, 10.0);
    flat.positions = {{0, 0, 0}};
    for (int i = 0; i < 6; i++)
        flat.positions.push_back({0.1 * std::cos(M_PI / 3 * i), 0.1 * std::sin(M_PI / 3 * i), 0});
    flat.bonds.clear();
    for (int i = 0; i < 6; i++) {
        flat.bonds.push_back({0, i + 1, 0.1});
        flat.bonds.push_back({i + 1, (i + 1) % 6 + 1, 0.1});
    }
    auto system = toOpenMM(flat, Declared::InForce);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform());
    s.context->setPositions(toVectors(flat.positions));
    expectAll(expectFailureLeavesTheState(s), {"particles 0, 1, 2, 3", "planar", "singular", "addRigidBody"});
    expectAll(messageOf([&] { s.integrator->applyConstraints(); }), {"planar"});
}

TEST_P(Errors, NonConvergenceIsNamedAndLeavesTheState) {
    Simulation s = simulate(findSystem("chain"), Declared::InForce, GetParam(), 0.002, 1e-12);
    s.integrator->step(3);
    s.integrator->setMaxIterations(1);
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each *= 5; // still tangent; multipliers of the last step are no help, nor is one correction
    s.context->setVelocities(v);
    const std::string message = expectFailureLeavesTheState(s);
    expectAll(message, {"particles ", "target", "residual", "tolerance 1e-12", "after 1 iterations", "Remedy",
                        "setMaxIterations", "step 4"});
    EXPECT_EQ(message.find("setSolver(MatrixInversion)") != std::string::npos,
              std::get<1>(GetParam()) == ConstraintIntegrator::Iterative)
        << "where it is not in use: " << message;
    expectAll(message, {"openmmconstraints.minimize(context)"});
    // The velocities of a Langevin step are solved first; Newton's method needs one iteration for those.
    if (isLangevin() && std::get<1>(GetParam()) == ConstraintIntegrator::Iterative)
        expectAll(message, {"rate of change", "velocity stage"});
    else
        expectAll(message, {"value", "position stage"});
    EXPECT_FALSE(s.integrator->getSolverSummary().converged);
    EXPECT_NE(s.integrator->getSolverSummary().str().find("NOT converged"), std::string::npos);
    s.integrator->setMaxIterations(5000);
    s.integrator->step(1);
    EXPECT_EQ(s.context->getStepCount(), 4);
    EXPECT_TRUE(s.integrator->getSolverSummary().converged);
}

TEST_P(Errors, AFailureInTheMiddleOfManyStepsLeavesTheLastGoodOne) {
    // The pair runs down a slope that gets steeper without bound.
    const TestSystem& pair = findSystem("OH");
    const auto start = [&] {
        auto system = toOpenMM(pair, Declared::InForce);
        auto* spin = new CustomExternalForce("-2000*(x+0.2)^3");
        spin->addParticle(1, {});
        system->addForce(spin);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.01, 1e-8), platform());
        s.context->setPositions(toVectors(pair.positions));
        return s;
    };
    Simulation s = start();
    const std::string message = messageOf([&] { s.integrator->step(1000); });
    expectAll(message, {"article"});
    const long long good = s.context->getStepCount();
    EXPECT_GT(good, 0);
    EXPECT_NEAR(s.context->getState(0).getTime(), 0.01 * good, 1e-9);
    Simulation again = start();
    again.integrator->step((int) good);
    EXPECT_EQ(distance(s.positions(), again.positions()), 0);
    EXPECT_EQ(distance(s.velocities(), again.velocities()), 0);
}

TEST_P(Errors, NotANumberIsNamed) {
    const TestSystem& chain = findSystem("chain");
    for (int stage : {0, 1, 2}) {
        SCOPED_TRACE(stage);
        auto system = toOpenMM(chain, Declared::InForce);
        auto* field = new CustomExternalForce("switch*x/(1-switch)");
        field->addGlobalParameter("switch", 0);
        field->addParticle(7, {});
        system->addForce(field);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform());
        s.context->setPositions(toVectors(chain.positions));
        s.integrator->step(1);
        if (stage == 0) {
            Vectors r = s.positions();
            r[7][1] = notANumber;
            s.context->setPositions(r);
            expectAll(messageOf([&] { s.integrator->step(1); }), {"The position of particle 7 is NaN", "Remedy"});
            expectAll(messageOf([&] { s.integrator->applyConstraints(); }), {"NaN", "Remedy"});
            EXPECT_EQ(s.context->getStepCount(), 1);
        } else if (stage == 1) {
            Vectors v = s.velocities();
            v[7][1] = notANumber;
            s.context->setVelocities(v);
            expectAll(messageOf([&] { s.integrator->step(1); }), {"7", "NaN"});
            expectAll(messageOf([&] { s.integrator->applyVelocityConstraints(); }), {"7", "NaN"});
            EXPECT_EQ(s.context->getStepCount(), 1);
        } else {
            s.context->setParameter("switch", 1);
            expectAll(expectFailureLeavesTheState(s), {"article", "7", "NaN"});
        }
    }
}

TEST_P(Errors, AStateThatCannotBeProjectedIsLeftAsItIs) {
    Simulation s = simulate(findSystem("disjoint"), Declared::InForce, GetParam(), 0.001, 1e-8);
    Vectors r = s.positions(), v = s.velocities();
    r[0] += Vec3(0.002, 0.001, 0); // could be projected
    v[12][0] = notANumber;
    s.context->setPositions(r);
    r = s.positions(); // as the platform stores it
    s.context->setVelocities(v);
    expectAll(messageOf([&] { s.integrator->step(1); }), {"NaN", "12"});
    EXPECT_EQ(distance(s.positions(), r), 0);
    v[12][0] = 0;
    s.context->setVelocities(v);
    s.integrator->step(1);
    EXPECT_EQ(s.context->getStepCount(), 1);
}

TEST_P(Errors, AForceThatThrowsLeavesTheState) {
    for (int evaluation = 2; evaluation < 4; evaluation++) {
        const TestSystem& chain = findSystem("chain");
        auto probe = std::make_unique<Probe>();
        auto system = toOpenMM(chain, Declared::InForce);
        addSprings(*system, chain);
        system->addForce(new ProbeForce(*probe));
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform());
        s.context->setPositions(toVectors(chain.positions));
        s.integrator->step(1);
        probe->throwAtEvaluation = probe->forceEvaluations;
        expectAll(expectFailureLeavesTheState(s), {"the probe fails"});
        probe->throwAtEvaluation = -1;
        s.integrator->step(1);
        EXPECT_EQ(s.context->getStepCount(), 2);
    }
}

TEST_P(Errors, ImmovablePairsAtTheWrongDistanceAreNamed) {
    System system;
    for (double mass : {0.0, 0.0, 4.0})
        system.addParticle(mass);
    auto* force = new ConstraintForce();
    force->addDistance(0, 1, 0.1);
    force->addDistance(1, 2, 0.1);
    system.addForce(force);
    const IntegratorPointer integrator = makeIntegrator(GetParam(), 0.001, 1e-6);
    const auto context = makeContext(system, *integrator, platform());
    context->setPositions({Vec3(), Vec3(0.12, 0, 0), Vec3(0.12, 0.1, 0)});
    expectAll(messageOf([&] { integrator->step(1); }),
              {"particles 0 and 1", "0.12", "zero mass", "Remedy", "freeze(system, [])"});
    context->setPositions({Vec3(), Vec3(0.1, 0, 0), Vec3(0.1, 0.1, 0)});
    integrator->step(3);
    EXPECT_EQ(context->getStepCount(), 3);
}

TEST_P(Errors, ParticlesAtTheSamePlaceAreNamed) {
    Simulation s = simulate(findSystem("CH2"), Declared::InForce, GetParam(), 0.001);
    Vectors r = s.positions();
    r[2] = r[1];
    s.context->setPositions(r);
    expectAll(expectFailureLeavesTheState(s), {"particles 1 and 2", "same place"});
}

TEST_P(Errors, CoordinatesTooLargeForTheirRoundingAreNamed) {
    auto system = std::make_unique<System>();
    for (int i = 0; i < 18; i++)
        system->addParticle(12);
    auto* force = new ConstraintForce();
    force->addDistance(0, 1, 0.1);
    for (int i = 2; i < 5; i++) // a tetrahedron
        for (int j = i + 1; j < 6; j++)
            force->addDistance(i, j, 0.1);
    force->addAngle(6, 7, 8, M_PI / 2);
    force->addDihedral(9, 10, 11, 12, 0.5);
    force->addCentroidDistance({13, 14}, {15, 16}, 0.2);
    auto* sphere = new CustomConstraintForce(1, "x1^2+y1^2+z1^2-1");
    sphere->addConstraint({17});
    system->addForce(force);
    system->addForce(sphere);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-6), platform());
    Vectors start;
    for (int i = 0; i < 18; i++)
        start.emplace_back(0.1 * i, 0.05 * (i % 2), 0.02 * (i % 3));
    for (double coordinate : {1e20, -1e38, 1e155, 1e300})
        for (int particle : {1, 5, 7, 12, 14, 17}) {
            SCOPED_TRACE(std::to_string(coordinate) + " of particle " + std::to_string(particle));
            Vectors r = start;
            r[particle][1] = coordinate;
            s.context->setPositions(r);
            const double stored = s.positions()[particle][1]; // infinite beyond 3e38 in single precision
            std::ostringstream place;
            place << stored;
            const std::string name = "particle " + std::to_string(particle), value = place.str();
            for (const auto& project : std::vector<std::function<void()>>{
                     [&] { s.integrator->step(1); }, [&] { s.integrator->applyConstraints(); },
                     [&] { s.integrator->applyVelocityConstraints(); }}) {
                const std::string message = messageOf(project);
                expectAll(message, {name + " ", "Remedy"});
                if (std::isfinite(stored))
                    expectAll(message, {name + " is at", value, "rounded"});
                else
                    expectAll(message, {"NaN or infinite"});
            }
        }
}

TEST_P(Errors, AnglesThatStartExactlyStraightAreNamed) {
    const double angle = 109.5 * M_PI / 180;
    for (bool isDihedral : {false, true}) {
        auto system = std::make_unique<System>();
        for (int i = 0; i < 4; i++)
            system->addParticle(12);
        auto* force = new ConstraintForce();
        if (isDihedral)
            force->addDihedral(0, 1, 2, 3, angle);
        else
            force->addAngle(0, 1, 2, angle);
        for (int i = 0; i < 2; i++)
            force->addDistance(i, i + 1, 0.15);
        system->addForce(force);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-6), platform());
        Vectors r = {Vec3(), Vec3(0.15, 0, 0), Vec3(0.3, 0, 0), Vec3(0.35, 0.1, 0.1)};
        s.context->setPositions(r);
        for (const std::string& message :
             {expectFailureLeavesTheState(s), messageOf([&] { s.integrator->applyConstraints(); }),
              messageOf([&] { s.integrator->applyVelocityConstraints(); })}) {
            expectAll(message,
                      {isDihedral ? "dihedral 0 of" : "angle 0 of", "no gradient", "straight line",
                       "target 1.91114 rad", "There: particle 0 at (0, 0, 0) nm", "Remedy: move particle 1 off"});
            EXPECT_EQ(message.find("NaN"), std::string::npos) << message;
        }
        r[1][1] = 0.001; // as the remedy says
        s.context->setPositions(r);
        s.integrator->applyConstraints();
        s.integrator->step(2);
        EXPECT_EQ(s.context->getStepCount(), 2);
    }
}

TEST_P(Errors, BondsThatTurnTooFastAreNamedWithTheStepThatWouldDo) {
    const double length = 0.074, stepSize = 0.008;
    const auto turning = [&](double rotation) { // rad in a step, about
        auto system = std::make_unique<System>();
        for (int i = 0; i < 2; i++)
            system->addParticle(1.008);
        system->addConstraint(0, 1, length);
        Simulation s(std::move(system), makeIntegrator(GetParam(), stepSize, 1e-6), platform());
        s.context->setPositions({Vec3(), Vec3(length, 0, 0)});
        const double speed = 0.5 * length * rotation / stepSize;
        s.context->setVelocities({Vec3(0, -speed, 0), Vec3(0, speed, 0)});
        return s;
    };
    const bool isNoisy = isLangevin();
    for (double rotation : {0.5, isNoisy ? 0.8 : 0.99}) { // 30 and 82 degrees, where the solution still is close by
        Simulation s = turning(rotation);
        s.integrator->step(isNoisy ? 1 : 20);
        const Vec3 bond = s.positions()[0] - s.positions()[1];
        EXPECT_NEAR(std::sqrt(bond.dot(bond)), length, length * attainable(platform(), 1e-6, length));
    }
    Simulation s = turning(1.4);
    const std::string message = expectFailureLeavesTheState(s);
    expectAll(message,
              {"System constraint 0 (particles 0 and 1)", "Free particles would turn it by 1.", "rad in this step",
               "90 degrees", "Remedy: a step size below 0.00", "openmmconstraints.minimize(context)"});
    if (!isNoisy)
        expectAll(message, {"by 1.4 rad", "below 0.0057 ps"});
    s.integrator->setStepSize(0.0045);
    s.integrator->step(1);
    EXPECT_EQ(s.context->getStepCount(), 1);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Errors, testing::ValuesIn(oneSetupOfEach(allSetups())),
                         [](const auto& info) { return nameOf(info.param); });
