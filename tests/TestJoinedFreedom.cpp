// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Degrees of freedom of joined rigid bodies: against the rank of a dense matrix, and where they change nearby.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/Rings.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const ConstraintTests::Setup onReference{"Reference", Solver::Automatic, "Rattle"};

/** Two bodies with so many shared particles on one line. */
Assembly hingeOf(int shared, int bodies) {
    Random random(5);
    Assembly a;
    a.name = std::to_string(bodies) + " bodies with " + std::to_string(shared) + " shared particles on a line";
    a.degreesOfFreedom = 6 + bodies - 1;
    std::vector<int> line;
    for (int i = 0; i < shared; i++)
        line.push_back(a.atom({0.2, 0.1 * i, 0.05 * i}, 5 + i));
    for (int b = 0; b < bodies; b++) {
        std::vector<int> body = line;
        for (int i = 0; i < 3; i++)
            body.push_back(a.atom(Real3{0.3 * b, 0, 0.2 * (b % 2)} + random.inCube(0.1)));
        a.bodies.push_back(body);
    }
    return a;
}

Assembly twoBodies(int distances, int degreesOfFreedom) {
    Random random(8);
    Assembly a;
    a.name = std::to_string(distances) + " distances";
    a.degreesOfFreedom = degreesOfFreedom;
    a.body(4, {0, 0, 0}, random);
    a.body(4, {0.4, 0.1, 0}, random);
    const int pairs[][2] = {{0, 4}, {1, 5}, {2, 6}, {0, 5}, {1, 6}, {2, 4}, {3, 7}};
    for (int k = 0; k < distances; k++)
        a.joins.push_back({Join::Distance, {pairs[k][0], pairs[k][1]}});
    return a;
}

std::vector<Assembly> counted() {
    std::vector<Assembly> all = {hingeRing(4, true, 7),  hingeRing(4, false, 6), hingeRing(5, true, 8),
                                 hingeRing(5, false, 6), hingeRing(6, false, 6), hingeRing(7, false, 7),
                                 hingeRing(8, false, 8), cyclohexane(false),     cyclohexane(true),
                                 hingeOf(2, 3),          hingeOf(3, 2),          hingeOf(4, 3)};
    for (int distances = 1; distances < 7; distances++)
        all.push_back(twoBodies(distances, 12 - distances));
    all.push_back(twoBodies(7, 6));
    for (const Assembly& assembly : someAssemblies())
        if (std::all_of(assembly.joins.begin(), assembly.joins.end(), [](const Join& join) {
                return join.kind == Join::Distance || join.kind == Join::SystemDistance;
            }))
            all.push_back(assembly);
    return all;
}

TEST(JoinedFreedom, IsThatOfAllVelocities) {
    for (const Assembly& assembly : counted()) {
        SCOPED_TRACE(assembly.name);
        EXPECT_EQ(countedByVelocities(assembly, assembly.places), assembly.degreesOfFreedom);
        const JoinedSystem system({assembly});
        try {
            Simulation s = system.simulate(onReference, 0.001, Held::AsBodies, 1e-13);
            EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), assembly.degreesOfFreedom);
            s.integrator->step(20);
            EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), assembly.degreesOfFreedom);
            EXPECT_LT(system.deformation(s.positions()), 1e-12);
            EXPECT_EQ(countedByVelocities(assembly, toArrays(s.positions())), assembly.degreesOfFreedom);
        } catch (const OpenMMException& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

/** Before anything is projected, at positions that are off by what a file rounds, and at others that are set later. */
TEST(JoinedFreedom, IsKnownAsSoonAsPositionsAre) {
    for (const std::string& platform : platformsUnderTest()) {
        SCOPED_TRACE(platform);
        const JoinedSystem chair({cyclohexane(false)}), boat({cyclohexane(true)});
        Simulation s(chair.toOpenMM(), makeIntegrator(onReference, 0.001), platform);
        const auto count = [&] { s.integrator->getNumDegreesOfFreedom(); };
        expectAll(messageOf(count), {"getNumDegreesOfFreedom", "rigid bodies", "loop", "setPositions"});
        for (const JoinedSystem* system : {&chair, &boat, &chair}) {
            Vectors x = toVectors(system->start);
            for (Vec3& r : x)
                for (int axis = 0; axis < 3; axis++)
                    r[axis] = 1e-4 * std::round(1e4 * r[axis]);
            s.context->setPositions(x);
            const Vectors given = s.positions();
            EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system == &boat ? 7 : 6);
            EXPECT_EQ(distance(s.positions(), given), 0);
        }
        s.context->setPositions(Vectors(chair.start.size(), Vec3(0, 0, 0)));
        EXPECT_NO_THROW(s.integrator->getNumDegreesOfFreedom()) << "the bodies are placed anew";
        s.context->setPositions(Vectors(chair.start.size(), Vec3(NAN, 0, 0)));
        EXPECT_THROW(s.integrator->getNumDegreesOfFreedom(), OpenMMException) << "there is no rank";
        s.context->setPositions(toVectors(chair.start));
        s.integrator->applyConstraints();
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 6);
    }
}

/** In a run that goes on at other positions, or from a checkpoint of another run. */
TEST(JoinedFreedom, IsThatOfThePositionsThatWereSetLast) {
    for (const std::string& platform : platformsUnderTest()) {
        SCOPED_TRACE(platform);
        const JoinedSystem chair({cyclohexane(false)}), boat({cyclohexane(true)});
        Simulation s(chair.toOpenMM(), makeIntegrator(onReference, 0.0005, 1e-6), platform),
            other(chair.toOpenMM(), makeIntegrator(onReference, 0.0005, 1e-6), platform);
        boat.begin(other);
        other.integrator->step(5);
        std::stringstream ofBoat;
        other.context->createCheckpoint(ofBoat);
        for (int repetition = 0; repetition < 2; repetition++)
            for (const JoinedSystem* system : {&chair, &boat}) {
                const int expected = system == &boat ? 7 : 6;
                s.context->setPositions(toVectors(system->start));
                EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), expected) << "read before a step";
                s.context->setPositions(toVectors(system->start));
                s.context->setVelocitiesToTemperature(100, 1);
                s.integrator->step(5);
                EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), expected);
            }
        s.context->setPositions(toVectors(chair.start));
        s.integrator->step(5);
        s.context->loadCheckpoint(ofBoat);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 7);
        s.integrator->step(5);
        EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 7);
    }
}

TEST(JoinedFreedom, OfManyMoleculesIsTheirSum) {
    std::vector<Assembly> all = counted(), twice = all;
    twice.insert(twice.end(), all.begin(), all.end());
    const JoinedSystem system(twice);
    Simulation s = system.simulate(onReference, 0.001, Held::AsBodies, 1e-13);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    s.integrator->step(5);
    EXPECT_LT(system.deformation(s.positions()), 1e-12);
    const JoinedSystem some({findAssembly("hinge"), findAssembly("distance")});
    auto still = some.toOpenMM();
    still->addForce(new CMMotionRemover());
    Simulation t(std::move(still), makeIntegrator(onReference, 0.001), "Reference");
    some.begin(t);
    EXPECT_EQ(t.integrator->getNumDegreesOfFreedom(), 7 + 11 - 3);
}

TEST(JoinedFreedom, OfABoatIsOneMoreThanOfAChair) {
    // The boat moves through its twisted forms, with all bonds and angles; the chair does not.
    for (bool boat : {false, true}) {
        const JoinedSystem system({cyclohexane(boat)});
        Simulation s(system.toOpenMM(), makeIntegrator(onReference, 0.0005, 1e-13), "Reference");
        system.begin(s, 3);
        const auto dihedral = [&] {
            const Arrays x = toArrays(s.positions());
            return dihedralOf(x[0], x[1], x[2], x[3]);
        };
        const double before = dihedral();
        s.integrator->step(200);
        if (boat)
            EXPECT_GT(std::abs(std::remainder(dihedral() - before, 2 * pi)), 0.05);
        else
            EXPECT_NEAR(dihedral(), before, 1e-9);
        EXPECT_LT(system.deformation(s.positions()), 1e-12);
    }
}

// ---- where the number of degrees of freedom changes nearby ----------------------------------------------------------

/** A straight linkage that closes a ring: two bodies that two distances join, all four ends on one line. */
Assembly stretched() {
    Assembly a;
    a.name = "stretched";
    const std::vector<int> frame = {a.atom({0, 0, 0}), a.atom({0.6, 0, 0}), a.atom({0.3, 0.3, 0}),
                                    a.atom({0.3, 0.1, 0.2})};
    const std::vector<int> coupler = {a.atom({0.2, 0, 0}), a.atom({0.45, 0, 0}), a.atom({0.3, -0.1, 0.1}),
                                      a.atom({0.3, -0.1, -0.1})};
    a.bodies = {frame, coupler};
    a.joins = {{Join::Distance, {frame[0], coupler[0]}}, {Join::Distance, {coupler[1], frame[1]}}};
    return a;
}

/** Four hinges with parallel axes in one plane, a parallelogram that is folded: it opens in two ways. */
Assembly folded() {
    return hingeRing("folded", {{0, 0, 0}, {0.3, 0, 0}, {0.5, 0, 0}, {0.2, 0, 0}},
                     {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}}, 0);
}

/** Three bodies between two anchors, on one line. */
Assembly taut() {
    Assembly a;
    a.name = "taut";
    for (double x : {0.0, 0.2, 0.4, 0.6})
        a.atom({x, 0, 0}, x == 0.0 || x == 0.6 ? 0 : 12);
    for (int i = 0; i < 3; i++) {
        const Real3 middle{0.1 + 0.2 * i, 0, 0};
        a.bodies.push_back({i, i + 1, a.atom(middle + Real3{0, 0.1, 0}), a.atom(middle + Real3{0, 0.02, 0.1})});
    }
    return a;
}

TEST(JoinedFreedom, ThatDiffersNearbyIsRefusedByName) {
    for (const Assembly& assembly : {stretched(), folded(), taut()}) {
        SCOPED_TRACE(assembly.name);
        const JoinedSystem system({assembly});
        for (Solver solver : {Solver::Automatic, Solver::Iterative}) {
            Simulation s(system.toOpenMM(), makeIntegrator({"Reference", solver, "Rattle"}, 0.001), "Reference");
            s.context->setPositions(toVectors(system.start));
            s.context->setVelocities(system.velocities(1, 3));
            const ConstraintProblem problem = problemThrownBy([&] { s.integrator->step(1); });
            EXPECT_EQ(problem.kind, "singular") << problem.text();
            EXPECT_FALSE(problem.particles.empty());
            expectAll(problem.text(), {assembly.joins.empty() ? "rigid bod" : "distance", "singular"});
            EXPECT_EQ(distance(s.positions(), toVectors(system.start)), 0);
        }
    }
}

TEST(JoinedFreedom, NearAPlaceWhereItDiffersIsTaken) {
    // A little open: the rank is that of any other open parallelogram.
    const double opened = 0.1;
    const Assembly parallelogram = hingeRing("open",
                                             {{0, 0, 0},
                                              {0.3, 0, 0},
                                              {0.3 + 0.2 * std::cos(opened), 0.2 * std::sin(opened), 0},
                                              {0.2 * std::cos(opened), 0.2 * std::sin(opened), 0}},
                                             {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}}, 7);
    const JoinedSystem system({parallelogram});
    Simulation s = system.simulate(onReference, 0.001, Held::AsBodies, 1e-13);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 7);
    s.integrator->step(10);
    EXPECT_LT(system.deformation(s.positions()), 1e-12);
}

} // namespace
