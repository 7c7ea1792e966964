// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Devices serve clusters of distances by text for each size up to eight, larger ones by one text for all.
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class SmallClusters : public testing::TestWithParam<Setup> {
protected:
    static constexpr double dt = 0.001;
    const Precision precision = precisionOf(std::get<0>(GetParam()));

    /** Stars and rings of every size, side by side: they differ in masses, and share a launch. There are no forces,
     * which OpenMM would compute from rounded parameters. */
    static Simulation start(const ConstraintTests::Setup& setup) {
        std::vector<TestSystem> parts;
        for (const char* name : {"OH", "CH2", "CH3", "water", "ring", "rings", "star", "stars"})
            parts.push_back(findSystem(name));
        Simulation s(toOpenMM(parts, Declared::InForce), makeIntegrator(setup, dt, 1e-13), std::get<0>(setup));
        s.context->setPositions(positionsOf(parts));
        s.context->setVelocities(tangentVelocities(parts, 1, 3));
        return s;
    }
    static ConstraintTests::Setup onReference(ConstraintTests::Setup setup) {
        std::get<0>(setup) = "Reference";
        return setup;
    }
};

/** Those that do not drift. */
class SolvedSmallClusters : public SmallClusters {};

TEST_P(SmallClusters, GoWhereTheyGoOnReference) {
    Simulation s = start(GetParam()), reference = start(onReference(GetParam()));
    const Vectors before = s.positions();
    s.integrator->step(20);
    reference.integrator->step(20);
    EXPECT_LT(distance(s.positions(), reference.positions()), 1e-9 + 10 * precision.position);
    EXPECT_LT(distance(s.velocities(), reference.velocities()), 1e-6 + 1000 * precision.velocity);
    EXPECT_GT(distance(s.positions(), before), 1e-2);
    const std::vector<double> found = s.integrator->getMultipliers(), expected = reference.integrator->getMultipliers();
    ASSERT_EQ(found.size(), expected.size());
    double error = 0, largest = 0;
    for (std::size_t k = 0; k < found.size(); k++) {
        error = std::max(error, std::abs(found[k] - expected[k]));
        largest = std::max(largest, std::abs(expected[k]));
    }
    // What moves 10 amu by the rounding of a position in one step.
    EXPECT_LT(error, 1e-8 * largest + 10 * precision.position / (dt * dt));
}

TEST_P(SmallClusters, RepeatBitForBit) {
    Simulation first = start(GetParam()), second = start(GetParam());
    first.integrator->step(20);
    second.integrator->step(20);
    EXPECT_EQ(distance(first.positions(), second.positions()), 0);
    EXPECT_EQ(distance(first.velocities(), second.velocities()), 0);
}

TEST_P(SolvedSmallClusters, AreProjectedOnTheDeviceWhereSomeoneElseMayHaveMovedThem) {
    Simulation s = start(GetParam()), reference = start(onReference(GetParam()));
    for (Simulation* each : {&s, &reference}) {
        each->integrator->setStepSize(20 * dt);
        each->integrator->setConstraintTolerance(0.2);
        each->integrator->step(2);
        each->integrator->setStepSize(dt);
        each->integrator->setConstraintTolerance(1e-10);
    }
    s.context->getState(State::Forces); // which the integrator did not ask for
    const Vectors before = reference.positions();
    reference.integrator->applyConstraints();
    EXPECT_GT(distance(reference.positions(), before), 1e-4) << "there was nothing to project";
    if (std::get<2>(GetParam()) == "Rattle")
        reference.integrator->applyVelocityConstraints();
    for (Simulation* each : {&s, &reference})
        each->integrator->step(1);
    EXPECT_LT(distance(s.positions(), reference.positions()), 1e-9 + 10 * precision.position);
    EXPECT_LT(distance(s.velocities(), reference.velocities()), 1e-6 + 1000 * precision.velocity);
}

/** "(particles 0 and 8)" in the message of a step with one iteration, which is not enough; the state is left as it was.
 */
std::string worstBond(const char* system, const Setup& setup) {
    Simulation s = simulate(findSystem(system), Declared::InForce, setup, 0.004, 1e-6);
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each *= 5;
    s.context->setVelocities(v);
    s.integrator->setMaxIterations(1);
    if (auto* explicitForce = dynamic_cast<ConstraintForceIntegrator*>(s.integrator.get()))
        explicitForce->setMaxDrift(1e-5);
    const Vectors before = s.positions();
    const std::string message = messageOf([&] { s.integrator->step(1); });
    EXPECT_EQ(distance(s.positions(), before), 0) << message;
    const std::size_t begin = std::min(message.find("(particles"), message.size());
    return message.substr(begin, message.find(')', begin) - begin);
}

TEST_P(SmallClusters, NameTheBondThatIsWorstOnReference) {
    for (const char* name : {"CH3", "ring", "star"})
        EXPECT_EQ(worstBond(name, GetParam()), worstBond(name, onReference(GetParam()))) << name;
}

std::vector<Setup> setups(std::vector<const char*> integrators) {
    std::vector<Setup> all;
    for (const std::string& platform : platformsUnderTest())
        if (isDevice(platform)) {
            for (const char* integrator : integrators)
                all.emplace_back(platform, ConstraintIntegrator::MatrixInversion, integrator);
            all.emplace_back(platform, ConstraintIntegrator::Iterative, "Rattle");
        }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Devices, SmallClusters,
                         testing::ValuesIn(setups({"Rattle", "Shake", "FrictionlessLangevin", "ConstraintForce"})),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Devices, SolvedSmallClusters,
                         testing::ValuesIn(setups({"Rattle", "Shake", "FrictionlessLangevin"})),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
