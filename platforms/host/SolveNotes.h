// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SOLVE_NOTES_H_
#define OPENMM_CONSTRAINTS_SOLVE_NOTES_H_

#include "ConstraintErrors.h"
#include "Projector.h"
#include "openmmconstraints/SolverSummary.h"

namespace ConstraintPlugin {

// What is kept of solves for users (SolverSummary), and the exceptions of those that failed.

/** Forget the solves before a step or a call. */
void resetSolves(SolverSummary& summary);
/** Add the report of a stage. */
void noteSolve(SolverSummary& summary, const ConstraintSet& set, const SolveReport& report);
void noteError(SolverSummary& summary, const ConstraintSet& set, double error, int constraint);
/** Add what is known of another solve. */
void noteSummary(SolverSummary& summary, const SolverSummary& other);
void noteFailure(SolverSummary& summary, const ConstraintSet& set, const SolveReport& report);

/** "MatrixInversion (closed form, sparse LDLT/LU) and closed form of 3 rigid bodies" */
std::string describeSolvers(const ConstraintSolver& solver);
/** The fields of a summary that are about the constraints, not about solves. */
void describeConstraints(SolverSummary& summary, const ConstraintSolver& solver);

/** The circumstances of a solve, for its exception. */
struct SolveCircumstances {
    const ConstraintSolver& solver;
    ProjectionSettings settings;
    std::string activity;      ///< "step 1041", "the projection of the positions"
    double time;               ///< ps, of the targets
    double stepSize;           ///< ps
    std::string description;   ///< describeSolvers(), where the platform has no other
    bool isOurs = true;        ///< whether an integrator of this library takes the steps
    bool isProjection = false; ///< of given positions or velocities, in no step
    bool isOneStage = false;   ///< of a projection, which might succeed in stages
};

/** @throws ConstraintException that describes a failed solve */
[[noreturn]] void throwFailedSolve(const SolveCircumstances& circumstances, const SolveReport& report, Stage stage);
/** @param x  [numParticles] nm
 *  @throws ConstraintException if a projection is neither Kept nor Projected. Failed ones: see throwFailedSolve() */
void requireProjection(const SolveCircumstances& circumstances, const Projection& projection, Stage stage,
                       const Real3* x, const Box& box);

/** After a projection for which a user did not ask this library, as at the end of OpenMM's minimizer.
 *  @throws ConstraintException if constraints of Forces, which OpenMM does not know, were far off, or cannot be held */
void requireNear(const SolveCircumstances& circumstances, const Projection& projection, const Real3* before,
                 const Box& box);

/** After a projection for which a user asked.
 *  @throws ConstraintException if particles were dragged through the periodic box, because a Force takes no images */
void requireImages(const SolveCircumstances& circumstances, const Projection& projection, const Real3* before,
                   const Box& box);

} // namespace ConstraintPlugin

#endif
