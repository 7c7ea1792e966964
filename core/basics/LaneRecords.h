// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_LANE_RECORDS_H_
#define CONSTRAINTS_CORE_LANE_RECORDS_H_

#include "Lanes.h"
#include <cstring>
#include <utility>

namespace ConstraintPlugin {

// A record is the coordinates of consecutive particles, x y z x y z ..., of one cluster. Four numbers of every record
// are read by one load each, and a transposition makes of them four vectors with a lane per record.

#if defined(__clang__) || __GNUC__ >= 12
#define CONSTRAINTS_HAS_SHUFFLEVECTOR
#define CONSTRAINTS_SHUFFLE(Number, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CONSTRAINTS_SHUFFLE(Number, a, b, ...)                                                                         \
    __builtin_shuffle(a, b, typename LaneIndices<sizeof(Number) / sizeof(double)>::type{__VA_ARGS__})
template <int width>
struct LaneIndices {
    typedef long long type __attribute__((vector_size(width * sizeof(long long))));
};
#endif

/** One of the two vectors after a step of a transposition, which exchanges lanes of a whose number has the bit
 * `distance` with lanes of b whose number has not. */
template <int distance, bool isSecond, class Number, std::size_t... lane>
CONSTRAINTS_INLINE Number exchanged(const Number& a, const Number& b, std::index_sequence<lane...>) {
    constexpr std::size_t width = sizeof...(lane), d = distance;
    if constexpr (isSecond)
        return CONSTRAINTS_SHUFFLE(Number, a, b, ((lane & d) != 0 ? width + lane : lane + d)...);
    else
        return CONSTRAINTS_SHUFFLE(Number, a, b, ((lane & d) != 0 ? width + lane - d : lane)...);
}
template <int distance, class Number>
CONSTRAINTS_INLINE void exchange(Number& a, Number& b) {
    constexpr auto lanes = std::make_index_sequence<sizeof(Number) / sizeof(double)>();
    const Number first = exchanged<distance, false>(a, b, lanes);
    b = exchanged<distance, true>(a, b, lanes);
    a = first;
}
/** Transpose each four by four block of lanes. It is its own inverse. */
template <class Number>
CONSTRAINTS_INLINE void transpose(Number (&block)[4]) {
    exchange<1>(block[0], block[1]);
    exchange<1>(block[2], block[3]);
    exchange<2>(block[0], block[2]);
    exchange<2>(block[1], block[3]);
}

CONSTRAINTS_INLINE Lanes loadFour(const double* from) {
    Lanes four;
    std::memcpy(&four, from, sizeof(four));
    return four;
}
CONSTRAINTS_INLINE void join(Lanes& result, const Lanes& a, const Lanes&) {
    result = a;
}
CONSTRAINTS_INLINE void join(WideLanes& result, const Lanes& a, const Lanes& b) {
#ifdef CONSTRAINTS_HAS_SHUFFLEVECTOR
    result = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    result = WideLanes{a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
#endif
}

/** Read records of some numbers. @param record  [lanes] @param[out] result  [numbers] */
template <int numbers, class Number>
CONSTRAINTS_INLINE void loadRecords(const double* const (&record)[sizeof(Number) / sizeof(double)],
                                    Number (&result)[numbers]) {
    constexpr int width = sizeof(Number) / sizeof(double), whole = numbers / 4 * 4;
    CONSTRAINTS_UNROLL
    for (int k = 0; k < whole; k += 4) {
        Number block[4];
        CONSTRAINTS_UNROLL
        for (int i = 0; i < 4; i++)
            join(block[i], loadFour(record[i] + k), loadFour(record[width - 4 + i] + k));
        transpose(block);
        CONSTRAINTS_UNROLL
        for (int i = 0; i < 4; i++)
            result[k + i] = block[i];
    }
    CONSTRAINTS_UNROLL
    for (int k = whole; k < numbers; k++) {
        const auto four = [&](int lane) CONSTRAINTS_INLINE_LAMBDA {
            return Lanes{record[lane][k], record[lane + 1][k], record[lane + 2][k], record[lane + 3][k]};
        };
        join(result[k], four(0), four(width - 4));
    }
}

/** The reverse. @param store  (lane, index of the first number, Lanes) or (lane, index, double) */
template <int numbers, class Number, class Store>
CONSTRAINTS_INLINE void storeRecords(const Number (&values)[numbers], Store store) {
    constexpr int width = sizeof(Number) / sizeof(double), whole = numbers / 4 * 4;
    CONSTRAINTS_UNROLL
    for (int k = 0; k < whole; k += 4) {
        Number block[4] = {values[k], values[k + 1], values[k + 2], values[k + 3]};
        transpose(block);
        CONSTRAINTS_UNROLL
        for (int i = 0; i < 4; i++) {
            store(i, k, lowerFour(block[i]));
            if constexpr (width == 8)
                store(i + 4, k, upperFour(block[i]));
        }
    }
    CONSTRAINTS_UNROLL
    for (int k = whole; k < numbers; k++) {
        CONSTRAINTS_UNROLL
        for (int lane = 0; lane < width; lane++)
            store(lane, k, values[k][lane]);
    }
}

} // namespace ConstraintPlugin

#endif
