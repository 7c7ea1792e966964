// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Peeling.h"
#include "Jacobian.h"
#include <array>
#include <numeric>

namespace ConstraintPlugin {

namespace {

constexpr int maxNumbers = 6; // of a joined body's motion; more vectors of them are dependent

/** Part of a constraint's gradient. */
using GradientPart = std::array<double, maxNumbers>;

double dot(const GradientPart& a, const GradientPart& b) {
    double sum = 0;
    for (int i = 0; i < maxNumbers; i++)
        sum += a[i] * b[i];
    return sum;
}

/** Smallest squared distance of some vectors from the span of those before, the farthest one first. */
double smallestPivotOf(GradientPart* vectors, int count) {
    double smallest = 1;
    for (int i = 0; i < count; i++) {
        std::iter_swap(vectors + i,
                       std::max_element(vectors + i, vectors + count, [](const GradientPart& a, const GradientPart& b) {
                           return dot(a, a) < dot(b, b);
                       }));
        const double pivot = dot(vectors[i], vectors[i]);
        if (!(pivot > 0)) // NaN too
            return 0;
        smallest = std::min(smallest, pivot);
        for (int j = i + 1; j < count; j++) {
            const double along = dot(vectors[i], vectors[j]) / pivot;
            for (int x = 0; x < maxNumbers; x++)
                vectors[j][x] -= along * vectors[i][x];
        }
    }
    return smallest;
}

/** Particles, and joined bodies with their two nodes each. */
class Movers {
public:
    explicit Movers(const ConstraintSet& set) : numParticles(set.numParticles()), numBodies((int) set.bodies.size()) {
    }
    int count() const {
        return numParticles + numBodies;
    }
    int of(int node) const {
        return node < numParticles ? node : numParticles + (node - numParticles) / 2;
    }
    /** Where a node's numbers stand among its mover's. */
    int offset(int node) const {
        return node < numParticles ? 0 : 3 * ((node - numParticles) % 2);
    }
    int maxRows(int mover) const {
        return mover < numParticles ? 3 : maxNumbers;
    }

private:
    int numParticles, numBodies;
};

} // namespace

Peeling peel(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions, const Box& box,
             double threshold, double time) {
    Jacobian J(set, constraints);
    J.setUnitMasses();
    J.setStart(positions, box, time);

    // The slots of each mover, those of a row one after another, and to which row each belongs.
    const Movers movers(set);
    std::vector<int> rowOf(J.particle.size()), end(movers.count() + 1), slots, remaining(movers.count()), queue;
    std::vector<double> inverseLength(J.numRows());
    const auto forMoversOf = [&](int row, auto visit) {
        int last = -1; // the nodes of a body are neighbours
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
            if (const int mover = movers.of(J.particle[s]); J.inverseMass[s] > 0 && mover != last) {
                last = mover;
                visit(mover);
            }
    };
    for (int row = 0; row < J.numRows(); row++) {
        inverseLength[row] = 1 / std::sqrt(J.diagonal(row, J.start.data()));
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++) {
            rowOf[s] = row;
            end[movers.of(J.particle[s]) + 1] += J.inverseMass[s] > 0;
        }
        forMoversOf(row, [&](int mover) { remaining[mover]++; });
    }
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<int> next(end.begin(), end.end() - 1);
    slots.resize(end.back());
    for (int s = 0; s < (int) J.particle.size(); s++)
        if (J.inverseMass[s] > 0)
            slots[next[movers.of(J.particle[s])]++] = s;
    for (int m = 0; m < movers.count(); m++)
        if (remaining[m] > 0 && remaining[m] <= movers.maxRows(m))
            queue.push_back(m);

    Peeling result;
    std::vector<char> isTaken(J.numRows());
    for (std::size_t i = 0; i < queue.size(); i++) {
        const int m = queue[i];
        int rows[maxNumbers], count = 0;
        GradientPart gradients[maxNumbers];
        for (int e = end[m]; e < end[m + 1]; e++) {
            const int s = slots[e], row = rowOf[s];
            if (isTaken[row])
                continue;
            if (count == 0 || rows[count - 1] != row) {
                rows[count] = row;
                gradients[count++] = {};
            }
            const Real3 g = inverseLength[row] * J.start[s];
            double* const numbers = &gradients[count - 1][movers.offset(J.particle[s])];
            numbers[0] = g.x;
            numbers[1] = g.y;
            numbers[2] = g.z;
        }
        const double pivot = smallestPivotOf(gradients, count);
        if (count == 0 || !(pivot > threshold))
            continue;
        result.smallestPivot = std::min(result.smallestPivot, pivot);
        for (int k = 0; k < count; k++) {
            isTaken[rows[k]] = 1;
            result.independent.push_back(constraints[rows[k]]);
            forMoversOf(rows[k], [&](int other) {
                if (--remaining[other] <= movers.maxRows(other) && other != m)
                    queue.push_back(other);
            });
        }
    }
    for (int row = 0; row < J.numRows(); row++)
        if (!isTaken[row])
            result.rest.push_back(constraints[row]);
    return result;
}

} // namespace ConstraintPlugin
