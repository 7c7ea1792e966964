// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/SystemTable.h"
#include <numeric>
#include <stdexcept>

namespace ConstraintTests {

Real3 Random::inCube(double halfEdge) {
    const double x = uniform(-halfEdge, halfEdge), y = uniform(-halfEdge, halfEdge), z = uniform(-halfEdge, halfEdge);
    return {x, y, z};
}

Real3 Random::direction() {
    for (;;) {
        const Real3 d = inCube(1);
        const double square = dot(d, d);
        if (square > 0.01 && square < 1)
            return (1 / std::sqrt(square)) * d;
    }
}

bool TestSystem::hasImmovable() const {
    return std::count(masses.begin(), masses.end(), 0.0) > 0;
}

namespace {

/** Adds constraints between particles already placed: the length is the distance that they have. */
class TableBuilder {
public:
    explicit TableBuilder(std::string name) {
        system.name = std::move(name);
    }
    int particle(double mass, Real3 position) {
        system.masses.push_back(mass);
        system.positions.push_back(position);
        return system.numParticles() - 1;
    }
    TableBuilder& bond(int i, int j) {
        const Real3 b = system.positions[i] - system.positions[j];
        system.bonds.push_back({i, j, std::sqrt(dot(b, b))});
        return *this;
    }
    TestSystem build(int dependent = 0) {
        system.rank = (int) system.bonds.size() - dependent;
        return system;
    }
    TestSystem system;
};

const Real3 tetrahedron[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

/** A centre and n particles around it, in no plane. */
TestSystem star(const std::string& name, int n, double centralMass, double mass) {
    TableBuilder b(name);
    b.particle(centralMass, {0.3, 0.2, 0.1});
    Random random(7);
    for (int i = 0; i < n; i++) {
        const Real3 corner{i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0};
        const Real3 bent = corner + random.inCube(0.1);
        b.particle(mass + 0.5 * i, b.system.positions[0] + 0.063 * bent);
        b.bond(0, i + 1);
    }
    return b.build();
}

TestSystem triangle(const std::string& name, const double (&masses)[3], double d01, double d02, double d12) {
    TableBuilder b(name);
    const double x = (d01 * d01 + d02 * d02 - d12 * d12) / (2 * d01);
    b.particle(masses[0], {0.1, 0.2, 0.3});
    b.particle(masses[1], {0.1 + d01, 0.2, 0.3});
    b.particle(masses[2], {0.1 + x, 0.2 + std::sqrt(d02 * d02 - x * x), 0.3});
    return b.bond(0, 1).bond(0, 2).bond(1, 2).build();
}

TestSystem methane() {
    TableBuilder b("methane");
    b.particle(12.011, {0.5, 0.5, 0.5});
    for (int i = 0; i < 4; i++)
        b.particle(1.008, b.system.positions[0] + (0.109 / std::sqrt(3)) * tetrahedron[i]);
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            b.bond(i, j);
    return b.build(1);
}

/** A chain in which no two neighbouring bonds are parallel. */
TestSystem chain(const std::string& name, int numBonds) {
    TableBuilder b(name);
    Random random(11);
    Real3 r{0, 0, 0};
    for (int i = 0; i <= numBonds; i++) {
        b.particle(1 + 15 * random.uniform(0, 1), r);
        if (i > 0)
            b.bond(i - 1, i);
        const double length = random.uniform(0.09, 0.16);
        const Real3 step{0.8, i % 2 ? 0.55 : -0.55, 0.3 * std::sin(0.7 * i)};
        r = r + (length / std::sqrt(dot(step, step))) * step;
    }
    return b.build();
}

/** A puckered ring of n particles. */
TestSystem ring(const std::string& name, int n) {
    TableBuilder b(name);
    for (int i = 0; i < n; i++) {
        const double angle = i * 2 * std::acos(-1.0) / n, radius = 0.07 / std::sin(std::acos(-1.0) / n);
        b.particle(12 + i, {radius * std::cos(angle), radius * std::sin(angle), i % 2 ? 0.025 : -0.025});
    }
    for (int i = 0; i < n; i++)
        b.bond(i, (i + 1) % n);
    return b.build();
}

/** Systems next to each other, with other masses. */
TestSystem sideBySide(const std::string& name, const std::vector<TestSystem>& parts) {
    TestSystem all;
    all.name = name;
    for (const TestSystem& part : parts) {
        const int first = all.numParticles();
        const TestSystem drawn = withRandomMasses(part, first);
        all.masses.insert(all.masses.end(), drawn.masses.begin(), drawn.masses.end());
        for (const Real3& r : part.positions)
            all.positions.push_back(r + Real3{0.05 * first, 0, 0});
        for (const auto& bond : part.bonds)
            all.bonds.push_back({first + bond.i, first + bond.j, bond.length});
        all.rank += part.rank;
    }
    return all;
}

/** A random tree: one cluster, sparse, with up to four bonds at a particle. */
TestSystem branched() {
    TableBuilder b("branched");
    Random random(5);
    std::vector<int> degree;
    for (int i = 0; i <= 200; i++) {
        int parent = -1;
        while (i > 0 && (parent < 0 || degree[parent] >= 4))
            parent = std::max(0, i - 1 - random.below(6));
        const Real3 origin = i == 0 ? Real3() : b.system.positions[parent];
        // One by one: the order in which arguments are evaluated differs between compilers and processors.
        const Real3 direction = random.direction();
        const double length = random.uniform(0.1, 0.16), mass = random.uniform(1, 40);
        b.particle(mass, origin + length * direction);
        degree.push_back(1);
        if (i > 0) {
            b.bond(parent, i);
            degree[parent]++;
        }
    }
    return b.build();
}

/** Two waters, a chain of two bonds, a bond and two free particles, their indices interleaved. */
TestSystem disjoint() {
    TableBuilder b("disjoint");
    const Real3 water[3] = {{0, 0, 0}, {0.09572, 0, 0}, {-0.024, 0.0927, 0}};
    for (int atom = 0; atom < 3; atom++)
        for (int molecule = 0; molecule < 2; molecule++)
            b.particle(atom == 0 ? 15.999 : 1.008, water[atom] + Real3{0.4 * molecule, 0.1 * molecule, 0});
    b.particle(23, {0, 0, 0.5});
    b.particle(12, {0.5, 0.5, 0});
    b.particle(16, {0.5, 0.62, 0.03});
    b.particle(35, {0, 0.4, 0.5});
    b.particle(14, {0.6, 0.68, 0});
    b.particle(16, {0.1, 0.9, 0.1});
    b.particle(1, {0.1, 0.9, 0.197});
    for (int m = 0; m < 2; m++)
        b.bond(m, 2 + m).bond(m, 4 + m).bond(2 + m, 4 + m);
    return b.bond(11, 12).bond(7, 8).bond(10, 8).build();
}

/** A bond, and two bonds with a common particle, across faces, an edge and a corner of the box. */
TestSystem acrossBoundary(const std::string& name, const Box& box) {
    TableBuilder b(name);
    const Real3 corner = box.a + box.b + box.c;
    b.particle(15.999, corner - Real3{0.02, 0.03, 0.04});
    b.particle(1.008, corner + Real3{0.03, 0.03, 0.02});
    b.particle(12, {-0.03, 1, 1.1});
    b.particle(1, {0.05, 1.02, 1.15});
    b.particle(2, {-0.08, 0.94, 1.13});
    TestSystem s = b.bond(0, 1).bond(2, 3).bond(2, 4).build();
    // Wrap into the box particle by particle, so that raw differences are off by box vectors.
    for (Real3& r : s.positions) {
        r = r - std::floor(r.z / box.c.z) * box.c;
        r = r - std::floor(r.y / box.b.y) * box.b;
        r = r - std::floor(r.x / box.a.x) * box.a;
    }
    s.box = box;
    s.periodic = true;
    return s;
}

/** A double pendulum: particle 0 is massless, the anchor of the other two. */
TestSystem anchored() {
    TableBuilder b("anchor");
    b.particle(0, {1, 1, 1});
    b.particle(5, {1.1, 1, 1});
    b.particle(9, {1.15, 1.1, 1.02});
    return b.bond(0, 1).bond(1, 2).build();
}

TestSystem duplicates() {
    TableBuilder b("duplicates");
    b.particle(16, {0, 0, 0});
    b.particle(1, {0.06, 0.07, 0});
    b.particle(3, {0.01, -0.09, 0.02});
    return b.bond(0, 1).bond(1, 0).bond(0, 2).bond(0, 1).build(2);
}

std::vector<TestSystem> makeTable() {
    TestSystem oh = chain("OH", 1);
    oh.masses = {15.999, 1.008};
    return {oh,
            chain("CH2", 2),
            star("CH3", 3, 12.011, 1.008),
            triangle("water", {15.999, 1.008, 2.014}, 0.0957, 0.0957, 0.1513),
            triangle("triangle", {3, 5, 7}, 0.1, 0.12, 0.15),
            methane(),
            chain("chain", 30),
            ring("ring", 6),
            star("star", 8, 12.011, 1.008),
            sideBySide("rings", {ring("", 5), ring("", 7), ring("", 8)}),
            sideBySide("stars",
                       {star("", 4, 28, 35), star("", 5, 12.011, 1.008), star("", 6, 32.06, 19), star("", 7, 31, 19)}),
            branched(),
            disjoint(),
            acrossBoundary("rectangular", Box{{2, 0, 0}, {0, 2.2, 0}, {0, 0, 2.4}}),
            acrossBoundary("triclinic", Box{{2, 0, 0}, {0.7, 2.2, 0}, {-0.6, 0.9, 2.4}}),
            anchored(),
            duplicates()};
}

} // namespace

const std::vector<TestSystem>& systemTable() {
    static const std::vector<TestSystem> table = makeTable();
    return table;
}

std::vector<std::string> systemNames() {
    std::vector<std::string> names;
    for (const TestSystem& system : systemTable())
        names.push_back(system.name);
    return names;
}

const TestSystem& findSystem(const std::string& name) {
    for (const TestSystem& system : systemTable())
        if (system.name == name)
            return system;
    throw std::out_of_range("no test system " + name);
}

ConstraintSet toConstraintSet(const TestSystem& system) {
    ConstraintSet set;
    for (double mass : system.masses)
        set.inverseMass.push_back(mass > 0 ? 1 / mass : 0);
    for (const auto& bond : system.bonds)
        set.constraints.push_back({ConstraintPlugin::CoordinateKind::Distance,
                                   {bond.i, bond.j},
                                   bond.length,
                                   system.periodic,
                                   -1,
                                   (int) set.constraints.size()});
    return set;
}

std::vector<int> allConstraints(const ConstraintSet& set) {
    std::vector<int> all(set.constraints.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

TestSystem withRandomMasses(TestSystem system, unsigned seed) {
    Random random(seed);
    for (double& mass : system.masses)
        mass = mass > 0 ? random.uniform(1, 40) : 0;
    return system;
}

ConstraintSet pattern(int numParticles, const std::vector<std::pair<int, int>>& bonds) {
    ConstraintSet set;
    set.inverseMass.assign(numParticles, 1.0);
    for (const auto& [i, j] : bonds)
        set.constraints.push_back(
            {ConstraintPlugin::CoordinateKind::Distance, {i, j}, 0.1, false, -1, (int) set.constraints.size()});
    return set;
}

} // namespace ConstraintTests
