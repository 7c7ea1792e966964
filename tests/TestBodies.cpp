// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in motion: declared by addRigidBody, or recognized in singular sets of plain distances.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A rigid molecule: masses, places, the distances that hold it, and its degrees of freedom. */
struct Molecule {
    std::string name;
    std::vector<double> masses;
    Vectors shape;
    std::vector<std::pair<int, int>> distances; // empty: all
    int degreesOfFreedom;
    bool isSingular; // by these distances
};

Vectors benzeneShape() {
    Vectors x;
    for (double radius : {0.1397, 0.2481})
        for (int i = 0; i < 6; i++)
            x.emplace_back(radius * std::cos(M_PI / 3 * i), radius * std::sin(M_PI / 3 * i), 0);
    return x;
}

std::vector<std::pair<int, int>> closerThan(const Vectors& x, double cutoff) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < (int) x.size(); i++)
        for (int j = i + 1; j < (int) x.size(); j++)
            if ((x[i] - x[j]).dot(x[i] - x[j]) < cutoff * cutoff)
                pairs.emplace_back(i, j);
    return pairs;
}

const std::vector<Molecule>& molecules() {
    const std::vector<double> benzeneMasses = {12, 12, 12, 12, 12, 12, 1, 1, 1, 1, 1, 1};
    static const std::vector<Molecule> all = {
        {"carbonDioxide", {12, 16, 16}, {Vec3(), Vec3(0.116, 0, 0), Vec3(-0.116, 0, 0)}, {}, 5, true},
        {"unequalRod", {12, 1, 16, 30}, {Vec3(), Vec3(0, 0.106, 0), Vec3(0, -0.12, 0), Vec3(0, -0.27, 0)}, {}, 5, true},
        {"acetonitrile",
         {12, 12, 14, 1, 1, 1},
         {Vec3(), Vec3(0.146, 0, 0), Vec3(0.262, 0, 0), Vec3(-0.04, 0.1, 0), Vec3(-0.04, -0.05, 0.0866),
          Vec3(-0.04, -0.05, -0.0866)},
         {},
         6,
         true},
        {"square", {10, 12, 14, 16}, {Vec3(), Vec3(0.2, 0, 0), Vec3(0.2, 0.2, 0), Vec3(0, 0.2, 0)}, {}, 6, true},
        {"benzene66", benzeneMasses, benzeneShape(), {}, 6, true},
        {"benzene30", benzeneMasses, benzeneShape(), closerThan(benzeneShape(), 0.26), 6, true},
        {"tetrahedron",
         {10, 12, 14, 16},
         {Vec3(), Vec3(0.2, 0, 0), Vec3(0.05, 0.2, 0), Vec3(0.1, 0.05, 0.2)},
         {},
         6,
         false},
        {"diatomic", {14, 16}, {Vec3(), Vec3(0.115, 0, 0)}, {}, 5, false},
        {"water", {16, 1, 1}, {Vec3(), Vec3(0.0757, 0.0586, 0), Vec3(-0.0757, 0.0586, 0)}, {}, 6, false},
        {"cluster",
         {10, 12, 14, 16, 1, 2, 5},
         {Vec3(), Vec3(0.2, 0, 0), Vec3(0.05, 0.2, 0), Vec3(0.1, 0.05, 0.2), Vec3(0.2, 0.2, 0.2), Vec3(-0.1, 0, 0.1),
          Vec3(0, 0, 0.3)},
         {},
         6,
         false}};
    return all;
}

enum class How { Distances, SystemDistances, Body };

using Case = std::tuple<How, ConstraintTests::Setup>;

/** Rotate a vector, so that no molecule lies along an axis. */
Vec3 turned(const Vec3& r) {
    const double c = std::cos(0.7), s = std::sin(0.7);
    const Vec3 a(c * r[0] - s * r[1], s * r[0] + c * r[1], r[2]);
    return Vec3(a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]);
}

/** Of each of some molecules a pair, with springs between all its particles: pairs side by side, which a device
 * compiles and steps as one. */
Simulation start(const std::vector<Molecule>& some, How how, const ConstraintTests::Setup& setup, double stepSize,
                 double rounding = 0) {
    auto system = std::make_unique<System>();
    auto* constraints = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    Vectors positions, velocities;
    auto rounded = [&](double d) { return rounding == 0 ? d : rounding * std::round(d / rounding); };
    for (const Molecule& molecule : some) {
        const int n = (int) molecule.masses.size(), first = system->getNumParticles();
        Random random(4);
        for (int copy : {0, 1}) {
            std::vector<int> particles;
            for (int i = 0; i < n; i++) {
                particles.push_back(system->addParticle(molecule.masses[i]));
                positions.push_back(turned(molecule.shape[i]) + Vec3(0, 0, 0.4) * copy);
                const Real3 v = random.inCube(1);
                velocities.emplace_back(v.x, v.y, v.z);
            }
            const auto pairs = molecule.distances.empty() ? closerThan(molecule.shape, 1e9) : molecule.distances;
            for (const auto& [i, j] : pairs) {
                const double d = rounded(length(molecule.shape[i] - molecule.shape[j]));
                if (how == How::SystemDistances)
                    system->addConstraint(particles[i], particles[j], d);
                else if (how == How::Distances)
                    constraints->addDistance(particles[i], particles[j], d);
            }
            if (how == How::Body)
                constraints->addRigidBody(particles, molecule.shape);
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                springs->addBond(first + i, first + n + j, 0.3, 400.0 / n);
    }
    system->addForce(constraints);
    system->addForce(springs);
    Simulation simulation(std::move(system), makeIntegrator(setup, stepSize, 1e-10), std::get<0>(setup));
    simulation.context->setPositions(positions);
    simulation.context->setVelocities(velocities);
    simulation.integrator->applyConstraints();
    simulation.integrator->applyVelocityConstraints();
    return simulation;
}

Simulation start(const Molecule& molecule, How how, const ConstraintTests::Setup& setup, double stepSize,
                 double rounding = 0) {
    return start(std::vector<Molecule>{molecule}, how, setup, stepSize, rounding);
}

/** Largest relative deviation of any distance within a molecule from its shape. */
double deformation(const Molecule& molecule, const Vectors& x) {
    const int n = (int) molecule.masses.size();
    double largest = 0;
    for (int copy : {0, 1})
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                const double d = length(molecule.shape[i] - molecule.shape[j]);
                largest = std::max(largest, std::abs(length(x[copy * n + i] - x[copy * n + j]) / d - 1));
            }
    return largest;
}

class Bodies : public testing::TestWithParam<Case> {
protected:
    const How how = std::get<0>(GetParam());
    const ConstraintTests::Setup setup = std::get<1>(GetParam());
    const Precision precision = precisionOf(std::get<0>(setup));
};

/** What belongs to each molecule's pair in vectors of all. */
std::vector<Vectors> pairsOf(const Vectors& all, const std::vector<Molecule>& some = molecules()) {
    std::vector<Vectors> pairs;
    auto first = all.begin();
    for (const Molecule& molecule : some) {
        pairs.emplace_back(first, first + 2 * molecule.masses.size());
        first += 2 * molecule.masses.size();
    }
    return pairs;
}

/** Linear and angular momentum of every pair. */
std::vector<std::pair<Vec3, Vec3>> momenta(const Simulation& simulation) {
    const std::vector<Vectors> x = pairsOf(simulation.positions()), v = pairsOf(simulation.velocities());
    std::vector<std::pair<Vec3, Vec3>> result(x.size());
    for (std::size_t m = 0; m < x.size(); m++)
        for (std::size_t i = 0; i < x[m].size(); i++) {
            const std::vector<double>& masses = molecules()[m].masses;
            const Vec3 p = v[m][i] * masses[i % masses.size()];
            result[m].first += p;
            result[m].second += x[m][i].cross(p);
        }
    return result;
}

TEST_P(Bodies, KeepTheirShapeEnergyAndMomenta) {
    Simulation simulation = start(molecules(), how, setup, 0.0005);
    int degreesOfFreedom = 0;
    for (const Molecule& molecule : molecules())
        degreesOfFreedom += 2 * molecule.degreesOfFreedom;
    EXPECT_EQ(simulation.integrator->getNumDegreesOfFreedom(), degreesOfFreedom);
    const double energy = simulation.energy();
    const auto before = momenta(simulation);
    const bool isInStep = std::get<2>(setup) == "Rattle";
    const int steps = isDevice(std::get<0>(setup)) ? 100 : 250;
    for (int block = 0; block < 5; block++) {
        simulation.integrator->step(steps / 5);
        EXPECT_NEAR(simulation.energy(), energy, (isInStep ? 2e-3 : 0.05) * std::abs(energy));
        // Rounded velocities of masses of some 10 amu; forces that OpenMM rounds are not quite opposite.
        const double rounding = 10 * steps * precision.velocity + precision.force;
        const auto after = momenta(simulation);
        const std::vector<Vectors> x = pairsOf(simulation.positions());
        for (std::size_t m = 0; m < molecules().size(); m++) {
            SCOPED_TRACE(molecules()[m].name);
            EXPECT_LT(deformation(molecules()[m], x[m]), attainable(std::get<0>(setup), 1e-9));
            EXPECT_LT(length(after[m].first - before[m].first), 1e-9 + rounding);
            if (isInStep) {
                EXPECT_LT(length(after[m].second - before[m].second), 1e-6 + rounding);
            }
        }
    }
}

/** Those of velocity Verlet. */
class BodiesOfRattle : public Bodies {};

TEST_P(BodiesOfRattle, MoveAsARigidBodyDoesAtSecondOrder) {
    const double time = 0.1;
    const auto end = [&](const std::string& platform, How how, double stepSize) {
        Simulation simulation = start(molecules(), how, {platform, std::get<1>(setup), "Rattle"}, stepSize);
        simulation.integrator->step((int) std::lround(time / stepSize));
        return pairsOf(simulation.positions());
    };
    static const std::vector<Vectors> exact = end("Reference", How::Body, 0.00005);
    // On devices few steps, long enough for errors above rounding.
    const double shortStep = isDevice(std::get<0>(setup)) ? 0.002 : 0.0005;
    const std::vector<Vectors> coarse = end(std::get<0>(setup), how, 2 * shortStep),
                               fine = end(std::get<0>(setup), how, shortStep);
    for (std::size_t m = 0; m < molecules().size(); m++) {
        const double error = distance(coarse[m], exact[m]);
        EXPECT_GT(error, 1e-8 + 10 * precision.position) << molecules()[m].name;
        EXPECT_LT(distance(fine[m], exact[m]), 0.3 * error + precision.position) << molecules()[m].name;
    }
}

/** Devices do not distinguish where distances are declared. */
std::vector<Case> casesOf(const std::vector<ConstraintTests::Setup>& setups) {
    std::vector<Case> cases;
    for (How how : {How::Distances, How::SystemDistances, How::Body})
        for (const ConstraintTests::Setup& setup : setups)
            if (how != How::SystemDistances || !isDevice(std::get<0>(setup)))
                cases.emplace_back(how, setup);
    return cases;
}

std::string caseName(const testing::TestParamInfo<Case>& info) {
    const char* const names[] = {"Distances_", "SystemDistances_", "Body_"};
    return names[(int) std::get<0>(info.param)] + nameOf(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Bodies, testing::ValuesIn(casesOf(oneSetupOfEach(constantEnergySetups()))), caseName);
INSTANTIATE_TEST_SUITE_P(All, BodiesOfRattle, testing::ValuesIn(casesOf(setupsOf("Rattle"))), caseName);

/** On every platform, by one setup. */
class RigidBodies : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup = {platform, ConstraintIntegrator::MatrixInversion, "Rattle"};
};

TEST_P(RigidBodies, RoundedLengthsAreAccepted) {
    std::vector<Molecule> some;
    int degreesOfFreedom = 0;
    for (const Molecule& molecule : molecules())
        // Three distances of acetonitrile's hydrogen atoms are redundant. After rounding they contradict each other.
        if (molecule.isSingular && molecule.name != "acetonitrile") {
            some.push_back(molecule);
            degreesOfFreedom += 2 * molecule.degreesOfFreedom;
        }
    Simulation simulation = start(some, How::Distances, setup, 0.001, 1e-5);
    EXPECT_EQ(simulation.integrator->getNumDegreesOfFreedom(), degreesOfFreedom);
    simulation.integrator->step(50);
    const std::vector<Vectors> x = pairsOf(simulation.positions(), some);
    for (std::size_t m = 0; m < some.size(); m++)
        EXPECT_LT(deformation(some[m], x[m]), 2e-4 + attainable(platform, 0)) << some[m].name;
}

TEST_P(RigidBodies, ThatShareAnEdgeAgreeOnItsLength) {
    // Two planar bodies that share an edge, with lengths rounded to five digits: each fit alone would give the edge
    // another length.
    Vectors x = {{0, 0, 0}, {0, 0.14, 0}, {0.13, 0.02, 0}, {0.12, 0.16, 0}, {0.21, 0.08, 0}};
    for (const Vec3& r : {Vec3(0, 0.03, 0.13), Vec3(0, 0.15, 0.11), Vec3(0, 0.08, 0.2)})
        x.push_back(r + Vec3(0.15 * r[2], 0, 0));
    System system;
    for (int i = 0; i < 8; i++)
        system.addParticle(10 + i);
    auto* constraints = new ConstraintForce();
    auto add = [&](int i, int j) { constraints->addDistance(i, j, 1e-5 * std::round(1e5 * length(x[i] - x[j]))); };
    for (const std::vector<int>& plate : {std::vector<int>{0, 1, 2, 3, 4}, std::vector<int>{0, 1, 5, 6, 7}})
        for (std::size_t a = 0; a < plate.size(); a++)
            for (std::size_t b = 0; b < a; b++)
                if (plate[a] != 1 || plate.back() == 4) // the edge once
                    add(plate[a], plate[b]);
    system.addForce(constraints);
    RattleIntegrator integrator(0.001);
    integrator.setConstraintTolerance(1e-9);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(x);
    context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 7);
    integrator.step(100);
}

TEST_P(RigidBodies, HaveTheTemperatureOfTheirHeatBath) {
    const Molecule& dioxide = molecules()[0];
    System system;
    auto* constraints = new ConstraintForce();
    Vectors positions;
    for (int copy = 0; copy < 50; copy++) {
        std::vector<int> p;
        for (int i = 0; i < 3; i++) {
            p.push_back(system.addParticle(dioxide.masses[i]));
            positions.push_back(dioxide.shape[i]);
        }
        for (const auto& [i, j] : closerThan(dioxide.shape, 1))
            constraints->addDistance(p[i], p[j], length(dioxide.shape[i] - dioxide.shape[j]));
    }
    system.addForce(constraints);
    RattleLangevinIntegrator integrator(300, 20, 0.002);
    integrator.setRandomNumberSeed(5);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(positions);
    context->setVelocitiesToTemperature(300, 2);
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 250);
    double sum = 0;
    const int samples = isDevice(platform) ? 50 : 400;
    for (int i = 0; i < samples; i++) {
        integrator.step(25); // a correlation time
        sum += integrator.computeSystemTemperature();
    }
    const double error = 300 * std::sqrt(2.0 / 250 / samples * 1.5);
    EXPECT_NEAR(sum / samples, 300, 5 * error);
}

TEST_P(RigidBodies, BaseDistancesCarryTheMultipliersAndForcesAreWhole) {
    Simulation simulation = start(molecules()[0], How::Distances, setup, 0.001);
    const Vectors before = simulation.velocities();
    simulation.integrator->step(1);
    const std::vector<double> multipliers = simulation.integrator->getMultipliers();
    ASSERT_EQ(multipliers.size(), 6u);
    int acting = 0;
    for (double m : multipliers)
        acting += m != 0;
    EXPECT_EQ(acting, 2);
    const Vectors forces = simulation.integrator->getConstraintForces();
    Vec3 sum;
    for (int i = 0; i < 3; i++)
        sum += forces[i];
    EXPECT_LT(length(sum), 1e-9 * length(forces[0]));
    // Bodies that were declared have no entries.
    Simulation declared = start(molecules()[0], How::Body, setup, 0.001);
    declared.integrator->step(1);
    EXPECT_TRUE(declared.integrator->getMultipliers().empty());
    // Distances are solved to a tolerance, and positions rounded: errors of m/dt^2 times these.
    const Precision precision = precisionOf(platform);
    const double ofDistances = 16 / (0.001 * 0.001) * (precision.position + 0.2 * precision.constraint);
    EXPECT_LT(distance(declared.integrator->getConstraintForces(), forces), 1e-6 * length(forces[0]) + ofDistances);
}

TEST_P(RigidBodies, MayHaveImmovableParticles) {
    for (int anchors : {1, 2}) {
        System system;
        const Molecule& benzene = molecules()[4];
        std::vector<int> particles;
        for (int i = 0; i < 12; i++)
            particles.push_back(system.addParticle(i < anchors ? 0 : benzene.masses[i]));
        auto* constraints = new ConstraintForce();
        constraints->addRigidBody(particles, benzene.shape);
        auto* field = new CustomExternalForce("20*x+40*z");
        for (int i : particles)
            field->addParticle(i, {});
        system.addForce(constraints);
        system.addForce(field);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-10);
        auto context = makeContext(system, integrator, platform);
        context->setPositions(benzene.shape);
        const Vec3 anchor = context->getState(State::Positions).getPositions()[0]; // as the platform stores it
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), anchors == 1 ? 3 : 1);
        integrator.step(500);
        const Vectors x = context->getState(State::Positions).getPositions();
        EXPECT_EQ(x[0], anchor);
        EXPECT_GT(length(x[7] - benzene.shape[7]), 0.01);
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < i; j++)
                EXPECT_NEAR(length(x[i] - x[j]), length(benzene.shape[i] - benzene.shape[j]),
                            attainable(platform, 1e-10, 0.5));
    }
}

TEST_P(RigidBodies, ChangeTheirShapeInAContext) {
    Simulation simulation = start(molecules()[0], How::Body, setup, 0.001);
    auto& force = dynamic_cast<ConstraintForce&>(simulation.system->getForce(0));
    force.setRigidBodyParameters(0, {0, 1, 2}, {Vec3(), Vec3(0.12, 0, 0), Vec3(-0.12, 0, 0)});
    force.updateParametersInContext(*simulation.context);
    simulation.integrator->step(1);
    const Vectors x = simulation.positions();
    EXPECT_NEAR(length(x[1] - x[2]), 0.24, attainable(platform, 1e-9, 1));
    force.setRigidBodyParameters(0, {0, 1, 2}, {Vec3(), Vec3(0.12, 0, 0), Vec3(-0.1, 0.06, 0)});
    expectAll(messageOf([&] { force.updateParametersInContext(*simulation.context); }), {"reinitialize"});
    simulation.integrator->step(1);
}

TEST_P(RigidBodies, MayShareParticles) {
    const Vectors places = {{0.1, 0, 0},      {0, 0.2, 0.05},   {-0.1, 0.1, 0.3},  {0.3, 0.2, -0.1}, {0.25, -0.15, 0.2},
                            {0.05, 0.3, 0.2}, {0.4, 0.1, 0.15}, {-0.2, -0.1, 0.1}, {0.15, 0.15, 0.4}};
    System system;
    auto* constraints = new ConstraintForce();
    std::vector<std::vector<int>> bodies;
    Vectors start;
    for (int shared : {1, 2, 3, 4, 5}) {
        const int first = system.getNumParticles();
        for (int i = 0; i < 9; i++)
            system.addParticle(1 + i);
        start.insert(start.end(), places.begin(), places.end());
        for (const auto& [from, to] : {std::pair(0, 5), std::pair(5 - shared, 9)}) {
            std::vector<int> body(to - from);
            std::iota(body.begin(), body.end(), first + from);
            constraints->addRigidBody(body, Vectors(places.begin() + from, places.begin() + to));
            bodies.push_back(body);
        }
    }
    system.addForce(constraints);
    RattleIntegrator integrator(0.001);
    integrator.setConstraintTolerance(1e-10);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(start);
    context->setVelocities(Vectors(start.size(), Vec3(0.5, 0, 0)));
    integrator.step(20);
    // A joint, a hinge, and three times one body.
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 9 + 7 + 3 * 6);
    const Vectors x = context->getState(State::Positions).getPositions();
    for (const auto& body : bodies)
        for (int i : body)
            for (int j : body)
                EXPECT_NEAR(length(x[i] - x[j]), length(start[i] - start[j]), attainable(platform, 1e-10, 0.5));
}

TEST_P(RigidBodies, LargerThanHalfThePeriodicBoxAreRefused) {
    // Particles are placed relative to one in the middle, which may be 0.6 nm from each end, or at one end, 1.2 nm.
    // That is more than half the box. What joins a body makes no difference.
    for (bool periodic : {false, true})
        for (bool hasMiddle : {false, true})
            for (bool isJoined : {false, true}) {
                System system;
                for (int i = 0; i < 4; i++)
                    system.addParticle(1);
                system.setDefaultPeriodicBoxVectors({2, 0, 0}, {0, 2, 0}, {0, 0, 2});
                auto* constraints = new ConstraintForce();
                constraints->addRigidBody({0, 1, 2}, {Vec3(hasMiddle ? 0.6 : 0.1, 0.1, 0), Vec3(), Vec3(1.2, 0, 0)});
                if (isJoined)
                    constraints->addDistance(1, 3, 0.1);
                constraints->setUsesPeriodicBoundaryConditions(periodic);
                system.addForce(constraints);
                RattleIntegrator integrator(0.001);
                if (periodic && !hasMiddle)
                    expectAll(messageOf([&] { makeContext(system, integrator, platform); }),
                              {"rigid body 0", "1.1", "half the shortest width"});
                else
                    EXPECT_NO_THROW(makeContext(system, integrator, platform));
            }
}

TEST_P(RigidBodies, RefuseBadShapesByName) {
    const std::vector<std::pair<std::pair<std::vector<int>, Vectors>, std::string>> bad = {
        {{{}, {}}, "at least 1"},
        {{{0, 1}, {Vec3()}}, "positions"},
        {{{0, 7}, {Vec3(), Vec3(1, 0, 0)}}, "out of range"},
        {{{0, 1, 0}, {Vec3(), Vec3(1, 0, 0), Vec3(2, 0, 0)}}, "0"},
        {{{0, 1, 2}, {Vec3(), Vec3(1, 0, 0), Vec3(1, 0, 0)}}, "place"},
        {{{0, 1}, {Vec3(), Vec3(NAN, 0, 0)}}, ""}};
    for (const auto& [body, expected] : bad) {
        System system;
        for (int i = 0; i < 3; i++)
            system.addParticle(1);
        auto* constraints = new ConstraintForce();
        constraints->addRigidBody(body.first, body.second);
        system.addForce(constraints);
        RattleIntegrator integrator(0.001);
        expectAll(messageOf([&] { makeContext(system, integrator, platform); }),
                  {"rigid body 0 of the ConstraintForce with index 0", expected});
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, RigidBodies, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
