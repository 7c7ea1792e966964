// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Numbers of a solve. COARSE: the tolerance that is solved to can be met in single precision, if what does not change
// while a solve iterates is computed as `mixed` (ConstraintProgram::isCoarse). Below it they are `mixed` themselves.

/** Whether `mixed` is double. */
#if defined(USE_MIXED_PRECISION) || defined(USE_DOUBLE_PRECISION)
#define MIXED_IS_DOUBLE 1
#else
#define MIXED_IS_DOUBLE 0
#endif
#define NUMBER_IS_DOUBLE (MIXED_IS_DOUBLE && !COARSE)

// What is rounding. A pivot that is so much smaller than the diagonal element vanishes; errors of linear problems are relative
// to their terms: those to which they are solved, and those that are accepted. Rotations: rigidMotion.cc.
#if MIXED_IS_DOUBLE
#define PIVOT_THRESHOLD 1e-12
#define LINEAR_TOLERANCE 1e-12
#define LINEAR_ROUNDING 1e-8
#define RESPONSE_TOLERANCE 1e-6
#define ROTATION_ACCURACY 1e-8
#define TWO_PI 6.283185307179586477
#else
#define PIVOT_THRESHOLD 1e-6f
#define LINEAR_TOLERANCE 1e-5f
#define LINEAR_ROUNDING 1e-3f
#define RESPONSE_TOLERANCE 1e-5f
#define ROTATION_ACCURACY 1e-4f
#define TWO_PI 6.283185307f
#endif
#define INFINITE_ERROR 1e30f

#if COARSE
typedef float number;
typedef float3 number3;
typedef float4 number4;
#define make_number3 make_float3
#define NUMBER_THRESHOLD 1e-6f
#else
typedef mixed number;
typedef mixed3 number3;
typedef mixed4 number4;
#define make_number3 make_mixed3
#define NUMBER_THRESHOLD PIVOT_THRESHOLD
#endif

/** Whether `mixed` has more digits. */
#if COARSE && MIXED_IS_DOUBLE
#define IS_NARROWER 1
#else
#define IS_NARROWER 0
#endif

// Converted where this stands: NVRTC would round in the loops that use a number, and keep what is converted once in
// registers from then on. It would also flush denormal numbers with four more instructions.

DEVICE float toFloat(mixed x) {
#if MIXED_IS_DOUBLE && defined(__CUDACC_RTC__)
    float rounded;
    asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(rounded) : "d"(x));
    return rounded;
#else
    return x;
#endif
}

DEVICE number toNumber(mixed x) {
#if IS_NARROWER
    return toFloat(x);
#else
    return x;
#endif
}

DEVICE number3 toNumbers(mixed3 v) {
    return make_number3(toNumber(v.x), toNumber(v.y), toNumber(v.z));
}

DEVICE mixed widened(number x) {
#if IS_NARROWER && defined(__CUDACC_RTC__)
    mixed converted;
    asm volatile("cvt.f64.f32 %0, %1;" : "=d"(converted) : "f"(x));
    return converted;
#else
    return x;
#endif
}

DEVICE mixed3 toMixed(number3 v) {
    return make_mixed3(widened(v.x), widened(v.y), widened(v.z));
}

/** 1/sqrt(x) by Newton's method from single precision: a square root and a division take longer. */
DEVICE mixed inverseRoot(mixed x) {
    const float seed = 1 / sqrt((float) x);
    mixed root = seed;
#pragma unroll
    for (int k = 0; k < 2; k++)
        root *= (mixed) 1.5f - (mixed) 0.5f * x * root * root;
    return root;
}

/** Sine and cosine of an angle in [-pi, pi]: series for a quarter of it, then twice that of the double angle. Functions of
 *  the device's library handle any angle, with many more operations. */
DEVICE void sineCosine(mixed angle, mixed* sine, mixed* cosine) {
    const mixed x = 0.25f * angle, square = x * x;
    mixed s = 1, c = 1;
#pragma unroll
    for (int k = 18; k >= 2; k -= 2) {
        s = 1 - (1 / (mixed) (k * (k + 1))) * square * s;
        c = 1 - (1 / (mixed) (k * (k - 1))) * square * c;
    }
    s *= x;
    for (int k = 0; k < 2; k++) {
        const mixed twice = 2 * s * c;
        c = 1 - 2 * s * s;
        s = twice;
    }
    *sine = s;
    *cosine = c;
}
