// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BodyFit.h"
#include "SymmetricEigen.h"

namespace ConstraintPlugin {

namespace {

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

/** NaN is larger than any number. */
bool isLarger(double a, double b) {
    return !std::isnan(b) && !(a <= b);
}

/** sum_i w_i s_i y_i^T, row k: sum_i w_i s_ik y_i. */
struct Correlation {
    Real3 row[3];
    void add(double w, const Real3& s, const Real3& y) {
        row[0] += w * s.x * y;
        row[1] += w * s.y * y;
        row[2] += w * s.z * y;
    }
};

/** The axes e_k for which sum_k e_k . row_k is largest; that maximum. */
double bestAxes(const Correlation& M, rigid::BodyAxes& e) {
    const Real3 &a = M.row[0], &b = M.row[1], &c = M.row[2];
    const SymmetricEigen eigen = solveSymmetricEigen(4, {a.x + b.y + c.z, b.z - c.y, c.x - a.z, a.y - b.x,  //
                                                         b.z - c.y, a.x - b.y - c.z, a.y + b.x, c.x + a.z,  //
                                                         c.x - a.z, a.y + b.x, -a.x + b.y - c.z, b.z + c.y, //
                                                         a.y - b.x, c.x + a.z, b.z + c.y, -a.x - b.y + c.z});
    const std::vector<double>& q = eigen.vectors[3];
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    e.e1 = {w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)};
    e.e2 = {2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)};
    e.e3 = cross(e.e1, e.e2);
    return eigen.values[3];
}

/** The same with the first axis given, not normalized: the angle about it is sought. */
double bestAbout(const Real3& first, const Correlation& M, rigid::BodyAxes& e) {
    const Real3 unit = (1 / norm(first)) * first, second = M.row[1] - cross(unit, M.row[2]);
    const bool isAny = !(dot(second, second) > 0);
    e = rigid::bodyAxes(unit, second, isAny);
    return dot(unit, M.row[0]) + dot(e.e2, second);
}

} // namespace

BodyFit fitBody(const FreeBody& body, const Real3* positions, const Box& box) {
    const int n = body.size();
    std::vector<Real3> u(n);
    for (int i = 0; i < n; i++)
        u[i] = fromReference(body, i, positions, box);

    std::vector<double> weight = body.mass;
    if (body.isHeld) // the anchors count alone
        for (double& w : weight)
            w = w == 0 ? 1 : 0;
    BodyFit fit;
    Real3 centreOfShape;
    double total = 0;
    for (int i = 0; i < n && (body.isHeld || body.constants.inverseMass > 0); i++) {
        total += weight[i];
        fit.origin += weight[i] * u[i];
        centreOfShape += weight[i] * body.shape[i];
    }
    if (total > 0) {
        fit.origin = (1 / total) * fit.origin;
        centreOfShape = (1 / total) * centreOfShape;
    }
    Correlation M, reflected;
    double squares = 0;
    for (int i = 0; i < n; i++) {
        const Real3 s = body.shape[i] - centreOfShape, y = u[i] - fit.origin;
        M.add(weight[i], s, y);
        reflected.add(weight[i], {s.x, s.y, -s.z}, y);
        squares += weight[i] * (dot(s, s) + dot(y, y));
    }
    const auto fitAxes = [&](const Correlation& to, rigid::BodyAxes& axes) {
        if (body.isHeld || body.axisAnchor < 0)
            return bestAxes(to, axes);
        return bestAbout(u[body.axisAnchor], to, axes);
    };
    rigid::BodyAxes mirrored;
    const double rest = squares - 2 * fitAxes(M, fit.axes), ofReflection = squares - 2 * fitAxes(reflected, mirrored);
    fit.isMirrored = !body.isHeld && ofReflection < 0.01 * rest && rest > 1e-12 * squares;
    fit.origin = fit.origin - rigid::alongAxes(fit.axes, centreOfShape);
    for (int i = 0; i < n; i++) {
        const double distance = norm(u[i] - fit.origin - rigid::alongAxes(fit.axes, body.shape[i]));
        if (isLarger(distance, fit.deviation)) {
            fit.deviation = distance;
            fit.particle = body.particles[i];
        }
        if (body.mass[i] == 0 && isLarger(distance, fit.ofAnchors)) {
            fit.ofAnchors = distance;
            fit.anchor = body.particles[i];
        }
    }
    return fit;
}

void moveToFit(const FreeBody& body, const BodyFit& fit, Real3* positions, const Box& box) {
    std::vector<Real3> u;
    for (int i = 0; i < body.size(); i++)
        u.push_back(fromReference(body, i, positions, box));
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0)
            positions[body.particles[i]] += fit.origin + rigid::alongAxes(fit.axes, body.shape[i]) - u[i];
}

} // namespace ConstraintPlugin
