// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HELD_PARTICLES_H_
#define OPENMM_CONSTRAINTS_HELD_PARTICLES_H_

#include "ConstraintSet.h"
#include "TaskRunner.h"
#include <algorithm>
#include <vector>

namespace ConstraintPlugin {

/** The particles that the constraints and rigid bodies of a set have, as ranges: in most Systems nearly all of them. */
class HeldParticles {
public:
    explicit HeldParticles(const ConstraintSet& set) {
        const int n = set.numParticles();
        std::vector<char> isHeld(n, false);
        for (const Constraint& c : set.constraints)
            if (!set.isIgnored(c))
                for (int p : c.particles)
                    isHeld[p] = true;
        for (const RigidBody& body : set.bodies)
            for (int p : body.particles)
                isHeld[p] = true;
        constexpr int longest = 2048; // a task of a thread
        for (int p = 0; p < n; p++)
            if (isHeld[p] && set.inverseMass[p] == 0)
                anchors.push_back(p);
            else if (isHeld[p]) {
                if (ranges.empty() || ranges.back().end < p || p - ranges.back().begin == longest)
                    ranges.push_back({p, p});
                ranges.back().end = p + 1;
            }
    }
    bool isEmpty() const {
        return ranges.empty() && anchors.empty();
    }
    /** body(begin, end) -> whether all is well, for ranges of those with mass, on several threads if there are many.
     *  @return whether all said so */
    template <class Body>
    bool forMoving(TaskRunner* runner, const Body& body) const {
        std::vector<char> isGood(ranges.size());
        const auto part = [&](int r, int) { isGood[r] = body(ranges[r].begin, ranges[r].end); };
        if (runner == nullptr || ranges.size() < 4)
            TaskRunner().run((int) ranges.size(), part);
        else
            runner->run((int) ranges.size(), part);
        return std::all_of(isGood.begin(), isGood.end(), [](char good) { return good; });
    }

    std::vector<int> anchors; ///< those without mass, ascending

private:
    struct Range {
        int begin, end;
    };
    std::vector<Range> ranges; // of those with mass
};

} // namespace ConstraintPlugin

#endif
