// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Multipliers of the distances and angles of recognized bodies: those of least norm that give the body's forces.
#include "support/Dense.h"
#include "support/FreeFlight.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Gradients of listed distances and angles, a column each. */
Matrix gradients(const MoleculeSystem& system, const Arrays& x) {
    const std::vector<std::vector<int>> listed = system.listed();
    Matrix result = Matrix::Zero(3 * system.numParticles(), listed.size());
    for (int k = 0; k < (int) listed.size(); k++) {
        const std::vector<int>& p = listed[k];
        const auto add = [&](int particle, const Real3& g) {
            if (system.masses[particle] > 0)
                result.block<3, 1>(3 * particle, k) += Eigen::Vector3d(g.x, g.y, g.z);
        };
        if (p.size() == 2) {
            const Real3 r = x[p[0]] - x[p[1]], u = (1 / std::sqrt(dot(r, r))) * r;
            add(p[0], u);
            add(p[1], -1 * u);
        } else {
            const Real3 a = x[p[0]] - x[p[1]], b = x[p[2]] - x[p[1]];
            const double la = std::sqrt(dot(a, a)), lb = std::sqrt(dot(b, b)), cosine = dot(a, b) / (la * lb),
                         sine = std::sqrt(1 - cosine * cosine);
            const Real3 ga = (1 / (la * sine)) * ((cosine / la) * a - (1 / lb) * b),
                        gb = (1 / (lb * sine)) * ((cosine / lb) * b - (1 / la) * a);
            add(p[0], ga);
            add(p[2], gb);
            add(p[1], -1 * (ga + gb));
        }
    }
    return result;
}

Vector flattened(const Vectors& v) {
    Vector result(3 * v.size());
    for (std::size_t i = 0; i < v.size(); i++)
        result.segment<3>(3 * i) << v[i][0], v[i][1], v[i][2];
    return result;
}

Vector vectorOf(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), values.size());
}

/** Whole bodies and chains of bodies that are neither flat nor linear. */
const std::vector<std::string> spatial{"methane by all distances",       "bromochlorofluoromethane by all distances",
                                       "methane by bonds and angles",    "toluene by all distances",
                                       "neopentane by bonds and angles", "cyclohexane, chair by bonds and angles",
                                       "C60 by short distances",         "C60 by distances over one atom",
                                       "barrel by short distances",      "32 particles by all distances"};

class RecognizedMultipliers : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const Precision precision = precisionOf(platform);
};

TEST_P(RecognizedMultipliers, GiveTheForcesWithTheLeastNorm) {
    std::vector<Molecule> some;
    for (const std::string& name : spatial)
        some.push_back(findMolecule(name));
    std::vector<MoleculeSystem> systems;
    if (isDevice(platform))
        systems.emplace_back(some);
    else
        for (const Molecule& molecule : some)
            systems.emplace_back(std::vector<Molecule>{molecule});
    for (const MoleculeSystem& system : systems)
        for (const char* integrator :
             {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover", "ConstraintForce"}) {
            SCOPED_TRACE(system.molecules[0].name + " " + integrator);
            if (isDevice(platform) && integrator != std::string("Rattle"))
                continue; // what they have in common was compiled once
            // Its multipliers are means over several positions, so its steps are short, and gradients turn a little.
            const bool hasSeveralPositions = integrator == std::string("GeodesicLangevin");
            const double dt = hasSeveralPositions ? 1e-5 : 0.001, motion = hasSeveralPositions ? 1e-3 : 0;
            Simulation s = system.simulate({platform, Solver::Automatic, integrator}, dt, DeclaredAs::Listed, 1e-10);
            s.integrator->step(3);
            const Matrix atStart = gradients(system, toArrays(s.positions()));
            s.integrator->step(1);
            const Vector found = vectorOf(s.integrator->getMultipliers());
            const Vector forces = flattened(s.integrator->getConstraintForces());
            ASSERT_EQ(found.size(), atStart.cols());
            const double rounding = 1e3 * precision.force;
            EXPECT_LT((apply(atStart, found) - forces).norm(), (motion + 1e-9 + rounding) * forces.norm());
            EXPECT_GT(found.norm(), 1);
            if (!system.molecules[0].angles.empty())
                continue;
            const Vector least = leastSquares(atStart, forces, 1e-7);
            EXPECT_LT((found - least).norm(), (motion + 1e-8 + 10 * rounding) * found.norm());
        }
}

TEST_P(RecognizedMultipliers, OfTheVelocityStageAreThoseAtItsEnd) {
    for (const std::string& name : {spatial[0], spatial[4], spatial[9]}) {
        SCOPED_TRACE(name);
        const MoleculeSystem system({findMolecule(name)});
        Simulation s = system.simulate({platform, Solver::Automatic, "Rattle"}, 0.0005, DeclaredAs::Listed, 1e-10);
        s.integrator->step(4);
        const Matrix atEnd = gradients(system, toArrays(s.positions()));
        const Vector ofVelocities = vectorOf(s.integrator->getVelocityMultipliers());
        const Vector forces = apply(atEnd, ofVelocities), least = leastSquares(atEnd, forces, 1e-7);
        if (system.molecules[0].angles.empty()) {
            EXPECT_LT((ofVelocities - least).norm(), (1e-8 + 1e4 * precision.force) * least.norm());
        }
        // Both stages are the instantaneous ones, but for the step size.
        const Vector now = vectorOf(s.integrator->computeMultipliers());
        EXPECT_LT((ofVelocities - now).norm(), 0.2 * now.norm());
        EXPECT_GT(now.norm(), 1);
    }
}

TEST_P(RecognizedMultipliers, ComputedOnesHoldTheSecondDerivatives) {
    std::vector<Molecule> some;
    for (const std::string& name : spatial)
        some.push_back(findMolecule(name));
    const MoleculeSystem system(some);
    Simulation s = system.simulate({platform, Solver::Automatic, "Rattle"}, 0.001, DeclaredAs::Listed, 1e-10);
    s.integrator->step(5);
    const Vector found = vectorOf(s.integrator->computeMultipliers());
    const Arrays x = toArrays(s.positions()), v = toArrays(s.velocities());
    const Vector ofConstraints = apply(gradients(system, x), found);
    const Vectors forces = s.context->getState(State::Forces).getForces();
    Arrays a;
    for (int i = 0; i < system.numParticles(); i++) {
        const double m = system.masses[i];
        a.push_back({(forces[i][0] + ofConstraints[3 * i]) / m, (forces[i][1] + ofConstraints[3 * i + 1]) / m,
                     (forces[i][2] + ofConstraints[3 * i + 2]) / m});
    }
    double largest = 0, size = 0;
    for (std::size_t m = 0; m < system.molecules.size(); m++)
        for (const std::vector<int>& piece : system.molecules[m].pieces)
            for (int i : piece)
                for (int j : piece) {
                    const int p = system.first[m] + i, q = system.first[m] + j;
                    const double squares = dot(v[p] - v[q], v[p] - v[q]);
                    largest = std::max(largest, std::abs(dot(x[p] - x[q], a[p] - a[q]) + squares));
                    size = std::max(size, squares);
                }
    EXPECT_LT(largest, (1e-8 + 1e3 * precision.force) * size);
}

TEST_P(RecognizedMultipliers, OfFlatAndLinearOnesAreThoseOfBaseDistances) {
    const std::vector<std::pair<std::string, int>> cases{{"carbon dioxide by all distances", 1},
                                                         {"acetylene by all distances", 1},
                                                         {"benzene by all distances", 3},
                                                         {"naphthalene by all distances", 3}};
    std::vector<Molecule> some;
    for (const auto& [name, acting] : cases)
        some.push_back(findMolecule(name));
    const MoleculeSystem system(some);
    Simulation s = system.simulate({platform, Solver::Automatic, "Rattle"}, 0.001, DeclaredAs::Listed, 1e-10);
    s.integrator->step(3);
    for (const std::vector<double>& found :
         {s.integrator->getMultipliers(), s.integrator->getVelocityMultipliers(), s.integrator->computeMultipliers()}) {
        std::size_t k = 0;
        for (std::size_t m = 0; m < cases.size(); m++) {
            int acting = 0;
            for (std::size_t end = k + some[m].distances.size(); k < end; k++)
                acting += found[k] != 0;
            EXPECT_EQ(acting, cases[m].second) << cases[m].first;
        }
    }
}

TEST(RecognizedMultipliersOfRods, AreThoseOfAPairOfSprings) {
    // Along a linear molecule at rest that forces pull at both ends: what the base distance carries is the tension.
    System system;
    for (double mass : {oxygen, carbon, oxygen})
        system.addParticle(mass);
    auto* force = new ConstraintForce();
    for (const auto& [i, j, d] : {std::tuple(0, 1, 0.116), {1, 2, 0.116}, {0, 2, 0.232}})
        force->addDistance(i, j, d);
    system.addForce(force);
    auto* pull = new CustomExternalForce("-f*x");
    pull->addPerParticleParameter("f");
    pull->addParticle(0, {-30.0});
    pull->addParticle(2, {30.0});
    system.addForce(pull);
    RattleIntegrator integrator(0.001);
    auto context = makeContext(system, integrator, "Reference");
    context->setPositions({Vec3(-0.116, 0, 0), Vec3(), Vec3(0.116, 0, 0)});
    double sum = 0;
    for (double value : integrator.computeMultipliers())
        sum += value;
    EXPECT_NEAR(sum, -30, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecognizedMultipliers, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
