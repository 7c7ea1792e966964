// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Sets of distances and angles that are independent stay distances and angles, rigid or not, with multipliers.
#include "support/Dense.h"
#include "support/DenseOracle.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

Molecule water() {
    Molecule m("water");
    m.atom(oxygen, {0, 0, 0});
    m.atom(hydrogen, {0.0757, 0.0586, 0}, 0);
    m.atom(hydrogen, {-0.0757, 0.0586, 0}, 0);
    return m;
}

/** By the distances among the corners of a base, and those of further atoms to all of them. */
Molecule polyhedron(const std::string& name, const Points& places, int base) {
    Molecule m(name);
    for (const Real3& r : places) {
        const int number = m.atom(10 + 3.0 * (double) m.places.size(), r);
        for (int other = 0; other < std::min(number, base); other++)
            m.distances.push_back({other, number});
    }
    return m;
}

/** A chain of atoms by bonds and distances over one atom. */
Molecule chain(int n) {
    Molecule m("chain");
    for (int i = 0; i < n; i++)
        m.atom(12 + i % 3, {0.125 * i, i % 2 ? 0.09 : 0, 0.05 * std::sin(1.3 * i)}, i - 1);
    return byDistancesOverOneAtom(m);
}

/** Ethane's bonds with hydrogen atoms and the angles between these, as constraints=HAngles of ForceField has them: each
 *  methyl group is a tetrahedron with its six distances. */
Molecule ethane() {
    Molecule m("ethane");
    m.atom(carbon, {0, 0, 0});
    m.atom(carbon, {0.153, 0, 0}, 0);
    for (int c : {0, 1})
        for (int i = 0; i < 3; i++) {
            const double angle = 2 * pi / 3 * i + c, x = c == 0 ? -0.036 : 0.189;
            m.atom(hydrogen, {x, 0.103 * std::cos(angle), 0.103 * std::sin(angle)}, c);
        }
    for (int first : {2, 5})
        m.distances = m.distances + allPairs(first, first + 2);
    for (const auto& [i, j] : m.bonds)
        if (j > 1)
            m.distances.push_back({i, j});
    return m;
}

std::vector<Molecule> regularMolecules() {
    const Points bipyramid{{0.1, 0, 0}, {-0.05, 0.0866, 0}, {-0.05, -0.0866, 0}, {0, 0, 0.12}, {0.01, 0, -0.13}};
    Molecule ring = ringOfCarbon(); // whose angles are free
    ring.distances = ring.bonds;
    std::vector<Molecule> all{byAllDistances(water()),
                              byBondsAndAngles(water()),
                              polyhedron("tetrahedron", Points(bipyramid.begin(), bipyramid.begin() + 4), 3),
                              polyhedron("trigonal bipyramid", bipyramid, 3),
                              chain(8),
                              byBondsAndAngles(chain(4)),
                              ethane(),
                              byBondsAndAngles(acetylene()),
                              ring};
    all[2].distances = allPairs(0, 3);
    all[5].distances = all[5].bonds;
    for (Molecule& m : all) {
        if (m.name.rfind("acetylene", 0) == 0)
            continue;
        m.degreesOfFreedom = 3 * (int) m.places.size() - (int) (m.distances.size() + m.angles.size());
        m.pieces.clear();
    }
    return all;
}

class RegularSets : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup{platform, Solver::Automatic, "Rattle"};
};

TEST_P(RegularSets, AreNoBodies) {
    const MoleculeSystem system(regularMolecules());
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    EXPECT_EQ(countBodies(s), 0);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    s.integrator->step(10);
    EXPECT_EQ(s.integrator->getSolverSummary().fittedConstraint, -1);
    EXPECT_EQ(s.integrator->getSolverSummary().absorbed, 0);
    const Arrays x = toArrays(s.positions());
    const std::vector<double> found = s.integrator->getMultipliers();
    const std::vector<std::vector<int>> listed = system.listed();
    ASSERT_EQ(found.size(), listed.size());
    for (std::size_t k = 0; k < listed.size(); k++) {
        EXPECT_NE(found[k], 0) << k;
        const double unit = listed[k].size() == 2 ? 0.1 : 3; // nm, or rad between bonds of 0.1 nm
        EXPECT_NEAR(valueOf(listed[k], x), valueOf(listed[k], system.places), unit * attainable(platform, 1e-9)) << k;
    }
}

TEST_P(RegularSets, HaveTheMultipliersOfTheirEquations) {
    std::vector<Molecule> some;
    for (const Molecule& m : regularMolecules())
        if (m.angles.empty())
            some.push_back(m);
    const MoleculeSystem system(some);
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    s.integrator->step(5);
    const std::vector<double> found = s.integrator->computeMultipliers();
    const Arrays x = toArrays(s.positions()), v = toArrays(s.velocities());
    const Vectors forces = s.context->getState(State::Forces).getForces();
    // (J M^-1 J^T) lambda = -(J M^-1 F + J-dot v), of lengths.
    const std::vector<std::vector<int>> listed = system.listed();
    const int K = (int) listed.size();
    Matrix J = Matrix::Zero(K, 3 * system.numParticles()), JM = J;
    Vector right(K);
    for (int k = 0; k < K; k++) {
        const int i = listed[k][0], j = listed[k][1];
        const Real3 r = x[i] - x[j], w = v[i] - v[j], u = (1 / std::sqrt(dot(r, r))) * r;
        const Vec3 a = forces[i] / system.masses[i] - forces[j] / system.masses[j];
        J.block<1, 3>(k, 3 * i) << u.x, u.y, u.z;
        J.block<1, 3>(k, 3 * j) << -u.x, -u.y, -u.z;
        right[k] = -(u.x * a[0] + u.y * a[1] + u.z * a[2]) - (dot(w, w) - dot(u, w) * dot(u, w)) / distance(x[i], x[j]);
        for (int p : {i, j})
            JM.block<1, 3>(k, 3 * p) = J.block<1, 3>(k, 3 * p) / system.masses[p];
    }
    const Vector expected = solveSymmetric(product(JM, J.transpose()), right);
    const double rounding = 1e3 * precisionOf(platform).force;
    for (int k = 0; k < K; k++)
        EXPECT_NEAR(found[k], expected[k], (1e-8 + rounding) * expected.norm()) << k;
}

INSTANTIATE_TEST_SUITE_P(Platforms, RegularSets, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
