// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// ConstraintForce::setReplacesSolver(): what changes the state between steps, who solves, and what is refused.
#include "openmm/serialization/XmlSerializer.h"
#include "support/ForeignRun.h"
#include "support/Messages.h"
#include <cmath>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

// ---- what changes the state between steps ---------------------------------------------------------------------------

class ReplacedStates : public testing::TestWithParam<std::string> {
protected:
    /** Three particles with two bonds and the angle between them. */
    static std::unique_ptr<System> bentSystem(ConstraintForce*& force) {
        auto system = std::make_unique<System>();
        for (double mass : {12.0, 16.0, 1.0})
            system->addParticle(mass);
        force = addReplacing(*system);
        force->addDistance(0, 1, 0.1);
        force->addDistance(1, 2, 0.12);
        force->addAngle(0, 1, 2, 1.9);
        auto* pull = new CustomExternalForce("-20*x+7*y*y");
        for (int i = 0; i < 3; i++)
            pull->addParticle(i);
        system->addForce(pull);
        return system;
    }
    /** A bound for this platform. */
    static double close(double bound) {
        return std::max(bound, attainable(GetParam(), 0));
    }
    /** Have OpenMM count a distance, without which a CustomIntegrator does not ask for constraints on devices. */
    static void countFirst(System& system, ConstraintForce& force) {
        system.addConstraint(0, 1, 0.1);
        force.setCountedPairs({{0, 1}});
    }
    /** Take a step and read the state: before, a device does not say that the step has failed. */
    static void stepAndRead(const ForeignRun& run) {
        run.integrator->step(1);
        run.positions();
    }
    static Vectors bentPositions(double angle = 1.9, double stretch = 1) {
        return {Vec3(0.1 * stretch, 0, 0), Vec3(), Vec3(0.12 * std::cos(angle), 0.12 * std::sin(angle), 0)};
    }
    static double angleOf(const Vectors& x) {
        const Vec3 a = x[0] - x[1], b = x[2] - x[1];
        return std::acos(a.dot(b) / std::sqrt(a.dot(a) * b.dot(b)));
    }
    static double lengthOf(const Vectors& x) {
        const Vec3 a = x[0] - x[1];
        return std::sqrt(a.dot(a));
    }
};

TEST_P(ReplacedStates, ProjectsWhatIsSet) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions(1.93, 1.02));
    run.integrator->step(1);
    EXPECT_NEAR(lengthOf(run.positions()), 0.1, close(1e-9));
    EXPECT_NEAR(angleOf(run.positions()), 1.9, close(1e-8));
    run.context->setPositions(bentPositions(1.87, 0.98));
    run.context->applyConstraints(1e-5);
    EXPECT_NEAR(lengthOf(run.positions()), 0.1, close(1e-9));
    EXPECT_NEAR(angleOf(run.positions()), 1.9, close(1e-8));
    run.context->setPositions(bentPositions(1.0, 3));
    EXPECT_EQ(kindOf([&] { run.integrator->step(1); }), "far-off");
    EXPECT_EQ(kindOf([&] { run.context->applyConstraints(1e-5); }), "far-off"); // OpenMM's minimizer may have asked
    run.context->setPositions(bentPositions(1.7, 1.2));
    run.context->applyConstraints(1e-5);
    run.integrator->step(1);
    EXPECT_NEAR(angleOf(run.positions()), 1.9, close(1e-8));
}

TEST_P(ReplacedStates, MovesBondedParticlesAlongWhereAProjectionIsFar) {
    // Of a chain only the dihedral of the first four is held; stages keep the bond to the fifth.
    const double bond = 0.15;
    auto system = std::make_unique<System>();
    auto* bonds = new HarmonicBondForce();
    for (int i = 0; i < 5; i++) {
        system->addParticle(i == 4 ? 1 : 12);
        if (i > 0)
            bonds->addBond(i - 1, i, bond, 1e5);
    }
    system->addForce(bonds);
    addReplacing(*system)->addDihedral(0, 1, 2, 3, 0.4);
    const double c = bond * std::cos(0.1), s = bond * std::sin(0.1);
    const Vectors start = {Vec3(0, bond, 0), Vec3(), Vec3(bond, 0, 0), Vec3(bond, c, s), Vec3(bond, 2 * c, 2 * s)};
    ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(start);
    run.context->applyConstraints(1e-5);
    const Vectors x = run.positions();
    EXPECT_NEAR(std::sqrt((x[4] - x[3]).dot(x[4] - x[3])), bond, 1e-3);
    EXPECT_GT((x[4] - start[4]).dot(x[4] - start[4]), 1e-7);
    auto& force = dynamic_cast<ConstraintForce&>(run.system->getForce(1));
    force.setDihedralParameters(0, 0, 1, 2, 3, 2.0); // the fifth moves farthest
    force.updateParametersInContext(*run.context);
    EXPECT_EQ(kindOf([&] { run.context->applyConstraints(1e-5); }), "far-off");
}

TEST_P(ReplacedStates, SaysThatPositionsWereForgotten) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    expectAll(messageOf([&] { run.integrator->step(1); }), {"Particle positions have not been set"});
}

TEST_P(ReplacedStates, FollowsStatesAndCheckpoints) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    countFirst(*system, *force);
    ForeignRun run(std::move(system), makeForeign("CustomVerlet", 0.001, 1e-10), GetParam());
    run.context->setPositions(bentPositions());
    run.context->setVelocities({Vec3(1, 0, 0.3), Vec3(0, 1, 0), Vec3(0, 0, 2)});
    run.integrator->step(5);
    std::stringstream checkpoint;
    run.context->createCheckpoint(checkpoint);
    const State state = run.context->getState(State::Positions | State::Velocities);
    run.integrator->step(5);
    const Vectors there = run.positions();
    run.integrator->step(5);
    run.context->loadCheckpoint(checkpoint);
    run.integrator->step(5);
    const Vectors again = run.positions();
    run.integrator->step(3);
    run.context->setState(state);
    run.integrator->step(5);
    const Vectors third = run.positions();
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++) {
            EXPECT_EQ(again[i][axis], there[i][axis]);
            EXPECT_EQ(third[i][axis], there[i][axis]);
        }
}

TEST_P(ReplacedStates, TakesNewTargetsAndParameters) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    force->addGlobalParameter("lambda", 0);
    force->setAngleInterpolation(0, "lambda", 2.0);
    ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions());
    run.integrator->step(2);
    run.context->setParameter("lambda", 0.5);
    run.integrator->step(2);
    EXPECT_NEAR(angleOf(run.positions()), 1.95, close(1e-8));
    force->setDistanceParameters(0, 0, 1, 0.11);
    force->updateParametersInContext(*run.context);
    run.integrator->step(2);
    EXPECT_NEAR(lengthOf(run.positions()), 0.11, close(1e-9));
    EXPECT_NEAR(angleOf(run.positions()), 1.95, close(1e-8));
    force->addDistance(0, 2, 0.17);
    expectAll(messageOf([&] { force->updateParametersInContext(*run.context); }), {"reinitialize"});
    const Vectors x = run.positions();
    force->setDistanceParameters(2, 0, 2, std::sqrt((x[0] - x[2]).dot(x[0] - x[2])));
    run.context->reinitialize(true);
    run.integrator->step(2);
    EXPECT_NEAR(lengthOf(run.positions()), 0.11, close(1e-9));
}

TEST_P(ReplacedStates, TakesNewTargetsOfWhatIsDeclaredForCounting) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    force->addRigidBody({0, 1, 2}, bentPositions());
    system->addConstraint(0, 1, 0.1);
    const auto stretch = [&] {
        ForeignRun run(std::unique_ptr<System>(XmlSerializer::clone(*system)),
                       makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
        auto& own = dynamic_cast<ConstraintForce&>(run.system->getForce(0));
        run.context->setPositions(bentPositions());
        run.integrator->step(1);
        own.setDistanceParameters(0, 0, 1, 0.11);
        own.setAngleParameters(0, 0, 1, 2, 2.0);
        Vectors shape = bentPositions(2.0);
        shape[0][0] = 0.11;
        own.setRigidBodyParameters(0, {0, 1, 2}, shape);
        own.updateParametersInContext(*run.context);
        run.integrator->step(1);
        return lengthOf(run.positions());
    };
    expectAll(messageOf(stretch), {"System constraint 0"});
    force->setCountedPairs({{1, 0}});
    EXPECT_NEAR(stretch(), 0.11, close(1e-8));
}

TEST_P(ReplacedStates, RefusesTargetsThatHaveNoMinimumImage) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    system->setDefaultPeriodicBoxVectors(Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1));
    force->setUsesPeriodicBoundaryConditions(true);
    force->addGlobalParameter("lambda", 0);
    force->setDistanceInterpolation(0, "lambda", 0.6);
    ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions());
    run.integrator->step(1);
    run.context->setParameter("lambda", 1);
    expectAll(messageOf([&] { run.integrator->step(1); }), {"particles 0 and 1", "0.6"});
}

TEST_P(ReplacedStates, GoesByWhatTheContextWasMadeWith) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    force->setReplacesSolver(false);
    ForeignRun without(std::unique_ptr<System>(XmlSerializer::clone(*system)), makeForeign("Verlet", 0.001, 1e-9),
                       GetParam());
    dynamic_cast<ConstraintForce&>(without.system->getForce(0)).setReplacesSolver(true);
    without.context->setPositions(bentPositions());
    EXPECT_EQ(kindOf([&] { without.integrator->step(1); }), "integrator");
    force->setReplacesSolver(true);
    ForeignRun with(std::move(system), makeForeign("Verlet", 0.001, 1e-9), GetParam());
    force->setReplacesSolver(false);
    with.context->setPositions(bentPositions());
    with.integrator->step(1);
    EXPECT_NEAR(angleOf(with.positions()), 1.9, close(1e-8));
}

TEST_P(ReplacedStates, RefusesBarostatsThatWouldMoveGroupsAfterTheProjection) {
    const auto make = [&](bool isLast) {
        auto system = std::make_unique<System>();
        auto* nonbonded = new NonbondedForce();
        nonbonded->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
        for (int i = 0; i < 4; i++) {
            system->addParticle(10);
            nonbonded->addParticle(0, 0.3, 0);
        }
        system->addForce(nonbonded);
        system->setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3));
        auto* barostat = new MonteCarloBarostat(1, 300, 1);
        if (!isLast)
            system->addForce(barostat);
        addReplacing(*system)->addCentroidDistance({0, 1}, {2, 3}, 0.5);
        if (isLast)
            system->addForce(barostat);
        const ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    };
    EXPECT_EQ(messageOf([&] { make(false); }), "");
    EXPECT_EQ(kindOf([&] { make(true); }), "combination");
    expectAll(messageOf([&] { make(true); }), {"MonteCarloBarostat", "replaceSolver() last"});
}

TEST_P(ReplacedStates, HasKineticEnergiesWherePositionsAreFarOff) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("Verlet", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions());
    run.context->setVelocitiesToTemperature(300, 1); // which needs forces: velocities are those of half a step earlier
    run.context->setPositions(bentPositions(1.5, 2));
    const double energy = run.context->getState(State::Energy).getKineticEnergy();
    EXPECT_GT(energy, 0);
    EXPECT_LT(energy, 100);
}

TEST_P(ReplacedStates, SolvesInTwoContextsOfASystem) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    const auto first = makeForeign("LangevinMiddle", 0.001, 1e-9), second = makeForeign("NoseHoover", 0.001, 1e-9);
    Context one(*system, *first, requirePlatform(GetParam()), propertiesOf(GetParam())),
        two(*system, *second, requirePlatform("Reference"));
    one.setPositions(bentPositions());
    two.setPositions(bentPositions());
    for (int step = 0; step < 5; step++) {
        first->step(1);
        second->step(2);
    }
    EXPECT_NEAR(angleOf(one.getState(State::Positions).getPositions()), 1.9, close(1e-8));
    EXPECT_NEAR(angleOf(two.getState(State::Positions).getPositions()), 1.9, close(1e-8));
    EXPECT_TRUE(force->getSolverSummary(one).converged);
    EXPECT_GT(force->getSolverSummary(two).iterations, 0);
}

TEST_P(ReplacedStates, TakesTheOtherEnantiomer) {
    // A body that is recognized from lengths may have either form.
    auto system = std::make_unique<System>();
    const Vectors corners = {Vec3(), Vec3(0.1, 0, 0), Vec3(0, 0.12, 0), Vec3(0.02, 0.03, 0.15), Vec3(0.1, 0.1, 0.1)};
    for (int i = 0; i < 5; i++)
        system->addParticle(10 + i);
    ConstraintForce* force = addReplacing(*system);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            force->addDistance(i, j, std::sqrt((corners[i] - corners[j]).dot(corners[i] - corners[j])));
    ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    for (const double sign : {1.0, -1.0, 1.0}) {
        Vectors x = corners;
        for (Vec3& r : x)
            r[2] *= sign;
        run.context->setPositions(x);
        run.integrator->step(3);
        const Vectors now = run.positions();
        const Vec3 a = now[1] - now[0], b = now[2] - now[0], c = now[3] - now[0];
        EXPECT_NEAR(a.cross(b).dot(c), sign * 0.1 * 0.12 * 0.15, 1e-9);
    }
}

TEST_P(ReplacedStates, WorksBesideBarostats) {
    const TestSystem& water = findSystem("water");
    auto system = toOpenMM(water, Declared::InForce);
    system->setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3));
    for (int f = 0; f < system->getNumForces(); f++)
        if (auto* force = dynamic_cast<ConstraintForce*>(&system->getForce(f)))
            force->setUsesPeriodicBoundaryConditions(true);
    addReplacing(*system)->setUsesPeriodicBoundaryConditions(true);
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(7);
    system->addForce(barostat);
    ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(toVectors(water.positions));
    run.integrator->step(50);
    const Vectors x = run.positions();
    for (const auto& bond : water.bonds)
        EXPECT_NEAR(std::sqrt((x[bond.i] - x[bond.j]).dot(x[bond.i] - x[bond.j])), bond.length, close(1e-8));
}

// ---- who solves -----------------------------------------------------------------------------------------------------

TEST_P(ReplacedStates, TakesTurnsWithOursInACompoundIntegrator) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    countFirst(*system, *force);
    CompoundIntegrator both;
    auto* ours = new RattleIntegrator(0.001);
    ours->setConstraintTolerance(1e-10);
    both.addIntegrator(makeForeign("CustomVerlet", 0.001, 1e-10).release());
    both.addIntegrator(ours);
    Context context(*system, both, requirePlatform(GetParam()), propertiesOf(GetParam()));
    context.setPositions(bentPositions());
    context.setVelocities({Vec3(1, 0, 0.3), Vec3(0, 1, 0), Vec3(0, 0, 2)});
    for (int turn = 0; turn < 6; turn++) {
        both.setCurrentIntegrator(turn % 2);
        both.step(5);
        EXPECT_NEAR(angleOf(context.getState(State::Positions).getPositions()), 1.9, close(1e-8)) << turn;
        EXPECT_GT(force->getSolverSummary(context).iterations, 0);
    }
    both.setCurrentIntegrator(0);
    expectAll(messageOf([&] { force->getMultipliers(context); }), {"getMultipliers", "how long a step is"});
    both.setCurrentIntegrator(1);
    EXPECT_EQ(force->getMultipliers(context).size(), 3u);
}

TEST_P(ReplacedStates, DrawsVelocitiesAndProjectsForOursToo) {
    // Carbon dioxide by three System constraints is singular: CCMA's velocities explode.
    for (unsigned seed = 1; seed <= (isDevice(GetParam()) ? 4 : 100); seed++) {
        System system;
        for (double mass : {16.0, 12.0, 16.0})
            system.addParticle(mass);
        system.addConstraint(0, 1, 0.116);
        system.addConstraint(1, 2, 0.116);
        system.addConstraint(0, 2, 0.232);
        RattleIntegrator integrator(0.001);
        Context context(system, integrator, requirePlatform(GetParam()), propertiesOf(GetParam()));
        context.setPositions({Vec3(-0.116, 0.3, 0), Vec3(0, 0.3, 0), Vec3(0.116, 0.3, 0)});
        context.applyConstraints(1e-5);
        context.setVelocitiesToTemperature(300, seed);
        const State state = context.getState(State::Velocities | State::Energy);
        const double scale = 0.5 * 5 * 8.31446e-3 * 300;
        EXPECT_LT(state.getKineticEnergy(), 8 * scale) << seed;
        EXPECT_NEAR(state.getVelocities()[0][0], state.getVelocities()[2][0], 1e-9) << seed;
        integrator.step(1);
    }
}

TEST_P(ReplacedStates, IsRefusedWhereItCannotSolve) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    force->setDistanceRate(0, 0.1);
    const auto make = [&] {
        const auto integrator = makeForeign("LangevinMiddle", 0.001, 1e-9);
        const Context context(*system, *integrator, requirePlatform(GetParam()), propertiesOf(GetParam()));
    };
    EXPECT_EQ(kindOf(make), "integrator");
    expectAll(messageOf(make), {"moves in time", "particles 0 and 1"});
    force->setDistanceRate(0, 0);
    force->setReplacesSolver(false);
    EXPECT_EQ(kindOf(make), "integrator");
    expectAll(messageOf(make), {"replaceSolver"});
    force->setReplacesSolver(true);
    system->addForce(new AndersenThermostat(300, 1));
    EXPECT_EQ(kindOf(make), "combination");
    system->addConstraint(0, 1, 0.1); // all particles are in one group now
    system->addConstraint(1, 2, 0.12);
    EXPECT_EQ(messageOf(make), "");
}

TEST_P(ReplacedStates, NamesTheParticleWhoseVelocityIsNotFinite) {
    // Distances, of which one is redundant; centroids as well, whose solver would spread what is not finite.
    for (const bool hasCentroids : {false, true}) {
        auto system = std::make_unique<System>();
        ConstraintForce* force = addReplacing(*system);
        const Vectors x{Vec3(), Vec3(0.1, 0, 0), Vec3(0, 0.1, 0), Vec3(0, 0, 0.1), Vec3(0.1, 0.1, 0.1)};
        for (int i = 0; i < 5; i++) {
            system->addParticle(12);
            for (int j = 0; j < i; j++)
                force->addDistance(j, i, std::sqrt((x[i] - x[j]).dot(x[i] - x[j])));
        }
        Vectors all = x;
        for (const Vec3& r : {Vec3(1, 0.1, 0), Vec3(1, 0, 0), Vec3(1.1, 0, 0)}) {
            system->addParticle(16);
            all.push_back(r);
        }
        force->addDistance(5, 6, 0.1);
        if (hasCentroids) {
            auto* centroids = new CustomCentroidConstraintForce(2, "distance(g1, g2) - 0.37478");
            centroids->addGroup({6, 5});
            centroids->addGroup({7, 0});
            centroids->addConstraint({0, 1}, {});
            system->addForce(centroids);
        } else
            force->addDistance(6, 7, 0.1);
        ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
        run.context->setPositions(all);
        run.integrator->step(1);
        const Vectors before = run.positions();
        for (const double bad : isDevice(GetParam()) ? std::vector<double>{NAN} : std::vector<double>{NAN, INFINITY})
            for (int p = 0; p < (int) all.size(); p++) {
                Vectors v(all.size());
                v[p][1] = bad;
                run.context->setPositions(before);
                run.context->setVelocities(v);
                const std::string wanted = "velocity of particle " + std::to_string(p) + " ";
                expectAll(messageOf([&] { run.context->applyVelocityConstraints(1e-6); }), {wanted});
                run.context->setVelocities(v);
                expectAll(messageOf([&] { stepAndRead(run); }), {wanted});
            }
    }
}

TEST_P(ReplacedStates, ReportsFailures) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions());
    run.integrator->step(1);
    const Vectors before = run.positions();
    run.context->setVelocities({Vec3(NAN, 0, 0), Vec3(), Vec3()});
    EXPECT_EQ(kindOf([&] { stepAndRead(run); }), "not-finite");
    run.context->setPositions(before);
    run.context->setVelocities({Vec3(0, 500, 0), Vec3(), Vec3()}); // half a turn of the bond in a step
    run.context->setTime(0.001);
    const std::string message = messageOf([&] { stepAndRead(run); });
    expectAll(message, {"could not be solved in a step at 0.001 ps",
                        "Worst: ", "OpenMM's integrator does not take the step back"});
    EXPECT_FALSE(force->getSolverSummary(*run.context).converged);
    run.context->setPositions(before);
    run.context->setVelocities(Vectors(3));
    run.integrator->step(1);
    EXPECT_TRUE(force->getSolverSummary(*run.context).converged);
}

TEST_P(ReplacedStates, TellsOfFailuresBeforeEnergiesAreRead) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    const auto set = [&](double velocity) {
        run.context->setPositions(bentPositions());
        run.context->setVelocities({Vec3(0, velocity, 0), Vec3(), Vec3()});
    };
    set(500);
    const auto readEnergy = [&] { run.context->getState(State::Energy); };
    EXPECT_NE(kindOf([&] {
                  run.integrator->step(1);
                  readEnergy();
              }),
              "");
    set(500);
    const bool isTold = !kindOf([&] { run.integrator->step(1); }).empty(); // on hosts
    EXPECT_FALSE(force->getSolverSummary(*run.context).converged);
    EXPECT_EQ(kindOf(readEnergy).empty(), isTold);
    set(0);
    run.integrator->step(1);
    readEnergy();
    EXPECT_TRUE(force->getSolverSummary(*run.context).converged);
}

TEST_P(ReplacedStates, CountsDegreesOfFreedomForNoseHooverChains) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    for (int i = 0; i < 3; i++)
        system->addParticle(5);
    for (int f = 0; f < system->getNumForces(); f++)
        if (auto* pull = dynamic_cast<CustomExternalForce*>(&system->getForce(f)))
            for (int i = 3; i < 6; i++)
                pull->addParticle(i);
    force->addRigidBody({3, 4, 5}, {Vec3(1, 0, 0), Vec3(1.1, 0, 0), Vec3(1, 0.1, 0)});
    system->addConstraint(0, 1, 0.1); // counted once, though it is held twice
    Vectors x = bentPositions();
    for (const Vec3& r : {Vec3(1, 0, 0), Vec3(1.1, 0, 0), Vec3(1, 0.1, 0)})
        x.push_back(r);
    NoseHooverIntegrator all(300, 20, 0.001);
    Context context(*system, all, requirePlatform(GetParam()), propertiesOf(GetParam()));
    context.setPositions(x);
    all.step(1);
    EXPECT_EQ(all.getThermostat().getNumDegreesOfFreedom(), 18 - 3 - 3);
    NoseHooverIntegrator some(0.001);
    some.addSubsystemThermostat({0, 1, 2}, {}, 300, 20, 300, 20);
    Context second(*system, some, requirePlatform(GetParam()), propertiesOf(GetParam()));
    second.setPositions(x);
    some.step(1);
    EXPECT_EQ(some.getThermostat().getNumDegreesOfFreedom(), 9 - 3);
    NoseHooverIntegrator cut(0.001);
    cut.addSubsystemThermostat({3, 4}, {}, 300, 20, 300, 20);
    Context third(*system, cut, requirePlatform(GetParam()), propertiesOf(GetParam()));
    third.setPositions(x);
    EXPECT_EQ(kindOf([&] { cut.step(1); }), "combination");
}

INSTANTIATE_TEST_SUITE_P(Platforms, ReplacedStates, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });
