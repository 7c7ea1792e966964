// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// ConstraintForce::setReplacesSolver(): OpenMM's own integrators with this library's solver. For those that exist in
// Python only, see tests/python/test_replaced_solver.py; for states, parameters and failures TestReplacedStates.cpp.
#include "openmm/serialization/XmlSerializer.h"
#include "support/ForeignRun.h"
#include "support/LargeGroups.h"
#include "support/Mixture.h"
#include "support/Variable.h"
#include <cmath>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

// ---- every kind of constraint, under every integrator ---------------------------------------------------------------

class ReplacedSolver : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ReplacedSolver, HoldsEveryKindOfConstraint) {
    const auto& [platform, name] = GetParam();
    for (const bool periodic : {false, true}) {
        Mixture mixture = drawMixture(3, periodic, false);
        addReplacing(*mixture.system);
        ForeignRun run(std::move(mixture.system), makeForeign(name, 0.0005, 1e-8), platform);
        run.context->setPositions(mixture.positions);
        run.context->setVelocities(mixture.velocities);
        // In the box coordinates reach 8 nm, which floats round by 2.4e-7 nm.
        const double length = periodic ? 0.05 : 0.1;
        for (int step = 0; step < 20; step++) {
            run.integrator->step(1);
            ASSERT_TRUE(mixture.holds(run.positions(), 0, std::max(2e-7, attainable(platform, 0, length))))
                << "step " << step << (periodic ? ", periodic" : "");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, ReplacedSolver,
                         testing::Combine(testing::ValuesIn(platformsUnderTest()),
                                          testing::ValuesIn(foreignIntegrators)),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

// ---- groups, which devices solve in turns with clusters and bodies
// ----------------------------------------------------

class ReplacedSolverOfGroups : public testing::TestWithParam<std::string> {};

TEST_P(ReplacedSolverOfGroups, MovesThemAsReferenceDoes) {
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"}; // where the device is a CPU, groups would merge clusters
    std::vector<Vectors> ends;
    for (const std::string& platform : {std::string("Reference"), GetParam()}) {
        LargeGroups groups(LargeGroups::Place::NoBox, false);
        groups.addBodies();
        addReplacing(*groups.system);
        ForeignRun run(std::move(groups.system), makeForeign("FrictionlessLangevinMiddle", 0.0005, 1e-9), platform);
        run.context->setPositions(groups.positions);
        run.context->setVelocities(groups.random(0.7, 5));
        run.context->applyVelocityConstraints(1e-9);
        run.integrator->step(5);
        ends.push_back(run.positions());
        EXPECT_LT(groups.error(ends.back(), 0, 0), 4 * attainable(platform, 1e-8, 1));
    }
    const Precision precision = precisionOf(GetParam());
    EXPECT_LT(distance(ends[0], ends[1]), 1e-7 + 100 * precision.position + 0.1 * precision.force);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ReplacedSolverOfGroups, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

// ---- where OpenMM's algorithms can solve a System -------------------------------------------------------------------

class ReplacedSolverOfRegularSets : public testing::TestWithParam<std::string> {};

TEST_P(ReplacedSolverOfRegularSets, MovesAsOpenMMsOwn) {
    const std::string& name = GetParam();
    for (const char* molecule : {"triangle", "chain", "star"}) {
        const TestSystem& given = findSystem(molecule);
        Vectors ends[2];
        for (const bool isReplaced : {false, true}) {
            auto system = toOpenMM(given, Declared::InSystem);
            addSprings(*system, given);
            if (isReplaced)
                addReplacing(*system);
            ForeignRun run(std::move(system), makeForeign(name, 0.001, 1e-10), "Reference");
            run.context->setPositions(toVectors(given.positions));
            run.context->setVelocities(tangentVelocities(given, 1, 5));
            run.integrator->step(40);
            ends[isReplaced] = run.positions();
        }
        for (int i = 0; i < given.numParticles(); i++)
            EXPECT_LE(std::sqrt((ends[0][i] - ends[1][i]).dot(ends[0][i] - ends[1][i])), 1e-8) << molecule << ' ' << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Integrators, ReplacedSolverOfRegularSets,
                         testing::Values("Verlet", "FrictionlessLangevinMiddle", "NoseHoover", "VariableVerlet",
                                         "CustomVerlet"),
                         [](const auto& info) { return info.param; });

// ---- the setting ----------------------------------------------------------------------------------------------------

TEST(ReplacesSolver, IsWrittenToXml) {
    ConstraintForce force;
    EXPECT_FALSE(force.getReplacesSolver());
    for (const bool yes : {false, true}) {
        force.setReplacesSolver(yes);
        std::stringstream xml;
        XmlSerializer::serialize<Force>(&force, "Force", xml);
        EXPECT_EQ(xml.str().find("replacesSolver") != std::string::npos, yes); // others can be read by earlier releases
        const std::unique_ptr<Force> read(XmlSerializer::deserialize<Force>(xml));
        EXPECT_EQ(dynamic_cast<ConstraintForce&>(*read).getReplacesSolver(), yes);
    }
}
