// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Verifier.h"
#include "support/Dense.h"

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

namespace ConstraintTests {

namespace {

Real3 cross(const Real3& a, const Real3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

double length(const Real3& a) {
    return std::sqrt(dot(a, a));
}

/** Makes molecules whole: particles joined by constraints are placed next to each other by their bond vectors. */
Arrays unwrap(const Verifier& verifier, const ConstraintSet& set, Arrays positions) {
    std::vector<char> placed(positions.size(), 0);
    for (std::size_t seed = 0; seed < positions.size(); seed++) {
        std::vector<int> queue{(int) seed};
        placed[seed] = 1;
        while (!queue.empty()) {
            const int p = queue.back();
            queue.pop_back();
            for (int k = 0; k < (int) set.constraints.size(); k++) {
                const int i = set.constraints[k].particles[0], j = set.constraints[k].particles[1];
                if ((i != p && j != p) || placed[i + j - p])
                    continue;
                const Real3 b = verifier.bond(k, positions);
                positions[i + j - p] = i == p ? positions[p] - b : positions[p] + b;
                placed[i + j - p] = 1;
                queue.push_back(i + j - p);
            }
        }
    }
    return positions;
}

} // namespace

Verifier::Verifier(const ConstraintSet& set, const Box& box, const Arrays& start) : set(set), box(box), start(start) {
}

Real3 Verifier::bond(int constraint, const Arrays& positions) const {
    const auto& c = set.constraints[constraint];
    const Real3 raw = positions[c.particles[0]] - positions[c.particles[1]];
    if (!c.periodic)
        return raw;
    Real3 shortest = raw;
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++)
            for (int k = -2; k <= 2; k++) {
                const Real3 image = raw + (double) i * box.a + (double) j * box.b + (double) k * box.c;
                if (length(image) < length(shortest))
                    shortest = image;
            }
    return shortest;
}

AssertionResult Verifier::holdsLengths(const Arrays& positions, double tolerance) const {
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const double q = length(bond(k, positions)), target = set.constraints[k].target;
        // Written so that NaN fails.
        if (!(std::abs(q - target) <= tolerance * target))
            return AssertionFailure() << "constraint " << k << " is off by " << (q - target) / target << " (value " << q
                                      << ", target " << target << ", tolerance " << tolerance << ")";
    }
    return AssertionSuccess();
}

AssertionResult Verifier::isOnRightRoot(const Arrays& positions) const {
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (!(dot(bond(k, positions), bond(k, start)) > 0))
            return AssertionFailure() << "constraint " << k << " is on the wrong root: its bond is reversed";
    return AssertionSuccess();
}

AssertionResult Verifier::accepts(const Arrays& positions, double tolerance) const {
    const AssertionResult lengths = holdsLengths(positions, tolerance);
    return lengths ? isOnRightRoot(positions) : lengths;
}

AssertionResult Verifier::holdsVelocities(const Arrays& velocities, double timeScale, double tolerance) const {
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const auto& c = set.constraints[k];
        const Real3 b = bond(k, start);
        const double rate = dot(b, velocities[c.particles[0]] - velocities[c.particles[1]]) / length(b);
        if (!(std::abs(rate) * timeScale <= tolerance * c.target))
            return AssertionFailure() << "constraint " << k << " changes by " << rate << " nm/ps";
    }
    return AssertionSuccess();
}

AssertionResult Verifier::isConstraintImpulse(const Arrays& before, const Arrays& after, double tolerance) const {
    const int n = set.numParticles(), K = (int) set.constraints.size();
    const Arrays whole = unwrap(*this, set, start);
    std::vector<char> constrained(n, 0);
    bool anchored = false;
    for (const auto& c : set.constraints)
        for (int s = 0; s < 2; s++) {
            constrained[c.particles[s]] = 1;
            anchored = anchored || set.inverseMass[c.particles[s]] == 0;
        }
    // In mass-weighted coordinates: y = M^(1/2) (after - before), columns of B = M^(-1/2) J^T.
    Vector y = Vector::Zero(3 * n);
    Matrix B = Matrix::Zero(3 * n, K);
    Real3 linear, angular;
    double scale = 1e-13, largestMass = 0; // of the impulses; at least rounding of the values themselves
    for (int i = 0; i < n; i++) {
        const Real3 change = after[i] - before[i];
        const double w = set.inverseMass[i];
        if (!(length(change) == 0) && (w == 0 || !constrained[i]))
            return AssertionFailure() << "particle " << i << " was moved, though "
                                      << (w == 0 ? "it is immovable" : "no constraint acts on it");
        if (w == 0)
            continue;
        largestMass = std::max(largestMass, 1 / w);
        scale = std::max(scale, length(change));
        linear += (1 / w) * change;
        angular += (1 / w) * cross(whole[i], change);
        y.segment<3>(3 * i) = Eigen::Vector3d(change.x, change.y, change.z) / std::sqrt(w);
    }
    const double limit = tolerance * scale * largestMass;
    if (!anchored && !(length(linear) <= limit))
        return AssertionFailure() << "the centre of mass was moved: " << length(linear) << " amu nm(/ps), limit "
                                  << limit;
    if (!anchored && !(length(angular) <= limit))
        return AssertionFailure() << "angular momentum was given: " << length(angular) << ", limit " << limit;
    for (int k = 0; k < K; k++) {
        const Real3 b = bond(k, start);
        for (int s = 0; s < 2; s++) {
            const int p = set.constraints[k].particles[s];
            const double factor = (s == 0 ? 1 : -1) * std::sqrt(set.inverseMass[p]) / length(b);
            B.col(k).segment<3>(3 * p) += factor * Eigen::Vector3d(b.x, b.y, b.z);
        }
    }
    const Vector rest = y - apply(B, leastSquares(B, y));
    if (!(rest.norm() <= limit / std::sqrt(largestMass)))
        return AssertionFailure() << "the correction has a part along the constraint surface: " << rest.norm()
                                  << ", limit " << limit / std::sqrt(largestMass);
    return AssertionSuccess();
}

} // namespace ConstraintTests
