// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Recognized bodies together with constraints of other kinds, within them and to others, and beside other molecules.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

Real3 centreOf(const std::vector<int>& particles, const std::vector<double>& masses, const Arrays& x) {
    Real3 sum;
    double mass = 0;
    for (int p : particles) {
        sum += masses[p] * x[p];
        mass += masses[p];
    }
    return (1 / mass) * sum;
}

class RecognizedTogether : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup{platform, Solver::Automatic, "Rattle"};
    const double bound = attainable(platform, 1e-9, 0.5);

    Simulation start(const MoleculeSystem& system, std::unique_ptr<System> openmm, double stepSize = 0.001) const {
        addUnevenField(*openmm);
        Simulation s(std::move(openmm), makeIntegrator(setup, stepSize, 1e-10), platform);
        system.begin(s);
        return s;
    }
    static ConstraintForce& forceOf(System& openmm) {
        return dynamic_cast<ConstraintForce&>(openmm.getForce(0));
    }
    double dihedral(const Simulation& s, const std::vector<int>& p) const {
        const Arrays x = toArrays(s.positions());
        return dihedralOf(x[p[0]], x[p[1]], x[p[2]], x[p[3]]);
    }
};

TEST_P(RecognizedTogether, DihedralsHoldHingesAndMove) {
    // The dipeptide's phi and psi, and biphenyl's twist.
    const MoleculeSystem system(
        {findMolecule("alanine dipeptide by bonds and angles"), findMolecule("biphenyl by bonds and angles")});
    const int second = system.first[1];
    const std::vector<std::vector<int>> held{
        {1, 3, 4, 6}, {3, 4, 6, 8}, {second + 1, second, second + 11, second + 12}};
    auto openmm = system.toOpenMM();
    for (const std::vector<int>& p : held)
        forceOf(*openmm).addDihedral(
            p[0], p[1], p[2], p[3],
            dihedralOf(system.places[p[0]], system.places[p[1]], system.places[p[2]], system.places[p[3]]));
    Simulation s = start(system, std::move(openmm));
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 13 - 2 + 7 - 1);
    std::vector<double> before;
    for (const std::vector<int>& p : held)
        before.push_back(dihedral(s, p));
    s.integrator->step(20);
    for (std::size_t k = 0; k < held.size(); k++)
        EXPECT_NEAR(std::remainder(dihedral(s, held[k]) - before[k], 2 * pi), 0, 50 * bound);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), bound);
    const std::vector<double> multipliers = s.integrator->getMultipliers();
    for (std::size_t k = multipliers.size() - held.size(); k < multipliers.size(); k++)
        EXPECT_NE(multipliers[k], 0);
}

TEST_P(RecognizedTogether, WhatABodyDeterminesHolds) {
    const MoleculeSystem system({findMolecule("benzene by bonds and angles"), findMolecule("C60 by short distances")});
    const int second = system.first[1];
    auto openmm = system.toOpenMM();
    ConstraintForce& force = forceOf(*openmm);
    force.addDihedral(0, 1, 2, 3, 0);
    force.addDihedral(6, 0, 1, 2, pi);
    force.addCentroidDistance({0, 1}, {3, 4}, 0.139 * std::sqrt(3));
    const std::vector<int> some{second, second + 7, second + 20}, others{second + 30, second + 41};
    const Real3 between = centreOf(some, system.masses, system.places) - centreOf(others, system.masses, system.places);
    force.addCentroidDistance(some, others, std::sqrt(dot(between, between)));
    force.addDistance(second, second + 59, distance(system.places[second], system.places[second + 59]));
    Simulation s = start(system, std::move(openmm));
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 12);
    s.integrator->step(20);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), 2 * bound);
    // What contradicts the shape is refused.
    auto wrong = system.toOpenMM();
    forceOf(*wrong).addDihedral(0, 1, 2, 3, 0.3);
    const std::string message = messageOf([&] {
        Simulation t = start(system, std::move(wrong));
        t.integrator->step(1);
    });
    expectAll(message, {"dihedral 0"});
}

TEST_P(RecognizedTogether, ConstraintsToOthersTakeOneDegreeOfFreedomEach) {
    std::vector<Molecule> some;
    for (const char* name :
         {"methane by all distances", "benzene by bonds and angles", "carbon dioxide by all distances",
          "alanine dipeptide by bonds and angles", "C60 by short distances", "toluene by bonds and angles"})
        some.push_back(findMolecule(name));
    const MoleculeSystem system(some);
    auto openmm = system.toOpenMM();
    ConstraintForce& force = forceOf(*openmm);
    const std::vector<int>& f = system.first;
    const auto length = [&](int i, int j) { return distance(system.places[i], system.places[j]); };
    force.addDistance(f[0] + 1, f[1] + 6, length(f[0] + 1, f[1] + 6));
    openmm->addConstraint(f[1] + 2, f[2] + 1, length(f[1] + 2, f[2] + 1));
    const std::vector<int> angle{f[2] + 2, f[3] + 4, f[3] + 9};
    force.addAngle(angle[0], angle[1], angle[2], valueOf(angle, system.places));
    const std::vector<int> ring = range(f[4], f[4] + 20), methyl = range(f[5] + 11, f[5] + 14);
    const Real3 between = centreOf(ring, system.masses, system.places) - centreOf(methyl, system.masses, system.places);
    force.addCentroidDistance(ring, methyl, std::sqrt(dot(between, between)));
    auto* sphere = new CustomConstraintForce(1, "x1^2 + y1^2 + z1^2 - q");
    sphere->addPerConstraintParameter("q");
    sphere->addConstraint({f[0]}, {dot(system.places[f[0]], system.places[f[0]])});
    openmm->addForce(sphere);
    Simulation s = start(system, std::move(openmm));
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom() - 5);
    s.integrator->step(20);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), 2 * bound);
    const Arrays x = toArrays(s.positions());
    EXPECT_NEAR(distance(x[f[0] + 1], x[f[1] + 6]), length(f[0] + 1, f[1] + 6), 10 * bound);
    EXPECT_NEAR(distance(x[f[1] + 2], x[f[2] + 1]), length(f[1] + 2, f[2] + 1), 10 * bound);
    EXPECT_NEAR(valueOf(angle, x), valueOf(angle, system.places), 50 * bound);
    EXPECT_NEAR(dot(x[f[0]], x[f[0]]), dot(system.places[f[0]], system.places[f[0]]), 10 * bound);
    const Real3 now = centreOf(ring, system.masses, x) - centreOf(methyl, system.masses, x);
    EXPECT_NEAR(std::sqrt(dot(now, now)), std::sqrt(dot(between, between)), 10 * bound);
}

TEST_P(RecognizedTogether, MovingDistancesBetweenBodiesPullThem) {
    const MoleculeSystem system({findMolecule("methane by all distances"), findMolecule("benzene by all distances")});
    auto openmm = system.toOpenMM();
    const int i = 1, j = system.first[1] + 6;
    const double before = distance(system.places[i], system.places[j]), rate = -0.5;
    auto* pulling = new ConstraintForce();
    pulling->addDistance(i, j, before, rate);
    openmm->addForce(pulling);
    Simulation s = start(system, std::move(openmm));
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 11);
    s.integrator->step(100);
    const Arrays x = toArrays(s.positions());
    EXPECT_NEAR(distance(x[i], x[j]), before + 0.1 * rate, 10 * bound);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), bound);
}

TEST_P(RecognizedTogether, MovingDistancesWithinABodyAreRefused) {
    for (const char* name : {"methane by all distances", "benzene by all distances", "C60 by short distances"}) {
        SCOPED_TRACE(name);
        const MoleculeSystem system({findMolecule(name)});
        auto openmm = system.toOpenMM();
        auto* pulling = new ConstraintForce();
        pulling->addDistance(1, 4, distance(system.places[1], system.places[4]), -0.5);
        openmm->addForce(pulling);
        expectAll(messageOf([&] {
                      Simulation s = start(system, std::move(openmm));
                      s.integrator->step(10);
                  }),
                  {"distance 0 of the ConstraintForce with index 1"});
    }
}

TEST_P(RecognizedTogether, TheSystemsConstraintsMayRepeatTheirDistances) {
    const MoleculeSystem system({findMolecule("methane by all distances"), findMolecule("benzene by bonds and angles"),
                                 findMolecule("alanine dipeptide by bonds and angles")});
    auto openmm = system.toOpenMM();
    for (const auto& [i, j] : {std::pair(0, 1), std::pair(system.first[1], system.first[1] + 1),
                               std::pair(system.first[2] + 3, system.first[2] + 5)})
        openmm->addConstraint(i, j, distance(system.places[i], system.places[j]));
    Simulation s = start(system, std::move(openmm));
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 6 + 6 + 13);
    s.integrator->step(20);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), bound);
    for (const auto& [i, j] : {std::pair(0, 1), std::pair(system.first[1], system.first[1] + 1)}) {
        auto wrong = system.toOpenMM();
        wrong->addConstraint(i, j, distance(system.places[i], system.places[j]) * 1.001);
        expectAll(messageOf([&] {
                      Simulation t = start(system, std::move(wrong));
                      t.integrator->step(1);
                  }),
                  {"particles " + std::to_string(i) + " and " + std::to_string(j)});
    }
}

TEST_P(RecognizedTogether, MassesMayDifferByMuch) {
    std::vector<Molecule> some;
    Random random(12);
    for (const char* name : {"methane by all distances", "benzene by bonds and angles",
                             "alanine dipeptide by bonds and angles", "acetonitrile by all distances",
                             "C60 by distances over one atom", "cyclohexane, chair by bonds and angles"}) {
        some.push_back(findMolecule(name));
        for (double& mass : some.back().masses)
            mass = std::pow(10, random.uniform(-2, 3));
    }
    const MoleculeSystem system(some);
    Simulation s = start(system, system.toOpenMM(), 0.0002);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    s.integrator->step(20);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), 2 * bound);
}

TEST_P(RecognizedTogether, WatersBesideAreAsTheyAreAlone) {
    Molecule water("water");
    water.atom(oxygen, {0, 0, 0});
    water.atom(hydrogen, {0.0757, 0.0586, 0}, 0);
    water.atom(hydrogen, {-0.0757, 0.0586, 0}, 0);
    water = byAllDistances(water);
    std::vector<Molecule> some(6, water);
    const auto end = [&](const std::vector<Molecule>& molecules) {
        const MoleculeSystem system(molecules);
        Simulation s = start(system, system.toOpenMM());
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
        s.integrator->step(20);
        const Vectors x = s.positions();
        const std::vector<double> multipliers = s.integrator->getMultipliers();
        return std::pair(Vectors(x.begin(), x.begin() + 18),
                         std::vector<double>(multipliers.begin(), multipliers.begin() + 18));
    };
    const auto alone = end(some);
    for (const char* name : {"methane by all distances", "benzene by bonds and angles", "toluene by all distances",
                             "alanine dipeptide by bonds and angles"})
        some.push_back(findMolecule(name));
    const auto beside = end(some);
    EXPECT_LT(distance(alone.first, beside.first), 1e-10 + 20 * precisionOf(platform).position);
    for (std::size_t k = 0; k < 18; k++) {
        EXPECT_NE(beside.second[k], 0);
        EXPECT_NEAR(alone.second[k], beside.second[k],
                    (1e-7 + 1e4 * precisionOf(platform).force) * (1 + std::abs(alone.second[k])));
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecognizedTogether, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
