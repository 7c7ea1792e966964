// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Molecules whose bonds and angles are all held, as bodies on hinges, from coordinates that are rounded as in files.
#include "support/FreeFlight.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const std::vector<Molecule>& molecules() {
    static const std::vector<Molecule> all = {biphenyl(), alanineDipeptide()};
    return all;
}

constexpr int numOrientations = 60;

/** The molecule in orientations at random, coordinates in units of a file (nm). */
Vectors rounded(const Molecule& molecule, double unit) {
    Arrays all;
    for (unsigned m = 0; m < numOrientations; m++)
        for (const Real3& r : moved(molecule.places, m + 1))
            all.push_back(roundedTo(unit, r));
    return toVectors(all);
}

using Case = std::tuple<int, double, std::string>; // molecule, unit (nm), integrator

class JoinedRounded : public testing::TestWithParam<Case> {};

TEST_P(JoinedRounded, MoleculesKeepBondsAndAngles) {
    const auto& [index, unit, name] = GetParam();
    const Molecule& molecule = molecules()[index];
    const int n = (int) molecule.places.size();
    const Vectors start = rounded(molecule, unit);
    System system;
    auto* force = new ConstraintForce();
    auto* field = new CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
    for (int m = 0; m < numOrientations; m++) {
        for (double mass : molecule.masses)
            field->addParticle(system.addParticle(mass));
        for (std::vector<int> body : molecule.pieces) {
            Vectors shape;
            for (int& p : body) {
                p += m * n;
                shape.push_back(start[p]);
            }
            force->addRigidBody(body, shape);
        }
    }
    system.addForce(force);
    system.addForce(field);
    const bool drifts = name == "ConstraintForce";
    const IntegratorPointer integrator =
        makeIntegrator({"Reference", Solver::Automatic, name}, drifts ? 0.00025 : 0.001, 1e-13);
    auto context = makeContext(system, *integrator, "Reference");
    context->setPositions(start);
    EXPECT_LT(integrator->applyConstraints(), 1e-13);
    context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom * numOrientations);
    integrator->step(20);
    EXPECT_EQ(integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom * numOrientations);
    const Vectors x = context->getState(State::Positions).getPositions();
    double largest = 0, smallestMove = 1;
    for (int m = 0; m < numOrientations; m++)
        for (const std::vector<int>& body : molecule.pieces) {
            for (std::size_t i = 0; i < body.size(); i++)
                for (std::size_t j = 0; j < i; j++) {
                    const int p = m * n + body[i], q = m * n + body[j];
                    const Vec3 before = start[p] - start[q], after = x[p] - x[q];
                    largest = std::max(largest, std::abs(std::sqrt(after.dot(after)) - std::sqrt(before.dot(before))));
                }
            const Vec3 move = x[m * n + body[0]] - start[m * n + body[0]];
            smallestMove = std::min(smallestMove, std::sqrt(move.dot(move)));
        }
    EXPECT_LT(largest, drifts ? 1e-5 : 1e-12);
    EXPECT_GT(smallestMove, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Files, JoinedRounded,
                         testing::Combine(testing::Range(0, (int) molecules().size()), testing::Values(1e-3, 1e-4),
                                          testing::Values("Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                          "RattleNoseHoover", "ConstraintForce")),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param) == 0 ? "Biphenyl" : "AlanineDipeptide") +
                                    (std::get<1>(info.param) == 1e-3 ? "Gro" : "Pdb") + std::get<2>(info.param);
                         });

} // namespace
