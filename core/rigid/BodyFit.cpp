// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BodyFit.h"
#include "SymmetricEigen.h"

namespace ConstraintPlugin {

namespace {

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

/** Of a body's shape and its positions. */
struct Alignment {
    std::vector<Real3> u; ///< positions relative to the reference
    std::vector<double> weight;
    Real3 centre, centreOfShape; ///< about which it turns
    Correlation M;
};

/** @param weight  by place */
Alignment align(const RigidBody& body, const Real3* positions, const Box& box, std::vector<double> weight,
                bool isAboutCentre) {
    Alignment a;
    a.weight = std::move(weight);
    const int n = body.size();
    double total = 0;
    for (int i = 0; i < n; i++) {
        a.u.push_back(fromReference(body, i, positions, box));
        total += a.weight[i];
        a.centre += a.weight[i] * a.u[i];
        a.centreOfShape += a.weight[i] * body.shape[i];
    }
    const double scale = isAboutCentre && total > 0 ? 1 / total : 0;
    a.centre = scale * a.centre;
    a.centreOfShape = scale * a.centreOfShape;
    for (int i = 0; i < n; i++)
        a.M.add(a.weight[i], body.shape[i] - a.centreOfShape, a.u[i] - a.centre);
    return a;
}

/** Weights of a body's particles: of one that anchors hold, these count alone. */
std::vector<double> weightsOf(const RigidBody& body) {
    std::vector<double> weight = body.mass;
    for (double& w : weight)
        w = body.isHeld ? (w == 0 ? 1 : 0) : w;
    return weight;
}

} // namespace

BodyFit fitBody(const RigidBody& body, const Real3* positions, const Box& box) {
    const int n = body.size();
    const Alignment given = align(body, positions, box, weightsOf(body), body.isHeld || body.constants.inverseMass > 0);
    const std::vector<Real3>& u = given.u;
    const Real3 centreOfShape = given.centreOfShape;
    BodyFit fit;
    fit.origin = given.centre;
    const Correlation& M = given.M;
    const Correlation reflected{{M.row[0], M.row[1], -M.row[2]}};
    double squares = 0;
    for (int i = 0; i < n; i++) {
        const Real3 s = body.shape[i] - centreOfShape, y = u[i] - fit.origin;
        squares += given.weight[i] * (dot(s, s) + dot(y, y));
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

bool fitsBetterMirrored(const RigidBody& body, const Real3* positions, const Box& box) {
    double height = 0;
    for (const Real3& s : body.shape)
        height = std::max(height, std::abs(s.z - body.shape[0].z));
    if (body.isLinear || height <= 1e-6 * body.radius)
        return false;
    // Anchors that hold a body may be in one plane: here, all of its particles count.
    const std::vector<double> weight = body.isHeld ? std::vector<double>(body.size(), 1.0) : body.mass;
    const Alignment given = align(body, positions, box, weight, body.isHeld || body.constants.inverseMass > 0);
    // The best sum_k e_k . row_k of a rotation is s_1 + s_2 + s_3, or s_1 + s_2 - s_3 if the determinant of the rows is
    // negative, with their singular values s; of a reflection it is the other one. Likewise about an axis.
    const bool isAboutAxis = !body.isHeld && body.axisAnchor >= 0;
    const Real3& first = isAboutAxis ? given.u[body.axisAnchor] : given.M.row[0];
    return dot(first, cross(given.M.row[1], given.M.row[2])) < 0;
}

void moveToFit(const RigidBody& body, const BodyFit& fit, Real3* positions, const Box& box) {
    std::vector<Real3> u;
    for (int i = 0; i < body.size(); i++)
        u.push_back(fromReference(body, i, positions, box));
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0)
            positions[body.particles[i]] += fit.origin + rigid::alongAxes(fit.axes, body.shape[i]) - u[i];
}

} // namespace ConstraintPlugin
