// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Two particles, or two centroids, at one place: a distance of zero is refused, and what the message says instead
// works.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const std::vector<std::string> expressions = {"x1-x2", "y1-y2", "z1-z2"};
const std::vector<std::string> ofParticles = {"\"x1-x2\", \"y1-y2\" and \"z1-z2\", each a CustomConstraintForce",
                                              "virtual site"};
const std::vector<std::string> ofCentroids = {
    "\"x1-x2\", \"y1-y2\" and \"z1-z2\", each a CustomCentroidConstraintForce"};

class ZeroLengths : public testing::TestWithParam<Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());

    /** Five particles on springs. Nothing keeps 1 and 2 apart. */
    static std::unique_ptr<System> chain() {
        auto system = std::make_unique<System>();
        for (double mass : {12.0, 1.0, 16.0, 14.0, 2.0})
            system->addParticle(mass);
        auto* springs = new HarmonicBondForce();
        springs->addBond(0, 1, 0.15, 3000);
        springs->addBond(2, 3, 0.16, 4000);
        springs->addBond(3, 4, 0.1, 2000);
        springs->addBond(0, 4, 0.35, 500);
        system->addForce(springs);
        return system;
    }
    static Vectors positions(double apart) {
        return {Vec3(), Vec3(0.15, 0.01, 0), Vec3(0.15 + apart, 0.01 - 0.5 * apart, 0), Vec3(0.25, 0.14, 0.05),
                Vec3(0.3, 0.2, -0.02)};
    }
    template <class Change>
    ConstraintProblem creating(Change change) const {
        const auto system = chain();
        auto* force = new ConstraintForce();
        change(*system, *force);
        system->addForce(force);
        const IntegratorPointer integrator = makeIntegrator(GetParam(), 0.001, 1e-8);
        return problemThrownBy([&] { makeContext(*system, *integrator, platform); });
    }
};

} // namespace

TEST_P(ZeroLengths, AreRefusedWithWhatToGiveInstead) {
    const ConstraintProblem ofForce = creating([](System&, ConstraintForce& f) { f.addDistance(1, 2, 0); });
    EXPECT_EQ(ofForce.kind, "target");
    EXPECT_EQ(ofForce.value, 0);
    expectAll(ofForce.message,
              {"distance 0 of the ConstraintForce with index 1 (particles 1 and 2)", "0 nm is not a positive"});
    expectAll(ofForce.remedy, ofParticles);
    expectAll(creating([](System& s, ConstraintForce&) { s.addConstraint(1, 2, 0); }).remedy, ofParticles);
    expectAll(creating([](System&, ConstraintForce& f) {
                  f.addCentroidDistance({0, 1}, {2, 3}, 0);
              }).remedy,
              ofCentroids);
    EXPECT_EQ(creating([](System&, ConstraintForce& f) { f.addDistance(1, 2, -0.1); }).remedy, "")
        << "which is a mistake of another sort";
    const ConstraintProblem interpolated = creating([](System&, ConstraintForce& f) {
        f.addDistance(1, 2, 0.1);
        f.addGlobalParameter("lambda", 1);
        f.setDistanceInterpolation(0, "lambda", 0);
    });
    EXPECT_EQ(interpolated.kind, "moving");
    expectAll(interpolated.remedy, {"context.setParameter(\"lambda\"", ofParticles[0], ofParticles[1]});
}

TEST_P(ZeroLengths, AreRefusedWhereALengthComesToThat) {
    auto system = chain();
    auto* force = new ConstraintForce();
    force->addDistance(1, 2, 0.02);
    force->addGlobalParameter("lambda", 0);
    force->setDistanceInterpolation(0, "lambda", 0);
    system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.0005, 1e-8), platform);
    s.context->setPositions(positions(0.02 / std::sqrt(1.25)));
    s.integrator->step(1);
    s.context->setParameter("lambda", 1);
    const Vectors before = s.positions();
    expectAll(messageOf([&] { s.integrator->step(1); }), {"would be 0 nm", ofParticles[0], ofParticles[1]});
    EXPECT_EQ(distance(s.positions(), before), 0);

    auto moving = chain();
    auto* rate = new ConstraintForce();
    rate->addDistance(1, 2, 0.02, -10); // 4 steps
    rate->addCentroidDistance({0}, {3, 4}, 0.3);
    moving->addForce(rate);
    Simulation pulled(std::move(moving), makeIntegrator(GetParam(), 0.0005, 1e-8), platform);
    pulled.context->setPositions(positions(0.02 / std::sqrt(1.25)));
    pulled.integrator->applyConstraints();
    expectAll(messageOf([&] { pulled.integrator->step(10); }), {"take fewer steps", ofParticles[0], ofParticles[1]});
}

TEST_P(ZeroLengths, AreHeldByThreeExpressions) {
    for (double apart : {0.0, 0.02}) {
        auto system = chain();
        for (const std::string& expression : expressions) {
            auto* force = new CustomConstraintForce(2, expression);
            force->addConstraint({1, 2});
            system->addForce(force);
        }
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.0005, 1e-9), platform);
        s.context->setPositions(positions(apart));
        s.integrator->applyConstraints();
        s.context->setVelocities({Vec3(0.2, 0, 0.1), Vec3(), Vec3(0.3, -0.2, 0.4), Vec3(0, 0.1, 0), Vec3()});
        s.integrator->applyVelocityConstraints();
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 12);
        const double energy = s.energy();
        const double bound = 2e-9 + 4 * precisionOf(platform).position;
        for (int block = 0; block < 4; block++) {
            s.integrator->step(25);
            const Vectors x = s.positions(), v = s.velocities();
            EXPECT_NEAR(length(x[1] - x[2]), 0, bound);
            EXPECT_NEAR(length(v[1] - v[2]), 0, 1e-5 + 10 * precisionOf(platform).velocity);
            EXPECT_NEAR(s.energy(), energy, 0.01 * std::abs(energy));
        }
    }
}

TEST_P(ZeroLengths, OfCentroidsAreHeldByThreeExpressions) {
    auto system = chain();
    for (const std::string& expression : expressions) {
        auto* force = new CustomCentroidConstraintForce(2, expression);
        force->addGroup({0, 1});
        force->addGroup({2, 3, 4});
        force->addConstraint({0, 1});
        system->addForce(force);
    }
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.0005, 1e-9), platform);
    s.integrator->setMaxProjection(1);
    s.context->setPositions(positions(0.02));
    s.integrator->step(50);
    const Vectors x = s.positions();
    EXPECT_NEAR(length(centroidOf(*s.system, x, {0, 1}) - centroidOf(*s.system, x, {2, 3, 4})), 0,
                4e-9 + 8 * precisionOf(platform).position);
}

INSTANTIATE_TEST_SUITE_P(All, ZeroLengths, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });
