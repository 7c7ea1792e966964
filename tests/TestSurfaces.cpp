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

TEST_P(ConservativeSurfaces, AreFollowedAtSecondOrder) {
    const auto end = [&](const ConstraintTests::Setup& how, double dt) {
        Simulation s = simulate(surface, how, dt, 1e-13);
        if (std::get<2>(how) != "Rattle") { // takes v(-dt/2); what this has along the gradients, lambda absorbs
            const State state = s.context->getState(State::Velocities | State::Forces);
            // The constraint force bends the path too.
            const Vectors constraint = [&] {
                Simulation r = simulate(surface, {platform, std::get<1>(how), "Rattle"}, 1e-6, 1e-13);
                r.integrator->step(1);
                return r.integrator->getConstraintForces();
            }();
            Vectors v = state.getVelocities();
            for (int i = 0; i < 3; i++)
                v[i] -= (state.getForces()[i] + constraint[i]) * (0.5 * dt / s.system->getParticleMass(i));
            s.context->setVelocities(v);
        }
        s.integrator->step((int) std::lround(0.128 / dt));
        return s.positions();
    };
    const Vectors exact = end({platform, ConstraintIntegrator::MatrixInversion, "Rattle"}, 1.25e-4);
    const double coarse = distance(end(setup, 0.002), exact), fine = distance(end(setup, 0.001), exact);
    EXPECT_GT(fine, 1e-8) << "nothing to compare";
    EXPECT_NEAR(coarse / fine, 4, 0.4);
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

} // namespace
