// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STEP_RECORD_H_
#define OPENMM_CONSTRAINTS_STEP_RECORD_H_

#include "ConstraintForces.h"
#include "SolveNotes.h"
#include "StepScheme.h"
#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <memory>

namespace ConstraintPlugin {

/** Positions at which stages of a step compute gradients, and the multipliers that belong to these gradients. */
struct StepMoment {
    ForceMultipliers multipliers; ///< of these stages, as forces over the whole step
    std::vector<Real3> positions; ///< [numParticles] nm
    double time = 0;              ///< ps
};

/** Results of the last good step that users can read, as plain data. */
struct StepReading {
    /** In their order. One, with what the position stage solved, but for an integrator that adds up stages at several
     *  positions: then what users read are the sums over all of them. */
    std::vector<StepMoment> moments{1};
    ForceMultipliers velocityMultipliers; ///< of a velocity stage that is read by itself, at endPositions
    /** For each drift, which begins at the moment of the same index, [numParticles] velocities before a heat bath in
     * its middle minus those after it. Empty without such a bath, and once complete() has added the contribution to the
     * multipliers. */
    std::vector<std::vector<Real3>> velocityChanges;
    std::vector<Real3> endPositions; ///< at the last stage
    Box box;
    double endTime = 0;
    std::vector<double> works;   ///< [constraints] kJ/mol: of each that moves, since the Context was created
    double otherWork = 0;        ///< likewise, of which it is not known which constraint did it
    double heat = 0;             ///< from a heat bath, likewise
    std::vector<double> globals; ///< Context parameters that expressions depend on, as ConstraintSolver::getGlobals()

    bool hasWorks() const {
        return std::any_of(works.begin(), works.end(), [](double w) { return w != 0; });
    }
    /** Take work and heat of another one. @param areSame  it is of these constraints */
    void takeSums(const StepReading& other, bool areSame);
};

/** Numbers of what the data of a step are about. */
struct StepSizes {
    std::size_t constraints = 0, globals = 0, places = 0; ///< places: particles of all bodies in closed form
    std::size_t moments = 1;
    bool hasWorks = false; ///< of each constraint; otherwise all of the work is StepReading::otherWork
};

/** Data of a step in a checkpoint, besides those of OpenMM. */
struct SavedStep {
    Impulses impulses; ///< the solver's, with which a warm start begins
    double stepSize = 0;
    std::uint64_t fingerprint = 0; ///< of the state after the step, by fingerprintOf()
    StepReading reading;
    SolverSummary summary;

    /** The works of each constraint are written if StepReading::hasWorks(). */
    void write(std::ostream& stream) const;
    /** @throws OpenMMException if the stream ends early */
    static SavedStep read(std::istream& stream, std::size_t numParticles, const StepSizes& sizes);
};

/** FNV-1a of a state's bits. @param x, v  [numParticles] */
std::uint64_t fingerprintOf(int numParticles, const Real3* x, const Real3* v, const Box& box, double time);

/** Multipliers of the listed constraints as users read them, from those of all that are solved, at the solver's time.
 *  @param positions  [numParticles] nm: where gradients were taken */
std::vector<double> listedMultipliers(ConstraintSolver& solver, const ForceMultipliers& multipliers,
                                      const Real3* positions, const Box& box, int maxIterations);

/** The record of the last good step, for users and for checkpoints. A platform fills in `reading`; results that need
 *  another solve are computed when they are read. */
class StepRecord {
public:
    StepRecord(const StepScheme& scheme, ConstraintSolver& solver, double stepSize);

    // ---- while a step is taken ----

    /** Reset the summary at the beginning of a step. */
    void resetSummary() {
        resetSolves(summary);
    }
    /** Add the report of a stage to the summary. */
    void note(const SolveReport& report) {
        noteSolve(summary, solver.getSet(), report);
    }
    void note(double error, int constraint) {
        noteError(summary, solver.getSet(), error, constraint);
    }
    void noteFailure(const SolveReport& report) {
        ConstraintPlugin::noteFailure(summary, solver.getSet(), report);
    }
    /** Record a successful step, whose results are read from now on. The platform fills in the multipliers and
     *  positions of `reading`, at once or when they are read. */
    void noteStep(double startTime, double endTime, const Box& box);
    /** Add the work of moving constraints in the step that was recorded, after its multipliers and positions were
     *  filled in. The contribution of the heat bath's change of velocities to this work is subtracted from the heat.
     *  @param end  positions [numParticles] at its end */
    void addWork(const Real3* end, double dt);
    /** Set the size of the next step (ps) and rescale the multipliers of a warm start. */
    void setStepSize(double dt);

    // ---- results that users read ----

    /** @throws OpenMMException if no step was recorded. @param what  is read */
    void requireStep(const char* what) const;
    std::vector<double> multipliers(); ///< [listed constraints]
    std::vector<double> velocityMultipliers();
    ConstraintForces forces();
    /** Whether any constraint or body had a force in the step. */
    bool hasForces() const;
    /** Keep the present results until the next step, because the constraints are about to change. */
    void freeze();

    SavedStep save(std::uint64_t fingerprint);
    void restore(SavedStep saved);

    StepReading reading;
    SolverSummary summary; ///< without the fields that describe the graph
    int maxIterations = 0; ///< of solves for these results

private:
    struct Frozen {
        std::vector<double> multipliers, velocityMultipliers;
        ConstraintForces forces;
    };
    void complete();

    const StepScheme& scheme;
    ConstraintSolver& solver;
    double stepSize;
    std::unique_ptr<Frozen> frozen; // null: the constraints have not changed since the step
};

} // namespace ConstraintPlugin

#endif
