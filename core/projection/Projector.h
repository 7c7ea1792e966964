// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PROJECTOR_H_
#define CONSTRAINTS_CORE_PROJECTOR_H_

#include "ConstraintSolver.h"
#include "StagedProjection.h"
#include "VanishingGradient.h"

namespace ConstraintPlugin {

/** Settings of projections, from the integrator and the platform. */
struct ProjectionSettings {
    double tolerance = 1e-6;          ///< of the constraints
    double smallestTolerance = 0;     ///< that steps of the platform reach
    double maxDrift = 0;              ///< error that steps with an explicit constraint force may leave; 0: none
    int maxIterations = 1000;         ///< of one solve
    double timeScale = 0.001;         ///< ps, by which errors of velocities are multiplied
    double maxMove = 0.05;            ///< nm, largest displacement of a particle with Reach::Bounded
    double positionEpsilon = 2.2e-16; ///< relative rounding error of stored positions

    /** Error that steps on the platform leave: a state within it is not changed. */
    double reachedTolerance() const {
        return std::max(tolerance, smallestTolerance);
    }
    /** Error from which on positions are projected before a step. */
    double threshold() const {
        return std::max(maxDrift, reachedTolerance());
    }
};

/** How far a projection of positions may go. */
enum class Reach {
    Bounded,   ///< up to ProjectionSettings::maxMove: the user did not call for the projection
    Unbounded, ///< any distance, by one solve
    Staged     ///< any distance, in stages that keep bond lengths if one solve would not: the user called for it
};

/** Result of a projection. */
struct Projection {
    enum class Outcome {
        Kept,       ///< the state satisfied the constraints and is unchanged
        Projected,  ///< the state was projected and satisfies the constraints
        Unresolved, ///< a particle is so far from the origin that rounding of its position exceeds the scale of
                    ///< a constraint, or the radius of its body
        Singular,   ///< the constraints that are solved depend on each other at these positions
        TooFar,     ///< a particle would move farther than maxMove
        Misplaced,  ///< a rigid body is a mirror image of its shape, or its anchors contradict it
        Vanishing,  ///< the gradient of an expression vanishes on its surface
        Failed      ///< no solve converged
    };
    Outcome outcome = Outcome::Kept;
    Reach reach = Reach::Unbounded;
    SolveReport before; ///< errors of the given state
    SolveReport report; ///< of the last solve; Failed: why it did
    RankAnalysis rank;  ///< Singular: which constraints
    ConstraintSolver::Misplaced misplaced;
    VanishingGradient vanishing;
    int constraint = -1;  ///< Unresolved: the first one whose scale is below the rounding error; -1: it is a body
    int body = -1;        ///< Unresolved: that body
    int particle = -1;    ///< Unresolved: that particle; Projected, TooFar: of the largest move, -1 if unknown
    double distance = 0;  ///< nm. Projected, TooFar: the largest move. Unresolved: the rounding error
    double progress = -1; ///< fraction of the change that failed stages reached, 0 to 1; -1: there were no stages
};

/** Projects positions and velocities that were changed outside of the steps, by users or barostats. A state whose
 *  errors are within the tolerance is not changed, bit for bit. If a projection fails, the given state is not changed.
 *  The solver's multipliers are those of a step and are kept in either case. */
class Projector {
public:
    using HeldPairs = std::function<std::vector<HeldPair>()>;
    /** @param solver     has to outlive this
     *  @param heldPairs  gives the pairs of particles that keep their distance in stages */
    Projector(ConstraintSolver& solver, HeldPairs heldPairs) : solver(solver), heldPairs(std::move(heldPairs)) {
    }
    /** The first call also chooses the constraints to solve at these positions, and checks their rank there.
     *  @param x     [numParticles] nm
     *  @param time  ps, of the targets */
    Projection projectPositions(const ProjectionSettings& settings, Real3* x, const Box& box, double time, Reach reach);
    /** @param x  [numParticles] nm, on the constraints
     *  @param v  [numParticles] nm/ps */
    Projection projectVelocities(const ProjectionSettings& settings, const Real3* x, Real3* v, const Box& box,
                                 double time);
    /** Velocity stage of a step. Dependent constraints may have errors up to those that rounding of the positions
     *  causes by rotating the gradients. */
    SolveReport solveVelocities(const ProjectionSettings& settings, const Real3* x, Real3* v, const Box& box,
                                double time);

    /** Whether the constraints were found independent at some positions since construction or the last forgetRank(). */
    bool isRankChecked() const {
        return rankChecked;
    }
    /** Check that the constraints are independent, unless it is known. @return isSingular() if they are not */
    RankAnalysis checkRank(const Real3* x, const Box& box);
    /** Check the rank again, because it may differ with other targets. */
    void forgetRank() {
        rankChecked = false;
    }
    /** Error that rounding of the positions alone may add to a constraint that is solved. */
    double roundingSlack(const ProjectionSettings& settings, const Real3* x) const;

private:
    /** Find a particle so far from the origin that rounding of its coordinates exceeds the scale of its constraint.
     *  There any error would count as rounding, and squares may overflow. @return whether there is one */
    bool findUnresolved(const ProjectionSettings& settings, const Real3* x, Projection& result) const;
    /** Project positions with the gradients at x; x is unchanged if that fails. */
    SolveReport solveAtOnce(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box);
    /** The same; if that fails, with gradients that are recomputed in each iteration. */
    SolveReport solveOrApproach(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                                Projection& result);
    /** The same; if it fails or moves a particle far, in stages that keep bond lengths. */
    SolveReport solveInStages(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                              Projection& result);
    /** Project positions that violate the constraints, within the given reach. Sets the result, except for Kept and
     *  Unresolved. */
    void moveToConstraints(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box, Reach reach,
                           Projection& result);
    /** Look for an expression whose gradient vanishes on its surface, which is the result then.
     *  @param near  [numParticles] nm, where projection has led from x; x if it failed. @return whether there is one */
    bool findVanishing(const Real3* x, const Real3* near, const Box& box, Projection& result) const;
    double shortestScale() const;

    ConstraintSolver& solver;
    HeldPairs heldPairs;
    bool rankChecked = false;
};

} // namespace ConstraintPlugin

#endif
