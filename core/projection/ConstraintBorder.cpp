// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of ConstraintSolver other than the stages: bordered rows, which are solved in turns with the clusters.
#include "Broyden.h"
#include "ConstraintSolver.h"
#include <cstring>
#include <limits>

namespace ConstraintPlugin {

/** Error of responses, relative. It limits how fast turns converge, and nothing else. A direct solve reaches rounding.
 */
static constexpr double responseTolerance = 1e-6;
static constexpr int responseIterations = 1000;

void ConstraintSolver::makeBorder() {
    borderStart = {};
    border = graph->border.rows.empty() ? nullptr : std::make_unique<BorderSolver>(set, *graph, *jacobian);
    std::vector<int> particles;
    const auto add = [&](int k) {
        const std::vector<int>& ofRow = set.constraints[k].particles;
        particles.insert(particles.end(), ofRow.begin(), ofRow.end());
        for (int node : set.constraints[k].nodes)
            if (node >= set.numParticles()) {
                const std::vector<int>& ofBody = set.bodies[(node - set.numParticles()) / 2].particles;
                particles.insert(particles.end(), ofBody.begin(), ofBody.end());
            }
    };
    for (int row = graph->borderBegin(); row < graph->numRows(); row++)
        add(graph->rows[row]);
    for (int c : graph->border.clusters)
        for (int row = graph->clusters[c].begin; row < graph->clusters[c].end; row++)
            add(graph->rows[row]);
    std::sort(particles.begin(), particles.end());
    particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
    borderParticles = std::move(particles);
}

bool ConstraintSolver::isBorderSet(const Real3* positions, const Box& box) const {
    if (borderStart.empty() || std::memcmp(&borderBox, &box, sizeof(Box)) != 0 || (moves() && borderTime != time))
        return false;
    for (std::size_t i = 0; i < borderParticles.size(); i++)
        if (std::memcmp(&borderStart[i], &positions[borderParticles[i]], sizeof(Real3)) != 0)
            return false;
    return true;
}

int ConstraintSolver::setBorder(const Real3* positions, const Box& box) {
    const bool isSet = isBorderSet(positions, box);
    if (distances == nullptr || !nodes.empty() || isStart(positions, box)) { // the stage needs the start of most rows
        if (const int bad = setStart(positions, box); bad >= 0)
            return bad;
    } else if (!isSet) {
        startPositions.clear();
        if (const int bad = jacobian->setStart(positions, box, time, {{graph->borderBegin(), graph->numRows()}});
            bad >= 0)
            return bad;
    }
    setEndTime(time);
    if (isSet)
        return -1;
    borderStart.clear();
    for (int p : borderParticles)
        borderStart.push_back(positions[p]);
    borderBox = box;
    borderTime = time;
    std::vector<Real3> keptNodes(nodes.size());
    keptNodes.swap(nodes);
    borderReport = solveResponses(positions, box);
    keptNodes.swap(nodes);
    if (borderReport.outcome != Outcome::Converged)
        return -1;
    if (const int b = border->factorizeStart(); b >= 0) {
        borderReport.outcome = Outcome::Singular;
        borderReport.constraint = graph->border.rows[b].constraint;
        borderReport.value = jacobian->startValue(border->rowOf(b));
        borderReport.maxError = jacobian->startError(border->rowOf(b));
    }
    return -1;
}

SolveReport ConstraintSolver::solveResponses(const Real3* positions, const Box& box) {
    double largest = 0;
    for (int row = graph->borderBegin(); row < graph->numRows(); row++)
        largest = std::max(largest, jacobian->diagonal(row, jacobian->start.data()) * jacobian->inverseScale[row]);
    const double timeScale = 1 / largest;
    std::vector<double> multipliers(graph->numRows());
    responseField.resize(set.numParticles()); // zero, but for what is solved
    const Field x{responseField.data(), nodes.data(), set.numParticles()};
    for (const std::vector<int>& rows : graph->border.fields) {
        for (int b : rows)
            border->addImpulse(b, 1, x);
        refreshNodes(x.particles);
        DistanceSolver::Report fast{graph->border.clusters};
        if (distances != nullptr)
            fast = distances->solveVelocities(positions, box, x.particles, timeScale, responseTolerance,
                                              responseIterations, DistanceSolver::Which::AtBorder);
        setStart(positions, box, fast.unsolved);
        SolveReport report = solve(fast.unsolved, responseTolerance, multipliers, x.particles,
                                   [&](ClusterSolver& s, const Cluster& c, double tol, Real3* v) {
                                       StageInput input{*jacobian, tol, responseIterations};
                                       return s.solveVelocities(c, input, timeScale, v, multipliers.data());
                                   });
        if (distances != nullptr)
            distances->getVelocityMultipliers(multipliers, DistanceSolver::Which::AtBorder);
        for (int b : rows) {
            border->setResponse(b, x, multipliers);
            for (int node : graph->border.rows[b].reach)
                x.at(node) = Real3();
        }
        for (int c : graph->border.clusters) // a warm start would begin with them
            std::fill(&multipliers[graph->clusters[c].begin], multipliers.data() + graph->clusters[c].end, 0.0);
        if (report.outcome != Outcome::Converged && report.outcome != Outcome::NotConverged)
            return report;
    }
    return {};
}

SolveReport ConstraintSolver::takeTurns(const Turns& stage) {
    const int m = border->size();
    const Field x{stage.x, nodes.data(), set.numParticles()};
    std::vector<double>& multipliers = *stage.multipliers;
    std::vector<double> correction(m), sum(m), earlier; // of mu; mu; multipliers of earlier turns
    const auto apply = [&] {
        for (int b = 0; b < m; b++) {
            sum[b] += correction[b];
            border->addResponse(b, correction[b], x);
        }
        refreshNodes(stage.x);
    };
    if (borderReport.outcome == Outcome::Converged) { // S mu = -(what is left once the clusters are solved)
        for (int b = 0; b < m; b++)
            correction[b] = -stage.offset(border->rowOf(b)) - border->projectedRate(b, x);
        border->solveStart(correction);
        for (int b = 0; warmStart && b < m; b++) // what the clusters start from includes the response
            border->addMultipliers(b, -correction[b], multipliers);
        apply();
    }
    const auto finish = [&] {
        takeFast(stage);
        *stage.hasFast = false;
        for (std::size_t row = 0; row < earlier.size(); row++)
            multipliers[row] += earlier[row];
        std::fill(multipliers.begin() + graph->borderBegin(), multipliers.end(), 0.0);
        for (int b = 0; b < m; b++)
            border->addMultipliers(b, sum[b], multipliers);
    };
    Broyden broyden(border->pivots());
    double last = std::numeric_limits<double>::infinity();
    for (int turn = 1;; turn++) {
        SolveReport report = stage.solveClusters(turn == 1 ? everyCluster : graph->border.clusters, turn > 1);
        if (report.outcome != Outcome::Converged)
            return report;
        if (borderReport.outcome != Outcome::Converged) // but the clusters were solved
            return borderReport;
        ClusterReport worst;
        bool areFinite = true;
        for (int b = 0; b < m; b++) {
            const int row = border->rowOf(b);
            const double r = stage.residual(row);
            correction[b] = -r;
            areFinite &= worst.note(b, stage.error(row, r));
        }
        report.iterations = std::max(report.iterations, turn);
        const auto describe = [&](Outcome outcome, int b) {
            const int row = border->rowOf(b);
            const double r = stage.residual(row);
            report.outcome = outcome;
            report.constraint = graph->rows[row];
            report.maxError = stage.error(row, r);
            report.value = stage.value(row, r);
            return report;
        };
        if (!areFinite)
            return describe(Outcome::NotFinite, worst.row);
        if (worst.maxError <= stage.tolerance) {
            for (int b = 0; b < m && !stage.isLinear; b++)
                if (jacobian->hasTurned(border->rowOf(b)))
                    return describe(Outcome::Singular, b);
            if (worst.maxError > report.maxError || report.constraint < 0) {
                report.maxError = worst.maxError;
                report.constraint = graph->rows[border->rowOf(worst.row)];
                report.value = stage.value(border->rowOf(worst.row), -correction[worst.row]);
            }
            finish();
            return report;
        }
        const bool isRounding = stage.isLinear && turn > 3 && !(worst.maxError < 0.5 * last);
        last = worst.maxError;
        if (turn >= stage.maxIterations || isRounding) {
            finish();
            return describe(Outcome::NotConverged, worst.row);
        }
        if (stage.isLinear)
            border->solveStart(correction);
        else {
            if (const int b = turn == 1 ? border->factorizeNow() : -1; b >= 0)
                return describe(Outcome::Singular, b);
            border->solveNow(correction);
        }
        broyden.correct(correction); // for what the clusters change of S
        takeFast(stage);
        earlier.resize(graph->numRows());
        for (int c : graph->border.clusters)
            for (int row = graph->clusters[c].begin; row < graph->clusters[c].end; row++) {
                earlier[row] += multipliers[row];
                multipliers[row] = 0;
            }
        apply();
    }
}

} // namespace ConstraintPlugin
