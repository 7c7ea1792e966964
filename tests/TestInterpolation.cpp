// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Targets that interpolate with a Context parameter: they are where it says, and its derivatives are those of the
// energy.
#include "support/BentChain.h"
#include "support/Messages.h"
#include "support/Statistics.h"
#include <gtest/gtest.h>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr double kT = 0.00831446261815324 * 300;

const char* methodOf(CoordinateKind kind) {
    return kind == CoordinateKind::Custom ? "CentroidDistance" : traitsOf(kind).method;
}

/** The chain with one coordinate that interpolates from its value by `change`, where "lambda" is 0, and another
 *  distance that is fixed. */
struct Alchemical {
    ConstraintForce* constraints = new ConstraintForce();
    CoordinateKind kind;
    double start = valueInBentChain(kind, bentChainPositions), change;
    std::unique_ptr<Simulation> simulation;

    Alchemical(CoordinateKind kind, double change, const Setup& setup, double rate = 0, double tolerance = 1e-12)
        : kind(kind), change(change) {
        std::unique_ptr<System> system = makeBentChain();
        constraints->addGlobalParameter("unused", 3);
        constraints->addGlobalParameter("lambda", 0);
        constrainBentChain(*constraints, kind, start, rate);
        interpolate(*constraints, kind, 0, "lambda", start + change);
        constraints->addDistance(1, 2, std::sqrt(0.05 * 0.05 + 0.14 * 0.14));
        system->addForce(constraints);
        simulation = std::make_unique<Simulation>(std::move(system), makeIntegrator(setup, 0.001, tolerance),
                                                  std::get<0>(setup));
        simulation->context->setPositions(bentChainPositions);
    }
    ConstraintIntegrator& integrator() const {
        return *simulation->integrator;
    }
    Context& context() const {
        return *simulation->context;
    }
    double value() const {
        return valueInBentChain(kind, simulation->positions());
    }
    /** The potential energy where a projection leads from here. */
    double energyAt(double lambda) const {
        context().setPositions(bentChainPositions);
        context().setParameter("lambda", lambda);
        integrator().applyConstraints();
        return context().getState(State::Energy).getPotentialEnergy();
    }
};

double changeOf(CoordinateKind kind) {
    return kind == CoordinateKind::Distance ? 0.02 : kind == CoordinateKind::Custom ? 0.03 : 0.3;
}

class Interpolation : public testing::TestWithParam<std::tuple<CoordinateKind, Setup>> {
protected:
    const CoordinateKind kind = std::get<0>(GetParam());
    const ConstraintTests::Setup setup = std::get<1>(GetParam());
    const std::string platform = std::get<0>(setup);
    const double exact = attainable(platform, 1e-11, 0.1), change = changeOf(kind);
};

TEST_P(Interpolation, SetsTheTargetThatItsParameterAsksFor) {
    Alchemical a(kind, change, setup);
    a.context().setVelocities(bentChainVelocities);
    a.integrator().step(3);
    EXPECT_NEAR(a.value(), a.start, exact);
    for (double lambda : {0.25, 1.0, 1.5, -0.5}) { // beyond both ends, too
        a.context().setParameter("lambda", lambda);
        const std::string message = messageOf([&] { a.context().getState(State::Energy); });
        expectAll(message,
                  {"\"lambda\" is ", " 0 of the ConstraintForce with index 3", "integrator.applyConstraints()"});
        EXPECT_NE(messageOf([&] { a.integrator().computeParameterDerivatives(); }), "");
        if (lambda < 1)
            a.integrator().applyConstraints();
        else
            a.integrator().step(1); // projects
        EXPECT_NEAR(a.value(), a.start + lambda * change, exact) << lambda;
        EXPECT_EQ(messageOf([&] { a.context().getState(State::Energy); }), "");
        a.integrator().step(5);
        EXPECT_NEAR(a.value(), a.start + lambda * change, exact) << lambda;
    }
    const Vectors before = a.simulation->positions();
    a.context().setParameter("lambda", a.context().getParameter("lambda")); // the value that is there
    EXPECT_EQ(messageOf([&] { a.context().getState(State::Energy | State::Forces); }), "");
    EXPECT_EQ(a.integrator().applyConstraints(), 0);
    EXPECT_EQ(distance(a.simulation->positions(), before), 0);
}

TEST_P(Interpolation, AddsUpWithARate) {
    const double rate = change;
    Alchemical a(kind, change, setup, rate);
    a.integrator().step(10);
    EXPECT_NEAR(a.value(), a.start + rate * 0.01, exact);
    a.context().setParameter("lambda", 0.5);
    a.integrator().step(10);
    EXPECT_NEAR(a.value(), a.start + 0.5 * change + rate * 0.02, exact);
    a.context().setParameter("lambda", -0.1);
    a.integrator().applyConstraints();
    EXPECT_NEAR(a.value(), a.start - 0.1 * change + rate * 0.02, exact);
}

TEST_P(Interpolation, HasTheDerivativeOfTheEnergyAlongAProjection) {
    // At rest, the particles of a projection move along M^-1 J^T, and the energy changes by lambda_k d xi_k.
    Alchemical a(kind, change, setup),
        exactly(kind, change, {"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"});
    a.context().setVelocities(Vectors(4));
    a.integrator().setStepSize(0); // some have velocities of half a step before
    const std::map<std::string, double> derivatives = a.integrator().computeParameterDerivatives();
    EXPECT_EQ(derivatives.at("unused"), 0);
    const double h = 1e-3;
    const auto central = [&](double step) { return (exactly.energyAt(step) - exactly.energyAt(-step)) / (2 * step); };
    const double expected = (4 * central(h) - central(2 * h)) / 3; // Richardson
    EXPECT_GT(std::abs(expected), 0.1);
    EXPECT_NEAR(derivatives.at("lambda"), expected,
                (1e-6 + 30 * precisionOf(platform).force) * (std::abs(expected) + 1));
}

TEST_P(Interpolation, HasTheBitsOfAFixedTarget) {
    // In a Context with a parameter as in one that was created with the target.
    Alchemical a(kind, change, setup), b(kind, change, setup);
    b.constraints->setGlobalParameterDefaultValue(1, 0.5);
    b.context().reinitialize();
    a.context().setParameter("lambda", 0.5);
    for (Alchemical* one : {&a, &b}) {
        one->context().setPositions(bentChainPositions);
        one->context().setVelocities(bentChainVelocities);
        one->integrator().step(5);
    }
    EXPECT_EQ(distance(a.simulation->positions(), b.simulation->positions()), 0);
    EXPECT_EQ(distance(a.simulation->velocities(), b.simulation->velocities()), 0);
}

TEST_P(Interpolation, ContinuesFromACheckpoint) {
    Alchemical whole(kind, change, setup), first(kind, change, setup), second(kind, change, setup);
    for (Alchemical* one : {&whole, &first}) {
        one->context().setParameter("lambda", 0.5);
        one->context().setVelocities(bentChainVelocities);
        one->integrator().step(5);
    }
    std::stringstream checkpoint;
    first.context().createCheckpoint(checkpoint);
    second.context().loadCheckpoint(checkpoint);
    EXPECT_EQ(second.context().getParameter("lambda"), 0.5);
    EXPECT_EQ(second.integrator().getMultipliers(), whole.integrator().getMultipliers());
    whole.integrator().step(5);
    second.integrator().step(5);
    EXPECT_EQ(distance(whole.simulation->positions(), second.simulation->positions()), 0);
}

std::string caseName(const testing::TestParamInfo<Interpolation::ParamType>& info) {
    return methodOf(std::get<0>(info.param)) + ("_" + nameOf(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, Interpolation,
                         testing::Combine(testing::Values(CoordinateKind::Distance, CoordinateKind::Angle,
                                                          CoordinateKind::Dihedral, CoordinateKind::Custom),
                                          testing::ValuesIn(oneSetupOfEach(mostlyRattleSetups()))),
                         caseName);

/** On every platform, by one setup. */
class Interpolations : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup = {platform, ConstraintIntegrator::Automatic, "Rattle"};
    const double exact = attainable(platform, 1e-9, 0.1);
};

TEST_P(Interpolations, StopByNameWhereTheirTargetIsOutOfRange) {
    struct Case {
        CoordinateKind kind;
        double target;
        std::string name, range;
    };
    for (const Case& c : {Case{CoordinateKind::Distance, -0.1, "distance 0", "stay positive"},
                          Case{CoordinateKind::Distance, 0, "distance 0", "stay positive"},
                          Case{CoordinateKind::Custom, -0.1, "centroid distance 0", "stay positive"},
                          Case{CoordinateKind::Angle, M_PI, "angle 0", "between 0 and pi"},
                          Case{CoordinateKind::Angle, -0.1, "angle 0", "between 0 and pi"},
                          Case{CoordinateKind::Dihedral, NAN, "dihedral 0", "be a number"}}) {
        Alchemical a(c.kind, changeOf(c.kind), setup);
        a.context().setVelocities(bentChainVelocities);
        a.integrator().step(2);
        const Vectors x = a.simulation->positions(), v = a.simulation->velocities();
        const double lambda = (c.target - a.start) / a.change;
        a.context().setParameter("lambda", lambda); // never throws
        for (const auto& use : std::vector<std::function<void()>>{
                 [&] { a.integrator().step(1); }, [&] { a.integrator().applyConstraints(); },
                 [&] { a.context().getState(State::Energy); }, [&] { a.integrator().computeParameterDerivatives(); }})
            expectAll(messageOf(use), {c.name, "\"lambda\" at ", c.range, "context.setParameter(\"lambda\", value)",
                                       std::string("set") + methodOf(c.kind) + "Interpolation(0, \"lambda\""});
        EXPECT_EQ(distance(a.simulation->positions(), x), 0);
        EXPECT_EQ(distance(a.simulation->velocities(), v), 0);
        EXPECT_EQ(a.context().getStepCount(), 2);
        a.context().setParameter("lambda", 0); // nothing is lost
        a.integrator().step(2);
        EXPECT_NEAR(a.value(), a.start, exact);
    }
}

TEST_P(Interpolations, StopByNameWhereTheBoxIsTooSmall) {
    Alchemical a(CoordinateKind::Distance, 0.02, setup);
    a.constraints->setUsesPeriodicBoundaryConditions(true);
    a.simulation->system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
    a.context().reinitialize();
    a.context().setPositions(bentChainPositions);
    a.integrator().step(1);
    a.context().setParameter("lambda", 50);
    for (const auto& use : std::vector<std::function<void()>>{[&] { a.integrator().step(1); },
                                                              [&] { a.integrator().applyConstraints(); }})
        expectAll(messageOf(use), {"distance 0", "1.15", "\"lambda\" at 50", "half the shortest width",
                                   "context.setParameter(\"lambda\", value)"});
    a.context().setParameter("lambda", 0);
    a.integrator().step(1);
}

TEST_P(Interpolations, TurnADihedralThroughAHalfTurn) {
    const double degree = M_PI / 180;
    auto system = makeBentChain();
    auto* force = new ConstraintForce();
    force->addGlobalParameter("turn", 0);
    force->addDihedral(0, 1, 2, 3, 170 * degree);
    force->setDihedralInterpolation(0, "turn", 190 * degree);
    system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(setup, 0.001, 1e-9), platform);
    s.context->setPositions(bentChainPositions);
    s.integrator->applyConstraints();
    for (double turn : {0.0, 0.25, 0.5, 0.75, 1.0, -1.0}) {
        s.context->setParameter("turn", turn);
        s.integrator->applyConstraints();
        s.integrator->step(2);
        const double value = valueInBentChain(CoordinateKind::Dihedral, s.positions());
        EXPECT_NEAR(std::remainder(value - (170 + 20 * turn) * degree, 2 * M_PI), 0, exact) << turn;
    }
}

TEST_P(Interpolations, HaveTheCentrifugalForceOfARotor) {
    // lambda = -m v^2/d with the reduced mass m and the relative velocity v.
    System system;
    auto* force = new ConstraintForce();
    force->addGlobalParameter("lambda", 0.5);
    force->addDistance(system.addParticle(2), system.addParticle(3), 0.1);
    force->setDistanceInterpolation(0, "lambda", 0.2);
    auto* other = new ConstraintForce(); // the same parameter
    other->addGlobalParameter("lambda", 0.5);
    other->addDistance(system.addParticle(2), system.addParticle(2), 0.1);
    other->setDistanceInterpolation(0, "lambda", 0.3);
    auto* expression = new CustomConstraintForce(2, "distance(p1, p2) - 0.1 - b*lambda^2");
    expression->addPerConstraintParameter("b");
    expression->addGlobalParameter("lambda", 0.5);
    expression->addGlobalParameter("other", 1);
    expression->addConstraint({system.addParticle(4), system.addParticle(4)}, {0.4});
    auto* ofGroups = new CustomCentroidConstraintForce(2, "distance(g1, g2) - 0.1 - 0.2*lambda");
    ofGroups->addGlobalParameter("lambda", 0.5);
    ofGroups->addGroup({system.addParticle(3)});
    ofGroups->addGroup({system.addParticle(3)});
    ofGroups->addConstraint({0, 1});
    for (Force* one : std::initializer_list<Force*>{force, other, expression, ofGroups})
        system.addForce(one);
    RattleIntegrator integrator(0.001);
    integrator.setConstraintTolerance(1e-9);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(
        {{0, 0, 0}, {0.15, 0, 0}, {1, 0, 0}, {1.2, 0, 0}, {2, 0, 0}, {2.2, 0, 0}, {3, 0, 0}, {3, 0.2, 0}});
    context->setVelocities(
        {{0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {0, 2, 0}, {0, -2, 0}, {1, 0, 0}, {-1, 0, 0}});
    const auto derivatives = integrator.computeParameterDerivatives();
    const double first = -1.2 * 4 / 0.15 * 0.1, second = -1.0 * 4 / 0.2 * 0.2,
                 third = -2.0 * 16 / 0.2 * (0.4 * 2 * 0.5), // -lambda_k d sigma/dp = lambda_k 2 b p
        fourth = -1.5 * 4 / 0.2 * 0.2, all = first + second + third + fourth;
    EXPECT_NEAR(derivatives.at("lambda"), all, 1e-5 * std::abs(all));
    EXPECT_EQ(derivatives.at("other"), 0);
    EXPECT_EQ(derivatives.size(), 2U);
}

TEST_P(Interpolations, OfTwoContextsAreTheirOwn) {
    Alchemical a(CoordinateKind::Distance, 0.02, setup), b(CoordinateKind::Distance, 0.02, setup);
    a.context().setParameter("lambda", 1);
    for (int i = 0; i < 3; i++) {
        a.integrator().step(1);
        b.integrator().step(1);
    }
    EXPECT_NEAR(a.value(), a.start + 0.02, exact);
    EXPECT_NEAR(b.value(), b.start, exact);
}

TEST_P(Interpolations, TakeNewValuesWhereTheContextIs) {
    Alchemical a(CoordinateKind::Distance, 0.02, setup);
    a.context().setParameter("lambda", 0.5);
    a.integrator().step(2);
    // With the default, lambda = 0, the distance would be negative.
    a.constraints->setDistanceParameters(0, 0, 1, -0.1);
    a.constraints->setDistanceInterpolation(0, "lambda", 0.42);
    a.constraints->updateParametersInContext(a.context());
    a.integrator().step(2);
    EXPECT_NEAR(a.value(), 0.16, exact);
    // A distance that is fixed begins to interpolate, and ends.
    const double fixed = std::sqrt(0.05 * 0.05 + 0.14 * 0.14);
    const auto second = [&] {
        const Vec3 d = a.simulation->positions()[1] - a.simulation->positions()[2];
        return std::sqrt(d.dot(d));
    };
    a.constraints->setDistanceInterpolation(1, "unused", fixed + 0.001); // whose value is 3
    a.constraints->updateParametersInContext(a.context());
    a.integrator().step(1);
    EXPECT_NEAR(second(), fixed + 0.003, exact);
    a.constraints->setDistanceInterpolation(1, "", 0);
    a.constraints->updateParametersInContext(a.context());
    a.integrator().step(1);
    EXPECT_NEAR(second(), fixed, exact);
    // One that this Context does not have.
    a.constraints->addGlobalParameter("late", 0);
    a.constraints->setDistanceInterpolation(1, "late", fixed);
    expectAll(messageOf([&] { a.constraints->updateParametersInContext(a.context()); }),
              {"no parameter \"late\"", "reinitialize(True)"});
    a.integrator().step(1);
    EXPECT_NEAR(second(), fixed, exact);
}

TEST_P(Interpolations, AreSolvedByAllIntegrators) {
    for (const char* const which : {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "ConstraintForce",
                                    "RattleNoseHoover", "RattleMTS", "RattleMTSLangevin"}) {
        const std::string name = which;
        Alchemical a(CoordinateKind::Distance, 0.02, {platform, ConstraintIntegrator::Automatic, name}, 0, 1e-8);
        a.context().setParameter("lambda", 0.7);
        a.integrator().step(3);
        const double bound = name == "ConstraintForce" ? 1e-4 : attainable(platform, 1e-7, 0.1); // it drifts
        EXPECT_NEAR(a.value(), a.start + 0.014, bound) << name;
        const double lambda = a.integrator().computeMultipliers()[0];
        EXPECT_NEAR(a.integrator().computeParameterDerivatives().at("lambda"), 0.02 * lambda,
                    1e-3 * std::abs(lambda) * 0.02)
            << name;
    }
}

/** Whichever child takes the steps, a Context's parameter sets the target of all. */
TEST_P(Interpolations, AreFollowedByTheChildrenOfACompoundIntegrator) {
    const std::unique_ptr<System> system = makeBentChain();
    auto* constraints = new ConstraintForce();
    constraints->addGlobalParameter("lambda", 0);
    const double start = valueInBentChain(CoordinateKind::Distance, bentChainPositions);
    constrainBentChain(*constraints, CoordinateKind::Distance, start, 0);
    constraints->setDistanceInterpolation(0, "lambda", start + 0.02);
    system->addForce(constraints);
    CompoundIntegrator compound;
    for (const char* name : {"Rattle", "RattleLangevin", "RattleMTS"})
        compound.addIntegrator(
            makeIntegrator({platform, ConstraintIntegrator::Automatic, name}, 0.001, 1e-12).release());
    const auto context = makeContext(*system, compound, platform);
    context->setPositions(bentChainPositions);
    double lambda = 0;
    for (int child : {0, 1, 2, 0}) {
        compound.setCurrentIntegrator(child);
        lambda += 0.25;
        context->setParameter("lambda", lambda);
        compound.step(2);
        const Vectors x = context->getState(State::Positions).getPositions();
        EXPECT_NEAR(valueInBentChain(CoordinateKind::Distance, x), start + 0.02 * lambda, exact) << child;
        auto& current = dynamic_cast<ConstraintIntegrator&>(compound.getIntegrator(child));
        const double multiplier = current.computeMultipliers()[0];
        EXPECT_NEAR(current.computeParameterDerivatives().at("lambda"), 0.02 * multiplier, 2e-5 * std::abs(multiplier))
            << child;
    }
}

/** Water with one length that interpolates is no rigid triangle. */
TEST_P(Interpolations, AreNoRigidBodies) {
    auto system = std::make_unique<System>();
    auto* force = new ConstraintForce();
    force->addGlobalParameter("lambda", 0);
    Vectors x;
    for (int molecule = 0; molecule < 4; molecule++) {
        const int o = system->addParticle(16), h = system->addParticle(1.5);
        system->addParticle(1.5);
        force->addDistance(o, h, 0.1);
        force->addDistance(o, h + 1, 0.1);
        force->addDistance(h, h + 1, 0.16);
        if (molecule < 2)
            force->setDistanceInterpolation(3 * molecule + 2, "lambda", 0.14);
        const Vec3 place(molecule, 0, 0);
        for (const Vec3& d : {Vec3(0, 0, 0), Vec3(0.08, 0.06, 0), Vec3(-0.08, 0.06, 0)})
            x.push_back(place + d);
    }
    system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(setup, 0.001, 1e-9), platform);
    s.context->setPositions(x);
    s.context->setVelocitiesToTemperature(300, 1);
    s.integrator->step(5);
    s.context->setParameter("lambda", 0.5);
    s.integrator->step(5);
    for (int molecule = 0; molecule < 4; molecule++) {
        const Vectors now = s.positions();
        const auto length = [&](int i, int j) {
            const Vec3 d = now[3 * molecule + i] - now[3 * molecule + j];
            return std::sqrt(d.dot(d));
        };
        EXPECT_NEAR(length(0, 1), 0.1, exact);
        EXPECT_NEAR(length(0, 2), 0.1, exact);
        EXPECT_NEAR(length(1, 2), molecule < 2 ? 0.15 : 0.16, exact);
    }
}

/** Thermodynamic integration: dA/dp of free dimers between lengths d0 and d1 is -2 kT (d1 - d0)/d, whose integral is
 *  -2 kT ln(d1/d0). */
TEST_P(Interpolations, IntegrateToTheFreeEnergyOfFreeDimersEnsemble) {
    System system;
    auto* force = new ConstraintForce();
    force->addGlobalParameter("lambda", 0);
    const double d0 = 0.1, d1 = 0.2;
    const int dimers = 100, samples = 40;
    Vectors positions;
    for (int i = 0; i < dimers; i++) {
        const int first = system.addParticle(10), second = system.addParticle(14);
        force->setDistanceInterpolation(force->addDistance(first, second, d0), "lambda", d1);
        positions.insert(positions.end(), {Vec3(), Vec3(0, 0, d0)});
    }
    system.addForce(force);
    RattleLangevinIntegrator integrator(300, 50, 0.004);
    integrator.setRandomNumberSeed(1);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(positions);
    context->setVelocitiesToTemperature(300, 1);
    integrator.setMaxProjection(0.1);
    const double nodes[] = {0.5 - std::sqrt(0.15), 0.5, 0.5 + std::sqrt(0.15)},
                 weights[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    double sum = 0, variance = 0, quadrature = 0;
    for (int i = 0; i < 3; i++) {
        context->setParameter("lambda", nodes[i]);
        integrator.step(20);
        std::vector<double> derivatives;
        for (int k = 0; k < samples; k++) {
            integrator.step(8); // 1.6 relaxation times of velocities
            derivatives.push_back(-integrator.computeParameterDerivatives().at("lambda") / dimers);
        }
        const double expected = 2 * kT * (d1 - d0) / (d0 + nodes[i] * (d1 - d0));
        const Mean mean = meanOf(derivatives, samples / 2);
        expectMeanOfSquares(derivatives, expected, 2 * dimers, 0.2);
        sum += weights[i] * mean.value;
        variance += weights[i] * weights[i] * mean.error * mean.error;
        quadrature += weights[i] * expected;
    }
    const double exactly = 2 * kT * std::log(d1 / d0);          // A(d0) - A(d1)
    EXPECT_NEAR(quadrature, exactly, 1e-3 * std::abs(exactly)); // of three nodes
    EXPECT_LT(std::sqrt(variance), 0.03 * std::abs(exactly));
    EXPECT_NEAR(sum, exactly, 5 * std::sqrt(variance) + 1e-3 * std::abs(exactly));
}

INSTANTIATE_TEST_SUITE_P(Platforms, Interpolations, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
