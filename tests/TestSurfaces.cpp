// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Dynamics on surfaces: the constraint is met as a length, the constraint force is normal to the surface and does no
// work.
#include "support/Surfaces.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class Surfaces : public testing::TestWithParam<std::tuple<Surface, ConstraintTests::Setup>> {
protected:
    const Surface& surface = std::get<0>(GetParam());
    const ConstraintTests::Setup& setup = std::get<1>(GetParam());
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
};

double length(const Vec3& v) {
    return std::sqrt(v.dot(v));
}

/** Those without random forces. */
class ConservativeSurfaces : public Surfaces {};

TEST_P(Surfaces, AreNotLeftByMoreThanTheTolerance) {
    const double tolerance = 1e-9, dt = 0.002;
    Simulation s = simulate(surface, setup, dt, tolerance);
    const Vectors start = s.positions();
    for (int block = 0; block < 20; block++) {
        s.integrator->step(5);
        const Vectors x = s.positions(), v = s.velocities();
        for (int i = 0; i < 3; i++) {
            EXPECT_LT(surface.distance(x[i]), 1.01 * tolerance);
            if (integrator == "Rattle") {
                const Vec3 g = surface.gradient(x[i]);
                // Differences give the gradient to 1e-10 only.
                EXPECT_LT(std::abs(g.dot(v[i])) / std::sqrt(g.dot(g)) * dt, 1.01 * tolerance);
            }
        }
    }
    EXPECT_GT(distance(s.positions(), start), 0.03);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 6);
    EXPECT_EQ(s.integrator->getMultipliers().size(), 3u);
}

TEST_P(ConservativeSurfaces, ConserveEnergyToSecondOrder) {
    // A Langevin integrator reports the kinetic energy half a step before the positions.
    const auto energyError = [&](double dt, double& exchanged) {
        Simulation s = simulate(surface, setup, dt, 1e-12);
        double initial = 0, largest = 0, firstKinetic = 0;
        for (int i = 0; i * dt < 0.4; i++) {
            const State here = s.context->getState(State::Energy);
            s.integrator->step(1);
            double kinetic = here.getKineticEnergy();
            if (integrator == "FrictionlessLangevin")
                kinetic = 0.5 * (kinetic + s.context->getState(State::Energy).getKineticEnergy());
            const double energy = kinetic + here.getPotentialEnergy();
            if (i == 0) {
                initial = energy;
                firstKinetic = kinetic;
            }
            largest = std::max(largest, std::abs(energy - initial));
            exchanged = std::max(exchanged, std::abs(kinetic - firstKinetic));
        }
        return largest;
    };
    double exchanged = 0;
    const double coarse = energyError(0.002, exchanged), fine = energyError(0.001, exchanged);
    EXPECT_NEAR(coarse / fine, 4, 1);
    EXPECT_LT(coarse, 0.02 * exchanged);
}

/** Where the particles are after a while. */
Vectors endOf(const Surface& surface, const ConstraintTests::Setup& setup, double dt) {
    Simulation s = simulate(surface, setup, dt, 1e-13);
    const std::string& integrator = std::get<2>(setup);
    if (integrator != "Rattle" && integrator != "ConstraintForce") { // takes v(-dt/2), before half of both forces
        Simulation twin = simulate(surface, {std::get<0>(setup), std::get<1>(setup), "Rattle"}, 1e-6, 1e-13);
        twin.integrator->step(1);
        const Vectors constraintForces = twin.integrator->getConstraintForces();
        const State state = s.context->getState(State::Velocities | State::Forces);
        Vectors v = state.getVelocities();
        for (int i = 0; i < 3; i++)
            v[i] -= (state.getForces()[i] + constraintForces[i]) * (0.5 * dt / s.system->getParticleMass(i));
        s.context->setVelocities(v);
    }
    s.integrator->step((int) std::lround(0.128 / dt));
    return s.positions();
}

void expectSecondOrder(const Surface& surface, const ConstraintTests::Setup& setup) {
    const Vectors exact =
        endOf(surface, {std::get<0>(setup), ConstraintIntegrator::MatrixInversion, "Rattle"}, 1.25e-4);
    const double coarse = distance(endOf(surface, setup, 0.002), exact);
    const double fine = distance(endOf(surface, setup, 0.001), exact);
    EXPECT_GT(fine, 1e-8) << "nothing to compare";
    EXPECT_NEAR(coarse / fine, 4, 0.4);
}

TEST_P(ConservativeSurfaces, AreFollowedAtSecondOrder) {
    expectSecondOrder(surface, setup);
}

/** Those of the explicit constraint force, which needs second derivatives of the expression. */
class ExplicitSurfaces : public Surfaces {};

TEST_P(ExplicitSurfaces, AreFollowedAtSecondOrder) {
    expectSecondOrder(surface, setup);
}

TEST_P(ExplicitSurfaces, HaveTheForceThatKeepsTheAccelerationOnThem) {
    Simulation s = simulate(surface, setup, 0.001, 1e-13);
    const State before = s.context->getState(State::Positions | State::Velocities | State::Forces);
    s.integrator->step(1);
    const Vectors constraintForces = s.integrator->getConstraintForces();
    for (int i = 0; i < 3; i++) {
        // sigma along r + s v + s^2/2 a has no second derivative.
        const Vec3 x = before.getPositions()[i], v = before.getVelocities()[i];
        const Vec3 a = (before.getForces()[i] + constraintForces[i]) / s.system->getParticleMass(i);
        const double h = 1e-3;
        const auto at = [&](double s) { return surface.sigma(x + v * s + a * (0.5 * s * s)); };
        const Vec3 gradient = surface.gradient(x);
        const double size = std::sqrt(gradient.dot(gradient) * a.dot(a));
        EXPECT_LT(std::abs(at(h) - 2 * at(0) + at(-h)) / (h * h), 1e-3 * size);
        EXPECT_LT(length(constraintForces[i].cross(gradient)),
                  1e-7 * std::sqrt(gradient.dot(gradient)) * length(constraintForces[i]));
    }
}

TEST_P(ConservativeSurfaces, AreFollowedBackwardsInTime) {
    if (integrator != "Rattle")
        return; // velocities of the others belong to another time
    Simulation s = simulate(surface, setup, 0.002, 1e-13);
    const Vectors start = s.positions();
    s.integrator->step(100);
    EXPECT_GT(distance(s.positions(), start), 0.05);
    Vectors v = s.velocities();
    for (Vec3& velocity : v)
        velocity *= -1;
    s.context->setVelocities(v);
    s.integrator->step(100);
    EXPECT_LT(distance(s.positions(), start), 1e-9);
}

std::string caseName(const testing::TestParamInfo<Surfaces::ParamType>& info) {
    return std::get<0>(info.param).name + "_" + nameOf(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Surfaces,
                         testing::Combine(testing::ValuesIn(surfaceTable()), testing::ValuesIn(allSetups())), caseName);
INSTANTIATE_TEST_SUITE_P(All, ConservativeSurfaces,
                         testing::Combine(testing::ValuesIn(surfaceTable()), testing::ValuesIn(constantEnergySetups())),
                         caseName);
INSTANTIATE_TEST_SUITE_P(All, ExplicitSurfaces,
                         testing::Combine(testing::ValuesIn(surfaceTable()),
                                          testing::ValuesIn(setupsOf("ConstraintForce"))),
                         caseName);

} // namespace
