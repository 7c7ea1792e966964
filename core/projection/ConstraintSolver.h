// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONSTRAINT_SOLVER_H_
#define CONSTRAINTS_CORE_CONSTRAINT_SOLVER_H_

#include "BorderSolver.h"
#include "DistanceSolver.h"
#include "IterativeSolver.h"
#include "JoinedRows.h"
#include "JointRank.h"
#include "MatrixInversionSolver.h"
#include "Multipliers.h"
#include "RankAnalysis.h"
#include "RigidBodySolver.h"
#include "Windings.h"
#include <functional>
#include <memory>

namespace ConstraintPlugin {

/** Result of a solve of all clusters. */
struct SolveReport {
    Outcome outcome = Outcome::Converged;
    int iterations = 0;        ///< largest of any cluster
    double maxError = 0;       ///< of the worst (or the failing) constraint or body, in units of the tolerance
    int constraint = -1;       ///< its index in the ConstraintSet; -1 if there are none, or if it is a body
    int body = -1;             ///< the worst (or the failing) one of ConstraintSet::bodies, if it is a body
    double value = 0;          ///< its q (position stage) or dsigma/dt (velocity stage)
    bool isOfStart = false;    ///< whether value and error are those of the initial positions, in either stage
    double rotation = 0;       ///< rad, by which a free bond or body would rotate in the step; 0: neither, or no step
    std::vector<Real3> places; ///< if isOfStart: positions of its particles
};

/** By how much (rad) a constrained distance would turn freely over a duration (ps) from positions x with velocities v,
 *  [numParticles]; 0 for constraints of other kinds and for -1. */
double freeRotation(const ConstraintSet& set, int constraint, const Real3* x, const Real3* v, const Box& box,
                    double duration);

/** Solves all constraints and bodies of a ConstraintSet, for one or the other stage, on double-precision arrays.
 *
 *  Redundant constraints (duplicates, additional braces) are not solved but checked: they must hold if the others do.
 *  Constraints between immovable particles are checked too, except the System's own, which are ignored. */
class ConstraintSolver {
public:
    /** @throws std::runtime_error if the method cannot solve a cluster */
    ConstraintSolver(ConstraintSet set, Method method, Centroids centroids = Centroids::Bordered);
    void setMethod(Method method);
    /** Solve clusters of distances with DistanceSolver, on the runner's threads. It is much faster than the simple
     * solvers, which solve the other clusters and those that it cannot solve. Results agree within the tolerance. */
    void setTaskRunner(std::shared_ptr<TaskRunner> runner);
    /** Whether the Iterative solver starts from the multipliers of the last stage of the same kind, or from zero. */
    void setWarmStart(bool yes) {
        warmStart = yes;
    }

    /** Use the targets of a set that is otherwise equal. @return false if it is not; nothing is then changed */
    bool setTargets(const ConstraintSet& other);
    /** Make the shapes of bodies that may be mirrored those that positions have.
     *  @return whether any changed */
    bool matchMirrorImages(const Real3* positions, const Box& box);
    /** Set the time (ps) of the states in later calls, for moving constraints. */
    void setTime(double now) {
        time = now;
    }
    double getTime() const {
        return time;
    }
    /** Set the Context parameters that expressions and targets depend on. @param valueOf  (name) -> value
     *  @return whether any changed */
    bool setGlobals(const std::function<double(const std::string&)>& valueOf);
    /** The same with the result of getGlobals(). */
    bool setGlobals(const std::vector<double>& values);
    /** Their names and present values, those of each expression in turn, then those of targets. */
    std::vector<std::string> getGlobalNames() const;
    std::vector<double> getGlobals() const;

    /** Solve sigma(r + delta) = 0. Positions are not changed.
     *  @param positions  [numParticles] nm, at the start of the step, where gradients are computed
     *  @param delta      [numParticles] nm; in: unconstrained displacement, out: constrained
     *  @param duration   ps until r + delta, at which the targets of moving constraints are taken
     *  @param velocity   [numParticles] nm/ps; the impulse is added, v_i += (1/(m_i dt)) sum_k lambda_k grad_i
     *                    sigma_k(0) (3.9.16), where dt is the duration, unless that is 0. null: no velocities
     *  @return the result; unless it converged, delta and velocity are undefined */
    SolveReport solvePositions(const Real3* positions, const Box& box, Real3* delta, double tolerance,
                               int maxIterations, double duration = 0, Real3* velocity = nullptr);
    /** Solve sum_i grad_i sigma_k . v_i + d sigma_k/dt = 0.
     *  @param velocity   [numParticles] nm/ps; in: unconstrained, out: constrained
     *  @param timeScale  ps; the error is |d sigma/dt| * timeScale, relative as for positions
     *  @return the result; unless it converged, velocity is undefined */
    SolveReport solveVelocities(const Real3* positions, const Box& box, Real3* velocity, double timeScale,
                                double tolerance, int maxIterations);
    /** Instantaneous constraint forces: solve (J M^-1 J^T) lambda = -(J a + J-dot v + feedback) and add M^-1 J^T lambda
     *  to a.
     *  @param velocity      [numParticles] nm/ps
     *  @param acceleration  [numParticles] nm/ps^2; in: M^-1 F, out: constrained
     *  @param[out] multipliers  0 for dependent constraints
     *  @return how it went; errors are relative to the largest right-hand side */
    SolveReport solveAccelerations(const Real3* positions, const Box& box, const Real3* velocity, Real3* acceleration,
                                   ForceMultipliers& multipliers, int maxIterations,
                                   const Stabilization& feedback = {});
    /** A column of Z^-1 = (J M^-1 J^T)^-1 and b = M^-1 J^T of it.
     *  @param constraint  of the column
     *  @param[out] b      [numParticles], zero on input
     *  @param[out] column [constraints], 0 for those that are not solved
     *  @return false if the constraint is not solved as a single row, or Z is singular */
    bool solveUnitColumn(int constraint, const Real3* positions, const Box& box, Real3* b, std::vector<double>& column,
                         int maxIterations);
    /** Constraints that are coupled, dependent ones included: [groups][...]. */
    std::vector<std::vector<int>> groups() const {
        return findClusters(set, movable);
    }
    /** Those of each group that are not solved because they depend on the others. */
    std::vector<std::vector<int>> dependentByGroup() const;
    /** The null vector n of J^T, [constraints], that belongs to some dependent constraints d of different groups:
     *  n_d = 1, and n_k = -a_k with J_d = sum_k a_k J_k. */
    std::vector<double> dependence(const std::vector<int>& constraints, const Real3* positions, const Box& box,
                                   int maxIterations);
    /** Additional centripetal multipliers if half of a drift has the velocities v + w/2 and half v - w/2, beyond those
     * for their mean v: (J M^-1 J^T) lambda = -1/4 w^T H w, with H the second derivatives of sigma.
     *  @param w  [numParticles] nm/ps
     *  @param[out] multipliers  0 for dependent constraints
     *  @return how it went; errors are relative to the largest right-hand side */
    SolveReport solveVelocitySpread(const Real3* positions, const Box& box, const Real3* w,
                                    ForceMultipliers& multipliers, int maxIterations);
    /** v^T H v of every constraint that is solved. @return [constraints] */
    std::vector<double> curvatures(const Real3* positions, const Box& box, const Real3* v);
    /** The sum of u . (v x I w + w x I v)/2 over the joined bodies, with their angular velocities u, v and w
     *  for three fields [numParticles]; zero if these are equal. */
    double gyration(const Real3* positions, const Box& box, const Real3* u, const Real3* v, const Real3* w);
    /** d sigma/dt of every constraint at fixed positions. @return [constraints] */
    std::vector<double> timeDerivatives(const Real3* positions, const Box& box);
    /** Whether constraints join rigid bodies. */
    bool hasJoinedBodies() const {
        return !joinedGroups.empty();
    }
    /** Whether any constraint moves in time. */
    bool moves() const {
        return jacobian->moves() || checks->moves();
    }
    /** Project positions that are far off: Newton's method with gradients recomputed at every iteration, and steps
     * halved until no error grows. Only for initial positions: a time step needs the gradients at its start.
     *  @param x  [numParticles] nm, in and out
     *  @return the result; unless it converged, x is undefined */
    SolveReport approach(Real3* x, const Box& box, double tolerance, int maxIterations);
    /** Largest error of any constraint, without solving. */
    SolveReport measurePositions(const Real3* positions, const Box& box);
    /** The same for some constraints only, at a time (ps). It does not change the solver. */
    SolveReport measurePositions(const std::vector<int>& constraints, const Real3* positions, const Box& box,
                                 double time) const;
    SolveReport measureVelocities(const Real3* positions, const Box& box, const Real3* velocity, double timeScale);
    /** Why bodies cannot be placed at positions. */
    struct Misplaced {
        enum Reason { None, Mirrored, Anchors } reason = None;
        int body = -1;
        int anchor = -1;     ///< particle
        double distance = 0; ///< nm, of the anchor from its place
    };
    /** Move the bodies whose errors exceed a threshold where they fit given positions best.
     *  @param ofAnchors  error that immovable particles may have; both are relative to the radius
     *  @param x  [numParticles] nm, in and out
     *  @return the first body that is a mirror image of its shape, or whose anchors contradict it; it is not moved */
    Misplaced placeBodies(Real3* x, const Box& box, double threshold, double ofAnchors) const;
    /** Choose which of the redundant constraints to solve at actual positions: the best conditioned choice of as many
     * as are independent at generic positions, where bonds keep the images that they have. Until then the choice is the
     * one made at generic positions without images. */
    void chooseIndependent(const Real3* positions, const Box& box);
    /** Whether rank() is the same at all positions at which the constraints hold, in a box or a larger one. It is not
     *  where joined bodies form a loop, nor where redundant constraints may join particles to their own images. */
    bool isRankKnown(const Box& box) const;
    /** If it is not: constraints of a group whose rank depends on positions, ascending. */
    std::vector<int> constraintsOfUnknownRank(const Box& box) const;
    /** Choose at positions to which no step has led, moving a copy of them onto the shapes of bodies.
     *  @return false if bodies cannot be placed there: the choice is as it was */
    bool chooseAt(std::vector<Real3> positions, const Box& box, double time);
    /** Check at actual positions that the solved constraints are independent there; if not, the result isSingular().
     *  Those of joined bodies are chosen again, since the positions at which they hold may have another rank. */
    RankAnalysis checkRank(const Real3* positions, const Box& box);

    /** Constraints whose rank could not be determined; they are not supported. */
    const std::vector<int>& getUndecided() const {
        return undecided;
    }
    /** Coupled constraints some of which are redundant: not solved, since they depend on the others. */
    struct RedundantGroup {
        std::vector<int> all, dependent; ///< ascending
    };
    std::vector<RedundantGroup> getRedundant() const;
    /** Number of degrees of freedom that independent constraints and bodies take away. */
    int rank() const;
    /** The same for each group of particles that constraints and bodies join: {those with mass, ascending; rank}. */
    std::vector<std::pair<std::vector<int>, int>> rankOfGroups() const;
    const ConstraintSet& getSet() const {
        return set;
    }
    const ConstraintGraph& getGraph() const {
        return *graph;
    }
    Method getMethod() const {
        return method;
    }
    /** Constraints that are not solved because they are redundant, immovable, or replaced by a rigid body. */
    const std::vector<int>& getChecked() const {
        return checked;
    }
    /** Changes whenever the graph, the set or the choice of solved constraints changes. */
    int getRevision() const {
        return revision;
    }
    /** Multipliers of the last stages, from which a warm start begins. */
    Impulses getImpulses() const {
        return readImpulses();
    }
    /** The same without a copy, until the next stage. */
    const Impulses& readImpulses() const;
    void setImpulses(const Impulses& impulses);
    /** Start the next stages from zero. */
    void forgetImpulses();
    /** Multiply lambda because the next position stage has another step size; it scales with the square. */
    void rescaleImpulses(double factor);
    /** Changes whenever one of the last three functions is called; solves do not change it. */
    int getImpulsesRevision() const {
        return impulsesRevision;
    }
    /** A smaller tolerance if there are redundant constraints, in which errors of the solved ones add up, or copies of
     *  particles, which then move as their mean. */
    double innerTolerance(double tolerance) const {
        return checked.empty() && set.numCopies == 0 ? tolerance : std::max(0.05 * tolerance, 1e-15);
    }

private:
    void build();
    void rebuild();
    /** Solve other constraints. @param isActive  [constraints] */
    void activate(const std::vector<char>& isActive);
    /** Make some constraints of joined bodies, and no others, active. @param[in, out] isActive  [constraints] */
    void activateJoints(const JointRows& rows, std::vector<char>& isActive);
    std::vector<char> activeOnes() const;
    void forgetWidths() {
        knownFrom = redundant.empty() ? 0 : HUGE_VAL;
        openTo = -1;
    }
    /** As many constraints of a redundant group as are independent at generic positions, with the images that bonds
     *  have at some positions. */
    std::vector<int> independentOf(std::size_t group, const Real3* positions, const Box& box);
    /** The best conditioned choice of as many constraints of a group as are given. */
    std::vector<int> chooseAmong(const std::vector<int>& group, const std::vector<int>& present, const Real3* positions,
                                 const Box& box) const;
    void makeDistances();
    /** Set the start of both Jacobians, unless it is set: the velocity stage and the next position stage have the same.
     *  @return as Jacobian::setStart */
    int setStart(const Real3* positions, const Box& box);
    /** Solve J x + offset = 0 by x += M^-1 J^T multipliers, both by row, to rounding. */
    SolveReport solveLinear(const std::vector<double>& offset, double largest, Real3* x,
                            std::vector<double>& multipliers, int maxIterations);
    std::vector<double> byConstraint(const std::vector<double>& byRow) const;
    void sortByConstraint(const std::vector<double>& byRow, std::vector<double>& result) const;
    SolveReport reportNoGradient(int row, const Real3* positions) const;
    void setEndTime(double end);
    /** Find which clusters solve for nodes, and which particles these have. */
    void findNodes();
    /** Take a field of the particles to the nodes that clusters with joined bodies solve for. */
    void gather(const Real3* x);
    /** The particles among them back, and others that rows with joined bodies have to the nodes. */
    void scatter(Real3* x);
    /** Take particles to the nodes. */
    void refreshNodes(const Real3* x) {
        for (int p : nodeParticles)
            nodes[p] = x[p];
    }
    /** x += scale M^-1 grad sigma, with x of the particles and `nodes` of the bodies. */
    void addImpulse(const Jacobian& J, int row, double scale, Real3* x);
    /** What a row is evaluated with. */
    const Real3* fieldOf(const Jacobian& J, int row, const Real3* x) const {
        return J.isJoined(row) ? nodes.data() : x;
    }
    bool hasJoined() const {
        return jacobian->joinedRows() != nullptr;
    }
    const JoinedBodies& joinedBodies() const {
        return jacobian->joinedRows()->bodies;
    }
    /** Motions of the joined bodies. @param motionOf  (body) -> motion */
    JoinedMotions motions(const std::function<rigid::RigidMotion(int body)>& motionOf) const;
    /** The bodies' part of a field that solveLinear() has found from the particles' part alone. */
    void setBodies(const Real3* positions, const Box& box, Real3* x);
    /** Set the start of clusters that the simple solvers solve, and of the checks. @return as Jacobian::setStart */
    int setStart(const Real3* positions, const Box& box, const std::vector<int>& clusters);
    /** Whether all rows of the Jacobian have their start there, now. */
    bool isStart(const Real3* positions, const Box& box) const;
    using SolveCluster = std::function<ClusterReport(ClusterSolver&, const Cluster&, double tolerance, Real3* x)>;
    SolveReport solve(const std::vector<int>& clusters, double tolerance, std::vector<double>& multipliers, Real3* x,
                      const SolveCluster& solveCluster);
    // ---- ConstraintBorder.cpp
    void makeBorder();
    bool isBorderSet(const Real3* positions, const Box& box) const;
    /** Set the start of the bordered rows, their responses, and S. If one of the clusters or S is singular,
     *  borderReport says so. @return as Jacobian::setStart */
    int setBorder(const Real3* positions, const Box& box);
    SolveReport solveResponses(const Real3* positions, const Box& box);
    /** A stage with a border. Bordered rows are evaluated at x; `isLinear` is one whose S is the start's. */
    struct Turns {
        Real3* x; ///< [numParticles]; the other nodes are in `nodes`
        std::vector<double>* multipliers;
        bool* hasFast; ///< of these multipliers
        double tolerance;
        int maxIterations;
        bool isLinear;
        /** Solve some clusters, in the first turn all. @param again  whether it is another turn */
        std::function<SolveReport(const std::vector<int>& clusters, bool again)> solveClusters;
        /** What a row's residual will be once the clusters are solved, less G P x. */
        std::function<double(int row)> offset;
        std::function<double(int row)> residual;
        std::function<double(int row, double residual)> error;
        std::function<double(int row, double residual)> value; ///< as SolveReport::value
    };
    /** Correct the bordered rows for what will be left of their residuals once the clusters are solved, then in turns
     * solve the clusters and correct the bordered rows for what is left, until both hold. */
    SolveReport takeTurns(const Turns& stage);
    /** Put the DistanceSolver's multipliers of a stage to the others. */
    void takeFast(const Turns& stage);
    /** Find the worst of all constraints of a stage, its error and its value.
     *  @param measure  (Jacobian with its start set, row) -> {error, value} */
    template <class Measure>
    void describeWorst(SolveReport& report, const DistanceSolver::Report& fast, const Real3* positions, const Box& box,
                       double endTime, Measure measure) const;

    ConstraintSet set;
    Method method;
    Centroids centroids;
    bool warmStart = false;
    int revision = 0, impulsesRevision = 0;
    double time = 0;
    std::vector<int> movable;                // constraints with a movable particle, not replaced by a rigid body
    std::vector<int> active;                 // the independent ones among them
    std::vector<std::vector<int>> redundant; // groups of which some depend on the others
    struct WoundChoice {                     // of constraints whose bonds wind around the box
        std::vector<std::array<int, 3>> windings;
        std::vector<int> independent;
    };
    std::vector<std::vector<int>> unwound;     // [redundant] those that are independent without a box
    std::vector<WoundChoice> wound;            // [redundant] empty: nothing winds
    bool areJointsKnown = true;                // areJointsIndependent()
    mutable double knownFrom = 0, openTo = -1; // nm, widths of boxes in which rings are known not to wind, or may wind
    std::vector<int> undecided;                // those whose rank could not be determined
    std::vector<int> checked;                  // all others, but ignored ones
    std::unique_ptr<ConstraintGraph> graph;
    std::unique_ptr<Jacobian> jacobian; // of the graph's rows
    std::unique_ptr<Jacobian> checks;   // of the checked ones
    IterativeSolver iterative;
    std::unique_ptr<MatrixInversionSolver> matrixInversion;
    std::unique_ptr<BorderSolver> border; // null: the graph has none
    std::vector<int> borderParticles;     // which its responses depend on, ascending
    std::vector<Real3> borderStart;       // [borderParticles] where its responses are known; empty: they are not
    std::vector<Real3> responseField;     // [numParticles] zero between uses
    Box borderBox;
    double borderTime = 0;
    SolveReport borderReport; // how it went to find them
    RigidBodySolver bodies;
    mutable Impulses last; // those of bodies are kept here, those of constraints put here by readImpulses()
    std::shared_ptr<TaskRunner> runner;        // null: no distances
    std::unique_ptr<DistanceSolver> distances; // null: the simple solvers solve all clusters
    std::vector<int> everyCluster;
    std::vector<char> isOnNodes;                // [clusters] whether it has joined bodies
    std::vector<int> nodeParticles;             // of all rows with joined bodies, and of these clusters
    std::vector<int> solvedParticles;           // of these clusters
    std::vector<Real3> nodes;                   // [numNodes] what they solve for; empty if there are none
    std::vector<std::vector<int>> joinedGroups; // coupled constraints with joined bodies
    std::vector<char> areLoose;                 // [joinedGroups] JointRows::areLoose: they are not checked
    bool hasFastLambda = false,
         hasFastMu = false;            // whether DistanceSolver has multipliers of the last stage
    std::vector<Real3> startPositions; // of the Jacobians; empty where they have none
    Box startBox;
    double startTime = 0;
    int startWithoutGradient = -1;
    std::vector<double> lambda, mu;                         // by row
    mutable std::vector<double> positionRows, velocityRows; // the same, with the DistanceSolver's
    std::vector<Real3> restart;
};

} // namespace ConstraintPlugin

#endif
