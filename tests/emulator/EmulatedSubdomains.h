// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What tests of large clusters in overlapping subdomains share.
#ifndef CONSTRAINTS_TESTS_EMULATED_SUBDOMAINS_H_
#define CONSTRAINTS_TESTS_EMULATED_SUBDOMAINS_H_

#include "Emulated.h"
#include "support/LargeSystems.h"
#include <functional>

namespace ConstraintTests {

constexpr auto direct = ConstraintPlugin::ConstraintIntegrator::MatrixInversion;

InitialState toState(const TestSystem& system, bool hasSprings = true);
InitialState sideBySide(const std::vector<TestSystem>& systems);
/** A protein in subdomains among chains of many lengths, of which one is straight, so that subdomains do not converge
 * soon. Every third chain has an expression. */
InitialState lipids();

Simulation simulationOf(InitialState start, const std::string& platform, double stepSize, double tolerance,
                        const std::string& integrator = "Rattle");

void expectInSubdomains(const Simulation& s, const std::string& count = "1");

/** Make a System and all its constraints and springs periodic, in a triclinic box across whose boundary its molecules
 * lie. */
void wrapIntoTriclinicBox(InitialState& start);

/** At two tolerances, a cluster in one subdomain, in subdomains of 40 constraints, without their halo, and where
 * subdomains leave it to the whole cluster, moves as on Reference, in one launch as in many, by the same bits whatever
 * memory held. */
void expectSubdomainsAsOnReference(const std::function<InitialState()>& start, const Setup& onDevice);

/** The message of a failure without what describes the solver. */
std::string withoutSolver(const std::string& message);

/** Where subdomains run: in one launch or in many, on enough multiprocessors. */
class EmulatedSubdomainsOf : public testing::Test {
protected:
    const Variable multiprocessors{"FAKECUDA_MULTIPROCESSORS", "32"};
    ~EmulatedSubdomainsOf() override {
        setConditions(0, 0);
    }
};

} // namespace ConstraintTests

#endif
