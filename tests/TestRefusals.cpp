// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

/** What may be combined with a ConstraintForce, on one platform. */
class Refusals : public testing::TestWithParam<std::string> {
protected:
    std::unique_ptr<System> system = toOpenMM(findSystem("water"), Declared::InForce);
    std::string creating(Integrator& integrator) {
        return messageOf([&] { makeContext(*system, integrator, GetParam()); });
    }
};

TEST_P(Refusals, ForeignIntegratorsAreRefusedWithWhatToUseInstead) {
    LangevinMiddleIntegrator langevin(300, 1, 0.001);
    BrownianIntegrator brownian(300, 1, 0.001);
    CustomIntegrator custom(0.001);
    VariableVerletIntegrator variable(1e-4);
    for (Integrator* integrator : std::vector<Integrator*>{&langevin, &brownian, &custom, &variable})
        expectAll(creating(*integrator),
                  {"RattleIntegrator", "ShakeIntegrator", "RattleLangevinIntegrator", "ConstraintForce"});
}

TEST_P(Refusals, ForeignChildrenOfACompoundIntegratorAreNamed) {
    CompoundIntegrator compound;
    compound.addIntegrator(new RattleIntegrator(0.001));
    compound.addIntegrator(new VerletIntegrator(0.001));
    expectAll(creating(compound), {"Integrator 1", "RattleIntegrator"});
    CompoundIntegrator ours;
    ours.addIntegrator(new RattleIntegrator(0.001));
    ours.addIntegrator(new ShakeIntegrator(0.001));
    EXPECT_EQ(creating(ours), "");
}

TEST_P(Refusals, VerletIntegratorMayBeCreatedForTheMinimizerButNotStepped) {
    VerletIntegrator verlet(0.001);
    const auto context = makeContext(*system, verlet, GetParam());
    context->setPositions(toVectors(findSystem("water").positions));
    const Vectors start = context->getState(State::Positions).getPositions(); // as the platform stores it
    context->getState(State::Energy | State::Forces);
    expectAll(messageOf([&] { verlet.step(1); }), {"RattleIntegrator"});
    EXPECT_EQ(distance(context->getState(State::Positions).getPositions(), start), 0);
    EXPECT_EQ(context->getStepCount(), 0);
}

TEST_P(Refusals, AndersenThermostatIsRefusedWhereAForceJoinsMassiveParticles) {
    system->addForce(new AndersenThermostat(300, 1));
    RattleIntegrator rattle(0.001);
    expectAll(creating(rattle), {"AndersenThermostat", "temperature"});
    system = toOpenMM(findSystem("water"), Declared::InSystem);
    system->addForce(new AndersenThermostat(300, 1));
    RattleIntegrator second(0.001);
    EXPECT_EQ(creating(second), "");
}

TEST_P(Refusals, AndersenThermostatIsRefusedAlsoAcrossAnImmovableParticle) {
    system = std::make_unique<System>();
    for (double mass : {5.0, 0.0, 5.0})
        system->addParticle(mass);
    auto* angle = new ConstraintForce();
    angle->addAngle(0, 1, 2, 2);
    system->addForce(angle);
    system->addForce(new AndersenThermostat(300, 1));
    RattleIntegrator rattle(0.001);
    expectAll(creating(rattle), {"AndersenThermostat", "0 and 2"});
}

TEST_P(Refusals, AContextParameterThatIsZeroAtFirstHidesNoSurface) {
    system = std::make_unique<System>();
    auto* plane = new CustomConstraintForce(2, "distance(p1,p2)-1+g*z1");
    plane->addGlobalParameter("g", 0);
    const int p1 = system->addParticle(5), p2 = system->addParticle(5);
    plane->addConstraint({p1, p2});
    system->addForce(plane);
    system->addForce(new CMMotionRemover());
    RattleIntegrator rattle(0.001);
    expectAll(creating(rattle), {"CMMotionRemover", "along z"});
}

/** A System with one expression of n particles. */
static std::unique_ptr<System> withExpression(int n, const std::string& sigma) {
    auto system = std::make_unique<System>();
    auto* force = new CustomConstraintForce(n, sigma);
    std::vector<int> particles;
    for (int i = 0; i < n; i++)
        particles.push_back(system->addParticle(5));
    force->addConstraint(particles);
    system->addForce(force);
    return system;
}

TEST_P(Refusals, ExpressionsNeedAnIntegratorThatSolvesThem) {
    system = withExpression(1, "z1");
    LangevinMiddleIntegrator langevin(300, 1, 0.001);
    expectAll(creating(langevin), {"CustomConstraintForce", "RattleIntegrator"});
    RattleIntegrator rattle(0.001);
    EXPECT_EQ(creating(rattle), "");
}

TEST_P(Refusals, VirtualSitesOfAnExpressionAreNamedWithIt) {
    system = withExpression(2, "distance(p1, p2) - 0.1");
    system->setVirtualSite(system->addParticle(0), new TwoParticleAverageSite(0, 1, 0.5, 0.5));
    dynamic_cast<CustomConstraintForce&>(system->getForce(0)).addConstraint({0, 2});
    RattleIntegrator rattle(0.001);
    const ConstraintProblem problem = problemThrownBy([&] { makeContext(*system, rattle, GetParam()); });
    EXPECT_EQ(problem.kind, "particles");
    EXPECT_EQ(problem.constraints, std::vector<int>{1});
    EXPECT_EQ(problem.particles, (std::vector<int>{0, 2}));
    EXPECT_EQ(problem.value, 2);
    EXPECT_EQ(
        problem.message,
        "constraint 1 of the CustomConstraintForce with index 0, distance(p1, p2) - 0.1 = 0, (particles 0 and 2): "
        "particle 2 is a virtual site, which follows other particles and cannot be constrained.");
    EXPECT_EQ(problem.remedy, "Constrain the particles that define it.");
}

TEST_P(Refusals, BadParticlesOfAnExpressionAreNamedWithIt) {
    RattleIntegrator rattle(0.001);
    const auto adding = [&](const std::vector<int>& particles) {
        system = withExpression(2, "distance(p1, p2) - 0.1");
        dynamic_cast<CustomConstraintForce&>(system->getForce(0)).addConstraint(particles);
        return creating(rattle);
    };
    const std::string which = "constraint 1 of the CustomConstraintForce with index 0, distance(p1, p2) - 0.1 = 0";
    expectAll(adding({0, 2}), {which, "particle index 2 is out of range"});
    expectAll(adding({-1, 0}), {which, "particle index -1 is out of range"});
    expectAll(adding({1, 1}), {which, "particle 1 to itself"});
    system = withExpression(1, "z1 - a");
    expectAll(creating(rattle), {"\"z1 - a\"", "nknown variable 'a'"});
    auto& force = dynamic_cast<CustomConstraintForce&>(system->getForce(0));
    force.addPerConstraintParameter("a"); // after its constraint
    expectAll(creating(rattle), {"\"z1 - a\"", "constraint 0", "0 of 1 parameters"});
    force.setConstraintParameters(0, {0}, {std::numeric_limits<double>::quiet_NaN()});
    expectAll(creating(rattle), {"z1 - a = 0", "parameter 0", "NaN"});
}

TEST_P(Refusals, WhatShiftsEverythingIsRefusedWhereASurfaceFixesPlaces) {
    const auto creatingWith = [&](int n, const std::string& sigma, Force* force) {
        system = withExpression(n, sigma);
        dynamic_cast<CustomConstraintForce&>(system->getForce(0)).setUsesPeriodicBoundaryConditions(true);
        system->addForce(force);
        RattleIntegrator rattle(0.001);
        return creating(rattle);
    };
    const auto anisotropic = [](bool x, bool y, bool z) {
        return new MonteCarloAnisotropicBarostat(Vec3(1, 1, 1), 300, x, y, z);
    };
    const auto membrane = [](MonteCarloMembraneBarostat::ZMode mode) {
        return new MonteCarloMembraneBarostat(1, 0, 300, MonteCarloMembraneBarostat::XYIsotropic, mode);
    };
    const std::string plane = "z1 - 0.3", sphere = "x1^2 + y1^2 + z1^2 - 1", bond = "distance(p1, p2) - 0.3",
                      partly = "sqrt(x1 - 0.5) + y1"; // has a gradient at some places only
    expectAll(creatingWith(1, sphere, new CMMotionRemover()), {"CMMotionRemover", sphere + " = 0", "removeCMMotion"});
    expectAll(creatingWith(1, plane, new CMMotionRemover()), {"along z"});
    expectAll(creatingWith(1, partly, new CMMotionRemover()), {"along x"});
    EXPECT_EQ(creatingWith(2, bond, new CMMotionRemover()), "");
    for (const char* farAway : {"sqrt(z1-3)-1", "max(z1-3.9, 0)-0.1", "acos((z1-3)/2)-1"}) // no gradient at the origin
        expectAll(creatingWith(1, farAway, new CMMotionRemover()), {"along z"});
    expectAll(creatingWith(1, sphere, new MonteCarloBarostat(1, 300)), {"MonteCarloBarostat", sphere, "scale"});
    EXPECT_EQ(creatingWith(2, bond, new MonteCarloBarostat(1, 300)), "");
    expectAll(creatingWith(1, sphere, new MonteCarloFlexibleBarostat(1, 300)), {"MonteCarloFlexibleBarostat"});
    expectAll(creatingWith(1, plane, anisotropic(false, false, true)), {"MonteCarloAnisotropicBarostat", "along z"});
    EXPECT_EQ(creatingWith(1, plane, anisotropic(true, true, false)), "");
    expectAll(creatingWith(1, "y1 - z1", anisotropic(true, true, false)), {"along y"});
    EXPECT_EQ(creatingWith(1, plane, membrane(MonteCarloMembraneBarostat::ZFixed)), "");
    expectAll(creatingWith(1, plane, membrane(MonteCarloMembraneBarostat::ZFree)), {"MonteCarloMembraneBarostat"});
    EXPECT_EQ(creatingWith(1, sphere, new AndersenThermostat(300, 1)), "");
}

TEST_P(Refusals, MotionAboutAnchorsIsNotRemoved) {
    // Particle 0 is massless, and so is 4, which nothing joins.
    const auto creatingWith = [&](auto addTo, Force* removing) {
        system = std::make_unique<System>();
        for (double mass : {0.0, 5.0, 5.0, 5.0, 0.0})
            system->addParticle(mass);
        system->addForce(new ConstraintForce());
        addTo(dynamic_cast<ConstraintForce&>(system->getForce(0)));
        const int f = system->addForce(removing);
        RattleIntegrator rattle(0.001);
        const std::string message = creating(rattle);
        if (!message.empty()) {
            expectAll(message, {"CMMotionRemover cannot", "system.removeForce(" + std::to_string(f) + ")"});
            system->removeForce(f); // as it says
            RattleIntegrator second(0.001);
            EXPECT_EQ(creating(second), "");
        }
        return message;
    };
    const auto body = [](const std::vector<int>& particles) {
        return [particles](ConstraintForce& f) { f.addRigidBody(particles, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}); };
    };
    const std::string anchor = "particle 0, which is massless";
    const auto removingWith = [&](auto addTo) { return creatingWith(addTo, new CMMotionRemover()); };
    expectAll(removingWith([](ConstraintForce& f) { f.addDistance(1, 0, 0.1); }),
              {"distance 0 of the ConstraintForce with index 0", anchor});
    expectAll(removingWith([](ConstraintForce& f) { f.addAngle(1, 0, 2, 1); }), {"angle 0", anchor});
    expectAll(removingWith([](ConstraintForce& f) { f.addDihedral(1, 2, 3, 0, 1); }), {"dihedral 0", anchor});
    expectAll(removingWith(body({1, 2, 0})), {"rigid body 0", anchor});
    EXPECT_EQ(removingWith([](ConstraintForce& f) { f.addDistance(1, 2, 0.1); }), "");
    EXPECT_EQ(removingWith(body({1, 2, 3})), "");
    // In a group the massless particle has no weight.
    EXPECT_EQ(removingWith([](ConstraintForce& f) { f.addCentroidDistance({0, 1}, {2, 3}, 0.1); }), "");
    EXPECT_EQ(creatingWith([](ConstraintForce& f) { f.addDistance(1, 0, 0.1); }, new AndersenThermostat(300, 1)), "");

    const auto expression = [&](const std::string& sigma) {
        return removingWith([&](ConstraintForce&) {
            auto* force = new CustomConstraintForce(2, sigma);
            force->addConstraint({0, 1});
            system->addForce(force);
        });
    };
    expectAll(expression("distance(p1, p2) - 0.1"), {"constraint 0 of the CustomConstraintForce", anchor});
    expectAll(expression("z2 - 0.1"), {"constraint 0 of the CustomConstraintForce"});
    EXPECT_EQ(expression("z1 - 0.1"), "") << "nothing that moves is concerned";
}

TEST_P(Refusals, AnEmptyConstraintForceIsNoReasonToFail) {
    system = std::make_unique<System>();
    system->addParticle(1);
    system->addForce(new ConstraintForce());
    RattleIntegrator rattle(0.001);
    const auto context = makeContext(*system, rattle, GetParam());
    context->setPositions(Vectors(1));
    rattle.step(1);
    EXPECT_EQ(rattle.getSolverSummary().worstConstraint, -1);
    EXPECT_TRUE(rattle.getSolverSummary().converged);
}

TEST_P(Refusals, ConstrainedParticlesAreOneMolecule) {
    system = toOpenMM(findSystem("disjoint"), Declared::InForce);
    RattleIntegrator rattle(0.001);
    auto molecules = makeContext(*system, rattle, GetParam())->getMolecules();
    for (auto& molecule : molecules)
        std::sort(molecule.begin(), molecule.end());
    std::sort(molecules.begin(), molecules.end());
    EXPECT_EQ(molecules, (std::vector<std::vector<int>>{{0, 2, 4}, {1, 3, 5}, {6}, {7, 8, 10}, {9}, {11, 12}}));
}

TEST_P(Refusals, AnIntegratorServesOneContext) {
    RattleIntegrator rattle(0.001);
    const auto context = makeContext(*system, rattle, GetParam());
    expectAll(creating(rattle), {"already bound"});
}

TEST_P(Refusals, NothingWorksWithoutAContextOrPositions) {
    RattleIntegrator rattle(0.001);
    for (const std::function<void()>& use : std::vector<std::function<void()>>{
             [&] { rattle.step(1); }, [&] { rattle.applyConstraints(); }, [&] { rattle.applyVelocityConstraints(); },
             [&] { rattle.getSolverSummary(); }, [&] { rattle.getNumDegreesOfFreedom(); },
             [&] { rattle.computeSystemTemperature(); }})
        expectAll(messageOf(use), {"not bound to a context"});
    const auto context = makeContext(*system, rattle, GetParam());
    expectAll(messageOf([&] { rattle.step(1); }), {"positions have not been set"});
    expectAll(messageOf([&] { rattle.applyConstraints(); }), {"positions have not been set"});
}

TEST_P(Refusals, SettersCheckWhatTheyAreGiven) {
    ShakeIntegrator shake(0.001);
    const double bad[] = {-1, std::numeric_limits<double>::quiet_NaN()};
    for (double value : bad) {
        expectAll(messageOf([&] { shake.setStepSize(value); }), {"step size"});
        expectAll(messageOf([&] { shake.setConstraintTolerance(value); }), {"tolerance", "1e-14"});
        expectAll(messageOf([&] { ShakeIntegrator another(value); }), {"step size"});
    }
    expectAll(messageOf([&] { shake.setStepSize(std::numeric_limits<double>::infinity()); }), {"step size"});
    expectAll(messageOf([&] { shake.setConstraintTolerance(0); }), {"1e-14"});
    expectAll(messageOf([&] { shake.setMaxIterations(0); }), {"at least one"});
    expectAll(messageOf([&] { shake.setSolver((Solver) 7); }), {"7", "MatrixInversion"});
    EXPECT_EQ(shake.getStepSize(), 0.001);
    EXPECT_EQ(shake.getConstraintTolerance(), 1e-5);
    EXPECT_EQ(shake.getMaxIterations(), 500);
    EXPECT_EQ(shake.getSolver(), ConstraintIntegrator::Automatic);
    for (double tooSmall : {1e-151, 5e-324}) {
        expectAll(messageOf([&] { shake.setStepSize(tooSmall); }), {"step size has to be 0 or at least 1e-150 ps"});
        expectAll(messageOf([&] { ShakeIntegrator another(tooSmall); }), {"0 or at least 1e-150"});
    }
    EXPECT_EQ(shake.getStepSize(), 0.001);
    shake.setStepSize(0);
    shake.setConstraintTolerance(1e-14);
    EXPECT_EQ(shake.getConstraintTolerance(), 1e-14);
}

TEST_P(Refusals, ForceParametersAreWhatWasSetAndIndicesAreChecked) {
    ConstraintForce force;
    EXPECT_EQ(force.addDistance(3, 4, 0.5), 0);
    EXPECT_EQ(force.addDistance(5, 6, 0.7), 1);
    force.setDistanceParameters(0, 7, 8, 0.9);
    int p1, p2;
    double length;
    force.getDistanceParameters(0, p1, p2, length);
    EXPECT_EQ(std::make_tuple(p1, p2, length), std::make_tuple(7, 8, 0.9));
    EXPECT_EQ(force.getNumDistances(), 2);
    EXPECT_THROW(force.getDistanceParameters(2, p1, p2, length), OpenMMException);
    EXPECT_THROW(force.setDistanceParameters(-1, 0, 1, 0.1), OpenMMException);
}

TEST_P(Refusals, ClustersAreReportedWithoutAContext) {
    RattleIntegrator rattle(0.001);
    const auto clusters = rattle.getClusters(*toOpenMM(findSystem("disjoint"), Declared::InForce));
    ASSERT_EQ(clusters.size(), 3u);
    EXPECT_EQ(clusters[0].count, 2);
    EXPECT_EQ(clusters[0].constraints, 3);
    EXPECT_EQ(clusters[0].particles, 3);
    EXPECT_EQ(clusters[0].solver, "closed form 3x3");
    EXPECT_EQ(clusters[2].solver, "closed form 1x1");
    rattle.setSolver(ConstraintIntegrator::Iterative);
    EXPECT_EQ(rattle.getClusters(*system)[0].solver, "iterative");
    rattle.setSolver(ConstraintIntegrator::Automatic);
    const auto branched = rattle.getClusters(*toOpenMM(findSystem("branched"), Declared::InForce));
    ASSERT_EQ(branched.size(), 1u);
    EXPECT_EQ(branched[0].solver, "sparse LDLT/LU");
    EXPECT_GT(branched[0].levels, 1);
    EXPECT_GE(branched[0].factorEntries, 200);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Refusals, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });
