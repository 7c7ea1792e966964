// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_LARGE_SYSTEMS_H_
#define CONSTRAINTS_TESTS_LARGE_SYSTEMS_H_

#include "support/SystemTable.h"
#include <cmath>
#include <string>
#include <vector>

namespace ConstraintTests {

// Systems that are one large cluster of distances.

/** Draws a system, from a fixed seed. */
class Builder {
public:
    explicit Builder(const std::string& name) {
        made.name = name;
    }
    int particle(double mass, const Real3& x) {
        made.masses.push_back(mass);
        made.positions.push_back(x);
        return made.numParticles() - 1;
    }
    /** A particle bound to another one, in any direction, or more or less along x. */
    int grow(int from, double mass, double along = 0) {
        const Real3 d = Real3{along, 0, 0} + random.direction();
        const int next = particle(mass, made.positions[from] + (0.15 / std::sqrt(dot(d, d))) * d);
        bond(from, next);
        return next;
    }
    void bond(int i, int j) {
        const Real3 d = made.positions[i] - made.positions[j];
        made.bonds.push_back({i, j, std::sqrt(dot(d, d))});
    }
    TestSystem build() {
        made.rank = (int) made.bonds.size();
        return made;
    }
    Random random{7};

private:
    TestSystem made;
};

TestSystem longChain(int bonds, double along = 0);
/** A chain with an angle between its bonds and random dihedrals. @param holdsAngles  by distances over two bonds */
TestSystem bentChain(int bonds, double degrees, bool holdsAngles = false);
/** A backbone with side chains of three bonds, and hydrogens. */
TestSystem protein(int residues);
/** A crumpled square lattice of bonds: nested dissection, whose separators are dense. */
TestSystem mesh(int edge);
/** Hexagons of bonds, edge x edge cells of two atoms, slightly crumpled: a network that can be cut into subdomains. */
TestSystem honeycomb(int edge);
/** Velocities at 300 K, nm/ps, of particles that no constraints hold. */
std::vector<Real3> thermalVelocities(const TestSystem& system, unsigned seed);

} // namespace ConstraintTests

#endif
