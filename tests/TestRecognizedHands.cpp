// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Lengths do not tell a shape from its mirror image: positions do, whenever they are set.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Reflected in a plane through the first particle. */
Arrays mirrored(Arrays x) {
    const Real3 normal{0.48, 0.6, 0.64}, first = x[0];
    for (Real3& r : x)
        r += (-2 * dot(r - first, normal)) * normal;
    return x;
}

/** Of four particles of one molecule; its sign is the hand. */
double volume(const Vectors& x, int first = 0) {
    const Vec3 a = x[first + 1] - x[first], b = x[first + 2] - x[first], c = x[first + 3] - x[first];
    return a.cross(b).dot(c);
}

class RecognizedHands : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup{platform, Solver::Automatic, "Rattle"};
    const double bound = attainable(platform, 1e-9, 0.3);
    const Molecule chiral = findMolecule("bromochlorofluoromethane by all distances");
};

TEST_P(RecognizedHands, BothEnantiomersAreInOneSystem) {
    Molecule other = chiral;
    other.places = mirrored(other.places);
    const MoleculeSystem system({chiral, other, other, chiral});
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 4 * 6);
    const double size = volume(toVectors(system.start));
    s.integrator->step(50);
    for (int m = 0; m < 4; m++)
        EXPECT_NEAR(volume(s.positions(), 5 * m), m == 1 || m == 2 ? -size : size, 0.1 * bound);
    EXPECT_LT(system.deformation(toVectors(system.start), s.positions()), bound);
}

TEST_P(RecognizedHands, MirrorImagesMayBeSetInTheMiddleOfARun) {
    const MoleculeSystem system({chiral, findMolecule("methane by all distances")});
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    s.integrator->step(10);
    const double size = volume(toVectors(system.start));
    for (double hand : {-1.0, 1.0, -1.0}) {
        s.context->setPositions(toVectors(mirrored(toArrays(s.positions()))));
        const Vectors start = s.positions();
        s.integrator->step(10);
        EXPECT_NEAR(volume(s.positions()), hand * size, 0.1 * bound);
        EXPECT_LT(system.deformation(start, s.positions()), bound);
        EXPECT_LT(distance(start, s.positions()), 0.1) << "it runs on from where it was put";
    }
    // The same from a Context that had this hand from the start.
    const Vectors x = s.positions(), v = s.velocities();
    s.context->setPositions(x);
    s.context->setVelocities(v);
    MoleculeSystem same = system;
    same.start = toArrays(x);
    Simulation t = same.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    t.context->setPositions(x);
    t.context->setVelocities(v);
    s.integrator->step(20);
    t.integrator->step(20);
    EXPECT_LT(distance(s.positions(), t.positions()), 1e-12 + 20 * precisionOf(platform).position);
}

TEST_P(RecognizedHands, ContextsSideBySideHaveTheirOwn) {
    const MoleculeSystem system({chiral});
    MoleculeSystem image = system;
    image.start = mirrored(system.start);
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    Simulation t = image.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    const double size = volume(toVectors(system.start));
    for (int block = 0; block < 3; block++) {
        s.integrator->step(5);
        t.integrator->step(5);
        EXPECT_NEAR(volume(s.positions()), size, 0.1 * bound);
        EXPECT_NEAR(volume(t.positions()), -size, 0.1 * bound);
    }
    const Vectors x = s.positions();
    s.context->setPositions(t.positions());
    t.context->setPositions(x);
    s.integrator->step(5);
    t.integrator->step(5);
    EXPECT_NEAR(volume(s.positions()), -size, 0.1 * bound);
    EXPECT_NEAR(volume(t.positions()), size, 0.1 * bound);
}

TEST_P(RecognizedHands, AreToldThroughTheSidesOfATriclinicBox) {
    Molecule other = chiral;
    other.places = mirrored(other.places);
    const MoleculeSystem system({chiral, other});
    const Vec3 box[] = {{2, 0, 0}, {0.7, 2.2, 0}, {-0.6, 0.9, 2.4}};
    auto openmm = system.toOpenMM(DeclaredAs::Listed, true);
    openmm->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
    Simulation s(std::move(openmm), makeIntegrator(setup, 0.001, 1e-10), platform);
    Vectors start = toVectors(system.start), shifts;
    Random random(4);
    for (Vec3& r : start) { // each particle in an image of its own
        shifts.push_back(box[0] * (random.below(3) - 1) + box[1] * (random.below(3) - 1) +
                         box[2] * (random.below(3) - 1));
        r += shifts.back();
    }
    s.context->setPositions(start);
    s.context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 2 * 6);
    s.integrator->step(20);
    Vectors x = s.positions();
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] -= shifts[i];
    EXPECT_LT(system.deformation(toVectors(system.start), x), 10 * bound);
    EXPECT_NEAR(volume(x, 5), -volume(x), bound);
}

TEST_P(RecognizedHands, OfChainsAreTold) {
    // Each asymmetric piece on its hinges has a hand of its own.
    const MoleculeSystem system({findMolecule("alanine dipeptide by bonds and angles")});
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Listed, 1e-10);
    s.integrator->step(5);
    s.context->setPositions(toVectors(mirrored(toArrays(s.positions()))));
    const Vectors start = s.positions();
    s.integrator->step(20);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 13);
    EXPECT_LT(system.deformation(start, s.positions()), bound);
    EXPECT_LT(distance(start, s.positions()), 0.2);
}

TEST_P(RecognizedHands, OfDeclaredBodiesAreRefused) {
    MoleculeSystem system({chiral});
    Simulation s = system.simulate(setup, 0.001, DeclaredAs::Bodies, 1e-10);
    s.integrator->step(1);
    s.context->setPositions(toVectors(mirrored(system.start)));
    const ConstraintProblem problem = problemThrownBy([&] { s.integrator->step(1); });
    expectAll(problem.text(), {"rigid body 0", "mirror image"});
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecognizedHands, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
