// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "GenericRank.h"
#include "IndependentRows.h"
#include "Peeling.h"
#include "RankAnalysis.h"
#include "SelfStress.h"
#include <iterator>
#include <optional>

namespace ConstraintPlugin {

namespace {

Real3 drawPoint(SplitMix& random) {
    const double x = random.uniform(), y = random.uniform(), z = random.uniform();
    return {x, y, z};
}

/** Gradients at drawn positions: without a periodic box, or with the images that bonds have at others. */
class DrawnRows {
public:
    explicit DrawnRows(const ConstraintSet& set) : set(set) {
    }
    DrawnRows(const ConstraintSet& set, const Real3* positions, const Box& box, const Windings& windings)
        : set(set), positions(positions), box(box), windings(&windings) {
    }
    Jacobian at(const std::vector<int>& rows, const std::vector<Real3>& drawn) const {
        Jacobian J(set, rows);
        J.setUnitMasses();
        if (windings == nullptr) {
            J.setStart(drawn.data(), Box());
            return J;
        }
        J.setStart(positions, box);
        std::vector<Real3> from(positions, positions + set.numParticles()), displacement;
        for (std::size_t i = 0; i < windings->particles.size(); i++)
            from[windings->particles[i]] = windings->unwrapped[i];
        for (std::size_t p = 0; p < from.size(); p++)
            displacement.push_back(2 * box.halfWidth() * drawn[p] - from[p]);
        for (int row = 0; row < J.numRows(); row++)
            J.evaluate(row, displacement.data());
        J.start.swap(J.current);
        return J;
    }
    const ConstraintSet& set;

private:
    const Real3* positions = nullptr;
    Box box;
    const Windings* windings = nullptr;
};

} // namespace

std::vector<Real3> drawPositions(const ConstraintSet& set, int draw) {
    std::vector<Real3> positions(set.numParticles());
    SplitMix random(3 * positions.size() * draw);
    for (Real3& x : positions)
        x = drawPoint(random);
    return positions;
}

namespace {

using Choice = std::optional<std::vector<int>>; // independent rows, if there is a gap

/** Every row of a matrix that is small enough. */
Choice chooseDense(const UnitRows& rows) {
    IndependentRows found = chooseIndependent(rows);
    for (double distance : found.distance)
        if (distance < clearDistance)
            return {};
    return std::move(found.rows);
}

/** The rows of one cluster by sparse LDLT of J J^T, whose pivots are squared distances. Among many rows a few are
 * nearly dependent in any draw: only their particles are drawn again.
 *  @param random  for new positions of particles, and for random vectors */
Choice chooseSparse(const DrawnRows& drawn, const ConstraintGraph& graph, const Cluster& cluster,
                    std::vector<Real3>& positions, SplitMix& random) {
    constexpr double zeroPivot = 1e-12, clearPivot = 1e-7;
    constexpr int maxRounds = 30;
    for (int round = 0; round < maxRounds; round++) {
        const Jacobian J = drawn.at(graph.rows, positions);
        const UnitRows rows(J, cluster.begin, cluster.end);
        SparseMatrix matrix(graph.factors[cluster.factor]);
        std::vector<double> pivots;
        assembleUnitMatrix(graph, cluster, J, matrix);
        matrix.factorizeRankRevealing(zeroPivot, pivots);
        std::vector<int> independent, bad;
        std::vector<char> isDependent(cluster.size());
        for (int row = 0; row < cluster.size(); row++)
            if (pivots[row] > clearPivot)
                independent.push_back(row);
            else if (pivots[row] > zeroPivot)
                bad.push_back(row);
            else
                isDependent[row] = 1;
        if (bad.empty() && (int) independent.size() < cluster.size()) {
            // What depends on the independent rows has no component along a vector orthogonal to all of them.
            constexpr double rounding = 1e-11, none = 1e-7;
            std::vector<double> w(rows.numColumns()), y(cluster.size());
            for (double& x : w)
                x = random.uniform() - 0.5;
            double largest = 1;
            for (int pass = 0; pass < 6 && largest > rounding; pass++) { // w -= J^T (J J^T)^-1 J w, refined
                largest = 0;
                for (int row = 0; row < cluster.size(); row++) {
                    y[row] = isDependent[row] ? 0 : rows.dot(row, w.data());
                    largest = std::max(largest, std::abs(y[row]));
                }
                matrix.solve(y.data());
                for (int row : independent)
                    rows.add(row, -y[row], w.data());
            }
            if (!(largest <= rounding))
                return {};
            for (int row = 0; row < cluster.size(); row++)
                if (isDependent[row] && !(std::abs(rows.dot(row, w.data())) <= none))
                    bad.push_back(row);
        }
        if (bad.empty())
            return independent;
        for (int row : bad)
            for (int p : drawn.set.constraints[graph.rows[cluster.begin + row]].particles)
                positions[p] = drawPoint(random);
    }
    return {};
}

/** Choose among constraints that all have a gradient at some positions.
 *  @param[in,out] result  constraint indices
 *  @return whether there is a gap */
bool choose(const DrawnRows& drawn, const std::vector<int>& constraints, std::vector<Real3>& positions,
            SplitMix& random, std::vector<int>& result) {
    const auto take = [&](const Choice& choice, const int* constraintOf) {
        if (choice)
            for (int row : *choice)
                result.push_back(constraintOf[row]);
        return choice.has_value();
    };
    const UnitRows all(drawn.at(constraints, positions), 0, (int) constraints.size());
    if (all.work() <= quickWork)
        return take(chooseDense(all), constraints.data());
    const ConstraintGraph graph(drawn.set, constraints, Method::Automatic, 0);
    for (const Cluster& cluster : graph.clusters) {
        const int* const constraintOf = &graph.rows[cluster.begin];
        const UnitRows rows(drawn.at(graph.rows, positions), cluster.begin, cluster.end);
        if (cluster.kind == ClusterSolverKind::Sparse || rows.work() <= maxDenseWork) {
            const bool isSparse = cluster.kind == ClusterSolverKind::Sparse;
            if (!take(isSparse ? chooseSparse(drawn, graph, cluster, positions, random) : chooseDense(rows),
                      constraintOf))
                return false;
            continue;
        }
        const Choice stressed = findStressedRows(rows, random);
        if (!stressed || (int) stressed->size() == cluster.size())
            return false;
        std::vector<int> open;
        for (int row = 0; row < cluster.size(); row++)
            (std::binary_search(stressed->begin(), stressed->end(), row) ? open : result).push_back(constraintOf[row]);
        for (const std::vector<int>& part : findClusters(drawn.set, open))
            if (!choose(drawn, part, positions, random, result))
                return false;
    }
    return true;
}

/** A cluster of the constraints that peel() did not remove, and the results of the draws. */
struct Core {
    std::vector<int> constraints, independent;
    int agreeing = 0; // draws

    /** @param positions  [numParticles] drawn; a few may be drawn again
     *  @param isLenient  count expressions that have no gradient there as independent */
    void judgeAt(const DrawnRows& drawn, std::vector<Real3>& positions, SplitMix& random, bool isLenient) {
        std::vector<int> rest, found;
        const Jacobian J = drawn.at(constraints, positions);
        for (int row = 0; row < J.numRows(); row++)
            (J.hasGradient(row) ? rest : found).push_back(constraints[row]);
        if ((!found.empty() && !isLenient) || !choose(drawn, rest, positions, random, found))
            return;
        if (found.size() > independent.size()) {
            independent = std::move(found);
            agreeing = 1;
        } else
            agreeing += found.size() == independent.size();
    }
    bool isDecided() const {
        return agreeing >= 2;
    }
};

constexpr int maxDraws = 12;

SplitMix randomOf(const ConstraintSet& set) {
    return SplitMix(~std::uint64_t(set.numParticles())); // far from those of the draws
}

} // namespace

GenericRank analyzeGenericRank(const ConstraintSet& set, const std::vector<int>& candidates) {
    constexpr double clear = clearDistance * clearDistance;
    GenericRank result;
    std::vector<int> rest = candidates;
    for (int draw = 0; !rest.empty(); draw++) { // a constraint may remain only because of special positions
        Peeling peeling = peel(set, rest, drawPositions(set, draw).data(), Box(), clear);
        result.independent.insert(result.independent.end(), peeling.independent.begin(), peeling.independent.end());
        rest.swap(peeling.rest);
        if (peeling.independent.empty())
            break;
    }
    std::vector<Core> cores;
    for (std::vector<int>& cluster : findClusters(set, rest))
        cores.push_back({std::move(cluster), {}, 0});
    SplitMix random = randomOf(set);
    const DrawnRows drawn(set);
    for (int draw = 0; draw < maxDraws && !cores.empty(); draw++) {
        std::vector<Real3> positions = drawPositions(set, draw);
        std::vector<Core> open;
        for (Core& core : cores) {
            core.judgeAt(drawn, positions, random, draw >= maxDraws / 2);
            if (!core.isDecided()) {
                open.push_back(std::move(core));
                continue;
            }
            result.independent.insert(result.independent.end(), core.independent.begin(), core.independent.end());
            if (core.independent.size() == core.constraints.size())
                continue;
            std::sort(core.independent.begin(), core.independent.end());
            std::set_difference(core.constraints.begin(), core.constraints.end(), core.independent.begin(),
                                core.independent.end(), std::back_inserter(result.dependent));
            result.redundant.push_back(std::move(core.constraints));
        }
        cores.swap(open);
    }
    for (const Core& core : cores)
        result.undecided.insert(result.undecided.end(), core.constraints.begin(), core.constraints.end());
    for (std::vector<int>* list : {&result.independent, &result.dependent, &result.undecided})
        std::sort(list->begin(), list->end());
    return result;
}

std::optional<std::vector<int>> chooseGenerically(const ConstraintSet& set, const std::vector<int>& group,
                                                  const Real3* positions, const Box& box, const Windings& windings) {
    const DrawnRows drawn(set, positions, box, windings);
    SplitMix random = randomOf(set);
    Core core{group, {}, 0};
    for (int draw = 0; draw < maxDraws && !core.isDecided(); draw++) {
        std::vector<Real3> places = drawPositions(set, draw);
        core.judgeAt(drawn, places, random, draw >= maxDraws / 2);
    }
    if (!core.isDecided())
        return {};
    std::sort(core.independent.begin(), core.independent.end());
    return std::move(core.independent);
}

} // namespace ConstraintPlugin
