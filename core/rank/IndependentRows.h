// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_INDEPENDENT_ROWS_H_
#define CONSTRAINTS_CORE_INDEPENDENT_ROWS_H_

#include "Jacobian.h"
#include <vector>

namespace ConstraintPlugin {

/** Gradients of constraints with respect to movable particles, as rows of unit length. */
class UnitRows {
public:
    /** Rows begin ... end-1 of a Jacobian whose start is set, all with a gradient. Columns are the coordinates of their
     * movable particles.
     */
    UnitRows(const Jacobian& J, int begin, int end);

    int numRows() const {
        return (int) first.size() - 1;
    }
    int numColumns() const {
        return 3 * (int) particles.size();
    }
    /** The particles whose coordinates are the columns, ascending. */
    const std::vector<int>& getParticles() const {
        return particles;
    }
    double dot(int row, const double* v) const;
    void add(int row, double factor, double* v) const;
    /** Floating-point operations that chooseIndependent() takes. */
    double work() const;

private:
    std::vector<int> particles, first, column; // column: of a gradient's x, y and z follow
    std::vector<Real3> gradient;
};

/** Rows that are independent of each other, with their distances. */
struct IndependentRows {
    std::vector<int> rows;        ///< in the order chosen: each is the one farthest from the span of those before
    std::vector<double> distance; ///< of each row from that span: the sine of its angle with it
    double rest = 0;              ///< approximately the largest such distance of any other row
};

/** Distances up to this count as zero. */
constexpr double zeroDistance = 1e-11;
/** Distances from this on count as nonzero: between dependent and independent rows there must be a gap of 10^6. */
constexpr double clearDistance = 1e-5;

/** UnitRows::work() up to which the dense method is faster than a sparse factor, and the largest for which it is used
 * at all: some 20 s. */
constexpr double quickWork = 2e8, maxDenseWork = 3e10;

/** Gram-Schmidt method with pivoting; each vector is orthogonalized until it is orthogonal to rounding, which takes two
 *  passes at most. It resolves distances down to rounding, whereas a factor of J J^T resolves only their squares.
 *  Source: Daniel, Gragg, Kaufman, Stewart, Math. Comput. 30, 772 (1976), doi:10.2307/2005398. */
IndependentRows chooseIndependent(const UnitRows& rows);

} // namespace ConstraintPlugin

#endif
