// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_INDEPENDENT_ROWS_H_
#define CONSTRAINTS_CORE_INDEPENDENT_ROWS_H_

#include "Jacobian.h"
#include <vector>

namespace ConstraintPlugin {

/** Gradients of constraints as rows of unit length, of movable particles only. */
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
    /** Those whose coordinates the columns are, ascending. */
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

/** Rows that are independent of each other, and how clear that is. */
struct IndependentRows {
    std::vector<int> rows;        ///< in the order taken: the one farthest from the span of those before
    std::vector<double> distance; ///< of each from that span; sine of its angle with it
    double rest = 0;              ///< about the largest such distance of any other row
};

/** Distances up to this are zero but for rounding; */
constexpr double noDistance = 1e-11;
/** and from here on they are not: the gap between what is taken for dependent and for independent is 10^6. */
constexpr double clearDistance = 1e-5;

/** UnitRows::work() up to which a sparse factor is not worth its structure, and most that is done without one: some
 * 20 s. */
constexpr double quickWork = 2e8, mostDenseWork = 3e10;

/** Factor rows by Gram and Schmidt with pivoting, each vector orthogonalized until it is orthogonal to rounding (twice
 *  is enough). It sees distances down to rounding, where a factor of J J^T sees only their squares.
 *  Source: Daniel, Gragg, Kaufman, Stewart, Math. Comput. 30, 772 (1976), doi:10.2307/2005398. */
IndependentRows chooseIndependent(const UnitRows& rows);

} // namespace ConstraintPlugin

#endif
