// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "IndependentRows.h"
#include "SplitMix.h"

namespace ConstraintPlugin {

UnitRows::UnitRows(const Jacobian& J, int begin, int end) {
    const int firstSlot = J.slotStart[begin], lastSlot = J.slotStart[end];
    for (int s = firstSlot; s < lastSlot; s++)
        if (J.inverseMass[s] > 0)
            particles.push_back(J.particle[s]);
    std::sort(particles.begin(), particles.end());
    particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
    first.reserve(end - begin + 1);
    first.push_back(0);
    for (int row = begin; row < end; row++) {
        double square = 0;
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
            if (J.inverseMass[s] > 0)
                square += ConstraintPlugin::dot(J.start[s], J.start[s]);
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
            if (J.inverseMass[s] > 0) {
                const auto place = std::lower_bound(particles.begin(), particles.end(), J.particle[s]);
                column.push_back(3 * (int) (place - particles.begin()));
                gradient.push_back((1 / std::sqrt(square)) * J.start[s]);
            }
        first.push_back((int) column.size());
    }
}

double UnitRows::dot(int row, const double* v) const {
    double sum = 0;
    for (int e = first[row]; e < first[row + 1]; e++) {
        const double* const at = v + column[e];
        sum += gradient[e].x * at[0] + gradient[e].y * at[1] + gradient[e].z * at[2];
    }
    return sum;
}

void UnitRows::add(int row, double factor, double* v) const {
    for (int e = first[row]; e < first[row + 1]; e++) {
        double* const at = v + column[e];
        at[0] += factor * gradient[e].x;
        at[1] += factor * gradient[e].y;
        at[2] += factor * gradient[e].z;
    }
}

double UnitRows::work() const {
    const double most = std::min(numRows(), numColumns());
    return 4 * most * most * numColumns() + 6 * most * (double) column.size();
}

namespace {

using Vector = std::vector<double>;

double squareOf(const Vector& v) {
    double sum = 0;
    for (double x : v)
        sum += x * x;
    return sum;
}

void scale(Vector& v, double factor) {
    for (double& x : v)
        x *= factor;
}

/** Subtract from v what lies in the span of an orthonormal basis. */
void orthogonalize(const std::vector<Vector>& basis, Vector& v) {
    double before = squareOf(v);
    for (int pass = 0; pass < 3; pass++) {
        for (const Vector& b : basis) {
            double along = 0;
            for (std::size_t i = 0; i < v.size(); i++)
                along += b[i] * v[i];
            for (std::size_t i = 0; i < v.size(); i++)
                v[i] -= along * b[i];
        }
        const double after = squareOf(v);
        if (after > 0.5 * before) // nothing was cancelled
            return;
        before = after;
    }
}

} // namespace

IndependentRows chooseIndependent(const UnitRows& rows) {
    const int m = rows.numRows(), n = rows.numColumns();
    // Squared distances from the span are updated from one row to the next by d^2 -= (row.b)^2, until rounding errors
    // dominate. Then random vectors w orthogonal to the span estimate them: (row.w)^2 is d^2 on average.
    constexpr double exact = 1e-8;
    constexpr int numProbes = 4;
    Vector square(m, 1.0);
    std::vector<Vector> basis, probes;
    std::vector<char> isTaken(m);
    IndependentRows result;
    const auto probe = [&] {
        for (int row = 0; row < m; row++) {
            square[row] = 0;
            for (const Vector& w : probes)
                square[row] += std::pow(rows.dot(row, w.data()), 2) / numProbes;
        }
    };
    while (true) {
        int best = -1;
        for (int row = 0; row < m; row++)
            if (!isTaken[row] && (best < 0 || square[row] > square[best]))
                best = row;
        if (best < 0)
            return result;
        if (probes.empty() && square[best] < exact) {
            SplitMix random(m);
            for (int i = 0; i < numProbes; i++) {
                Vector w(n);
                for (double& x : w)
                    x = std::sqrt(12) * (random.uniform() - 0.5); // of unit variance
                orthogonalize(basis, w);
                probes.push_back(std::move(w));
            }
            probe();
            continue;
        }
        Vector v(n);
        rows.add(best, 1, v.data());
        for (const Vector& b : basis) { // as orthogonalize(), but a row is sparse
            const double along = rows.dot(best, b.data());
            for (int i = 0; i < n; i++)
                v[i] -= along * b[i];
        }
        double remaining = squareOf(v);
        if (remaining < 0.5) {
            orthogonalize(basis, v);
            remaining = squareOf(v);
        }
        const double distance = std::sqrt(remaining);
        if (!(distance > zeroDistance)) {
            result.rest = std::max(distance, std::sqrt(square[best]));
            return result;
        }
        result.rows.push_back(best);
        result.distance.push_back(distance);
        isTaken[best] = 1;
        scale(v, 1 / distance);
        for (Vector& w : probes)
            orthogonalize({v}, w);
        if (probes.empty())
            for (int row = 0; row < m; row++)
                square[row] -= std::pow(rows.dot(row, v.data()), 2);
        else
            probe();
        basis.push_back(std::move(v));
    }
}

} // namespace ConstraintPlugin
