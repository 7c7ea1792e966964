// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintSolver.h"
#include "GenericRank.h"
#include "MirrorImages.h"
#include "OutOfMemory.h"
#include "WorstError.h"
#include <cstring>
#include <numeric>

namespace ConstraintPlugin {

ConstraintSolver::ConstraintSolver(ConstraintSet given, Method method)
    : set(std::move(given)), method(method), bodies(set.bodies) {
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (const Constraint& c = set.constraints[k]; set.isMovable(c) && !c.isAbsorbed)
            movable.push_back(k);
    const auto describeAnalysis = [&] {
        return "the rank analysis of " + std::to_string(movable.size()) + " constraints";
    };
    // Which constraints of joined bodies are independent, is known once there are positions: chooseIndependent().
    std::vector<int> ofParticles, ofBodies;
    for (std::vector<int>& group : findClusters(set, movable)) {
        const bool isJoined =
            std::any_of(group.begin(), group.end(), [&](int k) { return set.isJoined(set.constraints[k]); });
        std::vector<int>& list = isJoined ? ofBodies : ofParticles;
        list.insert(list.end(), group.begin(), group.end());
        if (isJoined)
            joinedGroups.push_back(std::move(group));
    }
    areLoose.resize(joinedGroups.size());
    std::sort(ofParticles.begin(), ofParticles.end());
    GenericRank rank;
    try {
        rank = allocating(describeAnalysis, false, [&] { return analyzeGenericRank(set, ofParticles); });
    } catch (const OutOfMemory& error) { // for a factor that every method needs here
        throw OutOfMemory(error.isOfSolver ? describeAnalysis() + ": " + error.what() : error.what(), false);
    }
    active = std::move(rank.independent);
    active.insert(active.end(), ofBodies.begin(), ofBodies.end());
    std::sort(active.begin(), active.end());
    redundant = std::move(rank.redundant);
    undecided = std::move(rank.undecided);
    build();
    forgetImpulses();
}

void ConstraintSolver::setTaskRunner(std::shared_ptr<TaskRunner> given) {
    const Impulses kept = getImpulses();
    runner = std::move(given);
    bodies.setTaskRunner(runner);
    makeDistances();
    setImpulses(kept);
}

void ConstraintSolver::makeDistances() {
    distances = runner == nullptr ? nullptr : std::make_unique<DistanceSolver>(set, *graph, runner);
    hasFastLambda = hasFastMu = false;
}

void ConstraintSolver::setMethod(Method newMethod) {
    if (newMethod == method)
        return;
    method = newMethod;
    rebuild();
}

bool ConstraintSolver::setTargets(const ConstraintSet& other) {
    auto isSame = [](const Constraint& a, const Constraint& b) {
        return a.kind == b.kind && a.particles == b.particles && a.force == b.force && a.index == b.index &&
               a.nodes == b.nodes && a.joint == b.joint && a.isAbsorbed == b.isAbsorbed && a.recognized == b.recognized;
    };
    auto isSameBody = [](const RigidBody& a, const RigidBody& b) {
        return a.particles == b.particles && a.force == b.force && a.index == b.index &&
               a.constants.rotations == b.constants.rotations && a.isLinear == b.isLinear && a.isJoined == b.isJoined;
    };
    auto isSameForm = [](const auto& a, const auto& b) {
        return a->isDistance() || a->getWeights() == b->getWeights(); // weights are part of kernels
    };
    // Masses are those of the Context, which the System's may differ from by now.
    std::vector<RigidBody> newBodies = other.bodies;
    for (RigidBody& body : newBodies)
        body = withMasses(std::move(body), set.inverseMass);
    if (set.numListed != other.numListed || set.custom.size() != other.custom.size() ||
        !std::equal(set.custom.begin(), set.custom.end(), other.custom.begin(), isSameForm) ||
        !std::equal(set.bodies.begin(), set.bodies.end(), newBodies.begin(), newBodies.end(), isSameBody) ||
        !std::equal(set.constraints.begin(), set.constraints.end(), other.constraints.begin(), other.constraints.end(),
                    isSame))
        return false;
    // Context parameters keep their values, not those that the Force has for a new Context.
    for (std::size_t i = 0; i < set.custom.size(); i++)
        if (other.custom[i]->getGlobalNames() == set.custom[i]->getGlobalNames())
            other.custom[i]->setGlobals(set.custom[i]->getGlobals());
    set.constraints = other.constraints;
    set.affine = other.affine;
    set.bodies = std::move(newBodies);
    bodies.takeShapes();
    set.custom = other.custom;
    set.parameters = other.parameters;
    set.globals = other.globals;
    set.recognized = other.recognized;
    set.fitDeviation = other.fitDeviation;
    set.fittedConstraint = other.fittedConstraint;
    set.absorbedDeviation = other.absorbedDeviation;
    set.absorbedConstraint = other.absorbedConstraint;
    rebuild();
    return true;
}

bool ConstraintSolver::matchMirrorImages(const Real3* positions, const Box& box) {
    const std::vector<int> mirrored = findMirrored(set, positions, box);
    if (mirrored.empty())
        return false;
    mirror(set, mirrored);
    bodies.takeShapes();
    if (std::any_of(mirrored.begin(), mirrored.end(), [&](int b) { return set.bodies[b].isJoined; }))
        rebuild(); // equations of joints have axes of the shapes
    return true;
}

bool ConstraintSolver::setGlobals(const std::function<double(const std::string&)>& valueOf) {
    std::vector<double> values;
    for (const std::string& name : getGlobalNames())
        values.push_back(valueOf(name));
    return setGlobals(values);
}

std::vector<std::string> ConstraintSolver::getGlobalNames() const {
    std::vector<std::string> names;
    for (const auto& custom : set.custom)
        names.insert(names.end(), custom->getGlobalNames().begin(), custom->getGlobalNames().end());
    for (const GlobalParameter& global : set.globals)
        names.push_back(global.name);
    return names;
}

std::vector<double> ConstraintSolver::getGlobals() const {
    std::vector<double> values;
    for (const auto& custom : set.custom)
        for (double value : custom->getGlobals())
            values.push_back(value);
    for (const GlobalParameter& global : set.globals)
        values.push_back(global.value);
    return values;
}

bool ConstraintSolver::setGlobals(const std::vector<double>& values) {
    bool changed = false, targetsChanged = false;
    auto next = values.begin();
    for (const auto& custom : set.custom) {
        const auto last = next + custom->getGlobalNames().size();
        changed = custom->setGlobals({next, last}) || changed;
        next = last;
    }
    for (GlobalParameter& global : set.globals) {
        targetsChanged = targetsChanged || global.value != *next;
        global.value = *next++;
    }
    if (targetsChanged) {
        set.interpolateTargets();
        jacobian->takeTargets(set);
        checks->takeTargets(set);
    }
    if (changed || targetsChanged)
        startPositions.clear();
    return changed || targetsChanged;
}

void ConstraintSolver::rebuild() {
    const Impulses kept = getImpulses();
    build();
    setImpulses(kept);
}

void ConstraintSolver::build() {
    revision++;
    graph = std::make_unique<ConstraintGraph>(set, active, method);
    std::vector<char> isActive(set.constraints.size(), 0);
    for (int k : active)
        isActive[k] = 1;
    for (std::size_t g = 0; g < areLoose.size(); g++)
        for (int k : areLoose[g] ? joinedGroups[g] : std::vector<int>())
            isActive[k] = 1; // or need not be
    checked.clear();
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (const Constraint& c = set.constraints[k]; !isActive[k] && !set.isIgnored(c) && c.joint[0] < 0)
            checked.push_back(k);
    jacobian = std::make_unique<Jacobian>(set, graph->rows);
    checks = std::make_unique<Jacobian>(set, checked);
    const auto describeFactors = [&] {
        FillCount sum;
        for (const SymbolicFactor& factor : graph->factors) {
            sum.entries += (double) factor.entryRow.size();
            sum.updates += (double) factor.numUpdates;
        }
        return "factors of all clusters, " + describe(sum);
    };
    matrixInversion =
        allocating(describeFactors, true, [&] { return std::make_unique<MatrixInversionSolver>(*graph); });
    everyCluster.resize(graph->clusters.size());
    std::iota(everyCluster.begin(), everyCluster.end(), 0);
    findNodes();
    makeDistances();
    startPositions.clear();
}

int ConstraintSolver::setStart(const Real3* positions, const Box& box) {
    const std::size_t bytes = set.numParticles() * sizeof(Real3);
    if (startPositions.empty() || std::memcmp(startPositions.data(), positions, bytes) != 0 ||
        std::memcmp(&startBox, &box, sizeof(Box)) != 0 || (moves() && startTime != time)) {
        startWithoutGradient = jacobian->setStart(positions, box, time);
        checks->setStart(positions, box, time);
        startPositions.assign(positions, positions + set.numParticles());
        startBox = box;
        startTime = time;
    } else
        setEndTime(time);
    return startWithoutGradient;
}

int ConstraintSolver::setStart(const Real3* positions, const Box& box, const std::vector<int>& clusters) {
    if (clusters.size() == everyCluster.size())
        return setStart(positions, box);
    if (clusters.empty() && checked.empty())
        return -1;
    startPositions.clear();
    std::vector<Jacobian::RowRange> rows;
    for (int c : clusters)
        rows.push_back({graph->clusters[c].begin, graph->clusters[c].end});
    checks->setStart(positions, box, time);
    return jacobian->setStart(positions, box, time, rows);
}

void ConstraintSolver::setEndTime(double end) {
    jacobian->setTime(end);
    checks->setTime(end);
}

template <class SolveCluster>
SolveReport ConstraintSolver::solve(const std::vector<int>& clusters, double tolerance,
                                    std::vector<double>& multipliers, Real3* particles, SolveCluster solveCluster) {
    SolveReport report;
    for (int c : clusters) {
        Real3* const x = isOnNodes[c] ? nodes.data() : particles;
        const Cluster& cluster = graph->clusters[c];
        const bool isIterative = cluster.kind == ClusterSolverKind::Iterative;
        ClusterSolver& solver = isIterative ? (ClusterSolver&) iterative : *matrixInversion;
        const int firstSlot = jacobian->slotStart[cluster.begin], lastSlot = jacobian->slotStart[cluster.end];
        if (!warmStart)
            std::fill(multipliers.begin() + cluster.begin, multipliers.begin() + cluster.end, 0.0);
        const bool isWarm = isIterative && warmStart;
        if (isWarm) {
            restart.resize(set.numNodes());
            for (int s = firstSlot; s < lastSlot; s++)
                restart[jacobian->particle[s]] = x[jacobian->particle[s]];
        }
        ClusterReport result = solveCluster(solver, cluster, innerTolerance(tolerance), x);
        if (isWarm && result.outcome != Outcome::Converged) { // the last step's multipliers may be a bad start
            for (int s = firstSlot; s < lastSlot; s++)
                x[jacobian->particle[s]] = restart[jacobian->particle[s]];
            std::fill(multipliers.begin() + cluster.begin, multipliers.begin() + cluster.end, 0.0);
            result = solveCluster(solver, cluster, innerTolerance(tolerance), x);
        }
        report.iterations = std::max(report.iterations, result.iterations);
        const bool failed = result.outcome != Outcome::Converged;
        if (failed || result.maxError > report.maxError || report.constraint < 0) {
            report.maxError = result.maxError;
            report.constraint = result.row < 0 ? -1 : graph->rows[result.row];
        }
        if (failed) {
            report.outcome = result.outcome;
            break;
        }
    }
    scatter(particles);
    return report;
}

namespace {

/** Whether all constraints that are solved hold. Callers may accept what is left of those that depend on them. */
bool isSolved(const SolveReport& report) {
    return report.outcome == Outcome::Converged || report.outcome == Outcome::Inconsistent;
}

/** Add that a body could not be solved. */
void noteFailure(SolveReport& report, const BodyReport& failed) {
    if (failed.isSolved)
        return;
    const bool isFinite = std::isfinite(failed.rotation);
    report.outcome = isFinite ? Outcome::NotConverged : Outcome::NotFinite;
    report.body = failed.body;
    report.constraint = -1;
    report.maxError = report.rotation = failed.rotation;
}

} // namespace

template <class Measure>
void ConstraintSolver::describeWorst(SolveReport& report, const DistanceSolver::Report& fast, const Real3* positions,
                                     const Box& box, double endTime, Measure measure) const {
    std::vector<int> candidates;
    const bool isConverged = report.outcome == Outcome::Converged;
    if (isConverged && !fast.worst.empty() && (report.constraint < 0 || fast.maxError > report.maxError))
        for (int row : fast.worst)
            candidates.push_back(graph->rows[row]);
    else if (report.constraint >= 0)
        candidates.push_back(report.constraint);
    else
        return;
    Jacobian worst(set, candidates);
    worst.setStart(positions, box, time);
    worst.setTime(endTime);
    SolveReport measured;
    noteAll(measured, candidates, [&](int row) { return measure(worst, row); });
    if (isConverged)
        report.maxError = measured.maxError;
    report.constraint = measured.constraint;
    report.value = measured.value;
}

SolveReport ConstraintSolver::solvePositions(const Real3* positions, const Box& box, Real3* delta, double tolerance,
                                             int maxIterations, double duration, Real3* velocity) {
    auto measure = [&](Jacobian& J, int row) {
        const double q = J.evaluate(row, fieldOf(J, row, delta));
        return ErrorAndValue{J.error(row, J.residual(row, q)), q};
    };
    const double perTime = duration > 0 && velocity != nullptr ? 1 / duration : 0;
    DistanceSolver::Report fast{everyCluster};
    if (distances != nullptr)
        fast = distances->solvePositions(positions, box, delta, innerTolerance(tolerance), maxIterations,
                                         perTime > 0 ? velocity : nullptr, perTime);
    hasFastLambda = distances != nullptr;
    const int bad = setStart(positions, box, fast.unsolved);
    if (bad >= 0)
        return reportNoGradient(bad, positions);
    setEndTime(time + duration);
    gather(delta);
    SolveReport report =
        solve(fast.unsolved, tolerance, lambda, delta, [&](ClusterSolver& s, const Cluster& c, double tol, Real3* x) {
            return s.solvePositions(c, StageInput{*jacobian, tol, maxIterations}, x, lambda.data());
        });
    report.iterations = std::max(report.iterations, fast.iterations);
    if (report.outcome == Outcome::Converged) {
        for (int c : fast.unsolved)
            for (int row = graph->clusters[c].begin; perTime > 0 && row < graph->clusters[c].end; row++)
                jacobian->addParticleImpulse(row, lambda[row] * perTime, velocity);
        noteAll(report, checked, [&](int row) { return measure(*checks, row); });
        if (!(report.maxError <= tolerance))
            report.outcome = Outcome::Inconsistent;
    }
    describeWorst(report, fast, positions, box, time + duration, measure);
    if (report.outcome == Outcome::NotFinite && hasJoined())
        noteFailure(report, jacobian->joinedRows()->bodies.reportTurn());
    if (isSolved(report))
        noteFailure(report,
                    bodies.solvePositions(positions, box, delta, perTime, perTime > 0 ? velocity : nullptr,
                                          last.lambdaOfBodies, motions([&](int b) {
                                              return jacobian->joinedRows()->bodies.displaced(b, nodes.data()).motion;
                                          })));
    return report;
}

SolveReport ConstraintSolver::solveVelocities(const Real3* positions, const Box& box, Real3* velocity, double timeScale,
                                              double tolerance, int maxIterations) {
    auto measure = [&](const Jacobian& J, int row) {
        const double rate = J.rate(row, fieldOf(J, row, velocity)) + J.timeDerivative[row];
        return ErrorAndValue{std::abs(rate) * timeScale * J.inverseScale[row], rate};
    };
    DistanceSolver::Report fast{everyCluster};
    if (distances != nullptr)
        fast =
            distances->solveVelocities(positions, box, velocity, timeScale, innerTolerance(tolerance), maxIterations);
    hasFastMu = distances != nullptr;
    const int bad = setStart(positions, box, fast.unsolved);
    if (bad >= 0)
        return reportNoGradient(bad, positions);
    gather(velocity);
    SolveReport report =
        solve(fast.unsolved, tolerance, mu, velocity, [&](ClusterSolver& s, const Cluster& c, double tol, Real3* v) {
            StageInput input{*jacobian, tol, maxIterations};
            input.rateOffset = jacobian->moves() ? jacobian->timeDerivative.data() : nullptr;
            return s.solveVelocities(c, input, timeScale, v, mu.data());
        });
    report.iterations = std::max(report.iterations, fast.iterations);
    if (report.outcome == Outcome::Converged) {
        noteAll(report, checked, [&](int row) { return measure(*checks, row); });
        if (!(report.maxError <= tolerance))
            report.outcome = Outcome::Inconsistent;
    }
    describeWorst(report, fast, positions, box, time, measure);
    if (isSolved(report))
        noteFailure(report, bodies.solveVelocities(positions, box, velocity, last.muOfBodies, motions([&](int b) {
                                                       return joinedBodies().velocityOf(b, nodes.data());
                                                   })));
    return report;
}

SolveReport ConstraintSolver::solveAccelerations(const Real3* positions, const Box& box, const Real3* velocity,
                                                 Real3* acceleration, ForceMultipliers& multipliers, int maxIterations,
                                                 const Stabilization& feedback) {
    const int bad = setStart(positions, box);
    if (bad >= 0)
        return reportNoGradient(bad, positions);
    std::vector<double> offset(graph->numRows()), byRow(graph->numRows());
    gather(velocity);
    const std::vector<Real3> rates = nodes;
    gather(acceleration);
    if (hasJoined())
        joinedBodies().addGyration(rates.data(), nodes.data());
    double largest = 0;
    for (int row = 0; row < graph->numRows(); row++) {
        const Real3* v = jacobian->isJoined(row) ? rates.data() : velocity;
        const double rate = jacobian->rate(row, v) + jacobian->timeDerivative[row];
        const double sigma = jacobian->residual(row, jacobian->startValue(row));
        offset[row] = jacobian->curvature(row, v) + 2 * feedback.alpha * rate + feedback.beta * feedback.beta * sigma;
        const double size =
            std::abs(offset[row]) + std::abs(jacobian->rate(row, fieldOf(*jacobian, row, acceleration)));
        largest = std::max(largest, size * jacobian->inverseScale[row]);
    }
    SolveReport report = solveLinear(offset, largest, acceleration, byRow, maxIterations);
    sortByConstraint(byRow, multipliers.values);
    if (report.outcome == Outcome::Converged)
        noteFailure(report,
                    bodies.solveAccelerations(
                        positions, box, velocity, acceleration, feedback, multipliers.ofBodies,
                        motions([&](int b) { return joinedBodies().accelerationOf(b, nodes.data(), rates.data()); })));
    return report;
}

SolveReport ConstraintSolver::solveLinear(const std::vector<double>& offset, double largest, Real3* x,
                                          std::vector<double>& multipliers, int maxIterations) {
    // Errors are relative to the largest right-hand side; the problem is linear, and one refinement reaches this.
    const double timeScale = largest > 0 ? 1 / largest : 1;
    SolveReport report =
        solve(everyCluster, 1e-12, multipliers, x, [&](ClusterSolver& s, const Cluster& c, double tol, Real3* field) {
            StageInput input{*jacobian, tol, maxIterations};
            input.rateOffset = offset.data();
            return s.solveVelocities(c, input, timeScale, field, multipliers.data());
        });
    // An error slightly above the tolerance because of rounding is accepted; a singular or non-finite system is not.
    if (report.outcome == Outcome::NotConverged && report.maxError < 1e-8)
        report.outcome = Outcome::Converged;
    return report;
}

} // namespace ConstraintPlugin
