// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SubdomainTables.h"
#include "ConstraintTables.h"
#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace ConstraintPlugin {

namespace {

// Bits of numbers in tables: subdomainLocal.cc and subdomainFactor.cc say of what.
constexpr int isFixed = 1 << 30, isMoved = 1 << 29, isDiagonal = 1, isFinished = 2, areOpposite = 1;
// Tables that the factorization reads count in bytes of a float, and of a gradient.
constexpr int floatBytes = 4, gradientBytes = 16;
constexpr int mark = SubdomainLayout::mark;

/** Bits of the points from n on that share its elements, or 0 if a point before it does. @param begin, last  of its row
 */
int sharersOf(const ConstraintTables& t, int n, int begin, int last) {
    int sharers = 0;
    for (int other = begin; other < last; other++)
        if (t.pointNodes[other][0] == t.pointNodes[n][0]) {
            if (other < n)
                return 0;
            sharers |= 1 << (other - n);
        }
    return sharers;
}

/** Writes the tables of one subdomain. Names are those of SubdomainLayout; subdomain*.cc say what the numbers are. */
class Writer {
public:
    Writer(const SubdomainLayout& layout, const ConstraintSet& set, const ConstraintTables& tables, int subdomain)
        : result(layout.tableInts(), 0), layout(layout), most(layout.counts()), set(set), t(tables), c(subdomain),
          counts(tables.subdomainCounts[subdomain]), firstRow(tables.rowStart[subdomain]),
          firstPlace(tables.particleStart[subdomain]), firstElement(counts.rows, -1) {
    }
    /** All tables: rows come before what has elements of rows. */
    std::vector<int> write() {
        putCounts();
        putParticles();
        putBodies();
        putRows();
        putPlaces();
        putCouplings();
        putLevels();
        putUpdates();
        return result;
    }

private:
    /** The gradient of a slot's row at its particle: an element, which is a row's own for a distance, and its sign. */
    struct Element {
        int number;
        bool isOpposite;
    };
    /** The next row of each kind, and what is counted with it. */
    struct Next {
        int angle = 0, expression = 0, expressionPoint = 0, joint = 0, jointPoint = 0, globalRow = 0, element = 0;
        std::array<int, std::size(listedKinds)> jointOfKind{};
    };

    void putInt(const char* name, int index, int value) {
        layout.intAt(result, name, index) = value;
    }
    void putShort(const char* name, int index, int value) {
        layout.setShort(result, name, index, value);
    }
    template <class Numbers>
    void putInts(const char* name, int index, const Numbers& values) {
        for (int value : values)
            putInt(name, index++, value);
    }
    template <class Numbers>
    void putShorts(const char* name, int index, const Numbers& values) {
        for (int value : values)
            putShort(name, index++, value);
    }
    /** The place in the subdomain of a node that it displaces. */
    int placeOf(int slot) const {
        return t.slotNode[slot] - t.numNodes() - firstPlace;
    }
    Element elementOf(int slot) const {
        const int row = t.slotRow[slot], i = slot - t.slotStart[row], first = firstElement[row - firstRow];
        return first < 0 ? Element{row - firstRow, i > 0} : Element{first + i, false};
    }

    void putCounts();
    void putParticles();
    void putBodies();
    void putRows();
    void putAngle(int row, int kind, const std::vector<int>& places);
    void putExpression(int row, int size);
    void putJoint(int row, const Constraint& constraint, const std::vector<int>& places);
    void putPlaces();
    void putCouplings();
    void putLevels();
    void putUpdates();
    std::vector<int> takePlaces(int row);

    std::vector<int> result;
    const SubdomainLayout& layout;
    const SubdomainCounts& most; ///< of the range
    const ConstraintSet& set;
    const ConstraintTables& t;
    const int c;
    const SubdomainCounts& counts;
    const int firstRow, firstPlace;
    std::vector<int> firstElement; ///< of rows that are no distances
    std::map<int, int> otherPlace; ///< of nodes that are not displaced
    Next next;
};

void Writer::putCounts() {
    putInt("FIRST_ROW", 0, firstRow);
    putShorts("COUNTS", 0,
              std::array{counts.rows, counts.solved, counts.places, counts.entries, counts.levels, counts.angles,
                         counts.globalRows, counts.expressions, counts.joints, counts.bodies, counts.jointPoints,
                         counts.slots});
}

void Writer::putParticles() {
    for (int i = 0; i < most.allPlaces(); i++)
        putInt("PARTICLE", i, -1);
    for (int i = 0; i < counts.places; i++)
        putInt("PARTICLE", i, t.clusterParticle[firstPlace + i] | (t.ownsNode[firstPlace + i] != 0 ? isMoved : 0));
}

void Writer::putBodies() {
    for (int copy = t.clusterBodyStart[c], k = 0; copy < t.clusterBodyStart[c + 1]; copy++, k++)
        putShort("BODY_PLACE", k, t.bodyPlace[copy] - firstPlace);
}

/** Places of a row's nodes. Those that the subdomain does not displace get new ones behind the others. */
std::vector<int> Writer::takePlaces(int row) {
    std::vector<int> places;
    for (int s = t.slotStart[firstRow + row]; s < t.slotStart[firstRow + row + 1]; s++) {
        if (t.slotNode[s] >= t.numNodes()) {
            places.push_back(placeOf(s));
            continue;
        }
        const auto [other, isNew] = otherPlace.emplace(t.slotParticle[s], counts.places + (int) otherPlace.size());
        places.push_back(other->second);
        if (isNew)
            putInt("PARTICLE", other->second, t.slotParticle[s] | isFixed);
    }
    return places;
}

void Writer::putRows() {
    next.element = most.rows;
    for (int k = 0; k < counts.rows; k++) {
        putInt("OWNER", k, t.rowOwner[firstRow + k]);
        const Constraint& constraint = set.constraints[t.constraintOf[firstRow + k]];
        const SubdomainRow kind = subdomainRowOf(set, constraint);
        const bool isDistance = kind == SubdomainRow::Distance,
                   isLeaf = k < counts.solved && t.rowIsLeaf[firstRow + k] != 0;
        const std::vector<int> places = takePlaces(k);
        const int size = (int) places.size(), one = isDistance ? places[0] : next.element,
                  other = isDistance ? places[1] : size;
        putInt("ROW_PLACES", k,
               int(unsigned(one | (isLeaf ? mark : 0)) | unsigned(other | (isDistance ? 0 : mark)) << 16));
        if (isDistance)
            continue;
        firstElement[k] = next.element;
        for (int i = 0; i < size; i++) {
            putShort("ELEMENT_PLACE", next.element - most.rows + i, places[i]);
            putShort("ELEMENT_ROW", next.element - most.rows + i, k);
        }
        if (kind == SubdomainRow::Angle)
            putAngle(k, (int) constraint.kind, places);
        else if (kind == SubdomainRow::Expression)
            putExpression(k, size);
        else if (kind == SubdomainRow::Joint)
            putJoint(k, constraint, places);
        else
            putShort("GLOBAL_ROW", next.globalRow++, k);
        next.element += size;
    }
}

void Writer::putAngle(int row, int kind, const std::vector<int>& places) {
    const int size = (int) places.size(), at = 8 * next.angle++;
    putShorts("ANGLE", at, std::array{row, kind, next.element, size});
    for (int i = 0; i < 4; i++)
        putShort("ANGLE", at + 4 + i, places[std::min(i, size - 1)]);
}

void Writer::putExpression(int row, int size) {
    putInts("EXPRESSION", 4 * next.expression++,
            std::array{row, t.rowForm[firstRow + row], t.rowFirstParameter[firstRow + row], next.expressionPoint});
    next.expressionPoint += size;
}

void Writer::putJoint(int row, const Constraint& constraint, const std::vector<int>& places) {
    const int first = t.slotStart[firstRow + row], kind = (int) constraint.kind,
              firstCopy = t.numJoinedBodies() + t.clusterBodyStart[c];
    const auto [begin, last] = t.rowPoints[firstRow + row];
    putShorts("JOINT", 4 * next.joint++, std::array{row, kind, next.jointPoint, last - begin});
    putShort("JOINT_OF_THREAD", kind * SubdomainLayout::threadsFor(most.joints) + next.jointOfKind[kind]++, next.joint);
    for (int n = begin; n < last; n++, next.jointPoint++) {
        const auto& [origin, turn, body, shape] = t.pointNodes[n];
        putShorts("JOINT_POINT", 4 * next.jointPoint,
                  std::array{next.element + origin - first, body < firstCopy ? 0 : body - firstCopy + 1,
                             places[origin - first], body < 0 ? 0 : 1});
        putInts("POINT_IN_MEMORY", 3 * next.jointPoint,
                std::array{constraint.particles[n - begin], std::max(shape, 0), n});
        putShort("SHARERS", next.jointPoint, sharersOf(t, n, begin, last));
    }
    if (row < counts.solved)
        putShort("COUNTS", 12, next.jointPoint); // so far
}

void Writer::putPlaces() {
    constexpr int rowsAtPlace = SubdomainLayout::rowsAtPlace;
    int others = 0; // elements of places beyond the first four of each
    for (int i = 0; i < counts.places; i++) {
        const int first = t.particleSlotStart[firstPlace + i], last = t.particleSlotStart[firstPlace + i + 1];
        putShort("PLACE_START", i, others);
        for (int m = first; m < std::max(last, first + rowsAtPlace); m++) {
            const Element element = m < last ? elementOf(t.particleSlot[m]) : Element{most.rows + most.slots, false};
            const int entry = element.number | (element.isOpposite ? mark : 0);
            if (m - first < rowsAtPlace)
                putShort("PLACE_ROWS", rowsAtPlace * i + m - first, entry);
            else
                putShort("OTHER_ROWS", others++, entry);
        }
    }
    putShort("PLACE_START", counts.places, others);
}

void Writer::putCouplings() {
    const int firstEntry = t.entryStart[c];
    int more = 0;
    for (int e = 0; e < counts.entries; e++) {
        const int first = t.couplingStart[firstEntry + e], last = t.couplingStart[firstEntry + e + 1];
        if (first == last) { // fill: a place of infinite mass, and any gradient that there is
            const int some = gradientBytes * std::max(firstElement[0], 0);
            putShorts("COUPLING", 4 * e, std::array{floatBytes * most.allPlaces(), some, some});
        }
        for (int m = first; m < last; m++) {
            const char* name = m == first ? "COUPLING" : "MORE_COUPLINGS";
            const int at = m == first ? e : more++;
            const auto [s, u] = t.couplingSlots[m];
            const Element ofRow = elementOf(s), ofColumn = elementOf(u);
            putShorts(name, 4 * at,
                      std::array{floatBytes * placeOf(s) | (ofRow.isOpposite != ofColumn.isOpposite ? areOpposite : 0),
                                 gradientBytes * ofRow.number, gradientBytes * ofColumn.number,
                                 m + 1 < last ? more + 1 : 0}); // counted from 1
        }
    }
}

void Writer::putLevels() {
    const int firstLevel = t.levelStart[c], firstTarget = t.levelTargetStart[firstLevel],
              firstEntry = t.levelEntryStart[firstLevel];
    for (int l = 0; l < counts.levels; l++) {
        putShort("LEVEL_RECORDS", l, t.levelTargetStart[firstLevel + l] - firstTarget);
        putShort("LEVEL_DIAGONALS", l, t.levelDiagonalEnd[firstLevel + l] - firstTarget);
        putShort("LEVEL_ENTRIES", l + 1, t.levelEntryStart[firstLevel + l] - firstEntry);
    }
    putShort("LEVEL_RECORDS", counts.levels, t.levelTargetStart[t.levelStart[c + 1]] - firstTarget);
    putShort("LEVEL_ENTRIES", counts.levels + 1, counts.entries);
    for (int i = 0; i < counts.entries; i++)
        for (int j = 0; j < 3; j++)
            putShort("ENTRY", 4 * i + j, floatBytes * t.levelEntry[firstEntry + i][j]);
}

/** A target's further updates are in records after those of all targets; a record says which one follows, or 0. */
void Writer::putUpdates() {
    const int firstTarget = t.levelTargetStart[t.levelStart[c]],
              numTargets = t.levelTargetStart[t.levelStart[c + 1]] - firstTarget;
    const std::array<int, 3> none = {most.entries, most.entries, most.solved}; // zeros
    int further = numTargets;
    for (int i = 0; i < numTargets; i++) {
        const int target = t.updateTarget[firstTarget + i], first = t.updateStart[firstTarget + i],
                  last = t.updateStart[firstTarget + i + 1];
        putShort("RECORD", 8 * i,
                 target >= 0 ? floatBytes * target
                             : floatBytes * (~target >> 1) | isDiagonal | ((~target & 1) != 0 ? isFinished : 0));
        for (int record = i, m = first; m < std::max(last, first + 1); m += updatesOfRecord) {
            if (m > first) {
                putShort("RECORD", 8 * record + 1, further);
                record = further++;
            }
            for (int k = 0; k < updatesOfRecord; k++) {
                const auto& source = m + k < last ? t.updateSource[m + k] : none;
                for (int j = 0; j < 3; j++)
                    putShort("RECORD", 8 * record + 2 + 3 * k + j, floatBytes * source[j]);
            }
        }
    }
}

} // namespace

std::vector<int> tablesOfSubdomain(const SubdomainLayout& layout, const ConstraintSet& set,
                                   const ConstraintTables& tables, int subdomain) {
    return Writer(layout, set, tables, subdomain).write();
}

} // namespace ConstraintPlugin
