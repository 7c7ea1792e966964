// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Windings.h"
#include "BodyFit.h"
#include <algorithm>

namespace ConstraintPlugin {

std::vector<Bond> bondsOf(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* x,
                          const Box& box) {
    std::vector<Bond> bonds;
    for (int k : constraints) {
        const Constraint& c = set.constraints[k];
        const bool isLong = c.kind == CoordinateKind::Distance && c.target > box.halfWidth();
        if (c.kind == CoordinateKind::Custom || c.kind == CoordinateKind::AffinePosition)
            continue;
        for (int s = 0; s + 1 < c.size(); s++) {
            const int i = c.particles[s], j = c.particles[s + 1];
            const Real3 r = x[i] - x[j];
            bonds.push_back({i, j, c.periodic && !isLong ? box.minimumImage(r) : r, k, -1});
        }
    }
    return bonds;
}

std::vector<Bond> bondsOfBodies(const ConstraintSet& set, const Real3* positions, const Box& box) {
    std::vector<Bond> bonds;
    for (const RigidBody& body : set.bodies)
        for (int place = 0; place < body.size(); place++)
            if (place != body.reference)
                bonds.push_back({body.particles[place], body.particles[body.reference],
                                 fromReference(body, place, positions, box), -1, (int) (&body - set.bodies.data())});
    return bonds;
}

static std::array<int, 3> toBoxVectors(Real3 r, const Box& box) {
    if (box.isEmpty())
        return {};
    const auto take = [&](double part, double width, const Real3& vector) {
        const double number = std::round(part / width);
        r = r - number * vector;
        return (int) number;
    };
    const int c = take(r.z, box.c.z, box.c), b = take(r.y, box.b.y, box.b), a = take(r.x, box.a.x, box.a);
    return {a, b, c};
}

bool Windings::areAny() const {
    return std::any_of(numbers.begin(), numbers.end(),
                       [](const std::array<int, 3>& n) { return n != std::array<int, 3>{}; });
}

Windings findWindings(const std::vector<Bond>& bonds, const Real3* positions, const Box& box) {
    Windings result;
    for (const Bond& bond : bonds)
        result.particles.insert(result.particles.end(), {bond.i, bond.j});
    std::sort(result.particles.begin(), result.particles.end());
    result.particles.erase(std::unique(result.particles.begin(), result.particles.end()), result.particles.end());
    const std::size_t n = result.particles.size();
    const auto placeOf = [&](int particle) {
        return (int) (std::lower_bound(result.particles.begin(), result.particles.end(), particle) -
                      result.particles.begin());
    };
    std::vector<std::vector<int>> bondsAt(n);
    for (int b = 0; b < (int) bonds.size(); b++)
        for (int end : {bonds[b].i, bonds[b].j})
            bondsAt[placeOf(end)].push_back(b);
    for (int p : result.particles)
        result.unwrapped.push_back(positions[p]);
    result.network.assign(n, -1);
    std::vector<char> isOfTree(bonds.size());
    std::vector<int> placed;
    for (int root = 0; root < (int) n; root++) {
        if (result.network[root] >= 0)
            continue;
        result.network[root] = root;
        placed = {root};
        for (std::size_t at = 0; at < placed.size(); at++)
            for (int b : bondsAt[placed[at]]) {
                const int from = placed[at], i = placeOf(bonds[b].i), to = i == from ? placeOf(bonds[b].j) : i;
                if (result.network[to] >= 0)
                    continue;
                result.network[to] = root;
                isOfTree[b] = 1;
                result.unwrapped[to] = result.unwrapped[from] + (i == from ? -1.0 : 1.0) * bonds[b].vector;
                placed.push_back(to);
            }
    }
    for (std::size_t b = 0; b < bonds.size(); b++) {
        if (isOfTree[b])
            continue;
        const Bond& bond = bonds[b];
        result.closing.push_back(bond);
        result.numbers.push_back(
            toBoxVectors(result.unwrapped[placeOf(bond.i)] - result.unwrapped[placeOf(bond.j)] - bond.vector, box));
    }
    return result;
}

} // namespace ConstraintPlugin
