// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_FOREIGN_RUN_H_
#define CONSTRAINTS_TESTS_FOREIGN_RUN_H_

#include "support/Simulation.h"
#include <functional>
#include <memory>

namespace ConstraintTests {

/** Where the solver of OpenMM's integrators can be replaced. */
inline const std::vector<std::string> hosts = {"Reference", "CPU"};
/** Names for makeForeign(). */
extern const std::vector<std::string> foreignIntegrators;
/** An integrator of OpenMM: "Verlet", "LangevinMiddle", ..., "FrictionlessLangevinMiddle", which draws no random
 * numbers, "CustomVerlet" (velocity Verlet) and "CustomLangevin" (BAOAB). @param dt  ps */
std::unique_ptr<OpenMM::Integrator> makeForeign(const std::string& name, double dt, double tolerance);
/** Add a Force that replaces the solver. */
ConstraintPlugin::ConstraintForce* addReplacing(OpenMM::System& system);

/** A Context with an integrator of OpenMM and its System, destroyed in the right order. */
struct ForeignRun {
    std::unique_ptr<OpenMM::System> system;
    std::unique_ptr<OpenMM::Integrator> integrator;
    std::unique_ptr<OpenMM::Context> context;

    ForeignRun(std::unique_ptr<OpenMM::System> system, std::unique_ptr<OpenMM::Integrator> integrator,
               const std::string& platform);
    Vectors positions() const;
};

/** The kind of the ConstraintProblem that a function throws; empty if it throws none. */
std::string kindOf(const std::function<void()>& function);

} // namespace ConstraintTests

#endif
