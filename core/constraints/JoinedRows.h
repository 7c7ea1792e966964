// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JOINED_ROWS_H_
#define CONSTRAINTS_CORE_JOINED_ROWS_H_

#include "Jacobian.h"
#include "JoinedBodies.h"

namespace ConstraintPlugin {

/** The rows of a Jacobian that have particles of joined bodies. They are evaluated on particles, at their places in the
 *  bodies, by a Jacobian of their own. Their gradients are then folded: those with respect to a body's particles become
 *  two, with respect to its origin and its turn. Rows are numbered among these; nodes as in JoinedBodies. */
class JoinedRows {
public:
    /** @param rows  constraints with nodes */
    JoinedRows(const ConstraintSet& set, const std::vector<int>& rows);
    void setStart(const Real3* positions, const Box& box, double time);
    /** q of a row, and its gradients by node, after displacements of the nodes. */
    double evaluate(int row, const Real3* nodes, Real3* gradient);
    void startGradient(int row, Real3* gradient) const {
        fold(row, onParticles.start.data(), nullptr, gradient);
    }
    /** As Jacobian::curvature(), for velocities of the nodes times a scale. */
    double curvature(int row, const Real3* nodes, double scale) const;
    /** Visit the gradients by particle at the start: visit(particle, place in a body, gradient). */
    template <class Visit>
    void forEachGradient(int row, Visit visit) const {
        for (int s = onParticles.slotStart[row]; s < onParticles.slotStart[row + 1]; s++)
            visit(parts[s].particle, parts[s].of, onParticles.start[s]);
    }
    /** The rows on particles. */
    Jacobian onParticles;
    JoinedBodies bodies;

private:
    /** A particle of a row. */
    struct Part {
        int particle;
        ConstraintSet::Place of; ///< body -1: it is free
        int node;                ///< its node, or its body's origin, among the row's nodes
    };
    void fold(int row, const Real3* gradients, const Real3* nodes, Real3* folded) const;
    static ConstraintSet onOwnParticles(const ConstraintSet& set, const std::vector<int>& rows);

    const ConstraintSet& set;
    std::vector<Part> parts;     // by slot of onParticles, whose particles have these numbers
    std::vector<int> constraint; // of each row
    mutable std::vector<Real3> field;
};

} // namespace ConstraintPlugin

#endif
