// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PROJECTOR_H_
#define CONSTRAINTS_CORE_PROJECTOR_H_

#include "ConstraintSolver.h"
#include "StagedProjection.h"

namespace ConstraintPlugin {

/** What an integrator and a platform ask of projections. */
struct ProjectionSettings {
    double tolerance = 1e-6;          ///< of the constraints
    double smallestTolerance = 0;     ///< that steps of the platform reach
    double maxDrift = 0;              ///< error that steps with an explicit constraint force may leave; 0: none
    int maxIterations = 1000;         ///< of one solve
    double timeScale = 0.001;         ///< ps, in which errors of velocities are measured
    double maxMove = 0.05;            ///< nm, how far Reach::Bounded may take a particle
    double positionEpsilon = 2.2e-16; ///< relative rounding error of stored positions

    /** Error of what steps on the platform leave: such a state is not changed. */
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
    Bounded,   ///< as far as ProjectionSettings::maxMove: nobody asked for it
    Unbounded, ///< as far as one solve takes it
    Staged     ///< any distance, in stages with bonds held where one solve would break them: somebody asked for it
};

/** How a projection went. */
struct Projection {
    enum class Outcome {
        Kept,       ///< the state was on the constraints and is unchanged
        Projected,  ///< it is on the constraints now
        Unresolved, ///< a particle is so far from the origin that rounding of its position exceeds what a constraint
                    ///< holds
        Singular,   ///< the constraints that are solved depend on each other at these positions
        TooFar,     ///< a particle would move farther than maxMove
        Failed      ///< no solve leads to the constraints
    };
    Outcome outcome = Outcome::Kept;
    SolveReport before;   ///< errors of the given state
    SolveReport report;   ///< of the last solve; Failed: why it did
    RankAnalysis rank;    ///< Singular: which constraints
    int constraint = -1;  ///< Unresolved: the first one that is held too exactly
    int particle = -1;    ///< Unresolved: which one; Projected, TooFar: the one that goes farthest, -1 if none is known
    double distance = 0;  ///< nm. Projected, TooFar: how far that is. Unresolved: its rounding error
    double progress = -1; ///< which part of the way stages came that failed, 0 to 1; -1: there were none
};

/** Returns positions and velocities to the constraints: those that users set or barostats moved, which no step left.
 *  A state whose errors are within the tolerance stays as it is, bit for bit. Where a projection fails, what was given
 *  is unchanged, and so are the solver's multipliers, which are those of a step. */
class Projector {
public:
    using HeldPairs = std::function<std::vector<HeldPair>()>;
    /** @param solver     has to outlive this
     *  @param heldPairs  gives the pairs of particles that keep their distance in stages */
    Projector(ConstraintSolver& solver, HeldPairs heldPairs) : solver(solver), heldPairs(std::move(heldPairs)) {
    }
    /** The first time, the constraints that are solved are chosen for these positions, and their rank is checked there.
     *  @param x     [numParticles] nm
     *  @param time  ps, of the targets */
    Projection projectPositions(const ProjectionSettings& settings, Real3* x, const Box& box, double time, Reach reach);
    /** @param x  [numParticles] nm, on the constraints
     *  @param v  [numParticles] nm/ps */
    Projection projectVelocities(const ProjectionSettings& settings, const Real3* x, Real3* v, const Box& box,
                                 double time);
    /** Velocity stage of a step. Dependent constraints may be off by what rounding of the positions explains, which
     *  turns their gradients. */
    SolveReport solveVelocities(const ProjectionSettings& settings, const Real3* x, Real3* v, const Box& box,
                                double time);

    /** Whether positions were found to leave the constraints independent since this was made or forgetRank() called. */
    bool isRankChecked() const {
        return rankChecked;
    }
    /** Check that, unless it is known. @return isSingular() if they do not */
    RankAnalysis checkRank(const Real3* x, const Box& box);
    /** Other targets may have another rank. */
    void forgetRank() {
        rankChecked = false;
    }
    /** Error that rounding of the positions alone may add to a constraint that is solved. */
    double roundingSlack(const ProjectionSettings& settings, const Real3* x) const;

private:
    /** Find a particle so far from the origin that rounding of its coordinates exceeds what a constraint holds. There
     *  squares overflow sooner or later, and any state would pass as rounded. @return whether there is one */
    bool findUnresolved(const ProjectionSettings& settings, const Real3* x, Projection& result) const;
    /** Take positions onto the constraints with the gradients of where they are; x is unchanged if that fails. */
    SolveReport solveAtOnce(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box);
    /** ... or with gradients that are renewed on the way, where that fails. */
    SolveReport solveAnyhow(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                            Projection& result);
    /** ... or in stages with bonds held, where one solve fails or takes a particle far. */
    SolveReport solveInStages(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                              Projection& result);
    /** Take positions there, as far as it reaches; the result gets all but Kept and Unresolved. */
    void goThere(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box, Reach reach,
                 Projection& result);
    double shortestScale() const;

    ConstraintSolver& solver;
    HeldPairs heldPairs;
    bool rankChecked = false;
};

} // namespace ConstraintPlugin

#endif
