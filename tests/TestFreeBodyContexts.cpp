// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in closed form in Contexts: side by side, with new shapes, from checkpoints, sorted.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/StateChecks.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** On every platform, with Rattle. */
class FreeBodyContexts : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup);
    const Precision precision = precisionOf(platform);
};

TEST_P(FreeBodyContexts, OfTwoContextsDoNotMix) {
    const BodySystem bodies(someBodies());
    expectNotMixed([&](double stepSize) { return bodies.simulate(setup, stepSize); });
}

TEST_P(FreeBodyContexts, KeepTheMassesOfTheContext) {
    const BodySystem bodies(someBodies());
    Simulation changed = bodies.simulate(setup, 0.001), other = bodies.simulate(setup, 0.001);
    changed.system->setParticleMass(bodies.first[1], 100);
    changed.system->setParticleMass(bodies.first[2], 0);
    for (Simulation* s : {&changed, &other}) {
        dynamic_cast<ConstraintForce&>(s->system->getForce(0)).updateParametersInContext(*s->context);
        s->integrator->step(3);
    }
    EXPECT_LT(distance(changed.positions(), other.positions()), 1e-14 + 4 * precision.position);
    EXPECT_LT(distance(changed.velocities(), other.velocities()), 1e-11 + 4 * precision.velocity);
}

TEST_P(FreeBodyContexts, CorrectDeviationsThatAreNotProjected) {
    const BodySystem bodies(someBodies());
    Simulation s(bodies.toOpenMM(), makeIntegrator(setup, 0.001, 1e-3), platform);
    Vectors x = bodies.simulate(setup, 0.001).positions();
    for (std::size_t b = 0; b < bodies.bodies.size(); b++)
        if (bodies.bodies[b].masses[0] > 0)
            x[bodies.first[b]] += Vec3(2e-6, -2e-6, 2e-6); // within the tolerance
    s.context->setPositions(x);
    const double before = bodies.deformation(x);
    s.integrator->step(1);
    EXPECT_GT(before, 1e-6);
    EXPECT_LT(bodies.deformation(s.positions()), 1e-3 * before + 4 * precision.position);
}

TEST_P(FreeBodyContexts, TakeNewShapesInAContext) {
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
class FreeBodyCheckpoints : public FreeBodyContexts {};

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
class FreeBodyReordering : public FreeBodyContexts {};

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

INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodyContexts, testing::ValuesIn(bodySetups({"Rattle"})), setupName);
INSTANTIATE_TEST_SUITE_P(Integrators, FreeBodyCheckpoints,
                         testing::ValuesIn(bodySetups({"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                       "RattleNoseHoover"})),
                         setupName);
INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodyReordering, testing::ValuesIn(bodySetups({"Rattle"})), setupName);

} // namespace
