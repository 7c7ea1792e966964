// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The kernels of this plugin on the emulator: all integrators, both solvers, every thread group. What they compute
// depends neither on which thread runs first nor on what memory held before, and is what Reference computes.
#include "Emulated.h"
#include "StepScheme.h"
#include "support/LargeSystems.h"
#include "support/Messages.h"
#include <array>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

TEST_P(Emulated, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(mixture);
}

TEST_P(Emulated, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(mixture);
}

/** The factor of a cluster in one piece: in shared memory, and in global memory. */
class EmulatedFactor : public Emulated {
    const Variable whole{"OPENMM_CONSTRAINTS_PARTS", "0"};
};

TEST_P(EmulatedFactor, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(moleculeWithBarostat, "1 in shared memory");
    const Variable memory("OPENMM_CONSTRAINTS_SHARED_MEMORY", "0");
    expectTheSameUnderAllConditions(moleculeWithBarostat);
}

TEST_P(EmulatedFactor, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(molecule);
    const Variable memory("OPENMM_CONSTRAINTS_SHARED_MEMORY", "0");
    expectWhatReferenceComputes(molecule);
}

/** Rigid bodies in closed form: threads, blocks, and parts of bodies. */
class EmulatedBodies : public Emulated {};

TEST_P(EmulatedBodies, DependNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(bodiesWithBarostat, "closed form of 6 rigid bodies");
    const Variable parts("OPENMM_CONSTRAINTS_BODY_PART", "30");
    expectTheSameUnderAllConditions(bodiesWithBarostat);
}

TEST_P(EmulatedBodies, ComputeWhatReferenceDoes) {
    expectWhatReferenceComputes(bodies);
    const Variable parts("OPENMM_CONSTRAINTS_BODY_PART", "30");
    expectWhatReferenceComputes(bodies);
}

/** Bodies that constraints and other bodies join: their sums, their constraints by a block, and each particle. */
class EmulatedJoints : public Emulated {};

TEST_P(EmulatedJoints, DependNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(jointsWithBarostat);
}

TEST_P(EmulatedJoints, ComputeWhatReferenceDoes) {
    expectWhatReferenceComputes(joints);
}

class EmulatedFallBack : public Emulated {};

TEST_P(EmulatedFallBack, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(stiff, "1 in shared memory");
    expectWhatReferenceComputes(stiff);
}

const std::vector<Solver> direct{ConstraintIntegrator::MatrixInversion},
    both{ConstraintIntegrator::MatrixInversion, ConstraintIntegrator::Iterative};

INSTANTIATE_TEST_SUITE_P(All, Emulated, testing::ValuesIn(setups(both, false)),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedFactor, testing::ValuesIn(setups(direct, true)),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedBodies, testing::ValuesIn(setups(direct, true)),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedJoints, testing::ValuesIn(setups(both, true)),
                         [](const auto& info) { return nameOf(info.param); });

INSTANTIATE_TEST_SUITE_P(All, EmulatedFallBack,
                         testing::Values(ConstraintTests::Setup("CUDAMixed", ConstraintIntegrator::MatrixInversion,
                                                                "Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

/** Kernels that no test here runs are named by ran.py, as far as their integrator is here. */
TEST(EmulatedKernels, AreThoseOfEveryIntegrator) {
    EXPECT_EQ(setups(direct, true).size(), stepSchemes().size());
}

// ---- several blocks for one cluster ------------------------------------------------------------------------------

/** Molecules of up to three bonds, 600 with and 100 without. */
InitialState manyMolecules() {
    TestSystem all;
    for (int k = 0; k < 700; k++) {
        const TestSystem& one = findSystem(std::array{"water", "CH3", "CH2", "OH"}[k % 4]);
        const int first = all.numParticles();
        all.masses.insert(all.masses.end(), one.masses.begin(), one.masses.end());
        if (k % 40 == 0)
            all.masses[first] = 0; // of a water
        for (const Real3& x : one.positions)
            all.positions.push_back(x + Real3{0.01 * k, 0, 0});
        for (const auto& bond : one.bonds)
            if (k < 600)
                all.bonds.push_back({first + bond.i, first + bond.j, bond.length});
    }
    InitialState start{toOpenMM(all, Declared::InForce), toVectors(all.positions),
                       toVectors(thermalVelocities(all, 1))};
    addSprings(*start.system, all);
    return start;
}

/** Where they are more than the device has room for, fewer of their numbers are in registers. */
TEST(EmulatedMolecules, ComputeTheSameWhereManyWaitForRoom) {
    for (const char* integrator : {"Rattle", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"}) {
        const ConstraintTests::Setup setup{"CUDAMixed", ConstraintIntegrator::MatrixInversion, integrator};
        const auto onSoMany = [&](const char* blocks) {
            const Variable multiprocessors("FAKECUDA_MULTIPROCESSORS", blocks);
            Readings readings = after(3, manyMolecules(), setup, 1e-5);
            readings.energies.clear(); // OpenMM adds them up block by block
            return readings;
        };
        const Readings withRoom = onSoMany("8");
        EXPECT_NE(distance(withRoom.positions, manyMolecules().positions), 0);
        const Readings few = onSoMany("2");
        expectAlike(few, withRoom, "CUDAMixed", 1e-5);
        setConditions(7, 0xff);
        expectSame(onSoMany("2"), few);
        setConditions(0, 0);
    }
}

} // namespace
