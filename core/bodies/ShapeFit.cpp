// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ShapeFit.h"

namespace ConstraintPlugin {

namespace {

/** The fit's linear system: a row per length, three per point on a line. */
struct Rows {
    const std::vector<KnownLength>& lengths;
    const std::vector<PointOnLine>& onLine;
    std::vector<Real3> gradient; ///< [lengths] of the relative length, at its second end
    std::vector<double> scale;   ///< [onLine] 1 / length of the line

    using Residual = std::pair<std::vector<double>, std::vector<Real3>>;

    Residual times(const std::vector<Real3>& x) const {
        Residual r{std::vector<double>(lengths.size()), std::vector<Real3>(onLine.size())};
        for (std::size_t k = 0; k < lengths.size(); k++)
            r.first[k] = dot(gradient[k], x[lengths[k].j] - x[lengths[k].i]);
        for (std::size_t k = 0; k < onLine.size(); k++) {
            const PointOnLine& l = onLine[k];
            r.second[k] = scale[k] * (x[l.point] - (1 - l.weight) * x[l.a] - l.weight * x[l.b]);
        }
        return r;
    }
    std::vector<Real3> transposeTimes(const Residual& r, std::size_t n) const {
        std::vector<Real3> x(n);
        for (std::size_t k = 0; k < lengths.size(); k++) {
            x[lengths[k].j] += r.first[k] * gradient[k];
            x[lengths[k].i] += -r.first[k] * gradient[k];
        }
        for (std::size_t k = 0; k < onLine.size(); k++) {
            const PointOnLine& l = onLine[k];
            x[l.point] += scale[k] * r.second[k];
            x[l.a] += -scale[k] * (1 - l.weight) * r.second[k];
            x[l.b] += -scale[k] * l.weight * r.second[k];
        }
        return x;
    }
};

double square(const std::vector<Real3>& x) {
    double sum = 0;
    for (const Real3& v : x)
        sum += dot(v, v);
    return sum;
}

double square(const Rows::Residual& r) {
    double sum = square(r.second);
    for (double v : r.first)
        sum += v * v;
    return sum;
}

/** The shortest step that solves the linear system in the least-squares sense: conjugate gradients (CGLS). */
std::vector<Real3> solveLeastSquares(const Rows& rows, Rows::Residual residual, std::size_t n, double size) {
    std::vector<Real3> x(n), s = rows.transposeTimes(residual, n), p = s;
    double gamma = square(s);
    const double rounding = 1e-31 * rows.lengths.size() / (size * size);
    const double enough = std::max(1e-18 * gamma, rounding);
    constexpr std::size_t mostWork = 50'000'000;
    const std::size_t mostIterations = std::min(4 * n + 20, mostWork / rows.lengths.size() + 20);
    for (std::size_t i = 0; i < mostIterations && gamma > enough; i++) {
        const Rows::Residual q = rows.times(p);
        const double alpha = gamma / square(q);
        if (!std::isfinite(alpha))
            break;
        for (std::size_t k = 0; k < n; k++)
            x[k] += alpha * p[k];
        for (std::size_t k = 0; k < q.first.size(); k++)
            residual.first[k] -= alpha * q.first[k];
        for (std::size_t k = 0; k < q.second.size(); k++)
            residual.second[k] += -alpha * q.second[k];
        s = rows.transposeTimes(residual, n);
        const double old = gamma;
        gamma = square(s);
        for (std::size_t k = 0; k < n; k++)
            p[k] = s[k] + gamma / old * p[k];
    }
    return x;
}

} // namespace

void fitShape(std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
              const std::vector<PointOnLine>& onLine) {
    Rows rows{lengths, onLine, std::vector<Real3>(lengths.size()), {}};
    double size = 0;
    for (const KnownLength& l : lengths)
        size = std::max(size, l.length);
    for (const PointOnLine& l : onLine)
        rows.scale.push_back(1 / std::max(1e-3 * size, norm(points[l.a] - points[l.b])));
    double last = HUGE_VAL, lastSum = HUGE_VAL;
    for (int iteration = 0; iteration < 50; iteration++) {
        Rows::Residual residual = rows.times(points); // minus that of the points on lines
        for (Real3& r : residual.second)
            r = -r;
        for (std::size_t k = 0; k < lengths.size(); k++) {
            const KnownLength& l = lengths[k];
            const Real3 d = points[l.j] - points[l.i];
            const double r = norm(d);
            if (!(r > 1e-6 * l.length))
                return; // a shape that no step can mend: the caller finds the misfit
            rows.gradient[k] = (1 / (r * l.length)) * d;
            residual.first[k] = 1 - r / l.length;
        }
        const double sum = square(residual);
        if (iteration >= 8 && sum > 0.9 * lastSum) // no exact shape: what is left of the residual stays
            break;
        lastSum = sum;
        const std::vector<Real3> step = solveLeastSquares(rows, residual, points.size(), size);
        double largest = 0;
        for (const Real3& s : step)
            largest = std::max(largest, norm(s));
        if (!std::isfinite(largest))
            return;
        const double part = std::min(1.0, 0.3 * size / largest);
        for (std::size_t i = 0; i < points.size(); i++)
            points[i] += part * step[i];
        if (largest < 1e-15 * size || (largest < 1e-9 * size && largest > 0.1 * last)) // rounding is left
            break;
        last = largest;
    }
    for (const PointOnLine& l : onLine)
        points[l.point] = (1 - l.weight) * points[l.a] + l.weight * points[l.b];
}

double misfit(const std::vector<Real3>& points, const KnownLength& l) {
    return std::abs(norm(points[l.i] - points[l.j]) / l.length - 1);
}

} // namespace ConstraintPlugin
