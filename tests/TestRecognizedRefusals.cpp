// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Lengths and angles of a rigid body that contradict each other by more than rounding are refused by name; those that
// do by less are fitted, and the deviation is reported.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** The molecule with one distance (relative change) or angle (rad) that differs. */
std::unique_ptr<System> withError(const MoleculeSystem& system, int constraint, double error) {
    auto openmm = system.toOpenMM();
    auto& force = dynamic_cast<ConstraintForce&>(openmm->getForce(0));
    int i, j, k;
    double value;
    if (const int distances = force.getNumDistances(); constraint < distances) {
        force.getDistanceParameters(constraint, i, j, value);
        force.setDistanceParameters(constraint, i, j, value * (1 + error));
    } else {
        force.getAngleParameters(constraint - distances, i, j, k, value);
        force.setAngleParameters(constraint - distances, i, j, k, value + error);
    }
    return openmm;
}

/** Constraints whose error is tried: all of few, some of many. Where angles are listed, those of atoms with four bonds:
 *  five of the six determine the other one, and no bond. */
std::vector<int> tried(const MoleculeSystem& system) {
    const Molecule& molecule = system.molecules[0];
    const int numDistances = (int) molecule.distances.size();
    std::vector<int> all;
    if (molecule.angles.empty())
        all = range(0, numDistances - 1);
    for (int a = 0; a < (int) molecule.angles.size(); a++)
        if (std::count_if(molecule.bonds.begin(), molecule.bonds.end(), [&](const auto& bond) {
                return bond.first == molecule.angles[a][1] || bond.second == molecule.angles[a][1];
            }) == 4)
            all.push_back(numDistances + a);
    std::vector<int> some;
    for (std::size_t k = 0; k < all.size(); k += 1 + all.size() / 12)
        some.push_back(all[k]);
    return some;
}

/** In which every such value is redundant. */
const std::vector<std::string> names{
    "methane by all distances",     "methane by bonds and angles",    "benzene by all distances",
    "naphthalene by all distances", "toluene by all distances",       "32 particles by all distances",
    "C60 by short distances",       "neopentane by bonds and angles", "alanine dipeptide by bonds and angles"};

class RecognizedRefusals : public testing::TestWithParam<std::string> {
protected:
    const MoleculeSystem system{{findMolecule(GetParam())}};
    const ConstraintTests::Setup setup{"Reference", Solver::Automatic, "Rattle"};

    /** Whether a problem is about a constraint, or about another one of the same particle, or of the same five
     * particles: where lengths contradict each other, any of them may be the wrong one. */
    bool names(const ConstraintProblem& problem, int k) const {
        const std::vector<std::vector<int>> listed = system.listed();
        const auto isOneOf = [](const std::vector<int>& some, int p) {
            return std::find(some.begin(), some.end(), p) != some.end();
        };
        const auto isOneIn = [&](const std::vector<int>& some) {
            return std::any_of(listed[k].begin(), listed[k].end(), [&](int p) { return isOneOf(some, p); });
        };
        const auto areAllIn = [&](int other, const std::vector<int>& piece) {
            return std::all_of(listed[other].begin(), listed[other].end(), [&](int p) { return isOneOf(piece, p); });
        };
        for (int other : problem.constraints) {
            if (isOneIn(listed[other]))
                return true;
            for (const std::vector<int>& piece : system.molecules[0].pieces)
                if (piece.size() == 5 && areAllIn(k, piece) && areAllIn(other, piece))
                    return true;
        }
        return problem.constraints.empty() && isOneIn(problem.particles);
    }
    std::unique_ptr<Simulation> start(int constraint, double error) const {
        auto s = std::make_unique<Simulation>(withError(system, constraint, error), makeIntegrator(setup, 0.001, 1e-8),
                                              "Reference");
        system.begin(*s);
        s->integrator->step(1);
        return s;
    }
};

TEST_P(RecognizedRefusals, AreOfErrorsBeyondRoundingByName) {
    for (int k : tried(system))
        for (double error : {3e-4, -3e-4, 3e-3, -3e-3}) {
            SCOPED_TRACE(std::to_string(k) + " by " + std::to_string(error));
            const ConstraintProblem problem = problemThrownBy([&] {
                const auto s = start(k, error);
                EXPECT_LT(std::abs(error), 1e-3) << "a fit cannot spread it over others so that each is within 1e-4";
                EXPECT_GT(s->integrator->getSolverSummary().fitDeviation, 1e-6);
                EXPECT_LE(s->integrator->getSolverSummary().fitDeviation, 1e-4);
            });
            if (problem.kind.empty())
                continue;
            EXPECT_TRUE(names(problem, k)) << problem.text();
            EXPECT_FALSE(problem.remedy.empty()) << problem.text();
        }
}

TEST_P(RecognizedRefusals, AreNotOfRounding) {
    for (int k : tried(system))
        for (double error : {5e-5, -5e-5}) {
            SCOPED_TRACE(std::to_string(k) + " by " + std::to_string(error));
            try {
                const auto s = start(k, error);
                EXPECT_EQ(s->integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
                const SolverSummary summary = s->integrator->getSolverSummary();
                EXPECT_GT(summary.fitDeviation, 1e-7);
                EXPECT_LT(summary.fitDeviation, 6e-5);
                EXPECT_GE(summary.fittedConstraint, 0);
                const Vectors start = s->positions();
                s->integrator->step(20);
                EXPECT_LT(system.deformation(start, s->positions()), 1e-12);
            } catch (const OpenMMException& problem) {
                ADD_FAILURE() << problem.what();
            }
        }
}

std::string plainName(std::string name) {
    name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !std::isalnum((unsigned char) c); }),
               name.end());
    return name;
}

INSTANTIATE_TEST_SUITE_P(Molecules, RecognizedRefusals, testing::ValuesIn(names),
                         [](const auto& info) { return plainName(info.param); });

/** An error that no shape within 1e-4 of all lengths takes up. */
TEST(RecognizedRefusalsAtTheBound, AreOfAPairThatIsListedTwice) {
    for (double error : {5e-5, 3e-4}) {
        SCOPED_TRACE(error);
        const MoleculeSystem system({findMolecule("methane by all distances")});
        auto openmm = system.toOpenMM();
        auto& force = dynamic_cast<ConstraintForce&>(openmm->getForce(0));
        force.addDistance(2, 4, valueOf({2, 4}, system.places) * (1 + error));
        const ConstraintProblem problem = problemThrownBy([&] {
            Simulation s(std::move(openmm), makeIntegrator({"Reference", Solver::Automatic, "Rattle"}, 0.001, 1e-8),
                         "Reference");
            system.begin(s);
            s.integrator->step(1);
            EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 6);
        });
        EXPECT_EQ(problem.kind.empty(), error < 1e-4) << problem.text();
    }
}

TEST(RecognizedRefusalsOfRods, AreOfBendsThatLengthsTell) {
    // The ends of carbon dioxide nearer than its bonds reach, by more than rounding: it is bent, and stays distances.
    const MoleculeSystem system({findMolecule("carbon dioxide by all distances")});
    Simulation s(withError(system, 2, -3e-4), makeIntegrator({"Reference", Solver::Automatic, "Rattle"}, 0.001, 1e-8),
                 "Reference");
    s.context->setPositions({Vec3(0, 0.003, 0), Vec3(0.1163, 0, 0), Vec3(-0.1163, 0, 0)});
    s.integrator->step(1);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 6);
    EXPECT_EQ(countBodies(s), 0);
    // Farther than they reach.
    const ConstraintProblem problem = problemThrownBy([&] {
        Simulation t(withError(system, 2, 3e-4),
                     makeIntegrator({"Reference", Solver::Automatic, "Rattle"}, 0.001, 1e-8), "Reference");
    });
    EXPECT_EQ(problem.kind, "contradictory") << problem.text();
    expectAll(problem.text(), {"particles 0 and 1", "particles 0 and 2", "particles 1 and 2"});
}

} // namespace
