// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STEP_RECORD_H_
#define OPENMM_CONSTRAINTS_STEP_RECORD_H_

#include "ConstraintForces.h"
#include "ConstraintSolver.h"
#include "StepScheme.h"
#include "openmmconstraints/SolverSummary.h"
#include <cstdint>
#include <iosfwd>
#include <memory>

namespace ConstraintPlugin {

/** What users read of the last good step, as plain data. */
struct StepReading {
    ForceMultipliers multipliers, velocityMultipliers; ///< of the position and the velocity stage
    /** [numParticles] velocities before a heat bath in the middle of the drift less those after it, as long as what
     * that adds is not in the multipliers; else empty */
    std::vector<Real3> velocityChange;
    std::vector<Real3> positions;    ///< where the position stage took gradients
    std::vector<Real3> endPositions; ///< the last stage's
    Box box;
    double time = 0, endTime = 0;
    double work = 0;             ///< of moving constraints, since the Context was created
    double heat = 0;             ///< from a heat bath, likewise
    std::vector<double> globals; ///< Context parameters that expressions depend on, as ConstraintSolver::getGlobals()
};

/** What a checkpoint holds of a step, besides OpenMM's own. */
struct SavedStep {
    Impulses impulses; ///< the solver's, with which a warm start begins
    double stepSize = 0;
    std::uint64_t fingerprint = 0; ///< of the state that the step left, as fingerprintOf()
    StepReading reading;
    SolverSummary summary;

    void write(std::ostream& stream) const;
    /** @throws OpenMMException if the stream ends early */
    static SavedStep read(std::istream& stream, std::size_t numParticles, std::size_t numConstraints,
                          std::size_t numGlobals);
};

/** FNV-1a of a state's bits. @param x, v  [numParticles] */
std::uint64_t fingerprintOf(int numParticles, const Real3* x, const Real3* v, const Box& box, double time);

/** Multipliers of the listed constraints, from those of all. */
std::vector<double> listedMultipliers(const ConstraintSet& set, const ForceMultipliers& multipliers);

/** The record of the last good step: what users may read of it, and what a checkpoint keeps. A platform fills in
 *  `reading`; what costs a solve is completed when somebody asks. */
class StepRecord {
public:
    StepRecord(const StepScheme& scheme, ConstraintSolver& solver, double stepSize);

    // ---- while a step is taken ----

    /** The step at hand has solved nothing yet. */
    void resetSummary();
    /** Take a stage's report into the summary. */
    void note(const SolveReport& report);
    void note(double error, int constraint);
    void noteFailure(const SolveReport& report);
    /** A step succeeded: what is read from now on is its. Multipliers and positions of `reading` are for the platform
     * to fill in, now or when somebody asks. */
    void noteStep(double startTime, double endTime, const Box& box);
    /** Add the work of moving constraints in the step that was noted, its multipliers and positions read. The heat of
     *  the step takes the opposite of what the velocities' change in a heat bath adds to it.
     *  @param end  positions [numParticles] at its end */
    void addWork(const Real3* end, double dt);
    /** The next step has this step size (ps): a warm start rescales its multipliers. */
    void setStepSize(double dt);

    // ---- what users read ----

    std::vector<double> multipliers(); ///< [listed constraints]
    std::vector<double> velocityMultipliers();
    ConstraintForces forces();
    /** Until the next step, all of that stays what it is now: the constraints are about to change. */
    void freeze();

    SavedStep save(std::uint64_t fingerprint);
    void restore(SavedStep saved);

    StepReading reading;
    SolverSummary summary; ///< what describes the graph is left out
    int maxIterations = 0; ///< of solves for what is read

private:
    struct Frozen {
        std::vector<double> multipliers, velocityMultipliers;
        ConstraintForces forces;
    };
    void complete();

    const StepScheme& scheme;
    ConstraintSolver& solver;
    double stepSize;
    std::unique_ptr<Frozen> frozen; // null: nothing has changed since the step
};

} // namespace ConstraintPlugin

#endif
