// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Peeling.h"
#include "Jacobian.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

constexpr int maxRows = 3; // more vectors in space are dependent

/** Smallest squared distance of up to three vectors from the span of those before, the farthest one first. */
double smallestPivotOf(Real3* vectors, int count) {
    double smallest = 1;
    for (int i = 0; i < count; i++) {
        std::iter_swap(vectors + i, std::max_element(vectors + i, vectors + count, [](const Real3& a, const Real3& b) {
                           return dot(a, a) < dot(b, b);
                       }));
        const double pivot = dot(vectors[i], vectors[i]);
        if (!(pivot > 0)) // NaN too
            return 0;
        smallest = std::min(smallest, pivot);
        for (int j = i + 1; j < count; j++)
            vectors[j] = vectors[j] - (dot(vectors[i], vectors[j]) / pivot) * vectors[i];
    }
    return smallest;
}

} // namespace

Peeling peel(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions, const Box& box,
             double threshold, double time) {
    Jacobian J(set, constraints);
    J.setUnitMasses();
    J.setStart(positions, box, time);

    // The slots of each movable particle, and to which row each belongs.
    std::vector<int> rowOf(J.particle.size()), end(set.numNodes() + 1), slots;
    std::vector<double> inverseLength(J.numRows());
    for (int row = 0; row < J.numRows(); row++) {
        inverseLength[row] = 1 / std::sqrt(J.diagonal(row, J.start.data()));
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++) {
            rowOf[s] = row;
            end[J.particle[s] + 1] += J.inverseMass[s] > 0;
        }
    }
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<int> next(end.begin(), end.end() - 1), remaining(set.numNodes()), queue;
    slots.resize(end.back());
    for (int s = 0; s < (int) J.particle.size(); s++)
        if (J.inverseMass[s] > 0)
            slots[next[J.particle[s]]++] = s;
    for (int p = 0; p < set.numNodes(); p++) {
        remaining[p] = end[p + 1] - end[p];
        if (remaining[p] > 0 && remaining[p] <= maxRows)
            queue.push_back(p);
    }

    Peeling result;
    std::vector<char> isTaken(J.numRows());
    for (std::size_t i = 0; i < queue.size(); i++) {
        const int p = queue[i];
        int rows[maxRows], count = 0;
        Real3 gradients[maxRows];
        for (int e = end[p]; e < end[p + 1]; e++) {
            const int row = rowOf[slots[e]];
            if (isTaken[row])
                continue;
            rows[count] = row;
            gradients[count++] = inverseLength[row] * J.start[slots[e]];
        }
        const double pivot = smallestPivotOf(gradients, count);
        if (count == 0 || !(pivot > threshold))
            continue;
        result.smallestPivot = std::min(result.smallestPivot, pivot);
        for (int k = 0; k < count; k++) {
            isTaken[rows[k]] = 1;
            result.independent.push_back(constraints[rows[k]]);
            for (int s = J.slotStart[rows[k]]; s < J.slotStart[rows[k] + 1]; s++) {
                const int other = J.particle[s];
                if (J.inverseMass[s] > 0 && --remaining[other] <= maxRows && other != p)
                    queue.push_back(other);
            }
        }
    }
    for (int row = 0; row < J.numRows(); row++)
        if (!isTaken[row])
            result.rest.push_back(constraints[row]);
    return result;
}

} // namespace ConstraintPlugin
