// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JointRank.h"
#include "IndependentRows.h"
#include "IterativeSolver.h"
#include "JoinedRows.h"
#include "MatrixInversionSolver.h"
#include "Peeling.h"
#include "RankAnalysis.h"
#include "RigidBlocks.h"
#include "SplitMix.h"
#include <map>

namespace ConstraintPlugin {

namespace {

constexpr double solved = 1e-12; // errors that Newton's method reaches
/** Distance of a row from the span of others, from which on it is independent of them. */
constexpr double independentFrom = 1e-6;

/** Errors up to this are those of rounded positions. */
constexpr double close = 1e-9;

/** The groups that are examined, at positions that are moved. */
class Linkage {
public:
    Linkage(const ConstraintSet& set, const std::vector<std::vector<int>>& groups, const Real3* positions,
            const Box& box, double time)
        : set(set), groups(groups), box(box), time(time), x(positions, positions + set.numParticles()),
          bound(groups.size(), close), nodes(set.numNodes()) {
        for (const std::vector<int>& group : groups)
            all.insert(all.end(), group.begin(), group.end());
        groupOf.resize(set.constraints.size(), -1);
        for (std::size_t g = 0; g < groups.size(); g++)
            for (int k : groups[g]) {
                groupOf[k] = (int) g;
                for (int node : set.nodesOf(set.constraints[k]))
                    if (const int i = node - set.numParticles(); i >= 0 && set.bodies[i / 2].force < 0)
                        bound[g] = std::max(close, set.fitBound); // it is recognized
            }
    }

    /** The independent constraints of each group at the present positions.
     *  @param threshold  [groups] distances up to it count as zero */
    std::vector<std::vector<int>> choose(const std::vector<double>& threshold) const {
        const double largest = *std::max_element(threshold.begin(), threshold.end());
        const Peeling peeling = peel(set, withMotion(threshold), x.data(), box, largest * largest, time);
        std::vector<std::vector<int>> result(groups.size());
        for (int k : peeling.independent)
            result[groupOf[k]].push_back(k);
        const std::vector<std::vector<int>> rings = ringsOf(peeling.rest);
        std::vector<int> inRings;
        for (const std::vector<int>& ring : rings)
            inRings.insert(inRings.end(), ring.begin(), ring.end());
        Jacobian J(set, inRings);
        J.setUnitMasses();
        J.setStart(x.data(), box, time);
        int begin = 0;
        for (const std::vector<int>& ring : rings) {
            const int g = groupOf[ring[0]], end = begin + (int) ring.size();
            const std::vector<int> chosen = chooseInRing(ring, UnitRows(J, begin, end), threshold[g]);
            result[g].insert(result[g].end(), chosen.begin(), chosen.end());
            begin = end;
        }
        for (std::vector<int>& chosen : result)
            std::sort(chosen.begin(), chosen.end());
        return result;
    }

    /** Largest error of each group. */
    std::vector<double> errors() const {
        Jacobian J(set, all);
        J.setStart(x.data(), box, time);
        std::vector<double> largest(groups.size());
        for (int row = 0; row < J.numRows(); row++) {
            double& e = largest[groupOf[all[row]]];
            const double error = J.startError(row);
            e = error <= e ? e : error; // NaN, too
        }
        return largest;
    }

    /** Whether the constraints of a group hold, by its error: those of recognized bodies by what their fit leaves. */
    bool holds(int group, double error) const {
        return error <= bound[group];
    }

    /** Move onto the constraints. */
    JointRows settle() {
        constexpr int maxPasses = 12;
        // Rows that are nearly dependent where the constraints do not hold yet, may be dependent where they do.
        std::vector<double> error = errors(), threshold;
        for (double e : error)
            threshold.push_back(std::max(independentFrom, std::min(0.3, 3 * e)));
        std::vector<std::vector<int>> independent = choose(threshold);
        const auto isLeft = [](double e) { return !(e <= close); };
        for (int pass = 0; pass < maxPasses && std::any_of(error.begin(), error.end(), isLeft); pass++) {
            move(independent, 0);
            const std::vector<double> last = error;
            error = errors();
            for (std::size_t g = 0; g < groups.size(); g++)
                threshold[g] = std::max(independentFrom, error[g] < 0.5 * last[g] ? std::min(threshold[g], 3 * error[g])
                                                                                  : 0.1 * threshold[g]);
            independent = choose(threshold);
        }
        JointRows rows{std::move(independent), {}};
        for (std::size_t g = 0; g < groups.size(); g++)
            rows.areLoose.push_back(isLeft(error[g]) && holds((int) g, error[g]));
        return rows;
    }

    /** Move onto chosen constraints, from displacements along the constraints.
     *  @param distance  nm, of the largest displacement; 0: none
     *  @return [groups] whether that succeeded; the others are not moved */
    std::vector<char> move(const std::vector<std::vector<int>>& chosen, double distance) {
        std::vector<int> active;
        for (const std::vector<int>& some : chosen)
            active.insert(active.end(), some.begin(), some.end());
        const ConstraintGraph graph(set, active, Method::Automatic);
        Jacobian J(set, graph.rows);
        std::vector<char> isReached(groups.size(), J.setStart(x.data(), box, time) < 0);
        MatrixInversionSolver solver(graph);
        IterativeSolver iterative;
        std::vector<double> lambda(graph.numRows());
        SplitMix random(1);
        const auto push = [&](const std::vector<int>& members) {
            for (int node : members) {
                const double a = random.uniform(), b = random.uniform(), c = random.uniform();
                nodes[node] = (set.inverseMassOf(node) > 0 ? 1 : 0) * Real3{a - 0.5, b - 0.5, c - 0.5};
            }
        };
        const auto scale = [&](const std::vector<int>& members) {
            double farthest = 0;
            for (int node : members)
                farthest = std::max(farthest, std::sqrt(dot(nodes[node], nodes[node])));
            for (int node : members) // rounding alone where nothing can move
                nodes[node] = (farthest > 1e-6 ? distance / farthest : 0) * nodes[node];
        };
        const auto sorted = [](std::vector<int> members) {
            std::sort(members.begin(), members.end());
            members.erase(std::unique(members.begin(), members.end()), members.end());
            return members;
        };
        for (std::size_t g = 0; g < groups.size() && distance > 0; g++)
            if (chosen[g].empty()) { // nothing holds it
                std::vector<int> members;
                for (int k : groups[g])
                    for (int node : set.nodesOf(set.constraints[k]))
                        members.push_back(node);
                members = sorted(std::move(members));
                push(members);
                scale(members);
            }
        for (const Cluster& cluster : graph.clusters) {
            ClusterSolver& of = cluster.kind == ClusterSolverKind::Iterative ? (ClusterSolver&) iterative : solver;
            const std::vector<int> members = sorted(
                {J.particle.begin() + J.slotStart[cluster.begin], J.particle.begin() + J.slotStart[cluster.end]});
            bool isSolved = true;
            StageInput input{J, 1e-10, 100};
            if (distance > 0) {
                push(members);
                isSolved =
                    of.solveVelocities(cluster, input, 1, nodes.data(), lambda.data()).outcome == Outcome::Converged;
                scale(members);
            }
            std::fill(lambda.begin() + cluster.begin, lambda.begin() + cluster.end, 0.0);
            input.tolerance = solved;
            isSolved = isSolved &&
                       of.solvePositions(cluster, input, nodes.data(), lambda.data()).outcome == Outcome::Converged;
            if (isSolved)
                continue;
            isReached[groupOf[graph.rows[cluster.begin]]] = 0;
            for (int node : members)
                nodes[node] = {};
        }
        Jacobian whole(set, all);
        whole.setStart(x.data(), box, time);
        for (int p = 0; p < set.numParticles(); p++)
            x[p] += nodes[p];
        if (whole.joinedRows() != nullptr) {
            const std::vector<Real3> from(x);
            whole.joinedRows()->bodies.displace(from.data(), box, nodes.data(), 1, x.data());
        }
        std::fill(nodes.begin(), nodes.end(), Real3());
        return isReached;
    }

private:
    /** The constraints that a motion changes to first order. Bodies may be held so that none does: where two have the
     *  same anchor, neither moves a particle of both towards it. What is left of such a gradient is rounding.
     *  @param threshold  [groups] */
    std::vector<int> withMotion(const std::vector<double>& threshold) const {
        Jacobian J(set, all);
        J.setUnitMasses();
        J.setStart(x.data(), box, time);
        std::vector<int> result;
        for (int row = 0; row < J.numRows(); row++) {
            if (!J.isJoined(row)) {
                result.push_back(all[row]);
                continue;
            }
            const Jacobian& free = J.joinedRows()->onParticles;
            const int own = J.joinedNumber(row);
            double square = 0; // of the gradient, if the body's particles were free
            for (int s = free.slotStart[own]; s < free.slotStart[own + 1]; s++)
                square += free.inverseMass[s] > 0 ? dot(free.start[s], free.start[s]) : 0;
            const double bound = threshold[groupOf[all[row]]];
            if (!(J.diagonal(row, J.start.data()) <= bound * bound * square))
                result.push_back(all[row]);
        }
        return result;
    }
    /** Constraints of one group that may depend on each other. */
    std::vector<std::vector<int>> ringsOf(const std::vector<int>& constraints) const {
        std::vector<std::vector<int>> rings;
        for (const std::vector<int>& block : findRigidBlocks(set, constraints, x.data(), box)) {
            std::map<int, std::vector<int>> byGroup; // those of immovable things are one block
            for (int k : block)
                byGroup[groupOf[k]].push_back(k);
            for (auto& entry : byGroup)
                rings.push_back(std::move(entry.second));
        }
        return rings;
    }
    std::vector<int> chooseInRing(const std::vector<int>& ring, const UnitRows& rows, double threshold) const {
        if (rows.work() > quickWork) { // by squares of distances, which are less accurate
            const double square = std::max(threshold * threshold, rankThreshold);
            return analyzeRank(set, ring, x.data(), box, square, time).independent;
        }
        std::vector<int> chosen;
        const IndependentRows found = chooseIndependent(rows);
        for (std::size_t i = 0; i < found.rows.size(); i++)
            if (found.distance[i] > threshold)
                chosen.push_back(ring[found.rows[i]]);
        return chosen;
    }

    const ConstraintSet& set;
    const std::vector<std::vector<int>>& groups;
    const Box& box;
    double time;
    std::vector<Real3> x;      // nm
    std::vector<double> bound; // [groups]
    std::vector<int> all, groupOf;
    std::vector<Real3> nodes;
};

} // namespace

JointRows chooseJointRows(const ConstraintSet& set, const std::vector<std::vector<int>>& groups, const Real3* positions,
                          const Box& box, double time) {
    if (groups.empty())
        return {};
    return Linkage(set, groups, positions, box, time).settle();
}

JointRank findJointRank(const ConstraintSet& set, const std::vector<std::vector<int>>& groups, const Real3* positions,
                        const Box& box, double time) {
    JointRank result;
    if (groups.empty())
        return result;
    Linkage linkage(set, groups, positions, box, time);
    result.rows = linkage.settle();
    const std::vector<std::vector<int>>& independent = result.rows.independent;
    const std::vector<double> error = linkage.errors();
    std::vector<char> isPending; // not those that could not be moved onto their constraints
    for (std::size_t g = 0; g < groups.size(); g++)
        isPending.push_back(linkage.holds((int) g, error[g]));
    // Bonds and bodies are some 0.1 nm large: rows that become independent by this move are so by 0.1 or more.
    for (double distance : {0.01, 0.003, 0.001}) {
        if (std::none_of(isPending.begin(), isPending.end(), [](char yes) { return yes; }))
            return result;
        Linkage moved = linkage;
        const std::vector<char> isReached = moved.move(independent, distance);
        const std::vector<double> errorThere = moved.errors();
        const auto there = moved.choose(std::vector<double>(groups.size(), independentFrom));
        for (std::size_t g = 0; g < groups.size(); g++)
            if (isPending[g] && isReached[g]) {
                isPending[g] = 0;
                if (there[g].size() != independent[g].size() || !linkage.holds((int) g, errorThere[g]))
                    result.singular.push_back((int) g);
            }
    }
    for (std::size_t g = 0; g < groups.size(); g++)
        if (isPending[g])
            result.singular.push_back((int) g);
    return result;
}

} // namespace ConstraintPlugin
