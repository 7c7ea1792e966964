// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Devices sort atoms every 250 steps, wrap molecules into the box then, and may exchange molecules that are equal.
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const double edge = 2; // nm, of the box

/** Something that makes devices sort, and no force. */
void addCutoff(System& system) {
    system.setDefaultPeriodicBoxVectors(Vec3(edge, 0, 0), Vec3(0, edge, 0), Vec3(0, 0, edge));
    auto* force = new NonbondedForce();
    force->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    force->setCutoffDistance(0.5);
    for (int i = 0; i < system.getNumParticles(); i++)
        force->addParticle(0, 0.1, 0);
    system.addForce(force);
}

/** Many pairs that differ in nothing but what holds them, here and there in the box, on their way through its sides. */
struct Pairs {
    static constexpr int count = 60;
    Vectors positions, velocities;
    std::vector<double> lengths;

    Pairs() {
        Random random(11);
        for (int i = 0; i < count; i++) {
            lengths.push_back(0.1 + 0.01 * (i % 4));
            const Real3 x = random.inCube(0.5 * edge), axis = random.direction(), v = random.direction();
            const Vec3 along(axis.x, axis.y, axis.z), drift(v.x, v.y, v.z), across = along.cross(drift);
            positions.push_back(Vec3(x.x, x.y, x.z) + Vec3(1, 1, 1) * (0.5 * edge));
            positions.push_back(positions.back() + along * lengths.back());
            velocities.push_back(drift * 6 + across);
            velocities.push_back(drift * 6 - across);
        }
    }
    /** @param add  lists the pair's constraint */
    std::unique_ptr<System> system(Force* force, const std::function<void(int i, int j, double length)>& add) const {
        auto result = std::make_unique<System>();
        for (int i = 0; i < 2 * count; i++)
            result->addParticle(10);
        for (int i = 0; i < count; i++)
            add(2 * i, 2 * i + 1, lengths[i]);
        result->addForce(force);
        addCutoff(*result);
        return result;
    }
    double error(const Vectors& x) const {
        double largest = 0;
        for (int i = 0; i < count; i++) {
            const Vec3 b = x[2 * i + 1] - x[2 * i];
            largest = std::max(largest, std::abs(std::sqrt(b.dot(b)) / lengths[i] - 1));
        }
        return largest;
    }
};

} // namespace

class Reordering : public testing::TestWithParam<Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const double tolerance = 1e-9;

    /** Step past the first two times that atoms are sorted, with a look after each step around them.
     *  @param relativeTolerance  of the lengths */
    void checkPairs(std::unique_ptr<System> system, const Pairs& pairs, double relativeTolerance) const {
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, tolerance), platform);
        s.context->setPositions(pairs.positions);
        s.context->setVelocities(pairs.velocities);
        for (int steps : {1, 219, 231}) {
            s.integrator->step(steps);
            for (int i = 0; i < 20; i++) {
                s.integrator->step(1);
                // Unwrapped, they are some boxes away.
                ASSERT_LE(pairs.error(s.positions()), 4 * attainable(platform, relativeTolerance))
                    << s.context->getStepCount();
            }
        }
        if (std::get<2>(GetParam()) == "RattleLangevin")
            return;
        // Nothing acts on the pairs: their centres fly straight.
        Vectors centres, expected;
        const double time = s.context->getState(0).getTime();
        const Vectors x = s.positions();
        for (int i = 0; i < Pairs::count; i++) {
            centres.push_back((x[2 * i] + x[2 * i + 1]) * 0.5);
            expected.push_back((pairs.positions[2 * i] + pairs.positions[2 * i + 1]) * 0.5 +
                               (pairs.velocities[2 * i] + pairs.velocities[2 * i + 1]) * (0.5 * time));
        }
        EXPECT_LE(distance(centres, expected), 1e-9 + 1000 * precisionOf(platform).position + roundingOfWrapping());
    }
    /** OpenMM wraps in single precision. */
    double roundingOfWrapping() const {
        return platform.find("Mixed") == std::string::npos ? 0 : 5e-7;
    }
};

TEST_P(Reordering, MoleculesThatDifferInLengthsOnlyAreNotExchanged) {
    const Pairs pairs;
    auto* force = new ConstraintForce();
    const auto add = [&](int i, int j, double length) { force->addDistance(i, j, length); };
    checkPairs(pairs.system(force, add), pairs, tolerance);
}

TEST_P(Reordering, MoleculesThatDifferInParametersOnlyAreNotExchanged) {
    const Pairs pairs;
    auto* force = new CustomConstraintForce(2, "distance(p1,p2)-length");
    force->addPerConstraintParameter("length");
    const auto add = [&](int i, int j, double length) { force->addConstraint({i, j}, {length}); };
    checkPairs(pairs.system(force, add), pairs, tolerance * std::sqrt(2) / 0.1); // of |sigma|/|grad sigma|, nm
}

TEST_P(Reordering, SurfacesSeeUnwrappedCoordinates) {
    // A wave whose length has nothing to do with the box: wrapped, the particles would be off it.
    const double dt = 0.001;
    auto system = std::make_unique<System>();
    auto* surface = new CustomConstraintForce(1, "z1-0.2*sin(x1+0.5*y1)");
    Vectors x, v;
    Random random(5);
    for (int i = 0; i < 100; i++) {
        system->addParticle(10);
        surface->addConstraint({i}, {});
        const double a = random.uniform(0, edge), b = random.uniform(0, edge);
        x.emplace_back(a, b, 0.2 * std::sin(a + 0.5 * b));
        v.emplace_back(i % 2 ? 8 : -8, 4, 0);
    }
    system->addForce(surface);
    addCutoff(*system);
    Simulation s(std::move(system), makeIntegrator(GetParam(), dt, tolerance), platform);
    s.context->setPositions(x);
    s.context->setVelocities(v);
    s.integrator->applyVelocityConstraints();
    for (int steps : {200, 60, 240, 20}) {
        s.integrator->step(steps);
        double largest = 0, farthest = 0;
        for (const Vec3& r : s.positions()) {
            largest = std::max(largest, std::abs(r[2] - 0.2 * std::sin(r[0] + 0.5 * r[1])));
            farthest = std::max(farthest, std::abs(r[0]));
        }
        EXPECT_LE(largest, 4 * attainable(platform, tolerance, 1)) << s.context->getStepCount();
        if (s.context->getStepCount() > 400 && std::get<2>(GetParam()) != "RattleLangevin") {
            EXPECT_GT(farthest, 1.5 * edge);
        }
    }
}

TEST_P(Reordering, GroupsKeepTheirParticles) {
    // All particles are equal, and every other one is in a group. Where a barostat scales them, nothing else acts.
    for (bool withBarostat : {false, true}) {
        SCOPED_TRACE(withBarostat ? "with a barostat" : "");
        const int count = 80;
        auto system = std::make_unique<System>();
        auto* heights = new CustomCentroidConstraintForce(2, "z1-z2-h");
        heights->addPerConstraintParameter("h");
        std::vector<int> groups[2];
        Vectors x, v;
        Random random(9);
        for (int i = 0; i < count; i++) {
            system->addParticle(10);
            x.emplace_back(random.uniform(0, edge), random.uniform(0, edge), random.uniform(0, edge));
            v.emplace_back(i % 3 ? 7 : -7, 4, random.uniform(-6, 6));
            if (i % 4 < 2)
                groups[i % 4].push_back(i);
        }
        const auto height = [&](const Vectors& at) {
            double sum = 0;
            for (std::size_t i = 0; i < groups[0].size(); i++)
                sum += at[groups[0][i]][2] - at[groups[1][i]][2];
            return sum / (double) groups[0].size();
        };
        heights->addConstraint({heights->addGroup(groups[0]), heights->addGroup(groups[1], std::vector<double>(20, 3))},
                               {height(x)});
        system->addForce(heights);
        addCutoff(*system);
        if (withBarostat) {
            auto* barostat = new MonteCarloBarostat(200, 300, 5);
            barostat->setRandomNumberSeed(4);
            system->addForce(barostat);
        }
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, tolerance), platform);
        s.integrator->setMaxProjection(0.5);
        s.context->setPositions(x);
        s.context->setVelocities(v);
        s.integrator->applyVelocityConstraints();
        const double drift = s.velocities()[0][0];
        for (int steps : {1, 219, 40, 230, 30}) {
            s.integrator->step(steps);
            ASSERT_NEAR(height(s.positions()), height(x), 8 * attainable(platform, tolerance, 1))
                << s.context->getStepCount();
        }
        EXPECT_EQ((int) s.context->getMolecules().size(), count);
        const double force = s.integrator->getMultipliers()[0] / 20;
        EXPECT_NEAR(s.integrator->getConstraintForces()[groups[0][7]][2], force, 1e-5 * std::abs(force) + 1e-9);
        const double time = s.context->getState(0).getTime();
        if (!withBarostat && std::get<2>(GetParam()) != "RattleLangevin") {
            EXPECT_NEAR(s.positions()[0][0], x[0][0] + time * drift,
                        1e-9 + 1000 * precisionOf(platform).position + roundingOfWrapping());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, Reordering, testing::ValuesIn(oneSetupOfEach(allSetups())),
                         [](const auto& info) { return nameOf(info.param); });
