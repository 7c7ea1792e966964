// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Rotor.h"
#include <Eigen/Eigenvalues>
#include <algorithm>

namespace ConstraintTests {

Rotor::Rotor(std::vector<double> masses, const Arrays& positions, const Arrays& velocities) {
    const auto anchor = std::find(masses.begin(), masses.end(), 0.0);
    double total = 0;
    for (std::size_t i = 0; i < masses.size(); i++) {
        total += masses[i];
        centre += masses[i] * positions[i];
        drift += masses[i] * velocities[i];
    }
    if (anchor == masses.end()) {
        centre = (1 / total) * centre;
        drift = (1 / total) * drift;
    } else {
        centre = positions[anchor - masses.begin()];
        drift = {};
    }
    Eigen::Matrix3d I = Eigen::Matrix3d::Zero();
    Real3 momentum;
    for (std::size_t i = 0; i < masses.size(); i++) {
        const Real3 d = positions[i] - centre;
        const Eigen::Vector3d x(d.x, d.y, d.z);
        I += masses[i] * (x.squaredNorm() * Eigen::Matrix3d::Identity() - x * x.transpose());
        momentum += masses[i] * cross(d, velocities[i]);
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(I);
    for (int k = 0; k < 3; k++) {
        const Eigen::Vector3d axis = eigen.eigenvectors().col(k);
        axes[k] = k < 2 ? Real3{axis[0], axis[1], axis[2]} : cross(axes[0], axes[1]);
        inertia[k] = eigen.eigenvalues()[k];
        omega[k] = inertia[k] > 1e-9 * eigen.eigenvalues()[2] ? dot(axes[k], momentum) / inertia[k] : 0;
    }
    for (const Real3& r : positions) {
        const Real3 d = r - centre;
        body.push_back({dot(d, axes[0]), dot(d, axes[1]), dot(d, axes[2])});
    }
}

Arrays Rotor::velocities() const {
    const Real3 w = omega[0] * axes[0] + omega[1] * axes[1] + omega[2] * axes[2];
    Arrays v;
    for (const Real3& s : body)
        v.push_back(drift + cross(w, s.x * axes[0] + s.y * axes[1] + s.z * axes[2]));
    return v;
}

Arrays Rotor::positionsAfter(double time, int steps) const {
    using State = std::array<double, 7>; // quaternion, angular velocity along the axes
    const auto rate = [&](const State& s) {
        const double *q = s.data(), *w = q + 4, *I = inertia.data();
        const auto euler = [&](int i, int j, int k) {
            return I[i] > 1e-9 * I[2] ? (I[j] - I[k]) / I[i] * w[j] * w[k] : 0;
        };
        return State{0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]),
                     0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]),
                     0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]),
                     0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]),
                     euler(0, 1, 2),
                     euler(1, 2, 0),
                     euler(2, 0, 1)};
    };
    const auto after = [](State s, double h, const State& slope) {
        for (int k = 0; k < 7; k++)
            s[k] += h * slope[k];
        return s;
    };
    State s{1, 0, 0, 0, omega[0], omega[1], omega[2]};
    const double h = time / steps;
    for (int step = 0; step < steps; step++) {
        const State a = rate(s), b = rate(after(s, 0.5 * h, a)), c = rate(after(s, 0.5 * h, b)),
                    d = rate(after(s, h, c));
        for (int k = 0; k < 7; k++)
            s[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
    }
    const double norm = std::sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + s[3] * s[3]);
    const Real3 vector = (1 / norm) * Real3{s[1], s[2], s[3]};
    Arrays x;
    for (const Real3& b : body) {
        const Real3 u = 2 * cross(vector, b), r = b + (s[0] / norm) * u + cross(vector, u);
        x.push_back(centre + time * drift + r.x * axes[0] + r.y * axes[1] + r.z * axes[2]);
    }
    return x;
}

Real3 angularMomentum(const std::vector<double>& masses, const Arrays& x, const Arrays& v) {
    Real3 sum;
    for (std::size_t i = 0; i < masses.size(); i++)
        sum += masses[i] * cross(x[i], v[i]);
    return sum;
}

double kineticEnergy(const std::vector<double>& masses, const Arrays& v) {
    double sum = 0;
    for (std::size_t i = 0; i < masses.size(); i++)
        sum += 0.5 * masses[i] * dot(v[i], v[i]);
    return sum;
}

} // namespace ConstraintTests
