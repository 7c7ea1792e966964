// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_BORDER_TABLES_H_
#define OPENMM_CONSTRAINTS_BORDER_TABLES_H_

#include "ConstraintGraph.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** Threads of the largest block that has a bordered row. A thread of a larger one would have too few registers. */
constexpr int maxBorderBlock = 256;

/** The border of a graph (Border.h) as flat arrays: the particles that bordered rows reach, and which row reaches each
 * in each field of responses. Bordered rows are numbered as in Border. They are the last general cluster of
 *  ConstraintTables, which no range has. */
class BorderTables {
public:
    int borderCluster = -1; ///< among the general clusters; -1: there is no border
    int numBordered = 0, numFields = 0;
    std::vector<int> borderParticle; ///< [places] that any row reaches, ascending
    std::vector<int> borderPlace;    ///< [numParticles] place of a particle, -1: no row reaches it
    std::vector<int> fieldRow;       ///< [fields][places] the row whose response is there, -1: of none
    std::vector<int> fieldSlot;      ///< [fields][places] the slot of this row that is the particle, or -1
    /** Places, fields, bordered rows, rows at the border; the first bordered row, and their cluster. */
    std::vector<int> borderCounts;
    std::vector<int> fieldOfRow; ///< [bordered]
    /** Rows that a row is coupled to in S, itself first: [bordered + 1], and of each {row, entry of the factor}. */
    std::vector<int> coupledStart;
    std::vector<std::array<int, 2>> coupled;
    /** Rows of clusters at the border, each with the place of one of its particles. */
    std::vector<std::array<int, 2>> rowsAtBorder;

    bool hasBorder() const {
        return numBordered > 0;
    }
    /** Whether any row reaches a movable particle. */
    bool isAtBorder(int particle) const {
        return hasBorder() && particle < (int) borderPlace.size() && borderPlace[particle] >= 0;
    }

protected:
    /** The particles that rows reach. */
    void addReach(const Border& border, int numParticles);
    /** The rest. @param slotOf  (row, particle) -> slot, -1: the row does not have it */
    template <class SlotOf>
    void addFields(const Border& border, SlotOf slotOf);
};

template <class SlotOf>
void BorderTables::addFields(const Border& border, SlotOf slotOf) {
    const std::size_t places = borderParticle.size();
    fieldRow.assign(numFields * places, -1);
    fieldSlot = fieldRow;
    for (int f = 0; f < numFields; f++)
        for (int b : border.fields[f])
            for (int node : border.rows[b].reach) {
                fieldRow[f * places + borderPlace[node]] = b;
                fieldSlot[f * places + borderPlace[node]] = slotOf(b, node);
            }
}

} // namespace ConstraintPlugin

#endif
