// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of ConstraintSolver other than the stages: how constraints depend on each other, and terms of the linear
// equations for readings.
#include "ConstraintSolver.h"
#include "DisjointSets.h"
#include "GenericRank.h"
#include "IndependentRows.h"
#include "PossibleWindings.h"
#include <iterator>

namespace ConstraintPlugin {

bool ConstraintSolver::solveUnitColumn(int constraint, const Real3* positions, const Box& box, Real3* b,
                                       std::vector<double>& column, int maxIterations) {
    const auto row = std::find(graph->rows.begin(), graph->rows.end(), constraint) - graph->rows.begin();
    if (row == graph->numRows() || set.constraints[constraint].kind == CoordinateKind::LinearAngle ||
        setStart(positions, box) >= 0)
        return false;
    std::vector<double> unit(graph->numRows()), byRow(graph->numRows());
    unit[row] = -1;
    gather(b);
    const SolveReport report = solveLinear(unit, jacobian->inverseScale[row], b, byRow, maxIterations);
    setBodies(positions, box, b);
    column = byConstraint(byRow);
    return report.outcome == Outcome::Converged;
}

std::vector<std::vector<int>> ConstraintSolver::dependentByGroup() const {
    std::vector<std::vector<int>> result;
    if (active.size() == movable.size())
        return result;
    std::vector<char> isActive(set.constraints.size(), 0);
    for (int k : active)
        isActive[k] = 1;
    for (const std::vector<int>& group : groups()) {
        result.emplace_back();
        for (int k : group)
            if (!isActive[k])
                result.back().push_back(k);
    }
    return result;
}

std::vector<ConstraintSolver::RedundantGroup> ConstraintSolver::getRedundant() const {
    std::vector<RedundantGroup> groups;
    for (const std::vector<int>& group : redundant) {
        groups.push_back({group, {}});
        std::set_difference(group.begin(), group.end(), active.begin(), active.end(),
                            std::back_inserter(groups.back().dependent));
    }
    return groups;
}

std::vector<double> ConstraintSolver::dependence(const std::vector<int>& constraints, const Real3* positions,
                                                 const Box& box, int maxIterations) {
    setStart(positions, box);
    Jacobian J(set, constraints);
    J.setStart(positions, box, time);
    std::vector<Real3> x(set.numParticles());
    double largest = 0;
    gather(x.data());
    for (int row = 0; row < J.numRows(); row++) {
        addImpulse(J, row, 1, x.data()); // M^-1 J_d^T, which M^-1 J^T (-a) cancels
        largest = std::max(largest, J.diagonal(row, J.start.data()) * J.inverseScale[row]);
    }
    refreshNodes(x.data());
    std::vector<double> byRow(graph->numRows());
    solveLinear(std::vector<double>(graph->numRows()), largest, x.data(), byRow, maxIterations);
    std::vector<double> result = byConstraint(byRow);
    for (int k : constraints)
        result[k] = 1;
    return result;
}

SolveReport ConstraintSolver::solveVelocitySpread(const Real3* positions, const Box& box, const Real3* w,
                                                  ForceMultipliers& multipliers, int maxIterations) {
    const int bad = setStart(positions, box);
    if (bad >= 0)
        return reportNoGradient(bad, positions);
    std::vector<double> offset(graph->numRows()), byRow(graph->numRows());
    gather(w);
    std::vector<Real3> half = nodes, accelerations(set.numParticles());
    double largest = 0;
    for (int row = 0; row < graph->numRows(); row++) {
        offset[row] = 0.25 * jacobian->quadraticCurvature(row, fieldOf(*jacobian, row, w));
        largest = std::max(largest, std::abs(offset[row]) * jacobian->inverseScale[row]);
    }
    for (Real3& v : half)
        v = 0.5 * v;
    gather(accelerations.data());
    if (hasJoined()) {
        joinedBodies().addGyration(half.data(), nodes.data());
        for (int row = 0; row < graph->numRows(); row++)
            if (jacobian->isJoined(row))
                largest = std::max(largest, std::abs(jacobian->rate(row, nodes.data())) * jacobian->inverseScale[row]);
    }
    SolveReport report = solveLinear(offset, largest, accelerations.data(), byRow, maxIterations);
    multipliers.values = byConstraint(byRow);
    bodies.solveVelocitySpread(positions, box, w, multipliers.ofBodies, motions([&](int b) {
                                   return joinedBodies().accelerationOf(b, nodes.data(), half.data());
                               }));
    return report;
}

std::vector<double> ConstraintSolver::curvatures(const Real3* positions, const Box& box, const Real3* v) {
    setStart(positions, box);
    gather(v);
    std::vector<double> byRow(graph->numRows());
    for (int row = 0; row < graph->numRows(); row++)
        byRow[row] = jacobian->curvature(row, fieldOf(*jacobian, row, v));
    return byConstraint(byRow);
}

double ConstraintSolver::gyration(const Real3* positions, const Box& box, const Real3* u, const Real3* v,
                                  const Real3* w) {
    setStart(positions, box);
    if (!hasJoined())
        return 0;
    std::vector<Real3> fields[3];
    for (int f = 0; f < 3; f++) {
        gather(f == 0 ? u : f == 1 ? v : w);
        fields[f] = nodes;
    }
    double sum = 0;
    for (int b : joinedBodies().getBodies()) {
        const auto angular = [&](int f) { return joinedBodies().angularVelocityOf(b, fields[f].data()); };
        const Real3& I = set.bodies[b].constants.inertia;
        sum += 0.5 * dot(angular(0), cross(angular(1), rigid::scaledBy(angular(2), I)) +
                                         cross(angular(2), rigid::scaledBy(angular(1), I)));
    }
    return sum;
}

std::vector<double> ConstraintSolver::timeDerivatives(const Real3* positions, const Box& box) {
    setStart(positions, box);
    return byConstraint(jacobian->timeDerivative);
}

std::vector<char> ConstraintSolver::activeOnes() const {
    std::vector<char> isActive(set.constraints.size());
    for (int k : active)
        isActive[k] = 1;
    return isActive;
}

void ConstraintSolver::activate(const std::vector<char>& isActive) {
    std::vector<int> chosen;
    for (int k : movable)
        if (isActive[k])
            chosen.push_back(k);
    if (chosen == active)
        return;
    active = std::move(chosen);
    rebuild();
}

void ConstraintSolver::activateJoints(const JointRows& rows, std::vector<char>& isActive) {
    for (std::size_t g = 0; g < joinedGroups.size(); g++) {
        for (int k : joinedGroups[g])
            isActive[k] = 0;
        for (int k : rows.independent[g])
            isActive[k] = 1;
    }
    if (areLoose != rows.areLoose) {
        areLoose = rows.areLoose;
        active.clear(); // so that what is checked is listed again
    }
}

void ConstraintSolver::chooseIndependent(const Real3* positions, const Box& box) {
    std::vector<char> isActive = activeOnes();
    for (std::size_t g = 0; g < redundant.size(); g++) {
        const std::vector<int>& group = redundant[g];
        std::vector<int> present, independent = independentOf(g, positions, box);
        std::copy_if(group.begin(), group.end(), std::back_inserter(present), [&](int k) { return isActive[k]; });
        if (present.size() != independent.size())
            present.swap(independent);
        for (int k : group)
            isActive[k] = 0;
        for (int k : chooseAmong(group, present, positions, box))
            isActive[k] = 1;
    }
    activateJoints(chooseJointRows(set, joinedGroups, positions, box, time), isActive);
    activate(isActive);
}

std::vector<int> ConstraintSolver::independentOf(std::size_t g, const Real3* positions, const Box& box) {
    const std::vector<int>& group = redundant[g];
    const auto isPeriodic = [&](int k) { return set.constraints[k].periodic; };
    const auto isSomewhere = [&](int k) {
        const std::vector<int>& particles = set.constraints[k].particles;
        return std::all_of(particles.begin(), particles.end(), [&](int p) { return isFinite(positions[p]); });
    };
    Windings windings;
    if (!box.isEmpty() && std::any_of(group.begin(), group.end(), isPeriodic) &&
        std::all_of(group.begin(), group.end(), isSomewhere))
        windings = findWindings(bondsOf(set, group, positions, box), positions, box);
    if (!windings.areAny()) {
        wound[g] = {};
        return unwound[g];
    }
    if (wound[g].windings != windings.numbers) {
        auto found = chooseGenerically(set, group, positions, box, windings);
        if (!found)
            found = analyzeRank(set, group, positions, box, rankThreshold, time).independent;
        wound[g] = {std::move(windings.numbers), std::move(*found)};
    }
    return wound[g].independent;
}

bool ConstraintSolver::isRankKnown(const Box& box) const {
    const auto isWound = [](const WoundChoice& choice) { return !choice.windings.empty(); };
    if (!areJointsKnown || std::any_of(wound.begin(), wound.end(), isWound))
        return false;
    const double width = 2 * box.halfWidth();
    if (width >= knownFrom || width <= openTo)
        return width >= knownFrom;
    const bool mayWind = std::any_of(redundant.begin(), redundant.end(), [&](const std::vector<int>& group) {
        return !findPossibleWindings(set, group, box).empty();
    });
    (mayWind ? openTo : knownFrom) = width;
    return !mayWind;
}

std::vector<int> ConstraintSolver::constraintsOfUnknownRank(const Box& box) const {
    if (!areJointsKnown)
        return joinedGroups[0];
    std::vector<int> found;
    for (std::size_t g = 0; g < redundant.size() && found.empty(); g++)
        found = findPossibleWindings(set, redundant[g], box);
    return found;
}

bool ConstraintSolver::chooseAt(std::vector<Real3> positions, const Box& box, double now) {
    matchMirrorImages(positions.data(), box);
    if (placeBodies(positions.data(), box, 0, HUGE_VAL).reason != Misplaced::None)
        return false;
    setTime(now);
    chooseIndependent(positions.data(), box);
    return true;
}

std::vector<int> ConstraintSolver::chooseAmong(const std::vector<int>& group, const std::vector<int>& present,
                                               const Real3* positions, const Box& box) const {
    const auto factor = [&](const std::vector<int>& constraints) {
        Jacobian J(set, constraints);
        J.setStart(positions, box, time);
        return UnitRows(J, 0, J.numRows());
    };
    const UnitRows rows = factor(group);
    if (rows.work() > quickWork) { // independent ones, the farthest from the span first
        for (double threshold : {1e-1, 1e-2, 1e-3, 1e-4, rankThreshold}) {
            std::vector<int> choice = analyzeRank(set, group, positions, box, threshold, time).independent;
            if (choice.size() == present.size())
                return choice;
        }
        return present;
    }
    constexpr double wellConditioned = 0.1;
    const IndependentRows now = ConstraintPlugin::chooseIndependent(factor(present));
    if (now.rows.size() == present.size() && now.distance.back() > wellConditioned)
        return present;
    const IndependentRows best = ConstraintPlugin::chooseIndependent(rows);
    if (best.rows.size() < present.size()) // singular there: checkRank() reports it
        return present;
    std::vector<int> choice;
    for (std::size_t i = 0; i < present.size(); i++)
        choice.push_back(group[best.rows[i]]);
    std::sort(choice.begin(), choice.end());
    return choice;
}

RankAnalysis ConstraintSolver::checkRank(const Real3* positions, const Box& box) {
    std::vector<char> isActive = activeOnes();
    const JointRank ofJoints = findJointRank(set, joinedGroups, positions, box, time);
    activateJoints(ofJoints.rows, isActive);
    activate(isActive);
    std::vector<int> others; // than constraints of joined bodies
    for (const std::vector<int>& group : joinedGroups)
        for (int k : group)
            isActive[k] = 0;
    std::copy_if(active.begin(), active.end(), std::back_inserter(others), [&](int k) { return isActive[k]; });
    RankAnalysis analysis = analyzeRank(set, others, positions, box, rankThreshold, time);
    if (!ofJoints.singular.empty()) {
        analysis.smallestPivot = 0;
        analysis.circuit = joinedGroups[ofJoints.singular[0]];
        analysis.shape = Shape::Spatial;
    }
    return analysis;
}

std::vector<std::pair<std::vector<int>, int>> ConstraintSolver::rankOfGroups() const {
    const int n = set.numParticles();
    DisjointSets groups(n);
    struct Share {
        int particle, rank;
    };
    std::vector<Share> shares; // of one group each
    const auto add = [&](const std::vector<int>& particles, int rank) {
        int first = -1;
        for (int p : particles)
            if (set.inverseMass[p] > 0) { // what does not move joins nothing
                first = first < 0 ? p : first;
                groups.join(first, p);
            }
        if (first >= 0)
            shares.push_back({first, rank});
    };
    std::vector<int> numBodies(n);
    for (const RigidBody& body : set.bodies) {
        add(body.particles, 3 * body.numMassive - body.degreesOfFreedom());
        for (int p : body.particles)
            if (set.inverseMass[p] > 0 && numBodies[p]++ > 0)
                shares.push_back({p, -3}); // a copy, as in rank()
    }
    for (int k : active)
        add(set.constraints[k].particles, 1);
    std::vector<int> rank(n), place(n, -1);
    for (const Share& share : shares)
        rank[groups.find(share.particle)] += share.rank;
    std::vector<std::pair<std::vector<int>, int>> result;
    for (int p = 0; p < n; p++) {
        const int group = groups.find(p);
        if (rank[group] == 0)
            continue;
        if (place[group] < 0) {
            place[group] = (int) result.size();
            result.push_back({{}, rank[group]});
        }
        result[place[group]].first.push_back(p);
    }
    return result;
}

} // namespace ConstraintPlugin
