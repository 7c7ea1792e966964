// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PartTables.h"
#include "ConstraintTables.h"
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace ConstraintPlugin {

namespace {

// Bits of numbers in tables: kernels/partLocal.cc and partFactor.cc say of what.
constexpr int mark = 1 << 15, isFixed = 1 << 30, isMoved = 1 << 29, isDiagonal = 1, isFinished = 2, areOpposite = 1;
constexpr int firstRowsOfPlace = 4;
constexpr int bodyNumbers = 49;  // of a body: kernels/partBodies.cc
constexpr int bodyTableInts = 4; // of a body: kernels/partBodyPlaces.cc
// Distances have no more updates of an element at a level: they are from rows that no entry joins, and a row has two
// particles: of three rows that are joined to it, two are joined by the same one, and so to each other. Rows of other
// kinds may have more; further ones are in records that follow.
constexpr int updatesOfRecord = 2;

int recordsFor(int updates) {
    return std::max(1, (updates + updatesOfRecord - 1) / updatesOfRecord);
}

/** Whole warps, as THREADS_FOR() in kernels/partLocal.cc. */
int threadsFor(int rows) {
    return 32 * ((rows + 31) / 32);
}

int roundUpToFour(int n) {
    return 4 * ((n + 3) / 4);
}

} // namespace

/** Whether a constraint is an expression of its particles themselves, not of centroids or bodies. */
static bool isOfParticles(const ConstraintSet& set, const Constraint& c) {
    return c.kind == CoordinateKind::Custom && set.custom[c.form]->getWeights().empty() && !set.isJoined(c);
}

static bool isDistanceOfParticles(const ConstraintSet& set, const Constraint& c) {
    return c.kind == CoordinateKind::Distance && !set.isJoined(c);
}

/** Whether a part may take up the particles of a joined body: it is movable and small, and shares no particle. */
static bool mayTake(const RigidBody& body) {
    return body.numMassive <= maxThreadBody && body.sharers.empty() && body.degreesOfFreedom() > 0;
}

/** Joined bodies of a part's rows: those that it displaces, then those of the ring alone. */
static std::vector<int> bodiesOf(const ConstraintTables& t, int c, int numRows) {
    std::vector<int> bodies(t.clusterBody.begin() + t.clusterBodyStart[c],
                            t.clusterBody.begin() + t.clusterBodyStart[c + 1]);
    std::set<int> others;
    for (int s = t.slotStart[t.rowStart[c]]; s < t.slotStart[t.rowStart[c] + numRows]; s++)
        if (t.slotParticle[s] >= t.numParticles)
            others.insert((t.slotParticle[s] - t.numParticles) / 2);
    for (int body : bodies)
        others.erase(body);
    bodies.insert(bodies.end(), others.begin(), others.end());
    return bodies;
}

/** How many couplings of rows there are beyond the first one of each pair: pairs may share several particles. */
static int moreCouplingsOf(const ConstraintSet& set, const std::vector<int>& constraints) {
    std::vector<std::pair<int, int>> members; // particle and row
    for (int k = 0; k < (int) constraints.size(); k++)
        for (int p : set.nodesOf(set.constraints[constraints[k]]))
            if (set.inverseMassOf(p) > 0)
                members.emplace_back(p, k);
    std::sort(members.begin(), members.end());
    std::vector<std::pair<int, int>> pairs;
    for (auto one = members.begin(); one != members.end(); ++one)
        for (auto other = one + 1; other != members.end() && other->first == one->first; ++other)
            pairs.emplace_back(one->second, other->second);
    std::sort(pairs.begin(), pairs.end());
    return int(pairs.end() - std::unique(pairs.begin(), pairs.end()));
}

PartCounts::PartCounts(const ConstraintSet& set, const std::vector<int>& constraints, const SymbolicFactor& factor)
    : rows((int) constraints.size()), solved(factor.size()), entries((int) factor.entryRow.size()),
      levels(factor.numLevels) {
    std::vector<int> all, displaced; // nodes
    for (int k = 0; k < rows; k++) {
        const Constraint& c = set.constraints[constraints[k]];
        const std::vector<int>& nodes = set.nodesOf(c);
        if (!isDistanceOfParticles(set, c)) {
            const bool isExpression = isOfParticles(set, c), isAngle = isAngular(c.kind) && !set.isJoined(c),
                       isJoint = isListed(c.kind) && set.isJoined(c);
            (isAngle ? angles : isExpression ? expressions : isJoint ? joints : globalRows)++;
            points += isExpression ? c.size() : 0;
            jointPoints += isJoint ? c.size() : 0;
            slots += (int) nodes.size();
        }
        for (int node : nodes) {
            all.push_back(node);
            if (k >= solved || !(set.inverseMassOf(node) > 0))
                continue;
            displaced.push_back(node);
            if (node >= set.numParticles()) // both nodes of a body, as in ConstraintTables::addParticles()
                displaced.push_back(set.numParticles() + ((node - set.numParticles()) ^ 1));
        }
    }
    moreCouplings = moreCouplingsOf(set, {constraints.begin(), constraints.begin() + solved});
    std::sort(all.begin(), all.end());
    std::sort(displaced.begin(), displaced.end());
    bool takesBodies = true;
    int lastBody = -1;
    for (int node : all) {
        const int body = node < set.numParticles() ? -1 : (node - set.numParticles()) / 2;
        if (body == lastBody)
            continue;
        lastBody = body;
        const bool isDisplaced = std::binary_search(displaced.begin(), displaced.end(), set.originNodeOf(body));
        (isDisplaced ? bodies : ringBodies)++;
        bodyPlaces += set.bodies[body].numMassive;
        takesBodies = takesBodies && mayTake(set.bodies[body]);
    }
    if (!takesBodies)
        leaveBodies();
    for (auto first = all.begin(), last = first; first < all.end(); first = last) {
        last = std::upper_bound(first, all.end(), *first);
        const bool isPlace = std::binary_search(displaced.begin(), displaced.end(), *first);
        (isPlace ? places : others)++;
        rowsOfPlace = std::max(rowsOfPlace, isPlace ? int(last - first) : 0);
    }
    // As ConstraintTables::addFactor(): targets of the columns of a level, each with its updates.
    std::vector<std::pair<int, int>> updates;
    const int* target = factor.updateTarget.data();
    for (int k = 0; k < solved; k++)
        for (int a = factor.columnStart[k]; a < factor.columnStart[k + 1]; a++) {
            updates.emplace_back(factor.level[k], ~factor.entryRow[a]);
            for (int b = a + 1; b < factor.columnStart[k + 1]; b++)
                updates.emplace_back(factor.level[k], *target++);
        }
    std::sort(updates.begin(), updates.end());
    for (auto first = updates.begin(), last = first; first < updates.end(); first = last) {
        last = std::upper_bound(first, updates.end(), *first);
        records += recordsFor(int(last - first));
    }
}

/** Counts that add up where parts are side by side. */
static constexpr int PartCounts::*addedUp[] = {&PartCounts::rows,   &PartCounts::solved,       &PartCounts::places,
                                               &PartCounts::others, &PartCounts::entries,      &PartCounts::records,
                                               &PartCounts::angles, &PartCounts::expressions,  &PartCounts::points,
                                               &PartCounts::bodies, &PartCounts::ringBodies,   &PartCounts::bodyPlaces,
                                               &PartCounts::joints, &PartCounts::jointPoints,  &PartCounts::globalRows,
                                               &PartCounts::slots,  &PartCounts::moreCouplings};
static constexpr int PartCounts::*mostOf[] = {&PartCounts::levels, &PartCounts::rowsOfPlace};

void PartCounts::leaveBodies() {
    ringBodies = bodyPlaces = 0;
}

void PartCounts::include(const PartCounts& other) {
    for (int PartCounts::*count : addedUp)
        this->*count = std::max(this->*count, other.*count);
    for (int PartCounts::*count : mostOf)
        this->*count = std::max(this->*count, other.*count);
}

void PartCounts::add(const PartCounts& other) {
    for (int PartCounts::*count : addedUp)
        this->*count += other.*count;
    for (int PartCounts::*count : mostOf)
        this->*count = std::max(this->*count, other.*count);
}

PartLayout::PartLayout(const PartCounts& counts) : n(counts) {
    using Sizes = std::vector<std::pair<const char*, int>>;
    const int all = n.allPlaces(), elements = n.rows + n.slots, bodies = n.bodies + n.ringBodies;
    const auto add = [](std::vector<Array>& arrays, int& total, const Sizes& sizes) {
        for (const auto& [name, size] : sizes) {
            arrays.push_back({name, total});
            total += size;
        }
        total = roundUpToFour(total); // vectors follow
    };
    add(numbers4, numNumbers4, {{"BOND", n.solved}, {"IMPULSE", all}});
    add(mixeds, numMixeds,
        {{"START_BOND", 3 * (elements + 1)},
         {"INVERSE_LENGTH", elements},
         {"TOTAL", n.rows},
         {"RATE", n.solved},
         {"LENGTH", n.solved},
         {"POSITION", 3 * all},
         {"DISPLACEMENT", 3 * all},
         {"VELOCITY", 3 * all},
         {"INVERSE_MASS", all},
         {"POINT", 3 * n.points},
         {"BODY", bodyNumbers * bodies},
         {"SHAPE", 4 * n.bodyPlaces},
         {"JOINT_BOND", 3 * n.jointPoints},
         {"POINT_SHAPE", 3 * n.jointPoints},
         {"POINT_VECTOR", 3 * n.jointPoints},
         {"POINT_RATE", n.jointPoints},
         {"JOINT_TARGET", 2 * n.joints},
         {"ANGLE_TARGET", 2 * n.angles}});
    add(floats4, numFloats4, {{"GRADIENT", n.slots > 0 ? elements : n.solved}, {"START_GRADIENT", elements + 1}});
    add(numbers, numNumbers,
        {{"TARGET", n.solved},
         {"SCALE", n.solved},
         {"SMALL_TOTAL", elements + 1},
         {"NUMBER_WEIGHT", all},
         {"ANGLE_BOND", 9 * n.angles},
         {"ANGLE_FREE", 3 * n.angles}});
    add(floats, numFloats,
        {{"PIVOT", n.solved + 1},
         {"DIAGONAL", n.solved},
         {"LOWER", n.entries + 1},
         {"UPPER", n.entries + 1},
         {"RIGHT_SIDE", n.solved + 1},
         {"WEIGHT", all + 1},
         {"TURN_MATRIX", 9 * bodies},
         {"START_ARM", 3 * n.jointPoints},
         {"POINT_ARM", 3 * n.jointPoints},
         {"POINT_SLOPE", 3 * n.jointPoints},
         {"POINT_NOTES", 3 * n.jointPoints},
         {"CHANGE", n.rows}});
    add(ints, numInts,
        {{"EXPRESSION", 4 * n.expressions}, // vectors come first
         {"PARTICLE", all},
         {"OWNER", n.rows},
         {"ROW_PLACES", n.rows},
         {"POINT_IN_MEMORY", 3 * n.jointPoints},
         {"BODY_TABLE", bodyTableInts * bodies},
         {"BODY_PARTICLE", n.bodyPlaces},
         {"FIRST_ROW", 1}});
    add(shorts, numShorts,
        {{"RECORD", 8 * n.records}, // vectors here, too
         {"ANGLE", 8 * n.angles},
         {"COUPLING", 4 * n.entries},
         {"MORE_COUPLINGS", 4 * n.moreCouplings},
         {"ENTRY", 4 * n.entries},
         {"PLACE_ROWS", firstRowsOfPlace * n.places},
         {"JOINT", 4 * n.joints},
         {"JOINT_POINT", 4 * n.jointPoints},
         {"COUNTS", 15},
         {"GLOBAL_ROW", n.globalRows},
         {"BODY_PLACE", n.bodies},
         {"BODY_START", n.bodyPlaces > 0 ? bodies + 1 : 0},
         {"PLACE_BODY", n.bodyPlaces},
         {"JOINT_OF_THREAD", (int) std::size(listedKinds) * threadsFor(n.joints)},
         {"SHARERS", n.jointPoints},
         {"JOINT_PLACE", n.bodyPlaces > 0 ? n.jointPoints : 0},
         {"ELEMENT_PLACE", n.slots},
         {"ELEMENT_ROW", n.slots},
         {"PLACE_START", n.places + 1},
         {"OTHER_ROWS", 2 * n.rows + n.slots},
         {"LEVEL_RECORDS", n.levels + 2}, // read ahead
         {"LEVEL_DIAGONALS", n.levels + 2},
         {"LEVEL_ENTRIES", n.levels + 2}});
}

bool PartLayout::fits() const {
    return std::max({4 * (n.rows + n.slots), n.entries, n.records, n.allPlaces()}) < mark / 2;
}

long long PartLayout::bytes(int mixedBytes, int numberBytes) const {
    return (long long) numberBytes * (4 * numNumbers4 + numNumbers) + (long long) mixedBytes * numMixeds +
           4LL * (4 * numFloats4 + numFloats + tableInts());
}

std::string PartLayout::definitions() const {
    std::string text;
    const auto define = [&](const std::string& name, int value) {
        text += "#define " + name + " " + std::to_string(value) + "\n";
    };
    for (const auto* arrays : {&numbers4, &mixeds, &floats4, &numbers, &floats, &ints, &shorts})
        for (const Array& array : *arrays)
            define("AT_" + array.name, array.begin);
    define("PART_ROWS", n.rows);
    define("PART_ELEMENTS", n.rows + n.slots);
    define("PART_SLOTS", n.slots);
    define("PART_ANGLES", n.angles);
    define("PART_EXPRESSIONS", n.expressions);
    define("PART_POINTS", n.points);
    define("PART_JOINTS", n.joints);
    define("PART_GLOBAL_ROWS", n.globalRows);
    define("PART_JOINT_POINTS", n.jointPoints);
    define("BODY_NUMBERS", bodyNumbers);
    define("PART_SOLVED", n.solved);
    define("PART_ENTRIES", n.entries);
    define("PART_RECORDS", n.records);
    define("PART_ROWS_OF_PLACE", n.rowsOfPlace);
    define("PART_ALL_PLACES", n.allPlaces());
    define("PART_BODIES", n.bodies + n.ringBodies);
    define("FIRST_BODY_PLACE", n.placesOfRows());
    define("PART_NUMBERS4", numNumbers4);
    define("PART_MIXEDS", numMixeds);
    define("PART_FLOATS4", numFloats4);
    define("PART_NUMBERS", numNumbers);
    define("PART_FLOATS", numFloats);
    define("PART_INTS", numInts);
    define("PART_TABLE_INTS", tableInts());
    return text;
}

/** Bits of the points from n on that share its elements, or 0 if a point before it does. @param begin, last  of its row
 */
static int sharersOf(const ConstraintTables& t, int n, int begin, int last) {
    int sharers = 0;
    for (int other = begin; other < last; other++)
        if (t.pointNodes[other][0] == t.pointNodes[n][0]) {
            if (other < n)
                return 0;
            sharers |= 1 << (other - n);
        }
    return sharers;
}

std::vector<int> PartLayout::tablesOf(const ConstraintSet& set, const ConstraintTables& t, int c) const {
    const PartCounts& counts = t.partCounts[c];
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
              firstLevelEntry = t.levelEntryStart[firstLevel],
              numTargets = t.levelTargetStart[t.levelStart[c + 1]] - firstTarget;
    put(ints, "FIRST_ROW", 0, firstRow);
    const int sizes[] = {counts.rows,       counts.solved,     counts.places,      counts.entries, counts.levels,
                         counts.angles,     counts.globalRows, counts.expressions, counts.joints,  counts.bodies,
                         counts.ringBodies, counts.bodyPlaces, counts.jointPoints, counts.slots};
    for (int i = 0; i < (int) std::size(sizes); i++)
        put(shorts, "COUNTS", i, sizes[i]);
    for (int i = 0; i < n.allPlaces(); i++)
        put(ints, "PARTICLE", i, -1);
    for (int i = 0; i < counts.places; i++)
        put(ints, "PARTICLE", i, t.clusterParticle[firstPlace + i] | (t.ownsNode[firstPlace + i] != 0 ? isMoved : 0));
    for (int i = 0; i < n.bodies + n.ringBodies; i++)
        put(ints, "BODY_TABLE", bodyTableInts * i, -1);
    const std::vector<int> bodies = bodiesOf(t, c, counts.rows);
    const int behindRows = n.placesOfRows();
    const auto bodyAt = [&](int joined) { // of a body's number among joined ones: in the part
        return int(std::find(bodies.begin(), bodies.end(), joined) - bodies.begin());
    };
    std::vector<int> firstBodyPlace(bodies.size() + 1); // among places of bodies' particles
    for (int k = 0; k < (int) bodies.size(); k++) {
        const int number = t.numFreeBodies + bodies[k], copy = t.clusterBodyStart[c] + k;
        const bool isDisplaced = k < counts.bodies, isOwn = isDisplaced && t.ownsNode[t.bodyPlace[copy]] != 0;
        const auto& kind = t.bodyKinds[number];
        if (isDisplaced)
            put(shorts, "BODY_PLACE", k, t.bodyPlace[copy] - firstPlace);
        if (counts.bodyPlaces == 0)
            continue;
        const int ofBody[] = {bodies[k], kind[0], kind[1], kind[3]};
        for (int i = 0; i < bodyTableInts; i++)
            put(ints, "BODY_TABLE", bodyTableInts * k + i, ofBody[i]);
        int next = firstBodyPlace[k];
        for (int place = t.bodyStart[number]; place < t.bodyStart[number + 1]; place++, next++) {
            put(ints, "PARTICLE", behindRows + next, t.bodyParticle[place] | (isOwn ? isMoved : 0));
            put(ints, "BODY_PARTICLE", next, place);
            put(shorts, "PLACE_BODY", next, k);
        }
        firstBodyPlace[k + 1] = next;
        put(shorts, "BODY_START", k + 1, next);
    }
    std::map<int, int> otherPlace;                  // of particles that are not displaced
    std::vector<int> firstElement(counts.rows, -1); // of rows that are no distances
    std::array<int, std::size(listedKinds)> jointsOfKind{};
    int solvedPoints = 0; // of joints
    for (int k = 0, angle = 0, expression = 0, point = 0, joint = 0, jointPoint = 0, globalRow = 0, element = n.rows;
         k < counts.rows; k++) {
        put(ints, "OWNER", k, t.rowOwner[firstRow + k]);
        const int first = t.slotStart[firstRow + k], size = t.slotStart[firstRow + k + 1] - first;
        const auto kind = (RowKind) t.rowKind[firstRow + k];
        const Constraint& constraint = set.constraints[t.constraintOf[firstRow + k]];
        const bool isDistance = isDistanceOfParticles(set, constraint);
        std::vector<int> places(size);
        for (int i = 0; i < size; i++) {
            const int s = first + i;
            places[i] = t.slotNode[s] - t.numNodes() - firstPlace;
            if (t.slotNode[s] < t.numNodes()) {
                const auto [other, isNew] =
                    otherPlace.emplace(t.slotParticle[s], counts.places + (int) otherPlace.size());
                places[i] = other->second;
                if (isNew)
                    put(ints, "PARTICLE", places[i], t.slotParticle[s] | isFixed);
            }
        }
        const bool isLeaf = k < counts.solved && t.rowIsLeaf[firstRow + k] != 0;
        const int one = isDistance ? places[0] : element, other = isDistance ? places[1] : size;
        put(ints, "ROW_PLACES", k,
            int(unsigned(one | (isLeaf ? mark : 0)) | unsigned(other | (isDistance ? 0 : mark)) << 16));
        if (isDistance)
            continue;
        firstElement[k] = element;
        for (int i = 0; i < size; i++) {
            put(shorts, "ELEMENT_PLACE", element - n.rows + i, places[i]);
            put(shorts, "ELEMENT_ROW", element - n.rows + i, k);
        }
        if (isAngular(kind) && !set.isJoined(constraint)) {
            const int numbers[] = {k, (int) kind, element, size};
            for (int i = 0; i < 4; i++) {
                put(shorts, "ANGLE", 8 * angle + i, numbers[i]);
                put(shorts, "ANGLE", 8 * angle + 4 + i, places[std::min(i, size - 1)]);
            }
            angle++;
        } else if (isOfParticles(set, constraint)) {
            const int numbers[] = {k, t.rowForm[firstRow + k], t.rowFirstParameter[firstRow + k], point};
            for (int i = 0; i < 4; i++)
                put(ints, "EXPRESSION", 4 * expression + i, numbers[i]);
            expression++;
            point += size;
        } else if (isListed(constraint.kind)) {
            const auto [begin, last] = t.rowPoints[firstRow + k];
            const int numbers[] = {k, (int) kind, jointPoint, last - begin},
                      firstCopy = t.numJoinedBodies() + t.clusterBodyStart[c];
            for (int i = 0; i < 4; i++)
                put(shorts, "JOINT", 4 * joint + i, numbers[i]);
            for (int n = begin; n < last; n++, jointPoint++) {
                const auto& [origin, turn, body, shape] = t.pointNodes[n];
                const int joined = body < firstCopy ? body : t.clusterBody[body - t.numJoinedBodies()],
                          ofBody = joined < 0 ? 0 : bodyAt(joined);
                const int ofPoint[] = {element + origin - first, body < firstCopy ? 0 : body - firstCopy + 1,
                                       places[origin - first], joined < 0 ? 0 : ofBody + 1};
                if (joined >= 0 && counts.bodyPlaces > 0)
                    put(shorts, "JOINT_PLACE", jointPoint,
                        behindRows + firstBodyPlace[ofBody] + shape - t.bodyStart[t.numFreeBodies + joined]);
                for (int i = 0; i < 4; i++)
                    put(shorts, "JOINT_POINT", 4 * jointPoint + i, ofPoint[i]);
                const int inMemory[] = {constraint.particles[n - begin], std::max(shape, 0), n};
                for (int i = 0; i < 3; i++)
                    put(ints, "POINT_IN_MEMORY", 3 * jointPoint + i, inMemory[i]);
                put(shorts, "SHARERS", jointPoint, sharersOf(t, n, begin, last));
            }
            joint++;
            put(shorts, "JOINT_OF_THREAD", (int) kind * threadsFor(n.joints) + jointsOfKind[(int) kind]++, joint);
            solvedPoints = k < counts.solved ? jointPoint : solvedPoints;
        } else
            put(shorts, "GLOBAL_ROW", globalRow++, k);
        element += size;
    }
    put(shorts, "COUNTS", 14, solvedPoints);
    /** The gradient of a slot's row at its particle: an element, which is a row's own for a distance, and its sign. */
    struct Element {
        int number;
        bool isOpposite;
    };
    const auto elementOf = [&](int s) -> Element {
        const int row = t.slotRow[s], i = s - t.slotStart[row], first = firstElement[row - firstRow];
        return first < 0 ? Element{row - firstRow, i > 0} : Element{first + i, false};
    };
    int others = 0; // elements of places beyond the first four of each
    for (int i = 0; i < counts.places; i++) {
        const int first = t.particleSlotStart[firstPlace + i], last = t.particleSlotStart[firstPlace + i + 1];
        put(shorts, "PLACE_START", i, others);
        for (int m = first; m < std::max(last, first + firstRowsOfPlace); m++) {
            const Element element = m < last ? elementOf(t.particleSlot[m]) : Element{n.rows + n.slots, false};
            const int entry = element.number | (element.isOpposite ? mark : 0);
            if (m - first < firstRowsOfPlace)
                put(shorts, "PLACE_ROWS", firstRowsOfPlace * i + m - first, entry);
            else
                put(shorts, "OTHER_ROWS", others++, entry);
        }
    }
    put(shorts, "PLACE_START", counts.places, others);
    int moreCouplings = 0;
    for (int e = 0; e < counts.entries; e++) {
        const int first = t.couplingStart[firstEntry + e], last = t.couplingStart[firstEntry + e + 1];
        if (first == last) { // fill: a place of infinite mass, and any gradient that there is
            const int some = 16 * std::max(firstElement[0], 0);
            put(shorts, "COUPLING", 4 * e, 4 * n.allPlaces());
            put(shorts, "COUPLING", 4 * e + 1, some);
            put(shorts, "COUPLING", 4 * e + 2, some);
            continue;
        }
        for (int m = first; m < last; m++) {
            const char* name = m == first ? "COUPLING" : "MORE_COUPLINGS";
            const int at = m == first ? e : moreCouplings++;
            const auto [s, u] = t.couplingSlots[m];
            const Element ofRow = elementOf(s), ofColumn = elementOf(u);
            put(shorts, name, 4 * at,
                4 * (t.slotNode[s] - t.numNodes() - firstPlace) |
                    (ofRow.isOpposite != ofColumn.isOpposite ? areOpposite : 0));
            put(shorts, name, 4 * at + 1, 16 * ofRow.number);
            put(shorts, name, 4 * at + 2, 16 * ofColumn.number);
            put(shorts, name, 4 * at + 3, m + 1 < last ? moreCouplings + 1 : 0); // counted from 1
        }
    }
    for (int l = 0; l < counts.levels; l++) {
        put(shorts, "LEVEL_RECORDS", l, t.levelTargetStart[firstLevel + l] - firstTarget);
        put(shorts, "LEVEL_DIAGONALS", l, t.levelDiagonalEnd[firstLevel + l] - firstTarget);
        put(shorts, "LEVEL_ENTRIES", l + 1, t.levelEntryStart[firstLevel + l] - firstLevelEntry);
    }
    put(shorts, "LEVEL_RECORDS", counts.levels, numTargets);
    put(shorts, "LEVEL_ENTRIES", counts.levels + 1, counts.entries);
    // A target's further updates are in records after those of all targets; a record says which one follows, or 0.
    int further = numTargets;
    for (int i = 0; i < numTargets; i++) {
        const int target = t.updateTarget[firstTarget + i], first = t.updateStart[firstTarget + i],
                  last = t.updateStart[firstTarget + i + 1];
        put(shorts, "RECORD", 8 * i,
            target >= 0 ? 4 * target : 4 * (~target >> 1) | isDiagonal | ((~target & 1) != 0 ? isFinished : 0));
        for (int record = i, m = first; m < std::max(last, first + 1); m += updatesOfRecord) {
            if (m > first) {
                put(shorts, "RECORD", 8 * record + 1, further);
                record = further++;
            }
            for (int k = 0; k < updatesOfRecord; k++) {
                const std::array<int, 3> none = {n.entries, n.entries, n.solved}; // zeros
                const auto& source = m + k < last ? t.updateSource[m + k] : none;
                for (int j = 0; j < 3; j++)
                    put(shorts, "RECORD", 8 * record + 2 + 3 * k + j, 4 * source[j]);
            }
        }
    }
    for (int i = 0; i < counts.entries; i++)
        for (int j = 0; j < 3; j++)
            put(shorts, "ENTRY", 4 * i + j, 4 * t.levelEntry[firstLevelEntry + i][j]);
    return result;
}

} // namespace ConstraintPlugin
