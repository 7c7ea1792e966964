// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SUBDOMAIN_LAYOUT_H_
#define OPENMM_CONSTRAINTS_SUBDOMAIN_LAYOUT_H_

#include "SubdomainCounts.h"
#include <string>
#include <utility>
#include <vector>

namespace ConstraintPlugin {

/** What a thread block keeps in its shared memory of a subdomain (subdomainLocal.cc): numbers, and tables with indices
 * of 16 bits within the subdomain, which it reads once. All subdomains of a range have the same layout. */
class SubdomainLayout {
public:
    explicit SubdomainLayout(const SubdomainCounts& counts);
    /** Whether indices fit into 15 bits. */
    bool fits() const;
    /** Bytes of shared memory. @param mixedBytes   of a number in the Context's precision for sums
     *                          @param numberBytes  of a number that changes while a solve iterates (numbers.cc) */
    long long bytes(int mixedBytes, int numberBytes) const;
    /** Names and values of all places, for texts. */
    std::vector<std::pair<std::string, std::string>> definitions() const;
    /** Ints of the tables of one subdomain: vectors of four. */
    int tableInts() const {
        return 4 * ((numInts + (numShorts + 1) / 2 + 3) / 4);
    }
    /** The place of a number in the tables: `index` of the array of this name. */
    int& intAt(std::vector<int>& tables, const char* name, int index) const;
    void setShort(std::vector<int>& tables, const char* name, int index, int value) const;
    const SubdomainCounts& counts() const {
        return n;
    }
    /** Whole warps for so many rows: THREADS_FOR() in subdomainLocal.cc. */
    static int threadsFor(int rows) {
        return 32 * ((rows + 31) / 32);
    }
    static constexpr int rowsAtPlace = 4; ///< elements in PLACE_ROWS; further ones are in OTHER_ROWS
    static constexpr int mark = 1 << 15;  ///< of a number of 16 bits: subdomainLocal.cc says of what

private:
    struct Array {
        std::string name;
        int begin;
    };
    static int beginOf(const std::vector<Array>& arrays, const char* name);
    SubdomainCounts n;
    // With their places among those of their kind.
    std::vector<Array> numbers4, mixeds, floats4, numbers, floats, ints, shorts;
    int numNumbers4 = 0, numMixeds = 0, numFloats4 = 0, numNumbers = 0, numFloats = 0, numInts = 0, numShorts = 0;
};

} // namespace ConstraintPlugin

#endif
