// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The direct solver of large clusters on devices: a thread block each, with the factor in shared memory and in single
// precision where it fits, else in global memory. Both do what Reference does.
#include "ConstraintTables.h"
#include "support/LargeSystems.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Variable.h"
#include <cmath>
#include <thread>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A long chain among enough short ones that these have smaller blocks, in a launch of their own. */
TestSystem chainAmongMany() {
    Builder b("chains");
    for (int n = 0; n <= minOwnRange; n++) {
        int last = b.particle(12, {0.5 * (n % 7), 0.5 * (n / 7 % 7), 0.5 * (n / 49)});
        for (int k = 0; k < (n == 0 ? 300 : 10); k++)
            last = b.grow(last, 12);
    }
    return b.build();
}

constexpr double tolerance = 1e-9;

/** @param speed  nm/ps, the largest of a particle along an axis */
Vectors randomVelocities(const TestSystem& system, double speed) {
    Vectors velocities;
    Random random(3);
    for (int i = 0; i < system.numParticles(); i++) {
        const Real3 v = random.inCube(speed);
        velocities.push_back(Vec3(v.x, v.y, v.z));
    }
    return velocities;
}

Simulation start(const TestSystem& system, const Setup& setup, double speed) {
    Simulation s(toOpenMM(system, Declared::InForce), makeIntegrator(setup, 0.001, tolerance), std::get<0>(setup));
    s.context->setPositions(toVectors(system.positions));
    s.context->setVelocities(randomVelocities(system, speed));
    return s;
}

const Setup onReference{"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"};

/** What a device makes of some steps. */
struct Result {
    Vectors positions, velocities;
    std::vector<double> multipliers;
    SolverSummary summary;
};
Result resultOf(const Simulation& s) {
    return {s.positions(), s.velocities(), s.integrator->getMultipliers(), s.integrator->getSolverSummary()};
}
Result after(int steps, const TestSystem& system, const Setup& setup, double speed = 0.5) {
    Simulation s = start(system, setup, speed);
    s.integrator->step(steps);
    return resultOf(s);
}

/** Large clusters in one piece, not in overlapping subdomains. */
struct InOnePiece {
    const Variable subdomains{"OPENMM_CONSTRAINTS_PARTS", "0"};
};

/** @param limit  bytes of shared memory for a factor, or all */
Result inBlocks(const TestSystem& system, const Setup& setup, const std::string& limit = "1000000000", int steps = 10,
                double speed = 0.5) {
    const Variable blocks("OPENMM_CONSTRAINTS_BLOCKS", "1"), memory("OPENMM_CONSTRAINTS_SHARED_MEMORY", limit);
    return after(steps, system, setup, speed);
}

bool isShared(const Result& outcome) {
    return outcome.summary.solver.find("shared memory") != std::string::npos;
}

/** Bytes of the factor and right-hand side of a system that is one cluster, in single precision. */
int factorSize(const TestSystem& system) {
    Simulation s = start(system, onReference, 0);
    const ClusterInfo info = s.integrator->getClusters(*s.system)[0];
    return (int) (2 * sizeof(float)) * (info.constraints + (int) info.factorEntries);
}

class SharedFactors : public testing::TestWithParam<Setup> {
protected:
    const InOnePiece inOnePiece;

    std::string platform() const {
        return std::get<0>(GetParam());
    }
    ConstraintTests::Setup onHost() const {
        return {"Reference", std::get<1>(GetParam()), std::get<2>(GetParam())};
    }
    /** Ten steps of 0.001 ps apart: errors of positions up to the tolerance of each step, and rounding. */
    void expectSame(const Result& a, const Result& b, const std::string& what) const {
        const Precision precision = precisionOf(platform());
        const double solved = 0.15 * std::max(tolerance, precision.constraint) + precision.position;
        EXPECT_LT(distance(a.positions, b.positions), 20 * solved) << what;
        EXPECT_LT(distance(a.velocities, b.velocities), 20 * (solved / 0.001 + precision.velocity)) << what;
        if (std::get<2>(GetParam()) != "ConstraintForce") { // which lets constraints drift
            EXPECT_LT(b.summary.maxError, attainable(platform(), tolerance, 0.15)) << what;
        }
    }
};

} // namespace

TEST_P(SharedFactors, AgreeWithReference) {
    for (const TestSystem& system : {longChain(300), protein(45), mesh(11)}) {
        const Result expected = after(10, system, onHost());
        EXPECT_GT(distance(expected.positions, toVectors(system.positions)), 1e-3);
        const Result shared = inBlocks(system, GetParam()), global = inBlocks(system, GetParam(), "0");
        EXPECT_TRUE(isShared(shared));
        EXPECT_FALSE(isShared(global));
        expectSame(expected, shared, system.name + ", shared");
        expectSame(expected, global, system.name + ", global");
        // A correction gains five or six digits; what is solved for accelerations has twelve.
        EXPECT_LE(shared.summary.iterations, expected.summary.iterations + 2);
        EXPECT_LE(global.summary.iterations, expected.summary.iterations + 1);
    }
}

TEST_P(SharedFactors, RepeatBitForBit) {
    for (const TestSystem& system : {protein(45), mesh(11)}) {
        const Result first = inBlocks(system, GetParam()), second = inBlocks(system, GetParam());
        EXPECT_EQ(distance(first.positions, second.positions), 0);
        EXPECT_EQ(distance(first.velocities, second.velocities), 0);
        EXPECT_EQ(first.multipliers, second.multipliers);
    }
}

TEST_P(SharedFactors, EndWhereMemoryEnds) {
    const TestSystem system = protein(45);
    const int size = factorSize(system);
    const Result below = inBlocks(system, GetParam(), std::to_string(size)),
                 above = inBlocks(system, GetParam(), std::to_string(size - 1));
    EXPECT_TRUE(isShared(below));
    EXPECT_FALSE(isShared(above));
    expectSame(below, above, "either side of the limit");
}

TEST_P(SharedFactors, ServeClustersInBlocksOfSeveralSizes) {
    const TestSystem system = chainAmongMany();
    const Result expected = after(5, system, onHost()), found = inBlocks(system, GetParam(), "1000000000", 5);
    EXPECT_NE(found.summary.solver.find(std::to_string(minOwnRange + 1) + " in shared memory"), std::string::npos)
        << found.summary.solver;
    expectSame(expected, found, "each in its range");
}

/** More rows than a block has threads, in the larger blocks that such clusters get. */
TEST_P(SharedFactors, ServeManyRows) {
    const TestSystem system = longChain(1100);
    const Result shared = inBlocks(system, GetParam(), "1000000000", 3);
    EXPECT_TRUE(isShared(shared));
    expectSame(after(3, system, onHost()), shared, "1,100 rows");
}

/** Text for any kind of constraint, with slots and gradients as they come. */
TEST_P(SharedFactors, HoldAnglesToo) {
    const TestSystem system = longChain(40);
    const auto run = [&](const ConstraintTests::Setup& setup) {
        auto made = toOpenMM(system, Declared::InForce);
        auto& force = dynamic_cast<ConstraintForce&>(made->getForce(0));
        for (int i = 0; i + 2 < system.numParticles(); i += 3) {
            const Real3 a = system.positions[i] - system.positions[i + 1],
                        b = system.positions[i + 2] - system.positions[i + 1];
            force.addAngle(i, i + 1, i + 2, std::acos(dot(a, b) / std::sqrt(dot(a, a) * dot(b, b))));
        }
        Simulation s(std::move(made), makeIntegrator(setup, 0.001, tolerance), std::get<0>(setup));
        s.context->setPositions(toVectors(system.positions));
        s.context->setVelocities(randomVelocities(system, 0.5));
        s.integrator->step(5);
        return resultOf(s);
    };
    const Variable blocks("OPENMM_CONSTRAINTS_BLOCKS", "1");
    const Result shared = run(GetParam());
    EXPECT_TRUE(isShared(shared));
    expectSame(run(onHost()), shared, "angles");
}

/** One launch serves clusters whose factor fits and others. */
TEST_P(SharedFactors, ServeBesideGlobalOnes) {
    const TestSystem small = longChain(40), large = protein(20);
    TestSystem both = small;
    for (int i = 0; i < large.numParticles(); i++) {
        both.masses.push_back(large.masses[i]);
        both.positions.push_back(large.positions[i] + Real3{0, 3, 0});
    }
    for (const auto& bond : large.bonds)
        both.bonds.push_back({small.numParticles() + bond.i, small.numParticles() + bond.j, bond.length});
    const Result mixed = inBlocks(both, GetParam(), std::to_string(factorSize(large) - 1));
    EXPECT_NE(mixed.summary.solver.find(", 1 in shared memory"), std::string::npos) << mixed.summary.solver;
    expectSame(inBlocks(both, GetParam(), "0"), mixed, "both");
}

/** Devices in some of the precisions: OpenCL, and CUDA where it is tested. */
static std::vector<std::string> devices(std::initializer_list<const char*> precisions) {
    std::vector<std::string> names;
    for (const std::string& name : platformsUnderTest())
        for (const char* precision : precisions)
            if (isDevice(name) && name.find(precision) != std::string::npos)
                names.push_back(name);
    return names;
}

/** Positions and velocities in every precision; accelerations, which are solved to twelve digits, in one. */
static std::vector<Setup> directSetups() {
    std::vector<Setup> setups;
    for (const std::string& name : devices({"Single", "Mixed", "Double"}))
        setups.emplace_back(name, ConstraintIntegrator::MatrixInversion, "Rattle");
    for (const std::string& name : devices({"Mixed"}))
        setups.emplace_back(name, ConstraintIntegrator::MatrixInversion, "ConstraintForce");
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, SharedFactors, testing::ValuesIn(directSetups()),
                         [](const auto& info) { return nameOf(info.param); });

namespace {

class IllConditioned : public testing::TestWithParam<std::string> {
protected:
    const InOnePiece inOnePiece;

    ConstraintTests::Setup setup() const {
        return {GetParam(), ConstraintIntegrator::MatrixInversion, "Rattle"};
    }
};

/** A long straight chain, with a condition number of 10^7: corrections in single precision soon gain little. */
TEST_P(IllConditioned, NeedOneCorrectionMore) {
    const TestSystem system = longChain(4000, 1e4);
    const Result global = inBlocks(system, setup(), "0", 3, 1e-2),
                 shared = inBlocks(system, setup(), "1000000000", 3, 1e-2);
    EXPECT_TRUE(isShared(shared));
    EXPECT_LT(shared.summary.maxError, tolerance);
    EXPECT_LE(shared.summary.iterations, global.summary.iterations + 1);
}

/** Two bonds of a light particle between heavy ones, nearly in a line: a pivot vanishes in single precision, and the
 *  factor is made in the Context's. */
TEST_P(IllConditioned, HavePivotsThatVanishInSinglePrecision) {
    Builder b("light");
    int last = b.particle(1e5, {0, 0, 0});
    for (int k = 0; k < 6; k++)
        last = b.grow(b.grow(last, 1e-3, 3e3), 1e5, 3e3);
    const TestSystem system = b.build();
    const Result global = inBlocks(system, setup(), "0", 3, 1e-6),
                 shared = inBlocks(system, setup(), "1000000000", 3, 1e-6);
    EXPECT_TRUE(isShared(shared));
    EXPECT_LT(shared.summary.maxError, attainable(GetParam(), tolerance));
    EXPECT_LE(shared.summary.iterations, global.summary.iterations + 1);
}

INSTANTIATE_TEST_SUITE_P(Platforms, IllConditioned, testing::ValuesIn(devices({"Mixed", "Double"})),
                         [](const auto& info) { return info.param; });

} // namespace

namespace {

std::string messageOf(const TestSystem& system, const std::string& platform,
                      Solver solver = ConstraintIntegrator::MatrixInversion) {
    try {
        start(system, {platform, solver, "Rattle"}, 0);
    } catch (const OpenMMException& error) {
        return error.what();
    }
    return "";
}

class DeviceMemory : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(DeviceMemory, IsAskedForAtContextCreation) {
    const TestSystem system = longChain(1000);
    std::vector<std::string> bytes;
    std::string message;
    {
        const Variable memory("OPENMM_CONSTRAINTS_DEVICE_MEMORY", "100000");
        message = messageOf(system, GetParam());
        bytes = matchesOf(message, "need up to (\\d+) bytes");
        ASSERT_EQ(bytes.size(), 1u) << message;
        EXPECT_NE(message.find("has 100000 bytes"), std::string::npos) << message;
        EXPECT_NE(message.find("1000 coupled"), std::string::npos) << message;
        EXPECT_NE(message.find("setSolver(Iterative)"), std::string::npos) << message;
        const std::string ofIterative = messageOf(system, GetParam(), ConstraintIntegrator::Iterative);
        EXPECT_NE(ofIterative.find("Remedy"), std::string::npos);
        EXPECT_EQ(ofIterative.find("setSolver(Iterative)"), std::string::npos) << "is in use: " << ofIterative;
    }
    const long long needed = std::stoll(bytes[0]);
    const Variable memory("OPENMM_CONSTRAINTS_DEVICE_MEMORY", std::to_string(needed - 1));
    EXPECT_NE(messageOf(system, GetParam()), "");
    const Variable enough("OPENMM_CONSTRAINTS_DEVICE_MEMORY", std::to_string(needed));
    EXPECT_EQ(messageOf(system, GetParam()), "");
}

TEST_P(DeviceMemory, MayBeSeveralSmallerArrays) {
    const TestSystem system = longChain(1000);
    const ConstraintTests::Setup setup{GetParam(), ConstraintIntegrator::MatrixInversion, "Rattle"};
    const auto go = [&] {
        Simulation s = start(system, setup, 0.5);
        s.integrator->step(3);
        return std::pair(s.positions(), s.integrator->getMultipliers());
    };
    const auto inOne = go();
    const Variable small("OPENMM_CONSTRAINTS_LARGEST_ARRAY", "70000"); // of some 500,000 bytes
    const auto inSeveral = go();
    EXPECT_EQ(distance(inOne.first, inSeveral.first), 0);
    EXPECT_EQ(inOne.second, inSeveral.second);
    const Variable tooSmall("OPENMM_CONSTRAINTS_LARGEST_ARRAY", "7000");
    EXPECT_NE(messageOf(system, GetParam()).find("may have 7000"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Platforms, DeviceMemory, testing::ValuesIn(devices({"Single", "Mixed", "Double"})),
                         [](const auto& info) { return info.param; });
