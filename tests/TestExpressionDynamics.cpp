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

class ExpressionDynamics : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam()), integrator = std::get<2>(GetParam());
    const Precision precision = precisionOf(platform);
    /** How far a particle may be from a surface, solved to a tolerance (nm). */
    double within(double tolerance) const {
        return 1.01 * attainable(platform, tolerance, 1);
    }
    /** Rounding of a constraint force that moves a mass by a length in a step: that of the solve over dt^2. */
    double solvedForce(double massTimesLength, double dt) const {
        return massTimesLength * precision.constraint / (dt * dt);
    }
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

/** What integrators have in common. */
class ExpressionStates : public ExpressionDynamics {};

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
    EXPECT_LT(distance(s.positions(), {Vec3(0.4 * std::cos(angle), 0.4 * std::sin(angle), 0.3)}),
              1e-9 + steps * precision.position);
    EXPECT_EQ(s.integrator->getSolverSummary().clusters, 1);
}

TEST_P(ExpressionDynamics, ASphereIsADistanceToAnAnchor) {
    const double mass = 5, radius = 0.5, dt = 0.001;
    const int steps = 200;
    const auto trajectory = [&](bool asDistance) {
        auto* distances = new ConstraintForce();
        Simulation s = [&] {
            auto system = std::make_unique<System>();
            system->addParticle(mass);
            system->addParticle(0);
            system->addForce(field(1, "40*z + 30*x*y"));
            if (asDistance)
                distances->addDistance(0, 1, radius);
            else {
                auto* sphere = new CustomConstraintForce(1, "sqrt((x1-0.1)^2 + y1^2 + z1^2) - 0.5");
                sphere->addConstraint({0});
                system->addForce(sphere);
            }
            system->addForce(distances);
            return Simulation(std::move(system), makeIntegrator(GetParam(), dt, 1e-12), platform);
        }();
        s.context->setPositions({Vec3(0.4, 0.4, 0), Vec3(0.1, 0, 0)});
        s.context->setVelocities({Vec3(0.4, -0.3, 1), Vec3()});
        s.integrator->step(steps);
        return std::pair(s.positions(), s.integrator->getMultipliers()[0]);
    };
    const auto [x, lambda] = trajectory(true);
    const auto [xOfExpression, lambdaOfExpression] = trajectory(false);
    EXPECT_LT(distance(x, xOfExpression), 1e-7 + steps * precision.position);
    EXPECT_NEAR(lambda, lambdaOfExpression, 1e-4 + solvedForce(mass * radius, dt));
    EXPECT_GT(distance({x[0]}, {Vec3(0.4, 0.4, 0)}), 0.1);
    EXPECT_GT(std::abs(lambda), 10);
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
            EXPECT_NEAR(length(r[i]), 0.6, within(1e-10));
        for (int i = 0; i < n - 1; i++)
            EXPECT_NEAR(length(r[i + 1] - r[i]) / bond, 1, 1.01 * attainable(platform, 1e-10, bond));
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
    const std::vector<int> lengths = {1, 2, 3, 4, 8, 20};
    const double mass = 12, radius = 0.6, dt = 0.001;
    const int steps = 20;
    const auto end = [&](double factor) {
        std::ostringstream sigma;
        sigma << factor << "*(sqrt(x1^2 + y1^2 + z1^2) - 0.6)";
        auto* chains = new ConstraintForce();
        auto* sphere = new CustomConstraintForce(1, sigma.str());
        Vectors x, v;
        for (int n : lengths)
            for (int i = 0; i < n; i++) {
                x.push_back(Vec3(0.6 * std::cos(0.3 * i), 0.6 * std::sin(0.3 * i), 0));
                v.push_back(Vec3(0.3 * i, -0.2, 0.5 - 0.4 * i));
                const int last = (int) x.size() - 1;
                if (i > 0)
                    chains->addDistance(last - 1, last, length(x[last] - x[last - 1]));
                sphere->addConstraint({last});
            }
        const int n = (int) x.size();
        Simulation s = make(n, mass, {chains, sphere, field(n, "50*z")}, x, v, dt, 1e-11);
        s.integrator->step(steps);
        Vectors forces;
        const std::vector<double> lambda = s.integrator->getMultipliers();
        for (int k = 0; k < (int) lambda.size(); k++)
            forces.push_back(Vec3(lambda[k] * (k < chains->getNumDistances() ? 1 : factor), 0, 0));
        return std::pair(s.positions(), forces);
    };
    const auto [x, forces] = end(1);
    for (double factor : {1e-7, 1e7}) {
        const auto [y, others] = end(factor);
        EXPECT_LT(distance(y, x), 1e-7 + steps * precision.position) << "times " << factor;
        EXPECT_LT(distance(others, forces), 1e-3 + 3 * solvedForce(mass * radius, dt)) << "times " << factor;
    }
}

TEST_P(ExpressionDynamics, AnExpressionOfSeveralParticlesConservesMomenta) {
    const Vectors x = {Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0.1, 0.2, 0), Vec3(0.3, 0.2, 0.1)};
    const std::vector<std::string> expressions = {"distance(p1, p2) - 0.5*distance(p2, p3)",
                                                  "distance(p1, p2)*distance(p3, p4) - 0.1*distance(p1, p4)",
                                                  "sin(dihedral(p1, p2, p3, p4) - 1) + 0.2*angle(p1, p2, p3)"};
    std::vector<Force*> forces;
    Vectors start, velocities;
    auto* springs = new HarmonicBondForce();
    forces.push_back(springs);
    for (const std::string& expression : expressions) { // four particles each
        const int first = (int) start.size();
        forces.push_back(new CustomConstraintForce(4, expression));
        dynamic_cast<CustomConstraintForce&>(*forces.back()).addConstraint({first, first + 1, first + 2, first + 3});
        for (int i = first; i < first + 3; i++)
            springs->addBond(i, i + 1, 0.2, 500);
        start.insert(start.end(), x.begin(), x.end());
        velocities.insert(velocities.end(), {Vec3(1, 0, 0.5), Vec3(0, 1, -0.3), Vec3(-0.5, 0.3, 0), Vec3(0.2, 0, 1)});
    }
    Simulation s = make((int) start.size(), 6, forces, start, velocities, 0.002, 1e-9);
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    const auto momenta = [&] { // of each four
        const Vectors r = s.positions(), v = s.velocities();
        Vectors sums(2 * expressions.size());
        for (int i = 0; i < (int) r.size(); i++) {
            sums[i / 4 * 2] += v[i] * 6;
            sums[i / 4 * 2 + 1] += r[i].cross(v[i]) * 6;
        }
        return sums;
    };
    const int steps = 200;
    const Vectors before = momenta();
    s.integrator->step(steps);
    const Vectors after = momenta(), r = s.positions();
    // Rounded velocities; forces that OpenMM rounds are not quite opposite.
    const double rounding = steps * precision.velocity + precision.force;
    for (int e = 0; e < (int) expressions.size(); e++) {
        EXPECT_LT(distance({after[2 * e], after[2 * e + 1]}, {before[2 * e], before[2 * e + 1]}), 1e-9 + rounding)
            << expressions[e];
        EXPECT_GT(distance({r[4 * e], r[4 * e + 1]}, {x[0], x[1]}), 0.05) << expressions[e];
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
    EXPECT_NEAR(s.integrator->getMultipliers()[0], weight * std::cos(slope) / 3, (1e-6 + precision.force) * weight);
    const Vec3 normal(-std::sin(slope), 0, std::cos(slope));
    EXPECT_LT(distance(s.integrator->getConstraintForces(), {normal * (weight * std::cos(slope))}),
              (1e-6 + precision.force) * weight);
    // The same at this moment, and of a free particle on a sphere: lambda grad sigma = -m v^2/r^2 r.
    EXPECT_NEAR(s.integrator->computeMultipliers()[0], weight * std::cos(slope) / 3, (1e-9 + precision.force) * weight);
    Simulation ball = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 - 0.25")}, {Vec3(0.3, 0, 0.4)}, {Vec3(0, 3, 0)});
    EXPECT_NEAR(ball.integrator->computeMultipliers()[0], -4 * 9 / 0.25 / 2,
                integrator == "Rattle" ? 1e-9 + 100 * precision.velocity : 0.01);
}

TEST_P(ExpressionDynamics, AMovingPlaneCarriesItsParticle) {
    const double a = 0.05, w = 6, weight = 40, mass = 4, dt = 0.001;
    Simulation s =
        make(1, mass, {oneOf(1, "z1 - 0.05*sin(6*t)"), field(1, "40*z")}, {Vec3()}, {Vec3(0.5, 0, a * w)}, dt, 1e-12);
    const double before = s.energy();
    const int steps = 400;
    s.integrator->step(steps);
    const double t = s.context->getState(0).getTime();
    EXPECT_NEAR(t, 0.4, 1e-12);
    EXPECT_LT(distance(s.positions(), {Vec3(0.5 * t, 0, a * std::sin(w * t))}),
              (integrator == "Rattle" ? 1e-10 : 1e-9) + steps * precision.position);
    if (integrator == "Rattle") {
        EXPECT_LT(distance(s.velocities(), {Vec3(0.5, 0, a * w * std::cos(w * t))}),
                  1e-8 + within(1e-12) / dt); // solved relative to one step
        EXPECT_NEAR(s.integrator->computeMultipliers()[0], weight - mass * a * w * w * std::sin(w * t),
                    1e-7 + precision.force * weight);
        EXPECT_NEAR(s.integrator->getConstraintWork(), s.energy() - before, 1e-4);
        EXPECT_GT(std::abs(s.energy() - before), 0.1);
    }
}

TEST_P(ExpressionDynamics, AGrowingSphereKeepsTheAngularMomentum) {
    Simulation s = make(1, 4, {oneOf(1, "sqrt(x1^2 + y1^2 + z1^2) - 0.5 - 0.3*t")}, {Vec3(0.5, 0, 0)},
                        {Vec3(0.3, 2, 1)}, 0.001, 1e-12);
    s.integrator->step(500);
    const Vec3 x = s.positions()[0], v = s.velocities()[0];
    EXPECT_NEAR(length(x), 0.65, 1e-11 + within(1e-12));
    EXPECT_LT(distance({x.cross(v)}, {Vec3(0.5, 0, 0).cross(Vec3(0.3, 2, 1))}),
              (integrator == "Rattle" ? 1e-10 : 1e-3) + 500 * precision.position);
    EXPECT_NE(s.integrator->getConstraintWork(), 0);
}

// ---- where particles are put
// -----------------------------------------------------------------------------------------

TEST_P(ExpressionStates, AStartOffTheSurfaceIsProjected) {
    const double tolerance = 1e-10;
    Vectors start;
    std::vector<Force*> forces;
    for (const Surface& surface : surfaceTable()) {
        const Vec3 normal = surface.gradient(surface.near) / length(surface.gradient(surface.near));
        const int first = (int) start.size();
        start.insert(start.end(), {surface.near + normal * 0.03, surface.near + normal * 0.1});
        forces.push_back(makeForce(surface, {first, first + 1}));
    }
    Simulation s = make((int) start.size(), 4, forces, start);
    s.integrator->setMaxProjection(0.2);
    s.integrator->step(1);
    const Vectors x = s.positions();
    for (int i = 0; i < (int) x.size(); i++) {
        const Surface& surface = surfaceTable()[i / 2];
        EXPECT_GT(surface.distance(start[i]), 0.3 * (i % 2 == 0 ? 0.03 : 0.1)) << surface.name;
        EXPECT_LT(surface.distance(x[i]), within(tolerance)) << surface.name;
    }
    // Near an extremum of sigma, where its gradient hardly points anywhere, it ends on the surface that is near.
    const Surface& gyroid = findSurface("Gyroid");
    Simulation far = make(1, 4, {makeForce(gyroid, {0})}, {Vec3(0.15, 0.15, 0.16)});
    far.integrator->applyConstraints();
    EXPECT_LT(gyroid.distance(far.positions()[0]), within(tolerance));
    EXPECT_LT(length(far.positions()[0] - Vec3(0.15, 0.15, 0.16)), 0.6);
    // There is no such surface at all.
    Simulation none = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 + 0.25")}, {Vec3(0.3, 0, 0)});
    expectAll(expectFailureLeavesTheState(none), {"projection", "x1^2", "start closer"});
    auto* sphere = new CustomConstraintForce(1, "x1^2 + y1^2 + z1^2 - 0.25");
    for (int i : {0, 1})
        sphere->addConstraint({i});
    Simulation nearAndFar = make(2, 4, {sphere}, {Vec3(0, 0.01, 0), Vec3(0, 20, 0)});
    nearAndFar.integrator->applyConstraints();
    EXPECT_LT(distance(nearAndFar.positions(), Vectors(2, Vec3(0, 0.5, 0))), 1e-9 + precision.position);
}

TEST_P(ExpressionStates, AnExpressionMayChangeToOneWithOtherParameters) {
    auto* force = new CustomConstraintForce(1, "z1 - a");
    force->addGlobalParameter("a", 0.5);
    force->addGlobalParameter("b", 0.03);
    force->addConstraint({0});
    Simulation s = make(1, 4, {force}, {Vec3(0.1, 0, 0.5)}, {Vec3(1, 0, 0)});
    s.context->setParameter("a", 0.54);
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[0][2], 0.54, within(1e-10));
    force->setExpression("z1 - a - b");
    force->updateParametersInContext(*s.context);
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[0][2], 0.57, within(1e-10));
}

TEST_P(ExpressionStates, AGlobalParameterMovesASurfaceAtTheNextStep) {
    auto* sphere = new CustomConstraintForce(1, "sqrt(x1^2 + y1^2 + z1^2) - r");
    sphere->addGlobalParameter("r", 0.5);
    sphere->addConstraint({0});
    Simulation s = make(1, 4, {sphere}, {Vec3(0.5, 0, 0)}, {Vec3(0, 1, 0)});
    EXPECT_EQ(s.context->getParameter("r"), 0.5);
    for (double r : {0.5, 0.54, 0.5}) {
        s.context->setParameter("r", r);
        s.integrator->step(5);
        EXPECT_NEAR(length(s.positions()[0]), r, within(1e-10));
    }
    s.context->setParameter("r", notANumber);
    expectAll(expectFailureLeavesTheState(s), {"sqrt(x1^2 + y1^2 + z1^2) - r"});
    s.context->setParameter("r", 0.46);
    s.integrator->step(1);
    EXPECT_NEAR(length(s.positions()[0]), 0.46, within(1e-10));
}

TEST_P(ExpressionStates, ParametersAndTablesCanBeUpdated) {
    auto* force = new CustomConstraintForce(1, "z1 - height*f(x1)");
    force->addPerConstraintParameter("height");
    force->addTabulatedFunction("f", new Continuous1DFunction({1, 1, 1}, -1, 1));
    force->addConstraint({0}, {0.5});
    force->addConstraint({1}, {0.25});
    Simulation s = make(2, 4, {force}, {Vec3(0, 0, 0.5), Vec3(0, 0, 0.25)});
    s.integrator->step(1);
    force->setConstraintParameters(1, {1}, {0.26});
    dynamic_cast<Continuous1DFunction&>(force->getTabulatedFunction(0))
        .setFunctionParameters({1.05, 1.05, 1.05}, -1, 1);
    force->updateParametersInContext(*s.context);
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[0][2], 0.525, within(1e-10));
    EXPECT_NEAR(s.positions()[1][2], 0.273, within(1e-10));
    force->setConstraintParameters(1, {0}, {0.3});
    EXPECT_NE(messageOf([&] { force->updateParametersInContext(*s.context); }), "") << "its particle changed";
    force->setConstraintParameters(1, {1}, {notANumber});
    expectAll(messageOf([&] { force->updateParametersInContext(*s.context); }), {"parameter 0", "NaN"});
    s.integrator->step(1);
    EXPECT_NEAR(s.positions()[1][2], 0.273, within(1e-10)) << "it keeps the old";
}

TEST_P(ExpressionStates, CoordinatesAreNotWrappedAndDistancesTakeImages) {
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
    EXPECT_NEAR(x[0][0], 7.25, within(1e-10));
    Vec3 d = x[2] - x[1];
    EXPECT_GT(length(d), 1);
    for (int axis = 0; axis < 3; axis++)
        d[axis] -= 2 * std::round(d[axis] / 2);
    EXPECT_NEAR(length(d), 0.2, within(1e-10));
    EXPECT_EQ(s.context->getMolecules().size(), 1u);
}

// ---- where there is no gradient
// --------------------------------------------------------------------------------------

TEST_P(ExpressionStates, APlaceWithoutGradientIsNamed) {
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

TEST_P(ExpressionStates, AnExpressionThatIsNoNumberIsNamed) {
    Simulation s = make(1, 4, {oneOf(1, "z1 - log(x1)")}, {Vec3(-1, 0.5, 0)});
    expectAll(expectFailureLeavesTheState(s), {"z1 - log(x1)", "particle 0", "(-1, 0.5, 0) nm"});
    s.context->setPositions({Vec3(1, 0.5, 0)});
    s.integrator->step(1);
}

TEST_P(ExpressionStates, AStepIntoWhereItIsNoNumberIsNamed) {
    Simulation s = make(1, 4, {oneOf(1, "z1 - log(x1)")}, {Vec3(1, 0.5, 0)});
    s.integrator->step(1);
    s.context->setVelocities({Vec3(-1500, 0, -1500)});
    expectAll(expectFailureLeavesTheState(s), {"z1 - log(x1) = 0", "particle 0", "NaN or infinite", "step size"});
}

TEST_P(ExpressionStates, AStepThatIsTooLargeForASurfaceIsNamed) {
    Simulation s = make(1, 4, {oneOf(1, "x1^2 + y1^2 + z1^2 - 0.25")}, {Vec3(0.5, 0, 0)});
    s.integrator->step(1);
    s.context->setVelocities({Vec3(0, 2000, 0)});
    expectAll(expectFailureLeavesTheState(s),
              {"x1^2 + y1^2 + z1^2 - 0.25 = 0", "particle 0", "sigma is", "|sigma|/|grad sigma|", "step size"});
}

TEST_P(ExpressionStates, AnApexThatIsReachedStopsTheRun) {
    Simulation s = make(1, 4, {oneOf(1, "sqrt(x1^2 + y1^2) - z1")}, {Vec3(0.05, 0, 0.05)}, {Vec3(-1, 0, -1)});
    expectAll(expectFailureLeavesTheState(s, 200), {"sqrt(x1^2 + y1^2) - z1", "particle 0"});
    EXPECT_NEAR(s.positions()[0][0], s.positions()[0][2], 1e-9 + within(1e-10)) << "the last good step is on the cone";
    EXPECT_GT(s.positions()[0][0], 0);
}

TEST_P(ExpressionStates, SurfacesThatDoNotMeetAreContradictory) {
    Simulation s = make(1, 4, {oneOf(1, "z1 - 0.1"), oneOf(1, "2*z1 - 0.3")}, {Vec3(0, 0, 0.1)});
    expectAll(expectFailureLeavesTheState(s), {"2*z1 - 0.3 = 0"});
    Simulation same = make(1, 4, {oneOf(1, "z1 - 0.1"), oneOf(1, "2*z1 - 0.2")}, {Vec3(0, 0, 0.1)}, {Vec3(1, 0, 0)});
    same.integrator->step(10);
    EXPECT_EQ(same.integrator->getNumDegreesOfFreedom(), 2) << "a duplicate that agrees is no second constraint";
}

INSTANTIATE_TEST_SUITE_P(Platforms, ExpressionDynamics, testing::ValuesIn(mostlyRattleSetups()),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Platforms, ExpressionStates, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
