// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Pendulum.h"
#include "support/Dense.h"
#include <array>

namespace ConstraintTests {

namespace {

Real3 rotated(const double* q, const Real3& r) { // by a unit quaternion
    const Real3 v{q[1], q[2], q[3]}, u = 2 * cross(v, r);
    return r + q[0] * u + cross(v, u);
}

} // namespace

/** Of each body: the centre, its velocity, a quaternion, and the angular velocity in space. */
struct DoublePendulum::State {
    std::array<double, 26> values{};
    double* at(int body, int first) {
        return values.data() + 13 * body + first;
    }
    const double* at(int body, int first) const {
        return values.data() + 13 * body + first;
    }
    Real3 vector(int body, int first) const {
        const double* v = at(body, first);
        return {v[0], v[1], v[2]};
    }
    void set(int body, int first, const Real3& r) {
        double* v = at(body, first);
        v[0] = r.x, v[1] = r.y, v[2] = r.z;
    }
    State plus(double factor, const State& slope) const {
        State sum = *this;
        for (std::size_t k = 0; k < values.size(); k++)
            sum.values[k] += factor * slope.values[k];
        return sum;
    }
};

DoublePendulum::DoublePendulum(const Body& first, const Body& second, const Real3& firstRate, const Real3& secondRate,
                               const Real3& g)
    : rates{firstRate, secondRate}, gravity(g) {
    for (int b = 0; b < 2; b++) {
        const Body& body = b == 0 ? first : second;
        Part& part = parts[b];
        for (std::size_t i = 0; i < body.masses.size(); i++) {
            part.mass += body.masses[i];
            part.centre += body.masses[i] * body.places[i];
        }
        part.centre = (1 / part.mass) * part.centre;
        for (std::size_t i = 0; i < body.masses.size(); i++) {
            const Real3 r = body.places[i] - part.centre;
            const double x[] = {r.x, r.y, r.z};
            part.places.push_back(r);
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    part.inertia[k][l] += body.masses[i] * ((k == l ? dot(r, r) : 0) - x[k] * x[l]);
        }
        part.joint = body.joint - part.centre;
    }
    jointInFirst = second.joint - parts[0].centre;
}

DoublePendulum::State DoublePendulum::slopeOf(const State& s) const {
    // Unknown: acceleration and angular acceleration of each body, the forces on the first at the fixed point and on
    // the second at the shared one.
    Matrix A = Matrix::Zero(18, 18);
    Vector b = Vector::Zero(18);
    const auto addCross = [&](int row, int column, const Real3& r, double factor) { // factor r x (unknown)
        const double m[3][3] = {{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}};
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                A(row + k, column + l) += factor * m[k][l];
    };
    const auto addOne = [&](int row, int column, double factor) {
        for (int k = 0; k < 3; k++)
            A(row + k, column + k) += factor;
    };
    const auto addTo = [&](int row, const Real3& r) { b[row] += r.x, b[row + 1] += r.y, b[row + 2] += r.z; };
    State slope;
    for (int body = 0; body < 2; body++) {
        const Part& part = parts[body];
        const double* q = s.at(body, 6);
        const Real3 w = s.vector(body, 10), joint = rotated(q, part.joint);
        const int linear = 6 * body, angular = linear + 3, force = 12 + 3 * body;
        // M a = M g + f, I alpha + w x I w = joint x f
        addOne(linear, linear, part.mass);
        addOne(linear, force, -1);
        addTo(linear, part.mass * gravity);
        Real3 columns[3];
        const Real3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int l = 0; l < 3; l++) {
            const double back[] = {q[0], -q[1], -q[2], -q[3]};
            const Real3 e = rotated(back, axes[l]);
            const auto row = [&](int k) {
                return part.inertia[k][0] * e.x + part.inertia[k][1] * e.y + part.inertia[k][2] * e.z;
            };
            columns[l] = rotated(q, {row(0), row(1), row(2)});
            A(angular, angular + l) = columns[l].x;
            A(angular + 1, angular + l) = columns[l].y;
            A(angular + 2, angular + l) = columns[l].z;
        }
        addTo(angular, -1 * cross(w, w.x * columns[0] + w.y * columns[1] + w.z * columns[2]));
        addCross(angular, force, joint, -1);
        // The acceleration of the joint: a + alpha x joint + w x (w x joint)
        addOne(12 + 3 * body, linear, 1);
        addCross(12 + 3 * body, angular, joint, -1);
        addTo(12 + 3 * body, -1 * cross(w, cross(w, joint)));
        slope.set(body, 0, s.vector(body, 3));
        const double rate[] = {0, w.x, w.y, w.z};
        double* dq = slope.at(body, 6);
        dq[0] = -0.5 * (rate[1] * q[1] + rate[2] * q[2] + rate[3] * q[3]);
        dq[1] = 0.5 * (rate[1] * q[0] + rate[2] * q[3] - rate[3] * q[2]);
        dq[2] = 0.5 * (rate[2] * q[0] + rate[3] * q[1] - rate[1] * q[3]);
        dq[3] = 0.5 * (rate[3] * q[0] + rate[1] * q[2] - rate[2] * q[1]);
    }
    // What the second body's joint exerts on the first, and its acceleration, which is the first's there
    const Real3 w = s.vector(0, 10), shared = rotated(s.at(0, 6), jointInFirst);
    addOne(0, 15, 1);
    addCross(3, 15, shared, 1);
    addOne(15, 0, -1);
    addCross(15, 3, shared, 1);
    addTo(15, cross(w, cross(w, shared)));
    const Vector x = solve(A, b);
    for (int body = 0; body < 2; body++) {
        slope.set(body, 3, {x[6 * body], x[6 * body + 1], x[6 * body + 2]});
        slope.set(body, 10, {x[6 * body + 3], x[6 * body + 4], x[6 * body + 5]});
    }
    return slope;
}

std::pair<Arrays, Arrays> DoublePendulum::positionsAfter(double time, int steps) const {
    State s;
    const Real3 ofJoint = cross(rates[0], jointInFirst - parts[0].joint);
    for (int body = 0; body < 2; body++) {
        s.set(body, 0, parts[body].centre);
        s.set(body, 3, (body == 0 ? Real3() : ofJoint) - cross(rates[body], parts[body].joint));
        *s.at(body, 6) = 1;
        s.set(body, 10, rates[body]);
    }
    const double h = time / steps;
    for (int step = 0; step < steps; step++) {
        const State a = slopeOf(s), b = slopeOf(s.plus(h / 2, a)), c = slopeOf(s.plus(h / 2, b)),
                    d = slopeOf(s.plus(h, c));
        s = s.plus(h / 6, a).plus(h / 3, b).plus(h / 3, c).plus(h / 6, d);
    }
    std::pair<Arrays, Arrays> x;
    for (int body = 0; body < 2; body++)
        for (const Real3& r : parts[body].places)
            (body == 0 ? x.first : x.second).push_back(s.vector(body, 0) + rotated(s.at(body, 6), r));
    return x;
}

} // namespace ConstraintTests
