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

constexpr double time = 0.128;

/** A chain of five with a distance, an angle, a dihedral, a bond to a particle on a surface, and springs. */
Simulation makeChain(const ConstraintTests::Setup& setup, double stepSize) {
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
    Simulation s(std::move(system), makeIntegrator(setup, stepSize, 1e-13), std::get<0>(setup));
    s.context->setPositions(x);
    return s;
}

/** Where all begin, on the constraints in double precision. */
struct Start {
    Vectors positions, velocities, accelerations;

    Start() {
        Simulation s = makeChain({"Reference", ConstraintIntegrator::MatrixInversion, "ConstraintForce"}, 1e-9);
        s.context->setVelocities({{0.3, 0.1, 0}, {-0.1, 0.2, 0.4}, {0.5, -0.4, 0.3}, {0, 0.1, -0.2}, {0.2, -0.3, 0.1}});
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
        const State state = s.context->getState(State::Positions | State::Velocities | State::Forces);
        positions = state.getPositions();
        velocities = state.getVelocities();
        s.integrator->step(1);
        const Vectors constraintForces = s.integrator->getConstraintForces();
        for (int i = 0; i < 5; i++)
            accelerations.push_back((state.getForces()[i] + constraintForces[i]) / s.system->getParticleMass(i));
    }
};

Simulation start(ConstraintTests::Setup setup, const std::string& integrator, double stepSize) {
    static const Start start;
    std::get<2>(setup) = integrator;
    Simulation s = makeChain(setup, stepSize);
    Vectors v = start.velocities;
    if (integrator == "Shake") // its velocities are half a step behind
        for (int i = 0; i < 5; i++)
            v[i] -= start.accelerations[i] * (0.5 * stepSize);
    s.context->setPositions(start.positions);
    s.context->setVelocities(v);
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

/** At the end of the run, in the limit of short steps. */
const std::vector<double>& exactMultipliers() {
    static const std::vector<double> exact = [] {
        Simulation s = start({"Reference", ConstraintIntegrator::MatrixInversion, ""}, "Rattle", 0.00002);
        s.integrator->step((int) std::lround(time / 0.00002));
        return s.integrator->computeMultipliers();
    }();
    return exact;
}

class MultiplierOrder : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const Precision precision = precisionOf(std::get<0>(GetParam()));

    struct Method {
        std::string name;
        int order;
        double error[2]; ///< with the longer step, and with half of it
    };
    static void expectOrders(const std::vector<Method>& methods) {
        for (const Method& method : methods) {
            SCOPED_TRACE(method.name);
            const double ratio = method.error[0] / method.error[1];
            EXPECT_GT(method.error[0], 1e-7);
            EXPECT_LT(method.error[0], 0.05);
            EXPECT_NEAR(ratio, std::pow(2, method.order), 0.35 * method.order);
        }
    }
};

TEST_P(MultiplierOrder, OfImpulsesIsOneForRattlesPositionStageAndTwoForItsMeanAndShakes) {
    // An impulse moves positions by dt^2: as forces, their rounding is that over dt^2.
    const double coarse = precision.position > 1e-8 ? 0.016 : precision.force > 1e-8 ? 0.004 : 0.0005;
    Method position{"RATTLE, position stage", 1, {}}, mean{"RATTLE, mean with the velocity stage before", 2, {}},
        shake{"SHAKE", 2, {}};
    for (int i : {0, 1}) {
        const double dt = i == 0 ? coarse : coarse / 2;
        const int steps = (int) std::lround(time / dt);
        Simulation rattle = start(GetParam(), "Rattle", dt), leapfrog = start(GetParam(), "Shake", dt);
        rattle.integrator->step(steps);
        std::vector<double> both = rattle.integrator->getVelocityMultipliers();
        rattle.integrator->step(1);
        const std::vector<double> first = rattle.integrator->getMultipliers();
        for (std::size_t k = 0; k < both.size(); k++)
            both[k] = 0.5 * (both[k] + first[k]);
        position.error[i] = deviation(first, exactMultipliers());
        mean.error[i] = deviation(both, exactMultipliers());
        leapfrog.integrator->step(steps + 1);
        shake.error[i] = deviation(leapfrog.integrator->getMultipliers(), exactMultipliers());
    }
    expectOrders({position, mean, shake});
}

TEST_P(MultiplierOrder, OfAccelerationsIsTwo) {
    const double coarse = precision.force > 1e-8 ? 0.002 : 0.0005;
    Method instantaneous{"SHAKE, instantaneous", 2, {}}, explicitForce{"explicit force", 2, {}};
    for (int i : {0, 1}) {
        const double dt = i == 0 ? coarse : coarse / 2;
        const int steps = (int) std::lround(time / dt);
        Simulation leapfrog = start(GetParam(), "Shake", dt), force = start(GetParam(), "ConstraintForce", dt);
        leapfrog.integrator->step(steps);
        instantaneous.error[i] = deviation(leapfrog.integrator->computeMultipliers(), exactMultipliers());
        dynamic_cast<ConstraintForceIntegrator&>(*force.integrator).setStabilization(50, 50);
        force.integrator->step(steps + 1);
        explicitForce.error[i] = deviation(force.integrator->getMultipliers(), exactMultipliers());
    }
    expectOrders({instantaneous, explicitForce});
}

INSTANTIATE_TEST_SUITE_P(Platforms, MultiplierOrder, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
