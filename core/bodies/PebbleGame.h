// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PEBBLE_GAME_H_
#define CONSTRAINTS_CORE_PEBBLE_GAME_H_

#include <algorithm>
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** Which lengths are redundant in a plane at positions in general: a node has two pebbles, one for each coordinate, and
 *  a length takes one; it is independent if its ends can gather four before (Jacobs, Hendrickson, J. Comput. Phys. 137,
 *  346 (1997), doi 10.1006/jcph.1997.5809). */
class PebbleGame {
public:
    explicit PebbleGame(int numNodes) : out(numNodes, {-1, -1}), seen(numNodes) {
    }
    /** @return nodes of the smallest rigid set that contains both ends, ascending, if the length is redundant; it holds
     *          them under stress. Empty if it is independent, and it then is counted in. */
    std::vector<int> insert(int i, int j) {
        while (numFree(i) + numFree(j) < 4)
            if (!gather(i, j) && !gather(j, i))
                return reach(i, j);
        freeSlot(i) = j;
        return {};
    }
    /** Nodes visited so far: the work that was done. */
    long long numVisits() const {
        return visits;
    }

private:
    int numFree(int i) const {
        return (out[i][0] < 0) + (out[i][1] < 0);
    }
    int& freeSlot(int i) {
        return out[i][0] < 0 ? out[i][0] : out[i][1];
    }
    /** Bring one more pebble to i, and none from j. */
    bool gather(int i, int j) {
        if (numFree(i) == 2)
            return false;
        mark++;
        seen[i] = seen[j] = mark;
        std::vector<int> path{i}; // depth first
        while (!path.empty()) {
            visits++;
            int next = -1;
            for (int target : out[path.back()])
                if (target >= 0 && seen[target] != mark)
                    next = target;
            if (next < 0) {
                path.pop_back();
                continue;
            }
            seen[next] = mark;
            path.push_back(next);
            if (numFree(next) > 0) { // hand its pebble on: the lengths of the path turn around
                for (std::size_t k = path.size() - 1; k > 0; k--) {
                    freeSlot(path[k]) = path[k - 1];
                    *std::find(out[path[k - 1]].begin(), out[path[k - 1]].end(), path[k]) = -1;
                }
                return true;
            }
        }
        return false;
    }
    std::vector<int> reach(int i, int j) {
        mark++;
        std::vector<int> nodes{i, j};
        seen[i] = seen[j] = mark;
        for (std::size_t k = 0; k < nodes.size(); k++) {
            visits++;
            for (int target : out[nodes[k]])
                if (target >= 0 && seen[target] != mark) {
                    seen[target] = mark;
                    nodes.push_back(target);
                }
        }
        std::sort(nodes.begin(), nodes.end());
        return nodes;
    }

    std::vector<std::array<int, 2>> out; ///< [nodes] the other ends of lengths that hold its pebbles; -1: free
    std::vector<int> seen;
    int mark = 0;
    long long visits = 0;
};

} // namespace ConstraintPlugin

#endif
