// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Multipliers of distances and angles that are more than a rigid body needs: in a run of any integrator on any platform
// they give the constraint forces, and of all that do they have the least norm.
#include "support/BodySystems.h"
#include "support/Dense.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Molecules with more distances than they need, one beside the other. */
struct Molecules {
    std::vector<TestSystem> parts;

    Molecules() {
        parts.push_back(findSystem("methane"));
        Random random(4);
        TestSystem cluster; // 32 particles with all their distances
        cluster.name = "cluster";
        for (int i = 0; i < 32; i++) {
            cluster.masses.push_back(random.uniform(1, 20));
            cluster.positions.push_back(random.inCube(0.3) + Real3{1, 1, 1});
            for (int j = 0; j < i; j++) {
                const Real3 r = cluster.positions[i] - cluster.positions[j];
                cluster.bonds.push_back({i, j, std::sqrt(dot(r, r))});
            }
        }
        parts.push_back(cluster);
    }
};

class RecognizedReadings : public testing::TestWithParam<Setup> {
protected:
    const Precision precision = precisionOf(std::get<0>(GetParam()));
    const Molecules molecules;

    Matrix gradients(const Vectors& x) const {
        std::size_t rows = 0, row = 0;
        for (const TestSystem& part : molecules.parts)
            rows += part.bonds.size();
        Matrix result = Matrix::Zero(3 * (int) x.size(), (int) rows);
        int first = 0;
        for (const TestSystem& part : molecules.parts) {
            for (const TestSystem::Bond& bond : part.bonds) {
                const Vec3 r = x[first + bond.i] - x[first + bond.j], e = r / std::sqrt(r.dot(r));
                for (int axis = 0; axis < 3; axis++) {
                    result(3 * (first + bond.i) + axis, (int) row) = e[axis];
                    result(3 * (first + bond.j) + axis, (int) row) = -e[axis];
                }
                row++;
            }
            first += part.numParticles();
        }
        return result;
    }
    static Vector flat(const Vectors& values) {
        Vector result(3 * (int) values.size());
        for (std::size_t i = 0; i < values.size(); i++)
            result.segment<3>(3 * (int) i) = Eigen::Vector3d(values[i][0], values[i][1], values[i][2]);
        return result;
    }
    /** @param motion  relative change of what holds in a step, where multipliers are means over several positions */
    void expectLeastNorm(const std::vector<double>& multipliers, const Vectors& x, const Vector* forces = nullptr,
                         double motion = 0) const {
        const Matrix G = gradients(x);
        const Vector lambda = Eigen::Map<const Vector>(multipliers.data(), (int) multipliers.size()),
                     given = apply(G, lambda);
        EXPECT_GT(given.norm(), 10);
        if (forces != nullptr) {
            EXPECT_LT((given - *forces).norm(), (motion + 1e-10 + 10 * precision.force) * forces->norm());
        }
        const Vector least = leastSquares(G, given, 1e-4);
        EXPECT_LT((lambda - least).norm(), (motion + 1e-9 + 100 * precision.force) * least.norm());
    }
};

TEST_P(RecognizedReadings, GiveTheForcesWithLeastNorm) {
    const bool hasSeveralPositions = std::get<2>(GetParam()) == "GeodesicLangevin"; // so steps are short
    auto s = simulate(molecules.parts, Declared::InForce, GetParam(), hasSeveralPositions ? 1e-5 : 0.001, 1e-12);
    s.integrator->step(3);
    const Vectors start = s.positions();
    s.integrator->step(1);
    const Vector all = flat(s.integrator->getConstraintForces());
    expectLeastNorm(s.integrator->getMultipliers(), start, &all, hasSeveralPositions ? 1e-3 : 0);
    if (std::get<2>(GetParam()) == "Rattle" || std::get<2>(GetParam()) == "RattleNoseHoover" ||
        std::get<2>(GetParam()) == "ConstraintForce")
        expectLeastNorm(s.integrator->getVelocityMultipliers(), s.positions());
    expectLeastNorm(s.integrator->computeMultipliers(), s.positions());
}

TEST_P(RecognizedReadings, StayThoseOfTheStepWhenTheStateChanges) {
    auto s = simulate(molecules.parts, Declared::InForce, GetParam(), 0.001, 1e-12);
    s.integrator->step(2);
    const std::vector<double> before = s.integrator->getMultipliers();
    Vectors mirrored = s.positions();
    for (Vec3& r : mirrored)
        r[0] = -r[0];
    s.context->setPositions(mirrored);
    EXPECT_EQ(s.integrator->getMultipliers(), before);
    s.integrator->applyConstraints();
    EXPECT_EQ(s.integrator->getMultipliers(), before);
}

std::vector<Setup> setups() {
    return bodySetups({"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover", "ConstraintForce"});
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecognizedReadings, testing::ValuesIn(setups()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
