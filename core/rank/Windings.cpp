// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Windings.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

struct BondVector {
    int i, j;
    Real3 vector; // r_i - r_j
};

/** The bond vectors that Jacobian::setStart() takes. */
std::vector<BondVector> bondsOf(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* x,
                                const Box& box) {
    std::vector<BondVector> bonds;
    for (int k : constraints) {
        const Constraint& c = set.constraints[k];
        const bool isLong = c.kind == CoordinateKind::Distance && c.target > box.halfWidth();
        if (c.kind == CoordinateKind::Custom || c.kind == CoordinateKind::AffinePosition)
            continue;
        for (int s = 0; s + 1 < c.size(); s++) {
            const int i = c.particles[s], j = c.particles[s + 1];
            const Real3 r = x[i] - x[j];
            bonds.push_back({i, j, c.periodic && !isLong ? box.minimumImage(r) : r});
        }
    }
    return bonds;
}

std::array<int, 3> toBoxVectors(Real3 r, const Box& box) {
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

} // namespace

bool Windings::areAny() const {
    return std::any_of(numbers.begin(), numbers.end(),
                       [](const std::array<int, 3>& n) { return n != std::array<int, 3>{}; });
}

Windings findWindings(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions,
                      const Box& box) {
    Windings result;
    std::vector<BondVector> bonds = bondsOf(set, constraints, positions, box);
    for (const BondVector& bond : bonds)
        result.particles.insert(result.particles.end(), {bond.i, bond.j});
    std::sort(result.particles.begin(), result.particles.end());
    result.particles.erase(std::unique(result.particles.begin(), result.particles.end()), result.particles.end());
    const std::size_t n = result.particles.size();
    std::vector<std::vector<int>> bondsAt(n);
    for (int b = 0; b < (int) bonds.size(); b++)
        for (int* end : {&bonds[b].i, &bonds[b].j}) { // numbered anew
            *end = (int) (std::lower_bound(result.particles.begin(), result.particles.end(), *end) -
                          result.particles.begin());
            bondsAt[*end].push_back(b);
        }
    for (int p : result.particles)
        result.unwrapped.push_back(positions[p]);
    std::vector<char> isPlaced(n), isOfTree(bonds.size());
    std::vector<int> placed;
    for (int root = 0; root < (int) n; root++) {
        if (isPlaced[root])
            continue;
        isPlaced[root] = 1;
        placed = {root};
        for (std::size_t at = 0; at < placed.size(); at++)
            for (int b : bondsAt[placed[at]]) {
                const auto& [i, j, vector] = bonds[b];
                const int from = placed[at], to = i == from ? j : i;
                if (isPlaced[to])
                    continue;
                isPlaced[to] = isOfTree[b] = 1;
                result.unwrapped[to] = result.unwrapped[from] + (i == from ? -1.0 : 1.0) * vector;
                placed.push_back(to);
            }
    }
    for (std::size_t b = 0; b < bonds.size(); b++)
        if (!isOfTree[b])
            result.numbers.push_back(
                toBoxVectors(result.unwrapped[bonds[b].i] - result.unwrapped[bonds[b].j] - bonds[b].vector, box));
    return result;
}

} // namespace ConstraintPlugin
