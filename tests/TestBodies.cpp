// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in motion: declared by addRigidBody, or recognized in singular sets of plain distances.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

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

using Case = std::tuple<int, How, ConstraintTests::Setup>;

/** Turn a vector, so that no molecule lies along an axis. */
Vec3 turned(const Vec3& r) {
    const double c = std::cos(0.7), s = std::sin(0.7);
    const Vec3 a(c * r[0] - s * r[1], s * r[0] + c * r[1], r[2]);
    return Vec3(a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]);
}

double length(const Vec3& r) {
    return std::sqrt(r.dot(r));
}

/** Two molecules, with springs between all their particles and an external field. */
Simulation start(const Molecule& molecule, How how, const ConstraintTests::Setup& setup, double stepSize,
                 double rounding = 0) {
    const int n = (int) molecule.masses.size();
    auto system = std::make_unique<System>();
    auto* constraints = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    Vectors positions;
    auto rounded = [&](double d) { return rounding == 0 ? d : rounding * std::round(d / rounding); };
    for (int copy : {0, 1}) {
        std::vector<int> particles;
        for (int i = 0; i < n; i++) {
            particles.push_back(system->addParticle(molecule.masses[i]));
            positions.push_back(turned(molecule.shape[i]) + Vec3(0, 0, 0.4) * copy);
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
            springs->addBond(i, n + j, 0.3, 400.0 / n);
    system->addForce(constraints);
    system->addForce(springs);
    Simulation simulation(std::move(system), makeIntegrator(setup, stepSize, 1e-10), std::get<0>(setup));
    simulation.context->setPositions(positions);
    Random random(4);
    Vectors v;
    for (int i = 0; i < 2 * n; i++) {
        const Real3 r = random.inCube(1);
        v.emplace_back(r.x, r.y, r.z);
    }
    simulation.context->setVelocities(v);
    simulation.integrator->applyConstraints();
    simulation.integrator->applyVelocityConstraints();
    return simulation;
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
    const Molecule& molecule = molecules()[std::get<0>(GetParam())];
    const How how = std::get<1>(GetParam());
    const ConstraintTests::Setup setup = std::get<2>(GetParam());
    Simulation run(double stepSize) const {
        return start(molecule, how, setup, stepSize);
    }
};

TEST_P(Bodies, KeepTheirShapeEnergyAndMomenta) {
    Simulation simulation = run(0.0005);
    EXPECT_EQ(simulation.integrator->getNumDegreesOfFreedom(), 2 * molecule.degreesOfFreedom);
    const double energy = simulation.energy();
    auto momenta = [&] {
        Vec3 p, L;
        const Vectors x = simulation.positions(), v = simulation.velocities();
        for (int i = 0; i < (int) x.size(); i++) {
            p += v[i] * simulation.system->getParticleMass(i);
            L += x[i].cross(v[i]) * simulation.system->getParticleMass(i);
        }
        return std::pair(p, L);
    };
    const auto [p, L] = momenta();
    const bool isInStep = std::get<2>(setup) == "Rattle";
    for (int block = 0; block < 5; block++) {
        simulation.integrator->step(100);
        EXPECT_LT(deformation(molecule, simulation.positions()), 1e-9);
        EXPECT_NEAR(simulation.energy(), energy, (isInStep ? 2e-3 : 0.05) * std::abs(energy));
        const auto [pNow, LNow] = momenta();
        EXPECT_LT(length(pNow - p), 1e-4);
        if (isInStep && std::get<0>(setup) == "Reference") {
            EXPECT_LT(length(LNow - L), 1e-6);
        }
    }
}

TEST_P(Bodies, MoveAsARigidBodyDoesAtSecondOrder) {
    if (std::get<2>(setup) != "Rattle" || std::get<0>(setup) != "Reference")
        return;
    const double time = 0.1;
    const Vectors exact = [&] {
        Simulation fine = start(molecule, How::Body, setup, 0.00005);
        fine.integrator->step((int) std::lround(time / 0.00005));
        return fine.positions();
    }();
    double error[2];
    for (int i : {0, 1}) {
        const double stepSize = i == 0 ? 0.001 : 0.0005;
        Simulation simulation = run(stepSize);
        simulation.integrator->step((int) std::lround(time / stepSize));
        error[i] = distance(simulation.positions(), exact);
    }
    EXPECT_GT(error[0], 1e-8);
    EXPECT_LT(error[1], 0.3 * error[0]);
}

std::vector<Case> allCases() {
    std::vector<Case> cases;
    for (int m = 0; m < (int) molecules().size(); m++)
        for (How how : {How::Distances, How::SystemDistances, How::Body})
            for (const ConstraintTests::Setup& setup : constantEnergySetups()) {
                const bool isFirst = std::get<2>(setup) == "Rattle" && std::get<0>(setup) == "Reference";
                // Seven particles need three of the 21 distances less than all: dependent, for the rank analysis.
                if (how == How::Body || isFirst || molecules()[m].name == "carbonDioxide")
                    cases.emplace_back(m, how, setup);
            }
    return cases;
}

std::string caseName(const testing::TestParamInfo<Case>& info) {
    const char* const names[] = {"_Distances_", "_SystemDistances_", "_Body_"};
    return molecules()[std::get<0>(info.param)].name + names[(int) std::get<1>(info.param)] +
           nameOf(std::get<2>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Bodies, testing::ValuesIn(allCases()), caseName);

const ConstraintTests::Setup plain = {"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"};

TEST(RigidBodies, RoundedLengthsAreHonestInput) {
    for (const Molecule& molecule : molecules()) {
        // Of acetonitrile's distances from hydrogen three are redundant: rounded, those contradict each other.
        if (!molecule.isSingular || molecule.name == "acetonitrile")
            continue;
        Simulation simulation = start(molecule, How::Distances, plain, 0.001, 1e-5);
        EXPECT_EQ(simulation.integrator->getNumDegreesOfFreedom(), 2 * molecule.degreesOfFreedom) << molecule.name;
        simulation.integrator->step(50);
        EXPECT_LT(deformation(molecule, simulation.positions()), 2e-4) << molecule.name;
    }
}

TEST(RigidBodies, ThatShareAnEdgeAgreeOnItsLength) {
    // A hinge of two plates, by lengths rounded to five digits: each plate's fit would give the edge a length of its
    // own.
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
    auto context = makeContext(system, integrator, "Reference");
    context->setPositions(x);
    context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 7);
    integrator.step(100);
}

TEST(RigidBodies, HaveTheTemperatureOfTheirHeatBath) {
    const Molecule& dioxide = molecules()[0];
    System system;
    auto* constraints = new ConstraintForce();
    Vectors positions;
    for (int copy = 0; copy < 50; copy++) {
        std::vector<int> p;
        for (int i = 0; i < 3; i++) {
            p.push_back(system.addParticle(dioxide.masses[i]));
            positions.push_back(dioxide.shape[i] + Vec3(copy, 0, 0));
        }
        for (const auto& [i, j] : closerThan(dioxide.shape, 1))
            constraints->addDistance(p[i], p[j], length(dioxide.shape[i] - dioxide.shape[j]));
    }
    system.addForce(constraints);
    RattleLangevinIntegrator integrator(300, 20, 0.002);
    integrator.setRandomNumberSeed(5);
    auto context = makeContext(system, integrator, "Reference");
    context->setPositions(positions);
    context->setVelocitiesToTemperature(300, 2);
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 250);
    double sum = 0;
    const int samples = 400;
    for (int i = 0; i < samples; i++) {
        integrator.step(25); // a correlation time
        sum += integrator.computeSystemTemperature();
    }
    const double error = 300 * std::sqrt(2.0 / 250 / samples * 1.5);
    EXPECT_NEAR(sum / samples, 300, 5 * error);
}

TEST(RigidBodies, BaseDistancesCarryTheMultipliersAndForcesAreWhole) {
    Simulation simulation = start(molecules()[0], How::Distances, plain, 0.001);
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
    Simulation declared = start(molecules()[0], How::Body, plain, 0.001);
    declared.integrator->step(1);
    EXPECT_TRUE(declared.integrator->getMultipliers().empty());
    EXPECT_LT(distance(declared.integrator->getConstraintForces(), forces), 1e-6 * length(forces[0]));
}

TEST(RigidBodies, MayHaveImmovableParticles) {
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
        auto context = makeContext(system, integrator, "Reference");
        context->setPositions(benzene.shape);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), anchors == 1 ? 3 : 1);
        integrator.step(500);
        const Vectors x = context->getState(State::Positions).getPositions();
        EXPECT_EQ(x[0], benzene.shape[0]);
        EXPECT_GT(length(x[7] - benzene.shape[7]), 0.01);
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < i; j++)
                EXPECT_NEAR(length(x[i] - x[j]), length(benzene.shape[i] - benzene.shape[j]), 1e-10);
    }
}

TEST(RigidBodies, ChangeTheirShapeInAContext) {
    Simulation simulation = start(molecules()[0], How::Body, plain, 0.001);
    auto& force = dynamic_cast<ConstraintForce&>(simulation.system->getForce(0));
    force.setRigidBodyParameters(0, {0, 1, 2}, {Vec3(), Vec3(0.12, 0, 0), Vec3(-0.12, 0, 0)});
    force.updateParametersInContext(*simulation.context);
    simulation.integrator->step(1);
    const Vectors x = simulation.positions();
    EXPECT_NEAR(length(x[1] - x[2]), 0.24, 1e-9);
    force.setRigidBodyParameters(0, {0, 1, 2}, {Vec3(), Vec3(0.12, 0, 0), Vec3(-0.1, 0.06, 0)});
    expectAll(messageOf([&] { force.updateParametersInContext(*simulation.context); }), {"reinitialize"});
    simulation.integrator->step(1);
}

TEST(RigidBodies, MayShareParticles) {
    const Vectors places = {{0.1, 0, 0},      {0, 0.2, 0.05},   {-0.1, 0.1, 0.3},  {0.3, 0.2, -0.1}, {0.25, -0.15, 0.2},
                            {0.05, 0.3, 0.2}, {0.4, 0.1, 0.15}, {-0.2, -0.1, 0.1}, {0.15, 0.15, 0.4}};
    for (int shared : {1, 2, 3, 4, 5}) {
        System system;
        std::vector<int> first, second;
        for (int i = 0; i < 9; i++)
            system.addParticle(1 + i);
        for (int i = 0; i < 5; i++)
            first.push_back(i);
        for (int i = 5 - shared; i < 9; i++)
            second.push_back(i);
        auto* constraints = new ConstraintForce();
        for (const auto& body : {first, second}) {
            Vectors shape;
            for (int i : body)
                shape.push_back(places[i]);
            constraints->addRigidBody(body, shape);
        }
        system.addForce(constraints);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-10);
        auto context = makeContext(system, integrator, "Reference");
        context->setPositions(places);
        context->setVelocities(Vectors(9, Vec3(0.5, 0, 0)));
        integrator.step(20);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), shared == 1 ? 9 : shared == 2 ? 7 : 6) << shared;
        const Vectors x = context->getState(State::Positions).getPositions();
        for (const auto& body : {first, second})
            for (int i : body)
                for (int j : body)
                    EXPECT_NEAR(length(x[i] - x[j]), length(places[i] - places[j]), 1e-10);
    }
}

TEST(RigidBodies, LargerThanHalfThePeriodicBoxAreRefused) {
    for (bool periodic : {false, true}) {
        System system;
        for (int i = 0; i < 3; i++)
            system.addParticle(1);
        system.setDefaultPeriodicBoxVectors({2, 0, 0}, {0, 2, 0}, {0, 0, 2});
        auto* constraints = new ConstraintForce();
        // In the middle first: no particle is farther than half the box from it.
        constraints->addRigidBody({0, 1, 2}, {Vec3(0.6, 0.1, 0), Vec3(), Vec3(1.2, 0, 0)});
        constraints->setUsesPeriodicBoundaryConditions(periodic);
        system.addForce(constraints);
        RattleIntegrator integrator(0.001);
        if (periodic)
            expectAll(messageOf([&] { makeContext(system, integrator, "Reference"); }),
                      {"rigid body 0", "1.2", "half the shortest width"});
        else
            EXPECT_NO_THROW(makeContext(system, integrator, "Reference"));
    }
}

TEST(RigidBodies, RefuseBadShapesByName) {
    const std::vector<std::pair<std::pair<std::vector<int>, Vectors>, std::string>> bad = {
        {{{0}, {Vec3()}}, "at least 2"},
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
        expectAll(messageOf([&] { makeContext(system, integrator, "Reference"); }),
                  {"rigid body 0 of the ConstraintForce with index 0", expected});
    }
}

} // namespace
