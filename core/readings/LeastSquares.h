// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_LEAST_SQUARES_H_
#define CONSTRAINTS_CORE_LEAST_SQUARES_H_

#include "Real3.h"
#include <vector>

namespace ConstraintPlugin {

/** A sparse matrix, column by column; three rows a particle. */
class SparseColumns {
public:
    explicit SparseColumns(std::size_t rows) : rows(rows) {
    }
    /** Add to the column that is being made. @param particle  rows 3*particle to 3*particle+2 */
    void add(int particle, const Real3& value) {
        particles.push_back(particle);
        values.push_back(value);
    }
    void endColumn() {
        ends.push_back(particles.size());
    }
    std::size_t numRows() const {
        return rows;
    }
    std::size_t numColumns() const {
        return ends.size();
    }
    /** result += A x. */
    void addProduct(const std::vector<double>& x, std::vector<double>& result) const;
    /** A^T y. */
    std::vector<double> transposed(const std::vector<double>& y) const;

private:
    std::size_t rows;
    std::vector<int> particles; // of all columns in turn
    std::vector<Real3> values;
    std::vector<std::size_t> ends;
};

/** The x of least norm among those that make |A x - b| smallest, to rounding, by conjugate gradients on A^T A x = A^T
 * b: started from zero they have no part along null vectors of A. Of cost proportional to the elements of A, and to the
 *  iterations, the fewer the better the condition is.
 *  Source: Hestenes, Stiefel, J. Res. Natl. Bur. Stand. 49, 409 (1952), section 10, doi 10.6028/jres.049.044. */
std::vector<double> solveLeastNorm(const SparseColumns& A, const std::vector<double>& b);

} // namespace ConstraintPlugin

#endif
