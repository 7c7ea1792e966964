// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SubdomainLayout.h"
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace ConstraintPlugin {

constexpr int bodyNumbers = 42; // of a body: subdomainBodies.cc

static int roundUpToFour(int n) {
    return 4 * ((n + 3) / 4);
}

SubdomainLayout::SubdomainLayout(const SubdomainCounts& counts) : n(counts) {
    using Sizes = std::vector<std::pair<const char*, int>>;
    const int all = n.allPlaces(), elements = n.rows + n.slots;
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
         {"BODY", bodyNumbers * n.bodies},
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
         {"TURN_MATRIX", 9 * n.bodies},
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
         {"FIRST_ROW", 1}});
    add(shorts, numShorts,
        {{"COUNTS", 16},
         {"RECORD", 8 * n.records}, // vectors here, too
         {"ANGLE", 8 * n.angles},
         {"COUPLING", 4 * n.entries},
         {"MORE_COUPLINGS", 4 * n.moreCouplings},
         {"ENTRY", 4 * n.entries},
         {"PLACE_ROWS", rowsAtPlace * n.places},
         {"JOINT", 4 * n.joints},
         {"JOINT_POINT", 4 * n.jointPoints},
         {"GLOBAL_ROW", n.globalRows},
         {"BODY_PLACE", n.bodies},
         {"JOINT_OF_THREAD", (int) std::size(listedKinds) * threadsFor(n.joints)},
         {"SHARERS", n.jointPoints},
         {"ELEMENT_PLACE", n.slots},
         {"ELEMENT_ROW", n.slots},
         {"PLACE_START", n.places + 1},
         {"OTHER_ROWS", 2 * n.rows + n.slots},
         {"LEVEL_RECORDS", n.levels + 2}, // read ahead
         {"LEVEL_DIAGONALS", n.levels + 2},
         {"LEVEL_ENTRIES", n.levels + 2}});
}

bool SubdomainLayout::fits() const {
    return std::max({4 * (n.rows + n.slots), n.entries, n.records, n.allPlaces()}) < mark / 2;
}

long long SubdomainLayout::bytes(int mixedBytes, int numberBytes) const {
    return (long long) numberBytes * (4 * numNumbers4 + numNumbers) + (long long) mixedBytes * numMixeds +
           4LL * (4 * numFloats4 + numFloats + tableInts());
}

std::vector<std::pair<std::string, std::string>> SubdomainLayout::definitions() const {
    std::vector<std::pair<std::string, std::string>> result;
    const auto define = [&](const std::string& name, int value) { result.emplace_back(name, std::to_string(value)); };
    for (const auto* arrays : {&numbers4, &mixeds, &floats4, &numbers, &floats, &ints, &shorts})
        for (const Array& array : *arrays)
            define("AT_" + array.name, array.begin);
    define("SUBDOMAIN_ROWS", n.rows);
    define("SUBDOMAIN_SLOTS", n.slots);
    define("SUBDOMAIN_ANGLES", n.angles);
    define("SUBDOMAIN_EXPRESSIONS", n.expressions);
    define("SUBDOMAIN_POINTS", n.points);
    define("SUBDOMAIN_JOINTS", n.joints);
    define("SUBDOMAIN_GLOBAL_ROWS", n.globalRows);
    define("SUBDOMAIN_JOINT_POINTS", n.jointPoints);
    define("BODY_NUMBERS", bodyNumbers);
    define("SUBDOMAIN_SOLVED", n.solved);
    define("SUBDOMAIN_ENTRIES", n.entries);
    define("SUBDOMAIN_RECORDS", n.records);
    define("SUBDOMAIN_ROWS_OF_PLACE", n.rowsOfPlace);
    define("SUBDOMAIN_ALL_PLACES", n.allPlaces());
    define("SUBDOMAIN_BODIES", n.bodies);
    define("SUBDOMAIN_NUMBERS4", numNumbers4);
    define("SUBDOMAIN_MIXEDS", numMixeds);
    define("SUBDOMAIN_FLOATS4", numFloats4);
    define("SUBDOMAIN_NUMBERS", numNumbers);
    define("SUBDOMAIN_FLOATS", numFloats);
    define("SUBDOMAIN_INTS", numInts);
    define("SUBDOMAIN_TABLE_INTS", tableInts());
    return result;
}

int SubdomainLayout::beginOf(const std::vector<Array>& arrays, const char* name) {
    const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const Array& a) { return a.name == name; });
    if (found == arrays.end())
        throw std::logic_error(std::string("subdomains have no table ") + name);
    return found->begin;
}

int& SubdomainLayout::intAt(std::vector<int>& tables, const char* name, int index) const {
    return tables[beginOf(ints, name) + index];
}

void SubdomainLayout::setShort(std::vector<int>& tables, const char* name, int index, int value) const {
    const int place = beginOf(shorts, name) + index, shift = 16 * (place % 2);
    int& pair = tables[numInts + place / 2];
    pair = int(((unsigned) pair & ~(0xffffu << shift)) | ((unsigned) value & 0xffffu) << shift);
}

} // namespace ConstraintPlugin
