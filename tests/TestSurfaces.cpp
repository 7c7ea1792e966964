// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Dynamics on surfaces: the distance from the surface is within the tolerance, and the constraint force is normal to
// the surface and does no work.
#include "support/Surfaces.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class Surfaces : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup& setup = GetParam();
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
    const Precision precision = precisionOf(platform);
    /** Orders of convergence show in a few steps that are long enough for errors above rounding. */
    const double shortStep = precision.position > 1e-8 ? 0.002 : 0.001;
};

/** Call a function for every surface with the numbers of its particles. */
template <class Function>
void forEachSurface(Function function) {
    int first = 0;
    for (const Surface& surface : surfaceTable()) {
        SCOPED_TRACE(surface.name);
        function(surface, first);
        first += particlesPerSurface;
    }
}

/** Distance between two configurations of one surface's particles. */
double distanceFrom(int first, const Vectors& a, const Vectors& b) {
    const auto part = [&](const Vectors& x) {
        return Vectors(x.begin() + first, x.begin() + first + particlesPerSurface);
    };
    return distance(part(a), part(b));
}

/** Those without random forces. */
class ConservativeSurfaces : public Surfaces {};

TEST_P(Surfaces, AreNotLeftByMoreThanTheTolerance) {
    const double tolerance = 1e-9, dt = 0.002, expected = 1.01 * attainable(platform, tolerance, 1);
    Simulation s = simulateSurfaces(setup, dt, tolerance);
    const Vectors start = s.positions();
    for (int block = 0; block < 20; block++) {
        s.integrator->step(5);
        const Vectors x = s.positions(), v = s.velocities();
        forEachSurface([&](const Surface& surface, int first) {
            for (int i = first; i < first + particlesPerSurface; i++) {
                EXPECT_LT(surface.distance(x[i]), expected);
                if (integrator == "Rattle") {
                    const Vec3 g = surface.gradient(x[i]);
                    // Differences give the gradient to 1e-10 only.
                    EXPECT_LT(std::abs(g.dot(v[i])) / length(g) * dt, expected);
                }
            }
        });
    }
    forEachSurface([&](const Surface&, int first) { EXPECT_GT(distanceFrom(first, s.positions(), start), 0.03); });
    const int constraints = particlesPerSurface * (int) surfaceTable().size();
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 2 * constraints);
    EXPECT_EQ((int) s.integrator->getMultipliers().size(), constraints);
}

TEST_P(ConservativeSurfaces, ConserveEnergyToSecondOrder) {
    // A Langevin integrator reports the kinetic energy half a step before the positions.
    const auto energyError = [&](double dt, double& exchanged) {
        Simulation s = simulateSurfaces(setup, dt, 1e-12);
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
Vectors endOf(const ConstraintTests::Setup& setup, double dt) {
    Simulation s = simulateSurfaces(setup, dt, 1e-13);
    const std::string& integrator = std::get<2>(setup);
    if (integrator != "Rattle" && integrator != "ConstraintForce") { // takes v(-dt/2), before half of both forces
        Simulation twin = simulateSurfaces({"Reference", std::get<1>(setup), "Rattle"}, 1e-6, 1e-13);
        twin.integrator->step(1);
        const Vectors constraintForces = twin.integrator->getConstraintForces();
        const State state = s.context->getState(State::Velocities | State::Forces);
        Vectors v = state.getVelocities();
        for (std::size_t i = 0; i < v.size(); i++)
            v[i] -= (state.getForces()[i] + constraintForces[i]) * (0.5 * dt / s.system->getParticleMass((int) i));
        s.context->setVelocities(v);
    }
    s.integrator->step((int) std::lround(0.512 / dt));
    return s.positions();
}

void expectSecondOrder(const ConstraintTests::Setup& setup, double shortStep) {
    static const Vectors exact = endOf({"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"}, 1.25e-4);
    const Vectors coarse = endOf(setup, 2 * shortStep), fine = endOf(setup, shortStep);
    const double rounding = precisionOf(std::get<0>(setup)).position;
    forEachSurface([&](const Surface&, int first) {
        const double error = distanceFrom(first, fine, exact);
        EXPECT_GT(error, 1e-8 + 2 * rounding) << "nothing to compare";
        EXPECT_NEAR(distanceFrom(first, coarse, exact) / error, 4, 0.4 + 5 * rounding / error);
    });
}

TEST_P(ConservativeSurfaces, AreFollowedAtSecondOrder) {
    expectSecondOrder(setup, shortStep);
}

/** Those of the explicit constraint force, which needs second derivatives of the expression. */
class ExplicitSurfaces : public Surfaces {};

TEST_P(ExplicitSurfaces, AreFollowedAtSecondOrder) {
    expectSecondOrder(setup, shortStep);
}

TEST_P(ExplicitSurfaces, HaveTheForceThatKeepsTheAccelerationOnThem) {
    Simulation s = simulateSurfaces(setup, 0.001, 1e-13);
    const State before = s.context->getState(State::Positions | State::Velocities | State::Forces);
    s.integrator->step(1);
    const Vectors constraintForces = s.integrator->getConstraintForces();
    forEachSurface([&](const Surface& surface, int first) {
        for (int i = first; i < first + particlesPerSurface; i++) {
            // sigma along r + s v + s^2/2 a has no second derivative.
            const Vec3 x = before.getPositions()[i], v = before.getVelocities()[i];
            const Vec3 a = (before.getForces()[i] + constraintForces[i]) / s.system->getParticleMass(i);
            const double h = 1e-3;
            const auto at = [&](double s) { return surface.sigma(x + v * s + a * (0.5 * s * s)); };
            const Vec3 gradient = surface.gradient(x);
            EXPECT_LT(std::abs(at(h) - 2 * at(0) + at(-h)) / (h * h), 1e-3 * length(gradient) * length(a));
            EXPECT_LT(length(constraintForces[i].cross(gradient)),
                      1e-7 * length(gradient) * length(constraintForces[i]));
        }
    });
}

/** Of the integrator whose velocities and positions belong to the same time. */
class ReversibleSurfaces : public Surfaces {};

TEST_P(ReversibleSurfaces, AreFollowedBackwardsInTime) {
    const int steps = 100;
    Simulation s = simulateSurfaces(setup, 0.002, 1e-13);
    const Vectors start = s.positions();
    s.integrator->step(steps);
    const Vectors there = s.positions();
    Vectors v = s.velocities();
    for (Vec3& velocity : v)
        velocity *= -1;
    s.context->setVelocities(v);
    s.integrator->step(steps);
    const Vectors back = s.positions();
    // Each step rounds positions and solves, and forces are rounded.
    const double rounding = 2 * steps * (precision.position + precision.constraint) + 0.1 * precision.force;
    forEachSurface([&](const Surface&, int first) {
        EXPECT_GT(distanceFrom(first, there, start), 0.05);
        EXPECT_LT(distanceFrom(first, back, start), 1e-9 + rounding);
    });
}

std::string caseName(const testing::TestParamInfo<ConstraintTests::Setup>& info) {
    return nameOf(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, Surfaces, testing::ValuesIn(allSetups()), caseName);
INSTANTIATE_TEST_SUITE_P(All, ConservativeSurfaces, testing::ValuesIn(constantEnergySetups()), caseName);
INSTANTIATE_TEST_SUITE_P(All, ExplicitSurfaces, testing::ValuesIn(setupsOf("ConstraintForce")), caseName);
INSTANTIATE_TEST_SUITE_P(All, ReversibleSurfaces, testing::ValuesIn(setupsOf("Rattle")), caseName);

} // namespace
