// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The blue moon ensemble's Z and G against determinants and finite differences.
#include "BlueMoon.h"
#include "support/Dense.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** Five particles with distances, angles and a dihedral, at random positions that satisfy all of them. */
struct Cluster5 {
    ConstraintSet set;
    std::vector<Real3> positions;
    Box box{{50, 0, 0}, {0, 50, 0}, {0, 0, 50}};

    explicit Cluster5(unsigned seed) {
        Random random(seed);
        for (int i = 0; i < 5; i++) {
            set.inverseMass.push_back(1 / random.uniform(1, 20));
            positions.push_back(random.inCube(1));
        }
        add(CoordinateKind::Distance, {0, 1});
        add(CoordinateKind::Distance, {1, 2});
        add(CoordinateKind::Distance, {2, 3});
        add(CoordinateKind::Angle, {0, 1, 2});
        add(CoordinateKind::Dihedral, {0, 1, 2, 3});
        add(CoordinateKind::Distance, {0, 4});
    }
    void add(CoordinateKind kind, std::vector<int> particles) {
        Constraint c;
        c.kind = kind;
        c.particles = std::move(particles);
        c.index = (int) set.constraints.size();
        c.target = 1;
        set.constraints.push_back(c);
        set.numListed++;
    }
    Matrix jacobian(const std::vector<Real3>& x) const {
        std::vector<int> all = allConstraints(set);
        Jacobian J(set, all);
        J.setStart(x.data(), box);
        Matrix dense = Matrix::Zero(all.size(), 15);
        for (int row = 0; row < J.numRows(); row++)
            for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++) {
                dense(row, 3 * J.particle[s]) += J.start[s].x;
                dense(row, 3 * J.particle[s] + 1) += J.start[s].y;
                dense(row, 3 * J.particle[s] + 2) += J.start[s].z;
            }
        return dense;
    }
    Matrix inverseMass() const {
        Matrix m = Matrix::Zero(15, 15);
        for (int i = 0; i < 15; i++)
            m(i, i) = set.inverseMass[i / 3];
        return m;
    }
    /** J M^-1 J^T */
    Matrix couplings(const std::vector<Real3>& x) const {
        const Matrix J = jacobian(x);
        return product(J, product(inverseMass(), J.transpose()));
    }
    double logRatio(const std::vector<Real3>& x, const std::vector<int>& coordinates) const {
        const Matrix Z = couplings(x);
        std::vector<int> rest;
        for (int k = 0; k < (int) set.constraints.size(); k++)
            if (std::find(coordinates.begin(), coordinates.end(), k) == coordinates.end())
                rest.push_back(k);
        return std::log(determinant(Z)) - std::log(determinant(Z(rest, rest)));
    }
};

/** The determinants' ratio, and half its derivative along each coordinate's M^-1 J^T Z^-1. */
void expectTerms(const Cluster5& cluster, const std::vector<int>& coordinates, double logZ,
                 const std::vector<double>& corrections) {
    EXPECT_NEAR(logZ, cluster.logRatio(cluster.positions, coordinates), 1e-9);
    const Matrix pull = product(cluster.inverseMass(), cluster.jacobian(cluster.positions).transpose());
    const Matrix inverse = ConstraintTests::inverse(cluster.couplings(cluster.positions));
    for (std::size_t i = 0; i < coordinates.size(); i++) {
        const Vector b = apply(pull, Vector(inverse.col(coordinates[i])));
        const double h = 1e-5;
        auto moved = [&](double by) {
            std::vector<Real3> x = cluster.positions;
            for (int p = 0; p < 5; p++)
                x[p] += by * Real3{b(3 * p), b(3 * p + 1), b(3 * p + 2)};
            return cluster.logRatio(x, coordinates);
        };
        const double expected = 0.5 * (moved(h) - moved(-h)) / (2 * h);
        EXPECT_NEAR(corrections[i], expected, 1e-5 * (1 + std::abs(expected)));
    }
}

class BlueMoonTerms : public testing::TestWithParam<std::vector<int>> {};

TEST_P(BlueMoonTerms, AreTheDeterminantsRatioAndItsDerivative) {
    for (unsigned seed = 1; seed <= 5; seed++) {
        const Cluster5 cluster(seed);
        ConstraintSolver solver(cluster.set, Method::MatrixInversion);
        const BlueMoon terms = computeBlueMoon(solver, GetParam(), cluster.positions.data(), cluster.box, 100);
        expectTerms(cluster, GetParam(), terms.logZ, terms.corrections);
    }
}

INSTANTIATE_TEST_SUITE_P(Coordinates, BlueMoonTerms,
                         testing::Values(std::vector<int>{0}, std::vector<int>{3}, std::vector<int>{4},
                                         std::vector<int>{4, 5}, std::vector<int>{3, 0, 4}));

TEST(BlueMoonTerms, OfOneConstraintAloneIsTheFormulaOfCarter) {
    // xi = angle: Z = sum |grad xi|^2/m, G = (1/Z^2) sum_ij grad_i xi . H_ij . grad_j xi / (m_i m_j)
    Cluster5 cluster(3);
    cluster.set.constraints = {cluster.set.constraints[3]};
    cluster.set.numListed = 1;
    ConstraintSolver solver(cluster.set, Method::MatrixInversion);
    const BlueMoon terms = computeBlueMoon(solver, {0}, cluster.positions.data(), cluster.box, 100);
    const Vector gradient = cluster.jacobian(cluster.positions).row(0);
    const double Z = gradient.dot(apply(cluster.inverseMass(), gradient));
    EXPECT_NEAR(terms.logZ, std::log(Z), 1e-10);
    double G = 0;
    const Vector w = apply(cluster.inverseMass(), gradient);
    for (int j = 0; j < 15; j++) {
        const double h = 1e-6;
        auto moved = [&](double by) {
            std::vector<Real3> x = cluster.positions;
            (j % 3 == 0 ? x[j / 3].x : j % 3 == 1 ? x[j / 3].y : x[j / 3].z) += by;
            return Vector(cluster.jacobian(x).row(0));
        };
        G += w.dot((moved(h) - moved(-h)) / (2 * h)) * w(j) / (Z * Z);
    }
    EXPECT_NEAR(terms.corrections[0], G, 1e-6 * (1 + std::abs(G)));
}

TEST(BlueMoonTerms, RefuseACoordinateThatDependsOnOthers) {
    Cluster5 cluster(1);
    cluster.set.constraints.push_back(cluster.set.constraints[0]); // a duplicate: one of the two is not solved
    ConstraintSolver solver(cluster.set, Method::MatrixInversion);
    int refused = 0;
    for (int k : {0, 6})
        try {
            computeBlueMoon(solver, {k}, cluster.positions.data(), cluster.box, 100);
        } catch (const std::runtime_error&) {
            refused++;
        }
    EXPECT_EQ(refused, 1);
}

class BlueMoonOn : public testing::TestWithParam<std::string> {};

TEST_P(BlueMoonOn, AreThoseOfThePositionsThatAPlatformStores) {
    Cluster5 cluster(2);
    auto system = std::make_unique<OpenMM::System>();
    for (double w : cluster.set.inverseMass)
        system->addParticle(1 / w);
    auto* springs = new OpenMM::HarmonicBondForce();
    springs->addBond(3, 4, 0.5, 100);
    system->addForce(springs);
    auto* constraints = new ConstraintForce();
    std::vector<int> reported; // distances, angles, dihedrals
    for (CoordinateKind kind : {CoordinateKind::Distance, CoordinateKind::Angle, CoordinateKind::Dihedral})
        for (const Constraint& c : cluster.set.constraints) {
            if (c.kind != kind)
                continue;
            const std::vector<int>& p = c.particles;
            Real3 b[3], G[3];
            for (int s = 0; s + 1 < c.size(); s++)
                b[s] = cluster.positions[p[s]] - cluster.positions[p[s + 1]];
            const double value = coordinate(kind, b, G);
            if (kind == CoordinateKind::Distance)
                constraints->addDistance(p[0], p[1], value);
            else if (kind == CoordinateKind::Angle)
                constraints->addAngle(p[0], p[1], p[2], value);
            else
                constraints->addDihedral(p[0], p[1], p[2], p[3], value);
            reported.push_back(c.index);
        }
    system->addForce(constraints);
    Simulation s(std::move(system), makeIntegrator({GetParam(), ConstraintIntegrator::Automatic, "Rattle"}, 0.001),
                 GetParam());
    s.context->setPositions(toVectors(cluster.positions));
    s.context->setVelocitiesToTemperature(300, 1);
    s.integrator->step(10);
    cluster.positions = toArrays(s.positions());
    const std::vector<int> chosen = {4, 5, 0}; // as they are reported
    std::vector<double> multipliers, corrections;
    double logZ;
    s.integrator->computeBlueMoon(chosen, multipliers, corrections, logZ);
    std::vector<int> coordinates;
    for (int k : chosen)
        coordinates.push_back(reported[k]);
    expectTerms(cluster, coordinates, logZ, corrections);
    const std::vector<double> all = s.integrator->computeMultipliers();
    for (int i : {0, 1, 2})
        EXPECT_EQ(multipliers[i], all[chosen[i]]);
}

INSTANTIATE_TEST_SUITE_P(Platforms, BlueMoonOn, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
