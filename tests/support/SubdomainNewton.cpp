// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/SubdomainNewton.h"
#include "JoinedRows.h"
#include "MatrixInversionSolver.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ConstraintTests {

using namespace ConstraintPlugin;

/** The constraints that are solved: no body holds them, and they move something. */
static std::vector<int> solvedOnes(const ConstraintSet& set) {
    std::vector<int> solved;
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (const Constraint& c = set.constraints[k]; set.isMovable(c) && !c.isAbsorbed)
            solved.push_back(k);
    return solved;
}

SubdomainNewton::SubdomainNewton(const ConstraintSet& given, const SubdomainLimits& limits)
    : set(given), graph(set, solvedOnes(set), Method::MatrixInversion, 0), J(set, graph.rows) {
    for (const Cluster& cluster : graph.clusters) {
        subdomainsOf.push_back(cutIntoSubdomains(neighboursIn(graph, cluster), limits));
        if (subdomainsOf.back().empty())
            throw std::runtime_error("a cluster cannot be cut within the limits");
    }
    for (std::size_t c = 0; c < graph.clusters.size(); c++)
        for (const Subdomain& subdomain : subdomainsOf[c])
            addSubdomain(graph.clusters[c], subdomain);
}

void SubdomainNewton::addSubdomain(const Cluster& cluster, const Subdomain& subdomain) {
    SubdomainOfCluster made(subdomain.factor);
    std::vector<int> position(cluster.size(), -1);
    for (int row : subdomain.solved) {
        position[row] = (int) made.rows.size();
        made.rows.push_back(cluster.begin + row);
        made.isOwn.push_back(std::binary_search(subdomain.own.begin(), subdomain.own.end(), row));
    }
    for (int k = cluster.couplingBegin; k < cluster.couplingEnd; k++) {
        const Coupling& c = graph.couplings[k];
        const int i = position[c.row - cluster.begin], j = position[c.column - cluster.begin];
        if (i >= 0 && j >= 0)
            made.terms.push_back({k, subdomain.factor.findEntry(std::max(i, j), std::min(i, j)), i < j});
    }
    subdomains.push_back(std::move(made));
}

double SubdomainNewton::padding() const {
    double solved = 0;
    for (const SubdomainOfCluster& subdomain : subdomains)
        solved += (double) subdomain.rows.size();
    return solved / graph.numRows();
}

int SubdomainNewton::mostOwn() const {
    int most = 0;
    for (const SubdomainOfCluster& subdomain : subdomains)
        most = std::max(most, (int) std::count(subdomain.isOwn.begin(), subdomain.isOwn.end(), 1));
    return most;
}

int SubdomainNewton::mostSolved() const {
    int most = 0;
    for (const SubdomainOfCluster& subdomain : subdomains)
        most = std::max(most, (int) subdomain.rows.size());
    return most;
}

int SubdomainNewton::mostLevels() const {
    int most = 0;
    for (const SubdomainOfCluster& subdomain : subdomains)
        most = std::max(most, subdomain.matrix.symbolic.numLevels);
    return most;
}

void SubdomainNewton::setStart(const std::vector<Real3>& positions, const Box& inBox) {
    start = positions;
    box = inBox;
    J.setStart(start.data(), box);
}

std::vector<Real3> SubdomainNewton::toNodes(const std::vector<Real3>& field) const {
    std::vector<Real3> nodes = field;
    nodes.resize(set.numNodes());
    if (const JoinedRows* joined = J.joinedRows())
        joined->bodies.gather(field.data(), nodes.data());
    return nodes;
}

template <class OfBody>
void SubdomainNewton::toParticles(const std::vector<Real3>& nodes, std::vector<Real3>& field, OfBody ofBody) const {
    field.assign(nodes.begin(), nodes.begin() + set.numParticles());
    if (const JoinedRows* joined = J.joinedRows())
        for (int b : joined->bodies.getBodies())
            for (int i = 0; i < set.bodies[b].size(); i++)
                if (const int p = set.bodies[b].particles[i]; set.inverseMass[p] > 0)
                    field[p] = ofBody(b, i);
}

void SubdomainNewton::factorize(SubdomainOfCluster& subdomain, const std::vector<Real3>& gradients) {
    subdomain.matrix.setZero();
    for (std::size_t i = 0; i < subdomain.rows.size(); i++)
        subdomain.matrix.diagonal[i] = J.diagonal(subdomain.rows[i], gradients.data());
    for (const Term& term : subdomain.terms) {
        const Coupling& c = graph.couplings[term.coupling];
        const double w = J.inverseMass[c.slotRow];
        const double rowColumn = w * dot(gradients[c.slotRow], J.start[c.slotColumn]);
        const double columnRow = w * dot(gradients[c.slotColumn], J.start[c.slotRow]);
        subdomain.matrix.lower[term.entry] += term.isTransposed ? columnRow : rowColumn;
        subdomain.matrix.upper[term.entry] += term.isTransposed ? rowColumn : columnRow;
    }
    if (subdomain.matrix.factorizeLU() >= 0)
        throw std::runtime_error("a pivot vanishes");
}

/** @param residual, error  as in MatrixInversionSolver.cpp */
template <class Residual, class Error>
std::vector<double> SubdomainNewton::newton(std::vector<Real3>& x, int corrections, bool isFrozen, Residual residual,
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
        for (SubdomainOfCluster& subdomain : subdomains) {
            if (!isFrozen || n == 0)
                factorize(subdomain, isFrozen ? J.start : J.current);
            own.clear();
            for (int row : subdomain.rows)
                own.push_back(-sigma[row]);
            subdomain.matrix.solve(own.data());
            for (std::size_t i = 0; i < subdomain.rows.size(); i++)
                if (subdomain.isOwn[i])
                    correction[subdomain.rows[i]] = own[i];
        }
        for (int row = 0; row < graph.numRows(); row++)
            J.addImpulse(row, correction[row], x.data());
    }
}

std::vector<double> SubdomainNewton::solvePositions(std::vector<Real3>& delta, int corrections) {
    std::vector<Real3> nodes = toNodes(delta);
    std::vector<double> errors = newton(
        nodes, corrections, false, [&](int row) { return J.residual(row, J.evaluate(row, nodes.data())); },
        [&](int row, double sigma) { return J.error(row, sigma); });
    toParticles(nodes, delta, [&](int b, int i) {
        JoinedBodies& bodies = J.joinedRows()->bodies;
        return bodies.wayToPlace({b, i}, start.data(), box) +
               rigid::motionOf(bodies.displaced(b, nodes.data()).motion, set.bodies[b].shape[i]);
    });
    return errors;
}

std::vector<double> SubdomainNewton::solveVelocities(std::vector<Real3>& velocity, double timeScale, int corrections) {
    std::vector<Real3> nodes = toNodes(velocity);
    std::vector<double> errors = newton(
        nodes, corrections, true, [&](int row) { return J.rate(row, nodes.data()); },
        [&](int row, double rate) { return std::abs(rate) * timeScale * J.inverseScale[row]; });
    toParticles(nodes, velocity, [&](int b, int i) {
        return rigid::motionOf(J.joinedRows()->bodies.velocityOf(b, nodes.data()), set.bodies[b].shape[i]);
    });
    return errors;
}

int correctionsTo(double tolerance, const std::vector<double>& errors) {
    for (std::size_t n = 0; n < errors.size(); n++)
        if (errors[n] <= tolerance)
            return (int) n;
    return -1;
}

} // namespace ConstraintTests
