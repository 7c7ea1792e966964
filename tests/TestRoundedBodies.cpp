// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies whose positions are rounded as in files: a body is what its positions say.
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

struct Molecule {
    std::string name;
    std::vector<double> masses;
    Vectors shape;
    int degreesOfFreedom;
};

Vectors benzene() {
    Vectors x;
    for (double radius : {0.1397, 0.2481})
        for (int i = 0; i < 6; i++)
            x.emplace_back(radius * std::cos(M_PI / 3 * i), radius * std::sin(M_PI / 3 * i), 0);
    return x;
}

Vectors acetonitrile() {
    Vectors x = {Vec3(), Vec3(0.1458, 0, 0), Vec3(0.2615, 0, 0)};
    for (int i = 0; i < 3; i++)
        x.emplace_back(-0.0371, 0.1024 * std::cos(2 * M_PI / 3 * i), 0.1024 * std::sin(2 * M_PI / 3 * i));
    return x;
}

const std::vector<Molecule>& molecules() {
    static const std::vector<Molecule> all = {
        {"Benzene", {12, 12, 12, 12, 12, 12, 1, 1, 1, 1, 1, 1}, benzene(), 6},
        // CA, C, O, N, H, CA
        {"PeptidePlane",
         {12, 12, 16, 14, 1, 12},
         {Vec3(-0.1423, 0.0541, 0), Vec3(), Vec3(0.0007, 0.1229, 0), Vec3(0.1104, -0.0744, 0), Vec3(0.1048, -0.1752, 0),
          Vec3(0.2425, -0.0139, 0)},
         6},
        {"CarbonDioxide", {12, 16, 16}, {Vec3(), Vec3(0.116, 0, 0), Vec3(-0.116, 0, 0)}, 5},
        {"Acetonitrile", {12, 12, 14, 1, 1, 1}, acetonitrile(), 6},
        {"Water", {16, 1, 1}, {Vec3(), Vec3(0.0757, 0.0586, 0), Vec3(-0.0757, 0.0586, 0)}, 6},
    };
    return all;
}

constexpr int numOrientations = 60;

/** The molecule in orientations at random, coordinates in units of a file (nm). */
Vectors rounded(const Molecule& molecule, double unit) {
    Random random(7);
    Vectors x;
    for (int m = 0; m < numOrientations; m++) {
        const auto vector = [&] {
            const Real3 r = random.inCube(1);
            return Vec3(r.x, r.y, r.z);
        };
        Vec3 a = vector(), b = vector();
        a /= length(a);
        b -= a * a.dot(b);
        b /= length(b);
        const Vec3 c = a.cross(b), place = vector() * 3;
        for (const Vec3& r : molecule.shape) {
            Vec3 at = place + a * r[0] + b * r[1] + c * r[2];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = unit * std::round(at[axis] / unit);
            x.push_back(at);
        }
    }
    return x;
}

using Case = std::tuple<int, double, std::string>; // molecule, unit (nm), integrator

class RoundedBodies : public testing::TestWithParam<Case> {};

TEST_P(RoundedBodies, RunWithTheirShapeAndDegreesOfFreedom) {
    const auto& [index, unit, name] = GetParam();
    const Molecule& molecule = molecules()[index];
    const int n = (int) molecule.shape.size();
    const Vectors start = rounded(molecule, unit);
    System system;
    auto* force = new ConstraintForce();
    auto* field = new CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
    for (int m = 0; m < numOrientations; m++) {
        std::vector<int> particles;
        for (int i = 0; i < n; i++) {
            particles.push_back(system.addParticle(molecule.masses[i]));
            field->addParticle(particles.back());
        }
        force->addRigidBody(particles, Vectors(start.begin() + m * n, start.begin() + (m + 1) * n));
    }
    system.addForce(force);
    system.addForce(field);
    const bool drifts = name == "ConstraintForce";
    const IntegratorPointer integrator =
        makeIntegrator({"Reference", Solver::Automatic, name}, drifts ? 0.00025 : 0.001);
    auto context = makeContext(system, *integrator, "Reference");
    EXPECT_EQ(integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom * numOrientations);
    context->setPositions(start);
    const double shift = integrator->applyConstraints(), lineShift = integrator->getSolverSummary().lineShift;
    const bool isLinear = molecule.degreesOfFreedom == 5;
    EXPECT_EQ(lineShift > 0, isLinear);
    EXPECT_NEAR(shift, lineShift, 0.1 * lineShift + 1e-14) << "particles move onto the line";
    EXPECT_LT(lineShift, unit) << "half a unit along each axis, and the line that fits best";
    const Vectors shape = context->getState(State::Positions).getPositions();
    context->setVelocitiesToTemperature(300, 1);
    integrator->step(20);
    const Vectors x = context->getState(State::Positions).getPositions();
    const double bound = drifts ? 1e-5 : 1e-13;
    for (int m = 0; m < numOrientations; m++) {
        EXPECT_GT(length(x[m * n] - shape[m * n]), 1e-5);
        for (int i = m * n; i < (m + 1) * n; i++)
            for (int j = m * n; j < i; j++) {
                EXPECT_NEAR(length(x[i] - x[j]), length(shape[i] - shape[j]), bound);
                if (!isLinear) {
                    EXPECT_NEAR(length(shape[i] - shape[j]), length(start[i] - start[j]), 1e-13);
                }
            }
    }
}

INSTANTIATE_TEST_SUITE_P(Files, RoundedBodies,
                         testing::Combine(testing::Range(0, (int) molecules().size()), testing::Values(1e-3, 1e-4),
                                          testing::Values("Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                          "RattleNoseHoover", "ConstraintForce")),
                         [](const auto& info) {
                             return molecules()[std::get<0>(info.param)].name +
                                    (std::get<1>(info.param) == 1e-3 ? "Gro" : "Pdb") + std::get<2>(info.param);
                         });

} // namespace
