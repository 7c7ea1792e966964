// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The virial of the constraint forces against finite differences of the energy.
//
// In a rigid molecule r_i = R + rho_i with rho_i.(F_i + G_i) summed to -2 K_rot, G the constraint forces. So
//     tr W + sum_i r_i.F_i = sum_molecules R.F - 2 K_rot,
// where sum r_i.F_i = -dU/d(ln s) when every atom's position is scaled by s, and sum R.F the same when centres of mass
// are. That energy is Reference's at the positions that a platform stores: in single precision differences of energies
// are rounding.
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

enum class Kind { Rod, Water, Dioxide, Plate };

class Virial : public testing::TestWithParam<std::tuple<ConstraintTests::Setup, Kind>> {
protected:
    const ConstraintTests::Setup setup = std::get<0>(GetParam());
    std::vector<double> masses;
    Vectors shape;
    void SetUp() override {
        switch (std::get<1>(GetParam())) {
        case Kind::Rod:
            masses = {14, 16};
            shape = {Vec3(), Vec3(0.115, 0, 0)};
            break;
        case Kind::Water:
            masses = {16, 1, 2};
            shape = {Vec3(), Vec3(0.0757, 0.0586, 0), Vec3(-0.0757, 0.0586, 0)};
            break;
        case Kind::Dioxide:
            masses = {16, 12, 16};
            shape = {Vec3(-0.116, 0, 0), Vec3(), Vec3(0.116, 0, 0)};
            break;
        case Kind::Plate:
            masses = {10, 12, 14, 16};
            shape = {Vec3(), Vec3(0.2, 0, 0), Vec3(0.2, 0.2, 0), Vec3(0, 0.2, 0)};
            break;
        }
    }
};

TEST_P(Virial, IsTheDifferenceOfAtomicAndMolecularScaling) {
    const int n = (int) masses.size(), molecules = 2;
    auto system = std::make_unique<System>();
    auto* constraints = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    Vectors start;
    for (int molecule = 0; molecule < molecules; molecule++) {
        for (int i = 0; i < n; i++) {
            system->addParticle(masses[i]);
            start.push_back(shape[i] + Vec3(0.1, 0.05, 0.4) * molecule);
        }
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                const Vec3 d = shape[i] - shape[j];
                constraints->addDistance(molecule * n + i, molecule * n + j, std::sqrt(d.dot(d)));
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            springs->addBond(i, n + j, 0.3, 700);
    system->addForce(constraints);
    system->addForce(springs);
    auto integrator = makeIntegrator(setup, 0.0001, 1e-12);
    dynamic_cast<ConstraintForceIntegrator&>(*integrator).setStabilization(0, 0);
    Simulation s(std::move(system), std::move(integrator), std::get<0>(setup));
    s.context->setPositions(start);
    Random random(3);
    Vectors fast;
    for (int i = 0; i < n * molecules; i++) {
        const Real3 v = random.inCube(6 / std::sqrt(masses[i % n]));
        fast.emplace_back(v.x, v.y, v.z);
    }
    s.context->setVelocities(fast);
    s.integrator->applyVelocityConstraints();
    s.integrator->step(100); // somewhere
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    const Vectors x = s.positions(), v = s.velocities();
    s.integrator->step(1); // reports what acted at its start
    const Vectors W = s.integrator->getConstraintVirial();

    auto centre = [&](const Vectors& y, int molecule) {
        Vec3 sum;
        double mass = 0;
        for (int i = 0; i < n; i++) {
            sum += y[molecule * n + i] * masses[i];
            mass += masses[i];
        }
        return sum / mass;
    };
    VerletIntegrator unused(0.001);
    const auto reference = makeContext(*s.system, unused, "Reference");
    auto energy = [&](bool wholeMolecules, double scale) {
        Vectors y = x;
        for (int i = 0; i < n * molecules; i++)
            y[i] = wholeMolecules ? x[i] + centre(x, i / n) * (scale - 1) : x[i] * scale;
        reference->setPositions(y);
        return reference->getState(State::Energy).getPotentialEnergy();
    };
    const double h = 1e-5;
    auto virial = [&](bool wholeMolecules) {
        return -(energy(wholeMolecules, 1 + h) - energy(wholeMolecules, 1 - h)) / (2 * h);
    };
    double rotational = 0;
    for (int i = 0; i < n * molecules; i++) {
        const Vec3 w = v[i] - centre(v, i / n);
        rotational += 0.5 * masses[i % n] * w.dot(w);
    }
    const double trace = W[0][0] + W[1][1] + W[2][2];
    EXPECT_GT(std::abs(trace), 5);
    EXPECT_NEAR(trace, virial(true) - virial(false) - 2 * rotational, 1e-5 * std::abs(trace));
    // The torque of internal forces vanishes: the tensor is symmetric.
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            EXPECT_NEAR(W[i][j], W[j][i], (1e-7 + precisionOf(std::get<0>(setup)).constraint) * std::abs(trace));
}

std::string nameOfCase(const testing::TestParamInfo<Virial::ParamType>& info) {
    const char* const names[] = {"Rod", "Water", "Dioxide", "Plate"};
    return nameOf(std::get<0>(info.param)) + "_" + names[(int) std::get<1>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Molecules, Virial,
                         testing::Combine(testing::ValuesIn(setupsOf("ConstraintForce")),
                                          testing::Values(Kind::Rod, Kind::Water, Kind::Dioxide, Kind::Plate)),
                         nameOfCase);

} // namespace
