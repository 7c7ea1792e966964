// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/Simulation.h"
#include <numeric>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class States : public testing::TestWithParam<Setup> {
protected:
    bool isRattle() const {
        return std::get<2>(GetParam()) == "Rattle";
    }
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    const Precision precision = precisionOf(platform());
    /** Relative errors after a solve to a tolerance. */
    double within(double tolerance) const {
        return 1.01 * attainable(platform(), tolerance);
    }
    static void expectOnConstraints(const TestSystem& system, const Vectors& positions, double tolerance) {
        const ConstraintSet set = toConstraintSet(system);
        EXPECT_TRUE(Verifier(set, system.box, system.positions).accepts(toArrays(positions), tolerance));
    }
    static void expectTangent(const TestSystem& system, const Simulation& s, double tolerance) {
        const ConstraintSet set = toConstraintSet(system);
        const Vectors v = s.velocities();
        EXPECT_TRUE(Verifier(set, system.box, toArrays(s.positions()))
                        .holdsVelocities(toArrays(v), s.integrator->getStepSize(), tolerance));
    }
};

static Vectors disturbed(const TestSystem& system, double size, unsigned seed) {
    Random random(seed);
    Arrays x = system.positions;
    for (std::size_t i = 0; i < x.size(); i++)
        if (system.masses[i] > 0)
            x[i] += random.inCube(size);
    return toVectors(x);
}

static Vectors randomVelocities(const TestSystem& system, unsigned seed) {
    TestSystem zero = system;
    zero.positions.assign(system.numParticles(), Real3());
    return disturbed(zero, 1, seed);
}

TEST_P(States, OffTheConstraintsAreProjectedBeforeTheFirstStep) {
    const TestSystem& system = findSystem("chain");
    // With a step of zero only the projection is left.
    Simulation s = simulate(system, Declared::InForce, GetParam(), 0, 1e-9);
    const Vectors off = disturbed(system, 0.004, 1);
    s.context->setPositions(off);
    s.context->setVelocities(randomVelocities(system, 2));
    s.integrator->step(1);
    expectOnConstraints(system, s.positions(), within(1e-9));
    EXPECT_GT(distance(s.positions(), off), 1e-4);
    if (isRattle()) {
        const ConstraintSet set = toConstraintSet(system);
        const Verifier verifier(set, system.box, toArrays(s.positions()));
        EXPECT_TRUE(verifier.holdsVelocities(toArrays(s.velocities()), 0.001, within(1e-9)));
    }
    s.integrator->setStepSize(0.002);
    s.integrator->step(5);
    expectOnConstraints(system, s.positions(), within(1e-9));
}

TEST_P(States, WithinTheToleranceAreLeftBitForBit) {
    TestSystem system = findSystem("chain");
    Simulation s = simulate(system, Declared::InForce, GetParam(), 0.001, 1e-3);
    // Off by less than the tolerance, positions and velocities.
    Vectors v = tangentVelocities(system, 1, 3);
    for (Vec3& each : v)
        each[0] *= 1.001;
    s.context->setPositions(disturbed(system, 2e-5, 1));
    s.context->setVelocities(v);
    const Vectors near = s.positions(); // as the platform stores it
    v = s.velocities();
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    EXPECT_EQ(distance(s.positions(), near), 0);
    EXPECT_EQ(distance(s.velocities(), v), 0);
    s.integrator->setConstraintTolerance(1e-9);
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    EXPECT_GT(distance(s.positions(), near), 0);
    EXPECT_GT(distance(s.velocities(), v), 0);
    expectOnConstraints(system, s.positions(), within(1e-9));
    expectTangent(system, s, within(1e-9));
}

TEST_P(States, ApplyConstraintsMovesAsConstraintForcesWould) {
    for (const char* name : {"water", "methane", "anchor", "triclinic", "branched"}) {
        SCOPED_TRACE(name);
        const TestSystem& system = findSystem(name);
        Simulation s = simulate(system, Declared::InForce, GetParam(), 0.001, 1e-11);
        const double moved = 0.003;
        s.context->setPositions(disturbed(system, moved, 4));
        const Vectors off = s.positions();
        s.integrator->applyConstraints();
        expectOnConstraints(system, s.positions(), within(1e-11));
        const ConstraintSet set = toConstraintSet(system);
        Arrays change = toArrays(s.positions());
        for (std::size_t i = 0; i < change.size(); i++)
            change[i] = change[i] - toArrays(off)[i];
        EXPECT_TRUE(Verifier(set, system.box, toArrays(off))
                        .isConstraintImpulse(Arrays(change.size()), change, 1e-9 + precision.position / moved));
    }
}

TEST_P(States, ApplyConstraintsPlacesVirtualSitesInAnyCase) {
    const TestSystem& water = findSystem("water");
    auto system = toOpenMM(water, Declared::InForce);
    system->setVirtualSite(system->addParticle(0), new TwoParticleAverageSite(0, 1, 0.5, 0.5));
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform());
    for (double size : {0.003, 0.0}) { // off the constraints, and on them
        Vectors r = disturbed(water, size, 1);
        r.push_back(Vec3(7, 7, 7));
        s.context->setPositions(r);
        s.integrator->applyConstraints();
        r = s.positions();
        EXPECT_LT(distance({r[3]}, {(r[0] + r[1]) * 0.5}), 1e-12 + precision.position) << size;
    }
}

TEST_P(States, VelocitiesForATemperatureAreProjectedAndWarmEnough) {
    for (Declared declared : {Declared::InSystem, Declared::InForce}) {
        SCOPED_TRACE(declared == Declared::InSystem ? "System" : "Force");
        const TestSystem& system = findSystem("branched"); // OpenMM's own projection of its System constraints diverges
        Simulation s = simulate(system, declared, GetParam(), 0.001, 1e-9);
        double sum = 0;
        for (int seed = 1; seed <= 40; seed++) {
            s.context->setVelocitiesToTemperature(300, seed);
            expectTangent(system, s, 1e-5);
            double kinetic = 0;
            const Vectors v = s.velocities();
            for (std::size_t i = 0; i < v.size(); i++)
                kinetic += 0.5 * system.masses[i] * v[i].dot(v[i]);
            sum += 2 * kinetic / (s.integrator->getNumDegreesOfFreedom() * BOLTZ);
        }
        // 63 degrees of freedom, forty draws: 8.5 K is one standard deviation of the mean.
        EXPECT_NEAR(sum / 40, 300, 34);
    }
}

TEST_P(States, VelocitiesForATemperatureFitPositionsThatAreOffTheConstraints) {
    const TestSystem& system = findSystem("chain");
    Simulation s = simulate(system, Declared::InForce, GetParam(), 0.001, 1e-9);
    s.context->setPositions(disturbed(system, 0.004, 1));
    const Vectors off = s.positions();
    s.context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(distance(s.positions(), off), 0) << "velocities only were asked for";
    s.integrator->applyConstraints();
    expectTangent(system, s, within(1e-9));
}

TEST_P(States, DegreesOfFreedomCountTheRank) {
    const std::pair<const char*, int> expected[] = {{"water", 6}, {"methane", 6},    {"OH", 5},    {"anchor", 4},
                                                    {"ring", 12}, {"duplicates", 7}, {"chain", 63}};
    for (const auto& [name, dof] : expected) {
        Simulation s = simulate(findSystem(name), Declared::InForce, GetParam(), 0.001);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), dof) << name;
    }
    auto system = toOpenMM(findSystem("water"), Declared::InSystem);
    system->addForce(new CMMotionRemover());
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform());
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 3);
}

TEST_P(States, TemperatureIsTwiceTheKineticEnergyPerDegreeOfFreedom) {
    Simulation s = simulate(findSystem("chain"), Declared::InForce, GetParam(), 0.001);
    s.integrator->step(3);
    const double kinetic = s.context->getState(State::Energy).getKineticEnergy();
    EXPECT_GT(kinetic, 1);
    EXPECT_NEAR(s.integrator->computeSystemTemperature(), 2 * kinetic / (63 * BOLTZ), 1e-6);
}

TEST_P(States, CentreOfMassMotionIsRemoved) {
    const TestSystem& chain = findSystem("chain");
    auto system = toOpenMM(chain, Declared::InForce);
    addSprings(*system, chain);
    system->addForce(new CMMotionRemover(1));
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform());
    s.context->setPositions(toVectors(chain.positions));
    s.context->setVelocities(Vectors(chain.numParticles(), Vec3(3, 0, 0)));
    s.integrator->step(5);
    Vec3 momentum;
    for (int i = 0; i < chain.numParticles(); i++)
        momentum += s.velocities()[i] * chain.masses[i];
    double bound = 1e-4;
    if (std::get<2>(GetParam()) == "RattleLangevin") { // removed before each step, whose heat bath gives some
        const double mass = std::accumulate(chain.masses.begin(), chain.masses.end(), 0.0);
        bound = 6 * std::sqrt(3 * (1 - std::exp(-2 * 5 * 0.001)) * BOLTZ * 300 * mass);
        EXPECT_LT(bound, 0.05 * 3 * mass);
    }
    EXPECT_LT(std::sqrt(momentum.dot(momentum)), bound);
    expectOnConstraints(chain, s.positions(), within(1e-10));
}

TEST_P(States, AndersenThermostatWorksWithSystemConstraints) {
    const TestSystem& chain = findSystem("chain");
    auto system = toOpenMM(chain, Declared::InSystem);
    addSprings(*system, chain);
    auto* thermostat = new AndersenThermostat(300, 50);
    thermostat->setRandomNumberSeed(12);
    system->addForce(thermostat);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002), platform());
    s.context->setPositions(toVectors(chain.positions));
    double sum = 0;
    s.integrator->step(200);
    for (int i = 0; i < 100; i++) {
        s.integrator->step(10);
        sum += s.integrator->computeSystemTemperature();
    }
    EXPECT_NEAR(sum / 100, 300, 45);
    TestSystem turned = chain; // bonds have rotated since the start
    turned.positions = toArrays(s.positions());
    s.integrator->step(1);
    expectOnConstraints(turned, s.positions(), within(1e-10));
}

TEST_P(States, BarostatKeepsConstraints) {
    // Five molecules whose atoms are joined only by a ConstraintForce: they are scaled as molecules.
    const TestSystem& water = findSystem("water");
    auto system = std::make_unique<System>();
    auto* constraints = new ConstraintForce();
    auto* nonbonded = new NonbondedForce();
    nonbonded->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    nonbonded->setCutoffDistance(0.9);
    system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
    Vectors positions;
    for (int molecule = 0; molecule < 5; molecule++) {
        for (int i = 0; i < 3; i++) {
            system->addParticle(water.masses[i]);
            nonbonded->addParticle(0, 0.3, i == 0 ? 0.5 : 0);
            positions.push_back(toVectors(water.positions)[i] + Vec3(0.39, 0.5 - 0.2 * (molecule % 2), 0.1) * molecule);
        }
        for (const auto& bond : water.bonds) {
            constraints->addDistance(3 * molecule + bond.i, 3 * molecule + bond.j, bond.length);
            nonbonded->addException(3 * molecule + bond.i, 3 * molecule + bond.j, 0, 1, 0);
        }
    }
    constraints->setUsesPeriodicBoundaryConditions(true);
    system->addForce(constraints);
    system->addForce(nonbonded);
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(3);
    system->addForce(barostat);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform());
    s.context->setPositions(positions);
    const double before = s.context->getState(0).getPeriodicBoxVolume();
    s.integrator->step(100);
    const State state = s.context->getState(State::Positions);
    EXPECT_GT(std::abs(state.getPeriodicBoxVolume() - before), 1e-4) << "no move was accepted";
    EXPECT_LE(s.integrator->getSolverSummary().maxError, std::max(1e-8, precision.constraint));
    const Vectors r = state.getPositions();
    for (int molecule = 0; molecule < 5; molecule++)
        for (const auto& bond : water.bonds) {
            const Vec3 b = r[3 * molecule + bond.i] - r[3 * molecule + bond.j];
            EXPECT_NEAR(std::sqrt(b.dot(b)), bond.length, within(1e-8) * bond.length);
        }
    EXPECT_EQ(s.context->getMolecules().size(), 5u);
}

TEST_P(States, TheSummarySaysWhatWasSolvedTo) {
    for (double tolerance : {1e-4, 1e-10}) {
        Simulation s = simulate(findSystem("water"), Declared::InForce, GetParam(), 0.001, tolerance);
        s.integrator->step(1);
        const SolverSummary summary = s.integrator->getSolverSummary();
        EXPECT_EQ(summary.tolerance, std::max(tolerance, platform() == "OpenCLSingle" ? 1e-6 : 0.0));
        EXPECT_LE(summary.maxError, summary.tolerance);
        EXPECT_NE(summary.str().find("tolerance "), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, States, testing::ValuesIn(allSetups()),
                         [](const auto& info) { return nameOf(info.param); });
