// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Bordered rows in a Context: how they are held, checked, and named where they are not solved.
#include "support/Groups.h"
#include "support/Messages.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class BorderedSteps : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(BorderedSteps, HoldGroupsOfAllSorts) {
    const std::string platform = std::get<0>(GetParam());
    Groups groups = makeGroups(Among::AllSorts, isDevice(platform) ? 4 : 12);
    groups.addSprings();
    Simulation s(std::move(groups.system), makeIntegrator(GetParam(), 0.0005, 1e-11), platform);
    s.context->setPositions(groups.positions);
    Vectors v;
    Random random(5);
    for (int p = 0; p < s.system->getNumParticles(); p++) {
        const Real3 r = random.inCube(0.5);
        v.push_back(s.system->getParticleMass(p) > 0 ? Vec3(r.x, r.y, r.z) : Vec3());
    }
    s.context->setVelocities(v);
    s.integrator->applyVelocityConstraints();
    const bool isExact = std::get<2>(GetParam()) != "ConstraintForce";
    for (int block = 0; block < 3; block++) {
        s.integrator->step(isDevice(platform) ? 5 : 20);
        EXPECT_LT(groups.error(s.positions()), isExact ? 1e-10 + 30 * precisionOf(platform).position : 1e-4);
    }
}

INSTANTIATE_TEST_SUITE_P(All, BorderedSteps, testing::ValuesIn(everySetup()),
                         [](const auto& info) { return nameOf(info.param); });

namespace {

const std::string hosts[] = {"Reference", "CPU"};

/** Waters in two groups, whose heights differ by what an expression says. */
struct Slabs {
    std::unique_ptr<System> system;
    CustomCentroidConstraintForce* heights;
    Vectors positions;
    int lower, upper;

    explicit Slabs(const std::string& expression = "z1-z2-h", double excess = 0, int numWaters = 12) {
        Groups groups = makeGroups(Among::WatersOnly, numWaters);
        system = std::move(groups.system);
        positions = groups.positions;
        system->removeForce(0); // the expression of the groups
        heights = new CustomCentroidConstraintForce(2, expression);
        heights->addPerConstraintParameter("h");
        std::vector<int> halves[2];
        Vec3 centre[2];
        double mass[2] = {0, 0};
        for (int p = 0; p < 3 * numWaters; p++) {
            const int half = p < 3 * (numWaters / 2) ? 0 : 1;
            const double m = system->getParticleMass(p);
            halves[half].push_back(p);
            centre[half] += positions[p] * m;
            mass[half] += m;
        }
        lower = heights->addGroup(halves[0]);
        upper = heights->addGroup(halves[1]);
        add(centre[0][2] / mass[0] - centre[1][2] / mass[1] + excess);
        system->addForce(heights);
    }
    void add(double h) {
        height = h;
        heights->addConstraint({lower, upper}, {h});
    }
    double height = 0;
};

} // namespace

TEST(BorderedContexts, SaysHowGroupsAreSolved) {
    for (const std::string& platform : hosts) {
        Slabs slabs;
        RattleIntegrator integrator(0.001);
        const auto context = makeContext(*slabs.system, integrator, platform);
        context->setPositions(slabs.positions);
        integrator.step(1);
        EXPECT_EQ(integrator.getSolverSummary().solver, "MatrixInversion (closed form 3x3) and a border of 1 row");
        EXPECT_EQ(integrator.getSolverSummary().clusters, 13);
        const std::vector<ClusterInfo> clusters = integrator.getClusters(*slabs.system);
        ASSERT_EQ(clusters.size(), 2u);
        EXPECT_EQ(clusters[0].solver, "closed form 3x3");
        EXPECT_EQ(clusters[0].count, 12);
        EXPECT_EQ(clusters[1].solver, "border");
        EXPECT_EQ(clusters[1].constraints, 1);
        EXPECT_EQ(clusters[1].particles, 36);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 12 * 6 - 1);
    }
}

TEST(BorderedContexts, CheckEqualConstraintsAndShareTheirForce) {
    for (const std::string& platform : hosts) {
        Slabs slabs("z1-z2-h + 0.3*(x1-x2)^2"); // curved: a force without others
        slabs.add(slabs.height);
        slabs.add(slabs.height);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-9);
        integrator.setMaxProjection(1);
        const auto context = makeContext(*slabs.system, integrator, platform);
        context->setPositions(slabs.positions);
        context->setVelocitiesToTemperature(300, 1);
        integrator.step(5);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 12 * 6 - 1);
        const std::vector<double> lambda = slabs.heights->getMultipliers(*context);
        EXPECT_NE(lambda[0], 0);
        for (int k : {1, 2})
            EXPECT_NEAR(lambda[k], lambda[0], 1e-8 * std::abs(lambda[0]));

        slabs.heights->setConstraintParameters(1, {slabs.lower, slabs.upper}, {slabs.height + 0.01});
        RattleIntegrator refused(0.001);
        const std::string message = messageOf([&] {
            const auto other = makeContext(*slabs.system, refused, platform);
            other->setPositions(slabs.positions);
            refused.step(1);
        });
        expectAll(message, {"constraint 1 of the CustomCentroidConstraintForce with index 1", "sigma is -0.01"});
    }
}

TEST(BorderedContexts, CheckWhatAMoleculeHoldsByItself) {
    // The distance of the centroids of O, H and of H of a rigid water does not change: rank 0.
    for (const std::string& platform : hosts)
        for (double excess : {0.0, 0.01}) {
            Slabs slabs;
            const Vectors& x = slabs.positions;
            const Vec3 r = (x[0] * 16 + x[1]) / 17 - x[2];
            auto* within = new ConstraintForce();
            within->addCentroidDistance({0, 1}, {2}, std::sqrt(r.dot(r)) + excess);
            slabs.system->addForce(within);
            RattleIntegrator integrator(0.001);
            const std::string message = messageOf([&] {
                const auto context = makeContext(*slabs.system, integrator, platform);
                context->setPositions(x);
                integrator.step(5);
                EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 12 * 6 - 1);
            });
            if (excess == 0)
                EXPECT_EQ(message, "");
            else
                expectAll(message, {"centroid distance 0 of the ConstraintForce with index 2", "target 0.11"});
        }
}

TEST(BorderedContexts, NameTheConstraintThatIsNotSolvedAndKeepTheState) {
    for (const std::string& platform : hosts) {
        Slabs slabs("distance(g1,g2)-h");
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-12);
        integrator.setMaxProjection(10);
        const auto context = makeContext(*slabs.system, integrator, platform);
        context->setPositions(slabs.positions);
        const double h = std::abs(slabs.height) + 0.5;
        slabs.heights->setConstraintParameters(0, {slabs.lower, slabs.upper}, {h});
        slabs.heights->updateParametersInContext(*context);
        integrator.applyConstraints();
        Vectors v;
        for (int p = 0; p < 36; p++) // the halves turn about each other
            v.push_back(Vec3(p < 18 ? 3 : -3, p < 18 ? -2 : 2, 0));
        context->setVelocities(v);
        integrator.applyVelocityConstraints();
        integrator.step(3);
        const State before = context->getState(State::Positions | State::Velocities);
        integrator.setMaxIterations(1);
        expectAll(messageOf([&] { integrator.step(1); }),
                  {"constraint 0 of the CustomCentroidConstraintForce with index 1", "1 iteration"});
        const State after = context->getState(State::Positions | State::Velocities);
        EXPECT_EQ(distance(after.getPositions(), before.getPositions()), 0);
        EXPECT_EQ(distance(after.getVelocities(), before.getVelocities()), 0);
        integrator.setMaxIterations(100);
        integrator.step(3);
    }
}

TEST(BorderedContexts, OfTwoContextsDoNotDisturbEachOther) {
    for (const std::string& platform : hosts) {
        Slabs slabs;
        RattleIntegrator one(0.001), two(0.001), alone(0.001);
        const auto first = makeContext(*slabs.system, one, platform),
                   second = makeContext(*slabs.system, two, platform),
                   third = makeContext(*slabs.system, alone, platform);
        for (auto* context : {first.get(), second.get(), third.get()}) {
            context->setPositions(slabs.positions);
            context->setVelocitiesToTemperature(300, context == second.get() ? 2 : 1);
        }
        alone.step(10);
        for (int i = 0; i < 10; i++) {
            one.step(1);
            two.step(1);
        }
        EXPECT_EQ(distance(first->getState(State::Positions).getPositions(),
                           third->getState(State::Positions).getPositions()),
                  0);
    }
}

TEST(BorderedContexts, GiveTheSameBitsWithAnyNumberOfThreads) {
    Vectors expected;
    for (int threads : {1, 2, 3}) {
        Slabs slabs("z1-z2-h + 0.1*(x1-x2)^2", 0, 2000);
        RattleIntegrator integrator(0.001);
        integrator.setMaxProjection(1);
        Context context(*slabs.system, integrator, Platform::getPlatformByName("CPU"),
                        {{"Threads", std::to_string(threads)}});
        context.setPositions(slabs.positions);
        Random random(4);
        Vectors v;
        for (std::size_t p = 0; p < slabs.positions.size(); p++) {
            const Real3 r = random.inCube(0.5);
            v.emplace_back(r.x, r.y, r.z);
        }
        context.setVelocities(v);
        integrator.step(5);
        const Vectors x = context.getState(State::Positions).getPositions();
        if (threads == 1)
            expected = x;
        EXPECT_EQ(distance(x, expected), 0) << threads;
    }
}
