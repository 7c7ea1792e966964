// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// What is random is drawn from a fixed seed, and compared within six standard errors.
#include "support/Langevin.h"
#include "support/Statistics.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

/** Kinetic energies, one every `interval` steps. */
static std::vector<double> kineticEnergies(Simulation& s, int count, int interval) {
    std::vector<double> samples;
    for (int i = 0; i < count; i++) {
        s.integrator->step(interval);
        samples.push_back(s.context->getState(State::Energy).getKineticEnergy());
    }
    return samples;
}

TEST_P(Langevin, HasTheTemperatureOfTheBathByRank) {
    // Of methane's ten constraints nine are independent: counting all of them would give a fifth more.
    for (const char* name : {"water", "CH3", "methane", "chain", "ring", "anchor"}) {
        SCOPED_TRACE(name);
        Simulation s = start(name, 0.002, 100, 1e-6);
        s.integrator->step(200);
        std::vector<double> temperatures;
        for (int i = 0; i < 1500; i++) {
            s.integrator->step(4);
            temperatures.push_back(s.integrator->computeSystemTemperature());
        }
        expectMean(temperatures, 300, 0.15);
    }
}

TEST_P(Langevin, SamplesTheHarmonicOscillatorAtAnyStepSize) {
    // omega dt = 1: kinetic energy at t instead of half a step behind would be a quarter too low.
    const int n = 100;
    const double mass = 4, dt = 0.005, k = mass / (dt * dt);
    auto system = std::make_unique<System>();
    auto* well = new CustomExternalForce("0.5*" + std::to_string(k) + "*(x*x+y*y+z*z)");
    for (int i = 0; i < n; i++)
        well->addParticle(system->addParticle(mass), {});
    system->addForce(well);
    Simulation s(std::move(system), makeIntegrator(GetParam(), dt), platform());
    langevin(s).setFriction(100);
    s.context->setPositions(Vectors(n));
    s.integrator->step(200);
    std::vector<double> kinetic, potential;
    for (int i = 0; i < 800; i++) {
        s.integrator->step(3);
        const State state = s.context->getState(State::Energy);
        kinetic.push_back(state.getKineticEnergy());
        potential.push_back(state.getPotentialEnergy());
    }
    expectMean(kinetic, 1.5 * n * kT, 0.03);
    expectMean(potential, 1.5 * n * kT, 0.03);
}

TEST_P(Langevin, SharesEnergyEquallyBetweenRotationAndTranslation) {
    // Dimers of unequal masses, one end of each in a well: the force couples rotation and translation.
    const int n = 40;
    const double m0 = 16, m1 = 2, d = 0.1;
    auto system = std::make_unique<System>();
    auto* bonds = new ConstraintForce();
    auto* well = new CustomExternalForce("300*((x-0.1)^2+y*y+z*z)");
    Vectors r;
    for (int i = 0; i < n; i++) {
        const int p0 = system->addParticle(m0), p1 = system->addParticle(m1);
        bonds->addDistance(p0, p1, d);
        well->addParticle(p1, {});
        r.push_back(Vec3(0, 0, 0));
        r.push_back(Vec3(0, d, 0));
    }
    system->addForce(bonds);
    system->addForce(well);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002, 1e-8), platform());
    langevin(s).setFriction(50);
    s.context->setPositions(r);
    s.integrator->step(500);
    std::vector<double> translation, rotation;
    for (int i = 0; i < 800; i++) {
        s.integrator->step(8);
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
    expectMean(translation, 1.5 * n * kT, 0.04);
    expectMean(rotation, 1.0 * n * kT, 0.04);
}

TEST_P(Langevin, AgreesWithLangevinMiddleIntegratorOnTheSameSystem) {
    // Trimers of unequal masses with two rigid bonds and a soft angle, each in a well.
    const int n = 12;
    System system;
    auto* angles = new HarmonicAngleForce();
    auto* well = new CustomExternalForce("2000*(x*x+y*y+z*z)");
    Vectors start;
    for (int i = 0; i < n; i++) {
        const int p = system.addParticle(4);
        system.addParticle(12);
        system.addParticle(1.5);
        system.addConstraint(p, p + 1, 0.15);
        system.addConstraint(p + 1, p + 2, 0.1);
        angles->addAngle(p, p + 1, p + 2, 1.9, 15);
        well->addParticle(p, {});
        start.insert(start.end(), {Vec3(0.15, 0, 0), Vec3(0, 0, 0), Vec3(0, 0.1, 0)});
    }
    system.addForce(angles);
    system.addForce(well);
    const auto sample = [&](Integrator& integrator) {
        integrator.setConstraintTolerance(1e-8);
        const auto context = makeContext(system, integrator, platform());
        context->setPositions(start);
        integrator.step(500);
        std::vector<double> potential, kinetic, extent;
        for (int i = 0; i < 1500; i++) {
            integrator.step(12);
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
        return std::vector<Mean>{meanOf(potential, 50), meanOf(kinetic, 50), meanOf(extent, 50)};
    };
    LangevinMiddleIntegrator builtIn(300, 15, 0.002);
    builtIn.setRandomNumberSeed(5);
    const auto ours = makeIntegrator(GetParam(), 0.002);
    dynamic_cast<RattleLangevinIntegrator&>(*ours).setFriction(15);
    const std::vector<Mean> a = sample(*ours), b = sample(builtIn);
    for (int i = 0; i < 3; i++) {
        SCOPED_TRACE(i);
        const double error = std::sqrt(a[i].error * a[i].error + b[i].error * b[i].error);
        EXPECT_NEAR(a[i].value, b[i].value, 6 * error);
        EXPECT_LT(6 * error, 0.1 * b[i].value) << "too few samples to tell";
    }
}

TEST_P(Langevin, TakesTemperatureAndFrictionBetweenSteps) {
    Simulation s = start("chain", 0.002, 100);
    for (double temperature : {300.0, 900.0}) {
        langevin(s).setTemperature(temperature);
        s.integrator->step(300);
        expectMean(kineticEnergies(s, 600, 4), 0.5 * s.integrator->getNumDegreesOfFreedom() * BOLTZ * temperature,
                   0.08);
    }
    langevin(s).setTemperature(0);
    s.integrator->step(2000);
    EXPECT_LT(s.integrator->computeSystemTemperature(), 0.1);
    langevin(s).setFriction(0); // isolated now: no heat, whatever the temperature
    langevin(s).setTemperature(300);
    s.integrator->step(500);
    EXPECT_LT(s.integrator->computeSystemTemperature(), 30);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Langevin, testing::ValuesIn(setupsOf("RattleLangevin")),
                         [](const auto& info) { return nameOf(info.param); });
