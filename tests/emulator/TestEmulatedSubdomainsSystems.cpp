// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Large clusters in overlapping subdomains on the emulator: a table of systems, each with the subdomain size that cuts
// it, and what they have to agree with: Reference, and the path of one thread block.
#include "EmulatedSubdomains.h"
#include <array>
#include <functional>
#include <set>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

// ---- corrections
// ---------------------------------------------------------------------------------------------------------

/** Hydrogens of 4 Da. */
TestSystem heavy(TestSystem system) {
    for (double& mass : system.masses)
        mass = mass < 2 ? 4 : mass;
    return system;
}

/** Corrections that subdomains take to 1e-5, 1e-8 and 1e-12 with as many as they need, as tests/TestSubdomains.cpp
 * says. */
struct Converging {
    std::string name;
    std::function<TestSystem()> make;
    std::array<int, 3> corrections;
    double stepSize = 0.002;
};

std::vector<Converging> converging() {
    const auto chain = [](int degrees, std::array<int, 3> corrections) {
        return Converging{"chain at " + std::to_string(degrees), [=] { return bentChain(200, degrees); }, corrections};
    };
    return {
        {"protein", [] { return protein(40); }, {1, 2, 3}},
        {"heavy hydrogens, 4 fs", [] { return heavy(protein(40)); }, {1, 3, 3}, 0.004},
        {"bonds and angles", [] { return bentChain(120, 111, true); }, {2, 2, 3}},
        {"mesh", [] { return mesh(12); }, {3, 7, 12}},
        chain(111, {1, 2, 2}),
        chain(160, {2, 3, 5}),
        chain(170, {3, 6, 10}),
        chain(176, {7, 15, 26}),
        chain(180, {23, 54, 80}),
    };
}

/** A platform, and the number of the tolerance. */
class EmulatedSubdomainsConverge : public EmulatedSubdomainsOf,
                                   public testing::WithParamInterface<std::tuple<const char*, int>> {};

TEST_P(EmulatedSubdomainsConverge, InAsManyCorrectionsAsOnTheHost) {
    const auto [platform, t] = GetParam();
    const double tolerance = std::array{1e-5, 1e-8, 1e-12}[t];
    const auto ended = [tolerance](const Converging& one, const std::string& on) {
        Simulation s = simulationOf(toState(one.make(), false), on, one.stepSize, tolerance);
        s.integrator->step(2);
        return std::pair(s.positions(), s.integrator->getSolverSummary());
    };
    for (const Converging& one : converging()) {
        SCOPED_TRACE(one.name);
        const auto [expected, onReference] = ended(one, "Reference");
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "50");
        // With eight corrections at most, a cluster that needs more is solved as a whole.
        for (const char* corrections : {"8", "80"}) {
            const Variable most("OPENMM_CONSTRAINTS_CORRECTIONS", corrections);
            const auto [positions, summary] = ended(one, platform);
            EXPECT_NE(summary.solver.find("1 in overlapping subdomains"), std::string::npos) << summary.solver;
            EXPECT_LE(summary.maxError, tolerance);
            EXPECT_LE(summary.iterations,
                      one.corrections[t] > std::stoi(corrections) ? onReference.iterations : one.corrections[t]);
            // Errors of bonds add up along a straight chain.
            EXPECT_LT(distance(positions, expected), 5 * tolerance + 20 * precisionOf(platform).position);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, EmulatedSubdomainsConverge,
                         testing::Combine(testing::Values("CUDADouble", "CUDAMixed"), testing::Values(0, 1, 2)),
                         [](const auto& info) {
                             return std::get<0>(info.param) + std::to_string(std::get<1>(info.param));
                         });

// ---- every kind of constraint
// ----------------------------------------------------------------------------------------------

/** A protein whose residues have, in turn, an angle and a distance between hydrogens, a dihedral, an expression, a
 * distance of centroids, and a rigid body that has their last hydrogen. The last two residues have an expression of
 * lengths that bonds hold, in two subdomains of the cluster: it depends on them.
 *  @param rate  of distances, nm/ps, and a fifth of that of angles, rad/ps */
InitialState proteinWithEveryKind(int residues, double rate) {
    const TestSystem system = protein(residues);
    InitialState start = toState(system);
    Random random(11);
    const Vectors& x = start.positions;
    auto* force = new ConstraintForce();
    auto* custom = new CustomConstraintForce(3, bentPath);
    custom->addPerConstraintParameter("q");
    auto* dependent = new CustomConstraintForce(4, "distance(p1, p2) + distance(p3, p4) - q");
    dependent->addPerConstraintParameter("q");
    const auto cosine = [](const Vec3& a, const Vec3& b) { return a.dot(b) / (length(a) * length(b)); };
    const auto centroid = [&](const std::vector<int>& group) { return centroidOf(*start.system, x, group); };
    for (int k = 0; k < residues; k++) {
        // carbon, carbon of the branch, a hydrogen of each, oxygen and its hydrogen, nitrogen
        const int C = 1 + 7 * k, B = C + 1, H = C + 2, HB = C + 3, O = C + 4, HO = C + 5, N = C + 6;
        if (k % 5 == 0) {
            force->addAngle(H, C, B, std::acos(cosine(x[H] - x[C], x[B] - x[C])), 5 * rate);
            force->addDistance(H, HB, length(x[H] - x[HB]), rate);
        } else if (k % 5 == 1) {
            const Vec3 a = x[C] - x[N], b = x[B] - x[C], c = x[O] - x[B], m = a.cross(b), n = b.cross(c);
            force->addDihedral(N, C, B, O, std::atan2(length(b) * a.dot(n), m.dot(n)), 5 * rate);
        } else if (k % 5 == 2)
            custom->addConstraint({HB, HO, O}, {valueOfBentPath(x[HB], x[HO], x[O])});
        else if (k % 5 == 3)
            force->addCentroidDistance({C, H}, {O, HO, HB}, length(centroid({C, H}) - centroid({O, HO, HB})), rate);
        else {
            std::vector<int> body{HO};
            Vectors shape{x[HO]};
            for (int i = 0; i < 3; i++) {
                const Real3 d = random.inCube(0.1);
                body.push_back(start.system->addParticle(6 + i));
                shape.push_back(x[HO] + Vec3(d.x, d.y, d.z));
            }
            force->addRigidBody(body, shape);
            for (int i = 1; i < 4; i++) {
                start.positions.push_back(shape[i]);
                start.velocities.emplace_back();
            }
        }
    }
    dependent->addConstraint({1, 2, 1 + 7 * (residues - 1), 2 + 7 * (residues - 1)},
                             {length(x[1] - x[2]) + length(x[1 + 7 * (residues - 1)] - x[2 + 7 * (residues - 1)])});
    for (Force* each : std::vector<Force*>{force, custom, dependent})
        start.system->addForce(each);
    return start;
}

class EmulatedSubdomainsOfEveryKind : public Emulated {
protected:
    const Variable multiprocessors{"FAKECUDA_MULTIPROCESSORS", "32"};
};

TEST_P(EmulatedSubdomainsOfEveryKind, ComputeWhatReferenceDoes) {
    const double rate = std::get<2>(GetParam()) == "RattleNoseHoover" ? 0 : 3;
    const auto start = [rate] { return proteinWithEveryKind(20, rate); };
    ConstraintTests::Setup onReference = GetParam();
    std::get<0>(onReference) = "Reference";
    const Readings expected = after(3, start(), onReference);
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40"), factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
    const Readings found = [&] {
        const Variable onlySubdomains("OPENMM_CONSTRAINTS_ONLY_PARTS", "1");
        return after(3, start(), GetParam());
    }();
    EXPECT_NE(found.summary.solver.find("1 in overlapping subdomains"), std::string::npos) << found.summary.solver;
    expectClose(found, expected, std::get<0>(GetParam()));
    const auto withoutHalo = [&] { // rows of others around a subdomain act on its own particles
        const Variable hops("OPENMM_CONSTRAINTS_HOPS", "0"), corrections("OPENMM_CONSTRAINTS_CORRECTIONS", "80");
        return after(3, start(), GetParam());
    };
    expectClose(withoutHalo(), expected, std::get<0>(GetParam()));
    const auto ofAWhole = [&] {
        const Variable corrections("OPENMM_CONSTRAINTS_CORRECTIONS", "1");
        return after(3, start(), GetParam());
    };
    const Readings whole = ofAWhole();
    expectClose(whole, expected, std::get<0>(GetParam()));
    const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
    expectAlike(after(3, start(), GetParam()), found, std::get<0>(GetParam()));
    expectAlike(ofAWhole(), whole, std::get<0>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedSubdomainsOfEveryKind, testing::ValuesIn(setups({direct}, true)),
                         [](const auto& info) { return nameOf(info.param); });

/** Nothing set: subdomains of the size that they have for a user. */
TEST_F(EmulatedSubdomainsOf, ALargeProteinComputeWhatReferenceDoes) {
    for (const char* platform : {"CUDADouble", "CUDASingle"}) {
        const auto run = [&](const std::string& on) {
            return after(3, proteinWithEveryKind(60, 3), {on, direct, "Rattle"});
        };
        const Readings found = run(platform);
        EXPECT_NE(found.summary.solver.find("1 in overlapping subdomains"), std::string::npos) << found.summary.solver;
        expectClose(found, run("Reference"), platform);
    }
}

/** The second solve of a launch goes on with particles that subdomains have in shared memory, not with what others have
 * written. */
TEST_F(EmulatedSubdomainsOf, TwoSolvesInALaunchComputeWhatTwoLaunchesDo) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40"), factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
    for (const char* integrator : {"RattleLangevin", "GeodesicLangevin"}) {
        const ConstraintTests::Setup setup{"CUDAMixed", direct, integrator};
        const Readings one = after(3, toState(protein(30)), setup);
        EXPECT_NE(one.summary.solver.find("1 in overlapping subdomains"), std::string::npos) << one.summary.solver;
        const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
        expectAlike(after(3, toState(protein(30)), setup), one, "CUDAMixed");
    }
}

/** Where only the first of them is left to the whole cluster, the second reports nothing in its place. */
TEST_F(EmulatedSubdomainsOf, AStepOfWhichOnlyTheFirstSolveIsLeftIsTakenAgain) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40"), corrections("OPENMM_CONSTRAINTS_CORRECTIONS", "1");
    const double tolerance = 1e-6;
    const auto positions = [&](const std::string& platform) {
        const Simulation s = simulationOf(toState(protein(30)), platform, 0.002, tolerance, "GeodesicLangevin");
        auto& integrator = dynamic_cast<RattleLangevinIntegrator&>(*s.integrator);
        integrator.setFriction(1000);       // velocities from the bath need a second correction,
        integrator.setNumGeodesicSteps(20); // a twentieth of a drift does not
        s.integrator->step(1);
        return s.context->getState(State::Positions).getPositions();
    };
    EXPECT_LT(distance(positions("CUDAMixed"), positions("Reference")), 60 * tolerance);
}

/** One subdomain in shared memory, with levels of more elements than its block has threads. */
TEST_F(EmulatedSubdomainsOf, AMeshComputesWhatReferenceDoes) {
    for (const char* platform : {"CUDAMixed", "CUDASingle"}) {
        const auto run = [](const std::string& on) { return after(3, toState(mesh(6)), {on, direct, "Rattle"}); };
        expectClose(run(platform), run("Reference"), platform);
    }
}

// ---- several clusters -------------------------------------------------------------------------------------------

/** Bent chains, and a straight one, which is solved as a whole. */
InitialState chains() {
    return sideBySide({bentChain(200, 111), longChain(130, 1e4), bentChain(170, 130), protein(30), bentChain(90, 111),
                       bentChain(190, 150)});
}

/** More chains than there are blocks: some are side by side in one. */
TEST_F(EmulatedSubdomainsOf, ClustersSideBySideInABlockComputeWhatReferenceDoes) {
    const Variable few("FAKECUDA_MULTIPROCESSORS", "8"); // the protein has four subdomains
    const Variable factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
    for (const char* platform : {"CUDAMixed", "CUDASingle", "CUDADouble"}) {
        const ConstraintTests::Setup setup{platform, direct, "Rattle"};
        const Readings found = after(3, lipids(), setup);
        EXPECT_NE(found.summary.solver.find("1 in overlapping subdomains"), std::string::npos) << found.summary.solver;
        expectClose(found, after(3, lipids(), {"Reference", direct, "Rattle"}), platform);
        const auto underConditions = [&](unsigned int order) {
            setConditions(order, 0xff);
            return after(3, lipids(), setup);
        };
        for (unsigned int order : {0, 7})
            expectSame(underConditions(order), found);
        setConditions(0, 0);
        const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
        expectAlike(after(3, lipids(), setup), found, platform);
    }
}

/** Blocks that wait for each other take clusters in turn, be they with words of each other or at barriers. Several are
 *  on a multiprocessor, and smaller than if each has one. */
TEST_F(EmulatedSubdomainsOf, ManyClustersTakeTurnsOnFewMultiprocessors) {
    struct Case {
        const char *integrator, *ownRows, *multiprocessors; // the largest cluster has so many subdomains
    };
    for (const Case& one : {Case{"Rattle", "40", "6"}, Case{"ConstraintForce", "40", "6"}, Case{"Rattle", "80", "3"}}) {
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", one.ownRows);
        const ConstraintTests::Setup setup{"CUDAMixed", direct, one.integrator};
        const Readings together = after(3, chains(), setup);
        EXPECT_NE(together.summary.solver.find("6 in overlapping subdomains"), std::string::npos)
            << together.summary.solver;
        const Variable few("FAKECUDA_MULTIPROCESSORS", one.multiprocessors);
        const auto inTurns = [&](unsigned int order) {
            setConditions(order, 0xff);
            return after(3, chains(), setup);
        };
        for (unsigned int order : {0, 7})
            expectAlike(inTurns(order), together, "CUDAMixed");
        setConditions(0, 0);
    }
}

// ---- states that are set, moved or resumed
// ---------------------------------------------------------------------------------

/** An anchor that the user moves a little before each step. */
TEST_F(EmulatedSubdomainsOf, AChainFollowsAnAnchorThatIsMoved) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "30");
    TestSystem system = bentChain(90, 111);
    system.masses[45] = 0;
    InitialState start = toState(system);
    start.velocities[45] = Vec3();
    const auto run = [&](const std::string& platform) {
        InitialState copy = toState(system);
        copy.velocities[45] = Vec3();
        Simulation s = simulationOf(std::move(copy), platform, 0.002, 1e-9);
        for (int step = 0; step < 4; step++) {
            Vectors x = s.positions();
            x[45] += Vec3(0.002, -0.001, 0.001);
            s.context->setPositions(x);
            s.integrator->step(2);
        }
        return s.positions();
    };
    EXPECT_LT(distance(run("CUDADouble"), run("Reference")), 1e-8);
}

/** Across the boundary of a triclinic box; a wider box then leaves bonds that cross it off by up to half their length,
 *  which the device projects. */
TEST_F(EmulatedSubdomainsOf, AMoleculeAcrossTheBoundaryIsProjectedOnTheDevice) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "50");
    const auto run = [&](const std::string& platform, double wider, bool launches) {
        const Variable many("OPENMM_CONSTRAINTS_LAUNCHES", launches ? "1" : "0");
        InitialState start = toState(protein(30), false);
        const Vec3 a(6, 0, 0), b(1, 6, 0), c(-1, 0.5, 6);
        start.system->setDefaultPeriodicBoxVectors(a, b, c);
        dynamic_cast<ConstraintForce&>(start.system->getForce(0)).setUsesPeriodicBoundaryConditions(true);
        for (std::size_t i = 0; i < start.positions.size(); i++) {
            Vec3& x = start.positions[i];
            x -= c * std::floor(x[2] / 6);
            x -= b * std::floor(x[1] / 6);
            x -= a * std::floor(x[0] / 6);
        }
        Simulation s = simulationOf(std::move(start), platform, 0.002, 1e-9);
        s.integrator->step(3);
        s.context->setPeriodicBoxVectors(a + Vec3(wider, 0, 0), b, c);
        s.integrator->step(3);
        EXPECT_LE(s.integrator->getSolverSummary().maxError, 1e-9);
        return s.positions();
    };
    for (double wider : {0.0, 0.003, 0.06}) {
        const Vectors expected = run("Reference", wider, false), found = run("CUDADouble", wider, false);
        EXPECT_LT(distance(found, expected), 1e-8) << wider;
        EXPECT_LE(distance(run("CUDADouble", wider, true), found), differenceOfPrograms("CUDADouble", 1e-9)) << wider;
    }
}

TEST_F(EmulatedSubdomainsOf, CheckpointsContextsAndSolversDoNotDisturbEachOther) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40");
    Simulation s = simulationOf(toState(protein(20)), "CUDAMixed", 0.002, 1e-6);
    s.integrator->step(3);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    s.integrator->step(3);
    const Vectors expected = s.positions(), velocities = s.velocities();
    s.context->loadCheckpoint(checkpoint);
    Simulation other = simulationOf(toState(mesh(8)), "CUDAMixed", 0.002, 1e-8); // steps in turn
    for (int step = 0; step < 3; step++) {
        s.integrator->step(1);
        other.integrator->step(1);
    }
    EXPECT_EQ(distance(s.positions(), expected), 0);
    EXPECT_EQ(distance(s.velocities(), velocities), 0);
    Simulation alone = simulationOf(toState(mesh(8)), "CUDAMixed", 0.002, 1e-8);
    alone.integrator->step(3);
    EXPECT_EQ(distance(other.positions(), alone.positions()), 0);
    expectInSubdomains(s);
    s.integrator->setSolver(ConstraintIntegrator::Iterative);
    s.context->reinitialize(true);
    s.integrator->step(1);
    EXPECT_EQ(s.integrator->getSolverSummary().solver.find("in overlapping subdomains"), std::string::npos);
    s.integrator->setSolver(direct);
    s.context->reinitialize(true);
    s.integrator->step(1);
    expectInSubdomains(s);
}

/** Nothing is in shared memory, or factors of the smaller subdomains only, or those of all subdomains, but not of the
 * whole. */
TEST_F(EmulatedSubdomainsOf, FactorsThatDoNotFitIntoSharedMemoryAreInGlobalMemory) {
    const auto run = [](const std::string& platform) {
        InitialState start = toState(protein(30), false);
        const TestSystem small = bentChain(17, 111); // which is one subdomain
        auto& force = dynamic_cast<ConstraintForce&>(start.system->getForce(0));
        const int first = start.system->getNumParticles();
        for (const auto& bond : small.bonds)
            force.addDistance(first + bond.i, first + bond.j, bond.length);
        for (int i = 0; i < small.numParticles(); i++) {
            start.system->addParticle(small.masses[i]);
            start.positions.push_back(toVectors(small.positions)[i] + Vec3(0, 0, 5));
            start.velocities.push_back(toVectors(thermalVelocities(small, 2))[i]);
        }
        Simulation s = simulationOf(std::move(start), platform, 0.002, 1e-6);
        s.integrator->step(2);
        return std::pair(s.positions(), s.integrator->getSolverSummary().solver);
    };
    const Vectors expected = run("Reference").first;
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "50");
    std::set<std::string> solvers;
    for (const char* bytes : {"0", "500", "1500", "3000"})
        for (const char* corrections : {"1", "8"})
            for (const char* platform : {"CUDAMixed", "CUDASingle"}) {
                SCOPED_TRACE(std::string(bytes) + " bytes, " + corrections + " corrections, " + platform);
                const Variable memory("OPENMM_CONSTRAINTS_SHARED_MEMORY", bytes),
                    most("OPENMM_CONSTRAINTS_CORRECTIONS", corrections);
                const auto [positions, solver] = run(platform);
                EXPECT_LT(distance(positions, expected), 1e-5);
                solvers.insert(solver);
            }
    EXPECT_EQ(solvers.size(), 4u) << *solvers.begin();
}

/** The smallest cluster that a block serves, and those on both sides of the size from which there are several
 * subdomains. */
TEST_F(EmulatedSubdomainsOf, ClustersAreCutFrom161RowsOn) {
    for (int rows : {9, 160, 161}) {
        Simulation s = simulationOf(toState(bentChain(rows, 111)), "CUDADouble", 0.002, 1e-10),
                   onReference = simulationOf(toState(bentChain(rows, 111)), "Reference", 0.002, 1e-10);
        s.integrator->step(3);
        onReference.integrator->step(3);
        EXPECT_LT(distance(s.positions(), onReference.positions()), 1e-9) << rows;
        const std::string solver = s.integrator->getSolverSummary().solver;
        EXPECT_EQ(solver.find("in overlapping subdomains") != std::string::npos, rows == 161) << solver;
    }
    Simulation none = simulationOf(toState(bentChain(0, 111)), "CUDADouble", 0.002, 1e-10);
    none.integrator->step(1);
    EXPECT_EQ(none.integrator->getSolverSummary().clusters, 0);
}

// ---- momenta
// ---------------------------------------------------------------------------------------------------------------

/** How far momenta are from what they were, relative to the sum of their absolute values. */
struct Drift {
    double linear = 0, angular = 0, force = 0; ///< force: the largest sum of constraint forces in any step
};

Drift driftOf(const std::string& platform, int steps, double tolerance) {
    const TestSystem system = protein(30);
    Simulation s = simulationOf(toState(system), platform, 0.002, tolerance);
    s.integrator->step(1);
    Vec3 first[2];
    Drift drift;
    for (int step = 0; step <= steps; step++) {
        const Vectors x = s.positions(), v = s.velocities(), f = s.integrator->getConstraintForces();
        Vec3 momentum, angular, sum;
        double sizes[3] = {0, 0, 0};
        for (std::size_t i = 0; i < x.size(); i++) {
            const Vec3 p = v[i] * system.masses[i], l = x[i].cross(p);
            momentum += p;
            angular += l;
            sum += f[i];
            sizes[0] += length(p);
            sizes[1] += length(l);
            sizes[2] += length(f[i]);
        }
        if (step == 0) {
            first[0] = momentum;
            first[1] = angular;
        }
        drift.linear = length(momentum - first[0]) / sizes[0];
        drift.angular = length(angular - first[1]) / sizes[1];
        drift.force = std::max(drift.force, length(sum) / sizes[2]);
        s.integrator->step(1);
    }
    return drift;
}

TEST_F(EmulatedSubdomainsOf, MomentaDriftNoFurtherThanInOneBlock) {
    const int steps = 80;
    for (const char* platform : {"CUDADouble", "CUDAMixed"})
        for (double tolerance : {1e-5, 1e-10}) {
            const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "50");
            const Drift found = driftOf(platform, steps, tolerance);
            const Variable whole("OPENMM_CONSTRAINTS_PARTS", "0");
            const Drift expected = driftOf(platform, steps, tolerance);
            SCOPED_TRACE(platform);
            EXPECT_LT(found.linear, 2e-15);
            EXPECT_LT(found.force, 1e-16);
            EXPECT_LT(found.angular, 3 * expected.angular);
        }
}

} // namespace
