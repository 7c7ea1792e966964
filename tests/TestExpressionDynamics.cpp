// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Expressions together with other constraints, moving ones, closed forms, and what happens where there is no gradient.
#include "support/Messages.h"
#include "support/Surfaces.h"
#include <gtest/gtest.h>
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const double notANumber = std::numeric_limits<double>::quiet_NaN();

double length(const Vec3& v) {
    return std::sqrt(v.dot(v));
}

class ExpressionDynamics : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam()), integrator = std::get<2>(GetParam());
    /** Particles of a mass with Forces, which the System will own. */
    Simulation make(int n, double mass, const std::vector<Force*>& forces, const Vectors& x, const Vectors& v = {},
                    double dt = 0.001, double tolerance = 1e-10) const {
        auto system = std::make_unique<System>();
        for (int i = 0; i < n; i++)
            system->addParticle(mass);
        for (Force* force : forces)
            system->addForce(force);
        Simulation s(std::move(system), makeIntegrator(GetParam(), dt, tolerance), platform);
        s.context->setPositions(x);
        if (!v.empty())
            s.context->setVelocities(v);
        return s;
    }
    /** One constraint of all particles, without parameters. */
    static CustomConstraintForce* oneOf(int n, const std::string& expression) {
        auto* force = new CustomConstraintForce(n, expression);
        std::vector<int> particles;
        for (int i = 0; i < n; i++)
            particles.push_back(i);
        force->addConstraint(particles);
        return force;
    }
    static CustomExternalForce* field(int n, const std::string& energy) {
        auto* force = new CustomExternalForce(energy);
        for (int i = 0; i < n; i++)
            force->addParticle(i);
        return force;
    }
    /** A failing step throws and leaves the state. @return the message */
    static std::string expectFailureLeavesTheState(Simulation& s, int steps = 1) {
        const State before = s.context->getState(State::Positions | State::Velocities);
        const std::string message = messageOf([&] { s.integrator->step(steps); });
        if (steps == 1) {
            EXPECT_EQ(distance(s.positions(), before.getPositions()), 0);
            EXPECT_EQ(distance(s.velocities(), before.getVelocities()), 0);
            EXPECT_EQ(s.context->getState(0).getTime(), before.getTime());
        }
        EXPECT_LT(s.context->getStepCount(), before.getStepCount() + steps);
        return message;
    }
};

// ---- several constraints on the same particles
// -----------------------------------------------------------------------

TEST_P(ExpressionDynamics, TwoSurfacesMakeACurve) {
    // A sphere and a plane: a bead on a circle of radius 0.4. Both methods turn by asin(omega dt) a step; see
    // TurnARigidRotorAsTheClosedFormDoes.
    const double omega = 10, dt = 0.002;
    Simulation s = make(1, 7, {oneOf(1, "x1^2 + y1^2 + z1^2 - 0.25"), oneOf(1, "z1 - 0.3")}, {Vec3(0.4, 0, 0.3)},
                        {Vec3(0, 0.4 * omega, 0)}, dt, 1e-13);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 1);
    const int steps = 200;
    s.integrator->step(steps);
    const double angle = steps * std::asin(omega * dt);
    EXPECT_LT(distance(s.positions(), {Vec3(0.4 * std::cos(angle), 0.4 * std::sin(angle), 0.3)}), 1e-9);
    EXPECT_EQ(s.integrator->getSolverSummary().clusters, 1);
}

TEST_P(ExpressionDynamics, ASphereIsADistanceToAnAnchor) {
    const auto trajectory = [&](bool asDistance) {
        auto* distances = new ConstraintForce();
        Simulation s = [&] {
            auto system = std::make_unique<System>();
            system->addParticle(5);
            system->addParticle(0);
            system->addForce(field(1, "40*z + 30*x*y"));
            if (asDistance)
                distances->addDistance(0, 1, 0.5);
            else {
                auto* sphere = new CustomConstraintForce(1, "sqrt((x1-0.1)^2 + y1^2 + z1^2) - 0.5");
                sphere->addConstraint({0});
                system->addForce(sphere);
            }
            system->addForce(distances);
            return Simulation(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-12), platform);
        }();
        s.context->setPositions({Vec3(0.4, 0.4, 0), Vec3(0.1, 0, 0)});
        s.context->setVelocities({Vec3(0.4, -0.3, 1), Vec3()});
        s.integrator->step(200);
        Vectors result = s.positions();
        result.push_back(Vec3(s.integrator->getMultipliers()[0], 0, 0) * 1e-3);
        return result;
    };
    const Vectors asDistance = trajectory(true), asExpression = trajectory(false);
    EXPECT_LT(distance(asDistance, asExpression), 1e-7);
    EXPECT_GT(distance({asDistance[0]}, {Vec3(0.4, 0.4, 0)}), 0.1);
    EXPECT_GT(std::abs(asDistance[2][0]), 1e-3);
}

TEST_P(ExpressionDynamics, ABondedChainMovesOnASphere) {
    const int n = 5;
    const double dt = 0.001, bond = 0.2;
    auto system = std::make_unique<System>();
    auto* chain = new ConstraintForce();
    Vectors x, v;
    for (int i = 0; i < n; i++) {
        system->addParticle(10 + 3 * i);
        const double angle = 2 * std::asin(0.5 * bond / 0.6) * i;
        x.push_back(Vec3(0.6 * std::cos(angle), 0.6 * std::sin(angle), 0));
        v.push_back(Vec3(0.3 * i, -0.2, 0.5 - 0.4 * i));
    }
    system->addConstraint(0, 1, bond);
    for (int i = 1; i < n - 1; i++)
        chain->addDistance(i, i + 1, bond);
    system->addForce(chain);
    system->addForce(field(n, "50*z + 20*x*x"));
    auto* sphere = new CustomConstraintForce(1, "x1^2 + y1^2 + z1^2 - r^2");
    sphere->addPerConstraintParameter("r");
    for (int i = 0; i < n; i++)
        sphere->addConstraint({i}, {0.6});
    system->addForce(sphere);
    Simulation s(std::move(system), makeIntegrator(GetParam(), dt, 1e-10), platform);
    s.context->setPositions(x);
    s.context->setVelocities(v);
    s.integrator->applyVelocityConstraints();
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 3 * n - n - (n - 1));
    s.integrator->step(1);
    EXPECT_EQ(s.integrator->getSolverSummary().clusters, 1);
    const double start = s.energy();
    for (int block = 0; block < 20; block++) {
        s.integrator->step(25);
        const Vectors r = s.positions();
        for (int i = 0; i < n; i++)
            EXPECT_NEAR(length(r[i]), 0.6, 1.01e-10);
        for (int i = 0; i < n - 1; i++)
            EXPECT_NEAR(length(r[i + 1] - r[i]), bond, 1.01e-10 * bond);
    }
    EXPECT_GT(distance(s.positions(), x), 0.1);
    if (integrator == "Rattle") {
        EXPECT_NEAR(s.energy(), start, 0.02);
    }
    // System constraint first, then each Force's in System order.
    const std::vector<double> all = s.integrator->getMultipliers();
    ASSERT_EQ(all.size(), 9u);
    EXPECT_EQ(sphere->getMultipliers(*s.context), std::vector<double>(all.begin() + 4, all.end()));
    EXPECT_EQ(chain->getMultipliers(*s.context), std::vector<double>(all.begin() + 1, all.begin() + 4));
}

TEST_P(ExpressionDynamics, TheScaleOfSigmaDoesNotMatter) {
    // Beside distances, whose gradients are of length 1; chains of several lengths are served by several solvers.
    const auto end = [&](int n, double factor) {
        std::ostringstream sigma;
        sigma << factor << "*(sqrt(x1^2 + y1^2 + z1^2) - 0.6)";
        auto* chain = new ConstraintForce();
        auto* sphere = new CustomConstraintForce(1, sigma.str());
        Vectors x, v;
        for (int i = 0; i < n; i++) {
            x.push_back(Vec3(0.6 * std::cos(0.3 * i), 0.6 * std::sin(0.3 * i), 0));
            v.push_back(Vec3(0.3 * i, -0.2, 0.5 - 0.4 * i));
            if (i > 0)
                chain->addDistance(i - 1, i, length(x[i] - x[i - 1]));
            sphere->addConstraint({i});
        }
        Simulation s = make(n, 12, {chain, sphere, field(n, "50*z")}, x, v, 0.001, 1e-11);
        s.integrator->step(50);
        Vectors result = s.positions();
        const std::vector<double> lambda = s.integrator->getMultipliers();
        for (int k = 0; k < (int) lambda.size(); k++)
            result.push_back(Vec3(1e-4 * lambda[k] * (k < n - 1 ? 1 : factor), 0, 0));
        return result;
    };
    for (int n : {1, 2, 3, 4, 8, 20}) {
        const Vectors plain = end(n, 1);
        for (double factor : {1e-7, 1e7})
            EXPECT_LT(distance(end(n, factor), plain), 1e-7) << n << " particles, times " << factor;
    }
}

TEST_P(ExpressionDynamics, AnExpressionOfSeveralParticlesConservesMomenta) {
    const Vectors x = {Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0.1, 0.2, 0), Vec3(0.3, 0.2, 0.1)};
    for (const char* expression :
         {"distance(p1, p2) - 0.5*distance(p2, p3)", "distance(p1, p2)*distance(p3, p4) - 0.1*distance(p1, p4)",
          "sin(dihedral(p1, p2, p3, p4) - 1) + 0.2*angle(p1, p2, p3)"}) {
        auto* springs = new HarmonicBondForce();
        for (int i = 0; i < 3; i++)
            springs->addBond(i, i + 1, 0.2, 500);
        Simulation s = make(4, 6, {oneOf(4, expression), springs}, x,
                            {Vec3(1, 0, 0.5), Vec3(0, 1, -0.3), Vec3(-0.5, 0.3, 0), Vec3(0.2, 0, 1)}, 0.002, 1e-9);
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
        const auto momenta = [&] {
            const Vectors r = s.positions(), v = s.velocities();
            Vectors sums(2);
            for (int i = 0; i < 4; i++) {
                sums[0] += v[i] * 6;
                sums[1] += r[i].cross(v[i]) * 6;
            }
            return sums;
        };
        s.integrator->step(1); // OpenMM's springs are in single precision on some platforms
        const Vectors before = momenta();
        s.integrator->step(200);
        EXPECT_LT(distance(momenta(), before), platform == "Reference" ? 1e-9 : 1e-4) << expression;
        EXPECT_GT(distance(s.positions(), x), 0.05) << expression;
    }
}

// ---- closed forms
// ----------------------------------------------------------------------------------------------------

TEST_P(ExpressionDynamics, MultipliersAreForcesPerUnitOfSigma) {
    // A particle of mass 4 at rest on a slope given with a factor of 3: 3 lambda = weight * cos(slope).
    const double weight = 40, slope = 0.3;
    const std::string sigma = "3*(cos(0.3)*z1 - sin(0.3)*x1)";
    Simulation s = make(1, 4, {oneOf(1, sigma), field(1, "40*z")}, {Vec3()});
    s.integrator->step(1);
    EXPECT_NEAR(s.integrator->getMultipliers()[0], weight * std::cos(slope) / 3, 1e-6 * weight);
    const Vec3 normal(-std::sin(slope), 0, std::cos(slope));
    EXPECT_LT(distance(s.integrator->getConstraintForces(), {normal * (weight * std::cos(slope))}), 1e-6 * weight);
    // The same at this moment, and of a free particle on a sphere: lambda grad sigma = -m v^2/r^2 r.
    EXPECT_NEAR(s.integrator->computeMultipliers()[0], weight * std::cos(slope) / 3, 1e-9 * weight);
    Simulation ball = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 - 0.25")}, {Vec3(0.3, 0, 0.4)}, {Vec3(0, 3, 0)});
    EXPECT_NEAR(ball.integrator->computeMultipliers()[0], -4 * 9 / 0.25 / 2, integrator == "Rattle" ? 1e-9 : 0.01);
}

TEST_P(ExpressionDynamics, AMovingPlaneCarriesItsParticle) {
    const double a = 0.05, w = 6, weight = 40, mass = 4, dt = 0.001;
    Simulation s =
        make(1, mass, {oneOf(1, "z1 - 0.05*sin(6*t)"), field(1, "40*z")}, {Vec3()}, {Vec3(0.5, 0, a * w)}, dt, 1e-12);
    const double before = s.energy();
    s.integrator->step(400);
    const double t = s.context->getState(0).getTime();
    EXPECT_NEAR(t, 0.4, 1e-12);
    EXPECT_LT(distance(s.positions(), {Vec3(0.5 * t, 0, a * std::sin(w * t))}), integrator == "Rattle" ? 1e-10 : 1e-9);
    if (integrator == "Rattle") {
        EXPECT_LT(distance(s.velocities(), {Vec3(0.5, 0, a * w * std::cos(w * t))}), 1e-8);
        EXPECT_NEAR(s.integrator->computeMultipliers()[0], weight - mass * a * w * w * std::sin(w * t), 1e-7);
        EXPECT_NEAR(s.integrator->getConstraintWork(), s.energy() - before, 1e-4);
        EXPECT_GT(std::abs(s.energy() - before), 0.1);
    }
}

TEST_P(ExpressionDynamics, AGrowingSphereKeepsTheAngularMomentum) {
    Simulation s = make(1, 4, {oneOf(1, "sqrt(x1^2 + y1^2 + z1^2) - 0.5 - 0.3*t")}, {Vec3(0.5, 0, 0)},
                        {Vec3(0.3, 2, 1)}, 0.001, 1e-12);
    s.integrator->step(500);
    const Vec3 x = s.positions()[0], v = s.velocities()[0];
    EXPECT_NEAR(length(x), 0.65, 1e-11);
    EXPECT_LT(distance({x.cross(v)}, {Vec3(0.5, 0, 0).cross(Vec3(0.3, 2, 1))}), integrator == "Rattle" ? 1e-10 : 1e-3);
    EXPECT_NE(s.integrator->getConstraintWork(), 0);
}

// ---- where particles are put
// -----------------------------------------------------------------------------------------

TEST_P(ExpressionDynamics, AStartOffTheSurfaceIsProjected) {
    const double tolerance = 1e-10;
    for (const Surface& surface : surfaceTable()) {
        SCOPED_TRACE(surface.name);
        for (double off : {0.03, 0.1}) {
            const Vec3 g = surface.gradient(surface.near), start = surface.near + g * (off / length(g));
            Simulation s = make(1, 4, {makeForce(surface, {0})}, {start});
            EXPECT_GT(surface.distance(s.positions()[0]), 0.3 * off);
            s.integrator->step(1);
            EXPECT_LT(surface.distance(s.positions()[0]), 1.01 * tolerance);
        }
    }
    // Near an extremum of sigma, where its gradient hardly points anywhere, it ends on the surface that is near.
    const Surface& gyroid = findSurface("Gyroid");
    Simulation far = make(1, 4, {makeForce(gyroid, {0})}, {Vec3(0.15, 0.15, 0.16)});
    far.integrator->applyConstraints();
    EXPECT_LT(gyroid.distance(far.positions()[0]), 1.01 * tolerance);
    EXPECT_LT(length(far.positions()[0] - Vec3(0.15, 0.15, 0.16)), 0.6);
    // There is no such surface at all.
    Simulation none = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 + 0.25")}, {Vec3(0.3, 0, 0)});
    expectAll(expectFailureLeavesTheState(none), {"projection", "x1^2", "start closer"});
    for (double radius : {0.01, 20.0}) {
        Simulation s = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 - 0.25")}, {Vec3(0, radius, 0)});
        s.integrator->applyConstraints();
        EXPECT_LT(distance(s.positions(), {Vec3(0, 0.5, 0)}), 1e-9);
    }
}

TEST_P(ExpressionDynamics, AnExpressionMayChangeToOneWithOtherParameters) {
    auto* force = new CustomConstraintForce(1, "z1 - a");
    force->addGlobalParameter("a", 0.5);
    force->addGlobalParameter("b", 0.25);
    force->addConstraint({0});
    Simulation s = make(1, 4, {force}, {Vec3(0.1, 0, 0.5)}, {Vec3(1, 0, 0)});
    s.context->setParameter("a", 0.6);
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[0][2], 0.6, 1e-9);
    force->setExpression("z1 - a - b");
    force->updateParametersInContext(*s.context);
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[0][2], 0.85, 1e-9);
}

TEST_P(ExpressionDynamics, AGlobalParameterMovesASurfaceAtTheNextStep) {
    auto* sphere = new CustomConstraintForce(1, "sqrt(x1^2 + y1^2 + z1^2) - r");
    sphere->addGlobalParameter("r", 0.5);
    sphere->addConstraint({0});
    Simulation s = make(1, 4, {sphere}, {Vec3(0.5, 0, 0)}, {Vec3(0, 1, 0)});
    EXPECT_EQ(s.context->getParameter("r"), 0.5);
    for (double r : {0.5, 0.55, 0.4}) {
        s.context->setParameter("r", r);
        s.integrator->step(5);
        EXPECT_NEAR(length(s.positions()[0]), r, 1.01e-10);
    }
    s.context->setParameter("r", notANumber);
    expectAll(expectFailureLeavesTheState(s), {"sqrt(x1^2 + y1^2 + z1^2) - r"});
    s.context->setParameter("r", 0.45);
    s.integrator->step(1);
    EXPECT_NEAR(length(s.positions()[0]), 0.45, 1.01e-10);
}

TEST_P(ExpressionDynamics, ParametersAndTablesCanBeUpdated) {
    auto* force = new CustomConstraintForce(1, "z1 - height*f(x1)");
    force->addPerConstraintParameter("height");
    force->addTabulatedFunction("f", new Continuous1DFunction({1, 1, 1}, -1, 1));
    force->addConstraint({0}, {0.5});
    force->addConstraint({1}, {0.25});
    Simulation s = make(2, 4, {force}, {Vec3(0, 0, 0.5), Vec3(0, 0, 0.25)});
    s.integrator->step(1);
    force->setConstraintParameters(1, {1}, {0.3});
    dynamic_cast<Continuous1DFunction&>(force->getTabulatedFunction(0)).setFunctionParameters({2, 2, 2}, -1, 1);
    force->updateParametersInContext(*s.context);
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[0][2], 1.0, 1.01e-10);
    EXPECT_NEAR(s.positions()[1][2], 0.6, 1.01e-10);
    force->setConstraintParameters(1, {0}, {0.3});
    EXPECT_NE(messageOf([&] { force->updateParametersInContext(*s.context); }), "") << "its particle changed";
    force->setConstraintParameters(1, {1}, {notANumber});
    expectAll(messageOf([&] { force->updateParametersInContext(*s.context); }), {"parameter 0", "NaN"});
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[1][2], 0.6, 1.01e-10) << "it keeps the old";
}

TEST_P(ExpressionDynamics, CoordinatesAreNotWrappedAndDistancesTakeImages) {
    auto* plane = new CustomConstraintForce(1, "x1 - 7.25"); // beyond a box of 2 nm
    plane->addConstraint({0});
    auto* pair = new CustomConstraintForce(2, "distance(p1, p2) - 0.2");
    pair->addConstraint({1, 2});
    pair->setUsesPeriodicBoundaryConditions(true);
    auto* periodic = new CustomBondForce("5*(r-0.1)^2");
    periodic->setUsesPeriodicBoundaryConditions(true);
    periodic->addBond(0, 1, {});
    const double dt = 0.001;
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
    for (int i = 0; i < 3; i++)
        system->addParticle(3);
    for (Force* force : std::initializer_list<Force*>{plane, pair, periodic})
        system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), dt), platform);
    s.context->setPositions({Vec3(7.25, 0, 0), Vec3(1.9, 0, 0), Vec3(0.1, 4, -6)});
    s.context->setVelocities({Vec3(0, 1, 2), Vec3(1, 0, 0), Vec3(0.3, -1, 0)});
    s.integrator->applyVelocityConstraints();
    s.integrator->step(100);
    const Vectors x = s.positions();
    EXPECT_NEAR(x[0][0], 7.25, 1.01e-10);
    Vec3 d = x[2] - x[1];
    EXPECT_GT(length(d), 1);
    for (int axis = 0; axis < 3; axis++)
        d[axis] -= 2 * std::round(d[axis] / 2);
    EXPECT_NEAR(length(d), 0.2, 1.01e-10 * 2);
    EXPECT_EQ(s.context->getMolecules().size(), 1u);
}

// ---- where there is no gradient
// --------------------------------------------------------------------------------------

TEST_P(ExpressionDynamics, APlaceWithoutGradientIsNamed) {
    for (const char* expression : {
             "x1^2 + y1^2 + z1^2 - 0.25", // the centre of a sphere: it vanishes
             "sqrt(x1^2 + y1^2) - z1",    // the apex of a cone: it does not exist
         }) {
        auto* force = new CustomConstraintForce(1, expression);
        force->addConstraint({1});
        Simulation s = make(2, 4, {force}, {Vec3(1, 1, 1), Vec3()}, {Vec3(0, 0.1, 0), Vec3(0.1, 0, 0)});
        expectAll(expectFailureLeavesTheState(s), {"constraint 0 of the CustomConstraintForce with index 0", expression,
                                                   "particle 1", "(0, 0, 0) nm", "no gradient"});
    }
}

TEST_P(ExpressionDynamics, AnExpressionThatIsNoNumberIsNamed) {
    Simulation s = make(1, 4, {oneOf(1, "z1 - log(x1)")}, {Vec3(-1, 0.5, 0)});
    expectAll(expectFailureLeavesTheState(s), {"z1 - log(x1)", "particle 0", "(-1, 0.5, 0) nm"});
    s.context->setPositions({Vec3(1, 0.5, 0)});
    s.integrator->step(1);
}

TEST_P(ExpressionDynamics, AStepIntoWhereItIsNoNumberIsNamed) {
    Simulation s = make(1, 4, {oneOf(1, "z1 - log(x1)")}, {Vec3(1, 0.5, 0)});
    s.integrator->step(1);
    s.context->setVelocities({Vec3(-1500, 0, -1500)});
    expectAll(expectFailureLeavesTheState(s), {"z1 - log(x1) = 0", "particle 0", "NaN or infinite", "step size"});
}

TEST_P(ExpressionDynamics, AStepThatIsTooLargeForASurfaceIsNamed) {
    Simulation s = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 - 0.25")}, {Vec3(0.5, 0, 0)});
    s.integrator->step(1);
    s.context->setVelocities({Vec3(0, 2000, 0)});
    expectAll(expectFailureLeavesTheState(s),
              {"x1^2 + y1^2 + z1^2 - 0.25 = 0", "particle 0", "sigma is", "|sigma|/|grad sigma|", "step size"});
}

TEST_P(ExpressionDynamics, AnApexThatIsReachedStopsTheRun) {
    Simulation s = make(1, 4, {oneOf(1, "sqrt(x1^2 + y1^2) - z1")}, {Vec3(0.05, 0, 0.05)}, {Vec3(-1, 0, -1)});
    expectAll(expectFailureLeavesTheState(s, 200), {"sqrt(x1^2 + y1^2) - z1", "particle 0"});
    EXPECT_NEAR(s.positions()[0][0], s.positions()[0][2], 1e-9) << "the last good step is on the cone";
    EXPECT_GT(s.positions()[0][0], 0);
}

TEST_P(ExpressionDynamics, SurfacesThatDoNotMeetAreContradictory) {
    Simulation s = make(1, 4, {oneOf(1, "z1 - 0.1"), oneOf(1, "2*z1 - 0.3")}, {Vec3(0, 0, 0.1)});
    expectAll(expectFailureLeavesTheState(s), {"2*z1 - 0.3 = 0"});
    Simulation same = make(1, 4, {oneOf(1, "z1 - 0.1"), oneOf(1, "2*z1 - 0.2")}, {Vec3(0, 0, 0.1)}, {Vec3(1, 0, 0)});
    same.integrator->step(10);
    EXPECT_EQ(same.integrator->getNumDegreesOfFreedom(), 2) << "a duplicate that agrees is no second constraint";
}

INSTANTIATE_TEST_SUITE_P(Platforms, ExpressionDynamics, testing::ValuesIn(constantEnergySetups()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
