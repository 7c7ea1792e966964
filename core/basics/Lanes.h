// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_LANES_H_
#define CONSTRAINTS_CORE_LANES_H_

#include "Inline.h"
#include "Real3.h"
#include <cmath>
#include <limits>
#include <new>
#include <vector>

namespace ConstraintPlugin {

// The same code serves one cluster (Number = double) and several equal clusters in SIMD lanes (Number = Lanes):
// compilers translate arithmetic on vector types to the instructions of the machine. All of it is inlined, because the
// calling convention for such types differs between machines.

/** Compile a function several times, for x86-64 with SSE2, AVX2 and AVX-512; the loader selects one. Older compilers
 * know the instruction sets, but not the levels x86-64-v3 and v4. _NARROW and _WIDE leave out what vectors of four or
 * eight numbers do not need. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
#define CONSTRAINTS_AVX2 "arch=x86-64-v3"
#define CONSTRAINTS_AVX512 "arch=x86-64-v4"
#else
#define CONSTRAINTS_AVX2 "avx2"
#define CONSTRAINTS_AVX512 "avx512f"
#endif
#define CONSTRAINTS_CLONES __attribute__((target_clones("default", CONSTRAINTS_AVX2, CONSTRAINTS_AVX512), flatten))
#define CONSTRAINTS_CLONES_NARROW __attribute__((target_clones("default", CONSTRAINTS_AVX2), flatten))
#define CONSTRAINTS_CLONES_WIDE __attribute__((target_clones("default", CONSTRAINTS_AVX512), flatten))
#else
#define CONSTRAINTS_CLONES __attribute__((flatten))
#define CONSTRAINTS_CLONES_NARROW CONSTRAINTS_CLONES
#define CONSTRAINTS_CLONES_WIDE CONSTRAINTS_CLONES
#endif

template <int width>
struct LanesOf {
    typedef double type __attribute__((vector_size(width * sizeof(double))));
};
/** Vectors that are longer than a machine's registers are slow: compilers select and compare their numbers one by one.
 */
using Lanes = LanesOf<4>::type;
using WideLanes = LanesOf<8>::type;

/** x, y, z of one particle, and a zero: one load instead of three. */
using PaddedVector = double __attribute__((vector_size(4 * sizeof(double))));

/** For arrays of such types: what alignment they need depends on the machine that a clone is compiled for. */
template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) { // NOLINT(google-explicit-constructor): allocators convert
    }
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), alignment));
    }
    void deallocate(T* array, std::size_t) {
        ::operator delete(array, alignment);
    }
    template <class U>
    bool operator==(const AlignedAllocator<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const AlignedAllocator<U>&) const {
        return false;
    }
};
template <class T>
using Aligned = std::vector<T, AlignedAllocator<T>>;

CONSTRAINTS_INLINE const Lanes& lowerFour(const Lanes& a) {
    return a;
}
CONSTRAINTS_INLINE Lanes lowerFour(const WideLanes& a) {
    return Lanes{a[0], a[1], a[2], a[3]};
}
CONSTRAINTS_INLINE Lanes upperFour(const WideLanes& a) {
    return Lanes{a[4], a[5], a[6], a[7]};
}

template <class Number>
struct LanesVector {
    Number x, y, z;
};
template <class Number>
CONSTRAINTS_INLINE LanesVector<Number> operator+(const LanesVector<Number>& a, const LanesVector<Number>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class Number>
CONSTRAINTS_INLINE LanesVector<Number> operator-(const LanesVector<Number>& a, const LanesVector<Number>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class Number>
CONSTRAINTS_INLINE LanesVector<Number> operator*(const Number& s, const LanesVector<Number>& a) {
    return {s * a.x, s * a.y, s * a.z};
}

CONSTRAINTS_INLINE double inner(const PaddedVector& a, const PaddedVector& b) {
    const PaddedVector p = a * b;
    return (p[0] + p[1]) + p[2];
}
template <class Number>
CONSTRAINTS_INLINE Number inner(const LanesVector<Number>& a, const LanesVector<Number>& b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

template <class Number>
CONSTRAINTS_INLINE LanesVector<Number> cross(const LanesVector<Number>& a, const LanesVector<Number>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

CONSTRAINTS_INLINE double absolute(double a) {
    return std::fabs(a);
}
template <class Number>
CONSTRAINTS_INLINE Number absolute(const Number& a) {
    using Bits = decltype(a < 0);
    return (Number) ((Bits) a & std::numeric_limits<long long>::max()); // all but the sign
}
CONSTRAINTS_INLINE double squareRoot(double a) {
    return std::sqrt(a);
}
template <class Number>
CONSTRAINTS_INLINE Number squareRoot(Number a) {
    for (int lane = 0; lane < int(sizeof(Number) / sizeof(double)); lane++)
        a[lane] = std::sqrt(a[lane]);
    return a;
}
template <class Number>
CONSTRAINTS_INLINE Number larger(const Number& a, const Number& b) {
    return a > b ? a : b;
}

/** Operations that depend on the number of lanes. */
template <class Number>
struct LaneTraits {
    static constexpr int width = sizeof(Number) / sizeof(double);
    using Vector = LanesVector<Number>;

    static CONSTRAINTS_INLINE Vector load(const Real3* array, const int* particle) {
        const auto at = [&](int lane) -> const Real3& { return array[particle[lane]]; };
        if constexpr (width == 4) {
            const Real3 &a = at(0), &b = at(1), &c = at(2), &d = at(3);
            return {Number{a.x, b.x, c.x, d.x}, Number{a.y, b.y, c.y, d.y}, Number{a.z, b.z, c.z, d.z}};
        } else {
            const Real3 &a = at(0), &b = at(1), &c = at(2), &d = at(3), &e = at(4), &f = at(5), &g = at(6), &h = at(7);
            return {Number{a.x, b.x, c.x, d.x, e.x, f.x, g.x, h.x}, Number{a.y, b.y, c.y, d.y, e.y, f.y, g.y, h.y},
                    Number{a.z, b.z, c.z, d.z, e.z, f.z, g.z, h.z}};
        }
    }
    static CONSTRAINTS_INLINE Real3 lane(const Vector& a, int lane) {
        return {a.x[lane], a.y[lane], a.z[lane]};
    }
    static CONSTRAINTS_INLINE double lane(const Number& a, int lane) {
        return a[lane];
    }
    static CONSTRAINTS_INLINE void setLane(Number& a, int lane, double value) {
        a[lane] = value;
    }
    static CONSTRAINTS_INLINE double largest(const Number& a) {
        if constexpr (width == 8)
            return LaneTraits<Lanes>::largest(larger(lowerFour(a), upperFour(a)));
        else
            return larger(larger(a[0], a[1]), larger(a[2], a[3]));
    }
    static CONSTRAINTS_INLINE double sum(const Number& a) {
        if constexpr (width == 8)
            return LaneTraits<Lanes>::sum(lowerFour(a) + upperFour(a));
        else
            return (a[0] + a[1]) + (a[2] + a[3]);
    }
    static CONSTRAINTS_INLINE void setLane(Vector& a, int lane, const Real3& value) {
        a.x[lane] = value.x;
        a.y[lane] = value.y;
        a.z[lane] = value.z;
    }
    static CONSTRAINTS_INLINE bool same(const Vector& a, const Vector& b) {
        const auto equal = (a.x == b.x) & (a.y == b.y) & (a.z == b.z);
        bool result = true;
        for (int lane = 0; lane < width; lane++)
            result = result && equal[lane];
        return result;
    }
};

template <>
struct LaneTraits<double> {
    static constexpr int width = 1;
    using Vector = PaddedVector;

    static CONSTRAINTS_INLINE Vector load(const Real3* array, const int* particle) {
        const Real3& a = array[*particle];
        return Vector{a.x, a.y, a.z, 0};
    }
    static CONSTRAINTS_INLINE Real3 lane(const Vector& a, int) {
        return {a[0], a[1], a[2]};
    }
    static CONSTRAINTS_INLINE double lane(double a, int) {
        return a;
    }
    static CONSTRAINTS_INLINE void setLane(double& a, int, double value) {
        a = value;
    }
    static CONSTRAINTS_INLINE double largest(double a) {
        return a;
    }
    static CONSTRAINTS_INLINE double sum(double a) {
        return a;
    }
    static CONSTRAINTS_INLINE void setLane(Vector& a, int, const Real3& value) {
        a = Vector{value.x, value.y, value.z, 0};
    }
    static CONSTRAINTS_INLINE bool same(const Vector& a, const Vector& b) {
        return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
    }
};

} // namespace ConstraintPlugin

#endif
