// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in closed form on every platform: projections, errors, checkpoints, Contexts side by side, sorted atoms.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include <cstring>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

double length(const Vec3& r) {
    return std::sqrt(r.dot(r));
}

/** On every platform, with Rattle. */
class FreeBodyStates : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup);
    const Precision precision = precisionOf(platform);

    static Vectors disturbed(const BodySystem& bodies, double size, unsigned seed) {
        const Vectors shift = bodies.velocities(size, seed);
        Vectors x = bodies.start;
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] += bodies.masses[i] > 0 ? shift[i] : Vec3();
        return x;
    }
    /** That an action throws, what, and that it changes nothing. */
    static ConstraintProblem expectRefusal(Simulation& s, const std::string& kind,
                                           const std::function<void(Simulation&)>& action) {
        const Vectors x = s.positions(), v = s.velocities();
        const State before = s.context->getState(0);
        const ConstraintProblem problem = problemThrownBy([&] { action(s); });
        EXPECT_EQ(problem.kind, kind) << problem.text();
        const Vectors xAfter = s.positions(), vAfter = s.velocities();
        EXPECT_EQ(std::memcmp(x.data(), xAfter.data(), x.size() * sizeof(Vec3)), 0);
        EXPECT_EQ(std::memcmp(v.data(), vAfter.data(), v.size() * sizeof(Vec3)), 0);
        EXPECT_EQ(s.context->getStepCount(), before.getStepCount());
        EXPECT_EQ(s.context->getTime(), before.getTime());
        return problem;
    }
    static void oneStep(Simulation& s) {
        s.integrator->step(1);
    }
};

// ---- projection -----------------------------------------------------------------------------------------------------

TEST_P(FreeBodyStates, AreFittedWithTheSmallestMoves) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    const Vectors off = disturbed(bodies, 0.03, 5);
    s.context->setPositions(off);
    const double farthest = s.integrator->applyConstraints();
    const Vectors x = s.positions();
    EXPECT_LT(bodies.deformation(x), 1e-12 + 4 * precision.position);
    EXPECT_NEAR(farthest, distance(x, off), 1e-12 + 4 * precision.position);
    // Least squares, weighted by mass: the moves of a body have no resultant and no torque about the new positions,
    // where it is free to move and turn.
    for (std::size_t b = 0; b < bodies.bodies.size(); b++) {
        SCOPED_TRACE(bodies.bodies[b].name);
        const RigidShape& body = bodies.bodies[b];
        std::vector<Vec3> anchors;
        Vec3 sum, torque;
        for (int p : bodies.particles(b))
            if (bodies.masses[p] == 0)
                anchors.push_back(x[p]);
        const Vec3 about = anchors.empty() ? x[bodies.first[b]] : anchors[0];
        for (int p : bodies.particles(b)) {
            sum += (x[p] - off[p]) * bodies.masses[p];
            torque += (x[p] - about).cross(x[p] - off[p]) * bodies.masses[p];
            if (bodies.masses[p] == 0) {
                EXPECT_EQ(x[p], off[p]);
            }
        }
        if (anchors.empty()) {
            EXPECT_LT(length(sum), 1e-12 + 100 * precision.position);
        }
        if (anchors.size() == 2)
            torque = Vec3(torque.dot(anchors[1] - anchors[0]), 0, 0);
        if (anchors.size() < 3) {
            EXPECT_LT(length(torque), 1e-12 + 100 * precision.position);
        }
        EXPECT_TRUE(body.name == "single" || distance(x, off) > 0.01);
    }
    // and again is no change
    s.integrator->applyConstraints();
    EXPECT_EQ(distance(s.positions(), x), 0);
}

TEST_P(FreeBodyStates, WithinTheToleranceAreLeftBitForBit) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    s.integrator->setConstraintTolerance(1e-3);
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each[0] *= 1.0001;
    s.context->setPositions(disturbed(bodies, 1e-5, 1));
    s.context->setVelocities(v);
    const Vectors near = s.positions();
    v = s.velocities();
    EXPECT_EQ(s.integrator->applyConstraints(), 0);
    s.integrator->applyVelocityConstraints();
    EXPECT_EQ(distance(s.positions(), near), 0);
    EXPECT_EQ(distance(s.velocities(), v), 0);
    s.integrator->setConstraintTolerance(1e-9);
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    EXPECT_GT(distance(s.positions(), near), 1e-6);
    EXPECT_GT(distance(s.velocities(), v), 1e-7);
    EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(FreeBodyStates, FarFromTheirShapeAreRefusedByName) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    Vectors x = bodies.start;
    x[bodies.first[2] + 4] += Vec3(0, 0, 0.3); // of the pyramid
    s.context->setPositions(x);
    const ConstraintProblem problem = expectRefusal(s, "far-off", oneStep);
    expectAll(problem.text(), {"rigid body 2 of the ConstraintForce with index 0", "setMaxProjection", "0.05"});
    EXPECT_EQ(problem.particles, bodies.particles(2));
    EXPECT_GT(problem.value, 0.05);
    EXPECT_EQ(problem.bound, 0.05);
    s.integrator->setMaxProjection(1);
    s.integrator->step(1);
    EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(FreeBodyStates, WrappedWithoutImagesAreRefused) {
    const BodySystem bodies({someBodies()[2]});
    auto system = bodies.toOpenMM(false);
    system->setDefaultPeriodicBoxVectors({2, 0, 0}, {0, 2, 0}, {0, 0, 2});
    Simulation s(std::move(system), makeIntegrator(setup, 0.001), platform);
    Vectors x = bodies.start;
    x[1] += Vec3(2, 0, 0);
    s.context->setPositions(x);
    expectAll(expectRefusal(s, "minimum-image", oneStep).text(), {"rigid body 0", "setUsesPeriodicBoundaryConditions"});
}

TEST_P(FreeBodyStates, MirrorImagesAreRefused) {
    for (int kind : {2, 4, 6}) {
        const BodySystem bodies({someBodies()[0], someBodies()[kind]});
        SCOPED_TRACE(bodies.bodies[1].name);
        Simulation s(bodies.toOpenMM(), makeIntegrator(setup, 0.001), platform);
        s.integrator->setMaxProjection(10);
        Vectors x = bodies.start;
        // through the plane of three of its particles, anchors first
        const std::vector<int> plane = kind == 2   ? std::vector<int>{3, 4, 5}
                                       : kind == 4 ? std::vector<int>{4, 3, 5}
                                                   : std::vector<int>{3, 7, 4};
        const Vec3 origin = x[plane[0]];
        Vec3 normal = (x[plane[1]] - origin).cross(x[plane[2]] - origin);
        normal /= length(normal);
        for (int p : bodies.particles(1))
            x[p] -= normal * (2 * normal.dot(x[p] - origin));
        s.context->setPositions(x);
        const ConstraintProblem problem = expectRefusal(s, "mirror-image", oneStep);
        expectAll(problem.text(), {"rigid body 1 of the ConstraintForce with index 0", "mirror image"});
        EXPECT_EQ(problem.particles, bodies.particles(1));
        expectRefusal(s, "mirror-image", [](Simulation& t) { t.integrator->applyConstraints(); });
    }
    // Flat and straight ones are their own mirror images.
    const BodySystem bodies({someBodies()[0], someBodies()[1]});
    Simulation s = bodies.simulate(setup, 0.001, 0);
    Vectors x = bodies.start;
    for (Vec3& r : x)
        r[2] = -r[2];
    s.context->setPositions(x);
    s.integrator->step(1);
}

TEST_P(FreeBodyStates, AnchorsThatContradictTheShapeAreRefused) {
    for (int kind : {6, 7}) {
        const BodySystem bodies({someBodies()[kind]});
        SCOPED_TRACE(bodies.bodies[0].name);
        Simulation s(bodies.toOpenMM(), makeIntegrator(setup, 0.001), platform);
        Vectors x = bodies.start;
        x[4] = x[4] + (x[4] - x[0]) * 0.02;
        s.context->setPositions(x);
        const ConstraintProblem problem = expectRefusal(s, "anchors", oneStep);
        expectAll(problem.text(), {"rigid body 0", "has no mass and cannot move"});
        EXPECT_GT(problem.value, 0.001);
    }
}

// ---- failing steps --------------------------------------------------------------------------------------------------

TEST_P(FreeBodyStates, ThatTurnTooFarEndTheStep) {
    for (int kind : {0, 1, 2, 4, 5, 6}) {
        const BodySystem bodies({someBodies()[3], someBodies()[kind], someBodies()[2]});
        SCOPED_TRACE(bodies.bodies[1].name);
        Simulation s = bodies.simulate(setup, 0.002, 0);
        s.integrator->step(2);
        const Vectors x = s.positions();
        Vectors v = s.velocities();
        Vec3 axis = kind == 6 ? x[bodies.first[1] + 4] - x[bodies.first[1]] : Vec3(1, 2, 3);
        axis /= length(axis);
        for (int p : bodies.particles(1))
            v[p] = bodies.masses[p] > 0 ? axis.cross(x[p] - x[bodies.first[1] + (kind == 4 ? 1 : 0)]) * 5000 : Vec3();
        s.context->setVelocities(v);
        s.integrator->applyVelocityConstraints();
        const ConstraintProblem problem = expectRefusal(s, "too-fast", oneStep);
        expectAll(problem.text(), {"rigid body 1 of the ConstraintForce with index 0", "90 degrees", "setStepSize"});
        EXPECT_EQ(problem.particles, bodies.particles(1));
        EXPECT_GT(problem.value, 1);
        EXPECT_TRUE(std::isfinite(problem.value));
        EXPECT_NEAR(problem.bound, 0.5 * pi, 1e-12);
        EXPECT_EQ(problem.text().find("inf"), std::string::npos) << problem.text();
        EXPECT_FALSE(s.integrator->getSolverSummary().converged);
        s.integrator->setStepSize(0.0001); // as it says
        s.integrator->step(1);
        EXPECT_TRUE(s.integrator->getSolverSummary().converged);
        EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
    }
}

TEST_P(FreeBodyStates, WithNumbersThatAreNotFiniteAreRefused) {
    for (int kind : {0, 2, 3, 4, 5, 6, 7})
        for (double bad : {std::nan(""), HUGE_VAL}) {
            const BodySystem bodies({someBodies()[2], someBodies()[kind]});
            SCOPED_TRACE(bodies.bodies[1].name + " " + std::to_string(bad));
            Simulation s = bodies.simulate(setup, 0.001, 0);
            s.integrator->step(1);
            const Vectors x = s.positions(), v = s.velocities();
            const std::vector<int> particles = bodies.particles(1);
            const int massive =
                *std::find_if(particles.begin(), particles.end(), [&](int p) { return bodies.masses[p] > 0; });
            Vectors wrong = x;
            wrong[massive][1] = bad;
            s.context->setPositions(wrong);
            expectRefusal(s, "not-finite", oneStep);
            expectRefusal(s, "not-finite", [](Simulation& t) { t.integrator->applyConstraints(); });
            if (bodies.bodies[1].degreesOfFreedom < 3) { // anchors first
                wrong = x;
                wrong[particles[0]][1] = bad;
                s.context->setPositions(wrong);
                expectRefusal(s, "not-finite", oneStep);
            }
            s.context->setPositions(x);
            wrong = v;
            wrong[massive][2] = bad;
            s.context->setVelocities(wrong);
            expectRefusal(s, "not-finite", oneStep);
            if (kind != 3) // which has no constraint
                expectRefusal(s, "not-finite", [](Simulation& t) { t.integrator->applyVelocityConstraints(); });
            s.context->setVelocities(v);
            s.integrator->step(1);
            EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
            if (isDevice(platform))
                break;
        }
}

TEST_P(FreeBodyStates, WithForcesThatAreNotFiniteEndTheStep) {
    for (int kind : {0, 2, 6}) {
        const BodySystem bodies({someBodies()[2], someBodies()[kind]});
        SCOPED_TRACE(bodies.bodies[1].name);
        auto system = bodies.toOpenMM();
        auto* field = new CustomExternalForce("1/(1-switch)+switch*x");
        field->addGlobalParameter("switch", 0);
        field->addParticle(bodies.first[1] + 1, {});
        field->addParticle(bodies.first[1] + 2, {});
        field->setForceGroup(2);
        system->addForce(field);
        Simulation s(std::move(system), makeIntegrator(setup, 0.001), platform);
        bodies.begin(s);
        s.integrator->step(2);
        s.context->setParameter("switch", HUGE_VAL);
        expectRefusal(s, "not-finite", oneStep);
        s.context->setParameter("switch", 0);
        s.integrator->step(1);
    }
}

TEST_P(FreeBodyStates, TooFarFromTheOriginAreRefused) {
    const BodySystem bodies({someBodies()[2]});
    Simulation s = bodies.simulate(setup, 0.001, 0);
    Vectors x = bodies.start;
    for (Vec3& r : x)
        r += Vec3(1e17, 0, 0);
    s.context->setPositions(x);
    expectAll(expectRefusal(s, "rounding", oneStep).text(), {"rigid body 0"});
}

// ---- Contexts, parameters and checkpoints ---------------------------------------------------------------------------

TEST_P(FreeBodyStates, OfTwoContextsDoNotMix) {
    const BodySystem bodies(someBodies());
    Simulation a = bodies.simulate(setup, 0.001), b = bodies.simulate(setup, 0.002),
               alone = bodies.simulate(setup, 0.001);
    for (int i = 0; i < 10; i++) {
        a.integrator->step(3);
        b.integrator->step(2);
    }
    alone.integrator->step(30);
    EXPECT_EQ(distance(a.positions(), alone.positions()), 0);
    EXPECT_EQ(distance(a.velocities(), alone.velocities()), 0);
    EXPECT_EQ(distance(a.integrator->getConstraintForces(), alone.integrator->getConstraintForces()), 0);
    EXPECT_GT(distance(a.positions(), b.positions()), 1e-4);
}

TEST_P(FreeBodyStates, TakeNewShapesInAContext) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    s.integrator->step(2);
    BodySystem larger = bodies;
    auto& force = dynamic_cast<ConstraintForce&>(s.system->getForce(0));
    for (std::size_t b : {0, 2}) {
        for (Real3& r : larger.bodies[b].places)
            r = 1.03 * r;
        force.setRigidBodyParameters((int) b, larger.particles(b), toVectors(larger.bodies[b].places));
    }
    force.updateParametersInContext(*s.context);
    EXPECT_GT(larger.deformation(s.positions()), 1e-3);
    s.integrator->step(5);
    EXPECT_LT(larger.deformation(s.positions()), 1e-12 + 4 * precision.position);
    // the same as a Context that begins so
    Simulation fresh(larger.toOpenMM(), makeIntegrator(setup, 0.001, 1e-10), platform);
    fresh.context->setPositions(s.positions());
    fresh.context->setVelocities(s.velocities());
    const int removed = s.system->getNumForces();
    EXPECT_EQ(removed, 2); // springs
    Simulation same(larger.toOpenMM(), makeIntegrator(setup, 0.001, 1e-10), platform);
    same.context->setPositions(s.positions());
    same.context->setVelocities(s.velocities());
    auto& shapes = dynamic_cast<ConstraintForce&>(same.system->getForce(0));
    shapes.updateParametersInContext(*same.context);
    fresh.integrator->step(5);
    same.integrator->step(5);
    EXPECT_EQ(distance(fresh.positions(), same.positions()), 0);
    // Another number of degrees of freedom needs another Context.
    force.setRigidBodyParameters(0, larger.particles(0), {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}});
    expectAll(messageOf([&] { force.updateParametersInContext(*s.context); }), {"reinitialize"});
    s.integrator->step(1);
}

/** Those with data of their own, too. */
class FreeBodyCheckpoints : public FreeBodyStates {};

TEST_P(FreeBodyCheckpoints, ContinueBitForBit) {
    const BodySystem bodies(someBodies());
    Simulation original = bodies.simulate(setup, 0.002), restored = bodies.simulate(setup, 0.002);
    original.integrator->step(10);
    std::stringstream stream;
    original.context->createCheckpoint(stream);
    const Vectors forces = original.integrator->getConstraintForces(),
                  virial = original.integrator->getConstraintVirial();
    EXPECT_GT(distance(forces, Vectors(forces.size())), 1);
    restored.integrator->step(3);
    EXPECT_GT(distance(restored.integrator->getConstraintForces(), forces), 1e-3);
    restored.context->loadCheckpoint(stream);
    EXPECT_EQ(distance(restored.positions(), original.positions()), 0);
    EXPECT_EQ(distance(restored.integrator->getConstraintForces(), forces), 0);
    EXPECT_EQ(distance(restored.integrator->getConstraintVirial(), virial), 0);
    original.integrator->step(10);
    restored.integrator->step(10);
    EXPECT_EQ(distance(original.positions(), restored.positions()), 0);
    EXPECT_EQ(distance(original.velocities(), restored.velocities()), 0);
    EXPECT_EQ(distance(original.integrator->getConstraintForces(), restored.integrator->getConstraintForces()), 0);
}

TEST_P(FreeBodyCheckpoints, OfAnotherSystemAreRefused) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.002);
    s.integrator->step(1);
    std::stringstream stream;
    s.context->createCheckpoint(stream);
    // The same particles and masses, with one body less, or none.
    for (int count : {7, 0}) {
        auto system = bodies.toOpenMM();
        auto* fewer = new ConstraintForce();
        for (int b = 0; b < count; b++)
            fewer->addRigidBody(bodies.particles(b), toVectors(bodies.bodies[b].places));
        system->removeForce(0);
        system->addForce(fewer);
        bodies.addSprings(*system);
        Simulation other(std::move(system), makeIntegrator(setup, 0.002), platform);
        other.context->setPositions(bodies.start);
        std::stringstream copy(stream.str());
        expectAll(messageOf([&] { other.context->loadCheckpoint(copy); }), {"loadCheckpoint", "another System"});
    }
    std::string damaged = stream.str();
    damaged[damaged.size() - 20] ^= 4;
    std::stringstream wrong(damaged);
    EXPECT_NE(messageOf([&] { s.context->loadCheckpoint(wrong); }), "");
}

TEST_P(FreeBodyCheckpoints, ReadForcesAfterAFailureAsBefore) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.002);
    s.integrator->step(3);
    const Vectors forces = s.integrator->getConstraintForces();
    s.integrator->setStepSize(5);
    EXPECT_NE(messageOf([&] { s.integrator->step(3); }), "");
    EXPECT_EQ(distance(s.integrator->getConstraintForces(), forces), 0);
}

/** Many equal bodies fly through the sides of a box; devices sort their atoms meanwhile, and wrap them. */
class FreeBodyReordering : public FreeBodyStates {};

TEST_P(FreeBodyReordering, KeepsEachBody) {
    const double edge = 2;
    std::vector<RigidShape> shapes;
    for (int i = 0; i < 60; i++) { // equal but for their size
        shapes.push_back(someBodies()[i % 3]);
        for (Real3& r : shapes.back().places)
            r = (1 + 0.05 * (i / 3 % 3)) * r;
    }
    const BodySystem bodies(shapes, 0.31);
    auto system = bodies.toOpenMM();
    system->setDefaultPeriodicBoxVectors({edge, 0, 0}, {0, edge, 0}, {0, 0, edge});
    auto* sorts = new NonbondedForce(); // and no force
    sorts->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    sorts->setCutoffDistance(0.5);
    for (int i = 0; i < bodies.numParticles(); i++)
        sorts->addParticle(0, 0.1, 0);
    system->addForce(sorts);
    Simulation s(std::move(system), makeIntegrator(setup, 0.001, 1e-9), platform);
    Random random(6);
    Vectors v = bodies.velocities(1, 2), drift;
    for (std::size_t b = 0; b < shapes.size(); b++) {
        const Real3 d = 6 * random.direction();
        for (int p : bodies.particles(b))
            v[p] += Vec3(d.x, d.y, d.z);
    }
    s.context->setPositions(bodies.start);
    s.context->setVelocities(v);
    s.integrator->applyVelocityConstraints();
    const auto centres = [&](const Vectors& of) {
        Vectors result;
        for (std::size_t b = 0; b < shapes.size(); b++) {
            Vec3 sum;
            double mass = 0;
            for (int p : bodies.particles(b)) {
                sum += of[p] * bodies.masses[p];
                mass += bodies.masses[p];
            }
            result.push_back(sum / mass);
        }
        return result;
    };
    Vectors expected = centres(bodies.start);
    const Vectors rates = centres(s.velocities());
    for (int steps : {249, 2, 249}) {
        s.integrator->step(steps);
        EXPECT_LT(bodies.deformation(s.positions()), 1e-11 + 40 * precision.position);
    }
    for (std::size_t b = 0; b < shapes.size(); b++)
        expected[b] += rates[b] * s.context->getTime();
    const double wrapping = platform.find("Mixed") == std::string::npos ? 0 : 5e-7; // in single precision, by OpenMM
    EXPECT_LE(distance(centres(s.positions()), expected), 1e-9 + 1000 * precision.position + wrapping);
}

std::string setupName(const testing::TestParamInfo<ConstraintTests::Setup>& info) {
    return nameOf(info.param);
}

INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodyStates, testing::ValuesIn(bodySetups({"Rattle"})), setupName);
INSTANTIATE_TEST_SUITE_P(Integrators, FreeBodyCheckpoints,
                         testing::ValuesIn(bodySetups({"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                       "RattleNoseHoover"})),
                         setupName);
INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodyReordering, testing::ValuesIn(bodySetups({"Rattle"})), setupName);

// ---- large bodies ---------------------------------------------------------------------------------------------------

TEST(LargeFreeBody, IsTheSameOnAnyNumberOfThreads) {
    // 100,000 particles, and some small bodies beside them
    const int n = 100000;
    Random random(3);
    System system;
    auto* force = new ConstraintForce();
    Vectors places, v;
    for (int i = 0; i < n; i++) {
        system.addParticle(12);
        const Real3 r = random.inCube(5);
        places.emplace_back(r.x, r.y, r.z);
    }
    force->addRigidBody(range(0, n - 1), places);
    for (const RigidShape& shape : someBodies()) {
        const int first = system.getNumParticles();
        for (std::size_t i = 0; i < shape.masses.size(); i++) {
            system.addParticle(shape.masses[i]);
            places.push_back(toVectors({shape.places[i]})[0]);
        }
        force->addRigidBody(range(first, system.getNumParticles() - 1), toVectors(shape.places));
    }
    system.addForce(force);
    for (std::size_t i = 0; i < places.size(); i++) {
        const Real3 r = random.inCube(1);
        v.emplace_back(r.x, r.y, r.z);
    }
    const auto end = [&](const std::string& platform, const std::string& threads) {
        RattleIntegrator integrator(0.001);
        Context context(system, integrator, requirePlatform(platform),
                        threads.empty() ? std::map<std::string, std::string>{}
                                        : std::map<std::string, std::string>{{"Threads", threads}});
        context.setPositions(places);
        context.setVelocities(v);
        integrator.step(1);
        const State state = context.getState(State::Positions | State::Velocities);
        return std::make_pair(state.getPositions(), state.getVelocities());
    };
    const auto [x1, v1] = end("Reference", "");
    EXPECT_GT(distance(x1, places), 1e-4);
    for (const char* threads : {"1", "2", "3"}) {
        const auto [x2, v2] = end("CPU", threads);
        EXPECT_EQ(distance(x1, x2), 0) << threads;
        EXPECT_EQ(distance(v1, v2), 0) << threads;
    }
}

} // namespace
