// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JointLoops.h"
#include "DisjointSets.h"
#include <set>

namespace ConstraintPlugin {

bool areJointsIndependent(const ConstraintSet& set) {
    // Bodies by their first nodes, particles, and one place for all that does not move.
    const int place = set.numNodes();
    DisjointSets sets(place + 1);
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (set.bodies[b].constants.inverseMass == 0)
            sets.join(place, set.originNodeOf(b));
    std::vector<int> ends, loops, joined; // one end of each such constraint
    std::set<std::array<int, 2>> joints;  // three or more constraints each
    for (const Constraint& c : set.constraints) {
        if (set.isIgnored(c) || (c.joint[0] >= 0 && !joints.insert(c.joint).second))
            continue;
        ends.clear();
        for (int s = 0; s < c.size(); s++) {
            const int p = c.particles[s], body = set.placeOf(c, s).body;
            ends.push_back(body >= 0 ? set.originNodeOf(body) : set.inverseMass[p] > 0 ? p : place);
        }
        if (set.isExpression(c)) // of coordinates in space, perhaps
            ends.push_back(place);
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        bool isLoop = ends.size() == 1;
        for (std::size_t i = 1; i < ends.size(); i++)
            isLoop = !sets.join(ends[0], ends[i]) || isLoop;
        if (isLoop)
            loops.push_back(ends[0]);
        if (set.isJoined(c))
            joined.push_back(ends[0]);
    }
    std::set<int> withLoop;
    for (int end : loops)
        withLoop.insert(sets.find(end));
    return std::none_of(joined.begin(), joined.end(), [&](int end) { return withLoop.count(sets.find(end)) > 0; });
}

} // namespace ConstraintPlugin
