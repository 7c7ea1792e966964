// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Joined rigid bodies: starts that are off, states that are refused by name, bodies cut in two, and mixtures.
#include "support/BodySystems.h"
#include "support/JoinedBodies.h"
#include "support/Messages.h"
#include "support/Rings.h"
#include "support/StateChecks.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** On every platform, with Rattle. */
class JoinedStates : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup);
    const Precision precision = precisionOf(platform);

    static std::vector<Assembly> some() {
        std::vector<Assembly> all = {hingeRing(4, true, 7)};
        for (const char* name :
             {"ball joint", "hinge", "three at one particle", "distance", "chain", "double pendulum", "surface"})
            all.push_back(findAssembly(name));
        return all;
    }
    static Vectors disturbed(const JoinedSystem& system, double size) {
        Vectors x = toVectors(system.start);
        const Vectors shift = system.velocities(size, 5);
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] += shift[i];
        return x;
    }
};

TEST_P(JoinedStates, ALittleOffAreProjected) {
    for (const JoinedSystem& system : systemsOf(some(), platform)) {
        SCOPED_TRACE(system.parts[0].name);
        Simulation s = system.simulate(setup, 0.001, Held::AsBodies, 1e-11);
        s.context->setPositions(disturbed(system, 0.01));
        const Vectors off = s.positions();
        s.integrator->step(1); // without a call
        EXPECT_LT(system.deformation(s.positions()), 1e-10 + 4 * precision.position);
        s.context->setPositions(off);
        const double farthest = s.integrator->applyConstraints();
        const Vectors x = s.positions();
        EXPECT_NEAR(farthest, distance(x, off), 1e-12 + 4 * precision.position);
        EXPECT_GT(farthest, 0.003);
        EXPECT_LT(farthest, 0.05);
        EXPECT_LT(system.deformation(x), 1e-10 + 4 * precision.position);
        // and again is no change
        EXPECT_EQ(s.integrator->applyConstraints(), 0);
        EXPECT_EQ(distance(s.positions(), x), 0);
    }
}

TEST_P(JoinedStates, DisplacedByThreeHundredthsAreProjected) {
    // One of the bodies, as a whole, from the particle or the partner that joins it
    for (const char* name : {"ball joint", "hinge", "distance", "angle within two bodies"}) {
        SCOPED_TRACE(name);
        const JoinedSystem system({findAssembly(name)});
        Simulation s = system.simulate(setup, 0.001, Held::AsBodies, 1e-11);
        Vectors x = toVectors(system.start);
        for (int p : system.bodies[1])
            if (std::count(system.bodies[0].begin(), system.bodies[0].end(), p) == 0)
                x[p] += Vec3(0.01, -0.02, 0.02);
        s.context->setPositions(x);
        s.integrator->step(1);
        EXPECT_LT(system.deformation(s.positions()), 1e-10 + 4 * precision.position);
        EXPECT_LT(distance(s.positions(), x), 0.06);
        if (isDevice(platform))
            break;
    }
}

TEST_P(JoinedStates, WithinTheToleranceAreLeftBitForBit) {
    const JoinedSystem system(some());
    Simulation s = system.simulate(setup, 0.001);
    expectLeftWithinTheTolerance(s, disturbed(system, 3e-6), 1.01, 1e-11, 1e-7);
    EXPECT_LT(system.deformation(s.positions()), 1e-10 + 4 * precision.position);
}

TEST_P(JoinedStates, FarOffAreRefusedByName) {
    for (const char* name : {"ball joint", "hinge", "distance"}) {
        SCOPED_TRACE(name);
        const JoinedSystem system({findAssembly("ball joint"), findAssembly(name)});
        Simulation s = system.simulate(setup, 0.001, Held::AsBodies, 1e-10);
        // one whole body by 1 nm
        Vectors x = toVectors(system.start);
        const std::vector<int>&one = system.bodies[2], &other = system.bodies[3];
        for (int p : other)
            if (std::count(one.begin(), one.end(), p) == 0)
                x[p] += Vec3(0.6, -0.5, 0.6);
        s.context->setPositions(x);
        const ConstraintProblem problem = expectRefusal(s, "far-off", oneStep);
        expectAll(problem.text(), {"setMaxProjection", "0.05"});
        EXPECT_GT(problem.value, 0.05);
        for (int p : problem.particles)
            EXPECT_GE(p, system.first[1]) << problem.text();
        // one particle
        x = toVectors(system.start);
        x[other[1]] += Vec3(0, 0.4, 0);
        s.context->setPositions(x);
        expectAll(expectRefusal(s, "far-off", oneStep).text(), {"setMaxProjection"});
        s.context->setPositions(toVectors(system.start));
        s.integrator->step(1);
        if (isDevice(platform))
            break;
    }
}

TEST_P(JoinedStates, MirrorImagesAreRefused) {
    for (const char* name : {"ball joint", "distance"}) {
        const JoinedSystem system({findAssembly(name)});
        Simulation s = system.simulate(setup, 0.001);
        s.integrator->setMaxProjection(10);
        // a body, through the plane of its first three particles
        Vectors x = toVectors(system.start);
        const std::vector<int>& body = system.bodies[1];
        Vec3 normal = (x[body[1]] - x[body[0]]).cross(x[body[2]] - x[body[0]]);
        normal /= std::sqrt(normal.dot(normal));
        for (int p : body)
            x[p] -= normal * (2 * normal.dot(x[p] - x[body[0]]));
        s.context->setPositions(x);
        expectAll(expectRefusal(s, "mirror-image", oneStep).text(),
                  {"rigid body 1 of the ConstraintForce with index 1", "mirror image"});
    }
}

TEST_P(JoinedStates, WithNumbersThatAreNotFiniteAreRefused) {
    const JoinedSystem system({findAssembly("distance"), findAssembly("hinge")});
    Simulation s = system.simulate(setup, 0.001);
    s.integrator->step(1);
    const Vectors x = s.positions(), v = s.velocities();
    for (double bad : {std::nan(""), HUGE_VAL})
        for (int p : {system.bodies[0][2], system.bodies[2][0], system.bodies[3][4]}) { // 2: shared
            SCOPED_TRACE(std::to_string(p) + " " + std::to_string(bad));
            Vectors wrong = x;
            wrong[p][1] = bad;
            s.context->setPositions(wrong);
            expectRefusal(s, "not-finite", oneStep);
            expectRefusal(s, "not-finite", [](Simulation& t) { t.integrator->applyConstraints(); });
            s.context->setPositions(x);
            wrong = v;
            wrong[p][2] = bad;
            s.context->setVelocities(wrong);
            expectRefusal(s, "not-finite", oneStep);
            expectRefusal(s, "not-finite", [](Simulation& t) { t.integrator->applyVelocityConstraints(); });
            s.context->setVelocities(v);
            s.integrator->step(1);
            EXPECT_LT(system.deformation(s.positions()), 1e-12 + 4 * precision.position);
        }
}

TEST_P(JoinedStates, WithForcesThatAreNotFiniteEndTheStep) {
    const JoinedSystem system({findAssembly("hinge")});
    auto opened = system.toOpenMM();
    auto* field = new CustomExternalForce("1/(1-switch)+switch*x");
    field->addGlobalParameter("switch", 0);
    field->addParticle(system.bodies[1][3], {});
    opened->addForce(field);
    Simulation s(std::move(opened), makeIntegrator(setup, 0.001), platform);
    system.begin(s);
    s.integrator->step(2);
    s.context->setParameter("switch", HUGE_VAL);
    expectRefusal(s, "not-finite", oneStep);
    s.context->setParameter("switch", 0);
    s.integrator->step(1);
    EXPECT_LT(system.deformation(s.positions()), 1e-10 + 4 * precision.position);
}

TEST_P(JoinedStates, ThatTurnTooFarEndTheStep) {
    for (const char* name : {"ball joint", "hinge", "distance", "double pendulum"}) {
        SCOPED_TRACE(name);
        const JoinedSystem system({findAssembly(name)});
        Simulation s = system.simulate(setup, 0.002, Held::AsBodies, 1e-10, 0);
        s.integrator->step(2);
        const Vectors x = s.positions();
        Vectors v = s.velocities();
        const std::vector<int>&one = system.bodies[0], &other = system.bodies[1];
        // about what is shared, or about a particle
        Vec3 axis(1, 2, 3);
        if (std::string(name) == "hinge")
            axis = x[other[1]] - x[other[0]];
        axis /= std::sqrt(axis.dot(axis));
        for (int p : other)
            if (std::count(one.begin(), one.end(), p) == 0)
                v[p] = axis.cross(x[p] - x[other[0]]) * 5000;
        s.context->setVelocities(v);
        s.integrator->applyVelocityConstraints();
        const ConstraintProblem problem = problemThrownBy([&] { s.integrator->step(1); });
        EXPECT_NE(problem.kind, "") << "it has to fail";
        expectAll(problem.text(), {"rigid bod", "setStepSize"});
        EXPECT_EQ(problem.text().find("nan"), std::string::npos) << problem.text();
        EXPECT_EQ(problem.text().find("inf"), std::string::npos) << problem.text();
        EXPECT_EQ(distance(s.positions(), x), 0);
        EXPECT_FALSE(s.integrator->getSolverSummary().converged);
        s.integrator->setStepSize(0.00002);
        s.integrator->step(1);
        EXPECT_TRUE(s.integrator->getSolverSummary().converged);
        EXPECT_LT(system.deformation(s.positions()), 1e-10 + 4 * precision.position);
        if (isDevice(platform))
            break;
    }
}

TEST_P(JoinedStates, OfBodiesCutInTwoAreThoseOfTheWhole) {
    // Three shared particles, or two and a distance across: one body again.
    Random random(4);
    Assembly whole;
    whole.name = "whole";
    whole.body(8, {0, 0, 0}, random);
    whole.degreesOfFreedom = 6;
    Assembly merged = whole, braced = whole;
    merged.bodies = {{0, 1, 2, 3, 4}, {2, 3, 4, 5, 6, 7}};
    braced.bodies = {{0, 1, 2, 3, 4}, {3, 4, 5, 6, 7}};
    braced.joins = {{Join::Distance, {1, 6}}};
    std::vector<Simulation> all;
    for (const Assembly& assembly : {whole, merged, braced}) {
        const JoinedSystem system({assembly});
        all.push_back(system.simulate(setup, 0.002, Held::AsBodies, 1e-12, 1000));
        EXPECT_EQ(all.back().integrator->getNumDegreesOfFreedom(), 6) << assembly.bodies.size();
        all.back().integrator->step(50);
    }
    EXPECT_LT(distance(all[0].positions(), all[1].positions()), 1e-12 + 10 * precision.position);
    EXPECT_LT(distance(all[0].velocities(), all[1].velocities()),
              1e-11 + 100 * (precision.velocity + precision.position));
    EXPECT_LT(distance(all[0].integrator->getConstraintForces(), all[1].integrator->getConstraintForces()),
              1e-6 + 1e8 * precision.position + 1e3 * precision.force);
    EXPECT_LT(distance(all[0].positions(), all[2].positions()),
              1e-10 + 100 * precision.position + 1e-3 * precision.force);
    EXPECT_GT(distance(all[0].positions(), toVectors(JoinedSystem({whole}).start)), 0.01);
}

TEST_P(JoinedStates, OfMixturesHoldEverything) {
    // Joined bodies, free ones, and rigid waters of the System, in one Context; with an integrator for each platform
    const JoinedSystem joined(someAssemblies());
    const BodySystem free(someBodies());
    for (const char* integrator : {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"}) {
        SCOPED_TRACE(integrator);
        auto system = joined.toOpenMM();
        Vectors x = toVectors(joined.start), v = joined.velocities(1, 3);
        auto* bodies = new ConstraintForce();
        const int firstFree = system->getNumParticles();
        for (int p = 0; p < free.numParticles(); p++) {
            system->addParticle(free.masses[p]);
            x.push_back(free.start[p] + Vec3(-3, 0, 0));
            v.push_back(free.masses[p] > 0 ? Vec3(0.3, -0.4, 0.1 * (p % 5)) : Vec3());
        }
        for (std::size_t b = 0; b < free.bodies.size(); b++) {
            std::vector<int> particles = free.particles(b);
            for (int& p : particles)
                p += firstFree;
            bodies->addRigidBody(particles, toVectors(free.bodies[b].places));
        }
        system->addForce(bodies);
        const int firstWater = system->getNumParticles(), waters = 30;
        for (int m = 0; m < waters; m++) {
            const Vec3 at(3 + 0.4 * (m % 3), 0.4 * (m / 3), 0);
            const Vec3 places[] = {at, at + Vec3(0.09572, 0, 0), at + Vec3(-0.023999, 0.092663, 0)};
            const int first = firstWater + 3 * m;
            for (int i = 0; i < 3; i++) {
                system->addParticle(i == 0 ? 15.999 : 1.008);
                x.push_back(places[i]);
                v.push_back(Vec3(0.5 * i, 0.2 * (m % 4), -0.3));
                for (int j = 0; j < i; j++) {
                    const Vec3 r = places[i] - places[j];
                    system->addConstraint(first + i, first + j, std::sqrt(r.dot(r)));
                }
            }
        }
        joined.addSprings(*system, 500);
        Simulation s(std::move(system), makeIntegrator({platform, std::get<1>(setup), integrator}, 0.001, 1e-11),
                     platform);
        s.context->setPositions(x);
        s.context->setVelocities(v);
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(),
                  joined.degreesOfFreedom() + free.degreesOfFreedom() + 6 * waters);
        s.integrator->step(20);
        const Vectors after = s.positions();
        EXPECT_LT(joined.deformation(Vectors(after.begin(), after.begin() + firstFree)),
                  1e-10 + 4 * precision.position);
        EXPECT_LT(free.deformation(Vectors(after.begin() + firstFree, after.begin() + firstWater)),
                  1e-12 + 4 * precision.position);
        EXPECT_LT(s.integrator->getSolverSummary().maxError, 1e-11 + 20 * precision.constraint);
        EXPECT_GT(distance(after, x), 0.005);
        if (isDevice(platform))
            break;
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedStates, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

// ---- what is declared ----------------------------------------------------------------------------------------------

class JoinedDeclarations : public testing::Test {
protected:
    /** Two bodies; the second is wider, which its shared particles contradict. */
    static std::string refusalOf(const Assembly& assembly, double factor) {
        const JoinedSystem system({assembly});
        auto opened = system.toOpenMM();
        auto& force = dynamic_cast<ConstraintForce&>(opened->getForce(1));
        std::vector<int> particles;
        Vectors shape;
        force.getRigidBodyParameters(1, particles, shape);
        for (Vec3& r : shape)
            r *= factor;
        force.setRigidBodyParameters(1, particles, shape);
        return messageOf([&] {
            Simulation s(std::move(opened), makeIntegrator({"Reference", Solver::Automatic, "Rattle"}, 0.001),
                         "Reference");
        });
    }
};

TEST_F(JoinedDeclarations, WhoseSharedDistancesDisagreeAreRefused) {
    Random random(6);
    Assembly merged;
    const auto one = merged.body(5, {0, 0, 0}, random);
    merged.body(2, {0.3, 0, 0}, random, {one[0], one[1], one[2]});
    for (const Assembly& assembly : {findAssembly("hinge"), merged}) {
        const std::string message = refusalOf(assembly, 1.05);
        expectAll(message, {"rigid body 0 of the ConstraintForce with index 1",
                            "rigid body 1 of the ConstraintForce with index 1"});
        EXPECT_EQ(refusalOf(assembly, 1), "");
    }
    EXPECT_EQ(refusalOf(findAssembly("ball joint"), 1.05), "") << "one particle has no distance";
}

} // namespace
