// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Multipliers of constraints that depend on each other: those of least norm, against Eigen's pseudoinverse.
#include "LeastNorm.h"
#include "support/Dense.h"
#include "support/Simulation.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

Matrix transposedJacobian(const TestSystem& system) {
    const ConstraintSet set = toConstraintSet(system);
    Jacobian J(set, allConstraints(set));
    J.setStart(system.positions.data(), system.box);
    Matrix result = Matrix::Zero(3 * system.numParticles(), J.numRows());
    for (int row = 0; row < J.numRows(); row++)
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++) {
            if (J.inverseMass[s] == 0)
                continue;
            const Real3& g = J.start[s];
            result.block<3, 1>(3 * J.particle[s], row) += Eigen::Vector3d(g.x, g.y, g.z);
        }
    return result;
}

class LeastNorm : public testing::TestWithParam<std::string> {};

/** Particles that are all joined to all others: far more constraints than coordinates. */
TestSystem clique(int n) {
    TestSystem system;
    Random random(8);
    for (int i = 0; i < n; i++) {
        system.masses.push_back(i == 0 ? 0 : random.uniform(1, 20));
        system.positions.push_back(random.inCube(0.5));
        for (int j = 0; j < i; j++) {
            const Real3 r = system.positions[i] - system.positions[j];
            system.bonds.push_back({i, j, std::sqrt(dot(r, r))});
        }
    }
    return system;
}

TEST_P(LeastNorm, GivesTheSameForcesWithTheSmallestMultipliers) {
    const TestSystem system = GetParam() == "clique" ? clique(15) : findSystem(GetParam());
    const Matrix JT = transposedJacobian(system);
    for (Method method : {Method::Iterative, Method::MatrixInversion}) {
        ConstraintSolver solver(toConstraintSet(system), method);
        std::vector<double> given;
        Random random(5);
        for (int k = 0; k < JT.cols(); k++)
            given.push_back(random.uniform(-1, 1));
        const std::vector<double> found = leastNorm(solver, {given}, system.positions.data(), system.box, 10000).values;
        const Vector before = Eigen::Map<const Vector>(given.data(), given.size());
        const Vector after = Eigen::Map<const Vector>(found.data(), found.size());
        EXPECT_LT(apply(JT, after - before).norm(), 1e-9);
        Vector expected = leastSquares(JT, apply(JT, before), 1e-9);
        for (int k = 0; k < JT.cols(); k++) // a constraint between immovable particles has no force at all
            if (JT.col(k).norm() == 0)
                expected(k) = before(k);
        EXPECT_LT((after - expected).norm(), 1e-8);
    }
}

std::vector<std::string> dependentSystems() {
    std::vector<std::string> names = {"clique"};
    for (const TestSystem& system : systemTable())
        if (!system.isRegular())
            names.push_back(system.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Systems, LeastNorm, testing::ValuesIn(dependentSystems()),
                         [](const auto& info) { return info.param; });

class LeastNormOfARun : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(LeastNormOfARun, IsWhatTheIntegratorReports) {
    TestSystem methane = findSystem("methane");
    Simulation simulation = simulate(methane, Declared::InForce, GetParam(), 0.001);
    simulation.integrator->step(3);
    methane.positions = toArrays(simulation.positions());
    simulation.integrator->step(1);
    const std::vector<double> reported = simulation.integrator->getMultipliers();
    const Vector found = Eigen::Map<const Vector>(reported.data(), reported.size());
    // Of the gradients where the step began.
    const Matrix JT = transposedJacobian(methane);
    int rank = 0;
    const Vector expected = leastSquares(JT, apply(JT, found), 1e-4, &rank);
    ASSERT_EQ(rank, methane.rank);
    EXPECT_LT((found - expected).norm(), 1e-8 * found.norm());
    EXPECT_GT(found.cwiseAbs().minCoeff(), 0);
    // And those of the velocity stage, of the gradients where it ended.
    methane.positions = toArrays(simulation.positions());
    const std::vector<double> ofVelocities = simulation.integrator->getVelocityMultipliers();
    const Vector after = Eigen::Map<const Vector>(ofVelocities.data(), ofVelocities.size());
    const Matrix atEnd = transposedJacobian(methane);
    const Vector smallest = leastSquares(atEnd, apply(atEnd, after), 1e-4, &rank);
    EXPECT_LT((after - smallest).norm(), 1e-8 * after.norm());
    EXPECT_GT(after.cwiseAbs().minCoeff(), 0);
}

TEST_P(LeastNormOfARun, IsThatOfTheStepThoughTheStateHasChangedSince) {
    const TestSystem methane = findSystem("methane");
    const auto read = [&](bool isExchanged) {
        Simulation s = simulate(methane, Declared::InForce, GetParam(), 0.001);
        s.integrator->step(3);
        if (isExchanged) {
            Vectors deformed;
            for (const OpenMM::Vec3& x : s.positions())
                deformed.emplace_back(2 * x[0], 3 * x[1], x[2]);
            s.context->setPositions(deformed);
        }
        return std::pair(s.integrator->getMultipliers(), s.integrator->getVelocityMultipliers());
    };
    EXPECT_EQ(read(true), read(false));
}

INSTANTIATE_TEST_SUITE_P(Platforms, LeastNormOfARun, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
