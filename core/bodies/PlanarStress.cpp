// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PlanarStress.h"
#include "SymmetricEigen.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

using Matrix = std::vector<std::vector<double>>;

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/** Vectors x with A x = 0, by elimination with the largest pivot of all. @param[out] rank of A */
Matrix nullSpace(Matrix A, int columns, int& rank) {
    std::vector<int> order(columns);
    std::iota(order.begin(), order.end(), 0);
    const int rows = (int) A.size();
    for (rank = 0; rank < std::min(rows, columns); rank++) {
        int p = rank, q = rank;
        for (int i = rank; i < rows; i++)
            for (int j = rank; j < columns; j++)
                if (std::abs(A[i][order[j]]) > std::abs(A[p][order[q]])) {
                    p = i;
                    q = j;
                }
        if (!(std::abs(A[p][order[q]]) > 1e-7))
            break;
        std::swap(A[p], A[rank]);
        std::swap(order[q], order[rank]);
        const double pivot = A[rank][order[rank]];
        for (int i = 0; i < rows; i++) {
            const double factor = A[i][order[rank]] / pivot;
            if (i == rank || factor == 0)
                continue;
            for (int j = rank; j < columns; j++)
                A[i][order[j]] -= factor * A[rank][order[j]];
        }
    }
    Matrix basis;
    for (int free = rank; free < columns; free++) {
        std::vector<double> x(columns);
        x[order[free]] = 1;
        for (int k = 0; k < rank; k++)
            x[order[k]] = -A[k][order[free]] / A[k][order[k]];
        for (int repeat = 0; repeat < 2; repeat++)
            for (const std::vector<double>& y : basis) {
                const double overlap = dot(x, y);
                for (int j = 0; j < columns; j++)
                    x[j] -= overlap * y[j];
            }
        const double scale = 1 / std::sqrt(dot(x, x));
        for (double& v : x)
            v *= scale;
        basis.push_back(x);
    }
    return basis;
}

/** Cholesky factor in place, lower triangle. @return log det, or -infinity if not positive definite */
double factorize(Matrix& A) {
    double logDet = 0;
    for (std::size_t i = 0; i < A.size(); i++)
        for (std::size_t j = 0; j <= i; j++) {
            double sum = A[i][j];
            for (std::size_t k = 0; k < j; k++)
                sum -= A[i][k] * A[j][k];
            if (i > j)
                A[i][j] = sum / A[j][j];
            else if (sum > 0) {
                A[i][i] = std::sqrt(sum);
                logDet += std::log(sum);
            } else
                return -HUGE_VAL;
        }
    return logDet;
}

/** Solve A x = b with a factor of A. */
void solve(const Matrix& L, std::vector<double>& b) {
    const int n = (int) L.size();
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= L[i][k] * b[k];
        b[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= L[k][i] * b[k];
        b[i] /= L[i][i];
    }
}

/** Stresses sum_k y_k basis_k and their quadratic form for displacements out of the plane. */
struct StressSpace {
    Matrix basis; ///< [stresses][lengths] omega
    Matrix bend;  ///< [lengths][modes] z_i - z_j of each mode of displacement

    int numModes() const {
        return (int) bend[0].size();
    }
    std::vector<double> stress(const std::vector<double>& y) const {
        std::vector<double> omega(bend.size());
        for (std::size_t k = 0; k < basis.size(); k++)
            for (std::size_t e = 0; e < omega.size(); e++)
                omega[e] += y[k] * basis[k][e];
        return omega;
    }
    /** @param unit  what to add to the diagonal */
    Matrix form(const std::vector<double>& omega, double unit) const {
        Matrix A(numModes(), std::vector<double>(numModes()));
        for (std::size_t e = 0; e < omega.size(); e++)
            for (int i = 0; i < numModes(); i++)
                for (int j = 0; j < numModes(); j++)
                    A[i][j] += omega[e] * bend[e][i] * bend[e][j];
        for (int i = 0; i < numModes(); i++)
            A[i][i] += unit;
        return A;
    }

    /** A stress whose form is as definite as ascent makes it; empty if none is semidefinite. */
    std::vector<double> findDefinite() const {
        const int s = (int) basis.size(), E = (int) bend.size();
        std::vector<double> y(s);
        Matrix factor = form(stress(y), 1);
        double value = factorize(factor);
        for (int iteration = 0; iteration < 60; iteration++) {
            // Gradient and curvature of log det(1 + Omega), from the compliances b_e (1 + Omega)^-1 b_f.
            Matrix compliant(E);
            for (int e = 0; e < E; e++) {
                std::vector<double> x = bend[e];
                solve(factor, x);
                for (int f = 0; f < E; f++)
                    compliant[e].push_back(dot(bend[f], x));
            }
            std::vector<double> gradient(s);
            Matrix curvature(s, std::vector<double>(s));
            double trace = 0;
            for (int k = 0; k < s; k++) {
                std::vector<double> x(E);
                for (int e = 0; e < E; e++) {
                    gradient[k] += basis[k][e] * compliant[e][e];
                    for (int f = 0; f < E; f++)
                        x[e] += compliant[e][f] * compliant[e][f] * basis[k][f];
                }
                for (int l = 0; l < s; l++)
                    curvature[k][l] = dot(basis[l], x);
                trace += curvature[k][k];
            }
            for (int k = 0; k < s; k++)
                curvature[k][k] += 1e-13 * trace;
            std::vector<double> step = gradient;
            if (factorize(curvature) == -HUGE_VAL)
                break;
            solve(curvature, step);
            const double decrement = std::sqrt(std::max(0.0, dot(step, gradient)));
            if (decrement < 1e-3)
                return {}; // a maximum: no semidefinite stress
            double length = 1 / (1 + decrement);
            std::vector<double> best;
            for (int doubling = 0; doubling < 8; doubling++, length *= 2) {
                std::vector<double> trial = y;
                for (int k = 0; k < s; k++)
                    trial[k] += length * step[k];
                Matrix trialFactor = form(stress(trial), 1);
                const double trialValue = factorize(trialFactor);
                if (!(trialValue > value))
                    break;
                value = trialValue;
                factor = std::move(trialFactor);
                best = std::move(trial);
            }
            if (best.empty())
                break;
            y = best;
            if (std::sqrt(dot(y, y)) > 1e9)
                break;
        }
        return stress(y);
    }
};

/** What no stress braces is kept out of this fraction of the stiffest mode. */
constexpr double softest = 1e-6;

/** The largest set of points that move as one plane in each of some displacements z. */
std::vector<int> pointsThatStayFlat(const std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
                                    const Matrix& z) {
    const int n = (int) points.size();
    std::vector<int> best;
    std::vector<std::vector<int>> neighbours(n);
    for (const KnownLength& l : lengths) {
        neighbours[l.i].push_back(l.j);
        neighbours[l.j].push_back(l.i);
    }
    for (const KnownLength& l : lengths)
        for (int c : neighbours[l.i]) {
            const Real3 a = points[l.i], u = points[l.j] - a, v = points[c] - a;
            const double area = u.x * v.y - u.y * v.x;
            if (c <= l.j || std::abs(area) < 0.1 * norm(u) * norm(v))
                continue;
            std::vector<int> flat;
            for (int p = 0; p < n; p++) {
                const Real3 d = points[p] - a;
                const double s = (d.x * v.y - d.y * v.x) / area, t = (u.x * d.y - u.y * d.x) / area;
                if (std::all_of(z.begin(), z.end(), [&](const std::vector<double>& w) {
                        return std::abs(w[p] - (1 - s - t) * w[l.i] - s * w[l.j] - t * w[c]) < 1e-3;
                    }))
                    flat.push_back(p);
            }
            if (flat.size() > best.size())
                best = flat;
        }
    return best;
}

/** All points, or those that may be braced without the rest. */
std::vector<int> bracedPoints(const std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
                              const std::vector<PointOnLine>& onLine) {
    // Coordinates of points on lines follow from the others': x = T x_free.
    const int n = (int) points.size(), E = (int) lengths.size();
    std::vector<int> freeIndex(n, 0);
    for (const PointOnLine& l : onLine)
        freeIndex[l.point] = -1;
    int numFree = 0;
    for (int& f : freeIndex)
        f = f < 0 ? -1 : numFree++;
    Matrix T(n, std::vector<double>(numFree));
    for (int i = 0; i < n; i++)
        if (freeIndex[i] >= 0)
            T[i][freeIndex[i]] = 1;
    for (int depth = 0; depth < 3; depth++) // the ends of a line may lie on another
        for (const PointOnLine& l : onLine)
            for (int f = 0; f < numFree; f++)
                T[l.point][f] = (1 - l.weight) * T[l.a][f] + l.weight * T[l.b][f];
    if (numFree < 4)
        return {};

    Matrix equilibrium(2 * numFree, std::vector<double>(E));
    for (int e = 0; e < E; e++) {
        const Real3 d = points[lengths[e].j] - points[lengths[e].i];
        for (int f = 0; f < numFree; f++) {
            const double t = (T[lengths[e].j][f] - T[lengths[e].i][f]) / norm(d);
            equilibrium[2 * f][e] = t * d.x;
            equilibrium[2 * f + 1][e] = t * d.y;
        }
    }
    int rank;
    StressSpace space;
    space.basis = nullSpace(equilibrium, E, rank);
    if (rank < 2 * numFree - 3 || space.basis.empty())
        return {};
    double size = 0;
    for (const Real3& p : points)
        size = std::max(size, norm(p - points[0]));
    for (std::vector<double>& stress : space.basis)
        for (int e = 0; e < E; e++)
            stress[e] *= size / norm(points[lengths[e].j] - points[lengths[e].i]);

    // Displacements out of the plane that do not tilt it: the complement of 1, x and y.
    Matrix tilt(3, std::vector<double>(numFree));
    for (int i = 0; i < n; i++)
        if (freeIndex[i] >= 0) {
            tilt[0][freeIndex[i]] = 1;
            tilt[1][freeIndex[i]] = (points[i].x - points[0].x) / size;
            tilt[2][freeIndex[i]] = (points[i].y - points[0].y) / size;
        }
    int three;
    const Matrix modes = nullSpace(tilt, numFree, three);
    auto displacement = [&](const std::vector<double>& amplitudes) {
        std::vector<double> z(n);
        for (std::size_t m = 0; m < modes.size(); m++)
            for (int i = 0; i < n; i++)
                z[i] += amplitudes[m] * dot(T[i], modes[m]);
        return z;
    };
    space.bend.assign(E, std::vector<double>(modes.size()));
    for (std::size_t m = 0; m < modes.size(); m++) {
        std::vector<double> unit(modes.size());
        unit[m] = 1;
        const std::vector<double> z = displacement(unit);
        for (int e = 0; e < E; e++)
            space.bend[e][m] = z[lengths[e].j] - z[lengths[e].i];
    }

    const std::vector<double> omega = space.findDefinite();
    if (omega.empty())
        return {};
    std::vector<double> A;
    for (const std::vector<double>& row : space.form(omega, 0))
        A.insert(A.end(), row.begin(), row.end());
    const SymmetricEigen eigen = solveSymmetricEigen((int) modes.size(), A);
    Matrix soft;
    for (std::size_t m = 0; m < modes.size(); m++)
        if (!(eigen.values[m] > softest * eigen.values.back()))
            soft.push_back(displacement(eigen.vectors[m]));
    if (soft.empty()) {
        std::vector<int> all(n);
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    return pointsThatStayFlat(points, lengths, soft);
}

} // namespace

std::vector<int> findBracedPoints(const std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
                                  const std::vector<PointOnLine>& onLine) {
    std::vector<int> kept(points.size());
    std::iota(kept.begin(), kept.end(), 0);
    for (;;) {
        std::vector<int> place(points.size(), -1);
        std::vector<Real3> at;
        for (int p : kept) {
            place[p] = (int) at.size();
            at.push_back(points[p]);
        }
        std::vector<KnownLength> inside;
        for (const KnownLength& l : lengths)
            if (place[l.i] >= 0 && place[l.j] >= 0)
                inside.push_back({place[l.i], place[l.j], l.length});
        std::vector<PointOnLine> lines;
        for (const PointOnLine& l : onLine)
            if (place[l.point] >= 0 && place[l.a] >= 0 && place[l.b] >= 0)
                lines.push_back({place[l.point], place[l.a], place[l.b], l.weight});
        if (at.size() < 4 || inside.size() + 2 < 2 * (at.size() - lines.size()))
            return {};
        const std::vector<int> braced = bracedPoints(at, inside, lines);
        if (braced.size() == kept.size())
            return kept;
        std::vector<int> next;
        for (int b : braced)
            next.push_back(kept[b]);
        kept = next;
    }
}

} // namespace ConstraintPlugin
