// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_SIMULATION_H_
#define CONSTRAINTS_TESTS_SIMULATION_H_

#include "OpenMM.h"
#include "OpenMMConstraints.h"
#include "support/Platforms.h"
#include "support/SystemTable.h"
#include "support/Vectors.h"
#include "support/Verifier.h"
#include <memory>

namespace ConstraintTests {

using Solver = ConstraintPlugin::ConstraintIntegrator::Solver;
using IntegratorPointer = std::unique_ptr<ConstraintPlugin::ConstraintIntegrator>;

/** Where a test's constraints are declared. */
enum class Declared { InSystem, InForce };

/** The parameter of platform tests: platform x solver x integrator ("Rattle", "Shake", "RattleLangevin",
 *  "FrictionlessLangevin", which draws no random numbers, "GeodesicLangevin", which is g-BAOAB with two geodesic steps,
 *  "ConstraintForce", "RattleNoseHoover", "RattleMTS" or "RattleMTSLangevin"). */
using Setup = std::tuple<std::string, Solver, std::string>;
std::string nameOf(const Setup& setup);
/** Every platform with every solver and each of Rattle, Shake, RattleLangevin and ConstraintForce. */
std::vector<Setup> everySetup();
/** Every combination with Rattle, Shake and RattleLangevin, for INSTANTIATE_TEST_SUITE_P. */
std::vector<Setup> allSetups();
/** With Rattle, Shake and FrictionlessLangevin: trajectories are determined by their start. */
std::vector<Setup> constantEnergySetups();
/** Every integrator on every platform, by the solver that it chooses, with the precisions of a device in turn. */
std::vector<Setup> everyIntegrator();
/** Those of one integrator: with either solver, or with one of the two in each precision of a device. */
std::vector<Setup> setupsOf(const std::string& integrator);
/** Of some setups those of the host, and one for each precision of a device, integrators and solvers in turn: for tests
 *  of what these have in common. */
std::vector<Setup> oneSetupOfEach(const std::vector<Setup>& setups);
/** One of each of constantEnergySetups(), and those of Rattle, whose velocities are checked most strictly. */
std::vector<Setup> mostlyRattleSetups();

/** A RattleLangevinIntegrator has 300 K, a friction of 5/ps and a fixed seed; a RattleNoseHooverIntegrator 300 K and
 *  20/ps. */
IntegratorPointer makeIntegrator(const Setup& setup, double stepSize, double tolerance = 1e-10);

/** The system's particles and constraints, and no forces. */
std::unique_ptr<OpenMM::System> toOpenMM(const TestSystem& system, Declared declared);
/** Harmonic springs, a little longer than the distance, between particles whose indices differ by two or three:
 * internal forces that couple all motions and conserve momenta. */
void addSprings(OpenMM::System& target, const TestSystem& system, double k = 3000);

/** The same for several systems in one System, for which a device compiles kernels once. Those that are periodic must
 * have the same box. */
std::unique_ptr<OpenMM::System> toOpenMM(const std::vector<TestSystem>& parts, Declared declared);
void addSprings(OpenMM::System& target, const std::vector<TestSystem>& parts, double k = 3000);
/** Every system of the table that is not periodic, and the one of this name. */
std::vector<TestSystem> systemsInTheBoxOf(const std::string& name);
/** The positions, velocities or forces of one part. */
Vectors partOf(const std::vector<TestSystem>& parts, std::size_t index, const Vectors& all);
Vectors positionsOf(const std::vector<TestSystem>& parts);

Vectors toVectors(const Arrays& x);
Arrays toArrays(const Vectors& x);
/** Velocities [numParticles] on the velocity constraints, from a fixed seed. */
Vectors tangentVelocities(const TestSystem& system, double size, unsigned seed);
Vectors tangentVelocities(const std::vector<TestSystem>& parts, double size, unsigned seed);

/** A Context with its integrator and System, destroyed in the right order. */
struct Simulation {
    std::unique_ptr<OpenMM::System> system;
    IntegratorPointer integrator;
    std::unique_ptr<OpenMM::Context> context;

    Simulation(std::unique_ptr<OpenMM::System> system, IntegratorPointer integrator, const std::string& platform);
    Vectors positions() const;
    Vectors velocities() const;
    double energy() const;
};
/** A system of the table with springs, at its start with tangent velocities. */
Simulation simulate(const TestSystem& system, Declared declared, const Setup& setup, double stepSize,
                    double tolerance = 1e-10);
Simulation simulate(const std::vector<TestSystem>& parts, Declared declared, const Setup& setup, double stepSize,
                    double tolerance = 1e-10);

/** Create a Context on a platform; the CPU platform with one thread. */
std::unique_ptr<OpenMM::Context> makeContext(const OpenMM::System& system, OpenMM::Integrator& integrator,
                                             const std::string& platform);
/** Largest distance between corresponding vectors. NaN if any is. */
double distance(const Vectors& a, const Vectors& b);

} // namespace ConstraintTests

#endif
