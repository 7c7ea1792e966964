// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SPLIT_MIX_H_
#define CONSTRAINTS_CORE_SPLIT_MIX_H_

#include <cstdint>

namespace ConstraintPlugin {

/** Random numbers that are the same on every machine. Creating a generator costs nothing.
 *  Source: Steele, Lea, Flood, ACM SIGPLAN Not. 49 (10), 453 (2014), doi:10.1145/2714064.2660195. */
class SplitMix {
public:
    explicit SplitMix(std::uint64_t seed) : next(seed) {
    }
    /** In [0, 1). */
    double uniform() {
        std::uint64_t z = ++next * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

private:
    std::uint64_t next;
};

} // namespace ConstraintPlugin

#endif
