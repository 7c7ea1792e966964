// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Molecules whose lengths and angles are measured from coordinates that are rounded as in files, or that start there.
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr int numOrientations = 16;
constexpr double pdb = 1e-4, gro = 1e-3; // nm

/** What PDB and GRO files hold. */
std::string nameOfUnit(double unit) {
    return unit == gro ? "Gro" : "Pdb";
}

std::string plainName(std::string name) {
    name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !std::isalnum((unsigned char) c); }),
               name.end());
    return name;
}

using Case = std::tuple<int, double, std::string>; // molecule, unit (nm), integrator

class RecognizedRounded : public testing::TestWithParam<Case> {
protected:
    const Molecule& molecule = recognizedMolecules()[std::get<0>(GetParam())];
    const double unit = std::get<1>(GetParam());
    const std::string integrator = std::get<2>(GetParam());
    const bool drifts = integrator == "ConstraintForce";

    Simulation make(const MoleculeSystem& system) const {
        auto openmm = system.toOpenMM();
        addUnevenField(*openmm);
        return Simulation(std::move(openmm),
                          makeIntegrator({"Reference", Solver::Automatic, integrator}, drifts ? 0.00025 : 0.001, 1e-12),
                          "Reference");
    }
    void run(Simulation& s, const MoleculeSystem& system) const {
        const Vectors shape = s.positions();
        s.context->setVelocitiesToTemperature(300, 1);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
        s.integrator->step(20);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
        const Vectors x = s.positions();
        EXPECT_LT(system.deformation(shape, x), drifts ? 1e-5 : 1e-12);
        for (int f : system.first) {
            const Vec3 move = x[f] - shape[f];
            EXPECT_GT(std::sqrt(move.dot(move)), 1e-5);
        }
    }
};

TEST_P(RecognizedRounded, LengthsAndAnglesAreThoseOfTheFile) {
    const MoleculeSystem system(std::vector<Molecule>(numOrientations, molecule), unit);
    Simulation s = make(system);
    s.context->setPositions(toVectors(system.start));
    s.integrator->applyConstraints();
    const SolverSummary summary = s.integrator->getSolverSummary();
    EXPECT_LT(summary.fitDeviation, 3e-4); // rad, of angles; of lengths 1e-4
    // What was listed is off by the deviation that is reported, and by no more.
    const Arrays x = toArrays(s.positions());
    const std::vector<std::vector<int>> listed = system.listed();
    for (int k = 0; k < (int) listed.size(); k++) {
        const double given = valueOf(listed[k], system.places), scale = listed[k].size() == 2 ? given : 1,
                     deviation = std::abs(valueOf(listed[k], x) - given) / scale;
        EXPECT_LT(deviation, summary.fitDeviation + 1e-11) << k << ", not " << summary.fittedConstraint;
    }
    run(s, system);
}

TEST_P(RecognizedRounded, PositionsAreThoseOfTheFileAndLengthsExact) {
    MoleculeSystem system(std::vector<Molecule>(numOrientations, molecule));
    system.start = roundedTo(unit, system.places);
    Simulation s = make(system);
    s.context->setPositions(toVectors(system.start));
    EXPECT_LT(s.integrator->applyConstraints(), 3 * unit);
    EXPECT_LT(s.integrator->getSolverSummary().fitDeviation, 1e-12);
    EXPECT_LT(system.deformation(toVectors(system.places), s.positions()), 1e-12);
    run(s, system);
}

/** But where rounding takes a freedom that only exact lengths leave, or bends faces that hold each other. */
std::vector<int> those() {
    std::vector<int> all;
    for (int m = 0; m < (int) recognizedMolecules().size(); m++)
        if (const std::string& name = recognizedMolecules()[m].name; name != "cyclohexane, boat by bonds and angles" &&
                                                                     name != "C60 by bonds and angles" &&
                                                                     name != "C60 by distances over one atom")
            all.push_back(m);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Files, RecognizedRounded,
                         testing::Combine(testing::ValuesIn(those()), testing::Values(gro, pdb),
                                          testing::Values("Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                          "RattleNoseHoover", "ConstraintForce")),
                         [](const auto& info) {
                             return plainName(recognizedMolecules()[std::get<0>(info.param)].name) + "_" +
                                    nameOfUnit(std::get<1>(info.param)) + std::get<2>(info.param);
                         });

} // namespace
