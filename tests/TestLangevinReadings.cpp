// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// RattleLangevinIntegrator reports the whole centripetal force, at any friction. Half of LangevinMiddle's drift has the
// velocities before the heat bath and half those after it; the position stage alone contains only the centripetal force
// of their mean.
#include "support/Langevin.h"
#include "support/Statistics.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class LangevinReadings : public Langevin {
protected:
    /** Every kind of constraint, coupled and alone, dependent ones, and a straight molecule, without a force. */
    Simulation everyKind(double dt, double friction) const {
        auto system = std::make_unique<System>();
        auto* force = new ConstraintForce();
        auto* sphere = new CustomConstraintForce(1, "x1^2+2*y1^2+z1^2-r");
        sphere->addPerConstraintParameter("r");
        Vectors x;
        const auto add = [&](std::initializer_list<std::pair<double, Vec3>> particles) {
            const int first = system->getNumParticles();
            for (const auto& [mass, place] : particles) {
                system->addParticle(mass);
                x.push_back(place);
            }
            return first;
        };
        const auto hold = [&](int i, int j) {
            const Vec3 b = x[i] - x[j];
            force->addDistance(i, j, std::sqrt(b.dot(b)));
        };
        // None feels the others: all are near the origin, where single precision rounds least.
        // A chain with two bonds, an angle and a dihedral
        int n =
            add({{12, Vec3(0, 0, 0)}, {14, Vec3(0.15, 0, 0)}, {3, Vec3(0.15, 0.14, 0)}, {16, Vec3(0.3, 0.14, 0.14)}});
        hold(n, n + 1);
        hold(n + 1, n + 2);
        force->addAngle(n, n + 1, n + 2, 0.5 * M_PI);
        force->addDihedral(n, n + 1, n + 2, n + 3, 0.75 * M_PI);
        // a dimer, a triangle, and a tetrahedron of which four particles more are held by all ten distances
        n = add({{16, Vec3(0, 0, 0)}, {2, Vec3(0.1, 0, 0)}});
        hold(n, n + 1);
        n = add({{16, Vec3(0, 0, 0)}, {2, Vec3(0.1, 0, 0)}, {2, Vec3(0, 0.1, 0)}});
        for (const auto& [i, j] : {std::pair(0, 1), {0, 2}, {1, 2}})
            hold(n + i, n + j);
        n = add({{12, Vec3(0, 0, 0)},
                 {2, Vec3(0.06, 0.06, 0.06)},
                 {2, Vec3(-0.06, -0.06, 0.06)},
                 {2, Vec3(-0.06, 0.06, -0.06)},
                 {2, Vec3(0.06, -0.06, -0.06)}});
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < i; j++)
                hold(n + i, n + j);
        // CO2 by all three distances, and an anchor
        n = add({{16, Vec3(0, -0.116, 0)}, {12, Vec3(0, 0, 0)}, {16, Vec3(0, 0.116, 0)}});
        for (const auto& [i, j] : {std::pair(0, 1), {1, 2}, {0, 2}})
            hold(n + i, n + j);
        n = add({{0, Vec3(0, 0, 0)}, {4, Vec3(0.12, 0, 0)}});
        hold(n, n + 1);
        // a surface
        n = add({{4, Vec3(0.3, 0.4, 0.2)}});
        sphere->addConstraint({n}, {0.09 + 2 * 0.16 + 0.04});
        system->addForce(force);
        system->addForce(sphere);
        Simulation s(std::move(system), makeIntegrator(GetParam(), dt, 1e-9), platform());
        langevin(s).setTemperature(0);
        langevin(s).setFriction(friction);
        s.context->setPositions(x);
        Random random(5);
        Vectors v;
        for (std::size_t i = 0; i < x.size(); i++)
            v.push_back(toVectors({random.inCube(1)})[0]);
        s.context->setVelocities(v);
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
        return s;
    }
    /** Free dimers whose length d grows at a rate, with velocities of the Maxwell distribution. */
    Simulation movingDimers(int n, double d, double rate, double dt, double friction, int numGeodesicSteps) const {
        auto system = std::make_unique<System>();
        auto* bonds = new ConstraintForce();
        Vectors x;
        for (int i = 0; i < n; i++) {
            const int p0 = system->addParticle(16), p1 = system->addParticle(16);
            bonds->addDistance(p0, p1, d, rate);
            x.insert(x.end(), {Vec3(0, 0, i), Vec3(0, d, i)});
        }
        system->addForce(bonds);
        Simulation s(std::move(system), makeIntegrator(GetParam(), dt, 1e-8), platform());
        langevin(s).setTemperature(300);
        langevin(s).setFriction(friction);
        langevin(s).setNumGeodesicSteps(numGeodesicSteps);
        s.context->reinitialize();
        s.context->setPositions(x);
        s.context->setVelocitiesToTemperature(300, 5);
        return s;
    }
};

double sum(const std::vector<double>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0);
}

double trace(const Vectors& tensor) {
    return tensor[0][0] + tensor[1][1] + tensor[2][2];
}

} // namespace

TEST_P(LangevinReadings, ResponseOfEveryKindToTheBath) {
    // At 0 K the bath halves the velocities: their mean is 3/4 of those before, their difference 1/2, and the force is
    // quadratic in them. A step from tangent velocities answers half of the mean's in its position stage, and the next
    // one's kick the other half. To that is added 1/4 of the difference's.
    const double dt = 1e-3;
    Simulation s = everyKind(dt, std::log(2) / dt), same = everyKind(dt, std::log(2) / dt);
    std::vector<double> expected = s.integrator->computeMultipliers();
    double largest = 0;
    for (double& lambda : expected) {
        lambda *= 0.5 * 9 / 16 + 0.25 / 4;
        largest = std::max(largest, std::abs(lambda));
    }
    s.integrator->step(1);
    const std::vector<double> read = s.integrator->getMultipliers();
    ASSERT_EQ(read.size(), expected.size());
    for (std::size_t k = 0; k < read.size(); k++)
        EXPECT_NEAR(read[k], expected[k], 0.04 * std::abs(expected[k]) + 0.01 * largest) << k;

    // Forces and virial are those of the multipliers: of the dimer, on its second particle, and of all bonds.
    const int dimer = 4, bond = 2;
    const Vectors forces = s.integrator->getConstraintForces();
    EXPECT_NEAR(std::sqrt(forces[dimer].dot(forces[dimer])), std::abs(read[bond]), 1e-3 * std::abs(read[bond]));
    EXPECT_LT(distance({forces[dimer]}, {-forces[dimer + 1]}), 1e-9 * largest);

    // Looking changes nothing, and a checkpoint reads the same.
    same.integrator->step(1);
    std::stringstream checkpoint, unread;
    s.context->createCheckpoint(checkpoint);
    same.context->createCheckpoint(unread);
    same.integrator->step(3);
    s.integrator->step(3);
    EXPECT_EQ(distance(s.positions(), same.positions()), 0);
    EXPECT_EQ(distance(s.velocities(), same.velocities()), 0);
    for (std::stringstream* stream : {&checkpoint, &unread}) {
        Simulation restored = everyKind(dt, std::log(2) / dt);
        restored.integrator->step(2);
        restored.context->loadCheckpoint(*stream);
        EXPECT_EQ(restored.integrator->getMultipliers(), read);
        EXPECT_EQ(distance(restored.integrator->getConstraintForces(), forces), 0);
    }
}

TEST_P(LangevinReadings, CentripetalForceOfAFreeDimer) {
    // Compared with the instantaneous force, whose mean is -2 kT/d: what each bath does is independent, so that few
    // steps do. Their difference was half of 1 - exp(-friction dt), -0.05 to -16 %.
    const int n = 150;
    const double d = 0.2;
    for (double friction : {1.0, 20.0, 100.0})
        for (double dt : {0.001, 0.002, 0.004}) {
            SCOPED_TRACE(testing::Message() << "friction " << friction << ", step " << dt);
            Simulation s = movingDimers(n, d, 0, dt, friction, 0);
            s.integrator->step(1);
            std::vector<double> differences, instantaneous;
            double virial = 0, multipliers = 0;
            for (int i = 0; i < 60; i++) {
                const std::vector<double> before = s.integrator->computeMultipliers();
                s.integrator->step(1);
                const std::vector<double> read = s.integrator->getMultipliers(),
                                          after = s.integrator->computeMultipliers();
                differences.push_back(sum(read) - 0.5 * (sum(before) + sum(after)));
                multipliers += sum(read);
                virial += trace(s.integrator->getConstraintVirial());
            }
            const double scale = 2 * kT / d * n;
            const Mean mean = meanOf(differences, 20);
            EXPECT_NEAR(mean.value / scale, 0, 6 * mean.error / scale + 5e-4);
            EXPECT_LT(mean.error, 0.003 * scale);
            EXPECT_NEAR(virial, multipliers * d, 1e-3 * std::abs(virial));
        }
}

TEST_P(LangevinReadings, WorkAndHeatOfAPull) {
    // Both discretizations: the integral of -2 kT/d, and the bath takes it.
    const int n = 300, steps = 150;
    const double d = 0.2, rate = 0.02, dt = 0.004, friction = 100;
    for (int numGeodesicSteps : {0, 1}) {
        SCOPED_TRACE(numGeodesicSteps);
        Simulation s = movingDimers(n, d, rate, dt, friction, numGeodesicSteps);
        s.integrator->step(1);
        const double energy = s.energy(), heat = langevin(s).getHeat(), start = s.integrator->getConstraintWork();
        double work = 0;
        for (int i = 0; i < steps; i++) {
            s.integrator->step(1);
            work += rate * dt * sum(s.integrator->getMultipliers());
            if (i == steps / 2) { // part of checkpoints
                std::stringstream checkpoint;
                s.context->createCheckpoint(checkpoint);
                s.context->loadCheckpoint(checkpoint);
            }
        }
        EXPECT_NEAR(s.integrator->getConstraintWork() - start, work, (1e-8 + 10 * precision.velocity) * std::abs(work));
        const double expected = -2 * kT * n * std::log(1 + rate * dt * steps / d);
        EXPECT_NEAR(work, expected, 0.05 * std::abs(expected));
        const double unaccounted = s.energy() - energy - (langevin(s).getHeat() - heat) - work;
        EXPECT_NEAR(unaccounted, 0, 0.05 * std::abs(work));
    }
}

TEST_P(LangevinReadings, FailedStepLeavesTheReading) {
    Simulation s = everyKind(0.001, 100);
    langevin(s).setTemperature(300);
    s.integrator->step(3);
    const std::vector<double> read = s.integrator->getMultipliers();
    Simulation other = everyKind(0.001, 100);
    langevin(other).setTemperature(300);
    other.integrator->step(3);
    langevin(other).setTemperature(1e12);
    EXPECT_THROW(other.integrator->step(5), OpenMMException);
    EXPECT_EQ(other.integrator->getMultipliers(), read);
}

INSTANTIATE_TEST_SUITE_P(Platforms, LangevinReadings, testing::ValuesIn(setupsOf("RattleLangevin")),
                         [](const auto& info) { return nameOf(info.param); });
