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

InitialState periodicGroups(Among among) {
    InitialState start = stateOf(makeGroups(among, 6, true));
    for (int i = 0; i < start.system->getNumForces(); i++)
        if (auto* springs = dynamic_cast<HarmonicBondForce*>(&start.system->getForce(i)))
            springs->setUsesPeriodicBoundaryConditions(true);
    return start;
}

/** What a barostat moves is projected on the device, or where that fails on the host. Springs would make one molecule
 * of all, and scaling it would violate nothing. */
InitialState groupsWithBarostat(Among among) {
    Groups groups = makeGroups(among, 6, true);
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(5);
    groups.system->addForce(barostat);
    const Vectors v = groups.random(1, 5);
    return {std::move(groups.system), groups.positions, v};
}

/** Single particles, clusters that a thread has in registers and in memory, one that is a subdomain; an anchor. */
InitialState groups() {
    return stateOf(makeGroups(Among::Molecules, 6));
}

/** Joined bodies at the border: of a thread and of a block, in clusters or in none, beside a cluster of particles
 * alone. */
InitialState groupsOfBodies() {
    return periodicGroups(Among::ManyBodies);
}

InitialState groupsOfBodiesWithBarostat() {
    return groupsWithBarostat(Among::ManyBodies);
}

/** One row, which is evaluated and solved in one launch. */
InitialState oneRow() {
    return stateOf(makeGroups(Among::WatersOnly, 24));
}

InitialState periodicGroups() {
    return periodicGroups(Among::Molecules);
}

InitialState groupsWithBarostat() {
    return groupsWithBarostat(Among::Molecules);
}

/** Two groups that move apart, which takes work. Bodies are in one of them. */
InitialState movingGroups() {
    InitialState start = stateOf(makeGroups(Among::ManyBodies, 6));
    const int end = start.system->getNumParticles();
    std::vector<int> groups[2];
    for (int p = 0; p < 9; p++)
        groups[0].push_back(p);
    for (int p = end - 120; p < end - 30; p++)
        groups[1].push_back(p);
    const auto centroid = [&](int g) { return centroidOf(*start.system, start.positions, groups[g]); };
    const Vec3 r = centroid(0) - centroid(1);
    auto* force = new ConstraintForce();
    force->addCentroidDistance(groups[0], groups[1], std::sqrt(r.dot(r)), 0.3);
    start.system->addForce(force);
    return start;
}

class EmulatedBorder : public Emulated {
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"};
};

class EmulatedBorderOfBodies : public EmulatedBorder {};

TEST_P(EmulatedBorderOfBodies, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(groupsOfBodiesWithBarostat, "a border of 11 rows");
}

TEST_P(EmulatedBorderOfBodies, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(groupsOfBodies);
}

class EmulatedBorderOfBodiesInSubdomains : public EmulatedBorder {};

/** Clusters with joined bodies in overlapping subdomains, which have copies of bodies. */
TEST_P(EmulatedBorderOfBodiesInSubdomains, ComputesWhatReferenceDoes) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "6");
    const std::string solver = after(1, groupsOfBodies(), GetParam()).summary.solver;
    EXPECT_NE(solver.find("in overlapping subdomains"), std::string::npos) << solver;
    expectWhatReferenceComputes(groupsOfBodies);
    const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1"); // of each round
    expectWhatReferenceComputes(groupsOfBodies);
}

TEST_P(EmulatedBorder, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(groupsWithBarostat, "a border of 7 rows");
    expectTheSameUnderAllConditions(oneRow, "a border of 1 row");
}

TEST_P(EmulatedBorder, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(groups);
    expectWhatReferenceComputes(periodicGroups);
    expectWhatReferenceComputes(oneRow);
}

/** Turns that are launched in vain change nothing, and where they do not suffice, steps are taken again. */
TEST_P(EmulatedBorder, DoesNotDependOnHowManyTurnsAreLaunched) {
    const Readings two = after(4, groupsOfBodiesWithBarostat(), GetParam());
    for (const char* number : {"1", "7"}) {
        const Variable turns("OPENMM_CONSTRAINTS_TURNS", number);
        expectSame(after(4, groupsOfBodiesWithBarostat(), GetParam()), two);
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
    std::vector<Readings> found;
    for (const char* border : {"1", "0"}) {
        const Variable chosen("OPENMM_CONSTRAINTS_BORDER", border);
        for (InitialState (*start)() : {groups, groupsOfBodies})
            found.push_back(after(3, start(), GetParam(), 1e-12));
    }
    for (int i : {0, 1}) {
        const Readings &bordered = found[i], &merged = found[2 + i];
        EXPECT_EQ(merged.summary.solver.find("border"), std::string::npos);
        expectClose(bordered, merged, std::get<0>(GetParam()));
        expectNear(bordered.multipliers, merged.multipliers);
        expectNear(bordered.velocityMultipliers, merged.velocityMultipliers);
        expectNear(bordered.energies, merged.energies);
    }
}

TEST_P(EmulatedBorderReadings, AreThoseOfMergedClustersWhereGroupsMove) {
    const auto found = [&] {
        Simulation s = begin(movingGroups(), GetParam(), 1e-12);
        if (auto* langevin = dynamic_cast<RattleLangevinIntegrator*>(s.integrator.get()))
            langevin->setFriction(2000); // the heat bath's part of the work is of the same size as others
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

const auto every =
    testing::ValuesIn(setups({ConstraintIntegrator::MatrixInversion, ConstraintIntegrator::Iterative}, true));
INSTANTIATE_TEST_SUITE_P(All, EmulatedBorder, every, [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedBorderOfBodies, every, [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedBorderOfBodiesInSubdomains,
                         testing::ValuesIn(setups({ConstraintIntegrator::MatrixInversion}, true)),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
