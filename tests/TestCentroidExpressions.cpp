// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// CustomCentroidConstraintForce: expressions of the centroids of groups.
#include "CentroidCoordinate.h"
#include "LeptonCoordinate.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Xml.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

struct Group {
    std::vector<int> particles;
    std::vector<double> weights; // empty: masses

    Vec3 centre(const System& system, const Vectors& x) const {
        Vec3 sum;
        double total = 0;
        for (std::size_t i = 0; i < particles.size(); i++) {
            const double w = weights.empty() ? system.getParticleMass(particles[i]) : weights[i];
            sum += x[particles[i]] * w;
            total += w;
        }
        return sum / total;
    }
};

double angleAt(const Vec3& a, const Vec3& b, const Vec3& c) {
    return std::acos((a - b).dot(c - b) / length(a - b) / length(c - b));
}

class CentroidExpressions : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    // Two have particle 2; the last one has a massless anchor and a weight of zero.
    const std::vector<Group> groups = {
        {{0, 1, 2}, {}}, {{3, 4, 2}, {1, 2, -0.5}}, {{5, 6}, {}}, {{7, 8, 1}, {3, 1, 0}}};
    const double height = 0.12, angle = 1.9, drop = 0.05;

    /** A chain with bonds of both sorts, a rigid body in a group, an anchor. */
    std::unique_ptr<System> makeSystem() const {
        auto system = std::make_unique<System>();
        for (double mass : {12.0, 1.0, 16.0, 14.0, 2.0, 10.0, 5.0, 8.0, 0.0, 6.0})
            system->addParticle(mass);
        auto* springs = new HarmonicBondForce();
        for (int i = 0; i < 7; i++)
            springs->addBond(i, i + 1, 0.15, 3000);
        for (int i = 0; i < 5; i++)
            springs->addBond(i, i + 3, 0.3, 500);
        springs->addBond(9, 7, 0.15, 3000);
        auto* bonds = new ConstraintForce();
        bonds->addDistance(0, 1, 0.11);
        bonds->addRigidBody({5, 6, 9}, {Vec3(), Vec3(0.12, 0, 0), Vec3(0.05, 0.1, 0)});
        auto* heights = new CustomCentroidConstraintForce(2, "z1-z2-h-rise*t");
        heights->addPerConstraintParameter("h");
        heights->addGlobalParameter("rise", 0);
        auto* angles = new CustomCentroidConstraintForce(3, "angle(g1,g2,g3)-a + 0*scale(1)");
        angles->addPerConstraintParameter("a");
        angles->addTabulatedFunction("scale", new Discrete1DFunction({1, 2}));
        for (const Group& group : groups)
            for (auto* force : {heights, angles})
                force->addGroup(group.particles, group.weights);
        heights->addConstraint({0, 1}, {height});
        heights->addConstraint({3, 2}, {drop});
        angles->addConstraint({0, 1, 2}, {angle});
        for (Force* force : std::vector<Force*>{springs, bonds, heights, angles})
            system->addForce(force);
        return system;
    }
    Simulation start(double stepSize = 0.0002) const {
        Simulation s(makeSystem(), makeIntegrator(GetParam(), stepSize, 1e-12), platform);
        s.integrator->setMaxProjection(1);
        s.context->setPositions({{0, 0, 0},
                                 {0.11, 0, 0},
                                 {0.1, 0.15, 0},
                                 {0.25, 0.15, -0.05},
                                 {0.3, 0.02, -0.1},
                                 {0.2, -0.1, 0},
                                 {0.32, -0.1, 0},
                                 {0.4, 0.05, 0.1},
                                 {0.5, 0.1, 0.1},
                                 {0.25, 0, 0}});
        Vectors velocities;
        for (int i = 0; i < 10; i++)
            velocities.emplace_back(0.4 * std::cos(3 * i), 0.4 * std::sin(5 * i), 0.3 * std::cos(7 * i));
        s.context->setVelocities(velocities);
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
        return s;
    }
    void expectAtTheirValues(const Simulation& s, double rise = 0) const {
        const Vectors x = s.positions();
        Vec3 X[4];
        for (int g = 0; g < 4; g++)
            X[g] = groups[g].centre(*s.system, x);
        // A tolerance in nm: for heights times sqrt(2), for the angle times its gradient.
        const double bound = std::max(1.5e-12, 4 * attainable(platform, 1e-12, 0.1) * 0.1);
        EXPECT_NEAR(X[0][2] - X[1][2], height + rise, bound);
        EXPECT_NEAR(X[3][2] - X[2][2], drop + rise, bound);
        EXPECT_NEAR(angleAt(X[0], X[1], X[2]), angle, 20 * bound);
    }
};

TEST_P(CentroidExpressions, KeepTheirValuesAndTheEnergy) {
    Simulation s = start();
    expectAtTheirValues(s);
    // 27 of particles with mass, less a bond, 9 - 6 of the body, and three expressions
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 27 - 1 - 3 - 3);
    const double energy = s.energy();
    for (int block = 0; block < 5; block++) {
        s.integrator->step(isDevice(platform) ? 20 : 100);
        expectAtTheirValues(s);
        EXPECT_NEAR(s.energy(), energy,
                    (std::get<2>(GetParam()) == "FrictionlessLangevin" ? 0.1 : 0.005) * std::abs(energy));
    }
}

TEST_P(CentroidExpressions, MultipliersAreForcesOnCentroids) {
    Simulation s = start();
    s.integrator->step(5);
    const auto multipliers =
        dynamic_cast<CustomCentroidConstraintForce&>(s.system->getForce(2)).getMultipliers(*s.context);
    ASSERT_EQ(multipliers.size(), 2u);
    const std::vector<double> all = s.integrator->getMultipliers();
    EXPECT_EQ(all, (std::vector<double>{all[0], multipliers[0], multipliers[1], all[3]}));
    // Particle 7 is in no other constraint: it has 3/4 of the second one's force.
    const Vectors forces = s.integrator->getConstraintForces();
    EXPECT_NEAR(forces[7][2], 0.75 * multipliers[1], 1e-6 * std::abs(multipliers[1]));
    EXPECT_NEAR(forces[7][0], 0, 1e-6 * std::abs(multipliers[1]));
    EXPECT_NE(multipliers[1], 0);
}

TEST_P(CentroidExpressions, FollowTimeAndParameters) {
    Simulation s = start(0.0005);
    s.context->setParameter("rise", 0.5);
    s.integrator->step(40);
    expectAtTheirValues(s, 0.5 * 0.02);
    auto& heights = dynamic_cast<CustomCentroidConstraintForce&>(s.system->getForce(2));
    for (int i : {0, 1})
        heights.setConstraintParameters(i, i == 0 ? std::vector<int>{0, 1} : std::vector<int>{3, 2},
                                        {(i == 0 ? height : drop) + 0.03});
    heights.updateParametersInContext(*s.context);
    s.integrator->step(2);
    expectAtTheirValues(s, 0.5 * 0.021 + 0.03);
    heights.setGroupParameters(1, groups[1].particles, {1, 2, 3});
    EXPECT_NE(messageOf([&] { heights.updateParametersInContext(*s.context); }), "");
    s.integrator->step(2);
    expectAtTheirValues(s, 0.5 * 0.022 + 0.03);
}

TEST_P(CentroidExpressions, RepeatFromACheckpoint) {
    Simulation s = start();
    s.integrator->step(3);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    s.integrator->step(4);
    const Vectors first = s.positions();
    s.context->loadCheckpoint(checkpoint);
    s.integrator->step(4);
    EXPECT_NEAR(distance(s.positions(), first), 0, precisionOf(platform).position);
}

INSTANTIATE_TEST_SUITE_P(All, CentroidExpressions, testing::ValuesIn(constantEnergySetups()),
                         [](const auto& info) { return nameOf(info.param); });

class CentroidForces : public testing::TestWithParam<std::string> {
protected:
    /** Two chains of five, far apart in a box, as two groups.
     *  @param constrain  (system, chains) adds what holds them */
    Vectors run(const std::function<void(System&, const std::vector<int>*)>& constrain, const Vec3& shift,
                int steps = 30) const {
        System system;
        std::vector<int> chains[2];
        Vectors x, v;
        auto* springs = new HarmonicBondForce();
        springs->setUsesPeriodicBoundaryConditions(true);
        for (int i = 0; i < 10; i++) {
            chains[i / 5].push_back(system.addParticle(1 + i));
            x.push_back(Vec3(0.1 * (i % 5), 0.05 * (i % 2), 0.02 * i) + (i < 5 ? Vec3() : Vec3(0.3, 0.6, 0.2) + shift));
            v.emplace_back(std::cos(3 * i), std::sin(2 * i), std::cos(5 * i));
            if (i % 5 > 0)
                springs->addBond(i - 1, i, 0.12, 2000);
        }
        system.addForce(springs);
        system.setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0.5, 3, 0), Vec3(-0.4, 0.7, 3));
        constrain(system, chains);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-9);
        integrator.setMaxProjection(1);
        const auto context = makeContext(system, integrator, GetParam());
        context->setPositions(x);
        context->setVelocities(v);
        integrator.step(steps);
        EXPECT_EQ(context->getMolecules().size(), 2u);
        Vectors moved = context->getState(State::Positions).getPositions();
        for (int i = 5; i < 10; i++)
            moved[i] -= shift;
        return moved;
    }
    static CustomCentroidConstraintForce* force(const std::string& expression, const std::vector<int>* chains,
                                                bool periodic) {
        auto* force = new CustomCentroidConstraintForce(2, expression);
        force->setUsesPeriodicBoundaryConditions(periodic);
        force->addConstraint({force->addGroup(chains[0]), force->addGroup(chains[1])}, {});
        return force;
    }
    double rounding() const {
        return 1e-8 + 20 * precisionOf(GetParam()).position; // of the tolerance
    }
};

TEST_P(CentroidForces, KeepADistanceAsAddCentroidDistanceDoes) {
    const Vectors expected = run(
        [](System& system, const std::vector<int>* chains) {
            auto* constraints = new ConstraintForce();
            constraints->setUsesPeriodicBoundaryConditions(true);
            constraints->addCentroidDistance(chains[0], chains[1], 0.75);
            system.addForce(constraints);
        },
        {});
    for (const Vec3& shift : {Vec3(), Vec3(-0.4, 0.7, 3)}) // in another image of the box
        EXPECT_NEAR(distance(run(
                                 [](System& system, const std::vector<int>* chains) {
                                     system.addForce(force("distance(g1,g2)-0.75", chains, true));
                                 },
                                 shift),
                             expected),
                    0, rounding());
}

TEST_P(CentroidForces, NeverTakeImagesOfCoordinates) {
    // One group is in the next box: z1-z2 is about -3.3, not -0.3.
    const Vec3 shift(-0.4, 0.7, 3);
    const auto hold = [&](const char* expression) {
        return run(
            [&](System& system, const std::vector<int>* chains) { system.addForce(force(expression, chains, true)); },
            shift);
    };
    const Vectors x = hold("z1-z2+3.3");
    double z[2] = {0, 0}, mass[2] = {0, 0};
    for (int i = 0; i < 10; i++) {
        z[i / 5] += (1 + i) * x[i][2];
        mass[i / 5] += 1 + i;
    }
    EXPECT_NEAR(z[0] / mass[0] - z[1] / mass[1], -0.3, rounding());
}

TEST_P(CentroidForces, OfSingleParticlesAreThoseOfCustomConstraintForce) {
    const std::string expression = "distance(_1,_2)^2 + 0.3*cos(angle(_1,_2,_3)) - 0.4*z1 - 0.3";
    const auto of = [&](char sign) {
        std::string text = expression;
        std::replace(text.begin(), text.end(), '_', sign);
        return text;
    };
    const auto expected = run(
        [&](System& system, const std::vector<int>*) {
            auto* custom = new CustomConstraintForce(3, of('p'));
            custom->addConstraint({2, 1, 4}, {});
            system.addForce(custom);
        },
        {});
    const auto found = run(
        [&](System& system, const std::vector<int>*) {
            auto* custom = new CustomCentroidConstraintForce(3, of('g'));
            for (int p : {2, 1, 4})
                custom->addGroup({p}, p == 1 ? std::vector<double>{0.3} : std::vector<double>());
            custom->addConstraint({0, 1, 2}, {});
            system.addForce(custom);
        },
        {});
    EXPECT_NEAR(distance(found, expected), 0, rounding());
}

TEST_P(CentroidForces, AreRefusedByNameWhereGroupsAreBad) {
    struct Bad {
        std::vector<int> particles;
        std::vector<double> weights;
        std::vector<int> groups;
        std::vector<std::string> expected;
    };
    const std::vector<Bad> bad = {{{}, {}, {0, 1}, {"its group 1", "no particles"}},
                                  {{1, 2, 1}, {}, {0, 1}, {"particle 1", "listed twice in its group 1"}},
                                  {{1, 9}, {}, {0, 1}, {"group 1", "out of range"}},
                                  {{-1}, {1}, {0, 1}, {"group 1", "out of range"}},
                                  {{2, 3}, {}, {0, 1}, {"group 1", "no particle with mass"}},
                                  {{0, 1}, {2, -2}, {0, 1}, {"group 1", "sum to zero", "setGroupParameters(1"}},
                                  {{0, 1}, {2, HUGE_VAL}, {0, 1}, {"particle 1", "infinite"}},
                                  {{0, 3}, {1, 1}, {0, 1}, {"particle 3", "virtual site", "weight 0"}},
                                  {{1}, {}, {0, 2}, {"its group 2 does not exist", "2 groups"}},
                                  {{1}, {}, {-1, 0}, {"its group -1 does not exist"}},
                                  {{1}, {}, {1, 1}, {"its group 1 is listed twice"}}};
    for (const Bad& one : bad) {
        System system;
        for (double mass : {1.0, 1.0, 0.0, 0.0})
            system.addParticle(mass);
        system.setVirtualSite(3, new TwoParticleAverageSite(0, 1, 0.5, 0.5));
        auto* force = new CustomCentroidConstraintForce(2, "z1-z2");
        force->addGroup({0});
        force->addGroup(one.particles, one.weights);
        force->addConstraint(one.groups, {});
        system.addForce(force);
        RattleIntegrator integrator(0.001);
        std::vector<std::string> expected = one.expected;
        expected.insert(expected.end(), {"constraint 0 of the CustomCentroidConstraintForce with index 0", "z1-z2"});
        expectAll(messageOf([&] { makeContext(system, integrator, GetParam()); }), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, CentroidForces, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

// ---- without a Context

TEST(CustomCentroidConstraintForce, RefusesWrongNumbersAtTheCall) {
    CustomCentroidConstraintForce force(2, "z1-z2-h");
    force.addPerConstraintParameter("h");
    expectAll(messageOf([&] { force.addGroup({1, 2}, {1}); }), {"2 particles", "1 weights"});
    force.addGroup({1, 2});
    expectAll(messageOf([&] { force.setGroupParameters(0, {1}, {1, 2}); }), {"1 particles", "2 weights"});
    EXPECT_NE(messageOf([&] { force.setGroupParameters(1, {1}); }), "");
    expectAll(messageOf([&] { force.addConstraint({0}, {1}); }), {"\"z1-z2-h\"", "2 groups", "1 were given"});
    expectAll(messageOf([&] { force.addConstraint({0, 1}); }), {"1 parameters", "0 were given"});
    expectAll(messageOf([] { CustomCentroidConstraintForce(0, "z1"); }), {"\"z1\"", "at least one group", "0"});
}

TEST(CustomCentroidConstraintForce, RefusesExpressionsOfNoGroup) {
    const std::vector<std::pair<std::string, std::string>> bad = {{"z3", "z3"},
                                                                  {"distance(p1,p2)", "p1"},
                                                                  {"distance(g1,g3)", "g3"},
                                                                  {"t-1", "position of no group"},
                                                                  {"g1+x1", "which is a group"}};
    for (const auto& [expression, expected] : bad) {
        CustomCentroidConstraintForce force(2, expression);
        if (expression == "g1+x1")
            force.addPerConstraintParameter("g1");
        expectAll(messageOf([&force = force] { LeptonCoordinate sigma(force); }),
                  {"CustomCentroidConstraintForce \"" + expression + "\"", expected});
    }
}

TEST(CustomCentroidConstraintForce, IsTheSameAfterSerialization) {
    CustomCentroidConstraintForce force(2, "z1-z2-h*g + f(t)");
    force.setForceGroup(4);
    force.setName("permeation");
    force.setUsesPeriodicBoundaryConditions(true);
    force.addPerConstraintParameter("h");
    force.addGlobalParameter("g", 1.0 / 3);
    force.addTabulatedFunction("f", new Continuous1DFunction({0.5, 1, 2, 0.5}, -1, 2, true));
    force.addGroup({4, 2, 7}, {0.1, 1.0 / 7, -2});
    force.addGroup({0});
    force.addGroup({});
    force.addConstraint({1, 0}, {2.0 / 7});
    const std::string xml = toXml<Force>(force, "Force");
    const auto copy = fromXml<Force>(xml);
    const auto& read = dynamic_cast<CustomCentroidConstraintForce&>(*copy);
    EXPECT_EQ(toXml<Force>(read, "Force"), xml);
    EXPECT_EQ(read.getNumGroupsPerConstraint(), 2);
    EXPECT_EQ(read.getNumGroups(), 3);
    std::vector<int> points;
    std::vector<double> numbers;
    read.getGroupParameters(0, points, numbers);
    EXPECT_EQ(points, (std::vector<int>{4, 2, 7}));
    EXPECT_EQ(numbers, (std::vector<double>{0.1, 1.0 / 7, -2}));
    read.getGroupParameters(1, points, numbers);
    EXPECT_TRUE(numbers.empty());
    read.getConstraintParameters(0, points, numbers);
    EXPECT_EQ(points, (std::vector<int>{1, 0}));
    EXPECT_EQ(numbers, (std::vector<double>{2.0 / 7}));
    EXPECT_TRUE(read.usesPeriodicBoundaryConditions());
    EXPECT_EQ(read.getForceGroup(), 4);
    EXPECT_EQ(read.getName(), "permeation");
}

TEST(CentroidCoordinates, DerivativesAgreeWithFiniteDifferences) {
    CustomCentroidConstraintForce force(3, "dihedral(g1,g2,g3,g1)*0 + angle(g1,g2,g3) + x1*z2^2 + t*y3^2");
    force.setExpression("angle(g1,g2,g3) + x1*z2^2 + t*y3^2");
    const int n = 5;
    std::vector<double> weights = {0.2, 0, 0.1, 0.8, 0.3, 0, 0, 0.5, 0.6, 0, 0.2, 0, 0, 0, 0.3};
    CentroidCoordinate sigma(std::make_shared<LeptonCoordinate>(force), 3, weights);
    EXPECT_NEAR(sigma.errorFactor(), std::sqrt(0.2 * 0.2 + 0.8 * 0.8), 1e-15); // sums of squares: 0.68, 0.38, 0.46
    Random random(7);
    std::vector<Real3> x(n), v(n), gradient(n), unused(n);
    for (int i = 0; i < n; i++) {
        x[i] = random.inCube(1);
        v[i] = random.inCube(1);
    }
    const Box box{{9, 0, 0}, {0, 9, 0}, {0, 0, 9}};
    const auto at = [&](double by, std::vector<Real3>& g) {
        std::vector<Real3> y = x;
        for (int i = 0; i < n; i++)
            y[i] += by * v[i];
        return sigma.evaluate(y.data(), nullptr, {0.7 + by, box}, g.data());
    };
    const double h = 1e-4, q = at(0, gradient);
    double rate = sigma.timeDerivative(x.data(), nullptr, {0.7, box});
    for (int i = 0; i < n; i++)
        rate += dot(gradient[i], v[i]);
    EXPECT_NEAR(rate, (at(h, unused) - at(-h, unused)) / (2 * h), 1e-6);
    EXPECT_NEAR(sigma.curvature(x.data(), v.data(), nullptr, {0.7, box}),
                (at(h, unused) - 2 * q + at(-h, unused)) / (h * h), 1e-5);
}

} // namespace
