// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Emulated.h"
#include "support/LargeSystems.h"
#include "support/Mixture.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

InitialState mixture() {
    Mixture drawn = drawMixture(1, true);
    InitialState start{std::move(drawn.system), drawn.positions, drawn.velocities};
    const int first = start.system->getNumParticles();
    for (const Vec3& at : {Vec3(0.1, 0, 0), Vec3(), Vec3(0, 0.1, 0)}) {
        start.system->addParticle(12);
        start.positions.push_back(at);
        start.velocities.emplace_back();
    }
    auto* force = new ConstraintForce();
    force->setUsesPeriodicBoundaryConditions(true);
    for (int copy = 0; copy < 2; copy++)
        force->addAngle(first, first + 1, first + 2, std::acos(0.0));
    start.system->addForce(force);
    return start;
}

InitialState molecule() {
    const TestSystem system = protein(12);
    InitialState start{toOpenMM(system, Declared::InForce), toVectors(system.positions), {}};
    addSprings(*start.system, system);
    start.velocities = tangentVelocities(system, 0.5, 3);
    return start;
}

InitialState moleculeWithBarostat() {
    InitialState start = molecule();
    start.system->setDefaultPeriodicBoxVectors(Vec3(20, 0, 0), Vec3(0, 20, 0), Vec3(0, 0, 20));
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(5);
    start.system->addForce(barostat);
    for (int i = 0; i < start.system->getNumForces(); i++)
        if (auto* springs = dynamic_cast<HarmonicBondForce*>(&start.system->getForce(i)))
            springs->setUsesPeriodicBoundaryConditions(true);
    return start;
}

InitialState bodies() {
    InitialState start{std::make_unique<System>(), {}, {}};
    Random random(4);
    auto* force = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    const auto draw = [&](double size) {
        const Real3 x = random.inCube(size);
        return Vec3(x.x, x.y, x.z);
    };
    struct Kind {
        int size, anchors;
        bool isLinear;
    };
    for (const Kind& kind : std::vector<Kind>{
             {3, 0, false}, {3, 0, true}, {4, 1, false}, {5, 2, false}, {40, 0, false}, {260, 0, false}}) {
        const int first = start.system->getNumParticles();
        std::vector<int> particles;
        const Vec3 centre = draw(2), axis = draw(0.1);
        Vectors shape;
        for (int i = 0; i < kind.size; i++) {
            particles.push_back(start.system->addParticle(i < kind.anchors ? 0 : 5 + i % 7));
            shape.push_back(kind.isLinear ? centre + axis * (i + 0.1 * i * i)
                                          : centre + draw(0.1 * std::cbrt(kind.size)));
            start.positions.push_back(shape.back());
            start.velocities.push_back(i < kind.anchors ? Vec3() : draw(0.3));
        }
        force->addRigidBody(particles, shape);
        if (first > 0) // to the body before
            springs->addBond(first - 1, first + kind.size - 1, 1, 300);
    }
    springs->addBond(start.system->addParticle(20), 0, 0.5, 200); // beside them
    start.positions.push_back(draw(2));
    start.velocities.emplace_back();
    start.system->addForce(force);
    start.system->addForce(springs);
    return start;
}

InitialState joints() {
    InitialState start{std::make_unique<System>(), {}, {}};
    Random random(6);
    auto* force = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    const auto draw = [&](double size) {
        const Real3 x = random.inCube(size);
        return Vec3(x.x, x.y, x.z);
    };
    const auto addParticle = [&](double mass, const Vec3& position) {
        start.positions.push_back(position);
        start.velocities.push_back(mass > 0 ? draw(0.3) : Vec3());
        const int particle = start.system->addParticle(mass);
        if (particle > 0) // to the one before
            springs->addBond(particle - 1, particle, 0.3, 200);
        return particle;
    };
    const auto addBody = [&](std::vector<int> particles) {
        Vectors shape;
        for (int p : particles)
            shape.push_back(start.positions[p]);
        force->addRigidBody(particles, shape);
    };
    const auto addParticles = [&](std::vector<int> particles, int count, const Vec3& centre, double size) {
        for (int i = 0; i < count; i++)
            particles.push_back(addParticle(5 + i % 7, centre + draw(size)));
        return particles;
    };
    const auto keepDistance = [&](int i, int j) {
        force->addDistance(i, j, length(start.positions[i] - start.positions[j]));
    };
    const std::vector<int> first = addParticles({}, 5, {0, 0, 0}, 0.1),
                           second = addParticles({first[3], first[4]}, 40, {0.5, 0, 0}, 0.2), // a block has it
        third = addParticles({second[10]}, 4, {1, 0, 0}, 0.1),
                           fourth = addParticles({addParticle(0, {1.5, 0, 0})}, 4, {1.6, 0, 0}, 0.1);
    for (const auto& body : {first, second, third, fourth})
        addBody(body);
    std::vector<int> straight;
    for (double x : {0.0, 0.1, 0.25})
        straight.push_back(addParticle(12, Vec3(x, 0.5, 0.05 * x)));
    addBody(straight);
    const int free = addParticle(14, {0, 0.3, 0.1});
    keepDistance(third[2], fourth[3]);
    keepDistance(straight[2], second[7]);
    keepDistance(straight[0], free);
    keepDistance(free, first[0]);
    const auto centroid = [&](const std::vector<int>& group) {
        return centroidOf(*start.system, start.positions, group);
    };
    const std::vector<int> group1{free, first[1], first[2]}, group2{third[1], third[3]};
    force->addCentroidDistance(group1, group2, length(centroid(group1) - centroid(group2)));
    auto* heights = new CustomCentroidConstraintForce(2, "y1-y2-h*h0");
    heights->addPerConstraintParameter("h");
    heights->addGlobalParameter("h0", 1);
    const std::vector<int> group3{second[20], second[21], straight[1]}, group4{first[0], fourth[1], free};
    heights->addConstraint({heights->addGroup(group3), heights->addGroup(group4)},
                           {centroid(group3)[1] - centroid(group4)[1]});
    force->addRigidBody({addParticle(9, {0, 1, 0}), addParticle(8, {0.1, 1, 0}), addParticle(7, {0, 1.1, 0})},
                        {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}}); // a free one
    start.system->addForce(force);
    start.system->addForce(springs);
    start.system->addForce(heights);
    return start;
}

InitialState chainOfBodies() {
    InitialState start{std::make_unique<System>(), {}, {}};
    Random random(8);
    auto* force = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    int last = -1; // of the body before
    for (int b = 0; b < 12; b++) {
        std::vector<int> body;
        if (b % 2 == 1)
            body.push_back(last);
        Vectors shape;
        while (body.size() < 4) {
            const Real3 x = random.inCube(0.1), v = random.inCube(0.3);
            body.push_back(start.system->addParticle(5 + (int) body.size()));
            start.positions.emplace_back(0.3 * b + x.x, x.y, x.z);
            start.velocities.emplace_back(v.x, v.y, v.z);
        }
        for (int p : body)
            shape.push_back(start.positions[p]);
        force->addRigidBody(body, shape);
        if (b > 0)
            springs->addBond(last, body[1], 0.3, 200);
        if (b > 0 && b % 2 == 0)
            force->addDistance(last, body[0], length(start.positions[last] - start.positions[body[0]]));
        last = body.back();
    }
    start.system->addForce(force);
    start.system->addForce(springs);
    return start;
}

/** In a box, whose barostat moves bodies: the device measures them before a step. */
static InitialState withBarostat(InitialState start) {
    start.system->setDefaultPeriodicBoxVectors(Vec3(12, 0, 0), Vec3(1, 12, 0), Vec3(-1, 0.5, 12));
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(5);
    start.system->addForce(barostat);
    dynamic_cast<ConstraintForce&>(start.system->getForce(0)).setUsesPeriodicBoundaryConditions(true);
    dynamic_cast<HarmonicBondForce&>(start.system->getForce(1)).setUsesPeriodicBoundaryConditions(true);
    return start;
}

InitialState bodiesWithBarostat() {
    return withBarostat(bodies());
}

InitialState chainOfBodiesWithBarostat() {
    return withBarostat(chainOfBodies());
}

InitialState jointsWithBarostat() {
    return withBarostat(joints());
}

InitialState stiff() {
    Builder b("stiff");
    const int centre = b.particle(1e5, {0, 0, 0});
    for (int arm = 0; arm < 3; arm++) // so that several threads find such a pivot
        for (int k = 0, last = centre; k < 4; k++)
            last = b.grow(b.grow(last, 1e-3, 3e3), 1e5, 3e3);
    const TestSystem system = b.build();
    return {toOpenMM(system, Declared::InForce), toVectors(system.positions), tangentVelocities(system, 1e-6, 3)};
}

double valueOfBentPath(const Vec3& p1, const Vec3& p2, const Vec3& p3) {
    return length(p1 - p3) + 0.3 * std::pow(length(p2 - p3), 2);
}

} // namespace ConstraintTests
