// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BorderTables.h"
#include <algorithm>

namespace ConstraintPlugin {

void BorderTables::addReach(const Border& border, int numParticles, int numNodes,
                            const std::function<int(int)>& nodeOf) {
    numBordered = (int) border.rows.size();
    numFields = (int) border.fields.size();
    if (!hasBorder())
        return;
    borderPlace.assign(numNodes, -1);
    for (const Border::Row& row : border.rows)
        for (int node : row.reach)
            borderPlace[nodeOf(node)] = 0;
    for (int node = 0; node < numNodes; node++)
        if (borderPlace[node] == 0) {
            borderPlace[node] = numPlaces++;
            if (node < numParticles)
                borderParticle.push_back(node);
        }
    fieldOfRow.resize(numBordered);
    for (int f = 0; f < numFields; f++)
        for (int b : border.fields[f])
            fieldOfRow[b] = f;
    const SymbolicFactor& factor = border.factor;
    std::vector<std::vector<std::array<int, 2>>> neighbours(numBordered);
    for (int b = 0; b < numBordered; b++)
        for (int entry = factor.columnStart[b]; entry < factor.columnStart[b + 1]; entry++) { // fill, too
            neighbours[b].push_back({factor.entryRow[entry], entry});
            neighbours[factor.entryRow[entry]].push_back({b, entry});
        }
    coupledStart = {0};
    for (int b = 0; b < numBordered; b++) {
        coupled.push_back({b, -1});
        coupled.insert(coupled.end(), neighbours[b].begin(), neighbours[b].end());
        coupledStart.push_back((int) coupled.size());
    }
}

void BorderTables::addFields(const Border& border, const std::function<int(int)>& nodeOf,
                             const std::function<int(int, int)>& slotOf) {
    fieldRow.assign((std::size_t) numFields * numPlaces, -1);
    fieldSlot = fieldRow;
    for (int f = 0; f < numFields; f++)
        for (int b : border.fields[f])
            for (int ofSet : border.rows[b].reach) {
                const int node = nodeOf(ofSet);
                const std::size_t i = (std::size_t) f * numPlaces + borderPlace[node];
                fieldRow[i] = b;
                fieldSlot[i] = slotOf(b, node);
            }
}

} // namespace ConstraintPlugin
