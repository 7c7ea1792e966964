// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Bordered rows on the emulator: constraints of groups that merge no clusters, and take turns with them.
#include "Emulated.h"
#include "support/Groups.h"
#include "support/Messages.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

InitialState stateOf(Groups groups) {
    groups.addSprings();
    Vectors v = groups.random(1, 5);
    return {std::move(groups.system), groups.positions, v};
}

/** Single particles, clusters that a thread has in registers and in memory, one that is a part; an anchor. */
InitialState groups() {
    return stateOf(makeGroups(Among::Molecules, 6));
}

/** One row, which is evaluated and solved in one launch. */
InitialState oneRow() {
    return stateOf(makeGroups(Among::WatersOnly, 24));
}

InitialState periodicGroups() {
    InitialState start = stateOf(makeGroups(Among::Molecules, 6, true));
    for (int i = 0; i < start.system->getNumForces(); i++)
        if (auto* springs = dynamic_cast<HarmonicBondForce*>(&start.system->getForce(i)))
            springs->setUsesPeriodicBoundaryConditions(true);
    return start;
}

/** What a barostat moves is projected on the device, or where that fails on the host. */
InitialState groupsWithBarostat() {
    InitialState start = periodicGroups();
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(5);
    start.system->addForce(barostat);
    return start;
}

/** Two groups that move apart, which takes work. */
InitialState movingGroups() {
    InitialState start = groups();
    auto* force = new ConstraintForce();
    Vec3 r;
    for (int p = 0; p < 9; p++)
        r += (start.positions[p] - start.positions[9 + p]) * (start.system->getParticleMass(p) / (3 * (16 + 1 + 1)));
    force->addCentroidDistance({0, 1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16, 17}, std::sqrt(r.dot(r)),
                               0.3);
    start.system->addForce(force);
    return start;
}

class EmulatedBorder : public Emulated {
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"};
};

TEST_P(EmulatedBorder, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(groupsWithBarostat, "a border of 6 rows");
    expectTheSameUnderAllConditions(oneRow, "a border of 1 row");
}

TEST_P(EmulatedBorder, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(groups);
    expectWhatReferenceComputes(periodicGroups);
    expectWhatReferenceComputes(oneRow);
}

/** Turns that are launched in vain change nothing, and where they do not suffice, steps are taken again. */
TEST_P(EmulatedBorder, DoesNotDependOnHowManyTurnsAreLaunched) {
    const Readings two = after(4, groupsWithBarostat(), GetParam());
    for (const char* number : {"1", "7"}) {
        const Variable turns("OPENMM_CONSTRAINTS_TURNS", number);
        expectSame(after(4, groupsWithBarostat(), GetParam()), two);
    }
}

/** Where rounding leaves readings enough digits. */
class EmulatedBorderReadings : public EmulatedBorder {};

void expectNear(const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (double each : b)
        largest = std::max(largest, std::abs(each));
    for (std::size_t i = 0; i < a.size(); i++)
        EXPECT_NEAR(a[i], b[i], 1e-5 * largest) << i;
}

TEST_P(EmulatedBorderReadings, AreThoseOfMergedClusters) {
    const Readings bordered = after(3, groups(), GetParam(), 1e-12);
    unsetenv("OPENMM_CONSTRAINTS_BORDER");
    const Readings merged = after(3, groups(), GetParam(), 1e-12);
    EXPECT_EQ(merged.summary.solver.find("border"), std::string::npos);
    expectClose(bordered, merged, std::get<0>(GetParam()));
    expectNear(bordered.multipliers, merged.multipliers);
    expectNear(bordered.velocityMultipliers, merged.velocityMultipliers);
    expectNear(bordered.energies, merged.energies);
}

TEST_P(EmulatedBorderReadings, AreThoseOfMergedClustersWhereGroupsMove) {
    const auto found = [&] {
        Simulation s = begin(movingGroups(), GetParam(), 1e-12);
        s.integrator->step(4);
        return std::make_pair(s.integrator->getConstraintWork(), s.integrator->getMultipliers());
    };
    const auto bordered = found();
    unsetenv("OPENMM_CONSTRAINTS_BORDER");
    const auto merged = found();
    EXPECT_NE(merged.first, 0);
    EXPECT_NEAR(bordered.first, merged.first, 1e-5 * std::abs(merged.first));
    expectNear(bordered.second, merged.second);
    expectWhatReferenceComputes(movingGroups);
}

/** A Nose-Hoover chain holds nothing that moves in time. */
std::vector<ConstraintTests::Setup> precise() {
    std::vector<ConstraintTests::Setup> all = setups({ConstraintIntegrator::MatrixInversion}, false);
    all.emplace_back("CUDADouble", ConstraintIntegrator::Iterative, "RattleLangevin");
    for (ConstraintTests::Setup& setup : all)
        if (std::get<0>(setup) == "CUDASingle")
            std::get<0>(setup) = "CUDADouble";
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedBorderReadings, testing::ValuesIn(precise()),
                         [](const auto& info) { return nameOf(info.param); });

INSTANTIATE_TEST_SUITE_P(
    All, EmulatedBorder,
    testing::ValuesIn(setups({ConstraintIntegrator::MatrixInversion, ConstraintIntegrator::Iterative}, true)),
    [](const auto& info) { return nameOf(info.param); });

} // namespace
