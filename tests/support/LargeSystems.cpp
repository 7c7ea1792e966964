// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/LargeSystems.h"

namespace ConstraintTests {

TestSystem longChain(int bonds, double along) {
    Builder b("chain");
    int last = b.particle(12, {0, 0, 0});
    for (int k = 0; k < bonds; k++)
        last = b.grow(last, 12, along);
    return b.build();
}

TestSystem bentChain(int bonds, double degrees, bool holdsAngles) {
    Builder b("bent chain");
    const double angle = degrees * (std::acos(-1.0) / 180);
    std::vector<Real3> x = {{0, 0, 0}};
    Real3 along{1, 0, 0};
    for (int k = 0; k < bonds; k++) {
        x.push_back(x.back() + 0.15 * along);
        const Real3 c = cross(along, b.random.direction());
        along = -std::cos(angle) * along + (std::sin(angle) / std::sqrt(dot(c, c))) * c;
        along = (1 / std::sqrt(dot(along, along))) * along;
    }
    for (const Real3& place : x)
        b.particle(14, place);
    for (int k = 0; k < bonds; k++)
        b.bond(k, k + 1);
    for (int k = 1; holdsAngles && k < bonds; k++)
        b.bond(k - 1, k + 1);
    return b.build();
}

TestSystem protein(int residues) {
    Builder b("protein");
    int last = b.particle(14, {0, 0, 0});
    for (int k = 0; k < residues; k++) {
        last = b.grow(last, 12.011);
        const int branch = b.grow(last, 12.011);
        b.grow(last, 1.008);
        b.grow(branch, 1.008);
        b.grow(b.grow(branch, 15.999), 1.008);
        last = b.grow(last, 14.007);
    }
    return b.build();
}

TestSystem mesh(int edge) {
    Builder b("mesh");
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < edge; j++) {
            const int p = b.particle(12, Real3{0.15 * i, 0.15 * j, 0} + 0.03 * b.random.direction());
            if (i > 0)
                b.bond(p - edge, p);
            if (j > 0)
                b.bond(p - 1, p);
        }
    return b.build();
}

TestSystem honeycomb(int edge) {
    Builder b("honeycomb");
    const double length = 0.142, width = std::sqrt(3.0) * length;
    // The atoms of cell (i, j) are 2 (i edge + j) and the next one. The second of them is bound to the first of the
    // cells (i, j + 1) and (i - 1, j + 1), too.
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < edge; j++)
            for (int y : {0, 1})
                b.particle(12, Real3{width * (i + 0.5 * j), length * (1.5 * j + y), 0} + 0.01 * b.random.direction());
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < edge; j++) {
            const int first = 2 * (i * edge + j);
            b.bond(first, first + 1);
            if (j + 1 < edge)
                b.bond(first + 1, first + 2);
            if (j + 1 < edge && i > 0)
                b.bond(first + 1, first + 2 - 2 * edge);
        }
    return b.build();
}

std::vector<Real3> thermalVelocities(const TestSystem& system, unsigned seed) {
    Random random(seed);
    std::vector<Real3> velocities;
    const auto normal = [&] { // a sum of 12, nearly
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += random.uniform(0, 1);
        return sum;
    };
    for (double mass : system.masses) {
        const double width = std::sqrt(2.494 / mass), vx = normal(), vy = normal(), vz = normal();
        velocities.push_back(width * Real3{vx, vy, vz});
    }
    return velocities;
}

} // namespace ConstraintTests
