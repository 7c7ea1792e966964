// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DIAGNOSIS_H_
#define OPENMM_CONSTRAINTS_DIAGNOSIS_H_

#include "ConstraintProblem.h"
#include "SolverSummary.h"
#include "openmm/Integrator.h"
#include "openmm/Platform.h"
#include "openmm/System.h"
#include "openmm/Vec3.h"
#include <vector>

namespace ConstraintPlugin {

/** A state to start from. */
struct Start {
    std::vector<OpenMM::Vec3> positions;  ///< [numParticles] nm
    std::vector<OpenMM::Vec3> velocities; ///< [numParticles] nm/ps; empty: at rest
    OpenMM::Vec3 box[3];                  ///< nm
    double time = 0;                      ///< ps
};

/** Constraints that have something in common, and their particles. */
struct ConstraintGroup {
    enum Kind {
        Redundant,     ///< they follow from others of these particles: counted once, and checked
        Straight,      ///< recognized as rigid and straight, held as a rigid body
        Flat,          ///< the same of a flat set
        IllConditioned ///< at the start their gradients nearly depend on each other
    };
    Kind kind;
    std::vector<int> constraints; ///< in the order of getMultipliers()
    std::vector<int> particles;
    int count;           ///< constraints, those included that nobody listed: a rigid body's
    double number = 0.0; ///< IllConditioned: the condition number of J M^-1 J^T, scaled to a unit diagonal
};

/** What can be told of a System's constraints without a Context. Plain data. */
struct Diagnosis {
    std::vector<ConstraintProblem> problems; ///< all that creating a Context refuses; of ours it throws the first
    std::vector<int> refused;                ///< constraints that are left out of what follows, by getMultipliers()
    bool isComplete = true;                  ///< false: memory did not suffice for what follows
    // Of what is not refused:
    std::vector<ClusterInfo> clusters;   ///< as ConstraintIntegrator::getClusters()
    int numIndependent = 0;              ///< what the constraints take from the degrees of freedom
    std::vector<ConstraintGroup> groups; ///< what is worth knowing about some of them
    // At the start, [constraints] in the order of getMultipliers(); NaN for what is refused or ignored:
    std::vector<double> values;  ///< nm or rad; of an expression
    std::vector<double> targets; ///< at the time of the start
    std::vector<double> errors;  ///< relative for distances; rad; of an expression |sigma|/|grad sigma| in nm
};

/** Find everything at once that this library refuses when a Context of a System is created with an integrator, and how
 *  the constraints that it takes depend on each other. Neither is changed. Of what OpenMM refuses by itself, before it
 * asks this library, the System's own constraints are looked at.
 *
 *  @param integrator  bound or not; one of OpenMM's own too
 *  @param start       where the constraints are to be measured; null: nowhere
 *  @throws OpenMMException where a start has not one position for each particle */
Diagnosis diagnose(const OpenMM::System& system, const OpenMM::Integrator& integrator, const Start* start = nullptr);

/** What a System did in a Context of its own. Plain data. */
struct Trial {
    std::vector<ConstraintProblem> problems; ///< that were raised
    double shift = ConstraintProblem::none;  ///< nm, the farthest that projection moves a particle; NaN: it fails
    int steps = 0;                           ///< that went well, of each integrator
};

/** Project a start onto the constraints and take a few steps, with all of the System's Forces.
 *
 *  @param integrator  is copied; of a CompoundIntegrator each is tried
 *  @param platform    where
 *  @param steps       how many; 0: only the projection
 *  @throws OpenMMException as diagnose(), and where steps are negative */
Trial tryStart(const OpenMM::System& system, const OpenMM::Integrator& integrator, const Start& start,
               OpenMM::Platform& platform, int steps);

} // namespace ConstraintPlugin

#endif
