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
        Redundant,      ///< they follow from others of these particles: they are checked, not solved
        Straight,       ///< recognized as a linear rigid body
        Flat,           ///< recognized as a planar rigid body
        Spatial,        ///< recognized as a rigid body of another shape
        IllConditioned, ///< at the start their gradients are nearly linearly dependent
        Rigid           ///< a rigid body of addRigidBody(), or several in one, and the constraints that it holds
    };
    Kind kind;
    std::vector<int> constraints; ///< in the order of getMultipliers()
    std::vector<int> particles;
    int count; ///< number of constraints, including those of a rigid body that are not declared. Rigid: the degrees of
               ///< freedom that it removes
    /** IllConditioned: the condition number of J M^-1 J^T, scaled to a unit diagonal. Rigid: the largest distance (nm)
     * by which a particle was moved onto the line of a linear body, or of a hinge. Of a recognized body: its degrees of
     * freedom by itself, before anything joins it to others. */
    double number = 0.0;
};

/** Properties of a System's constraints that are known without a Context. Plain data. */
struct Diagnosis {
    std::vector<ConstraintProblem> problems; ///< all that make the creation of a Context throw, which throws the first
    std::vector<ConstraintProblem> warnings; ///< what a Context accepts, and warns of (Warnings.h)
    std::vector<int> refused;                ///< invalid constraints, as in getMultipliers(), ignored in what follows
    std::vector<int> absorbed;               ///< constraints that a declared rigid body holds, as in getMultipliers()
    double absorbedDeviation = 0.0; ///< the largest difference of their values from those in the body's shape: relative
                                    ///< for distances, rad for angles and dihedrals
    int absorbedConstraint = -1;    ///< the one with that difference; -1: there is none
    bool isComplete = true;         ///< false: there was not enough memory for what follows
    // Of the valid constraints:
    std::vector<ClusterInfo> clusters; ///< as ConstraintIntegrator::getClusters()
    int numIndependent = 0;            ///< rank of the constraints: the degrees of freedom that they remove
    /** Whether that is known. Where constraints and joints of rigid bodies close a loop, or redundant periodic
     *  constraints may join a network to its own image, a start is needed to tell which depend on others: without one,
     *  this number and those of the clusters are not right, and redundant constraints of such networks are not listed.
     */
    bool isRankKnown = true;
    std::vector<ConstraintGroup> groups; ///< redundant, recognized, ill-conditioned and rigid groups
    int joinedBodies = 0;                ///< rigid bodies that constraints or other bodies join
    int joints = 0;                      ///< as SolverSummary::joints
    // At the start, [constraints] in the order of getMultipliers(); NaN for invalid, ignored or absorbed ones:
    std::vector<double> values;  ///< nm or rad; of an expression
    std::vector<double> targets; ///< at the time of the start
    std::vector<double> errors;  ///< relative for distances; rad; of an expression |sigma|/|grad sigma| in nm
};

/** Find all problems that make this library throw when a Context of a System is created with an integrator, and how the
 *  valid constraints depend on each other. System and integrator are not changed. The System's own constraints are also
 *  checked for problems that make OpenMM itself throw.
 *
 *  @param integrator  with or without a Context; may be one of OpenMM's own
 *  @param start       state at which constraints are evaluated; null: none
 *  @throws OpenMMException where a start has not one position for each particle */
Diagnosis diagnose(const OpenMM::System& system, const OpenMM::Integrator& integrator, const Start* start = nullptr);

/** Result of running a System for a few steps in a Context of its own. Plain data. */
struct Trial {
    std::vector<ConstraintProblem> problems; ///< that were raised
    double shift = ConstraintProblem::none;  ///< nm, the largest displacement by the projection; NaN: it failed
    int steps = 0;                           ///< successful steps of each integrator
};

/** Project a start onto the constraints and take a few steps, with all of the System's Forces.
 *
 *  @param integrator  is copied; each child of a CompoundIntegrator is tried
 *  @param platform    the platform of the Context
 *  @param steps       how many; 0: only the projection
 *  @throws OpenMMException as diagnose(), and where steps are negative */
Trial tryStart(const OpenMM::System& system, const OpenMM::Integrator& integrator, const Start& start,
               OpenMM::Platform& platform, int steps);

} // namespace ConstraintPlugin

#endif
