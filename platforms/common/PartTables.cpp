// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PartTables.h"
#include "ConstraintTables.h"
#include <algorithm>
#include <map>

namespace ConstraintPlugin {

namespace {

constexpr int mark = 1 << 15; // of a 16-bit number: kernels/partDistances.cc says of what

} // namespace

void PartCounts::include(const PartCounts& other) {
    for (int PartCounts::*count :
         {&PartCounts::rows, &PartCounts::solved, &PartCounts::places, &PartCounts::others, &PartCounts::entries,
          &PartCounts::targets, &PartCounts::updates, &PartCounts::levels})
        this->*count = std::max(this->*count, other.*count);
}

PartLayout::PartLayout(const PartCounts& counts) : n(counts) {
    const auto add = [](std::vector<Array>& arrays, int& total, const char* name, int size) {
        arrays.push_back({name, total});
        total += size;
    };
    for (const auto& [name, size] : std::vector<std::pair<const char*, int>>{{"START_BOND", 3 * n.rows},
                                                                             {"INVERSE_LENGTH", n.rows},
                                                                             {"TOTAL", n.rows},
                                                                             {"LENGTH", n.solved},
                                                                             {"OFFSET", n.solved},
                                                                             {"FREE", 3 * (n.places + n.others)},
                                                                             {"MOVED", 3 * (n.places + n.others)},
                                                                             {"INVERSE_MASS", n.places + n.others}})
        add(mixeds, numMixeds, name, size);
    for (const auto& [name, size] : std::vector<std::pair<const char*, int>>{{"PIVOT", n.solved},
                                                                             {"RIGHT_SIDE", n.solved},
                                                                             {"DIAGONAL", n.solved},
                                                                             {"LOWER", n.entries},
                                                                             {"UPPER", n.entries},
                                                                             {"GRADIENT", 3 * n.solved},
                                                                             {"START_GRADIENT", 3 * n.solved}})
        add(floats, numFloats, name, size);
    for (const auto& [name, size] : std::vector<std::pair<const char*, int>>{
             {"PARTICLE", n.places + n.others}, {"OWNER", n.rows}, {"FIRST_ROW", 1}})
        add(ints, numInts, name, size);
    for (const auto& [name, size] : std::vector<std::pair<const char*, int>>{{"COUNTS", 8},
                                                                             {"ROW_PLACES", 2 * n.rows},
                                                                             {"PLACE_START", n.places + 1},
                                                                             {"PLACE_ROWS", 2 * n.rows},
                                                                             {"COUPLING", 3 * n.entries},
                                                                             {"LEVEL_TARGETS", n.levels + 1},
                                                                             {"LEVEL_DIAGONALS", n.levels},
                                                                             {"LEVEL_ENTRIES", n.levels + 1},
                                                                             {"TARGET", n.targets},
                                                                             {"UPDATE_START", n.targets + 1},
                                                                             {"UPDATE", 3 * n.updates},
                                                                             {"ENTRY", 3 * n.entries}})
        add(shorts, numShorts, name, size);
    numMixeds += (4 - numMixeds % 4) % 4; // tables are read as vectors of four ints
    numFloats += (4 - numFloats % 4) % 4;
}

bool PartLayout::fits() const {
    return std::max({3 * n.rows, 3 * n.updates, 3 * n.entries, n.targets + 1, n.places + n.others}) < mark;
}

long long PartLayout::bytes(int mixedBytes) const {
    return (long long) mixedBytes * numMixeds + 4LL * (numFloats + tableInts());
}

std::string PartLayout::definitions() const {
    std::string text;
    const auto define = [&](const std::string& name, int value) {
        text += "#define " + name + " " + std::to_string(value) + "\n";
    };
    for (const auto* arrays : {&mixeds, &floats, &ints, &shorts})
        for (const Array& array : *arrays)
            define("AT_" + array.name, array.begin);
    define("PART_ROWS", n.rows);
    define("PART_SOLVED", n.solved);
    define("PART_ALL_PLACES", n.places + n.others);
    define("PART_MIXEDS", numMixeds);
    define("PART_FLOATS", numFloats);
    define("PART_INTS", numInts);
    define("PART_TABLE_INTS", tableInts());
    return text;
}

PartCounts countsOf(const ConstraintTables& t, int c) {
    PartCounts n;
    n.rows = t.rowStart[c + 1] - t.rowStart[c];
    n.solved = t.solvedEnd[c] - t.rowStart[c];
    n.places = t.particleStart[c + 1] - t.particleStart[c];
    n.entries = t.entryStart[c + 1] - t.entryStart[c];
    n.levels = t.levelStart[c + 1] - t.levelStart[c];
    const int firstTarget = t.levelTargetStart[t.levelStart[c]], lastTarget = t.levelTargetStart[t.levelStart[c + 1]];
    n.targets = lastTarget - firstTarget;
    n.updates = t.updateStart[lastTarget] - t.updateStart[firstTarget];
    // Particles that are not displaced.
    std::vector<int> others;
    for (int row = t.rowStart[c]; row < t.rowStart[c + 1]; row++)
        for (int s = t.slotStart[row]; s < t.slotStart[row + 1]; s++)
            if (t.slotNode[s] < t.numNodes())
                others.push_back(t.slotParticle[s]);
    std::sort(others.begin(), others.end());
    n.others = int(std::unique(others.begin(), others.end()) - others.begin());
    return n;
}

std::vector<int> PartLayout::tablesOf(const ConstraintTables& t, int c) const {
    const PartCounts counts = countsOf(t, c);
    std::vector<int> result(tableInts(), 0);
    const auto put = [&](const std::vector<Array>& arrays, const char* name, int index, int value) {
        const int begin =
            std::find_if(arrays.begin(), arrays.end(), [&](const Array& a) { return a.name == name; })->begin;
        if (&arrays == &ints) {
            result[begin + index] = value;
            return;
        }
        const int place = begin + index;
        int& pair = result[numInts + place / 2];
        pair = int((unsigned) pair | (unsigned) value << (16 * (place % 2)));
    };
    const int firstRow = t.rowStart[c], firstPlace = t.particleStart[c], firstEntry = t.entryStart[c],
              firstLevel = t.levelStart[c], firstTarget = t.levelTargetStart[firstLevel],
              firstUpdate = t.updateStart[firstTarget], firstLevelEntry = t.levelEntryStart[firstLevel];
    put(ints, "FIRST_ROW", 0, firstRow);
    const int sizes[] = {counts.rows, counts.solved, counts.places, counts.others, counts.entries, counts.levels};
    for (int i = 0; i < 6; i++)
        put(shorts, "COUNTS", i, sizes[i]);
    for (int i = 0; i < counts.places; i++)
        put(ints, "PARTICLE", i, t.clusterParticle[firstPlace + i]);
    std::map<int, int> otherPlace; // of particles that are not displaced
    for (int k = 0; k < counts.rows; k++) {
        put(ints, "OWNER", k, t.rowOwner[firstRow + k]);
        for (int i = 0; i < 2; i++) {
            const int s = t.slotStart[firstRow + k] + i;
            int place = t.slotNode[s] - t.numNodes() - firstPlace;
            if (t.slotNode[s] < t.numNodes()) {
                place = otherPlace.emplace(t.slotParticle[s], counts.places + (int) otherPlace.size()).first->second;
                put(ints, "PARTICLE", place, t.slotParticle[s]);
            }
            const bool isLeaf = i == 0 && k < counts.solved && t.rowIsLeaf[firstRow + k] != 0;
            put(shorts, "ROW_PLACES", 2 * k + i, place | (isLeaf ? mark : 0));
        }
    }
    for (int i = 0; i <= counts.places; i++)
        put(shorts, "PLACE_START", i, t.particleSlotStart[firstPlace + i] - t.particleSlotStart[firstPlace]);
    for (int m = t.particleSlotStart[firstPlace]; m < t.particleSlotStart[firstPlace + counts.places]; m++) {
        const int s = t.particleSlot[m], row = t.slotRow[s];
        put(shorts, "PLACE_ROWS", m - t.particleSlotStart[firstPlace],
            (row - firstRow) | (s != t.slotStart[row] ? mark : 0));
    }
    for (int e = 0; e < counts.entries; e++) {
        const int m = t.couplingStart[firstEntry + e];
        if (m == t.couplingStart[firstEntry + e + 1]) { // fill
            put(shorts, "COUPLING", 3 * e, 2 * mark - 1);
            continue;
        }
        const auto [s, u] = t.couplingSlots[m];
        const bool areOpposite = (s != t.slotStart[t.slotRow[s]]) != (u != t.slotStart[t.slotRow[u]]);
        put(shorts, "COUPLING", 3 * e, (t.slotNode[s] - t.numNodes() - firstPlace) | (areOpposite ? mark : 0));
        put(shorts, "COUPLING", 3 * e + 1, t.slotRow[s] - firstRow);
        put(shorts, "COUPLING", 3 * e + 2, t.slotRow[u] - firstRow);
    }
    for (int l = 0; l < counts.levels; l++) {
        put(shorts, "LEVEL_TARGETS", l, t.levelTargetStart[firstLevel + l] - firstTarget);
        put(shorts, "LEVEL_DIAGONALS", l, t.levelDiagonalEnd[firstLevel + l] - firstTarget);
        put(shorts, "LEVEL_ENTRIES", l, t.levelEntryStart[firstLevel + l] - firstLevelEntry);
    }
    put(shorts, "LEVEL_TARGETS", counts.levels, counts.targets);
    put(shorts, "LEVEL_ENTRIES", counts.levels, counts.entries);
    for (int i = 0; i < counts.targets; i++) {
        const int target = t.updateTarget[firstTarget + i];
        put(shorts, "TARGET", i, target >= 0 ? target : (~target >> 1) | ((~target & 1) != 0 ? mark : 0));
        put(shorts, "UPDATE_START", i, t.updateStart[firstTarget + i] - firstUpdate);
    }
    put(shorts, "UPDATE_START", counts.targets, counts.updates);
    for (int i = 0; i < counts.updates; i++)
        for (int j = 0; j < 3; j++)
            put(shorts, "UPDATE", 3 * i + j, t.updateSource[firstUpdate + i][j]);
    for (int i = 0; i < counts.entries; i++)
        for (int j = 0; j < 3; j++)
            put(shorts, "ENTRY", 3 * i + j, t.levelEntry[firstLevelEntry + i][j]);
    return result;
}

} // namespace ConstraintPlugin
