// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Emulated.h"
#include "../calls/calls.h"
#include "support/Messages.h"
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

void setConditions(unsigned int order, unsigned char fill) {
    if (std::getenv("CONSTRAINTS_TEST_GPU") != nullptr) // scripts/gpu/subdomains.sh: threads and memory are the GPU's
        return;
    void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    auto* emulate = driver == nullptr ? nullptr : (decltype(&emulateWith)) dlsym(driver, "emulateWith");
    if (emulate == nullptr)
        throw std::runtime_error("let LD_LIBRARY_PATH lead to the stand-in for the CUDA driver");
    emulate(order, fill);
}

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

/** Of positions (nm). */
static double roundingOf(const std::string& platform, double tolerance) {
    const Precision precision = precisionOf(platform);
    return 20 * (0.15 * std::max(tolerance, precision.constraint) + precision.position);
}

void expectClose(const Readings& found, const Readings& expected, const std::string& platform, double tolerance) {
    const Precision precision = precisionOf(platform);
    const double ofPositions = roundingOf(platform, tolerance),
                 ofVelocities = ofPositions / 0.0005 + 5 * 0.0005 * 100 * precision.force;
    EXPECT_LT(distance(found.positions, expected.positions), ofPositions + 5 * 0.0005 * ofVelocities);
    EXPECT_LT(distance(found.velocities, expected.velocities), ofVelocities);
    if (found.energies.empty() && expected.energies.empty())
        return;
    // Of 15 amu that a target moves at 3 nm/ps, in three steps.
    EXPECT_NEAR(found.energies[2], expected.energies[2], 15 * ofVelocities * 3 * 3);
    // Heat of as many particles of up to 16 amu at 1 nm/ps.
    EXPECT_NEAR(found.energies[3], expected.energies[3], 16 * ofVelocities * (double) found.velocities.size());
}

bool programsRoundAlike() {
    return std::getenv("CONSTRAINTS_TEST_GPU") == nullptr && std::getenv("EMULATOR_FUSES") == nullptr;
}

void expectAlike(const Readings& found, const Readings& expected, const std::string& platform, double tolerance) {
    if (programsRoundAlike())
        expectSame(found, expected);
    else
        expectClose(found, expected, platform, tolerance);
}

double differenceOfPrograms(const std::string& platform, double tolerance) {
    return programsRoundAlike() ? 0 : roundingOf(platform, tolerance);
}

std::string alike(const std::string& message) {
    return programsRoundAlike() ? message : replaced(message, R"(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+)", "#");
}

Simulation begin(InitialState start, const ConstraintTests::Setup& setup, double tolerance) {
    Simulation s(std::move(start.system), makeIntegrator(setup, 0.0005, tolerance), std::get<0>(setup));
    s.context->setPositions(start.positions);
    s.context->setVelocities(start.velocities);
    s.context->setTime(start.time);
    return s;
}

Readings after(int steps, InitialState start, const ConstraintTests::Setup& setup, double tolerance) {
    Simulation s = begin(std::move(start), setup, tolerance);
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
    if (std::get<2>(setup) != "Shake" && std::get<2>(setup).find("MTS") == std::string::npos)
        r.velocityMultipliers = s.integrator->getVelocityMultipliers();
    const State state = s.context->getState(State::Energy);
    r.energies = {state.getPotentialEnergy(), state.getKineticEnergy(), s.integrator->getConstraintWork(), 0};
    if (const auto* langevin = dynamic_cast<const RattleLangevinIntegrator*>(s.integrator.get()))
        r.energies[3] = langevin->getHeat();
    return r;
}

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
    for (Solver solver : solvers)
        for (const char* integrator : {"RattleMTS", "RattleMTSLangevin"})
            all.emplace_back(platforms[turn++ % 3], solver, integrator);
    return all;
}

} // namespace ConstraintTests
