// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/PartsNewton.h"
#include "MatrixInversionSolver.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ConstraintTests {

using namespace ConstraintPlugin;

static std::vector<int> allOf(const ConstraintSet& set) {
    std::vector<int> all(set.constraints.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

PartsNewton::PartsNewton(const ConstraintSet& set, const PartLimits& limits)
    : graph(set, allOf(set), Method::MatrixInversion, 0), J(set, graph.rows) {
    for (const Cluster& cluster : graph.clusters) {
        partsOf.push_back(cutIntoParts(neighboursIn(graph, cluster), limits));
        if (partsOf.back().empty())
            throw std::runtime_error("a cluster cannot be cut within the limits");
    }
    for (std::size_t c = 0; c < graph.clusters.size(); c++)
        for (const Part& part : partsOf[c])
            addPart(graph.clusters[c], part);
}

void PartsNewton::addPart(const Cluster& cluster, const Part& part) {
    PartOfCluster made(part.factor);
    std::vector<int> position(cluster.size(), -1);
    for (int row : part.solved) {
        position[row] = (int) made.rows.size();
        made.rows.push_back(cluster.begin + row);
        made.isOwn.push_back(std::binary_search(part.own.begin(), part.own.end(), row));
    }
    for (int k = cluster.couplingBegin; k < cluster.couplingEnd; k++) {
        const Coupling& c = graph.couplings[k];
        const int i = position[c.row - cluster.begin], j = position[c.column - cluster.begin];
        if (i >= 0 && j >= 0)
            made.terms.push_back({k, part.factor.findEntry(std::max(i, j), std::min(i, j)), i < j});
    }
    parts.push_back(std::move(made));
}

double PartsNewton::padding() const {
    double solved = 0;
    for (const PartOfCluster& part : parts)
        solved += (double) part.rows.size();
    return solved / graph.numRows();
}

int PartsNewton::mostOwn() const {
    int most = 0;
    for (const PartOfCluster& part : parts)
        most = std::max(most, (int) std::count(part.isOwn.begin(), part.isOwn.end(), 1));
    return most;
}

int PartsNewton::mostSolved() const {
    int most = 0;
    for (const PartOfCluster& part : parts)
        most = std::max(most, (int) part.rows.size());
    return most;
}

int PartsNewton::mostLevels() const {
    int most = 0;
    for (const PartOfCluster& part : parts)
        most = std::max(most, part.matrix.symbolic.numLevels);
    return most;
}

void PartsNewton::setStart(const std::vector<Real3>& positions, const Box& box) {
    J.setStart(positions.data(), box);
}

void PartsNewton::factorize(PartOfCluster& part, const std::vector<Real3>& gradients) {
    part.matrix.setZero();
    for (std::size_t i = 0; i < part.rows.size(); i++)
        part.matrix.diagonal[i] = J.diagonal(part.rows[i], gradients.data());
    for (const Term& term : part.terms) {
        const Coupling& c = graph.couplings[term.coupling];
        const double w = J.inverseMass[c.slotRow];
        const double rowColumn = w * dot(gradients[c.slotRow], J.start[c.slotColumn]);
        const double columnRow = w * dot(gradients[c.slotColumn], J.start[c.slotRow]);
        part.matrix.lower[term.entry] += term.isTransposed ? columnRow : rowColumn;
        part.matrix.upper[term.entry] += term.isTransposed ? rowColumn : columnRow;
    }
    if (part.matrix.factorizeLU() >= 0)
        throw std::runtime_error("a pivot vanishes");
}

/** @param residual, error  as in MatrixInversionSolver.cpp */
template <class Residual, class Error>
std::vector<double> PartsNewton::newton(std::vector<Real3>& x, int corrections, bool isFrozen, Residual residual,
                                        Error error) {
    std::vector<double> errors, sigma(graph.numRows()), correction(graph.numRows()), own;
    for (int n = 0;; n++) {
        errors.push_back(0);
        for (int row = 0; row < graph.numRows(); row++) {
            sigma[row] = residual(row);
            errors.back() = std::max(errors.back(), error(row, sigma[row]));
        }
        if (n == corrections)
            return errors;
        for (PartOfCluster& part : parts) {
            if (!isFrozen || n == 0)
                factorize(part, isFrozen ? J.start : J.current);
            own.clear();
            for (int row : part.rows)
                own.push_back(-sigma[row]);
            part.matrix.solve(own.data());
            for (std::size_t i = 0; i < part.rows.size(); i++)
                if (part.isOwn[i])
                    correction[part.rows[i]] = own[i];
        }
        for (int row = 0; row < graph.numRows(); row++)
            J.addImpulse(row, correction[row], x.data());
    }
}

std::vector<double> PartsNewton::solvePositions(std::vector<Real3>& delta, int corrections) {
    return newton(
        delta, corrections, false, [&](int row) { return J.residual(row, J.evaluate(row, delta.data())); },
        [&](int row, double sigma) { return J.error(row, sigma); });
}

std::vector<double> PartsNewton::solveVelocities(std::vector<Real3>& velocity, double timeScale, int corrections) {
    return newton(
        velocity, corrections, true, [&](int row) { return J.rate(row, velocity.data()); },
        [&](int row, double rate) { return std::abs(rate) * timeScale * J.inverseScale[row]; });
}

int correctionsTo(double tolerance, const std::vector<double>& errors) {
    for (std::size_t n = 0; n < errors.size(); n++)
        if (errors[n] <= tolerance)
            return (int) n;
    return -1;
}

} // namespace ConstraintTests
