// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Coordination numbers of two groups.
#include "CollectConstraints.h"
#include "ConstraintGraph.h"
#include "CoordinationNumber.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Variable.h"
#include "support/Xml.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** How pairs count, written as it is defined. */
struct Switch {
    double r0;
    int n = 6, m = 12;
    double cutoff = 0;

    double end() const {
        return cutoff > 0 ? cutoff : r0 * std::pow(1e-5, 1.0 / (n - m));
    }
    double plain(double r) const {
        return std::abs(r / r0 - 1) < 1e-9 ? (double) n / m : (1 - std::pow(r / r0, n)) / (1 - std::pow(r / r0, m));
    }
    double at(double r) const {
        const double c = end(), x = (r * r - 0.81 * c * c) / (0.19 * c * c);
        const double last = x <= 0 ? 1 : 1 - x * x * x * (10 - 15 * x + 6 * x * x);
        return r >= c ? 0 : (plain(r) - plain(c)) / (1 - plain(c)) * last;
    }
};

Vec3 minimumImage(Vec3 r, const Vectors& box) {
    for (int axis = 2; axis >= 0 && !box.empty(); axis--)
        r -= box[axis] * std::round(r[axis] / box[axis][axis]);
    return r;
}

double numberOf(const Vectors& x, const std::vector<int>& group1, const std::vector<int>& group2, const Switch& f,
                const Vectors& box = {}) {
    double sum = 0;
    for (int i : group1)
        for (int j : group2)
            sum += i == j ? 0 : f.at(length(minimumImage(x[i] - x[j], box)));
    return sum;
}

/** Rigid waters, a rigid body that is bonded, and ions. The first group are the ions and a particle of the body, the
 *  second ones the oxygens, that particle and an ion; the first ion and an oxygen have a bond, too. */
struct Shells {
    std::unique_ptr<System> system = std::make_unique<System>();
    ConstraintForce* constraints = new ConstraintForce();
    Vectors positions, box;
    std::vector<int> group1, group2;
    const Switch f = {0.28, 6, 12, 0.6};
    double start;

    enum class Place { NoBox, Triclinic };
    explicit Shells(Place place, double rate = 0) {
        const Vectors water = {{0, 0, 0}, {0.09572, 0, 0}, {-0.024, 0.092663, 0}};
        const auto add = [&](double mass, const Vec3& x) {
            positions.push_back(x);
            return system->addParticle(mass);
        };
        const auto bond = [&](int i, int j) { constraints->addDistance(i, j, length(positions[i] - positions[j])); };
        for (int w = 0; w < 4; w++) {
            const Vec3 origin(0.3 * (w % 2), 0.28 * (w / 2), 0.05 * w);
            const int first = add(16, origin);
            add(1, origin + water[1]);
            add(1, origin + Vec3(water[2][0], 0.6 * water[2][1], 0.8 * water[2][1]));
            group2.push_back(first);
            for (int i = 0; i < 3; i++)
                bond(first + i, first + (i + 1) % 3);
        }
        Vectors shape;
        std::vector<int> body;
        for (const Vec3& x : {Vec3(0.5, 0.2, 0.3), Vec3(0.62, 0.2, 0.3), Vec3(0.55, 0.3, 0.3), Vec3(0.55, 0.25, 0.4)}) {
            body.push_back(add(12, x));
            shape.push_back(x);
        }
        constraints->addRigidBody(body, shape);
        const int hydrogen = add(1, {0.7, 0.25, 0.25});
        bond(hydrogen, body[1]);
        for (const Vec3& x : {Vec3(0.15, 0.14, 0.25), Vec3(0.4, 0.4, -0.1), Vec3(0.1, -0.2, 0.1)})
            group1.push_back(add(23, x));
        bond(group1[0], group2[1]);
        for (std::vector<int>* group : {&group1, &group2})
            group->push_back(body[2]);
        group2.push_back(group1[1]);
        auto* springs = new HarmonicBondForce();
        for (int by : {4, 7})
            for (int p = 0; p + by < system->getNumParticles(); p++)
                springs->addBond(p, p + by, 0.9 * length(positions[p + by] - positions[p]), 800);
        if (place == Place::Triclinic) {
            box = {Vec3(1.5, 0, 0), Vec3(0.4, 1.4, 0), Vec3(-0.5, 0.6, 1.3)};
            system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
            springs->setUsesPeriodicBoundaryConditions(true);
            constraints->setUsesPeriodicBoundaryConditions(true);
            for (std::size_t p = 0; p < positions.size(); p++) // any image will do
                positions[p] += box[p % 3] * ((int) (p % 5) - 2);
        }
        start = number(positions);
        constraints->addCoordinationNumber(group1, group2, start, f.r0, f.n, f.m, f.cutoff, rate);
        system->addForce(constraints);
        system->addForce(springs);
    }
    double number(const Vectors& x) const {
        return numberOf(x, group1, group2, f, box);
    }
    Vectors velocities() const {
        Vectors v;
        for (std::size_t i = 0; i < positions.size(); i++)
            v.emplace_back(0.5 * std::cos(3.0 * i), 0.5 * std::sin(5.0 * i), 0.4 * std::cos(7.0 * i));
        return v;
    }
    Simulation simulate(const ConstraintTests::Setup& setup, double stepSize) {
        Simulation s(std::move(system), makeIntegrator(setup, stepSize, 1e-11), std::get<0>(setup));
        s.context->setPositions(positions);
        s.context->setVelocities(velocities());
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
        return s;
    }
    /** How far the number may be off: its error is a length, times the gradient of some pairs. */
    static double bound(const std::string& platform) {
        return 20 * std::max(1e-11, attainable(platform, 1e-11, 0.3) * 0.3);
    }
};

} // namespace

// ---- q, its gradient and its curvature

TEST(CoordinationNumber, IsTheSumThatDefinesIt) {
    Random random(1);
    for (const Switch& f : {Switch{0.3}, Switch{0.3, 6, 12, 0.7}, Switch{0.25, 8, 20}, Switch{0.4, 2, 4, 0.8},
                            Switch{0.3, 12, 14, 0.9}, Switch{0.3, 6, 10, 0.5}})
        for (bool periodic : {false, true}) {
            const Vectors box = {Vec3(2.5, 0, 0), Vec3(0.7, 2.4, 0), Vec3(-0.9, 1.1, 2.3)};
            Vectors x;
            std::vector<Real3> y, gradient(8);
            for (int i = 0; i < 8; i++) {
                const Real3 r = random.inCube(periodic ? 2 : 0.5);
                x.emplace_back(r.x, r.y, r.z);
                y.push_back(r);
            }
            x[7] = x[0] + Vec3(0, f.r0, 0); // where numerator and denominator vanish
            y[7] = y[0] + Real3{0, f.r0, 0};
            CoordinationNumber number(2, 3, 3, periodic); // 3 of both groups
            const auto parameters = CoordinationNumber::parametersOf(f.r0, f.n, f.m, f.cutoff);
            const CustomCoordinate::StepState state{0, {{2.5, 0, 0}, {0.7, 2.4, 0}, {-0.9, 1.1, 2.3}}};
            EXPECT_NEAR(number.evaluate(y.data(), parameters.data(), state, gradient.data()),
                        numberOf(x, {0, 1, 2, 3, 4}, {2, 3, 4, 5, 6, 7}, f, periodic ? box : Vectors()), 1e-12);
            EXPECT_EQ(number.largestValue(), 5 * 6 - 3);
            EXPECT_NEAR(number.valueWithImages(y.data(), parameters.data(), state.box),
                        numberOf(x, {0, 1, 2, 3, 4}, {2, 3, 4, 5, 6, 7}, f, box), 1e-12);
        }
}

TEST(CoordinationNumber, HasDerivativesOfFiniteDifferencesAtAnyDistance) {
    for (const Switch& f : {Switch{0.3, 6, 12, 0.7}, Switch{0.25, 8, 20}, Switch{0.4, 2, 4, 0.8}}) {
        const auto parameters = CoordinationNumber::parametersOf(f.r0, f.n, f.m, f.cutoff);
        CoordinationNumber number(1, 0, 1, false);
        const Real3 axis = {0.6, 0.64, 0.48}, v[2] = {{0.3, -0.2, 0.5}, {-0.4, 0.1, 0.2}};
        std::vector<double> distances = {0.02, 0.9 * f.r0, f.r0, 1.0001 * f.r0, 2 * f.r0};
        for (double part : {0.5, 0.899, 0.901, 0.95, 0.99, 0.9999}) // of the cutoff
            distances.push_back(part * f.end());
        for (double r : distances) {
            std::vector<Real3> gradient(2), unused(2);
            const double h = 1e-5;
            const auto at = [&](double by, std::vector<Real3>& g) {
                const Real3 x[2] = {r * axis + by * v[0], by * v[1]};
                return number.evaluate(x, parameters.data(), {}, g.data());
            };
            const Real3 x[2] = {r * axis, {}};
            at(0, gradient);
            EXPECT_NEAR(dot(gradient[0], v[0]) + dot(gradient[1], v[1]), (at(h, unused) - at(-h, unused)) / (2 * h),
                        1e-6)
                << r;
            std::vector<Real3> after(2), before(2);
            at(h, after);
            at(-h, before);
            double second = 0;
            for (int i : {0, 1})
                second += dot(v[i], after[i] - before[i]) / (2 * h);
            EXPECT_NEAR(number.curvature(x, v, parameters.data(), {}), second, 1e-4) << r;
            double tensor[9] = {};
            number.addInternalVirial(x, parameters.data(), {}, 2, tensor);
            EXPECT_NEAR(tensor[0], 2 * r * axis.x * gradient[0].x, 1e-12);
            EXPECT_NEAR(tensor[1], 2 * r * axis.x * gradient[0].y, 1e-12);
        }
        const Real3 beyond[2] = {1.000001 * f.end() * axis, {}};
        std::vector<Real3> gradient(2);
        EXPECT_EQ(number.evaluate(beyond, parameters.data(), {}, gradient.data()), 0);
        EXPECT_EQ(dot(gradient[0], gradient[0]), 0);
    }
}

TEST(CoordinationNumber, MergesNoClusters) {
    Shells shells(Shells::Place::NoBox);
    const ConstraintSet set = collectConstraints(*shells.system, 1e-4);
    std::vector<int> all;
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (!set.isIgnored(set.constraints[k]))
            all.push_back(k);
    EXPECT_EQ(ConstraintGraph(set, all, Method::Automatic, 10, Centroids::Bordered).border.rows.size(), 1u);
    EXPECT_EQ(ConstraintGraph(set, all, Method::Automatic, 10, Centroids::BorderedIfLarge).border.rows.size(), 0u);
    System ions;
    auto* force = new ConstraintForce();
    std::vector<int> groups[2];
    for (int i = 0; i < 34; i++)
        groups[i % 2].push_back(ions.addParticle(1));
    force->addCoordinationNumber(groups[0], groups[1], 4, 0.3);
    ions.addForce(force);
    EXPECT_EQ(ConstraintGraph(collectConstraints(ions, 1e-4), {0}, Method::Automatic, 10, Centroids::BorderedIfLarge)
                  .border.rows.size(),
              1u); // many pairs
}

TEST(CoordinationNumber, OfAtomsOfARigidBodyIsHeldByIt) {
    const Vectors shape = {Vec3(), Vec3(0.2, 0, 0), Vec3(0.1, 0.25, 0), Vec3(0.05, 0.1, 0.2)};
    const Switch f = {0.2};
    for (double off : {0.0, 0.1}) {
        System system;
        auto* force = new ConstraintForce();
        for (int i = 0; i < 4; i++)
            system.addParticle(10);
        force->addRigidBody({0, 1, 2, 3}, shape);
        force->addCoordinationNumber({0, 1}, {1, 2, 3}, numberOf(shape, {0, 1}, {1, 2, 3}, f) + off, f.r0);
        system.addForce(force);
        RattleIntegrator integrator(0.001);
        const auto make = [&] {
            const auto context = makeContext(system, integrator, "Reference");
            context->setPositions(shape);
            EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 6);
            integrator.step(1);
            EXPECT_EQ(force->getMultipliers(*context)[0], 0);
        };
        const std::string message = messageOf(make);
        if (off == 0)
            EXPECT_EQ(message, "");
        else
            expectAll(message, {"coordination number 0 of the ConstraintForce with index 0", "is given as",
                                "in the shape of rigid body 0", "setCoordinationNumberParameters(0"});
    }
}

TEST(CoordinationNumber, SurvivesItsXml) {
    ConstraintForce force;
    force.addGlobalParameter("lambda", 0);
    force.addCoordinationNumber({3, 0}, {1, 3, 5}, 1.0 / 3, 2.0 / 7, 8, 14, 5.0 / 9, 1.0 / 11, 1e3 / 7);
    force.setCoordinationNumberInterpolation(0, "lambda", 2.0 / 3);
    force.addCoordinationNumber({0}, {1}, 0.5, 0.3);
    const auto other = fromXml<Force>(toXml<Force>(force, "Force"));
    const auto& copy = dynamic_cast<const ConstraintForce&>(*other);
    ASSERT_EQ(copy.getNumCoordinationNumbers(), 2);
    for (int i : {0, 1}) {
        const auto parameters = [&](const ConstraintForce& f) {
            std::vector<int> first, second;
            double number, r0, cutoff, number1;
            int n, m;
            std::string parameter;
            f.getCoordinationNumberParameters(i, first, second, number, r0, n, m, cutoff);
            f.getCoordinationNumberInterpolation(i, parameter, number1);
            return std::make_tuple(first, second, number, r0, n, m, cutoff, f.getCoordinationNumberRate(i),
                                   f.getCoordinationNumberStartTime(i), parameter, number1); // every bit
        };
        EXPECT_EQ(parameters(copy), parameters(force));
    }
}

// ---- steps

class CoordinationNumbers : public testing::TestWithParam<ConstraintTests::Setup> {
    // By all threads of a group on devices with Rattle; those that are CPUs merge clusters otherwise.
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", std::get<2>(GetParam()) == "Rattle" ? "1" : "0"};

protected:
    const std::string platform = std::get<0>(GetParam());
};

TEST_P(CoordinationNumbers, KeepTheirValueAndTheEnergy) {
    for (Shells::Place place : {Shells::Place::NoBox, Shells::Place::Triclinic}) {
        if (isDevice(platform) && (place == Shells::Place::Triclinic) != (std::get<2>(GetParam()) == "Rattle"))
            continue; // compiling takes long
        Shells shells(place);
        Simulation s = shells.simulate(GetParam(), 0.0005);
        const int particles = s.system->getNumParticles();
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 3 * particles - 12 - (12 - 6) - 2 - 1);
        const double energy = s.energy();
        for (int block = 0; block < 5; block++) {
            s.integrator->step(isDevice(platform) ? 20 : 100);
            EXPECT_NEAR(shells.number(s.positions()), shells.start, Shells::bound(platform));
            EXPECT_NEAR(s.energy(), energy,
                        (std::get<2>(GetParam()) == "FrictionlessLangevin" ? 0.1 : 0.005) * std::abs(energy));
        }
        EXPECT_GT(distance(s.positions(), shells.positions), 0.01);
    }
}

INSTANTIATE_TEST_SUITE_P(All, CoordinationNumbers, testing::ValuesIn(constantEnergySetups()),
                         [](const auto& info) { return nameOf(info.param); });

TEST(CoordinationNumber, IsHeldByEveryOtherIntegrator) {
    for (const char* platform : {"Reference", "CPU"})
        for (const char* integrator : {"RattleLangevin", "GeodesicLangevin", "RattleNoseHoover", "RattleMTS",
                                       "RattleMTSLangevin", "ConstraintForce"}) {
            SCOPED_TRACE(std::string(platform) + integrator);
            Shells shells(Shells::Place::Triclinic);
            Simulation s = shells.simulate({platform, ConstraintIntegrator::Automatic, integrator}, 0.0005);
            s.integrator->step(40);
            const bool drifts = std::string(integrator) == "ConstraintForce";
            EXPECT_NEAR(shells.number(s.positions()), shells.start, drifts ? 1e-3 : Shells::bound(platform));
            EXPECT_GT(distance(s.positions(), shells.positions), 0.005);
        }
}

class ChangingNumbers : public CoordinationNumbers {};

TEST_P(ChangingNumbers, FollowARateAParameterAndAnUpdate) {
    Shells shells(Shells::Place::NoBox, 2);
    ConstraintForce& force = *shells.constraints;
    force.addGlobalParameter("lambda", 0);
    force.setCoordinationNumberInterpolation(0, "lambda", shells.start + 0.2);
    Simulation s = shells.simulate(GetParam(), 0.0005);
    s.integrator->step(40);
    EXPECT_NEAR(shells.number(s.positions()), shells.start + 2 * 0.02, Shells::bound(platform));
    s.context->setParameter("lambda", 0.5);
    s.integrator->step(20);
    EXPECT_NEAR(shells.number(s.positions()), shells.start + 2 * 0.03 + 0.1, Shells::bound(platform));
    std::vector<int> groups[2];
    double number, r0, cutoff;
    int n, m;
    force.getCoordinationNumberParameters(0, groups[0], groups[1], number, r0, n, m, cutoff);
    force.setCoordinationNumberParameters(0, groups[0], groups[1], number - 0.1, r0, 8, 14, 0.55);
    force.setCoordinationNumberRate(0, 0);
    const double now = numberOf(s.positions(), groups[0], groups[1], {r0, 8, 14, 0.55});
    force.setCoordinationNumberParameters(0, groups[0], groups[1], now - 0.05, r0, 8, 14, 0.55);
    force.setCoordinationNumberInterpolation(0, "", 0);
    force.updateParametersInContext(*s.context);
    s.integrator->step(10);
    EXPECT_NEAR(numberOf(s.positions(), groups[0], groups[1], {r0, 8, 14, 0.55}), now - 0.05, Shells::bound(platform));
}

INSTANTIATE_TEST_SUITE_P(All, ChangingNumbers, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });

class ManyPairs : public testing::TestWithParam<std::string> {
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"};
};

/** A hundred ions, each between rigid waters, in a box. */
TEST_P(ManyPairs, AreHeldAmongRigidWaters) {
    auto system = std::make_unique<System>();
    auto* constraints = new ConstraintForce();
    const Vectors box = {Vec3(1.7, 0, 0), Vec3(0, 1.7, 0), Vec3(0, 0, 1.7)},
                  water = {{0.1, 0.1, 0.1}, {0.19572, 0.1, 0.1}, {0.076, 0.192663, 0.1}};
    system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
    Vectors positions, velocities;
    std::vector<int> ions, oxygens;
    for (int i = 0; i < 100; i++) {
        const Vec3 at(0.34 * (i % 5), 0.34 * (i / 5 % 5), 0.42 * (i / 25));
        ions.push_back(system->addParticle(23));
        positions.push_back(at);
        oxygens.push_back(system->addParticle(16));
        system->addParticle(1);
        system->addParticle(1);
        for (const Vec3& x : water)
            positions.push_back(at + x);
        for (int bond = 0; bond < 3; bond++)
            system->addConstraint(4 * i + 1 + bond, 4 * i + 1 + (bond + 1) % 3,
                                  length(water[bond] - water[(bond + 1) % 3]));
    }
    for (std::size_t p = 0; p < positions.size(); p++)
        velocities.emplace_back(0.3 * std::cos(3.0 * p), 0.3 * std::sin(5.0 * p), 0.3 * std::cos(7.0 * p));
    const Switch f = {0.3, 8, 18, 0.85};
    const double number = numberOf(positions, ions, oxygens, f, box) + 1;
    constraints->addCoordinationNumber(ions, oxygens, number, f.r0, f.n, f.m, f.cutoff, 10);
    constraints->setUsesPeriodicBoundaryConditions(true);
    system->addForce(constraints);
    Simulation s(std::move(system),
                 makeIntegrator({GetParam(), ConstraintIntegrator::Automatic, "Rattle"}, 0.001, 1e-9), GetParam());
    s.context->setPositions(positions);
    s.context->setVelocities(velocities);
    s.integrator->applyConstraints();
    s.integrator->step(10);
    const double bound = 100 * std::max(1e-9, attainable(GetParam(), 1e-9, 0.3) * 0.3); // many gradients
    EXPECT_NEAR(numberOf(s.positions(), ions, oxygens, f, box), number + 0.1, bound);
    for (int i : oxygens)
        EXPECT_NEAR(length(s.positions()[i] - s.positions()[i + 1]), 0.09572, attainable(GetParam(), 1e-9, 0.1) * 0.1);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ManyPairs, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

/** Two atoms on springs to a third one, whose distance or coordination number of one pair is held: the same motion. */
static Simulation pairOf(const ConstraintTests::Setup& setup, bool byNumber, const Switch& f, double r) {
    auto system = std::make_unique<System>();
    for (double mass : {23.0, 16.0, 40.0})
        system->addParticle(mass);
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, 2, 0.2, 3000);
    springs->addBond(1, 2, 0.25, 2000);
    springs->addBond(0, 1, 0.2, 4000);
    auto* constraints = new ConstraintForce();
    if (byNumber)
        constraints->addCoordinationNumber({0}, {1}, f.at(r), f.r0, f.n, f.m, f.cutoff);
    else
        constraints->addDistance(0, 1, r);
    system->addForce(springs);
    system->addForce(constraints);
    Simulation s(std::move(system), makeIntegrator(setup, 0.001, 1e-12), std::get<0>(setup));
    s.context->setPositions({{0, 0, 0}, {r, 0, 0}, {0.1, 0.2, 0.05}});
    s.context->setVelocities({{0.3, 0.1, 0}, {-0.2, 0.5, 0.1}, {0.2, 0, 0.3}});
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    return s;
}

class OnePair : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(OnePair, HasTheReadingsOfItsDistanceByTheChainRule) {
    const std::string platform = std::get<0>(GetParam());
    const Switch f = {0.3, 6, 12, 0.7};
    for (double r : {0.27, 0.3, 0.45}) {
        if (isDevice(platform) && r < 0.4)
            continue;
        Simulation number = pairOf(GetParam(), true, f, r), length = pairOf(GetParam(), false, f, r);
        const double h = 1e-5, slope = (f.at(r + h) - f.at(r - h)) / (2 * h),
                     second = (f.at(r + h) - 2 * f.at(r) + f.at(r - h)) / (h * h);
        for (Simulation* s : {&number, &length})
            s->integrator->step(20);
        const Precision precision = precisionOf(platform);
        const double exact = 1e-6 + 100 * precision.position + 100 * precision.constraint;
        EXPECT_LT(distance(number.positions(), length.positions()), exact);
        const double ofNumber = number.integrator->getMultipliers()[0], force = length.integrator->getMultipliers()[0];
        EXPECT_GT(std::abs(force), 20);
        EXPECT_NEAR(ofNumber * slope, force, 1e5 * exact);
        EXPECT_LT(distance(number.integrator->getConstraintForces(), length.integrator->getConstraintForces()),
                  1e5 * exact);
        EXPECT_LT(distance(number.integrator->getConstraintVirial(), length.integrator->getConstraintVirial()),
                  1e5 * exact);
        // A(s) = A(r) + kT ln|ds/dr|, so that G_s ds/dr = G_r + d ln|ds/dr|/dr; Z_s = Z_r (ds/dr)^2
        std::vector<double> forces[2], G[2];
        double logZ[2];
        number.integrator->computeBlueMoon({0}, forces[0], G[0], logZ[0]);
        length.integrator->computeBlueMoon({0}, forces[1], G[1], logZ[1]);
        EXPECT_NEAR(forces[0][0] * slope, forces[1][0], 1e5 * exact);
        EXPECT_NEAR(logZ[0], logZ[1] + 2 * std::log(std::abs(slope)), 1e-4 + 100 * exact);
        EXPECT_NEAR(G[0][0] * slope, G[1][0] + second / slope, 1e-3 + 1e3 * exact);
    }
}

INSTANTIATE_TEST_SUITE_P(All, OnePair, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });
