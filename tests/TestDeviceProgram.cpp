// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What a program for devices is put together from: its arrays and the memory that they need, the names of its kernels'
// arguments, and the markers in kernel texts.
#include "CollectConstraints.h"
#include "ConstraintProgram.h"
#include "DeviceMemory.h"
#include "TextMarkers.h"
#include "support/DeviceContext.h"
#include "support/Groups.h"
#include "support/LargeSystems.h"
#include "support/Messages.h"
#include "support/Mixture.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** How much more memory may be asked for than is taken in the end: small clusters may be of types of their own, and
 * what the host solves as a dense matrix has a sparse factor on devices. */
constexpr double largestExcess = 1.5;

struct NamedSet {
    std::string name;
    ConstraintSet set;
};

/** Clusters of every size and shape, many of each, with every kind of constraint, redundant and moving ones. */
std::vector<NamedSet> someSets() {
    std::vector<NamedSet> sets;
    for (const TestSystem& system : systemTable())
        sets.push_back({system.name,
                        collectConstraints(*toOpenMM(std::vector<TestSystem>(300, system), Declared::InForce), 1e-4)});
    for (const TestSystem& system : {protein(60), honeycomb(10)}) // of several subdomains
        sets.push_back({system.name, toConstraintSet(system)});
    for (const auto& [name, among] :
         {std::pair("groups", Among::Molecules), std::pair("groups of bodies", Among::ManyBodies)})
        sets.push_back({name, collectConstraints(*makeGroups(among, 40).system, 1e-4)});
    for (unsigned seed : {1, 2, 3})
        sets.push_back({"mixture " + std::to_string(seed), collectConstraints(*drawMixture(seed, false).system, 1e-4)});
    return sets;
}

/** The arrays that a bound gives, and those of the tables. */
struct Both {
    Both(const ConstraintSolver& solver, bool smallInRegisters, bool hasBlocks)
        : bound(ArraySizes(solver, smallInRegisters, hasBlocks)),
          real(ArraySizes(ConstraintTables(solver, smallInRegisters, threadGroups(hasBlocks)))) {
    }
    static ConstraintTables::ThreadGroups threadGroups(bool hasBlocks) {
        ConstraintTables::ThreadGroups available;
        available.hasBlocks = available.hasSubdomains = hasBlocks;
        return available;
    }
    DeviceArrays bound, real;
};

/** Of an OpenCL device, what a program asks. */
class TestDevice : public Device {
public:
    explicit TestDevice(OpenMM::ComputeContext& cc, std::size_t bytes = 1 << 30) : cc(cc), bytes(bytes) {
    }
    OpenMM::ComputeContext& context() override {
        return cc;
    }
    std::size_t sharedMemory() override {
        return 32768;
    }
    std::size_t memory() override {
        return bytes;
    }
    int largestBlock() override {
        return 512;
    }
    std::unique_ptr<DevicePoll> makePoll() override {
        return nullptr; // nobody reads failures here
    }
    OpenMM::ComputeProgram compile(const std::string& text, std::size_t, bool) override {
        return cc.compileProgram(text);
    }

private:
    OpenMM::ComputeContext& cc;
    std::size_t bytes;
};

/** Numbers of a factor that fills gigabytes. */
ArraySizes hugeSizes(double updates) {
    ArraySizes sizes(ConstraintSolver(toConstraintSet(findSystem("chain")), Method::Automatic), true, false);
    sizes.hasShortNumbers = false;
    sizes.updates = sizes.targets = updates;
    sizes.entries = updates / 2;
    return sizes;
}

class DeviceProgram : public testing::TestWithParam<std::string> {
protected:
    DeviceContext device{propertiesOf(GetParam()).at("Precision")};
};

} // namespace

TEST(DeviceArrays, OfTheGraphAreAsLongAsThoseOfTheTablesOrLonger) {
    int bordered = 0;
    for (const NamedSet& named : someSets())
        for (const auto& [method, centroids] :
             {std::pair(Method::Automatic, Centroids::Merged), std::pair(Method::Iterative, Centroids::Merged),
              std::pair(Method::Automatic, Centroids::Bordered)})
            for (const auto& [smallInRegisters, hasBlocks] :
                 {std::pair(true, false), std::pair(false, false), std::pair(true, true)}) {
                SCOPED_TRACE(named.name + (method == Method::Iterative ? ", iterative" : "") +
                             (centroids == Centroids::Merged ? "" : ", with a border") +
                             (smallInRegisters ? "" : ", in memory") + (hasBlocks ? ", in subdomains" : ""));
                const ConstraintSolver solver(named.set, method, centroids);
                bordered += (int) solver.getGraph().border.rows.size();
                const Both arrays(solver, smallInRegisters, hasBlocks);
                ASSERT_EQ(arrays.bound.pooled.size(), arrays.real.pooled.size());
                for (std::size_t i = 0; i < arrays.real.pooled.size(); i++)
                    EXPECT_GE(arrays.bound.pooled[i].count, arrays.real.pooled[i].count) << arrays.real.pooled[i].name;
                for (std::size_t i = 0; i < arrays.real.own.size(); i++)
                    EXPECT_GE(arrays.bound.own[i].count, arrays.real.own[i].count) << arrays.real.own[i].name;
                const NumberBytes bytes{4, 8};
                const MemoryNeed bound(arrays.bound, bytes), real(arrays.real, bytes);
                EXPECT_GE(bound.total, real.total);
                EXPECT_GE(bound.largestArray, real.largestArray);
                EXPECT_LE(bound.total, largestExcess * real.total);
            }
    EXPECT_GT(bordered, 10);
}

constexpr long long largeSharedMemory = 227 << 10, leastSharedMemory = 99 << 10, smallSharedMemory = 16 << 10;

/** @param sharedMemory  bytes for a block */
ConstraintTables tablesOf(const OpenMM::System& system, long long sharedMemory, int waitingBlocks = 132) {
    ConstraintTables::ThreadGroups available;
    available.hasBlocks = available.hasSubdomains = true;
    available.waitingBlocks = waitingBlocks;
    available.sharedNumbers = [=](int blockSize) { return (sharedMemory - 32 * blockSize) / 4; };
    return ConstraintTables(ConstraintSolver(collectConstraints(system, 1e-4), Method::Automatic), true, available);
}

/** Chains of so many bonds; the atoms of a star are bound to one, whose factor is full. */
ConstraintTables tablesOf(const std::vector<std::pair<int, int>>& countsAndBonds, int numStars = 0,
                          long long sharedMemory = largeSharedMemory, int waitingBlocks = 132) {
    OpenMM::System system;
    auto* force = new ConstraintForce();
    const auto add = [&](int bonds, bool isStar) {
        const int first = system.getNumParticles();
        for (int i = 0; i <= bonds; i++) {
            system.addParticle(12);
            if (i > 0)
                force->addDistance(isStar ? first : first + i - 1, first + i, 0.1);
        }
    };
    for (const auto& [count, bonds] : countsAndBonds)
        for (int n = 0; n < count; n++)
            add(bonds, false);
    for (int n = 0; n < numStars; n++)
        add(150, true);
    system.addForce(force);
    return tablesOf(system, sharedMemory, waitingBlocks);
}

/** Block sizes and subdomains of clusters of all ranges. */
std::vector<std::pair<int, int>> rangesOf(const ConstraintTables& tables) {
    std::vector<std::pair<int, int>> ranges;
    int next = 0;
    for (const ConstraintTables::Range& range : tables.ranges) {
        EXPECT_EQ(range.group, ThreadGroupKind::Subdomain);
        EXPECT_EQ(range.first, next);
        next = range.end;
        ranges.emplace_back(range.blockSize, range.last - range.first);
    }
    EXPECT_EQ(next, tables.numGeneralClusters);
    return ranges;
}

using Ranges = std::vector<std::pair<int, int>>;

/** Several systems side by side. */
ConstraintTables tablesOf(const std::vector<TestSystem>& systems, long long sharedMemory) {
    return tablesOf(*toOpenMM(systems, Declared::InForce), sharedMemory);
}

TEST(Ranges, AreOneOfAllSubdomainsThatStayInSharedMemory) {
    EXPECT_EQ(rangesOf(tablesOf({{1, 2000}, {20, 60}})), (Ranges{{192, 36}}));
    EXPECT_EQ(rangesOf(tablesOf({{1, 2000}, {300, 500}, {5, 60}})), (Ranges{{192, 1221}})); // they take turns
    // A cluster has more subdomains than can wait for each other: it keeps no others from doing so.
    EXPECT_EQ(rangesOf(tablesOf({{2, 500}, {1, 17000}, {5, 60}})), (Ranges{{192, 133}, {192, 13}}));
    EXPECT_EQ(rangesOf(tablesOf({{20, 60}}, 2)), (Ranges{{64, 20}, {192, 2}})); // factors that do not fit
}

TEST(Ranges, HaveBundlesWhereBlocksTakeFewerTurnsThen) {
    EXPECT_EQ(rangesOf(tablesOf({{132, 60}})), (Ranges{{64, 132}}));
    EXPECT_EQ(rangesOf(tablesOf({{133, 60}})), (Ranges{{128, 67}}));
    EXPECT_EQ(rangesOf(tablesOf({{300, 60}})), (Ranges{{192, 100}}));
    EXPECT_EQ(rangesOf(tablesOf({{300, 60}, {1, 2000}})), (Ranges{{192, 116}})); // a protein among lipids
    EXPECT_EQ(rangesOf(tablesOf({{1, 2000}, {5, 500}, {300, 60}})), (Ranges{{256, 111}}));
    // One block at a time, or nobody knows how many: no turn is saved.
    EXPECT_EQ(rangesOf(tablesOf({{300, 60}}, 0, largeSharedMemory, 1)), (Ranges{{64, 300}}));
}

/** What a range has room for is the most of all its subdomains. */
TEST(Ranges, AreSeveralWhereTheMostOfAllSubdomainsDoesNotFit) {
    // The whole network has more entries and levels, the protein more rows.
    const std::vector<TestSystem> both{protein(200), honeycomb(7)};
    EXPECT_EQ(tablesOf(both, largeSharedMemory).ranges.size(), 1u);
    const ConstraintTables tables = tablesOf(both, leastSharedMemory);
    EXPECT_EQ(tables.ranges.size(), 2u);
    EXPECT_EQ(tables.layouts.size(), 2u) << "both stay in shared memory";
}

/** Bundles have the rows of all clusters, each once, and the largest clusters come first. */
TEST(Ranges, HaveAllClustersInBundles) {
    const ConstraintTables tables = tablesOf({{150, 40}, {40, 100}, {1, 1000}});
    ASSERT_EQ(tables.ranges.size(), 1u);
    const ConstraintTables::Range& range = tables.ranges[0];
    std::vector<int> own;
    int clusters = 0, lastRows = 1 << 30, numBundles = 0;
    for (int c = range.first; c < range.last; c++) {
        for (int row = tables.rowStart[c]; row < tables.rowStart[c + 1]; row++)
            if (tables.rowOwner[row] == row)
                own.push_back(tables.constraintOf[row]);
        const bool isSplit = tables.subdomainsOfCluster[c][2] != c;
        clusters += isSplit ? 0 : tables.bundled[c];
        EXPECT_TRUE(!isSplit || numBundles == 0) << "subdomains of the protein come first";
        numBundles += !isSplit;
        const int rowsOfLargest = isSplit ? 1 << 29 : tables.numRowsOf(c) % 100 == 0 ? 100 : 40;
        EXPECT_LE(rowsOfLargest, lastRows);
        lastRows = rowsOfLargest;
    }
    EXPECT_EQ(clusters, 190);
    EXPECT_LT(numBundles, 132 - 8);
    std::sort(own.begin(), own.end());
    EXPECT_EQ((int) own.size(), 150 * 40 + 40 * 100 + 1000);
    EXPECT_EQ(std::unique(own.begin(), own.end()), own.end());
}

/** Subdomains for which the shared memory is too small leave room for others on a multiprocessor. */
TEST(Ranges, HaveBlocksOfTheirClustersSizeWhereTheyAreMany) {
    const auto ranges = [](const std::vector<std::pair<int, int>>& countsAndBonds) {
        return rangesOf(tablesOf(countsAndBonds, 0, smallSharedMemory));
    };
    EXPECT_EQ(ranges({{300, 60}, {1, 2000}}), (Ranges{{192, 16}, {64, 300}})); // a protein among lipids
    EXPECT_EQ(ranges({{1, 2000}, {20, 60}}), (Ranges{{192, 36}}));             // few: in one launch
    EXPECT_EQ(ranges({{1, 2000}, {5, 500}, {300, 60}}), (Ranges{{192, 36}, {64, 300}}));
}

/** The cut of a network does not depend on what is beside it, nor on the device. */
TEST(Cuts, OfNetworksHaveSubdomainsThatFitIntoSharedMemory) {
    for (int edge : {10, 20, 40})
        for (long long sharedMemory : {leastSharedMemory, largeSharedMemory}) {
            SCOPED_TRACE(std::to_string(edge) + " cells, " + std::to_string(sharedMemory) + " bytes");
            const ConstraintTables tables = tablesOf({protein(200), honeycomb(edge)}, sharedMemory);
            ASSERT_EQ(tables.ranges.size(), 2u);
            int networks = 0;
            for (const ConstraintTables::Range& range : tables.ranges) {
                const auto table = tables.layouts.find(range.first);
                ASSERT_NE(table, tables.layouts.end());
                EXPECT_LE(table->second.layout.bytes(8, 8) + 32 * range.blockSize, sharedMemory);
                EXPECT_EQ(ConstraintTables::cutOf(range.cut).mostCorrections, range.cut == 0 ? 8 : 24);
                networks += range.cut > 0;
            }
            EXPECT_EQ(networks, 1);
        }
}

TEST(Cuts, OfOthersHaveTheHaloOfSixOrSevenHops) {
    const auto expectHops = [](const TestSystem& system, int ownRows, int hops) {
        SCOPED_TRACE(system.name);
        const ConstraintTables tables = tablesOf({system}, leastSharedMemory);
        ASSERT_EQ(tables.ranges.size(), 1u);
        EXPECT_EQ(ConstraintTables::cutOf(tables.ranges[0].cut).hops, hops);
        EXPECT_EQ(ConstraintTables::cutOf(tables.ranges[0].cut).ownRows, ownRows);
        EXPECT_TRUE(tables.ranges[0].isSplit);
        EXPECT_EQ(tables.layouts.size(), 1u);
    };
    expectHops(protein(200), 128, 7);
    expectHops(bentChain(1000, 111), 128, 7);
    expectHops(bentChain(700, 111, true), 64, 6);
    // A square lattice has no subdomains that fit.
    const ConstraintTables tables = tablesOf({mesh(24)}, largeSharedMemory);
    ASSERT_EQ(tables.ranges.size(), 1u);
    EXPECT_EQ(tables.ranges[0].group, ThreadGroupKind::Block);
}

TEST(Pools, AreSeveralWhereOneWouldHaveMoreBytesThanAnIntCounts) {
    const NumberBytes bytes{4, 8};
    for (double updates : {1e3, 1e8}) {
        const DeviceArrays arrays(hugeSizes(updates));
        const Pools pools(arrays, bytes, maxArrayBytes);
        EXPECT_EQ(pools.pools.size() > 2, updates > 1e6);
        EXPECT_LE(MemoryNeed(arrays, bytes).largestArray, maxArrayBytes);
        std::vector<double> end(pools.pools.size());
        end[0] = (double) arrays.pooled.size(); // the list of begins
        ASSERT_EQ(pools.parts.size(), arrays.pooled.size());
        for (std::size_t i = 0; i < arrays.pooled.size(); i++) {
            const auto [pool, begin] = pools.parts[i];
            const DeviceArray& part = arrays.pooled[i];
            EXPECT_EQ(pools.pools[pool].type, part.type[0] == 'i' ? "int" : "mixed") << part.name;
            EXPECT_GE(begin, end[pool]) << part.name;
            EXPECT_EQ(std::fmod(begin, 4), 0) << part.name;
            end[pool] = begin + part.count * widthOf(part.type);
            EXPECT_LE(end[pool], pools.pools[pool].numbers) << part.name;
        }
        for (const Pools::Pool& pool : pools.pools)
            EXPECT_LE(pool.numbers * bytes.of(pool.type), maxArrayBytes) << pool.name;
    }
}

/** Otherwise two threads would write the same place: an immovable one may be in several clusters. */
TEST(ConstraintTables, HaveOneThreadForTheStepsOfAParticle) {
    for (const NamedSet& named : someSets())
        for (Centroids centroids : {Centroids::Merged, Centroids::Bordered}) {
            SCOPED_TRACE(named.name + (centroids == Centroids::Merged ? "" : ", with a border"));
            const ConstraintSolver solver(named.set, Method::Automatic, centroids);
            const ConstraintTables tables(solver, true, ConstraintTables::ThreadGroups());
            std::vector<int> inClusters(tables.numParticles), alone(tables.numParticles); // or in bodies
            for (const auto& [particle, what] : tables.smallLanes)
                if (particle >= 0 && what >= 0)
                    (what > 0 ? inClusters : alone)[particle]++;
            for (int node : tables.clusterParticle)
                if (node < tables.numParticles)
                    inClusters[node]++;
            for (int place = 0; place < tables.firstJoinedPlace(); place++)
                inClusters[tables.bodyParticle[place]]++;
            for (int place : tables.ownedPlaces) // of joined bodies
                inClusters[tables.bodyParticle[place]]++;
            for (int p = 0; p < tables.numParticles; p++)
                if (named.set.inverseMass[p] > 0)
                    EXPECT_EQ(inClusters[p] + alone[p], 1) << p;
                else
                    EXPECT_EQ(alone[p], 1) << p;
        }
}

TEST(TextMarkers, AreReplacedWhereverTheyStand) {
    EXPECT_EQ(fillMarkers("test", "solve$SIZE$(BLOCK_SIZE, $SIZE$)$END$", {{"SIZE", "3"}, {"END", "; // $SIZE$"}}),
              "solve3(BLOCK_SIZE, 3); // $SIZE$");
}

TEST(TextMarkers, AreNamedWhereOneIsUnknownOrLeft) {
    const auto message = [](const std::string& text) {
        return messageOf([&] { fillMarkers("factor", text, {{"SIZE", "3"}}); });
    };
    EXPECT_EQ(message("$SIZE$"), "");
    expectAll(message("$SIZE$ $PLACE$"), {"factor", "$PLACE"});
    expectAll(message("$SIZE$ and $SIZE"), {"factor", "$SIZE"});
    expectAll(message("SIZE"), {"factor", "no marker $SIZE$"});
}

TEST_P(DeviceProgram, AllocatesWhatItsArraysSay) {
    for (const char* name : {"disjoint", "chain", "stars"}) {
        SCOPED_TRACE(name);
        const ConstraintSolver solver(toConstraintSet(findSystem(name)), Method::Automatic);
        const std::vector<StageText> stages = {{"heat", {"ornsteinUhlenbeck", "noteHeat", "noteVelocityChange"}}};
        TestDevice testDevice(device.compute());
        ConstraintProgram program(testDevice, solver, true, stages, 3, false, true);
        ArraySizes sizes(solver, true, GroupSizes::usesSubdomains(device.compute()));
        takeStages(sizes, stages, 3, device.compute());
        const MemoryNeed need(DeviceArrays(sizes), numberBytes(device.compute()));
        EXPECT_LE(program.arguments.allocatedBytes(), need.total);
        EXPECT_GE(largestExcess * program.arguments.allocatedBytes(), need.total);
    }
}

TEST_P(DeviceProgram, IsRefusedByTheNameOfATableThatIsTooLargeForOneArray) {
    TestDevice large(device.compute(), std::size_t(1) << 40);
    const ConstraintSolver solver(toConstraintSet(findSystem("chain")), Method::Automatic);
    const auto message = [&](double updates) {
        return messageOf([&] { requireDeviceMemory(large, solver, hugeSizes(updates)); });
    };
    EXPECT_EQ(message(1e8), ""); // 1.6 GB in one table, in an array of its own
    expectAll(message(4e8), {"\"updateSource\", has 1600000000 numbers", "6400000000 bytes and may have 2147483647",
                             "32 bits", "Remedy: setSolver(Iterative)"});
}

TEST_P(DeviceProgram, KnowsTheNamesOfItsArguments) {
    KernelArguments arguments(device.compute());
    arguments.addNumber("dt", 0.001);
    arguments.addNumber("launch", 1);
    arguments.set("dt", 0.002);
    expectAll(messageOf([&] { arguments.set("dT", 0.002); }), {"\"dT\"", "mixed"});
    expectAll(messageOf([&] { arguments.set("dt", 1); }), {"\"dt\"", "int"});
    expectAll(messageOf([&] { arguments.addNumber("dt", 0.002); }), {"two", "dt"});
    expectAll(messageOf([&] { arguments["velocities"]; }), {"\"velocities\""});
    const std::string drift = "/** v dt */\nDEVICE void drift(const Arguments* a, mixed* x) {\n    x[0] += a->dt;\n";
    EXPECT_EQ(messageOf([&] { arguments.requireKnownIn(drift + "}\n"); }), "");
    expectAll(messageOf([&] { arguments.requireKnownIn(drift + "    x[0] += a->time;\n}\n"); }),
              {"function drift", "\"time\""});
}

INSTANTIATE_TEST_SUITE_P(Precisions, DeviceProgram, testing::Values("OpenCLSingle", "OpenCLMixed"),
                         [](const auto& info) { return info.param; });
