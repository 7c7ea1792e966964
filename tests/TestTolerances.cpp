// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Devices have programs of two kinds, for tolerances of 1e-7 and more and for smaller ones. A tolerance may be changed
// from one to the other between steps, and nobody notices.
#include "support/Simulation.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr double coarse = 1e-5, fine = 1e-9;

class Tolerances : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const std::vector<TestSystem> parts = {findSystem("water"), findSystem("CH3"), findSystem("chain")};

    /** These parts and a bond that grows. */
    Simulation start(double tolerance) const {
        std::unique_ptr<System> system = toOpenMM(parts, Declared::InForce);
        addSprings(*system, parts);
        const int first = system->addParticle(12), second = system->addParticle(14);
        auto* moving = new ConstraintForce();
        moving->addDistance(first, second, 0.15, 0.1);
        auto* field = new CustomExternalForce("100*x^2 + 50*y^2"); // against which it does work
        field->addParticle(first);
        field->addParticle(second);
        system->addForce(moving);
        system->addForce(field);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, tolerance), platform);
        s.integrator->setWarmStart(true); // the multipliers matter then
        Vectors x = positionsOf(parts), v = tangentVelocities(parts, 1, 3);
        for (const Vec3& each : {Vec3(0, 0, 0), Vec3(0.15, 0, 0)}) {
            x.push_back(each);
            v.push_back(Vec3(0.1, 0.2, 0.3));
        }
        s.context->setPositions(x);
        s.context->setVelocities(v);
        s.integrator->applyVelocityConstraints();
        return s;
    }
    static double heatOf(const Simulation& s) {
        const auto* langevin = dynamic_cast<const RattleLangevinIntegrator*>(s.integrator.get());
        return langevin == nullptr ? 0 : langevin->getHeat();
    }
    /** What users read of the last step. */
    static std::vector<double> readings(const Simulation& s) {
        std::vector<double> all = s.integrator->getMultipliers();
        all.push_back(s.integrator->getConstraintWork());
        all.push_back(heatOf(s));
        return all;
    }
    static void expectSame(const Simulation& a, const Simulation& b) {
        EXPECT_EQ(distance(a.positions(), b.positions()), 0);
        EXPECT_EQ(distance(a.velocities(), b.velocities()), 0);
        EXPECT_EQ(a.integrator->getMultipliers(), b.integrator->getMultipliers());
        const double rounding = 1e-12 + precisionOf(std::get<0>(GetParam())).velocity; // of sums that go on
        EXPECT_NEAR(a.integrator->getConstraintWork(), b.integrator->getConstraintWork(), rounding);
        EXPECT_NEAR(heatOf(a), heatOf(b), 1e-8 + rounding);
    }
    void expectOnConstraints(const Simulation& s, double tolerance) const {
        const Vectors x = s.positions();
        const double allowed = 1.01 * attainable(platform, tolerance);
        for (std::size_t p = 0; p < parts.size(); p++)
            EXPECT_TRUE(Verifier(toConstraintSet(parts[p]), parts[p].box, parts[p].positions)
                            .accepts(toArrays(partOf(parts, p, x)), allowed))
                << parts[p].name;
    }
    static std::string checkpointOf(Simulation& s) {
        std::stringstream stream;
        s.context->createCheckpoint(stream);
        return stream.str();
    }
    static void load(Simulation& s, const std::string& checkpoint) {
        std::stringstream stream(checkpoint);
        s.context->loadCheckpoint(stream);
    }
};

} // namespace

TEST_P(Tolerances, ThatCrossKeepWhatUsersRead) {
    Simulation s = start(coarse);
    for (double next : {fine, coarse}) {
        s.integrator->step(5);
        const std::vector<double> before = readings(s);
        EXPECT_NE(before[before.size() - 2], 0);
        EXPECT_EQ(before.back() != 0, std::get<2>(GetParam()) != "Rattle");
        const double energy = s.energy();
        s.integrator->setConstraintTolerance(next);
        EXPECT_EQ(readings(s), before);
        EXPECT_NEAR(s.energy(), energy, 1e-5 * std::abs(energy));
        EXPECT_EQ(readings(s), before);
        s.integrator->step(1);
        expectOnConstraints(s, next);
        const std::size_t place = before.size() - 2; // of work, which goes on
        EXPECT_NEAR(readings(s)[place], before[place], 0.5 * std::abs(before[place]));
    }
}

TEST_P(Tolerances, ThatCrossGoOnAsARunThatBeganWithThem) {
    Simulation s = start(coarse);
    for (double next : {fine, coarse}) {
        s.integrator->step(5);
        const std::string checkpoint = checkpointOf(s);
        s.integrator->setConstraintTolerance(next);
        s.integrator->step(5);
        Simulation other = start(next);
        load(other, checkpoint);
        other.integrator->step(5);
        expectSame(s, other);
    }
}

TEST_P(Tolerances, ThatCrossBackLeaveNoTrace) {
    Simulation s = start(coarse), never = start(coarse);
    s.integrator->step(5);
    never.integrator->step(5);
    const std::string checkpoint = checkpointOf(s);
    s.integrator->setConstraintTolerance(fine);
    s.integrator->step(3);
    load(s, checkpoint);
    s.integrator->setConstraintTolerance(coarse);
    s.integrator->step(5);
    never.integrator->step(5);
    expectSame(s, never);
}

/** On devices a warm start keeps small clusters from having floats, so both solvers. */
static std::vector<ConstraintTests::Setup> someSetups() {
    std::vector<ConstraintTests::Setup> setups;
    for (const std::string& platform : platformsUnderTest())
        for (Solver solver : {ConstraintIntegrator::MatrixInversion, ConstraintIntegrator::Iterative})
            if (solver == ConstraintIntegrator::MatrixInversion || !isDevice(platform) ||
                platform.find("Mixed") != std::string::npos)
                for (const char* integrator : {"Rattle", "RattleLangevin"})
                    setups.emplace_back(platform, solver, integrator);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Tolerances, testing::ValuesIn(someSetups()),
                         [](const auto& info) { return nameOf(info.param); });
