// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BorderTables.h"
#include <algorithm>

namespace ConstraintPlugin {

void BorderTables::addReach(const Border& border, int numParticles) {
    numBordered = (int) border.rows.size();
    numFields = (int) border.fields.size();
    if (!hasBorder())
        return;
    borderPlace.assign(numParticles, -1);
    for (const Border::Row& row : border.rows)
        for (int node : row.reach)
            borderPlace.at(node) = 0; // of a particle: no body reaches a border here
    for (int p = 0; p < numParticles; p++)
        if (borderPlace[p] == 0) {
            borderPlace[p] = (int) borderParticle.size();
            borderParticle.push_back(p);
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

} // namespace ConstraintPlugin
