// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REPLACING_SOLVER_H_
#define OPENMM_CONSTRAINTS_REPLACING_SOLVER_H_

#include "HeldParticles.h"
#include "SolveNotes.h"
#include "openmm/Vec3.h"
#include "openmm/internal/ContextImpl.h"
#include <functional>

namespace ConstraintPlugin {

/** How a platform stores positions, and what its solves reach. */
struct PlatformPrecision {
    double positionEpsilon = 2.2e-16; ///< ProjectionSettings
    double smallestTolerance = 0;     ///< likewise
    Centroids centroids = Centroids::Bordered;
};

/** Solves the constraints of a Context for an integrator that is none of ours, on the host: on the Reference and CPU
 *  platforms whenever that asks ReferenceConstraints to, on devices where others have set the state. It is told neither
 *  what a step is nor who has moved the particles since the last call, so it compares the positions with those that it
 *  left. Where they differ (setPositions, a checkpoint, a barostat), mirror images, independent rows and periodic
 *  images are chosen anew, and positions that violate the constraints are projected before gradients are computed at
 *  them. */
class ReplacingSolver {
public:
    /** @param runner  threads of DistanceSolver; null: the simple solvers */
    ReplacingSolver(OpenMM::ContextImpl& context, const ConstraintSet& constraints, std::shared_ptr<TaskRunner> runner,
                    const PlatformPrecision& precision = {});
    /** @return false if other things than targets differ; nothing is changed then */
    bool setTargets(const ConstraintSet& constraints);
    /** Position stage of any step, sigma(r') = 0 with gradients at r: see ConstraintSolver::solvePositions.
     *  @param x   [numParticles] nm, r
     *  @param to  [numParticles] nm, r'; in: unconstrained, out: constrained
     *  @throws ConstraintException if it fails; `to` is then as it was */
    void solvePositions(const Real3* x, Real3* to);
    /** Velocity stage, d sigma/dt = 0. @param v  [numParticles] nm/ps; undefined if it fails */
    void solveVelocities(const Real3* x, Real3* v);
    /** Project positions, in stages if they are far off. @param x  [numParticles] nm */
    void project(Real3* x);
    /** Before a step: bring positions that others have set onto the constraints.
     *  @return whether they have changed */
    bool projectStart(Real3* x);
    /** @throws ConstraintException if others have set positions, from which a constraint of a Force is farther than a
     *          step may move a particle */
    void requireNearConstraints(const Real3* x);
    /** ConstraintSolver::rankOfGroups() at positions, which are not changed. */
    std::vector<std::pair<std::vector<int>, int>> rankOfGroups(const Real3* x);
    SolverSummary getSummary() const;

    // ---- for a device, which solves by itself

    /** The settings of the integrator that takes the steps now. */
    ProjectionSettings settings() const;
    const ConstraintSolver& getSolver() const {
        return solver;
    }
    /** How often bodies have become mirror images. */
    int getShapesRevision() const {
        return shapesRevision;
    }
    /** Take the Context's parameters. @return whether constraints depend on one that has changed */
    bool takeParameters();
    /** The device has solved. @param reports  of what was solved, by stage */
    void noteSolves(const std::vector<SolveReport>& reports);
    /** The next exception is about a step that began at a time (ps): a device has gone on since. */
    void beginStepAt(double time);
    /** @throws ConstraintException that describes a failed solve of the device, in a step or beside one */
    [[noreturn]] void fail(const SolveReport& report, Stage stage);
    /** @throws ConstraintException about a body, or a constraint, that was far off before a step of the device
     *  @param x  after it */
    [[noreturn]] void failFarOff(const SolveReport& before, const Real3* x);
    /** @throws ConstraintException about what is not finite: "velocity" */
    [[noreturn]] void failNotFinite(int particle, const char* what) const;

private:
    /** For exceptions. */
    std::string activity() const;
    Box box() const;
    /** Begin a call: take the Context's parameters and the time. */
    void begin(const char* what);
    bool isKnown(const Real3* x) const;
    void remember(const Real3* x);
    /** Whether the box is another one than after the last solve: most likely a barostat has moved particles, as far as
     * it takes. */
    bool areScaled(const Box& now) const;
    /** Choose independent constraints and mirror images as positions are, where they decide. */
    void takeNewPositions(const Real3* x, const Box& now);
    /** Positions at which gradients are computed: those given, or if they violate the constraints, projected ones.
     *  Valid until the next call. */
    const Real3* onConstraints(const Real3* x, Reach reach);
    /** @throws ConstraintException if a value [numParticles] of a particle that moves is not finite. @param what  it is
     */
    void requireFinite(const Real3* values, const char* what) const;
    SolveCircumstances during(const ProjectionSettings& of) const;

    OpenMM::ContextImpl& context;
    std::shared_ptr<TaskRunner> runner;
    PlatformPrecision precision;
    ConstraintSolver solver;
    Projector projector;
    SolverSummary summary;                   ///< of the present call
    SolverSummary ofPositions, ofVelocities; ///< of the last solve of each in a step
    const char* call = "a step";             // that is being served
    double callTime = 0;                     // ps
    int shapesRevision = 0;
    HeldParticles held;
    std::vector<Real3> known;     // [numParticles] positions after the last solve, of those held; empty: there was none
    Box knownBox;                 // at that time
    std::vector<Real3> projected; // [numParticles] of the present call
    std::vector<Real3> scratch;   // [numParticles] displacements of those that move, else 0
    bool mayBeMirrored;
    bool onlyDistances; // so a failing solve leaves velocities that are not finite to be named, and nobody looks before
};

/** Call a solver for OpenMM. What an integrator of OpenMM has done of a step when this throws, it does not undo, which
 *  the exception says. @param isInStep  whether one is being taken */
void solveForOpenMM(const OpenMM::System& system, bool isInStep, const std::function<void()>& solve);

} // namespace ConstraintPlugin

#endif
