// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Molecules that distances and angles hold, as rigid bodies and bodies on hinges: which, their degrees of freedom, and
// their motion.
#include "support/FreeFlight.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const ConstraintTests::Setup onReference{"Reference", Solver::Automatic, "Rattle"};

/** One molecule, of recognizedMolecules(). */
class RecognizedMolecules : public testing::TestWithParam<int> {
protected:
    const Molecule& molecule = recognizedMolecules()[GetParam()];
    const MoleculeSystem system{{molecule}};
    /** Its rod is regular by bonds and an angle of 180 degrees, and may be a body of its own or not. */
    const bool hasRegularPart = molecule.name == "acetonitrile by bonds and angles";
};

TEST_P(RecognizedMolecules, HaveTheVelocitiesOfTheirPieces) {
    EXPECT_EQ(countedByVelocities(molecule.assembly(), molecule.places), molecule.degreesOfFreedom);
    Simulation s = system.simulate(onReference, 0.001);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom);
    if (!hasRegularPart) {
        EXPECT_EQ(countBodies(s), (int) molecule.pieces.size());
    }
    EXPECT_LT(s.integrator->getSolverSummary().fitDeviation, 1e-12);
    s.integrator->step(20);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), 1e-12);
    EXPECT_GT(distance(s.positions(), toVectors(system.start)), 1e-3);
}

TEST_P(RecognizedMolecules, AreCountedOncePositionsAreSet) {
    Simulation s(system.toOpenMM(), makeIntegrator(onReference, 0.001), "Reference");
    s.context->setPositions(toVectors(system.start));
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom);
}

TEST_P(RecognizedMolecules, MoveAsThoseThatAreDeclared) {
    for (const char* integrator : {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"}) {
        SCOPED_TRACE(integrator);
        const ConstraintTests::Setup setup{"Reference", Solver::Automatic, integrator};
        Simulation s = system.simulate(setup, 0.001), declared = system.simulate(setup, 0.001, DeclaredAs::Bodies);
        s.integrator->step(20);
        declared.integrator->step(20);
        EXPECT_LT(distance(s.positions(), declared.positions()), 1e-10);
        EXPECT_LT(distance(s.velocities(), declared.velocities()), 1e-7);
        // Those of several stages are J^T lambda with the gradients of the step's start, if there are multipliers.
        if (integrator != std::string("GeodesicLangevin")) {
            EXPECT_LT(distance(s.integrator->getConstraintForces(), declared.integrator->getConstraintForces()), 1e-5);
        }
        EXPECT_NEAR(s.energy(), declared.energy(), 1e-7 * std::abs(declared.energy()));
    }
}

TEST_P(RecognizedMolecules, MayBeDeclaredInTheSystem) {
    Simulation s = system.simulate(onReference, 0.001, DeclaredAs::SystemListed);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom);
    s.integrator->step(5);
    Simulation other = system.simulate(onReference, 0.001);
    other.integrator->step(5);
    EXPECT_LT(distance(s.positions(), other.positions()), 1e-12);
}

TEST_P(RecognizedMolecules, GoBackWhenTimeIsReversed) {
    Simulation s = system.simulate(onReference, 0.001);
    const Vectors start = s.positions();
    s.integrator->step(20);
    Vectors back = s.velocities();
    for (Vec3& v : back)
        v *= -1;
    s.context->setVelocities(back);
    s.integrator->step(20);
    EXPECT_LT(distance(s.positions(), start), 1e-9);
}

std::string plainName(std::string name) {
    name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !std::isalnum((unsigned char) c); }),
               name.end());
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, RecognizedMolecules, testing::Range(0, (int) recognizedMolecules().size()),
                         [](const auto& info) { return plainName(recognizedMolecules()[info.param].name); });

// ---- on every platform ----------------------------------------------------------------------------------------------

/** All molecules in one System. */
class RecognizedBodies : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const Precision precision = precisionOf(platform);
    const ConstraintTests::Setup setup{platform, Solver::Automatic, "Rattle"};
};

TEST_P(RecognizedBodies, KeepTheirShapesAndMoveAsThoseThatAreDeclared) {
    const MoleculeSystem system(recognizedMolecules());
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    s.integrator->step(20);
    const Vectors x = s.positions();
    for (std::size_t m = 0; m < system.molecules.size(); m++)
        EXPECT_LT(system.deformation(toVectors(system.start), x, m), attainable(platform, 1e-9, 0.5))
            << system.molecules[m].name;
    Simulation declared = system.simulate(setup, 0.001, DeclaredAs::Bodies, 1e-10);
    EXPECT_EQ(declared.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    declared.integrator->step(20);
    // Velocities differ by rounding, forces by theirs.
    const double rounding = 40 * precision.position + 0.02 * 20 * precision.velocity;
    EXPECT_LT(distance(x, declared.positions()), 1e-9 + rounding);
}

TEST_P(RecognizedBodies, KeepTheirEnergy) {
    std::vector<Molecule> some;
    for (const char* name : {"benzene by bonds and angles", "alanine dipeptide by bonds and angles",
                             "toluene by all distances", "carbon dioxide by all distances"})
        some.push_back(findMolecule(name));
    const MoleculeSystem system(some);
    const auto change = [&](double stepSize) {
        Simulation s = system.simulate(setup, stepSize, DeclaredAs::Listed, 1e-10);
        const double before = s.energy();
        double largest = 0;
        for (int block = 0; block < 10; block++) {
            s.integrator->step((int) std::lround(0.01 / stepSize));
            largest = std::max(largest, std::abs(s.energy() - before));
        }
        return largest / s.context->getState(State::Energy).getKineticEnergy();
    };
    const double coarse = change(0.001), rounding = 100 * (precision.force + precision.velocity);
    EXPECT_LT(coarse, 5e-3 + rounding);
    if (!isDevice(platform)) {
        EXPECT_LT(change(0.0005), 0.35 * coarse);
    }
}

TEST_P(RecognizedBodies, HaveTheTemperatureOfTheirHeatBath) {
    std::vector<Molecule> some;
    for (const char* name : {"benzene by bonds and angles", "alanine dipeptide by bonds and angles",
                             "methane by all distances", "carbon dioxide by all distances"})
        some.insert(some.end(), 4, findMolecule(name));
    const MoleculeSystem system(some);
    RattleLangevinIntegrator integrator(300, 20, 0.002);
    integrator.setRandomNumberSeed(5);
    const auto openmm = system.toOpenMM();
    auto context = makeContext(*openmm, integrator, platform);
    context->setPositions(toVectors(system.start));
    context->setVelocitiesToTemperature(300, 2);
    const int freedom = 4 * (6 + 13 + 6 + 5);
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), freedom);
    double sum = 0;
    const int samples = isDevice(platform) ? 50 : 200;
    for (int i = 0; i < samples; i++) {
        integrator.step(25); // a correlation time
        sum += integrator.computeSystemTemperature();
    }
    EXPECT_NEAR(sum / samples, 300, 5 * 300 * std::sqrt(2.0 / freedom / samples * 1.5));
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecognizedBodies, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

// ---- against a rotor ------------------------------------------------------------------------------------------------

TEST(RecognizedRotors, RotateAsARigidBodyDoesAtSecondOrder) {
    for (const char* name : {"benzene by all distances", "benzene by bonds and angles", "toluene by all distances",
                             "C60 by short distances", "carbon dioxide by all distances", "methane by all distances",
                             "acetonitrile by bonds and angles", "32 particles by all distances"}) {
        SCOPED_TRACE(name);
        const MoleculeSystem system({findMolecule(name)});
        const double time = 0.1;
        const auto error = [&](int steps) {
            Simulation s = system.simulate(onReference, time / steps, DeclaredAs::Listed, 1e-13, false);
            const Rotor rotor(system.masses, toArrays(s.positions()), toArrays(s.velocities()));
            s.integrator->step(steps);
            return largestDifference(toArrays(s.positions()), rotor.positionsAfter(time, 2000));
        };
        const double coarse = error(50);
        EXPECT_GT(coarse, 1e-11);
        EXPECT_LT(error(100), 0.27 * coarse);
    }
}

// ---- with massless particles ----------------------------------------------------------------------------------------

TEST(RecognizedAnchors, HoldWhatTheyArePartOf) {
    struct Case {
        const char* name;
        std::vector<int> massless;
        int degreesOfFreedom;
    };
    for (const Case& c :
         {Case{"benzene by all distances", {2}, 3}, Case{"benzene by bonds and angles", {2}, 3},
          Case{"benzene by all distances", {2, 3}, 1}, Case{"benzene by bonds and angles", {2, 3}, 1},
          Case{"benzene by all distances", {0, 1, 2}, 0}, Case{"methane by all distances", {0}, 3},
          Case{"methane by all distances", {1, 2}, 1}, Case{"carbon dioxide by all distances", {0}, 2},
          Case{"carbon dioxide by all distances", {1, 2}, 0}, Case{"alanine dipeptide by bonds and angles", {0}, 10},
          Case{"toluene by bonds and angles", {0, 1}, 2}, Case{"C60 by short distances", {0}, 3}}) {
        SCOPED_TRACE(c.name + std::to_string(c.massless.size()));
        Molecule molecule = findMolecule(c.name);
        for (int p : c.massless)
            molecule.masses[p] = 0;
        const MoleculeSystem system({molecule});
        // OpenMM has no constraints of the System with massless particles.
        Simulation s = system.simulate(onReference, 0.001);
        EXPECT_EQ(countedByVelocities(molecule.assembly(), molecule.places), c.degreesOfFreedom);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), c.degreesOfFreedom);
        s.integrator->step(20);
        EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), 1e-12);
        for (int p : c.massless)
            EXPECT_EQ(s.positions()[p], toVectors(system.start)[p]);
        EXPECT_EQ(distance(s.positions(), toVectors(system.start)) > 1e-4, c.degreesOfFreedom > 0);
    }
}

/** A length between massless particles beside a body in a box is checked only: it is in no cluster, in which a winding
 * through the box could be looked for. */
TEST(RecognizedBodies, AreBesideLengthsOfMasslessParticles) {
    const std::vector<double> masses{16, 12, 16, 0, 0};
    Vectors x{Vec3(0.3, 0.3, 0.3), Vec3(0.416, 0.3, 0.3), Vec3(0.532, 0.3, 0.3), Vec3(0.9, 0.9, 0.9),
              Vec3(1, 0.9, 0.9)};
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
    for (double mass : masses)
        system->addParticle(mass);
    auto* force = new ConstraintForce();
    force->setUsesPeriodicBoundaryConditions(true);
    for (const auto& [i, j] : {std::pair(3, 4), std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)})
        force->addDistance(i, j, std::sqrt((x[i] - x[j]).dot(x[i] - x[j])));
    system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(onReference, 0.001), "Reference");
    s.context->setPositions(x);
    s.integrator->step(1);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 5);
    x[4] += Vec3(0.01, 0, 0);
    s.context->setPositions(x);
    expectAll(messageOf([&] { s.integrator->step(1); }), {"particles 3 and 4"});
}

} // namespace
