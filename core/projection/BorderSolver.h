// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BORDER_SOLVER_H_
#define CONSTRAINTS_CORE_BORDER_SOLVER_H_

#include "ConstraintGraph.h"
#include "Jacobian.h"
#include "SparseMatrix.h"

namespace ConstraintPlugin {

/** Displacements, velocities or accelerations: of particles, and of the nodes of joined bodies. */
struct Field {
    Real3* particles; ///< [numParticles]
    Real3* nodes;     ///< [numNodes]; only those of bodies are used here
    int numParticles;

    Real3& at(int node) const {
        return node < numParticles ? particles[node] : nodes[node];
    }
};

/** The equations of the bordered rows, after those of the clusters are eliminated. With their gradients G, and the
 *  projection P = 1 - M^-1 J^T Z^-1 J onto what the clusters leave free:
 *
 *      w_b = P M^-1 G_b^T     the response of a row, which the clusters' velocity stage makes of M^-1 G_b^T,
 *      S_ab = G_a w_b         the Schur complement; in the position stage with G_a at the displaced positions.
 *
 *  P is its own adjoint in the metric of the masses, so what a row will have of a field x once the clusters are solved,
 *  G_b P x = w_b^T M x, is known before that. Rows are numbered as in Border. */
class BorderSolver {
public:
    /** @param J  of the graph's rows */
    BorderSolver(const ConstraintSet& set, const ConstraintGraph& graph, const Jacobian& J);

    int size() const {
        return (int) border.rows.size();
    }
    /** The row of the Jacobian. */
    int rowOf(int b) const {
        return first + b;
    }
    /** x += scale M^-1 G_b^T */
    void addImpulse(int b, double scale, const Field& x) const;
    /** Set w_b. @param field  P M^-1 G^T of some rows that reach no node in common, b among them
     *  @param multipliers  [numRows] r with P M^-1 G^T = M^-1 G^T + M^-1 J^T r */
    void setResponse(int b, const Field& field, const std::vector<double>& multipliers);
    /** x += scale w_b */
    void addResponse(int b, double scale, const Field& x) const;
    /** The same for the multipliers of all rows. */
    void addMultipliers(int b, double scale, std::vector<double>& multipliers) const;
    /** G_b P x */
    double projectedRate(int b, const Field& x) const;
    /** Compute and factor S with gradients at the start. @return -1, or the row where it is singular */
    int factorizeStart() {
        return factorize<true>(atStart, J.start.data());
    }
    /** The same with gradients as last evaluated. */
    int factorizeNow() {
        return factorize<false>(now, J.current.data());
    }
    /** x = S^-1 x, with the factor of factorizeStart() or of factorizeNow(). @param x  [size] */
    void solveStart(std::vector<double>& x) const {
        atStart.solve(x.data());
    }
    void solveNow(std::vector<double>& x) const {
        now.solve(x.data());
    }

    /** Of S at the start. */
    const std::vector<double>& pivots() const {
        return atStart.diagonal;
    }

private:
    /** A row that reaches a node in common with another one. */
    struct Neighbour {
        int row;
        int entry; ///< of the factor; -1: the row itself
    };
    template <bool symmetric>
    int factorize(SparseMatrix& S, const Real3* gradients);
    /** visit(i, row) for the rows of clusters that a bordered row reaches, i = 0, 1, ... */
    template <class Visit>
    void forEachRow(int b, Visit visit) const {
        int i = 0;
        for (int c : border.rows[b].clusters)
            for (int row = graph.clusters[c].begin; row < graph.clusters[c].end; row++)
                visit(i++, row);
    }

    const ConstraintGraph& graph;
    const Border& border;
    const Jacobian& J;
    int first;
    std::vector<double> mass;                       // [numNodes]
    std::vector<std::vector<Real3>> response;       // [size][reach]
    std::vector<std::vector<double>> ofMultipliers; // [size][rows of its clusters]: the response of these
    std::vector<std::vector<Neighbour>> neighbours; // [size], the row itself first
    std::vector<Real3> atNodes;                     // [numNodes] a response; zero between uses
    SparseMatrix atStart, now;
};

} // namespace ConstraintPlugin

#endif
