// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Distances between centres of mass.
#include "CentroidDistance.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const std::vector<int> group1 = {0, 1, 2}, group2 = {3, 4};

class Centroids : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    static std::unique_ptr<System> makeSystem(double distance, double rate = 0) {
        auto system = std::make_unique<System>();
        for (double mass : {12.0, 1.0, 16.0, 14.0, 2.0})
            system->addParticle(mass);
        auto* springs = new HarmonicBondForce();
        for (int i = 0; i < 4; i++)
            springs->addBond(i, i + 1, 0.15, 5000);
        springs->addBond(0, 4, 0.4, 300);
        auto* constraints = new ConstraintForce();
        constraints->addDistance(0, 1, 0.11);
        constraints->addCentroidDistance(group1, group2, distance, rate);
        system->addForce(springs);
        system->addForce(constraints);
        return system;
    }
    static Simulation start(double distance, double stepSize, double rate = 0) {
        Simulation simulation(makeSystem(distance, rate), makeIntegrator(GetParam(), stepSize, 1e-12),
                              std::get<0>(GetParam()));
        simulation.context->setPositions({{0, 0, 0}, {0.11, 0, 0}, {0.1, 0.15, 0}, {0.3, 0.1, 0.1}, {0.4, 0.2, 0}});
        simulation.context->setVelocities({{0.3, 0.1, 0}, {-0.5, 1, 0.1}, {0.2, 0, 0.3}, {-0.3, 0, 0.2}, {1, 0, 0.5}});
        simulation.integrator->applyConstraints();
        simulation.integrator->applyVelocityConstraints();
        return simulation;
    }
    static Vec3 centre(const Simulation& simulation, const std::vector<int>& group) {
        Vec3 sum;
        double mass = 0;
        for (int i : group) {
            sum += simulation.positions()[i] * simulation.system->getParticleMass(i);
            mass += simulation.system->getParticleMass(i);
        }
        return sum / mass;
    }
    static double separation(const Simulation& simulation) {
        const Vec3 r = centre(simulation, group1) - centre(simulation, group2);
        return std::sqrt(r.dot(r));
    }
    /** How far a separation (nm) may be from its target. */
    static double attainableSeparation(double target) {
        return target * attainable(std::get<0>(GetParam()), 1e-12, target);
    }
};

TEST_P(Centroids, KeepTheirDistanceAndTheEnergy) {
    Simulation simulation = start(0.28, 0.0002);
    EXPECT_EQ(simulation.integrator->getNumDegreesOfFreedom(), 13);
    const double energy = simulation.energy();
    const int stepsPerBlock = isDevice(std::get<0>(GetParam())) ? 50 : 200;
    for (int block = 0; block < 10; block++) {
        simulation.integrator->step(stepsPerBlock);
        EXPECT_NEAR(separation(simulation), 0.28, attainableSeparation(0.28));
        EXPECT_NEAR(simulation.energy(), energy,
                    (std::get<2>(GetParam()) == "FrictionlessLangevin" ? 0.1 : 0.003) * std::abs(energy));
    }
}

TEST_P(Centroids, MultiplierIsTheForceBetweenTheGroupsAndTheListsOrderHolds) {
    Simulation simulation = start(0.28, 0.0002);
    simulation.integrator->step(5);
    auto& force = dynamic_cast<ConstraintForce&>(simulation.system->getForce(1));
    const std::vector<double> multipliers = force.getMultipliers(*simulation.context);
    ASSERT_EQ(multipliers.size(), 2u);
    EXPECT_EQ(multipliers, simulation.integrator->getMultipliers());
    const Vectors forces = simulation.integrator->getConstraintForces();
    Vec3 onGroup2;
    for (int i : group2)
        onGroup2 += forces[i];
    EXPECT_NEAR(std::sqrt(onGroup2.dot(onGroup2)), std::abs(multipliers[1]), 1e-9 * std::abs(multipliers[1]));
}

TEST_P(Centroids, ArePulledByARate) {
    Simulation simulation = start(0.28, 0.0005, 0.2);
    simulation.integrator->step(100);
    EXPECT_NEAR(separation(simulation), 0.28 + 0.2 * 0.05, attainableSeparation(0.29));
}

INSTANTIATE_TEST_SUITE_P(All, Centroids, testing::ValuesIn(constantEnergySetups()),
                         [](const auto& info) { return nameOf(info.param); });

TEST(CentroidDistances, GradientAndCurvatureAgreeWithFiniteDifferences) {
    CentroidDistance centroids({0.25, 0.75, -0.4, -0.6}, false);
    Random random(3);
    std::vector<Real3> x(4), v(4), gradient(4), unused(4);
    for (int i = 0; i < 4; i++) {
        x[i] = random.inCube(1);
        v[i] = random.inCube(1);
    }
    const CustomCoordinate::StepState stepState{0, {{9, 0, 0}, {0, 9, 0}, {0, 0, 9}}};
    const double h = 1e-4, q = centroids.evaluate(x.data(), nullptr, stepState, gradient.data());
    auto moved = [&](double by) {
        std::vector<Real3> y = x;
        for (int i = 0; i < 4; i++)
            y[i] += by * v[i];
        return centroids.evaluate(y.data(), nullptr, stepState, unused.data());
    };
    double rate = 0;
    for (int i = 0; i < 4; i++)
        rate += dot(gradient[i], v[i]);
    EXPECT_NEAR(rate, (moved(h) - moved(-h)) / (2 * h), 1e-7);
    EXPECT_NEAR(centroids.curvature(x.data(), v.data(), nullptr, stepState), (moved(h) - 2 * q + moved(-h)) / (h * h),
                1e-6);
}

class CentroidGroups : public testing::TestWithParam<std::string> {};

TEST_P(CentroidGroups, AreRefusedByNameWhereTheyAreBad) {
    const std::vector<std::pair<std::vector<int>, std::string>> bad = {
        {{}, "no particle with mass"},  {{1, 1}, "twice"}, {{9}, "out of range"},
        {{2}, "no particle with mass"}, {{3, 3}, "twice"}, {{3}, "no particle with mass"}};
    for (const auto& [group, expected] : bad) {
        System system;
        for (double mass : {1.0, 1.0, 0.0, 0.0})
            system.addParticle(mass);
        system.setVirtualSite(3, new TwoParticleAverageSite(0, 1, 0.5, 0.5));
        auto* constraints = new ConstraintForce();
        constraints->addCentroidDistance({0}, group, 0.1);
        system.addForce(constraints);
        RattleIntegrator integrator(0.001);
        expectAll(messageOf([&] { makeContext(system, integrator, GetParam()); }),
                  {"centroid distance 0 of the ConstraintForce with index 0", expected});
    }
}

TEST_P(CentroidGroups, VirtualSitesInThemWeighNothing) {
    Vectors ends[2];
    for (bool withSites : {false, true}) {
        System system;
        for (double mass : {12.0, 1.0, 16.0, 1.0, 0.0, 0.0})
            system.addParticle(mass);
        system.setVirtualSite(4, new TwoParticleAverageSite(0, 1, 0.3, 0.7));
        system.setVirtualSite(5, new TwoParticleAverageSite(2, 3, 1.5, -0.5));
        auto* constraints = new ConstraintForce();
        constraints->addDistance(0, 1, 0.1);
        constraints->addCentroidDistance(withSites ? std::vector<int>{4, 0, 1} : std::vector<int>{0, 1},
                                         withSites ? std::vector<int>{2, 5, 3} : std::vector<int>{2, 3}, 0.3);
        system.addForce(constraints);
        auto* field = new CustomExternalForce("50*x*x+20*y"); // sites hand on their forces
        for (int i = 0; i < 6; i++)
            field->addParticle(i, {});
        system.addForce(field);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-8);
        const auto context = makeContext(system, integrator, GetParam());
        context->setPositions({Vec3(), Vec3(0.1, 0, 0), Vec3(0, 0.3, 0), Vec3(0.02, 0.3, 0.1), Vec3(), Vec3()});
        context->setVelocities({Vec3(0, 0, 0.3), Vec3(0, 0.4, 0), Vec3(), Vec3(), Vec3(), Vec3()});
        integrator.applyConstraints();
        integrator.step(20);
        ends[withSites] = context->getState(State::Positions).getPositions();
        const Vec3 apart =
            (ends[withSites][0] * 12 + ends[withSites][1]) / 13 - (ends[withSites][2] * 16 + ends[withSites][3]) / 17;
        EXPECT_NEAR(std::sqrt(apart.dot(apart)), 0.3, 0.3 * attainable(GetParam(), 1e-8, 0.3));
    }
    EXPECT_NEAR(distance(ends[0], ends[1]), 0, precisionOf(GetParam()).position); // molecules may be sorted otherwise
}

INSTANTIATE_TEST_SUITE_P(Platforms, CentroidGroups, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
