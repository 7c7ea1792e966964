// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// What a step asks of the device: how many kernels are launched, and whether the host waits. With OpenCL, and with CUDA
// on a GPU, countcalls.cpp is preloaded; CONSTRAINTS_TEST_CUDA chooses CUDA. Without a GPU, the driver is fakecuda.cpp:
// Contexts are created, all their kernels compiled by NVRTC, and steps enqueued, but nothing is computed.
// CONSTRAINTS_PTX_FOLDER, if set, then receives the PTX of all modules: in <precision>/builtin what OpenMM's own
// integrators load, in <precision>/plugin/<name of the test> what ours do.
#include "calls.h"
#include "support/Simulation.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
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

// ---- Systems, one for each kind of constraint
// -------------------------------------------------------------------------

struct Example {
    std::unique_ptr<System> system = std::make_unique<System>();
    std::vector<Vec3> positions;
};

/** Some of the table's systems side by side. */
Example table(const std::vector<const char*>& names, Declared declared) {
    Example example;
    auto force = std::make_unique<ConstraintForce>();
    for (const char* name : names) {
        const TestSystem& part = findSystem(name);
        const int first = example.system->getNumParticles();
        for (int i = 0; i < part.numParticles(); i++) {
            example.system->addParticle(part.masses[i]);
            const Real3 x = part.positions[i];
            example.positions.push_back(Vec3(x.x + first, x.y, x.z));
        }
        for (const auto& bond : part.bonds)
            if (declared == Declared::InSystem)
                example.system->addConstraint(first + bond.i, first + bond.j, bond.length);
            else
                force->addDistance(first + bond.i, first + bond.j, bond.length);
    }
    if (declared == Declared::InForce)
        example.system->addForce(force.release());
    auto* springs = new HarmonicBondForce(); // a System without forces would launch nothing for them
    springs->addBond(0, example.system->getNumParticles() - 1, 1, 1);
    example.system->addForce(springs);
    return example;
}

/** What only Forces can declare, each on eight particles that bend and twist, side by side. */
Example declared() {
    using Declare = std::function<void(ConstraintForce&, int)>; // on particles from an index on
    const Vec3 one(0.1, 0.07, 0.05), two(0.1, -0.07, 0.05);     // bonds from particle 0 to 1, and 1 to 2
    const double bend = std::acos(-one.dot(two) / (length(one) * length(two)));
    const std::vector<Vec3> linear{{0, 0, 0}, {0.1, 0, 0}, {0.25, 0, 0}};
    const std::vector<Vec3> planar{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.1, 0.1, 0}, {0.05, 0.05, 0}};
    const std::vector<Declare> kinds{
        [&](auto& force, int i) {
            force.addDistance(i, i + 1, length(one));
            force.addAngle(i, i + 1, i + 2, bend);
            force.addDihedral(i + 4, i + 5, i + 6, i + 7, 1.5);
        },
        [&](auto& force, int i) {
            force.addRigidBody({i, i + 1, i + 2}, linear);
            force.addRigidBody({i + 3, i + 4, i + 5, i + 6, i + 7}, planar);
        },
        [&](auto& force, int i) {
            force.addCentroidDistance({i, i + 1, i + 2}, {i + 5, i + 6, i + 7}, 0.5);
        },
        [&](auto& force, int i) { force.addDistance(i, i + 1, length(one), 0.01); },
    };
    Example example;
    const auto addParticles = [&example] {
        const int first = example.system->getNumParticles();
        for (int i = 0; i < 8; i++) {
            example.system->addParticle(1 + i);
            example.positions.push_back(Vec3(0.1 * i, first + 0.07 * (i % 2), 0.05 * (i % 3)));
        }
        return first;
    };
    auto* listed = new ConstraintForce();
    for (const Declare& declare : kinds)
        declare(*listed, addParticles());
    auto* relation = new CustomConstraintForce(3, "distance(p1, p2) - scale*distance(p2, p3) - r0");
    relation->addPerConstraintParameter("r0");
    relation->addGlobalParameter("scale", 1);
    int first = addParticles();
    relation->addConstraint({first, first + 1, first + 2}, {0.0});
    relation->addConstraint({first + 3, first + 4, first + 5}, {0.0});
    auto* surface = new CustomConstraintForce(1, "x1^2 + (y1 - y0)^2 + z1^2 - (0.5 + 0.001*t)^2");
    first = addParticles();
    surface->addGlobalParameter("y0", first);
    surface->addConstraint({first + 5}, {});
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, 7, 0.7, 100);
    for (Force* force : std::initializer_list<Force*>{listed, relation, surface, springs})
        example.system->addForce(force);
    return example;
}

/** @param chains  bonds of each, side by side */
Example chainsOf(const std::vector<int>& chains) {
    Example example;
    auto* force = new ConstraintForce();
    for (std::size_t n = 0; n < chains.size(); n++)
        for (int i = 0; i <= chains[n]; i++) {
            const int particle = example.system->addParticle(12);
            example.positions.push_back(Vec3(0.1 * i, 0.05 * (i % 2), 0.1 * n));
            if (i > 0)
                force->addDistance(particle - 1, particle,
                                   length(example.positions[particle] - example.positions[particle - 1]));
        }
    example.system->addForce(force);
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, chains[0], 1, 1);
    example.system->addForce(springs);
    return example;
}

/** Chains of so many CH2 groups with all their bonds, side by side, and water. */
Example methylenes(const std::vector<int>& chains) {
    Example example = table({"water", "water"}, Declared::InSystem);
    auto* force = new ConstraintForce();
    for (std::size_t n = 0; n < chains.size(); n++)
        for (int i = 0, before = -1; i < chains[n]; i++) {
            const Vec3 carbon(0.12 * i, 0.04 * (i % 2), 1 + 0.5 * n);
            const Vec3 places[] = {carbon, carbon + Vec3(0, 0.06, 0.08), carbon + Vec3(0, 0.06, -0.08)};
            const int first = example.system->getNumParticles();
            for (int k = 0; k < 3; k++) {
                example.system->addParticle(k == 0 ? 12 : 1);
                example.positions.push_back(places[k]);
                if (const int other = k == 0 ? before : first; other >= 0)
                    force->addDistance(other, first + k, length(places[k] - example.positions[other]));
            }
            before = first;
        }
    example.system->addForce(force);
    return example;
}

/** @param sizes  particles of rigid bodies, side by side */
Example bodiesOf(const std::vector<int>& sizes) {
    Example example;
    auto* force = new ConstraintForce();
    for (std::size_t n = 0; n < sizes.size(); n++) {
        std::vector<int> particles;
        std::vector<Vec3> shape;
        for (int i = 0; i < sizes[n]; i++) {
            particles.push_back(example.system->addParticle(12));
            shape.push_back(Vec3(0.1 * (i % 19), 0.1 * (i / 19), 0.05 * (i % 2)));
            example.positions.push_back(shape.back() + Vec3(0, 0, (double) n));
        }
        force->addRigidBody(particles, shape);
    }
    example.system->addForce(force);
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, sizes[0], 1, 1);
    example.system->addForce(springs);
    return example;
}

/** Pairs of rigid bodies that share two particles each, and water. */
Example hinges() {
    Example example = table({"water", "water"}, Declared::InSystem);
    auto* force = new ConstraintForce();
    for (int n = 0; n < 3; n++) {
        Vectors x{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.1, 0.1, 0.05}, {0, 0.2, 0}, {0.1, 0.2, 0.1}};
        std::vector<int> particles;
        for (const Vec3& each : x) {
            particles.push_back(example.system->addParticle(12));
            example.positions.push_back(each + Vec3(0, 0, 1 + n));
        }
        force->addRigidBody({particles.begin(), particles.begin() + 4}, {x.begin(), x.begin() + 4});
        force->addRigidBody({particles.begin() + 2, particles.end()}, {x.begin() + 2, x.end()});
    }
    example.system->addForce(force);
    return example;
}

/** A chain of bonds that ends at a rigid ring of 20 particles. */
Example chainWithRing() {
    Example example = chainsOf({20});
    auto* force = new ConstraintForce();
    std::vector<int> ring;
    Vectors shape;
    for (int i = 0; i < 20; i++) {
        ring.push_back(example.system->addParticle(12));
        shape.push_back(Vec3(0.5 * std::cos(0.314 * i), 0.5 * std::sin(0.314 * i), 0));
        example.positions.push_back(Vec3(2.7, 0, 0) + shape.back());
    }
    force->addRigidBody(ring, shape);
    force->addDistance(20, ring[10], length(example.positions[20] - example.positions[ring[10]]));
    example.system->addForce(force);
    return example;
}

/** Waters, a methyl group and a chain, the heights of groups of them and a distance of two: six bordered rows. All are
 * in two groups, and no molecule is in more than one of the others. */
Example groups() {
    std::vector<const char*> names(60, "water");
    names.push_back("CH3");
    names.push_back("chain"); // rows of a part
    Example example = table(names, Declared::InSystem);
    const int numParticles = example.system->getNumParticles();
    const auto range = [](int begin, int end) {
        std::vector<int> all;
        for (int i = begin; i < end; i++)
            all.push_back(i);
        return all;
    };
    auto* heights = new CustomCentroidConstraintForce(2, "z1 - z2 - h");
    heights->addGlobalParameter("h", 0);
    const auto add = [&](int begin, int middle, int end) {
        heights->addConstraint({heights->addGroup(range(begin, middle)), heights->addGroup(range(middle, end))}, {});
    };
    add(0, 90, numParticles);
    heights->addConstraint({heights->addGroup(range(0, 30)), heights->addGroup(range(30, numParticles))}, {});
    for (int i : {0, 45, 90})
        add(i, i + 24, i + 45);
    auto* distance = new ConstraintForce();
    const auto centre = [&](const std::vector<int>& group) {
        return centroidOf(*example.system, example.positions, group);
    };
    const std::vector<int> first = range(135, 165), second = range(165, numParticles);
    distance->addCentroidDistance(first, second, length(centre(first) - centre(second)));
    example.system->addForce(heights);
    example.system->addForce(distance);
    return example;
}

/** Waters, whose halves are at a height. @param withHinge  besides, a hinge of two rigid bodies in one of the halves */
Example slabs(bool withHinge) {
    Example example = table(std::vector<const char*>(60, "water"), Declared::InSystem);
    auto* height = new CustomCentroidConstraintForce(2, "z1 - z2");
    std::vector<int> halves[2];
    for (int i = 0; i < 180; i++)
        halves[i / 90].push_back(i);
    if (withHinge) {
        auto* bodies = new ConstraintForce();
        std::vector<int> body;
        Vectors shape;
        const auto add = [&](int count) {
            for (int i = 0; i < count; i++) {
                body.push_back(example.system->addParticle(12));
                halves[0].push_back(body.back());
                shape.push_back(Vec3(0.2 * std::cos(i), 0.2 * std::sin(2 * i), 0.05 * (i % 7)));
                example.positions.push_back(shape.back());
            }
            bodies->addRigidBody(body, shape);
            body.erase(body.begin(), body.end() - 2); // the next one shares two particles
            shape.erase(shape.begin(), shape.end() - 2);
        };
        add(12);
        add(8);
        example.system->addForce(bodies);
    }
    height->addConstraint({height->addGroup(halves[0]), height->addGroup(halves[1])}, {});
    example.system->addForce(height);
    return example;
}

struct Kind {
    const char* name;
    std::function<Example()> make;
};
const std::vector<Kind>& kinds() {
    using Names = std::vector<const char*>;
    static const Names hydrogens = {"water", "OH", "CH2", "CH3"};
    static const Names clusters = {"water", "CH3", "chain", "ring", "branched", "star"};
    static const Names upToEight = {"ring", "star", "rings", "stars"}; // distances, from four on
    static const std::vector<Kind> all{
        {"hydrogens", [] { return table(hydrogens, Declared::InSystem); }},
        {"clusters", [] { return table(clusters, Declared::InSystem); }},
        {"upToEight", [] { return table(upToEight, Declared::InSystem); }},
        // More than a device has room for at once.
        {"manyMolecules",
         [] {
             Names many;
             for (int i = 0; i < 9000; i++)
                 many.insert(many.end(), hydrogens.begin(), hydrogens.end());
             return table(many, Declared::InSystem);
         }},
        {"special",
         [] {
             return table({"triangle", "disjoint", "anchor", "duplicates"}, Declared::InForce);
         }},
        {"declared", declared},
        {"fullerenes",
         [] {
             return bodiesOf({60, 60, 60});
         }},
        {"bodies",
         [] {
             return bodiesOf({3, 20, 300, 5000});
         }}, // a thread, a block of either size, parts
        {"hinges", hinges},
        {"groups", groups},
        {"slabs", [] { return slabs(false); }},
        {"slabsWithHinge", [] { return slabs(true); }},
        {"chainWithRing", chainWithRing},
        // One in parts that are all on a device at once, and one in more parts.
        {"longChain", [] { return chainsOf({2600}); }},
        {"longestChain", [] { return chainsOf({1000000}); }},
        // All together have more parts than there are multiprocessors, each has fewer.
        {"longChains", [] { return chainsOf(std::vector<int>(100, 300)); }},
        // A protein among lipids, of which a block has several.
        {"longLipids",
         [] {
             std::vector<int> chains(301, 44);
             chains[0] = 700;
             return methylenes(chains);
         }},
    };
    return all;
}
Example makeExample(const std::string& kind) {
    for (const Kind& each : kinds())
        if (each.name == kind)
            return each.make();
    throw std::out_of_range(kind);
}

// ---- tests
// ------------------------------------------------------------------------------------------------------------

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
}

/** A protein's parts and many lipids, of which a block has several, are one launch. */
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

/** Two on each of 132 multiprocessors. */
TEST(Device, HasPartsShareMultiprocessorsWhereThereAreMore) {
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
    EXPECT_EQ(blocks("longChains", "Rattle"), (Blocks{264, 264}));
    EXPECT_EQ(blocks("longChains", "RattleLangevin"), (Blocks{264, 264}));
}

/** Of the rest of a run only tolerances that cross 1e-7 need other programs, where the precision has doubles. */
TEST(Device, CompilesAgainWhereTheToleranceCrosses) {
    for (const auto& [precision, name, expected] :
         {std::tuple("single", "Rattle", 0),
          std::tuple("mixed", "Rattle", 2),             // small clusters, and what follows a solve
          std::tuple("mixed", "ConstraintForce", 0)}) { // which is solved to rounding
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
    auto integrator = makeIntegrator({"", solver, name}, 0.001, 1e-5);
    DeviceSimulation simulation(kind, *integrator, precision);
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
}

/** What the table in docs/guide/platforms.md has: of a step, besides what forces need. */
struct Cost {
    const char *kind, *integrator;
    int launches, waits; ///< waits: of a call of step(1)

    friend std::ostream& operator<<(std::ostream& out, const Cost& cost) {
        return out << cost.kind << ", " << cost.integrator;
    }
};
class Launches : public testing::TestWithParam<Cost> {};

TEST_P(Launches, AreSoMany) {
    keepNoPtx(); // the tests of Plugin keep it
    const Cost cost = GetParam();
    std::unique_ptr<Integrator> integrator;
    if (std::string(cost.integrator) == "Verlet")
        integrator = std::make_unique<VerletIntegrator>(0.001);
    else if (std::string(cost.integrator) == "LangevinMiddle")
        integrator = std::make_unique<LangevinMiddleIntegrator>(300, 1, 0.001);
    else
        integrator = makeIntegrator({"", ConstraintIntegrator::Automatic, cost.integrator}, 0.001, 1e-5);
    DeviceSimulation simulation(cost.kind, *integrator, "mixed");
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
    testing::Values(Cost{"hydrogens", "Verlet", 4, 0}, Cost{"hydrogens", "LangevinMiddle", 7, 0},
                    Cost{"hydrogens", "Shake", 1, 1}, Cost{"hydrogens", "Rattle", 2, 1},
                    Cost{"hydrogens", "RattleLangevin", 2, 1}, Cost{"hydrogens", "GeodesicLangevin", 6, 1},
                    Cost{"hydrogens", "RattleNoseHoover", 7, 1}, Cost{"hydrogens", "RattleMTS", 5 + 3, 1},
                    Cost{"hydrogens", "RattleMTSLangevin", 9 + 3, 1}, Cost{"upToEight", "Rattle", 2, 1},
                    Cost{"clusters", "Shake", 2, 1}, Cost{"clusters", "Rattle", 4, 1},
                    Cost{"clusters", "RattleLangevin", 4, 1}, Cost{"longChain", "Rattle", 2, 1},
                    Cost{"longestChain", "Rattle", 26, 1}, Cost{"longChains", "Rattle", 2, 1},
                    Cost{"longLipids", "Shake", 2, 1}, Cost{"longLipids", "Rattle", 4, 1},
                    Cost{"longLipids", "RattleLangevin", 4, 1}, Cost{"longLipids", "RattleNoseHoover", 9, 1},
                    Cost{"declared", "Rattle", 7, 1}, Cost{"fullerenes", "Shake", 1, 1},
                    Cost{"fullerenes", "Rattle", 2, 1}, Cost{"fullerenes", "RattleLangevin", 2, 1},
                    Cost{"hinges", "Shake", 5, 1}, Cost{"hinges", "Rattle", 10, 1},
                    Cost{"hinges", "RattleLangevin", 13, 1}, Cost{"groups", "Shake", 17, 1},
                    Cost{"groups", "RattleLangevin", 36, 1}, Cost{"slabs", "Shake", 8, 1},
                    Cost{"slabs", "Rattle", 14, 1}, Cost{"slabsWithHinge", "Shake", 18, 1},
                    Cost{"slabsWithHinge", "Rattle", 30, 1}, Cost{"chainWithRing", "Rattle", 8, 1}),
    [](const auto& info) { return std::string(info.param.kind) + "_" + info.param.integrator; });
INSTANTIATE_TEST_SUITE_P(All, Plugin, testing::ValuesIn(combinations()), describe);

} // namespace
