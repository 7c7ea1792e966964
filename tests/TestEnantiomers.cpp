// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Molecules that more distances hold than they need, and their mirror images, which have the same distances: positions
// decide which one a molecule is, and it stays that one.
#include "support/BodySystems.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Five or six atoms with all their distances. */
TestSystem chiral(int n, unsigned seed, const Real3& centre) {
    TestSystem system;
    system.name = "chiral";
    Random random(seed);
    while (system.numParticles() < n) {
        const Real3 r = centre + random.inCube(0.15);
        bool isApart = true;
        for (const Real3& other : system.positions)
            isApart = isApart && distance(r, other) > 0.09;
        if (!isApart)
            continue;
        for (int j = 0; j < system.numParticles(); j++)
            system.bonds.push_back({system.numParticles(), j, distance(r, system.positions[j])});
        system.masses.push_back(random.uniform(1, 20));
        system.positions.push_back(r);
    }
    return system;
}

Vec3 reflected(const Vec3& r) {
    return {-r[0], r[1], r[2]};
}

Vectors reflected(Vectors vectors) {
    for (Vec3& r : vectors)
        r = reflected(r);
    return vectors;
}

double volume(const Vectors& x, int first) {
    return (x[first + 1] - x[first]).cross(x[first + 2] - x[first]).dot(x[first + 3] - x[first]);
}

class Enantiomers : public testing::TestWithParam<Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const Precision precision = precisionOf(platform);
    const std::vector<TestSystem> parts{chiral(5, 1, {0.3, 0.2, 0.1}), chiral(6, 2, {0.9, 0.5, 0.1})};
    const double bound = 1e-10 + 300 * precision.position;

    Simulation begin(bool isMirrored) const {
        Simulation s = simulate(parts, Declared::InForce, GetParam(), 0.001, 1e-12);
        if (isMirrored)
            mirror(s);
        return s;
    }
    static void mirror(Simulation& s) {
        s.context->setPositions(reflected(s.positions()));
        s.context->setVelocities(reflected(s.velocities()));
    }
    void expectHeld(const Vectors& x, double scale = 1) const {
        const double drift = std::get<2>(GetParam()) == "ConstraintForce" ? 1e-5 : 0;
        int first = 0;
        for (const TestSystem& part : parts) {
            for (const TestSystem::Bond& bond : part.bonds) {
                const Vec3 r = x[first + bond.i] - x[first + bond.j];
                EXPECT_NEAR(std::sqrt(r.dot(r)), scale * bond.length, drift + 1e-10 + 10 * precision.position);
            }
            first += part.numParticles();
        }
    }
    void expectMirrored(const Vectors& x, const Vectors& y) const {
        EXPECT_LT(ConstraintTests::distance(reflected(x), y), bound);
    }
    void expectSameNumbers(const std::vector<double>& a, const std::vector<double>& b) const {
        ASSERT_EQ(a.size(), b.size());
        double largest = 0, difference = 0;
        for (std::size_t i = 0; i < a.size(); i++) {
            largest = std::max(largest, std::abs(a[i]));
            difference = std::max(difference, std::abs(a[i] - b[i]));
        }
        EXPECT_GT(largest, 1);
        EXPECT_LT(difference, (1e-7 + 1000 * precision.force) * largest);
    }
};

TEST_P(Enantiomers, MoveAsMirrorImagesInContextsSideBySide) {
    Simulation one = begin(false), other = begin(true);
    for (int round = 0; round < 4; round++) {
        one.integrator->step(5);
        other.integrator->step(5);
        expectMirrored(one.positions(), other.positions());
        expectSameNumbers(one.integrator->getMultipliers(), other.integrator->getMultipliers());
    }
    EXPECT_EQ(one.integrator->getNumDegreesOfFreedom(), 12);
    EXPECT_EQ(other.integrator->getNumDegreesOfFreedom(), 12);
    expectHeld(other.positions());
    EXPECT_GT(ConstraintTests::distance(one.positions(), positionsOf(parts)), 0.01);
}

TEST_P(Enantiomers, ExchangeInOneContext) {
    if (std::get<2>(GetParam()) == "RattleNoseHoover") // its chain remembers
        return;
    Simulation one = begin(false), other = begin(true);
    const Vectors x = other.positions(), v = other.velocities();
    other.integrator->step(5);
    one.integrator->step(7);
    const std::vector<double> before = one.integrator->getMultipliers();
    one.context->setPositions(x);
    one.context->setVelocities(v);
    EXPECT_EQ(one.integrator->getMultipliers(), before);
    one.integrator->step(5);
    EXPECT_LT(ConstraintTests::distance(one.positions(), other.positions()), bound);
    expectSameNumbers(one.integrator->getMultipliers(), other.integrator->getMultipliers());
}

/** One molecule of the two. */
TEST_P(Enantiomers, AreChosenOneByOne) {
    Simulation s = begin(false);
    s.integrator->step(3);
    Vectors x = s.positions();
    for (int i = 5; i < 11; i++)
        x[i] = reflected(x[i]);
    s.context->setPositions(x);
    s.integrator->applyVelocityConstraints();
    s.integrator->step(20);
    expectHeld(s.positions());
    for (int first : {0, 5})
        EXPECT_NEAR(volume(s.positions(), first), volume(x, first), 1e-6);
}

TEST_P(Enantiomers, AreReadBeforeAStep) {
    Simulation one = begin(false), other = begin(false);
    mirror(other);
    expectSameNumbers(one.integrator->computeMultipliers(), other.integrator->computeMultipliers());
    mirror(other);
    EXPECT_NEAR(other.context->getState(State::Energy).getKineticEnergy(),
                one.context->getState(State::Energy).getKineticEnergy(), 1e-5 + 100 * precision.force);
    mirror(other);
    other.context->setVelocitiesToTemperature(300, 2);
    other.integrator->applyVelocityConstraints();
    const Vectors x = other.positions(), v = other.velocities();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            EXPECT_NEAR((x[i] - x[j]).dot(v[i] - v[j]), 0, 1e-6 + 1e3 * precision.velocity);
}

TEST_P(Enantiomers, OfACheckpoint) {
    Simulation one = begin(false), other = begin(true), third = begin(true);
    one.integrator->step(4);
    third.integrator->step(2);
    std::stringstream stream;
    one.context->createCheckpoint(stream);
    const std::vector<double> multipliers = one.integrator->getMultipliers(),
                              ofVelocities = one.integrator->getVelocityMultipliers();
    const std::string checkpoint = stream.str();
    one.integrator->step(6);
    for (Simulation* s : {&other, &third}) {
        std::istringstream input(checkpoint);
        s->context->loadCheckpoint(input);
        EXPECT_EQ(s->integrator->getMultipliers(), multipliers);
        EXPECT_EQ(s->integrator->getVelocityMultipliers(), ofVelocities);
        s->integrator->step(6);
        EXPECT_EQ(ConstraintTests::distance(s->positions(), one.positions()), 0);
    }
}

TEST_P(Enantiomers, StayWhenLengthsChange) {
    Simulation s = begin(true);
    s.integrator->step(3);
    const Vectors before = s.positions();
    auto& force = dynamic_cast<ConstraintForce&>(s.system->getForce(0));
    for (int k = 0; k < force.getNumDistances(); k++) {
        int i, j;
        double length;
        force.getDistanceParameters(k, i, j, length);
        force.setDistanceParameters(k, i, j, 1.01 * length);
    }
    force.updateParametersInContext(*s.context);
    s.integrator->step(5);
    expectHeld(s.positions(), 1.01);
    for (int first : {0, 5})
        EXPECT_GT(volume(s.positions(), first) / volume(before, first), 0.9);
}

TEST_P(Enantiomers, OfPositionsThatAreOff) {
    Simulation s = begin(true);
    Vectors x = s.positions();
    Random random(5);
    for (Vec3& r : x) {
        const Real3 shift = random.inCube(0.01);
        r += Vec3(shift.x, shift.y, shift.z);
    }
    s.context->setPositions(x);
    s.integrator->applyConstraints();
    expectHeld(s.positions());
    for (int first : {0, 5})
        EXPECT_GT(volume(s.positions(), first) * volume(x, first), 0);
}

std::vector<Setup> setups() {
    return bodySetups({"Rattle", "Shake", "RattleNoseHoover", "ConstraintForce"});
}

INSTANTIATE_TEST_SUITE_P(Platforms, Enantiomers, testing::ValuesIn(setups()),
                         [](const auto& info) { return nameOf(info.param); });

/** Many in one box, every other one mirrored: a device reorders equal molecules, and a barostat moves them. */
class ManyEnantiomers : public testing::TestWithParam<std::string> {};

TEST_P(ManyEnantiomers, StayWhatTheyAre) {
    constexpr int side = 4, count = side * side * side;
    const double edge = 2.4;
    const TestSystem molecule = chiral(5, 1, {});
    System system;
    system.setDefaultPeriodicBoxVectors({edge, 0, 0}, {0, edge, 0}, {0, 0, edge});
    auto* force = new ConstraintForce();
    auto* charges = new NonbondedForce();
    charges->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    charges->setCutoffDistance(0.8);
    Vectors x;
    for (int m = 0; m < count; m++) {
        const Real3 centre{0.6 * (m % side), 0.6 * (m / side % side), 0.6 * (m / side / side)};
        for (const TestSystem::Bond& bond : molecule.bonds)
            force->addDistance(5 * m + bond.i, 5 * m + bond.j, bond.length);
        for (int i = 0; i < 5; i++) {
            Real3 r = molecule.positions[i];
            r.y = m % 2 == 0 ? r.y : -r.y;
            x.push_back({centre.x + r.x, centre.y + r.y, centre.z + r.z});
            system.addParticle(molecule.masses[i]);
            charges->addParticle(0.1 * (i - 2), 0.2, 0.3);
            for (int j = 0; j < i; j++)
                charges->addException(5 * m + i, 5 * m + j, 0, 1, 0);
        }
    }
    system.addForce(force);
    system.addForce(charges);
    system.addForce(new MonteCarloBarostat(100, 300, 10));
    RattleLangevinIntegrator integrator(300, 5, 0.001);
    integrator.setRandomNumberSeed(3);
    integrator.setConstraintTolerance(1e-8);
    auto context = makeContext(system, integrator, GetParam());
    context->setPositions(x);
    context->setVelocitiesToTemperature(300, 1);
    for (int round = 0; round < 3; round++) {
        integrator.step(200);
        const Vectors now = context->getState(State::Positions).getPositions();
        for (int m = 0; m < count; m++) {
            EXPECT_NEAR(volume(now, 5 * m) / volume(x, 5 * m), 1, 1e-2) << m;
            for (const TestSystem::Bond& bond : molecule.bonds) {
                const Vec3 r = now[5 * m + bond.i] - now[5 * m + bond.j];
                EXPECT_NEAR(std::sqrt(r.dot(r)) / bond.length, 1, attainable(GetParam(), 1e-7)) << m;
            }
        }
        if (round == 0) { // all of them turned to the other side
            for (std::size_t i = 0; i < x.size(); i++)
                x[i] = reflected(now[i]);
            context->setPositions(x);
            integrator.applyVelocityConstraints();
        }
    }
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 6 * count);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ManyEnantiomers, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

/** As before: a declared body has its handedness. */
TEST(Enantiomer, OfADeclaredShapeIsRefused) {
    const TestSystem molecule = chiral(5, 1, {});
    for (const char* platform : {"Reference", "CPU"}) {
        System system;
        for (double mass : molecule.masses)
            system.addParticle(mass);
        auto* force = new ConstraintForce();
        force->addRigidBody({0, 1, 2, 3, 4}, toVectors(molecule.positions));
        for (const TestSystem::Bond& bond : molecule.bonds) // the body holds them
            force->addDistance(bond.i, bond.j, bond.length);
        system.addForce(force);
        RattleIntegrator integrator(0.001);
        auto context = makeContext(system, integrator, platform);
        context->setPositions(reflected(toVectors(molecule.positions)));
        EXPECT_EQ(problemThrownBy([&] { integrator.step(1); }).kind, "mirror-image");
        context->setPositions(toVectors(molecule.positions));
        EXPECT_NO_THROW(integrator.step(1));
    }
}

} // namespace
