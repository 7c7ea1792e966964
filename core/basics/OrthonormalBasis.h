// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_ORTHONORMAL_BASIS_H_
#define CONSTRAINTS_CORE_ORTHONORMAL_BASIS_H_

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace ConstraintPlugin {

/** An orthonormal basis of the span of some vectors, by the Gram-Schmidt method. */
class OrthonormalBasis {
public:
    explicit OrthonormalBasis(std::size_t length) : length(length) {
    }
    /** Orthogonalize v against the basis and add the remainder to it if its squared norm exceeds the threshold.
     *  @param v  [length], overwritten
     *  @return that squared norm */
    double add(double* v, double threshold) {
        for (int pass = 0; pass < 2; pass++) // the second pass removes rounding errors of the first
            forEach([&](const double* b) {
                const double along = inner(b, v);
                for (std::size_t i = 0; i < length; i++)
                    v[i] -= along * b[i];
            });
        const double remaining = inner(v, v);
        if (remaining > threshold)
            for (std::size_t i = 0; i < length; i++)
                vectors.push_back(v[i] / std::sqrt(remaining));
        return remaining;
    }
    double inner(const double* a, const double* b) const {
        return std::inner_product(a, a + length, b, 0.0);
    }
    /** visit(b) for each basis vector, [length]. */
    template <class Visit>
    void forEach(Visit visit) const {
        for (std::size_t start = 0; start < vectors.size(); start += length)
            visit(&vectors[start]);
    }

private:
    std::size_t length;
    std::vector<double> vectors;
};

} // namespace ConstraintPlugin

#endif
