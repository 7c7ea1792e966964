// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JACOBIAN_H_
#define CONSTRAINTS_CORE_JACOBIAN_H_

#include "ConstraintSet.h"
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
    double evaluate(int row, const Real3* displacement);
    /** q of a row at the start. */
    double startValue(int row) const {
        return value[row];
    }
    /** dq/dt of a row at the start, for velocities [numParticles] in nm/ps. */
    double rate(int row, const Real3* velocity) const;
    /** sum_i (1/m_i) grad_i sigma_row(t) . grad_i sigma_row(0), t: as last evaluated; a diagonal element of the matrix.
     */
    double diagonal(int row) const;
    double startDiagonal(int row) const;
    /** x_i += (scale/m_i) grad_i sigma_row(0) for the particles of a row. */
    void addImpulse(int row, double scale, Real3* x) const;

    int numRows() const {
        return (int) target.size();
    }
    std::vector<int> slotStart;       ///< [numRows+1]
    std::vector<int> particle;        ///< [slots]
    std::vector<double> inverseMass;  ///< [slots] 1/amu
    std::vector<Real3> start;         ///< [slots] grad sigma(0)
    std::vector<Real3> current;       ///< [slots] grad sigma as last evaluated
    std::vector<double> target;       ///< [numRows] nm
    std::vector<double> inverseScale; ///< [numRows] 1/nm: error = |q - target| * inverseScale

private:
    std::vector<CoordinateKind> kind;
    std::vector<char> periodic;
    std::vector<double> value; // q at the start
    std::vector<Real3> bond;   // bond vectors at the start; row r's begin at slotStart[r] - r
};

} // namespace ConstraintPlugin

#endif
