// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// In a heat bath a particle is everywhere on a surface with the Boltzmann weight of its potential energy, per area.
// What is random is drawn from a fixed seed, and compared within six standard errors.
#include "support/Langevin.h"
#include "support/Statistics.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Means over time of a function of positions, one for each of many particles that do not interact. */
std::vector<double> sample(const ConstraintTests::Setup& setup, const std::string& sigma, const Vec3& start,
                           const std::string& energy, const std::function<double(const Vec3&)>& observable) {
    const int n = 1000, count = 12;
    auto system = std::make_unique<System>();
    auto* surface = new CustomConstraintForce(1, sigma);
    auto* potential = new CustomExternalForce(energy);
    for (int i = 0; i < n; i++) {
        surface->addConstraint({system->addParticle(2)});
        potential->addParticle(i);
    }
    system->addForce(surface);
    system->addForce(potential);
    Simulation s(std::move(system), makeIntegrator(setup, 0.008, 1e-6), std::get<0>(setup));
    s.context->setPositions(Vectors(n, start));
    s.context->setVelocitiesToTemperature(300, 5);
    s.integrator->step(400);
    std::vector<double> means(n), temperatures;
    for (int i = 0; i < count; i++) {
        s.integrator->step(50); // two relaxation times: other velocities
        const Vectors x = s.positions();
        for (int p = 0; p < n; p++)
            means[p] += observable(x[p]) / count;
        temperatures.push_back(s.integrator->computeSystemTemperature());
    }
    expectMeanOfSquares(temperatures, 300, 2 * n, 0.06);
    return means;
}

class SurfaceEnsemble : public Langevin {};

TEST_P(SurfaceEnsemble, SamplesAHeavyBallOnASphere) {
    // p(z) ~ exp(-a z/r): the mean of z/r is minus the Langevin function of a.
    const double a = 2, r = 0.4, force = a * kT / r;
    const auto heights = sample(GetParam(), "x1^2 + y1^2 + z1^2 - 0.16", Vec3(r, 0, 0), std::to_string(force) + "*z",
                                [&](const Vec3& x) { return -x[2] / r; });
    expectMean(heights, 1 / std::tanh(a) - 1 / a, 0.08);
}

TEST_P(SurfaceEnsemble, SamplesATorusPerArea) {
    // A free particle: the outer half is larger. The mean of cos(theta) about the tube is r/(2R).
    const double R = 0.4, r = 0.25;
    const auto cosines = sample(GetParam(), "(sqrt(x1^2 + y1^2) - 0.4)^2 + z1^2 - 0.0625", Vec3(R, 0, r), "0",
                                [&](const Vec3& x) { return (std::hypot(x[0], x[1]) - R) / r; });
    expectMean(cosines, r / (2 * R), 0.17);
}

TEST_P(SurfaceEnsemble, SamplesASurfaceWhateverTheExpressionThatGivesIt) {
    // The same sphere by a function with another gradient, steeper at the top: per area, and not per its inverse.
    const auto heights = sample(GetParam(), "(sqrt(x1^2 + y1^2 + z1^2) - 0.4)*exp(3*z1)", Vec3(0.4, 0, 0), "0",
                                [](const Vec3& x) { return x[2] * x[2] / 0.16; });
    expectMean(heights, 1.0 / 3, 0.06);
}

/** One of each platform: one particle's constraint is the same to all solvers. */
std::vector<ConstraintTests::Setup> someSetups() {
    std::vector<ConstraintTests::Setup> setups;
    for (const std::string& platform : platformsUnderTest())
        setups.emplace_back(platform, ConstraintIntegrator::MatrixInversion, "RattleLangevin");
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, SurfaceEnsemble, testing::ValuesIn(someSetups()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
