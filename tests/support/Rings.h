// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_RINGS_H_
#define CONSTRAINTS_TESTS_RINGS_H_

#include "support/JoinedBodies.h"

namespace ConstraintTests {

/** Bodies in a ring, each of which shares two particles with the next: an axis through a corner.
 *  @param axes  directions; as many as there are corners */
inline Assembly hingeRing(const std::string& name, const Points& corners, const Points& axes, int degreesOfFreedom) {
    Assembly ring;
    ring.name = name;
    ring.degreesOfFreedom = degreesOfFreedom;
    const int n = (int) corners.size();
    for (int i = 0; i < n; i++) {
        ring.atom(corners[i] - 0.06 * axes[i], 12 + i);
        ring.atom(corners[i] + 0.05 * axes[i], 10);
    }
    for (int i = 0; i < n; i++) {
        const int next = (i + 1) % n;
        const Real3 beside = 0.5 * (corners[i] + corners[next]) + Real3{0.02, -0.03, 0.11};
        ring.bodies.push_back({2 * i, 2 * i + 1, 2 * next, 2 * next + 1, ring.atom(beside, 5)});
    }
    return ring;
}

/** Corners of a polygon, and axes that are parallel or have directions by chance. */
inline Assembly hingeRing(int n, bool parallel, int degreesOfFreedom, unsigned seed = 1) {
    Random random(seed);
    Points corners, axes;
    for (int i = 0; i < n; i++) {
        const double angle = 2 * pi * (i + random.uniform(-0.1, 0.1)) / n, radius = 0.1 * n / 2;
        corners.push_back({radius * std::cos(angle), radius * std::sin(angle), parallel ? 0 : random.uniform(0, 0.1)});
        axes.push_back(parallel ? Real3{0, 0, 1} : random.direction());
    }
    return hingeRing(std::to_string(n) + (parallel ? " parallel hinges" : " hinges"), corners, axes, degreesOfFreedom);
}

/** Cyclohexane with tetrahedral angles: six bodies, each a CH2 group and the two carbon atoms that it is bonded to. */
inline Assembly cyclohexane(bool boat) {
    const double bond = 0.153, z = 1.0 / 3, r = std::sqrt(8.0) / 3;
    const Real3 t0{0, 0, 1}, t1{r, 0, -z}, t2{-r / 2, r * std::sqrt(0.75), -z};
    const Real3 up1{r, 0, z}, up2{-r / 2, r * std::sqrt(0.75), z}; // mirror images
    const Points chairSteps{t0, -1 * t1, t2, -1 * t0, t1}, boatSteps{t0, up1, -1 * up2, -1 * t0, t2};
    Assembly ring;
    ring.name = boat ? "boat" : "chair";
    ring.degreesOfFreedom = boat ? 7 : 6;
    Real3 at;
    ring.atom(at);
    for (const Real3& step : boat ? boatSteps : chairSteps)
        ring.atom(at += bond * step);
    const auto unit = [](const Real3& v) { return (1 / std::sqrt(dot(v, v))) * v; };
    for (int i = 0; i < 6; i++) {
        const int before = (i + 5) % 6, after = (i + 1) % 6;
        const Real3 c = ring.places[i], a = unit(ring.places[before] - c), b = unit(ring.places[after] - c),
                    away = unit(-1 * (a + b)), across = unit(cross(a, b));
        const int h1 = ring.atom(c + 0.109 * (std::sqrt(z) * away + std::sqrt(1 - z) * across), 1),
                  h2 = ring.atom(c + 0.109 * (std::sqrt(z) * away - std::sqrt(1 - z) * across), 1);
        ring.bodies.push_back({before, i, after, h1, h2});
    }
    return ring;
}

} // namespace ConstraintTests

#endif
