// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The kernels of this plugin on the emulator: all integrators, both solvers, every thread group. What they compute
// depends neither on which thread runs first nor on what memory held before, and is what Reference computes.
#include "../calls/calls.h"
#include "StepScheme.h"
#include "support/LargeSystems.h"
#include "support/Messages.h"
#include "support/Mixture.h"
#include "support/Variable.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <optional>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

void setConditions(unsigned int order, unsigned char fill) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    auto* emulate = driver == nullptr ? nullptr : (decltype(&emulateWith)) dlsym(driver, "emulateWith");
    if (emulate == nullptr)
        throw std::runtime_error("let LD_LIBRARY_PATH lead to the stand-in for the CUDA driver");
    emulate(order, fill);
}

/** All that a user may read of some steps. */
struct Readings {
    Vectors positions, velocities, forces;
    std::vector<double> multipliers, velocityMultipliers, energies;
    SolverSummary summary;
};

void expectSame(const Readings& a, const Readings& b) {
    EXPECT_EQ(distance(a.positions, b.positions), 0);
    EXPECT_EQ(distance(a.velocities, b.velocities), 0);
    EXPECT_EQ(distance(a.forces, b.forces), 0);
    EXPECT_EQ(a.multipliers, b.multipliers);
    EXPECT_EQ(a.velocityMultipliers, b.velocityMultipliers);
    EXPECT_EQ(a.energies, b.energies);
    EXPECT_EQ(a.summary.iterations, b.summary.iterations);
    EXPECT_EQ(a.summary.maxError, b.summary.maxError);
    EXPECT_EQ(a.summary.worstConstraint, b.summary.worstConstraint);
}

/** Within the tolerance of each step, rounding, and forces of some 100 kJ/mol/nm on atoms of 1 amu. */
void expectClose(const Readings& found, const Readings& expected, const std::string& platform) {
    const Precision precision = precisionOf(platform);
    const double ofPositions = 20 * (0.15 * std::max(1e-9, precision.constraint) + precision.position),
                 ofVelocities = ofPositions / 0.0005 + 5 * 0.0005 * 100 * precision.force;
    EXPECT_LT(distance(found.positions, expected.positions), ofPositions + 5 * 0.0005 * ofVelocities);
    EXPECT_LT(distance(found.velocities, expected.velocities), ofVelocities);
}

struct Start {
    std::unique_ptr<System> system;
    Vectors positions, velocities;
};

/** Every kind of constraint and clusters of every size, some with moving targets, and an angle that is held twice: of
 *  constraints that depend on each other, those of rigid bodies are not checked. */
Start mixture() {
    Mixture drawn = drawMixture(1, true);
    Start start{std::move(drawn.system), drawn.positions, drawn.velocities};
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

/** One cluster, which needs all blocks of a launch if OPENMM_CONSTRAINTS_GRID is set. */
Start molecule() {
    const TestSystem system = protein(12);
    Start start{toOpenMM(system, Declared::InForce), toVectors(system.positions), {}};
    addSprings(*start.system, system);
    start.velocities = tangentVelocities(system, 0.5, 3);
    return start;
}

Start moleculeWithBarostat() {
    Start start = molecule();
    start.system->setDefaultPeriodicBoxVectors(Vec3(20, 0, 0), Vec3(0, 20, 0), Vec3(0, 0, 20));
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(5);
    start.system->addForce(barostat);
    for (int i = 0; i < start.system->getNumForces(); i++)
        if (auto* springs = dynamic_cast<HarmonicBondForce*>(&start.system->getForce(i)))
            springs->setUsesPeriodicBoundaryConditions(true);
    return start;
}

/** Rigid bodies that nothing joins but springs: a thread has the small ones, a block of each size one of the others. */
Start bodies() {
    Start start{std::make_unique<System>(), {}, {}};
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

/** Rigid bodies that share particles or that constraints join: hinges, a ball joint, distances and an angle to free
 *  particles and between bodies, one with an anchor, and a straight one. */
Start joints() {
    Start start{std::make_unique<System>(), {}, {}};
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
        const Vec3 d = start.positions[i] - start.positions[j];
        force->addDistance(i, j, std::sqrt(d.dot(d)));
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
        Vec3 sum;
        double mass = 0;
        for (int p : group) {
            sum += start.positions[p] * start.system->getParticleMass(p);
            mass += start.system->getParticleMass(p);
        }
        return sum / mass;
    };
    const std::vector<int> group1{free, first[1], first[2]}, group2{third[1], third[3]};
    const Vec3 between = centroid(group1) - centroid(group2);
    force->addCentroidDistance(group1, group2, std::sqrt(between.dot(between)));
    force->addRigidBody({addParticle(9, {0, 1, 0}), addParticle(8, {0.1, 1, 0}), addParticle(7, {0, 1.1, 0})},
                        {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}}); // a free one
    start.system->addForce(force);
    start.system->addForce(springs);
    return start;
}

/** In a box, whose barostat moves bodies: the device measures them before a step. */
Start withBarostat(Start start) {
    start.system->setDefaultPeriodicBoxVectors(Vec3(12, 0, 0), Vec3(1, 12, 0), Vec3(-1, 0.5, 12));
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(5);
    start.system->addForce(barostat);
    dynamic_cast<ConstraintForce&>(start.system->getForce(0)).setUsesPeriodicBoundaryConditions(true);
    dynamic_cast<HarmonicBondForce&>(start.system->getForce(1)).setUsesPeriodicBoundaryConditions(true);
    return start;
}

Start bodiesWithBarostat() {
    return withBarostat(bodies());
}

Start jointsWithBarostat() {
    return withBarostat(joints());
}

/** Light particles between heavy ones, nearly in a line, and slow: pivots vanish in single precision, and the factor is
 *  made again in the Context's. */
Start stiff() {
    Builder b("stiff");
    const int centre = b.particle(1e5, {0, 0, 0});
    for (int arm = 0; arm < 3; arm++) // so that several threads find such a pivot
        for (int k = 0, last = centre; k < 4; k++)
            last = b.grow(b.grow(last, 1e-3, 3e3), 1e5, 3e3);
    const TestSystem system = b.build();
    return {toOpenMM(system, Declared::InForce), toVectors(system.positions), tangentVelocities(system, 1e-6, 3)};
}

Simulation begin(Start start, const ConstraintTests::Setup& setup, double tolerance = 1e-9) {
    Simulation s(std::move(start.system), makeIntegrator(setup, 0.0005, tolerance), std::get<0>(setup));
    s.context->setPositions(start.positions);
    s.context->setVelocities(start.velocities);
    return s;
}

Readings after(int steps, Start start, const ConstraintTests::Setup& setup) {
    Simulation s = begin(std::move(start), setup);
    s.integrator->step(1);
    s.context->getState(State::Forces); // whoever computes them may have moved particles: the device projects
    s.integrator->step(steps - 1);
    Readings r{s.positions(),
               s.velocities(),
               s.integrator->getConstraintForces(),
               s.integrator->getMultipliers(),
               {},
               {},
               s.integrator->getSolverSummary()};
    if (std::get<2>(setup) != "Shake")
        r.velocityMultipliers = s.integrator->getVelocityMultipliers();
    const State state = s.context->getState(State::Energy);
    r.energies = {state.getPotentialEnergy(), state.getKineticEnergy()};
    return r;
}

/** Emulated memory and turns as they are by default, however a test ends. */
class Emulated : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    ~Emulated() override {
        setConditions(0, 0);
    }
    /** @param solver  words of the solvers' description */
    void expectTheSameUnderAllConditions(Start (*start)(), const std::string& solver = "") const {
        setConditions(0, 0);
        const Readings ascending = after(3, start(), GetParam());
        EXPECT_NE(distance(ascending.positions, start().positions), 0);
        EXPECT_NE(ascending.summary.solver.find(solver), std::string::npos) << ascending.summary.solver;
        setConditions(1, 0xff); // numbers are NaN
        expectSame(after(3, start(), GetParam()), ascending);
        setConditions(7, 0x5a);
        expectSame(after(3, start(), GetParam()), ascending);
        setConditions(0, 0);
    }
    void expectWhatReferenceComputes(Start (*start)()) const {
        ConstraintTests::Setup onReference = GetParam();
        std::get<0>(onReference) = "Reference";
        expectClose(after(3, start(), GetParam()), after(3, start(), onReference), std::get<0>(GetParam()));
    }
};

TEST_P(Emulated, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(mixture);
}

TEST_P(Emulated, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(mixture);
}

/** The factor in shared memory, in global memory, and there with all blocks of a launch. */
class EmulatedFactor : public Emulated {};

TEST_P(EmulatedFactor, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(moleculeWithBarostat, "1 in shared memory");
    const Variable memory("OPENMM_CONSTRAINTS_SHARED_MEMORY", "0");
    expectTheSameUnderAllConditions(moleculeWithBarostat);
    const Variable grid("OPENMM_CONSTRAINTS_GRID", "1");
    expectTheSameUnderAllConditions(moleculeWithBarostat, "1 over several thread blocks");
}

TEST_P(EmulatedFactor, ComputesWhatReferenceDoes) {
    expectWhatReferenceComputes(molecule);
    const Variable memory("OPENMM_CONSTRAINTS_SHARED_MEMORY", "0");
    expectWhatReferenceComputes(molecule);
    const Variable grid("OPENMM_CONSTRAINTS_GRID", "1");
    expectWhatReferenceComputes(molecule);
}

/** Rigid bodies in closed form: threads, blocks, and parts of bodies. */
class EmulatedBodies : public Emulated {};

TEST_P(EmulatedBodies, DependNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(bodiesWithBarostat, "closed form of 6 rigid bodies");
    const Variable parts("OPENMM_CONSTRAINTS_BODY_PART", "30");
    expectTheSameUnderAllConditions(bodiesWithBarostat);
}

TEST_P(EmulatedBodies, ComputeWhatReferenceDoes) {
    expectWhatReferenceComputes(bodies);
    const Variable parts("OPENMM_CONSTRAINTS_BODY_PART", "30");
    expectWhatReferenceComputes(bodies);
}

/** Bodies that constraints and other bodies join: their sums, their constraints by a block, and each particle. */
class EmulatedJoints : public Emulated {};

TEST_P(EmulatedJoints, DependNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(jointsWithBarostat);
}

TEST_P(EmulatedJoints, ComputeWhatReferenceDoes) {
    expectWhatReferenceComputes(joints);
}

class EmulatedFallBack : public Emulated {};

TEST_P(EmulatedFallBack, DependsNeitherOnTurnsNorOnWhatMemoryHeld) {
    expectTheSameUnderAllConditions(stiff, "1 in shared memory");
    expectWhatReferenceComputes(stiff);
}

/** Every integrator, precisions in turn. A Nose-Hoover chain holds nothing that moves in time. */
std::vector<ConstraintTests::Setup> setups(const std::vector<Solver>& solvers, bool withNoseHoover) {
    std::vector<ConstraintTests::Setup> all;
    std::vector<const char*> integrators{"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "ConstraintForce"};
    if (withNoseHoover)
        integrators.push_back("RattleNoseHoover");
    const char* const platforms[] = {"CUDAMixed", "CUDASingle", "CUDADouble"};
    int turn = 0;
    for (Solver solver : solvers)
        for (const char* integrator : integrators)
            all.emplace_back(platforms[turn++ % 3], solver, integrator);
    return all;
}

const std::vector<Solver> direct{ConstraintIntegrator::MatrixInversion},
    both{ConstraintIntegrator::MatrixInversion, ConstraintIntegrator::Iterative};

INSTANTIATE_TEST_SUITE_P(All, Emulated, testing::ValuesIn(setups(both, false)),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedFactor, testing::ValuesIn(setups(direct, true)),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedBodies, testing::ValuesIn(setups(direct, true)),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(All, EmulatedJoints, testing::ValuesIn(setups(both, true)),
                         [](const auto& info) { return nameOf(info.param); });

INSTANTIATE_TEST_SUITE_P(All, EmulatedFallBack,
                         testing::Values(ConstraintTests::Setup("CUDAMixed", ConstraintIntegrator::MatrixInversion,
                                                                "Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

/** Kernels that no test here runs are named by ran.py, as far as their integrator is here. */
TEST(EmulatedKernels, AreThoseOfEveryIntegrator) {
    EXPECT_EQ(setups(direct, true).size(), stepSchemes().size());
}

// ---- several blocks for one cluster ------------------------------------------------------------------------------

class Grid : public testing::TestWithParam<std::string> {
protected:
    ConstraintTests::Setup setup() const {
        return {GetParam(), ConstraintIntegrator::MatrixInversion, "Rattle"};
    }
    const Variable memory{"OPENMM_CONSTRAINTS_SHARED_MEMORY", "0"};
};

TEST_P(Grid, ComputesWhatOneBlockDoes) {
    const Readings one = after(5, molecule(), setup());
    EXPECT_EQ(one.summary.solver.find("several"), std::string::npos);
    const Variable grid("OPENMM_CONSTRAINTS_GRID", "1");
    for (const char* blocks : {"2", "3", "7"}) {
        const Variable multiprocessors("FAKECUDA_MULTIPROCESSORS", blocks);
        const Readings several = after(5, molecule(), setup());
        EXPECT_NE(several.summary.solver.find("several thread blocks"), std::string::npos) << several.summary.solver;
        expectSame(several, one);
    }
}

/** Failures, which one thread of the launch reports: as by one block. */
TEST_P(Grid, FailsAsOneBlockDoes) {
    const auto messages = [&] {
        std::vector<std::string> all;
        all.push_back(messageOf([&] { // velocities that no correction can follow
            Simulation s = begin(molecule(), setup());
            s.integrator->setMaxIterations(5);
            Vectors v = s.velocities();
            v[40] = Vec3(900, 0, 0);
            s.context->setVelocities(v);
            s.integrator->step(3);
        }));
        all.push_back(messageOf([&] {
            Simulation s = begin(molecule(), setup());
            Vectors v = s.velocities();
            for (Vec3& each : v)
                each *= 100;
            s.context->setVelocities(v);
            s.integrator->setMaxIterations(1);
            s.integrator->step(3);
        }));
        return all;
    };
    const std::vector<std::string> ofOne = messages();
    expectAll(ofOne[0], {"constraint"});
    expectAll(ofOne[1], {"constraint", "1 iteration"});
    const Variable grid("OPENMM_CONSTRAINTS_GRID", "1");
    const std::vector<std::string> ofSeveral = messages();
    const auto withoutSolver = [](std::string message) { // which is described
        const std::string also = ", 1 over several thread blocks";
        const std::size_t place = message.find(also);
        return place == std::string::npos ? message : message.erase(place, also.size());
    };
    for (std::size_t i = 0; i < ofOne.size(); i++)
        EXPECT_EQ(withoutSolver(ofSeveral[i]), ofOne[i]);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Grid, testing::Values("CUDASingle", "CUDAMixed", "CUDADouble"),
                         [](const auto& info) { return info.param; });

} // namespace
