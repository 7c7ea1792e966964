// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_ORTHONORMAL_BASIS_H_
#define CONSTRAINTS_CORE_ORTHONORMAL_BASIS_H_

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace ConstraintPlugin {

/** An orthonormal basis of what vectors of one length span, by Gram and Schmidt. */
class OrthonormalBasis {
public:
    explicit OrthonormalBasis(std::size_t length) : length(length) {
    }
    /** Orthogonalize v against the basis and take what is left into it, if its squared norm exceeds the threshold.
     *  @param v  [length], overwritten
     *  @return that squared norm */
    double add(double* v, double threshold) {
        for (int pass = 0; pass < 2; pass++) // once more for what rounding has left
            forEach([&](const double* b) {
                const double along = inner(b, v);
                for (std::size_t i = 0; i < length; i++)
                    v[i] -= along * b[i];
            });
        const double left = inner(v, v);
        if (left > threshold)
            for (std::size_t i = 0; i < length; i++)
                vectors.push_back(v[i] / std::sqrt(left));
        return left;
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
