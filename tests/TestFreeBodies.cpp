// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in closed form on every platform: their motion and forces.
#include "support/BodySystems.h"
#include "support/StateChecks.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

double trace(const Vectors& tensor) {
    return tensor[0][0] + tensor[1][1] + tensor[2][2];
}

Vectors forcesAt(Simulation& s) {
    return s.context->getState(State::Forces).getForces();
}

class FreeBodies : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
    const Precision precision = precisionOf(platform);

    /** Langevin integrators without noise. */
    static void cool(Simulation& s, double friction) {
        if (auto* langevin = dynamic_cast<RattleLangevinIntegrator*>(s.integrator.get())) {
            langevin->setTemperature(0);
            langevin->setFriction(friction);
        }
    }
};

/** Instantaneous constraint forces m a - F of one body, a = A + b x x + w x (w x x). */
Vectors instantaneousForces(const std::vector<double>& masses, const Vectors& x, const Vectors& v, const Vectors& f) {
    const int n = (int) masses.size();
    int anchors = 0;
    Vec3 origin, drift, force;
    double total = 0;
    for (int i = 0; i < n; i++) {
        total += masses[i];
        origin += x[i] * masses[i];
        drift += v[i] * masses[i];
        force += f[i];
        anchors += masses[i] == 0;
    }
    EXPECT_EQ(anchors, 0);
    origin /= total;
    drift /= total;
    // Moments of inertia and a small one about the axis of a linear body, where there is no torque
    double I[3][3] = {};
    Vec3 L, torque, axis = x[1] - x[0];
    axis /= length(axis);
    double off = 0;
    for (int i = 0; i < n; i++) {
        const Vec3 r = x[i] - origin;
        L += r.cross(v[i] - drift) * masses[i];
        torque += r.cross(f[i]);
        off = std::max(off, length(axis.cross(r)));
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                I[a][b] += masses[i] * ((a == b ? r.dot(r) : 0) - r[a] * r[b]);
    }
    if (off < 1e-6)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                I[a][b] += axis[a] * axis[b];
    const auto solve = [&](const Vec3& right) { // Cramer's rule
        const Vec3 a(I[0][0], I[1][0], I[2][0]), b(I[0][1], I[1][1], I[2][1]), c(I[0][2], I[1][2], I[2][2]);
        return Vec3(right.dot(b.cross(c)), a.dot(right.cross(c)), a.dot(b.cross(right))) / a.dot(b.cross(c));
    };
    const Vec3 w = solve(L), turning = solve(torque - w.cross(L));
    Vectors forces;
    for (int i = 0; i < n; i++) {
        const Vec3 r = x[i] - origin, a = force / total + turning.cross(r) + w.cross(w.cross(r));
        forces.push_back(a * masses[i] - f[i]);
    }
    return forces;
}

const std::vector<RigidShape> withoutAnchors(someBodies().begin(), someBodies().begin() + 3);

TEST_P(FreeBodies, HaveTheForcesOfTheirMotion) {
    const BodySystem bodies(withoutAnchors);
    const double dt = isDevice(platform) ? 5e-4 : 1e-5, bound = isDevice(platform) ? 0.03 : 2e-3;
    const bool hasSeveralPositions = integrator == "GeodesicLangevin"; // of which forces are a mean
    Simulation s = bodies.simulate(setup, dt, 3000);
    cool(s, 5);
    s.integrator->step(2);
    const Vectors x = s.positions(), v = s.velocities(), f = forcesAt(s);
    s.integrator->step(1);
    const Vectors forces = s.integrator->getConstraintForces(), virial = s.integrator->getConstraintVirial();
    double expectedTrace = 0;
    Vectors ownVirial(3);
    for (std::size_t b = 0; b < bodies.bodies.size(); b++) {
        SCOPED_TRACE(bodies.bodies[b].name);
        const int first = bodies.first[b], n = (int) bodies.bodies[b].masses.size();
        const auto part = [&](const Vectors& all) { return Vectors(all.begin() + first, all.begin() + first + n); };
        const Vectors expected = instantaneousForces(bodies.bodies[b].masses, part(x), part(v), part(f));
        double largest = 0;
        Vec3 sum, torque;
        for (int i = 0; i < n; i++) {
            largest = std::max(largest, length(expected[i]));
            const Vec3 r = x[first + i] - x[first];
            sum += forces[first + i];
            torque += r.cross(forces[first + i]);
            expectedTrace += r.dot(expected[i]);
            for (int k = 0; k < 3; k++)
                ownVirial[k] += forces[first + i] * r[k];
        }
        EXPECT_GT(largest, 10);
        EXPECT_LT(distance(part(forces), expected), bound * largest);
        const double rounding = 1e-7 + 10 * precision.constraint + precision.force;
        EXPECT_LT(length(sum), rounding * largest);
        const double ofTorque = hasSeveralPositions ? bound
                                : integrator == "ConstraintForce"
                                    ? rounding + 5e-6 // about places, which it drifts from
                                    : rounding;
        EXPECT_LT(length(torque), ofTorque * largest);
    }
    const double ofVirial = hasSeveralPositions ? bound : 1e-8 + 10 * precision.constraint;
    EXPECT_LT(distance(virial, ownVirial), ofVirial * std::abs(expectedTrace));
    EXPECT_NEAR(trace(virial), expectedTrace, bound * std::abs(expectedTrace));
}

INSTANTIATE_TEST_SUITE_P(Integrators, FreeBodies,
                         testing::ValuesIn(bodySetups({"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                       "ConstraintForce", "RattleNoseHoover"})),
                         [](const auto& info) { return nameOf(info.param); });

class FreeBodiesWithoutNoise : public FreeBodies {};

TEST_P(FreeBodiesWithoutNoise, HaveTheForcesOfTheirTrajectory) {
    const BodySystem bodies(someBodies());
    const double dt = 0.002;
    Simulation s = bodies.simulate(setup, dt);
    cool(s, 0);
    s.integrator->step(3);
    const Vectors x = s.positions(), v = s.velocities(), f = forcesAt(s);
    s.integrator->step(1);
    const Vectors forces = s.integrator->getConstraintForces(), after = s.positions(), last = s.velocities(),
                  next = forcesAt(s);
    double largest = 0;
    for (int i = 0; i < bodies.numParticles(); i++) {
        const double m = bodies.masses[i];
        if (m == 0) // see HoldAnchorsAsDistancesDo
            continue;
        Vec3 expected = (last[i] - v[i]) * (m / dt) - f[i];
        if (integrator == "Rattle")
            expected = (after[i] - x[i] - v[i] * dt) * (2 * m / (dt * dt)) - f[i];
        else if (integrator == "GeodesicLangevin")
            expected = (last[i] - v[i]) * (m / dt) - (f[i] + next[i]) * 0.5;
        const double rounding = 1e-6 + m / dt * (precision.velocity + precision.position / dt) + 1e3 * precision.force;
        EXPECT_LT(length(forces[i] - expected), rounding) << i;
        largest = std::max(largest, length(expected));
    }
    EXPECT_GT(largest, 50);
}

/** A pyramid with an anchor, by its distances: these have one solution. */
TEST_P(FreeBodiesWithoutNoise, HoldAnchorsAsDistancesDo) {
    const BodySystem bodies({someBodies()[4]});
    const auto make = [&](bool byDistances) {
        auto system = bodies.toOpenMM();
        if (byDistances) {
            system->removeForce(0);
            auto* force = new ConstraintForce();
            for (const auto& [i, j] : allPairs(0, 3))
                force->addDistance(i, j, length(bodies.start[i] - bodies.start[j]));
            system->addForce(force);
        }
        auto* pull = new CustomExternalForce("40*x + 60*y^2 - 90*z");
        for (int i : {0, 2, 3})
            pull->addParticle(i);
        system->addForce(pull);
        Simulation s(std::move(system), makeIntegrator(setup, 0.0005, 1e-10), platform);
        s.context->setPositions(bodies.start);
        s.context->setVelocities(Vectors(4));
        s.integrator->step(3);
        return s;
    };
    const Simulation body = make(false), distances = make(true);
    const Vectors found = body.integrator->getConstraintForces(),
                  expected = distances.integrator->getConstraintForces();
    // Distances have the errors of their tolerance, and of several geodesic steps the sum of multipliers with the
    // gradients of the first.
    const double bound = (integrator == "GeodesicLangevin" ? 0.02 : 0) +
                         16 / (0.0005 * 0.0005) * (1e-10 + precision.position + 0.2 * precision.constraint);
    EXPECT_GT(length(expected[1]), 10);
    EXPECT_LT(distance(found, expected), bound);
    EXPECT_LT(distance(body.integrator->getConstraintVirial(), distances.integrator->getConstraintVirial()), bound);
}

/** Any number of anchors: nothing acts on a body as a whole. */
TEST_P(FreeBodiesWithoutNoise, HaveNoResultantWithTheirAnchors) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    s.integrator->step(2);
    const Vectors x = s.positions();
    s.integrator->step(1);
    const Vectors forces = s.integrator->getConstraintForces();
    for (std::size_t b = 4; b < bodies.bodies.size(); b++) {
        SCOPED_TRACE(bodies.bodies[b].name);
        Vec3 sum, torque;
        double largest = 0;
        for (int p : bodies.particles(b)) {
            sum += forces[p];
            torque += (x[p] - x[bodies.first[b]]).cross(forces[p]);
            largest = std::max(largest, length(forces[p]));
        }
        const double rounding = 1e-9 + precision.force + 100 * precision.position;
        EXPECT_GT(largest, 10);
        EXPECT_LT(length(sum), rounding * largest);
        if (integrator != "GeodesicLangevin") { // the mean over several positions
            EXPECT_LT(length(torque), rounding * largest);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Integrators, FreeBodiesWithoutNoise,
                         testing::ValuesIn(bodySetups({"Rattle", "Shake", "FrictionlessLangevin", "GeodesicLangevin"})),
                         [](const auto& info) { return nameOf(info.param); });

/** With a heat bath between the halves of the drift. */
class FreeBodiesOfLangevin : public FreeBodies {};

TEST_P(FreeBodiesOfLangevin, HaveTheForcesOfBothHalvesOfTheDrift) {
    // At 0 K the bath halves the velocities: their mean is 3/4 of those before, their difference 1/2, and the force is
    // quadratic in them. A step from tangent velocities answers half of the mean's in its position stage, and the next
    // one's kick the other half. To that is added 1/4 of the difference's.
    const BodySystem bodies(withoutAnchors);
    const double dt = 5e-4;
    Simulation s = bodies.simulate(setup, dt, 0);
    cool(s, std::log(2) / dt);
    const Vectors x = s.positions(), v = s.velocities();
    s.integrator->step(1);
    const Vectors forces = s.integrator->getConstraintForces();
    for (std::size_t b = 0; b < bodies.bodies.size(); b++) {
        const int first = bodies.first[b], n = (int) bodies.bodies[b].masses.size();
        const auto part = [&](const Vectors& all) { return Vectors(all.begin() + first, all.begin() + first + n); };
        Vectors expected = instantaneousForces(bodies.bodies[b].masses, part(x), part(v), Vectors(n));
        double largest = 0;
        for (Vec3& f : expected) {
            f *= 0.5 * 9 / 16 + 0.25 / 4;
            largest = std::max(largest, length(f));
        }
        EXPECT_LT(distance(part(forces), expected), 0.02 * largest) << bodies.bodies[b].name;
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodiesOfLangevin, testing::ValuesIn(bodySetups({"RattleLangevin"})),
                         [](const auto& info) { return nameOf(info.param); });

class FreeBodiesOfRattle : public FreeBodies {};

TEST_P(FreeBodiesOfRattle, CountTheirDegreesOfFreedom) {
    for (const RigidShape& shape : someBodies()) {
        const BodySystem alone({shape});
        Simulation s = alone.simulate(setup, 0.001, 0);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), shape.degreesOfFreedom) << shape.name;
        if (isDevice(platform))
            break;
    }
    const BodySystem all(someBodies());
    EXPECT_EQ(all.simulate(setup, 0.001).integrator->getNumDegreesOfFreedom(), 26);
    auto system = BodySystem(withoutAnchors).toOpenMM();
    system->addForce(new CMMotionRemover());
    Simulation s(std::move(system), makeIntegrator(setup, 0.001), platform);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 17 - 3);
}

TEST_P(FreeBodiesOfRattle, ReturnToTheirStart) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.002);
    const Vectors x = s.positions();
    const int steps = 100;
    s.integrator->step(steps);
    const Vectors there = s.positions();
    EXPECT_GT(distance(there, x), 0.05);
    EXPECT_LT(bodies.deformation(there), 1e-12 + 4 * precision.position);
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each = each * -1;
    s.context->setVelocities(v);
    s.integrator->step(steps);
    EXPECT_LT(distance(s.positions(), x), 1e-11 + steps * steps * precision.position);
    for (int i = 0; i < bodies.numParticles(); i++) {
        if (bodies.masses[i] == 0) {
            EXPECT_EQ(there[i], x[i]) << i;
        }
    }
}

TEST_P(FreeBodiesOfRattle, MoveThroughTheSidesOfABox) {
    const BodySystem bodies(withoutAnchors);
    for (const Vectors& box :
         {Vectors{{2, 0, 0}, {0, 2.2, 0}, {0, 0, 2.4}}, Vectors{{2, 0, 0}, {0.7, 2.2, 0}, {-0.6, 0.9, 2.4}}}) {
        // Whole somewhere, and at a corner with each particle wrapped by itself
        std::vector<Vectors> ends;
        const auto [inside, images] = wrapped(bodies.start, box);
        for (const Vectors& x : {bodies.start, inside}) {
            auto system = bodies.toOpenMM(true);
            system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
            bodies.addSprings(*system, 300, true);
            Simulation s(std::move(system), makeIntegrator(setup, 0.002, 1e-10), platform);
            s.context->setPositions(x);
            s.context->setVelocities(bodies.velocities(1, 3));
            s.integrator->applyConstraints();
            s.integrator->applyVelocityConstraints();
            s.integrator->step(100);
            ends.push_back(s.positions());
        }
        EXPECT_GT(distance(images, Vectors(images.size())), 1);
        for (std::size_t i = 0; i < images.size(); i++)
            ends[1][i] += images[i];
        EXPECT_LT(distance(ends[0], ends[1]), 1e-10 + 1e4 * precision.position + 0.05 * precision.force);
        EXPECT_LT(bodies.deformation(ends[0]), 1e-12 + 4 * precision.position);
        EXPECT_GT(distance(ends[0], bodies.start), 0.05);
    }
}

TEST_P(FreeBodiesOfRattle, CarryVirtualSites) {
    const BodySystem bodies(someBodies());
    auto system = bodies.toOpenMM();
    const int water = bodies.first[1], pendulum = bodies.first[5], site = system->addParticle(0);
    system->setVirtualSite(site, new ThreeParticleAverageSite(water, water + 1, water + 2, 0.6, 0.3, 0.1));
    const int other = system->addParticle(0);
    system->setVirtualSite(other, new TwoParticleAverageSite(pendulum, pendulum + 2, 0.5, 0.5));
    auto* pull = new CustomExternalForce("-200*x+300*y");
    pull->addParticle(site, {});
    pull->addParticle(other, {});
    system->addForce(pull);
    Simulation s(std::move(system), makeIntegrator(setup, 0.002), platform);
    Vectors x = bodies.start;
    x.resize(x.size() + 2);
    s.context->setPositions(x);
    s.context->computeVirtualSites();
    const Vectors before = s.positions();
    s.integrator->step(50);
    const Vectors r = s.positions();
    EXPECT_LT(distance({r[site]}, {r[water] * 0.6 + r[water + 1] * 0.3 + r[water + 2] * 0.1}),
              1e-12 + 0.01 * precision.force);
    EXPECT_LT(distance({r[other]}, {(r[pendulum] + r[pendulum + 2]) * 0.5}), 1e-12 + 0.01 * precision.force);
    EXPECT_GT(length(r[site] - before[site]), 0.01) << "its force has to reach the body";
    EXPECT_GT(length(r[other] - before[other]), 0.001);
    EXPECT_LT(bodies.deformation(Vectors(r.begin(), r.end() - 2)), 1e-12 + 4 * precision.position);
}

INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodiesOfRattle, testing::ValuesIn(bodySetups({"Rattle"})),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
