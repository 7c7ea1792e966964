// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// What a step asks of the device: how many kernels are launched, and whether the host waits. With OpenCL, and with CUDA
// on a GPU, countcalls.cpp is preloaded; CONSTRAINTS_TEST_CUDA chooses CUDA. Without a GPU, the driver is fakecuda.cpp:
// Contexts are created, all their kernels compiled by NVRTC, and steps enqueued, but nothing is computed.
// CONSTRAINTS_PTX_FOLDER, if set, then receives the PTX of all modules: in <precision>/builtin what OpenMM's own
// integrators load, in <precision>/plugin/<name of the test> what ours do.
#include "Systems.h"
#include "calls.h"
#include "support/ForeignRun.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

bool isCuda() {
    return std::getenv("CONSTRAINTS_TEST_CUDA") != nullptr;
}

/** In what is preloaded, else in the driver that OpenMM loaded. */
template <class Function>
Function* find(const char* name) {
    auto* found = (Function*) dlsym(RTLD_DEFAULT, name);
    if (found == nullptr)
        if (void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY))
            found = (Function*) dlsym(driver, name);
    if (found == nullptr)
        throw std::runtime_error("calls are not noted: preload countcalls, or let LD_LIBRARY_PATH lead to fakecuda");
    return found;
}

struct Calls {
    std::vector<std::string> launches, waits;
    int waitsBetweenLaunches = 0, programs = 0;
    std::vector<int> cooperatingBlocks; // of each cooperative launch
};

Calls calls() {
    std::istringstream lines(find<decltype(takeCalls)>("takeCalls")());
    Calls result;
    std::string what, name;
    int waitsBefore = 0; // the first launch
    while (lines >> what && std::getline(lines >> std::ws, name))
        if (what == "launch") {
            result.launches.push_back(name);
            if (name != "keepEnd") // a copy behind the last wait, for which nobody waits
                result.waitsBetweenLaunches = (int) result.waits.size() - waitsBefore;
        } else if (what == "program") {
            result.programs++;
        } else if (what == "cooperative") {
            result.cooperatingBlocks.push_back(std::stoi(name));
        } else {
            result.waits.push_back(name);
            if (result.launches.empty())
                waitsBefore++;
        }
    return result;
}

void keepPtx(const std::string& whose) {
    const char* folder = std::getenv("CONSTRAINTS_PTX_FOLDER");
    if (folder == nullptr)
        return;
    static std::set<std::string> fresh; // what an earlier run left has no business there
    const std::string path = std::string(folder) + "/" + whose;
    if (fresh.insert(path).second)
        std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    find<decltype(keepModules)>("keepModules")(path.c_str());
}

void keepNoPtx() {
    if (std::getenv("CONSTRAINTS_PTX_FOLDER") != nullptr)
        find<decltype(keepModules)>("keepModules")("");
}

struct DeviceSimulation {
    Example example;
    std::unique_ptr<Context> context;
    Integrator& integrator;

    DeviceSimulation(const std::string& kind, Integrator& integrator, const std::string& precision)
        : DeviceSimulation(makeExample(kind), integrator, precision) {
    }
    DeviceSimulation(Example given, Integrator& integrator, const std::string& precision)
        : example(std::move(given)), integrator(integrator) {
        context = std::make_unique<Context>(*example.system, integrator,
                                            Platform::getPlatformByName(isCuda() ? "CUDA" : "OpenCL"),
                                            std::map<std::string, std::string>{{"Precision", precision}});
        context->setPositions(example.positions);
        if (auto* ours = dynamic_cast<ConstraintIntegrator*>(&integrator))
            ours->setMaxProjection(1); // what is declared does not start in the shape of its bodies
        integrator.step(3);
        calls();
    }
    /** What one call of step() does. */
    Calls step(int steps) {
        integrator.step(steps);
        return calls();
    }
    /** Launches of steps that computing forces does not need.
     *  @param times  how often step() is called for so many steps */
    std::vector<std::string> launchesBesidesForces(int steps, int times = 1) {
        context->getState(State::Forces);
        const auto forForces = calls().launches;
        std::vector<std::string> others;
        for (int i = 0; i < times; i++)
            for (const std::string& name : step(steps).launches)
                if (std::find(forForces.begin(), forForces.end(), name) == forForces.end())
                    others.push_back(name);
        return others;
    }
};

const char* const precisions[] = {"single", "mixed", "double"};

class Builtin : public testing::TestWithParam<const char*> {};
class Plugin : public testing::TestWithParam<std::tuple<const char*, std::string, Solver, std::string>> {};

TEST(Device, KeepsPositions) {
    for (const char* precision : precisions) {
        VerletIntegrator integrator(0.001);
        DeviceSimulation simulation("hydrogens", integrator, precision);
        const auto positions = simulation.context->getState(State::Positions).getPositions();
        EXPECT_LT(distance(positions, simulation.example.positions), 1e-5) << precision;
    }
}

/** Whatever a process keeps after many Contexts is then not ours. */
TEST(Device, GetsBackWhatAContextTook) {
    auto* const objects = find<decltype(objectsInUse)>("objectsInUse");
    const auto leftBy = [&](const char* kind, Integrator& integrator) {
        const long before = objects();
        {
            const DeviceSimulation simulation(kind, integrator, "mixed");
            if (auto* ours = dynamic_cast<ConstraintIntegrator*>(&integrator); ours != nullptr && !isCuda())
                ours->getMultipliers(); // on the stand-in for CUDA no kernel has run, and there is nothing to read
            EXPECT_GT(objects(), before + 20);
        }
        return objects() - before;
    };
    LangevinMiddleIntegrator builtin(300, 1, 0.001);
    const long leftByOpenMM = leftBy("hydrogens", builtin); // of CUDA, what goes with the driver's context
    for (const char* kind : {"hydrogens", "clusters"}) {
        const auto integrator =
            makeIntegrator({"", ConstraintIntegrator::MatrixInversion, "RattleLangevin"}, 0.001, 1e-5);
        EXPECT_EQ(leftBy(kind, *integrator), leftByOpenMM) << kind;
    }
}

/** What dependent constraints and warm starts need of the last step remains on the device. */
TEST(Device, IsWaitedForOnceAStepWithDependentConstraintsAndWarmStartsToo) {
    const auto waits = [](const char* kind, bool isWarm) {
        const auto integrator = makeIntegrator({"", ConstraintIntegrator::Iterative, "Rattle"}, 0.001, 1e-5);
        integrator->setWarmStart(isWarm);
        DeviceSimulation simulation(kind, *integrator, "mixed");
        std::vector<std::string> all;
        for (int i = 0; i < 3; i++)
            for (const std::string& wait : simulation.step(1).waits)
                all.push_back(wait);
        return all;
    };
    const std::vector<std::string> least = waits("hydrogens", false);
    EXPECT_EQ(least.size(), 3u) << testing::PrintToString(least);
    EXPECT_EQ(waits("hydrogens", true), least);
    EXPECT_EQ(waits("special", false), least); // two of its constraints depend on a third
    EXPECT_EQ(waits("special", true), least);
}

/** Only the targets are uploaded again. */
TEST(Device, CompilesNothingWhereAParameterChangesTargets) {
    Example example = chainsOf({30, 2});
    auto* force = new ConstraintForce();
    force->addGlobalParameter("lambda", 0);
    force->addGlobalParameter("unused", 0);
    const int distance = force->addDistance(28, 30, 0.2), other = force->addDistance(31, 33, 0.2);
    force->setDistanceInterpolation(distance, "lambda", 0.21);
    force->setDistanceInterpolation(other, "lambda", 0.19);
    example.system->addForce(force);
    const auto integrator = makeIntegrator({"", ConstraintIntegrator::Automatic, "Rattle"}, 0.001, 1e-5);
    DeviceSimulation simulation(std::move(example), *integrator, "mixed");
    const std::vector<std::string> before = simulation.step(1).launches;
    for (double lambda : {0.5, 1.0}) {
        simulation.context->setParameter("lambda", lambda);
        const Calls changed = simulation.step(1), after = simulation.step(1);
        EXPECT_EQ(changed.programs + after.programs, 0);
        EXPECT_EQ(after.launches, before);
    }
    // Energies before and after a projection, which the host waits for, are computed only where one moves something.
    const Calls usual = simulation.step(1);
    simulation.context->setParameter("lambda", 1);
    simulation.context->setParameter("unused", 1);
    const Calls same = simulation.step(1);
    EXPECT_EQ(same.waits, usual.waits);
}

/** A protein's subdomains and many lipids, of which a block has several, are one launch. */
TEST(Device, SolvesManyClustersOfOtherSizesInOneLaunch) {
    const auto launches = [](int numLipids) {
        std::vector<int> chains(1 + numLipids, 40);
        chains[0] = 1100;
        const auto integrator = makeIntegrator({"", ConstraintIntegrator::MatrixInversion, "Shake"}, 0.001, 1e-5);
        DeviceSimulation simulation(chainsOf(chains), *integrator, "mixed");
        int count = 0;
        for (const std::string& name : simulation.step(1).launches)
            count += name.find("Cluster_step") != std::string::npos;
        return count;
    };
    EXPECT_EQ(launches(300), 1);
    EXPECT_EQ(launches(20), 1);
}

/** Up to three on each of 132 multiprocessors. */
TEST(Device, HasSubdomainsShareMultiprocessorsWhereThereAreMore) {
    const auto blocks = [](const char* kind, const char* name) {
        const auto integrator = makeIntegrator({"", ConstraintIntegrator::MatrixInversion, name}, 0.001, 1e-5);
        DeviceSimulation simulation(kind, *integrator, "mixed");
        return simulation.step(1).cooperatingBlocks;
    };
    using Blocks = std::vector<int>;
    const Blocks few = blocks("longChain", "Rattle");
    EXPECT_GT(few.at(0), 10);
    EXPECT_EQ(few, Blocks(2, few[0]));
    EXPECT_LT(few[0], 132);
    EXPECT_EQ(blocks("longChains", "Rattle"), (Blocks{300, 300}));
    EXPECT_EQ(blocks("longChains", "RattleLangevin"), (Blocks{300, 300}));
    EXPECT_EQ(blocks("longerChain", "Rattle"), (Blocks{200, 200}));
    const Blocks network = blocks("network", "Rattle");
    EXPECT_GT(network.at(0), 132);
    EXPECT_LE(network[0], 264);
}

/** Of the rest of a run only tolerances that cross 1e-7 need other programs, where the precision has doubles. */
TEST(Device, CompilesAgainWhereTheToleranceCrosses) {
    for (const auto& [precision, name, expected] :
         {std::tuple("single", "Rattle", 0), std::tuple("mixed", "Rattle", 1), // small clusters
          std::tuple("mixed", "ConstraintForce", 0)}) {                        // which is solved to rounding
        SCOPED_TRACE(std::string(precision) + " " + name);
        const auto integrator = makeIntegrator({"", ConstraintIntegrator::MatrixInversion, name}, 0.001, 1e-5);
        DeviceSimulation simulation("hydrogens", *integrator, precision);
        const auto programs = [&](double tolerance) {
            integrator->setConstraintTolerance(tolerance);
            return simulation.step(1).programs;
        };
        EXPECT_EQ(programs(1e-6), 0);
        EXPECT_EQ(programs(1e-8), expected);
        EXPECT_EQ(programs(1e-9), 0);
        EXPECT_EQ(programs(1e-7), expected);
        EXPECT_EQ(programs(1e-5), 0);
    }
}

/** What only some runs need is compiled when they do. */
TEST(Device, CompilesForStepsWhatTheyNeed) {
    for (const char* kind : {"hydrogens", "clusters"}) {
        SCOPED_TRACE(kind);
        const auto integrator =
            makeIntegrator({"", ConstraintIntegrator::MatrixInversion, "RattleLangevin"}, 0.001, 1e-5);
        DeviceSimulation simulation(kind, *integrator, "mixed");
        EXPECT_EQ(simulation.step(5).programs, 0);
        for (bool isFirst : {true, false}) {
            simulation.context->getState(State::Energy);
            EXPECT_EQ(calls().programs > 0, isFirst);
            // Whoever computes energies may have moved particles, so constraints are solved before the step.
            EXPECT_EQ(simulation.step(5).programs > 0, isFirst);
        }
    }
}

/** The kinetic energy of projected velocities is computed on the device, and one array of sums fetched. */
TEST(Device, IsWaitedForOnceForAKineticEnergy) {
    const auto waits = [](const char* name) {
        const auto integrator = makeIntegrator({"", ConstraintIntegrator::MatrixInversion, name}, 0.001, 1e-5);
        DeviceSimulation simulation("clusters", *integrator, "mixed");
        simulation.step(2);
        simulation.context->getState(State::Energy);
        return calls().waits;
    };
    const std::vector<std::string> ofVelocities = waits("Rattle");
    EXPECT_GT(ofVelocities.size(), 0u);
    EXPECT_EQ(waits("Shake"), ofVelocities);
    EXPECT_EQ(waits("RattleLangevin"), ofVelocities);
}

/** OpenMM then reads positions, and leaves it to the caller to make a CUDA context current. */
TEST(Device, OrdersMoleculesAgainOfWhichAForceChangesOne) {
    Example example = chainsOf({3, 3, 3});
    auto* nonbonded = new NonbondedForce();
    nonbonded->setNonbondedMethod(NonbondedForce::CutoffNonPeriodic);
    for (int i = 0; i < example.system->getNumParticles(); i++)
        nonbonded->addParticle(0, 0.1, 0);
    example.system->addForce(nonbonded);
    const auto integrator = makeIntegrator({"", ConstraintIntegrator::MatrixInversion, "Rattle"}, 0.001, 1e-5);
    Context context(*example.system, *integrator, Platform::getPlatformByName(isCuda() ? "CUDA" : "OpenCL"),
                    {{"Precision", "mixed"}});
    context.setPositions(example.positions);
    auto& force = dynamic_cast<ConstraintForce&>(example.system->getForce(0));
    int i, j;
    double length;
    force.getDistanceParameters(4, i, j, length); // of the second, which was like the third
    force.setDistanceParameters(4, i, j, 1.01 * length);
    EXPECT_NO_THROW(force.updateParametersInContext(context));
}

TEST_P(Builtin, StepsWithoutWaiting) {
    keepPtx(std::string(GetParam()) + "/builtin");
    VerletIntegrator verlet(0.001);
    LangevinMiddleIntegrator langevin(300, 1, 0.001);
    for (Integrator* integrator : std::initializer_list<Integrator*>{&verlet, &langevin}) {
        DeviceSimulation simulation("hydrogens", *integrator, GetParam());
        EXPECT_GT(simulation.launchesBesidesForces(4).size(), 4u);
        EXPECT_TRUE(simulation.step(4).waits.empty());
        simulation.context->getState(State::Positions);
        EXPECT_FALSE(calls().waits.empty());
    }
}

TEST_P(Plugin, StepsWaitingAtTheEndOnly) {
    const auto& [precision, kind, solver, name] = GetParam();
    keepPtx(std::string(precision) + "/plugin/" + kind + "_" + nameOf({precision, solver, name}));
    if (name == "RattleLangevin") // the compiler shall see what subdomains leave to their cluster
        setenv("OPENMM_CONSTRAINTS_WHOLE", "1", 1);
    auto integrator = makeIntegrator({"", solver, name}, 0.001, 1e-5);
    DeviceSimulation simulation(kind, *integrator, precision);
    unsetenv("OPENMM_CONSTRAINTS_WHOLE");
    const Calls noted = simulation.step(10);
    EXPECT_GE(noted.launches.size(), 10u);
    EXPECT_EQ(noted.waitsBetweenLaunches, 0) << testing::PrintToString(noted.waits);
    EXPECT_EQ(simulation.context->getStepCount(), 13);
    if (kind == "hydrogens" && name != "ConstraintForce") {
        // Besides those of the steps there may be a few at the start of a call: something else may have changed the
        // state. Two geodesic steps for each half of the drift are three more; the halves of a Nose-Hoover chain take
        // two and three.
        const auto launches = simulation.launchesBesidesForces(20);
        const bool hasSubsteps = name.find("MTS") != std::string::npos; // four innermost ones
        const unsigned maxPerStep = name == "GeodesicLangevin"   ? 8
                                    : name == "RattleNoseHoover" ? 7
                                    : hasSubsteps                ? 13
                                                                 : 5;
        EXPECT_LE(launches.size(), maxPerStep * 20 + 10) << testing::PrintToString(launches);
    }
    integrator->getSolverSummary();
    simulation.context->getState(State::Energy | State::Velocities);
    simulation.context->getState(State::Forces); // the next step projects
    simulation.step(1);
}

/** What the table in docs/devices.md has: of a step, besides what forces need. */
struct Cost {
    const char *kind, *integrator;
    int launches, waits; ///< waits: of a call of step(1)

    friend std::ostream& operator<<(std::ostream& out, const Cost& cost) {
        return out << cost.kind << ", " << cost.integrator;
    }
};
/** Small clusters and others are one launch on CUDA only. */
int together(int onCuda, int apart) {
    return isCuda() ? onCuda : apart;
}
class Launches : public testing::TestWithParam<Cost> {};

TEST_P(Launches, AreSoMany) {
    keepNoPtx(); // the tests of Plugin keep it
    const Cost cost = GetParam();
    std::unique_ptr<Integrator> integrator;
    std::string name = cost.integrator;
    const bool isReplaced = name.find("Replaced") == 0;
    name = name.substr(isReplaced ? 8 : 0);
    if (name == "Verlet")
        integrator = std::make_unique<VerletIntegrator>(0.001);
    else if (name == "LangevinMiddle")
        integrator = std::make_unique<LangevinMiddleIntegrator>(300, 1, 0.001);
    else
        integrator = makeIntegrator({"", ConstraintIntegrator::Automatic, name}, 0.001, 1e-5);
    Example example = makeExample(cost.kind);
    if (isReplaced)
        addReplacing(*example.system);
    DeviceSimulation simulation(std::move(example), *integrator, "mixed");
    const auto count = [&](int steps, int times) {
        const auto names = simulation.launchesBesidesForces(steps, times);
        // OpenMM makes random numbers for many steps at once, and CCMA launches until it converges.
        return (int) std::count_if(names.begin(), names.end(), [](const std::string& name) {
            return name != "generateRandomNumbers" && name.find("CCMA") == std::string::npos;
        });
    };
    // The first step has more, since somebody else computed forces.
    EXPECT_EQ(count(20, 1) - count(10, 1), 10 * cost.launches);
    EXPECT_EQ(count(1, 11) - count(1, 1), 10 * cost.launches);
    int waits = 0;
    for (int i = 0; i < 10; i++)
        waits += (int) simulation.step(1).waits.size();
    EXPECT_EQ(waits, 10 * cost.waits);
    EXPECT_LE((int) simulation.step(10).waits.size(), cost.waits);
}

using Combination = std::tuple<const char*, std::string, Solver, std::string>;

/** Compiling is what takes time here: in mixed precision more than in the others, and small kernels with all
 * integrators.
 */
bool isTried(const std::string& precision, const std::string& kind, Solver solver, const std::string& integrator) {
    const bool isMixed = precision == "mixed", isSmall = kind != "clusters", isLong = kind.find("long") == 0,
               isDirect = solver == ConstraintIntegrator::MatrixInversion;
    if (kind == "manyMolecules")
        return isMixed && integrator != "ConstraintForce" && (isDirect || integrator == "Rattle");
    if (kind == "groups" || kind.find("slabs") == 0)
        return isMixed && isDirect && integrator == (kind == "groups" ? "RattleLangevin" : "Rattle");
    if (kind == "chainWithRing")
        return isDirect && integrator == "RattleLangevin";
    if (integrator == "RattleNoseHoover")
        return (kind == "hydrogens" || kind == "hinges") && isDirect;
    if (integrator == "GeodesicLangevin")
        return isMixed && isDirect && (kind == "hydrogens" || kind == "upToEight" || kind == "declared");
    if (integrator == "RattleMTS")
        return isMixed && isDirect && (kind == "hydrogens" || kind == "upToEight");
    if (integrator == "RattleMTSLangevin")
        return isMixed && isDirect && kind == "hydrogens";
    if (integrator == "RattleLangevin")
        return !isLong || (isMixed && isDirect);
    if (integrator == "Rattle" && kind == "longLipids")
        return isMixed && isDirect;
    if (integrator == "Shake" && !isDirect) // its stage is the first one of Rattle
        return false;
    return isMixed && !isLong && (isSmall || integrator == "Rattle");
}

std::vector<Combination> combinations() {
    std::vector<Combination> all;
    for (const char* precision : precisions)
        for (const Kind& kind : kinds())
            for (Solver solver : {ConstraintIntegrator::Iterative, ConstraintIntegrator::MatrixInversion})
                for (const char* integrator : {"RattleLangevin", "GeodesicLangevin", "Rattle", "RattleNoseHoover",
                                               "Shake", "ConstraintForce", "RattleMTS", "RattleMTSLangevin"})
                    if (isTried(precision, kind.name, solver, integrator))
                        all.emplace_back(precision, kind.name, solver, integrator);
    return all;
}

std::string describe(const testing::TestParamInfo<Combination>& info) {
    const auto& [precision, kind, solver, name] = info.param;
    return kind + "_" + nameOf({precision, solver, name});
}

INSTANTIATE_TEST_SUITE_P(Precision, Builtin, testing::ValuesIn(precisions),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(
    Mixed, Launches,
    testing::Values(
        Cost{"hydrogens", "Verlet", 4, 0}, Cost{"hydrogens", "LangevinMiddle", 7, 0}, Cost{"hydrogens", "Shake", 1, 1},
        Cost{"hydrogens", "ReplacedVerlet", 3, 0}, Cost{"hydrogens", "ReplacedLangevinMiddle", 5, 0},
        Cost{"clusters", "ReplacedLangevinMiddle", together(5, 7), 0},
        Cost{"longChain", "ReplacedLangevinMiddle", 5, 0}, Cost{"hydrogens", "Rattle", 2, 1},
        Cost{"hydrogens", "RattleLangevin", 2, 1}, Cost{"hydrogens", "GeodesicLangevin", 6, 1},
        Cost{"hydrogens", "RattleNoseHoover", 7, 1}, Cost{"hydrogens", "RattleMTS", 5 + 3, 1},
        Cost{"hydrogens", "RattleMTSLangevin", 9 + 3, 1}, Cost{"upToEight", "Rattle", 2, 1},
        Cost{"clusters", "Shake", together(1, 2), 1}, Cost{"clusters", "Rattle", together(2, 4), 1},
        Cost{"clusters", "RattleLangevin", together(2, 4), 1}, Cost{"longChain", "Rattle", 2, 1},
        Cost{"longerChain", "Rattle", 2, 1}, Cost{"network", "Rattle", 2, 1}, Cost{"longestChain", "Rattle", 26, 1},
        Cost{"longChains", "Rattle", 2, 1}, Cost{"longLipids", "Shake", together(1, 2), 1},
        Cost{"longLipids", "Rattle", together(2, 4), 1}, Cost{"longLipids", "RattleLangevin", together(2, 4), 1},
        Cost{"longLipids", "RattleNoseHoover", together(7, 9), 1}, Cost{"declared", "Rattle", together(5, 7), 1},
        Cost{"fullerenes", "Shake", 1, 1}, Cost{"fullerenes", "Rattle", 2, 1},
        Cost{"fullerenes", "RattleLangevin", 2, 1}, Cost{"hinges", "Shake", 5, 1}, Cost{"hinges", "Rattle", 10, 1},
        Cost{"hinges", "RattleLangevin", 13, 1}, Cost{"groups", "Shake", 17, 1},
        Cost{"groups", "RattleLangevin", 36, 1}, Cost{"slabs", "Shake", 8, 1}, Cost{"slabs", "Rattle", 14, 1},
        Cost{"slabsWithHinge", "Shake", 18, 1}, Cost{"slabsWithHinge", "Rattle", 30, 1},
        Cost{"chainWithRing", "Shake", 3, 1}, Cost{"chainWithRing", "Rattle", 6, 1}),
    [](const auto& info) { return std::string(info.param.kind) + "_" + info.param.integrator; });
INSTANTIATE_TEST_SUITE_P(All, Plugin, testing::ValuesIn(combinations()), describe);

} // namespace
