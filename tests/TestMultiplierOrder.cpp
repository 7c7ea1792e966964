// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Multipliers of all kinds of constraints: what SHAKE, RATTLE and the explicit constraint force report agrees as the
// time step vanishes. RATTLE's position stage at first order, its mean with the velocity stage before and SHAKE's at
// second.
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr double time = 0.04;

/** A chain of five with a distance, an angle, a dihedral, a bond to a particle on a surface, and springs. */
Simulation start(const std::string& integrator, double stepSize) {
    auto system = std::make_unique<System>();
    const Vectors x = {{0, 0, 0}, {0.15, 0, 0}, {0.2, 0.14, 0}, {0.33, 0.16, 0.09}, {0.4, 0.3, 0.1}};
    auto* springs = new HarmonicBondForce();
    auto* field = new CustomExternalForce("30*x*y + 20*z - 40*x");
    for (int i = 0; i < 5; i++) {
        system->addParticle(12 - 2 * i);
        field->addParticle(i, {});
        for (int j = i + 1; j < 5; j++)
            springs->addBond(i, j, 0.2, 900);
    }
    auto length = [&](int i, int j) { return std::sqrt((x[i] - x[j]).dot(x[i] - x[j])); };
    auto* constraints = new ConstraintForce();
    constraints->addDistance(0, 1, length(0, 1));
    constraints->addDistance(3, 4, length(3, 4));
    constraints->addAngle(0, 1, 2, 1.9);
    constraints->addDihedral(0, 1, 2, 3, 0.6);
    constraints->addCentroidDistance({0, 1}, {3, 4}, 0.33);
    auto* surface = new CustomConstraintForce(1, "sqrt(x1^2 + y1^2 + 2*z1^2) - r");
    surface->addPerConstraintParameter("r");
    surface->addConstraint({4}, {0.52});
    for (Force* force : std::initializer_list<Force*>{springs, field, constraints, surface})
        system->addForce(force);
    Simulation s(std::move(system),
                 makeIntegrator({"Reference", ConstraintIntegrator::MatrixInversion, integrator}, stepSize, 1e-13),
                 "Reference");
    s.context->setPositions(x);
    s.context->setVelocities({{0.3, 0.1, 0}, {-0.1, 0.2, 0.4}, {0.5, -0.4, 0.3}, {0, 0.1, -0.2}, {0.2, -0.3, 0.1}});
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    if (integrator == "Shake") { // its velocities are half a step behind
        const State state = s.context->getState(State::Velocities | State::Forces);
        const Vectors v = state.getVelocities(), f = state.getForces();
        Simulation exact = start("ConstraintForce", 1e-9);
        exact.integrator->step(1);
        const Vectors g = exact.integrator->getConstraintForces();
        Vectors behind;
        for (int i = 0; i < 5; i++)
            behind.push_back(v[i] - (f[i] + g[i]) * (0.5 * stepSize / s.system->getParticleMass(i)));
        s.context->setVelocities(behind);
    }
    return s;
}

/** Largest deviation relative to the largest multiplier. */
double deviation(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0, scale = 0;
    for (std::size_t k = 0; k < a.size(); k++) {
        largest = std::max(largest, std::abs(a[k] - b[k]));
        scale = std::max(scale, std::abs(b[k]));
    }
    return largest / scale;
}

TEST(MultiplierOrder, AllIntegratorsAgreeAsTheTimeStepVanishes) {
    Simulation reference = start("Rattle", 0.00002);
    reference.integrator->step((int) std::lround(time / 0.00002));
    const std::vector<double> exact = reference.integrator->computeMultipliers();
    ASSERT_EQ(exact.size(), 6u);
    double position[2], mean[2], shake[2], shakeExact[2], explicitForce[2];
    for (int i : {0, 1}) {
        const double dt = i == 0 ? 0.0005 : 0.00025;
        const int steps = (int) std::lround(time / dt);
        Simulation rattle = start("Rattle", dt), leapfrog = start("Shake", dt), force = start("ConstraintForce", dt);
        rattle.integrator->step(steps);
        std::vector<double> both = rattle.integrator->getVelocityMultipliers();
        rattle.integrator->step(1);
        const std::vector<double> first = rattle.integrator->getMultipliers();
        for (std::size_t k = 0; k < both.size(); k++)
            both[k] = 0.5 * (both[k] + first[k]);
        position[i] = deviation(first, exact);
        mean[i] = deviation(both, exact);
        leapfrog.integrator->step(steps);
        shakeExact[i] = deviation(leapfrog.integrator->computeMultipliers(), exact);
        leapfrog.integrator->step(1);
        shake[i] = deviation(leapfrog.integrator->getMultipliers(), exact);
        dynamic_cast<ConstraintForceIntegrator&>(*force.integrator).setStabilization(50, 50);
        force.integrator->step(steps + 1);
        explicitForce[i] = deviation(force.integrator->getMultipliers(), exact);
    }
    auto expectOrder = [](const double error[2], int order, const char* what) {
        SCOPED_TRACE(what);
        EXPECT_GT(error[0], 1e-7);
        EXPECT_LT(error[0], 0.05);
        EXPECT_NEAR(error[0] / error[1], std::pow(2, order), 0.35 * order);
    };
    expectOrder(position, 1, "RATTLE, position stage");
    expectOrder(mean, 2, "RATTLE, mean with the velocity stage before");
    expectOrder(shake, 2, "SHAKE");
    expectOrder(shakeExact, 2, "SHAKE, instantaneous");
    expectOrder(explicitForce, 2, "explicit force");
}

} // namespace
