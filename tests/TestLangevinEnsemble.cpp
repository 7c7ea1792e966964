// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// What is random is drawn from a fixed seed, and compared within six standard errors. Many copies side by side take few
// steps, which cost a device a fixed time each; samples are several relaxation times apart.
#include "support/Langevin.h"
#include "support/Statistics.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class LangevinEnsemble : public Langevin {};

TEST_P(LangevinEnsemble, HasTheTemperatureOfTheBathByRank) {
    // Of methane's ten constraints nine are independent: counting all of them would give a fifth more.
    for (const auto& [name, dof] : std::initializer_list<std::pair<const char*, int>>{
             {"water", 6}, {"CH3", 9}, {"methane", 6}, {"chain", 63}, {"ring", 12}, {"anchor", 4}}) {
        SCOPED_TRACE(name);
        const int copies = 252 / dof;
        Simulation s =
            simulate(std::vector<TestSystem>(copies, findSystem(name)), Declared::InForce, GetParam(), 0.002, 1e-5);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), copies * dof);
        langevin(s).setFriction(200);
        s.integrator->step(50);
        std::vector<double> temperatures;
        for (int i = 0; i < 20; i++) {
            s.integrator->step(10);
            temperatures.push_back(s.integrator->computeSystemTemperature());
        }
        expectMeanOfSquares(temperatures, 300, copies * dof, 0.13);
    }
}

TEST_P(LangevinEnsemble, SamplesTheHarmonicOscillatorAtAnyStepSize) {
    // omega dt = 1: kinetic energy at t instead of half a step behind would be a quarter too low.
    const int n = 1500;
    const auto [kinetic, potential] = sampleOscillators(n);
    expectMeanOfSquares(kinetic, 1.5 * n * kT, 3 * n, 0.03);
    expectMeanOfSquares(potential, 1.5 * n * kT, 3 * n, 0.03);
}

TEST_P(LangevinEnsemble, SharesEnergyEquallyBetweenRotationAndTranslation) {
    // Dimers of unequal masses, one end of each in a well: the force couples rotation and translation.
    const int n = 500;
    const double m0 = 16, m1 = 2, d = 0.1;
    auto system = std::make_unique<System>();
    auto* bonds = new ConstraintForce();
    auto* well = new CustomExternalForce("3000*((x-0.1)^2+y*y+z*z)");
    Vectors r;
    for (int i = 0; i < n; i++) {
        const int p0 = system->addParticle(m0), p1 = system->addParticle(m1);
        bonds->addDistance(p0, p1, d);
        well->addParticle(p1, {});
        r.push_back(Vec3(0.1, -d, 0));
        r.push_back(Vec3(0.1, 0, 0));
    }
    system->addForce(bonds);
    system->addForce(well);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002, 1e-8), platform());
    langevin(s).setFriction(100);
    s.context->setPositions(r);
    s.integrator->step(200);
    std::vector<double> translation, rotation;
    for (int i = 0; i < 50; i++) {
        s.integrator->step(20);
        const State state = s.context->getState(State::Positions | State::Velocities);
        const Vectors x = state.getPositions(), v = state.getVelocities();
        double translational = 0, rotational = 0;
        for (int j = 0; j < 2 * n; j += 2) {
            const Vec3 centre = (v[j] * m0 + v[j + 1] * m1) / (m0 + m1);
            const Vec3 bond = (x[j + 1] - x[j]) / d;
            const Vec3 relative = v[j + 1] - v[j], tangent = relative - bond * relative.dot(bond);
            translational += 0.5 * (m0 + m1) * centre.dot(centre);
            rotational += 0.5 * m0 * m1 / (m0 + m1) * tangent.dot(tangent);
        }
        translation.push_back(translational);
        rotation.push_back(rotational);
    }
    expectMeanOfSquares(translation, 1.5 * n * kT, 3 * n, 0.04);
    expectMeanOfSquares(rotation, 1.0 * n * kT, 2 * n, 0.04);
}

/** Trimers of unequal masses with two rigid bonds and a soft angle, each in a well: their potential and kinetic energy
 *  and their extent. */
static std::vector<Mean> sampleTrimers(Integrator& integrator, const std::string& platform) {
    const int n = 200;
    System system;
    auto* angles = new HarmonicAngleForce();
    auto* well = new CustomExternalForce("20000*(x*x+y*y+z*z)");
    Vectors start;
    for (int i = 0; i < n; i++) {
        const int p = system.addParticle(4);
        system.addParticle(12);
        system.addParticle(1.5);
        system.addConstraint(p, p + 1, 0.15);
        system.addConstraint(p + 1, p + 2, 0.1);
        angles->addAngle(p, p + 1, p + 2, 1.9, 60);
        well->addParticle(p, {});
        start.insert(start.end(), {Vec3(0, 0, 0), Vec3(-0.15, 0, 0), Vec3(-0.15, 0.1, 0)});
    }
    system.addForce(angles);
    system.addForce(well);
    integrator.setConstraintTolerance(1e-8);
    const auto context = makeContext(system, integrator, platform);
    context->setPositions(start);
    integrator.step(150);
    std::vector<double> potential, kinetic, extent;
    for (int i = 0; i < 50; i++) {
        integrator.step(30);
        const State state = context->getState(State::Energy | State::Positions);
        potential.push_back(state.getPotentialEnergy());
        kinetic.push_back(state.getKineticEnergy());
        double sum = 0;
        for (int p = 0; p < 3 * n; p += 3) {
            const Vec3 span = state.getPositions()[p] - state.getPositions()[p + 2];
            sum += std::sqrt(span.dot(span));
        }
        extent.push_back(sum / n);
    }
    return {meanOf(potential, 50), meanOf(kinetic, 50), meanOf(extent, 50)};
}

TEST_P(LangevinEnsemble, AgreesWithLangevinMiddleIntegratorOnTheSameSystem) {
    static const std::vector<Mean> expected = [] {
        LangevinMiddleIntegrator builtIn(300, 100, 0.002);
        builtIn.setRandomNumberSeed(5);
        return sampleTrimers(builtIn, "Reference");
    }();
    const auto ours = makeIntegrator(GetParam(), 0.002);
    dynamic_cast<RattleLangevinIntegrator&>(*ours).setFriction(100);
    const std::vector<Mean> found = sampleTrimers(*ours, platform());
    for (int i = 0; i < 3; i++) {
        SCOPED_TRACE(i);
        const double error = std::hypot(found[i].error, expected[i].error);
        EXPECT_NEAR(found[i].value, expected[i].value, 6 * error);
        EXPECT_LT(6 * error, 0.1 * expected[i].value) << "too few samples to tell";
    }
}

TEST_P(LangevinEnsemble, TakesTemperatureAndFrictionBetweenSteps) {
    Simulation s =
        simulate(std::vector<TestSystem>(4, findSystem("chain")), Declared::InForce, GetParam(), 0.002, 1e-6);
    langevin(s).setFriction(100);
    const int dof = s.integrator->getNumDegreesOfFreedom();
    for (double temperature : {300.0, 900.0}) {
        langevin(s).setTemperature(temperature);
        s.integrator->step(150);
        std::vector<double> kinetic;
        for (int i = 0; i < 30; i++) {
            s.integrator->step(20);
            kinetic.push_back(s.context->getState(State::Energy).getKineticEnergy());
        }
        expectMeanOfSquares(kinetic, 0.5 * dof * BOLTZ * temperature, dof, 0.1);
    }
    langevin(s).setTemperature(0);
    s.integrator->step(1000);
    EXPECT_LT(s.integrator->computeSystemTemperature(), 0.1);
    langevin(s).setFriction(0); // isolated now: no heat, whatever the temperature
    langevin(s).setTemperature(300);
    s.integrator->step(300);
    EXPECT_LT(s.integrator->computeSystemTemperature(), 30);
}

INSTANTIATE_TEST_SUITE_P(Platforms, LangevinEnsemble, testing::ValuesIn(setupsOf("RattleLangevin")),
                         [](const auto& info) { return nameOf(info.param); });
