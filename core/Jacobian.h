// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JACOBIAN_H_
#define CONSTRAINTS_CORE_JACOBIAN_H_

#include "ConstraintSet.h"
#include "SmallMatrix.h"
#include "coordinates.h"
#include <type_traits>
#include <vector>

namespace ConstraintPlugin {

/** sigma and its gradient for a list of constraints (rows), on flat arrays.
 *
 *  Works on displacements: bond vectors are taken once, at the start of a step and with the minimum image; later ones
 *  differ by the particles' displacements. A row has one slot per particle; slots are numbered over all rows. */
class Jacobian {
public:
    /** @param rows  the constraint of each row */
    Jacobian(const ConstraintSet& set, const std::vector<int>& rows);

    /** Take positions as the start: bond vectors and grad sigma(0).
     *  @param positions  [numParticles] nm
     *  @param box        for periodic constraints; lengths beyond half its width are taken without images
     *  @return -1, or the first row that has no gradient there: its particles are at one place, or a NaN is among them
     */
    int setStart(const Real3* positions, const Box& box);
    /** q of a row after displacements (nm, [numParticles]), and its gradient in the row's slots of `current`. */
    double evaluate(int row, const Real3* displacement) {
        const int first = slotStart[row];
        const Real3* startBond = &bond[first - row];
        return forSize(row, [&](auto size) {
            Real3 b[size() - 1];
            for (int s = 0; s < size() - 1; s++)
                b[s] = startBond[s] + (displacement[particle[first + s]] - displacement[particle[first + s + 1]]);
            return evaluateAt<size()>(row, b, &current[first]);
        });
    }
    /** sigma of a row at a value of q. */
    double residual(int row, double q) const {
        return wrapResidual(kind[row], q - target[row]);
    }
    /** q of a row at the start. */
    double startValue(int row) const {
        return value[row];
    }
    /** dq/dt of a row at the start, for velocities [numParticles] in nm/ps. */
    double rate(int row, const Real3* velocity) const {
        return sumSlots(row, [&](int s) { return dot(start[s], velocityOf(s, velocity)); });
    }
    /** sum_i (1/m_i) grad_i sigma_row(t) . grad_i sigma_row(0), with gradients(t) by slot: a diagonal element of A. */
    double diagonal(int row, const Real3* gradients) const {
        return sumSlots(row, [&](int s) { return inverseMass[s] * dot(gradients[s], start[s]); });
    }
    /** Whether a bond has turned by 90 degrees or more since the start: beyond lies the other root of its length. The
     *  gradients of angles and dihedrals turn with their particles, and they have no other root. */
    bool hasTurned(int row) const {
        return kind[row] == CoordinateKind::Distance &&
               !(diagonal(row, current.data()) > pivotThreshold * diagonal(row, start.data()));
    }
    /** x_i += (scale/m_i) grad_i sigma_row(0) for the particles of a row. */
    void addImpulse(int row, double scale, Real3* x) const {
        const int first = slotStart[row];
        forSize(row, [&](auto size) {
            for (int s = first; s < first + size(); s++)
                x[particle[s]] += (scale * inverseMass[s]) * start[s];
            return 0.0;
        });
    }

    /** f_i += multiplier grad_i sigma_row(0) for the particles of a row. */
    void addForce(int row, double multiplier, Real3* force) const {
        for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
            force[particle[s]] += multiplier * start[s];
    }
    /** J-dot v of a row at the start: sum_s dG_s/dt . db_s/dt for velocities [numParticles]; q'' without acceleration.
     */
    double curvature(int row, const Real3* velocity) const {
        const int first = slotStart[row];
        const Real3* b = &bond[first - row];
        return forSize(row, [&](auto size) {
            Vector3<Dual> moving[size() - 1], G[size() - 1];
            Real3 rate[size() - 1];
            for (int s = 0; s < size() - 1; s++) {
                rate[s] = velocityOf(first + s, velocity) - velocityOf(first + s + 1, velocity);
                moving[s] = {{b[s].x, rate[s].x}, {b[s].y, rate[s].y}, {b[s].z, rate[s].z}};
            }
            coordinate(kind[row], moving, G);
            double sum = 0;
            for (int s = 0; s < size() - 1; s++)
                sum += G[s].x.rate * rate[s].x + G[s].y.rate * rate[s].y + G[s].z.rate * rate[s].z;
            return sum;
        });
    }
    /** Add multiplier * sum_i r_i (x) grad_i q of a row at the start to a tensor (row-major 3x3); as sum_s b_s (x) G_s,
     *  from the bond vectors, so that images and the origin do not matter. */
    void addVirial(int row, double multiplier, double* tensor) const {
        const int first = slotStart[row];
        Real3 G;
        for (int s = first; s < slotStart[row + 1] - 1; s++) {
            G += start[s];
            const double b[3] = {bond[s - row].x, bond[s - row].y, bond[s - row].z}, g[3] = {G.x, G.y, G.z};
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    tensor[3 * i + j] += multiplier * b[i] * g[j];
        }
    }

    int numRows() const {
        return (int) target.size();
    }
    std::vector<int> slotStart;       ///< [numRows+1]
    std::vector<int> particle;        ///< [slots]
    std::vector<double> inverseMass;  ///< [slots] 1/amu
    std::vector<Real3> start;         ///< [slots] grad sigma(0)
    std::vector<Real3> current;       ///< [slots] grad sigma as last evaluated
    std::vector<double> target;       ///< [numRows] nm or rad
    std::vector<double> inverseScale; ///< [numRows] 1/nm or 1/rad: error = |sigma| * inverseScale

private:
    /** An immovable particle does not move, whatever velocity it was given. */
    Real3 velocityOf(int slot, const Real3* velocity) const {
        return inverseMass[slot] > 0 ? velocity[particle[slot]] : Real3();
    }
    template <int n>
    using Size = std::integral_constant<int, n>;
    /** Call f with the number of particles of a row, known at compile time. */
    template <class F>
    double forSize(int row, F f) const {
        switch (kind[row]) {
        case CoordinateKind::Distance:
            break;
        case CoordinateKind::Angle:
            return f(Size<3>());
        case CoordinateKind::Dihedral:
            return f(Size<4>());
        }
        return f(Size<2>());
    }
    template <class Term>
    double sumSlots(int row, Term term) const {
        const int first = slotStart[row];
        return forSize(row, [&](auto size) {
            double sum = 0;
            for (int s = first; s < first + size(); s++)
                sum += term(s);
            return sum;
        });
    }
    /** q from bond vectors; from G = dq/db to gradients of the particles: grad_s q = G_s - G_(s-1). */
    template <int size>
    double evaluateAt(int row, const Real3* b, Real3* gradient) const {
        Real3 G[size - 1];
        const double q = coordinate(kind[row], b, G);
        gradient[0] = G[0];
        for (int s = 1; s < size - 1; s++)
            gradient[s] = G[s] - G[s - 1];
        gradient[size - 1] = -G[size - 2];
        return q;
    }

    std::vector<CoordinateKind> kind;
    std::vector<char> periodic;
    std::vector<double> value; // q at the start
    std::vector<Real3> bond;   // bond vectors at the start; row r's begin at slotStart[r] - r
};

} // namespace ConstraintPlugin

#endif
