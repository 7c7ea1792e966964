// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// ConstraintForce::setReplacesSolver(): OpenMM's own integrators with this library's solver. For those that exist in
// Python only, see tests/python/test_replaced_solver.py.
#include "openmm/serialization/XmlSerializer.h"
#include "support/Messages.h"
#include "support/Mixture.h"
#include "support/Simulation.h"
#include <cmath>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const std::vector<std::string> hosts = {"Reference", "CPU"};

Integrator* makeCustom(double dt, bool isLangevin) {
    auto* custom = new CustomIntegrator(dt);
    custom->addUpdateContextState();
    custom->addPerDofVariable("x1", 0);
    const auto drift = [&](const char* half) {
        custom->addComputePerDof("x", std::string("x+") + half + "*v");
        custom->addComputePerDof("x1", "x");
        custom->addConstrainPositions();
        custom->addComputePerDof("v", std::string("v+(x-x1)/(") + half + ")");
        custom->addConstrainVelocities();
    };
    custom->addComputePerDof("v", "v+0.5*dt*f/m");
    custom->addConstrainVelocities();
    if (isLangevin) {
        drift("0.5*dt");
        custom->addComputePerDof("v", "exp(-dt)*v+sqrt(1-exp(-2*dt))*sqrt(2.494/m)*gaussian");
        custom->addConstrainVelocities();
        drift("0.5*dt");
    } else
        drift("dt");
    custom->addComputePerDof("v", "v+0.5*dt*f/m");
    custom->addConstrainVelocities();
    return custom;
}

/** Integrators of OpenMM, by name. @param dt  ps */
std::unique_ptr<Integrator> makeForeign(const std::string& name, double dt, double tolerance) {
    std::unique_ptr<Integrator> made;
    if (name == "Verlet")
        made = std::make_unique<VerletIntegrator>(dt);
    else if (name == "LangevinMiddle")
        made = std::make_unique<LangevinMiddleIntegrator>(300, 1, dt);
    else if (name == "FrictionlessLangevinMiddle")
        made = std::make_unique<LangevinMiddleIntegrator>(0, 0, dt);
    else if (name == "Langevin")
        made = std::make_unique<LangevinIntegrator>(300, 1, dt);
    else if (name == "NoseHoover")
        made = std::make_unique<NoseHooverIntegrator>(300, 20, dt);
    else if (name == "Brownian")
        made = std::make_unique<BrownianIntegrator>(300, 100, dt);
    else if (name == "VariableVerlet")
        made = std::make_unique<VariableVerletIntegrator>(1e-4);
    else if (name == "VariableLangevin")
        made = std::make_unique<VariableLangevinIntegrator>(300, 1, 1e-4);
    else
        made.reset(makeCustom(dt, name == "CustomLangevin"));
    made->setConstraintTolerance(tolerance);
    return made;
}

const std::vector<std::string> foreign = {"Verlet",         "LangevinMiddle",   "Langevin",
                                          "NoseHoover",     "Brownian",         "VariableVerlet",
                                          "CustomLangevin", "VariableLangevin", "CustomVerlet"};

ConstraintForce* addReplacing(System& system) {
    auto* force = new ConstraintForce();
    force->setReplacesSolver(true);
    system.addForce(force);
    return force;
}

struct ForeignRun {
    std::unique_ptr<System> system;
    std::unique_ptr<Integrator> integrator;
    std::unique_ptr<Context> context;

    ForeignRun(std::unique_ptr<System> given, std::unique_ptr<Integrator> made, const std::string& platform)
        : system(std::move(given)), integrator(std::move(made)),
          context(new Context(*system, *integrator, requirePlatform(platform), propertiesOf(platform))) {
    }
    Vectors positions() const {
        return context->getState(State::Positions).getPositions();
    }
    Vectors velocities() const {
        return context->getState(State::Velocities).getVelocities();
    }
    double energy() const {
        const State state = context->getState(State::Energy);
        return state.getKineticEnergy() + state.getPotentialEnergy();
    }
};

std::string kindOf(const std::function<void()>& function) {
    try {
        function();
    } catch (const ConstraintException& error) {
        return error.getProblem().kind;
    }
    return "";
}

} // namespace

// ---- every kind of constraint, under every integrator ---------------------------------------------------------------

class ReplacedSolver : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ReplacedSolver, HoldsEveryKindOfConstraint) {
    const auto& [platform, name] = GetParam();
    for (const bool periodic : {false, true}) {
        Mixture mixture = drawMixture(3, periodic, false);
        addReplacing(*mixture.system);
        ForeignRun run(std::move(mixture.system), makeForeign(name, 0.0005, 1e-8), platform);
        run.context->setPositions(mixture.positions);
        run.context->setVelocities(mixture.velocities);
        for (int step = 0; step < 20; step++) {
            run.integrator->step(1);
            ASSERT_TRUE(mixture.holds(run.positions(), 0, 2e-7)) << "step " << step << (periodic ? ", periodic" : "");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Hosts, ReplacedSolver, testing::Combine(testing::ValuesIn(hosts), testing::ValuesIn(foreign)),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

// ---- where OpenMM's algorithms can solve a System -------------------------------------------------------------------

class ReplacedSolverOfRegularSets : public testing::TestWithParam<std::string> {};

TEST_P(ReplacedSolverOfRegularSets, MovesAsOpenMMsOwn) {
    const std::string& name = GetParam();
    for (const char* molecule : {"triangle", "chain", "star"}) {
        const TestSystem& given = findSystem(molecule);
        Vectors ends[2];
        for (const bool isReplaced : {false, true}) {
            auto system = toOpenMM(given, Declared::InSystem);
            addSprings(*system, given);
            if (isReplaced)
                addReplacing(*system);
            ForeignRun run(std::move(system), makeForeign(name, 0.001, 1e-10), "Reference");
            run.context->setPositions(toVectors(given.positions));
            run.context->setVelocities(tangentVelocities(given, 1, 5));
            run.integrator->step(40);
            ends[isReplaced] = run.positions();
        }
        for (int i = 0; i < given.numParticles(); i++)
            EXPECT_LE(std::sqrt((ends[0][i] - ends[1][i]).dot(ends[0][i] - ends[1][i])), 1e-8) << molecule << ' ' << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Integrators, ReplacedSolverOfRegularSets,
                         testing::Values("Verlet", "FrictionlessLangevinMiddle", "NoseHoover", "VariableVerlet",
                                         "CustomVerlet"),
                         [](const auto& info) { return info.param; });

// ---- what changes the state between steps ---------------------------------------------------------------------------

class ReplacedSolverOn : public testing::TestWithParam<std::string> {
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

TEST_P(ReplacedSolverOn, ProjectsWhatIsSet) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions(1.93, 1.02));
    run.integrator->step(1);
    EXPECT_NEAR(lengthOf(run.positions()), 0.1, 1e-9);
    EXPECT_NEAR(angleOf(run.positions()), 1.9, 1e-8);
    run.context->setPositions(bentPositions(1.87, 0.98));
    run.context->applyConstraints(1e-5);
    EXPECT_NEAR(lengthOf(run.positions()), 0.1, 1e-9);
    EXPECT_NEAR(angleOf(run.positions()), 1.9, 1e-8);
    run.context->setPositions(bentPositions(1.0, 3));
    EXPECT_EQ(kindOf([&] { run.integrator->step(1); }), "far-off");
    EXPECT_EQ(kindOf([&] { run.context->applyConstraints(1e-5); }), "far-off"); // OpenMM's minimizer may have asked
    run.context->setPositions(bentPositions(1.7, 1.2));
    run.context->applyConstraints(1e-5);
    run.integrator->step(1);
    EXPECT_NEAR(angleOf(run.positions()), 1.9, 1e-8);
}

TEST_P(ReplacedSolverOn, FollowsStatesAndCheckpoints) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("CustomVerlet", 0.001, 1e-10), GetParam());
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

TEST_P(ReplacedSolverOn, TakesNewTargetsAndParameters) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    force->addGlobalParameter("lambda", 0);
    force->setAngleInterpolation(0, "lambda", 2.0);
    ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions());
    run.integrator->step(2);
    run.context->setParameter("lambda", 0.5);
    run.integrator->step(2);
    EXPECT_NEAR(angleOf(run.positions()), 1.95, 1e-8);
    force->setDistanceParameters(0, 0, 1, 0.11);
    force->updateParametersInContext(*run.context);
    run.integrator->step(2);
    EXPECT_NEAR(lengthOf(run.positions()), 0.11, 1e-9);
    EXPECT_NEAR(angleOf(run.positions()), 1.95, 1e-8);
    force->addDistance(0, 2, 0.17);
    expectAll(messageOf([&] { force->updateParametersInContext(*run.context); }), {"reinitialize"});
    const Vectors x = run.positions();
    force->setDistanceParameters(2, 0, 2, std::sqrt((x[0] - x[2]).dot(x[0] - x[2])));
    run.context->reinitialize(true);
    run.integrator->step(2);
    EXPECT_NEAR(lengthOf(run.positions()), 0.11, 1e-9);
}

TEST_P(ReplacedSolverOn, SolvesInTwoContextsOfASystem) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    const auto first = makeForeign("LangevinMiddle", 0.001, 1e-9), second = makeForeign("NoseHoover", 0.001, 1e-9);
    Context one(*system, *first, requirePlatform(GetParam())), two(*system, *second, requirePlatform("Reference"));
    one.setPositions(bentPositions());
    two.setPositions(bentPositions());
    for (int step = 0; step < 5; step++) {
        first->step(1);
        second->step(2);
    }
    EXPECT_NEAR(angleOf(one.getState(State::Positions).getPositions()), 1.9, 1e-8);
    EXPECT_NEAR(angleOf(two.getState(State::Positions).getPositions()), 1.9, 1e-8);
    EXPECT_TRUE(force->getSolverSummary(one).converged);
    EXPECT_GT(force->getSolverSummary(two).iterations, 0);
}

TEST_P(ReplacedSolverOn, TakesTheOtherEnantiomer) {
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

TEST_P(ReplacedSolverOn, WorksBesideBarostats) {
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
        EXPECT_NEAR(std::sqrt((x[bond.i] - x[bond.j]).dot(x[bond.i] - x[bond.j])), bond.length, 1e-8);
}

// ---- who solves -----------------------------------------------------------------------------------------------------

TEST_P(ReplacedSolverOn, TakesTurnsWithOursInACompoundIntegrator) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    CompoundIntegrator both;
    auto* ours = new RattleIntegrator(0.001);
    ours->setConstraintTolerance(1e-10);
    both.addIntegrator(makeForeign("CustomVerlet", 0.001, 1e-10).release());
    both.addIntegrator(ours);
    Context context(*system, both, requirePlatform(GetParam()));
    context.setPositions(bentPositions());
    context.setVelocities({Vec3(1, 0, 0.3), Vec3(0, 1, 0), Vec3(0, 0, 2)});
    for (int turn = 0; turn < 6; turn++) {
        both.setCurrentIntegrator(turn % 2);
        both.step(5);
        EXPECT_NEAR(angleOf(context.getState(State::Positions).getPositions()), 1.9, 1e-8) << turn;
        EXPECT_GT(force->getSolverSummary(context).iterations, 0);
    }
    both.setCurrentIntegrator(0);
    expectAll(messageOf([&] { force->getMultipliers(context); }), {"getMultipliers", "how long a step is"});
    both.setCurrentIntegrator(1);
    EXPECT_EQ(force->getMultipliers(context).size(), 3u);
}

TEST_P(ReplacedSolverOn, DrawsVelocitiesAndProjectsForOursToo) {
    // Carbon dioxide by three System constraints is singular: CCMA's velocities explode.
    for (unsigned seed = 1; seed <= 100; seed++) {
        System system;
        for (double mass : {16.0, 12.0, 16.0})
            system.addParticle(mass);
        system.addConstraint(0, 1, 0.116);
        system.addConstraint(1, 2, 0.116);
        system.addConstraint(0, 2, 0.232);
        RattleIntegrator integrator(0.001);
        Context context(system, integrator, requirePlatform(GetParam()));
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

TEST_P(ReplacedSolverOn, IsRefusedWhereItCannotSolve) {
    ConstraintForce* force;
    auto system = bentSystem(force);
    force->setDistanceRate(0, 0.1);
    const auto make = [&] {
        const auto integrator = makeForeign("LangevinMiddle", 0.001, 1e-9);
        const Context context(*system, *integrator, requirePlatform(GetParam()));
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

TEST_P(ReplacedSolverOn, ReportsFailures) {
    ConstraintForce* force;
    ForeignRun run(bentSystem(force), makeForeign("LangevinMiddle", 0.001, 1e-9), GetParam());
    run.context->setPositions(bentPositions());
    run.integrator->step(1);
    const Vectors before = run.positions();
    run.context->setVelocities({Vec3(NAN, 0, 0), Vec3(), Vec3()});
    EXPECT_EQ(kindOf([&] { run.integrator->step(1); }), "not-finite");
    run.context->setPositions(before);
    run.context->setVelocities({Vec3(0, 500, 0), Vec3(), Vec3()}); // half a turn of the bond in a step
    const std::string message = messageOf([&] { run.integrator->step(1); });
    expectAll(message, {"could not be solved in a step at 0.001 ps",
                        "Worst: ", "OpenMM's integrator does not take the step back"});
    EXPECT_FALSE(force->getSolverSummary(*run.context).converged);
    run.context->setPositions(before);
    run.context->setVelocities(Vectors(3));
    run.integrator->step(1);
    EXPECT_TRUE(force->getSolverSummary(*run.context).converged);
}

TEST_P(ReplacedSolverOn, CountsDegreesOfFreedomForNoseHooverChains) {
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
    Context context(*system, all, requirePlatform(GetParam()));
    context.setPositions(x);
    all.step(1);
    EXPECT_EQ(all.getThermostat().getNumDegreesOfFreedom(), 18 - 3 - 3);
    NoseHooverIntegrator some(0.001);
    some.addSubsystemThermostat({0, 1, 2}, {}, 300, 20, 300, 20);
    Context second(*system, some, requirePlatform(GetParam()));
    second.setPositions(x);
    some.step(1);
    EXPECT_EQ(some.getThermostat().getNumDegreesOfFreedom(), 9 - 3);
    NoseHooverIntegrator cut(0.001);
    cut.addSubsystemThermostat({3, 4}, {}, 300, 20, 300, 20);
    Context third(*system, cut, requirePlatform(GetParam()));
    third.setPositions(x);
    EXPECT_EQ(kindOf([&] { cut.step(1); }), "combination");
}

INSTANTIATE_TEST_SUITE_P(Hosts, ReplacedSolverOn, testing::ValuesIn(hosts),
                         [](const auto& info) { return info.param; });

// ---- the setting ----------------------------------------------------------------------------------------------------

TEST(ReplacesSolver, IsWrittenToXml) {
    ConstraintForce force;
    EXPECT_FALSE(force.getReplacesSolver());
    for (const bool yes : {false, true}) {
        force.setReplacesSolver(yes);
        std::stringstream xml;
        XmlSerializer::serialize<Force>(&force, "Force", xml);
        EXPECT_EQ(xml.str().find("replacesSolver") != std::string::npos, yes); // others can be read by earlier releases
        const std::unique_ptr<Force> read(XmlSerializer::deserialize<Force>(xml));
        EXPECT_EQ(dynamic_cast<ConstraintForce&>(*read).getReplacesSolver(), yes);
    }
}
