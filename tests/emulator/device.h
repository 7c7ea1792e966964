// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// CUDA's language as C++, as far as OpenMM's kernels and ours use it. compile.py includes this file before the text of
// a module.
#include "interface.h"
#include "vectors.h"
#include <cmath>
#include <cstring>
#include <math.h>
#include <type_traits>
#include <utility>

#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)

extern "C" {
Emulator::Device* emulator; // the driver sets it
}
#define threadIdx (*emulator->threadIdx)
#define blockIdx (*emulator->blockIdx)
#define blockDim (emulator->blockDim)
#define gridDim (emulator->gridDim)

// ---- threads ----------------------------------------------------------------------------------------------------

#define __syncthreads() emulator->syncThreads(__LINE__)
#define __syncwarp(...) emulator->syncWarp()
#define __threadfence() emulator->fence()
#define __threadfence_block() emulator->fence()

/** A value of another thread of the warp. */
template <class T>
T exchange(T value, int from) {
    static_assert(sizeof(T) <= 8);
    std::memcpy(emulator->lane(threadIdx.x % Emulator::warpSize), &value, sizeof(T));
    emulator->syncWarp();
    std::memcpy(&value, emulator->lane(from), sizeof(T));
    emulator->syncWarp();
    return value;
}
template <class T>
T __shfl_sync(unsigned int, T value, int lane) {
    return exchange(value, lane % Emulator::warpSize);
}
template <class T>
T __shfl_xor_sync(unsigned int, T value, int mask) {
    return exchange(value, (threadIdx.x % Emulator::warpSize) ^ mask);
}
template <class T>
T __shfl_up_sync(unsigned int, T value, int distance) {
    const int lane = threadIdx.x % Emulator::warpSize;
    return exchange(value, lane < distance ? lane : lane - distance);
}
template <class T>
T __shfl_down_sync(unsigned int, T value, int distance) {
    const int lane = threadIdx.x % Emulator::warpSize;
    return exchange(value, lane + distance < Emulator::warpSize ? lane + distance : lane);
}
inline unsigned int __ballot_sync(unsigned int, int vote) {
    unsigned int result = 0;
    for (int lane = 0; lane < Emulator::warpSize; lane++)
        result |= (unsigned int) (exchange(vote, lane) != 0) << lane;
    return result;
}

// ---- atomics ----------------------------------------------------------------------------------------------------

template <class T, class V, class Change>
T atomically(T* place, V value, Change change) {
    T old, next;
    emulator->noteWrite(place);
    __atomic_load(place, &old, __ATOMIC_RELAXED);
    do
        next = change(old, (T) value);
    while (!__atomic_compare_exchange(place, &old, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    emulator->noteRead(place);
    return old;
}
template <class T, class V>
T atomicAdd(T* place, V value) {
    return atomically(place, value, [](T a, T b) { return a + b; });
}
template <class T, class V>
T atomicMin(T* place, V value) {
    return atomically(place, value, [](T a, T b) { return a < b ? a : b; });
}
template <class T, class V>
T atomicMax(T* place, V value) {
    return atomically(place, value, [](T a, T b) { return a > b ? a : b; });
}

// ---- functions --------------------------------------------------------------------------------------------------

inline int __float_as_int(float x) {
    int bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float __int_as_float(int bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
/** As CUDA's: of a number and NaN, the number. */
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmax((T) a, (T) b);
    else
        return (T) a < (T) b ? (T) b : (T) a;
}
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmin((T) a, (T) b);
    else
        return (T) b < (T) a ? (T) b : (T) a;
}
inline double rsqrt(double x) {
    return 1 / std::sqrt(x);
}
inline float rsqrtf(float x) {
    return 1 / std::sqrt(x);
}
template <class T>
T sinpi(T x) {
    return std::sin((T) 3.14159265358979323846 * x);
}
template <class T>
T cospi(T x) {
    return std::cos((T) 3.14159265358979323846 * x);
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(x);
}
inline int __popc(unsigned int x) {
    return __builtin_popcount(x);
}
inline double __hiloint2double(int high, int low) {
    const int parts[] = {low, high};
    double x;
    std::memcpy(&x, parts, sizeof(x));
    return x;
}
/** PTX's mov.b64 { low, high }, x */
template <class T>
void splitInHalves(int& low, int& high, T x) {
    int parts[2];
    std::memcpy(parts, &x, sizeof(parts));
    low = parts[0];
    high = parts[1];
}

// ---- entries ----------------------------------------------------------------------------------------------------

template <auto kernel>
struct Entry;
template <class... Parameters, void (*kernel)(Parameters...)>
struct Entry<kernel> {
    static constexpr int numParameters = sizeof...(Parameters);
    static constexpr bool isPointer[] = {std::is_pointer_v<Parameters>...};
    static constexpr std::size_t size[] = {sizeof(Parameters)...}, alignment[] = {alignof(Parameters)...};
    static void run(void** arguments) {
        call(arguments, std::index_sequence_for<Parameters...>());
    }

private:
    template <std::size_t... I>
    static void call(void** arguments, std::index_sequence<I...>) {
        kernel(*(std::remove_cv_t<Parameters>*) arguments[I]...);
    }
};
#define ENTRY(kernel)                                                                                                  \
    {                                                                                                                  \
#kernel, Entry < kernel> ::run, Entry < kernel> ::isPointer, Entry < kernel> ::numParameters,                  \
            Entry < kernel> ::size, Entry < kernel> ::alignment                                                        \
    }

// ---- ThreadSanitizer: a volatile access counts as an atomic one (--param tsan-distinguish-volatile=1) -------------

#ifdef __SANITIZE_THREAD__
extern "C" {
#define VOLATILE_ACCESS(size)                                                                                          \
    void __tsan_volatile_read##size(void* place) {                                                                     \
        emulator->noteRead(place);                                                                                     \
    }                                                                                                                  \
    void __tsan_volatile_write##size(void* place) {                                                                    \
        emulator->noteWrite(place);                                                                                    \
    }
VOLATILE_ACCESS(1)
VOLATILE_ACCESS(2)
VOLATILE_ACCESS(4)
VOLATILE_ACCESS(8)
VOLATILE_ACCESS(16)
}
#endif
