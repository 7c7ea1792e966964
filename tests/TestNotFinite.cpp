// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A step throws if any single coordinate is NaN or infinite.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class NotFinite : public testing::TestWithParam<Setup> {
protected:
    // particle 0 is free, 1-2 and 3-4-5 are held by a distance and an angle, 6 is an anchor of 7, and 8 is immovable
    static constexpr int free = 0, ofDistance = 1, ofAngle = 4, anchor = 6, anchored = 7, immovable = 8;
    const Vectors x = {Vec3(0.5, 0.5, 0.5), Vec3(1, 1, 1), Vec3(1.1, 1, 1), Vec3(2.1, 2, 2), Vec3(2, 2, 2),
                       Vec3(2, 2.1, 2),     Vec3(3, 3, 3), Vec3(3.1, 3, 3), Vec3(4, 4, 4)};
    const Vectors v = Vectors(x.size());
    /** @param drawn  a particle with a force along x of sqrt(strength), a Context parameter; -1: none */
    Simulation start(int drawn = -1) const {
        auto system = std::make_unique<System>();
        for (double mass : {4.0, 12.0, 1.0, 12.0, 16.0, 1.0, 0.0, 4.0, 0.0})
            system->addParticle(mass);
        auto* force = new ConstraintForce();
        force->addDistance(1, 2, 0.1);
        force->addAngle(3, 4, 5, 0.5 * M_PI);
        force->addDistance(6, 7, 0.1);
        system->addForce(force);
        auto* pull = new CustomExternalForce("-x*sqrt(strength)");
        pull->addGlobalParameter("strength", 0);
        if (drawn >= 0)
            pull->addParticle(drawn);
        system->addForce(pull);
        return {std::move(system), makeIntegrator(GetParam(), 0.001), std::get<0>(GetParam())};
    }
};

TEST_P(NotFinite, EachCoordinateByItselfIsNamed) {
    Simulation s = start();
    const auto expectNamed = [&](const Vectors& badPositions, const Vectors& badVelocities, const char* what, int i) {
        s.context->setPositions(badPositions);
        s.context->setVelocities(badVelocities);
        expectAll(
            messageOf([&] { s.integrator->step(2); }),
            {"The " + std::string(what) + " of particle " + std::to_string(i) + " is NaN or infinite in", "Remedy"});
        EXPECT_EQ(s.context->getStepCount(), 0);
    };
    const double infinity = std::numeric_limits<double>::infinity();
    for (double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
        for (int component = 0; component < 3; component++) {
            for (int i : {free, ofDistance, ofAngle, anchor, anchored, immovable}) {
                SCOPED_TRACE(testing::Message() << "position " << i << ", component " << component << ": " << bad);
                Vectors badPositions = x;
                badPositions[i][component] = bad;
                expectNamed(badPositions, v, "position", i);
            }
            for (int i : {free, ofDistance, ofAngle, anchored}) {
                SCOPED_TRACE(testing::Message() << "velocity " << i << ", component " << component << ": " << bad);
                Vectors badVelocities = v;
                badVelocities[i][component] = bad;
                expectNamed(x, badVelocities, "velocity", i);
            }
        }
    s.context->setPositions(x);
    s.context->setVelocities(v);
    s.integrator->step(2);
    EXPECT_EQ(s.context->getStepCount(), 2);
}

TEST_P(NotFinite, TheForceIsNamedByTheSameWordsOnEachPlatform) {
    for (int i : {free, ofDistance, ofAngle, anchored}) {
        Simulation s = start(i);
        s.context->setPositions(x);
        s.context->setVelocities(v);
        s.integrator->step(2);
        s.context->setParameter("strength", -1);
        const std::string message = messageOf([&] { s.integrator->step(2); });
        EXPECT_EQ(message.substr(0, message.find('\n')),
                  "The force on particle " + std::to_string(i) + " is NaN, infinite or too large in step 3.");
        EXPECT_EQ(s.context->getStepCount(), 2);
    }
}

static std::vector<Setup> setups() {
    std::vector<Setup> result;
    for (const std::string& platform : platformsUnderTest())
        for (const char* integrator : {"Rattle", "RattleLangevin", "RattleNoseHoover", "ConstraintForce"})
            result.emplace_back(platform, ConstraintIntegrator::MatrixInversion, integrator);
    return result;
}

INSTANTIATE_TEST_SUITE_P(Platforms, NotFinite, testing::ValuesIn(setups()),
                         [](const auto& info) { return nameOf(info.param); });
