// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Subdomain.h"
#include "Cut.h"
#include <algorithm>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** Give each separator row to the smallest part that it is next to. */
std::vector<std::vector<int>> assignOwners(const std::vector<std::vector<int>>& neighbours, Cut cut) {
    std::vector<int> owner(neighbours.size(), -1);
    for (int p = 0; p < (int) cut.parts.size(); p++)
        for (int row : cut.parts[p])
            owner[row] = p;
    const auto isSmaller = [&](int p, int q) { return q < 0 || cut.parts[p].size() < cut.parts[q].size(); };
    // Rows in the middle of a wide separator are next to a part once rows beside them have joined it.
    for (std::vector<int> left = std::move(cut.separator), later; !left.empty(); left.swap(later)) {
        later.clear();
        for (int row : left) {
            int smallest = -1;
            for (int other : neighbours[row])
                if (const int p = owner[other]; p >= 0 && isSmaller(p, smallest))
                    smallest = p;
            if (smallest < 0) {
                later.push_back(row);
                continue;
            }
            owner[row] = smallest;
            cut.parts[smallest].push_back(row);
        }
        if (later.size() == left.size()) { // rows that are coupled to no others
            owner[later.back()] = 0;
            cut.parts[0].push_back(later.back());
            later.pop_back();
        }
    }
    for (auto& part : cut.parts)
        std::sort(part.begin(), part.end());
    return std::move(cut.parts);
}

/** Adds the halo, the ring and the factor to own rows. */
class SubdomainMaker {
public:
    SubdomainMaker(const std::vector<std::vector<int>>& neighbours, const SubdomainLimits& limits)
        : neighbours(neighbours), limits(limits), place(neighbours.size(), -1) {
    }
    /** @return false if the subdomain exceeds the limits; no other one can then be made */
    bool make(std::vector<int> own, Subdomain& subdomain) {
        subdomain.own = std::move(own);
        std::vector<int> rows = subdomain.own;
        if (!addHalo(rows, subdomain.ring) || !eliminate(localNeighbours(rows), subdomain.factor))
            return false;
        for (int i : subdomain.factor.order)
            subdomain.solved.push_back(rows[i]);
        for (int row : rows)
            place[row] = -1;
        for (int row : subdomain.ring)
            place[row] = -1;
        return true;
    }

private:
    /** Append the rows within so many hops; find those one hop further. place[row] >= 0: it has been reached. */
    bool addHalo(std::vector<int>& rows, std::vector<int>& ring) {
        for (int row : rows)
            place[row] = 0;
        std::size_t begin = 0;
        for (int hop = 0; hop <= limits.hops; hop++) {
            const std::size_t end = rows.size();
            std::vector<int>& next = hop < limits.hops ? rows : ring;
            for (std::size_t k = begin; k < end; k++)
                for (int other : neighbours[rows[k]])
                    if (place[other] < 0) {
                        place[other] = 0;
                        next.push_back(other);
                    }
            if (rows.size() > (std::size_t) limits.mostRows)
                return false;
            begin = end;
        }
        std::sort(ring.begin(), ring.end());
        return true;
    }
    /** Sort the rows, and list neighbours among them. */
    std::vector<std::vector<int>> localNeighbours(std::vector<int>& rows) {
        std::sort(rows.begin(), rows.end());
        for (std::size_t i = 0; i < rows.size(); i++)
            place[rows[i]] = (int) i;
        std::vector<std::vector<int>> local(rows.size());
        for (std::size_t i = 0; i < rows.size(); i++)
            for (int other : neighbours[rows[i]])
                if (const int k = place[other]; k >= 0 && k < (int) rows.size() && rows[k] == other)
                    local[i].push_back(k);
        return local;
    }

    const std::vector<std::vector<int>>& neighbours;
    const SubdomainLimits& limits;
    std::vector<int> place; // of each row among the rows of a subdomain; -1: not reached
};

} // namespace

std::vector<Subdomain> cutIntoSubdomains(const std::vector<std::vector<int>>& neighbours, const SubdomainLimits& limits,
                                         const std::function<bool(const Subdomain&)>& accepts) {
    const int n = (int) neighbours.size();
    const int numSubdomains = n <= limits.whole ? 1 : (n + limits.ownRows - 1) / limits.ownRows;
    SubdomainMaker maker(neighbours, limits);
    std::vector<Subdomain> subdomains;
    for (std::vector<int>& own : assignOwners(neighbours, Cut(neighbours, numSubdomains))) {
        Subdomain subdomain;
        if (!maker.make(std::move(own), subdomain) || (accepts && !accepts(subdomain)))
            return {};
        subdomains.push_back(std::move(subdomain));
    }
    return subdomains;
}

} // namespace ConstraintPlugin
