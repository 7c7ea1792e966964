// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "HeldCoordinates.h"
#include <map>
#include <numeric>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** A straight angle was declared as an angle. */
CoordinateKind kindOf(const Constraint& c) {
    return c.kind == CoordinateKind::LinearAngle ? CoordinateKind::Angle : c.kind;
}

/** What a user has declared and is used: neither a joint, nor a body's constraint, nor the second component of a bend.
 */
bool isDeclared(const ConstraintSet& set, const Constraint& c) {
    return !set.isIgnored(c) && c.owner < 0 && c.joint[0] < 0 && c.kind != CoordinateKind::AffinePosition;
}

/** Particles with their weights in a distance of centroids, ascending. The groups may come in either order. */
std::vector<std::pair<int, double>> weighted(const ConstraintSet& set, const Constraint& c) {
    const std::vector<double>& weights = set.custom[c.form]->getWeights();
    std::vector<std::pair<int, double>> result;
    for (int s = 0; s < c.size(); s++)
        result.emplace_back(c.particles[s], weights[s]);
    std::sort(result.begin(), result.end());
    if (!result.empty() && result[0].second < 0)
        for (auto& entry : result)
            entry.second = -entry.second;
    return result;
}

/** The same but for their parameters. */
bool areSameExpressions(const ConstraintSet& set, const Constraint& a, const Constraint& b) {
    const CustomCoordinate &one = *set.custom[a.form], &other = *set.custom[b.form];
    return a.particles == b.particles && one.getForceName() == other.getForceName() &&
           one.describe() == other.describe() && one.getWeights() == other.getWeights() &&
           one.getGlobalNames() == other.getGlobalNames() && one.getGlobals() == other.getGlobals() &&
           (&one == &other || one.tableData() == other.tableData());
}

std::vector<double> parametersOf(const ConstraintSet& set, const Constraint& c) {
    const auto first = set.parameters.begin() + c.firstParameter;
    return {first, first + (std::ptrdiff_t) set.custom[c.form]->numParameters()};
}

bool haveSameCoordinate(const ConstraintSet& set, const Constraint& a, const Constraint& b) {
    if (kindOf(a) != kindOf(b) || a.size() != b.size() || set.hasLengthScale(a) != set.hasLengthScale(b))
        return false;
    if (a.kind != CoordinateKind::Custom)
        return a.particles == b.particles || std::equal(a.particles.begin(), a.particles.end(), b.particles.rbegin());
    return set.hasLengthScale(a) ? weighted(set, a) == weighted(set, b)
                                 : areSameExpressions(set, a, b) && parametersOf(set, a) == parametersOf(set, b);
}

/** Constraints of the same coordinate have the same key. Others may have, too. */
using Key = std::array<int, 6>;

Key keyOf(const ConstraintSet& set, const Constraint& c) {
    Key key{(int) kindOf(c), c.size(), -1, -1, -1, -1};
    const auto first = key.begin() + 2;
    if (c.kind == CoordinateKind::Custom && set.hasLengthScale(c)) {
        std::partial_sort_copy(c.particles.begin(), c.particles.end(), first, key.end());
        return key;
    }
    const std::ptrdiff_t number = std::min<std::ptrdiff_t>(c.size(), key.end() - first);
    std::copy(c.particles.begin(), c.particles.begin() + number, first);
    if (c.kind != CoordinateKind::Custom && c.particles.front() > c.particles.back())
        std::reverse(first, first + number);
    return key;
}

} // namespace

double declaredTarget(const Constraint& c) {
    return c.kind == CoordinateKind::LinearAngle ? M_PI : c.targetAt(0);
}

std::vector<int> findSameExpressions(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    std::vector<int> same;
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& other = set.constraints[k];
        if (k != constraint && set.isExpression(other) && set.isExpression(c) && isDeclared(set, other) &&
            areSameExpressions(set, c, other))
            same.push_back(k);
    }
    return same;
}

std::vector<std::vector<int>> findSameCoordinates(const ConstraintSet& set) {
    // By the smallest particle first, because sorting a million constraints takes longer.
    std::vector<int> start(set.numParticles() + 1), declared;
    const auto smallest = [](const Constraint& c) { return *std::min_element(c.particles.begin(), c.particles.end()); };
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (isDeclared(set, set.constraints[k])) {
            declared.push_back(k);
            start[smallest(set.constraints[k]) + 1]++;
        }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<int> sorted(declared.size()), next(start.begin(), start.end() - 1);
    for (int k : declared)
        sorted[next[smallest(set.constraints[k])]++] = k;
    std::vector<std::vector<int>> same;
    std::vector<std::pair<Key, int>> alike;
    for (int p = 0; p < set.numParticles(); p++) {
        alike.clear();
        for (int i = start[p]; i < start[p + 1] && start[p + 1] - start[p] > 1; i++)
            alike.emplace_back(keyOf(set, set.constraints[sorted[i]]), sorted[i]);
        std::sort(alike.begin(), alike.end());
        for (std::size_t begin = 0, end = 0; begin < alike.size(); begin = end) {
            std::vector<std::vector<int>> groups;
            for (end = begin; end < alike.size() && alike[end].first == alike[begin].first; end++) {
                const int k = alike[end].second;
                const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& g) {
                    return haveSameCoordinate(set, set.constraints[g[0]], set.constraints[k]);
                });
                if (group == groups.end())
                    groups.push_back({k});
                else
                    group->push_back(k);
            }
            for (std::vector<int>& group : groups)
                if (group.size() > 1)
                    same.push_back(std::move(group));
        }
    }
    std::sort(same.begin(), same.end());
    return same;
}

namespace {

/** Distances among particles that angles and dihedrals have. */
class Sides {
public:
    explicit Sides(const ConstraintSet& set) : set(set), isWanted(set.numParticles()) {
        bool isAny = false;
        for (const Constraint& c : set.constraints)
            if (isMeasured(c)) {
                isAny = true;
                for (int p : c.particles)
                    isWanted[p] = 1;
            }
        for (int k = 0; isAny && k < (int) set.constraints.size(); k++) {
            const Constraint& c = set.constraints[k];
            if (c.kind == CoordinateKind::Distance && isDeclared(set, c) && c.isFixed() && isWanted[c.particles[0]] &&
                isWanted[c.particles[1]])
                distances.emplace(std::minmax(c.particles[0], c.particles[1]), k);
        }
    }
    /** Whether it is an angle or a dihedral that is used. */
    bool isMeasured(const Constraint& c) const {
        return isDeclared(set, c) && isListed(kindOf(c)) && c.kind != CoordinateKind::Distance;
    }
    /** The distances of all pairs of a constraint's particles; empty if one of them is not held. */
    std::vector<int> among(const Constraint& c) const {
        std::vector<int> all;
        for (int i = 1; i < c.size(); i++)
            for (int j = 0; j < i; j++) {
                const auto found = distances.find(std::minmax(c.particles[i], c.particles[j]));
                if (found == distances.end())
                    return {};
                all.push_back(found->second);
            }
        std::sort(all.begin(), all.end());
        return all;
    }

private:
    const ConstraintSet& set;
    std::vector<char> isWanted;
    std::map<std::pair<int, int>, int> distances;
};

/** The body that has all particles with mass of a constraint that a body holds; -1 if there is none. */
int bodyOf(const ConstraintSet& set, const Constraint& c) {
    for (int b = 0; b < (int) set.bodies.size(); b++) {
        const std::vector<int>& of = set.bodies[b].particles;
        if (std::all_of(c.particles.begin(), c.particles.end(), [&](int p) {
                return set.inverseMass[p] == 0 || std::find(of.begin(), of.end(), p) != of.end();
            }))
            return b;
    }
    return -1;
}

} // namespace

std::vector<HeldCoordinate> findHeldCoordinates(const ConstraintSet& set) {
    std::vector<HeldCoordinate> held;
    std::vector<char> isFound(set.constraints.size());
    for (const std::vector<int>& group : findSameCoordinates(set))
        for (std::size_t i = 1; i < group.size(); i++) {
            if (set.constraints[group[i]].force < 0) // OpenMM refuses two of its own
                continue;
            held.push_back({group[i], {group[0]}});
            isFound[group[i]] = 1;
        }
    const Sides sides(set);
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (c.force < 0 || isFound[k])
            continue;
        if (sides.isMeasured(c)) {
            if (std::vector<int> by = sides.among(c); !by.empty())
                held.push_back({k, std::move(by)});
        } else if (c.isAbsorbed && c.recognized < 0 && c.kind != CoordinateKind::Distance && !c.particles.empty()) {
            if (const int body = bodyOf(set, c); body >= 0)
                held.push_back({k, {}, body});
        }
    }
    std::sort(held.begin(), held.end(),
              [](const HeldCoordinate& a, const HeldCoordinate& b) { return a.constraint < b.constraint; });
    return held;
}

} // namespace ConstraintPlugin
