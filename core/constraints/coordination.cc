// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What a pair of particles adds to a coordination number, as a function of R, the square of their distance r. Like
// coordinates.cc, this file is compiled as C++ (through CoordinationNumber.cpp) and as part of the kernels for OpenCL
// and CUDA.
//
//     f(r) = (1 - (r/r0)^n)/(1 - (r/r0)^m) = P_(n/2)(u)/P_(m/2)(u),  u = (r/r0)^2,  P_k(u) = 1 + u + ... + u^(k-1),
//
// for even n and m. The quotient of sums has no singularity at r0 and needs no square root. It is shifted and stretched to
// be 1 at 0 and 0 at the cutoff, and in the last tenth before the cutoff multiplied by a function that takes it and its
// first two derivatives to 0 there.

typedef struct {
    int halfN, halfM;
    mixed scale;          // 1/r0^2
    mixed begin, end;     // R at nine tenths of the cutoff and at the cutoff
    mixed shift, stretch; // f at the cutoff, 1/(1 - shift)
} PairFunction;

/** From the parameters of a constraint, in the order of the members. */
DEVICE PairFunction pairFunctionOf(GLOBAL const mixed* parameters) {
    PairFunction f;
    f.halfN = (int) parameters[0];
    f.halfM = (int) parameters[1];
    f.scale = parameters[2];
    f.begin = parameters[3];
    f.end = parameters[4];
    f.shift = parameters[5];
    f.stretch = parameters[6];
    return f;
}

/** 1 + u + ... + u^(count-1), and its first two derivatives. */
DEVICE mixed sumOfPowers(int count, mixed u, mixed* first, mixed* second) {
    mixed sum = 1;
    *first = *second = 0;
    for (int i = 1; i < count; i++) {
        *second = *second * u + 2 * *first;
        *first = *first * u + sum;
        sum = sum * u + 1;
    }
    return sum;
}

/** f(u) with its derivatives by u. Beyond r0 it is a function of w = 1/u, which keeps all sums small:
 *  f = w^k P_(n/2)(w)/P_(m/2)(w) with k = (m-n)/2, df/du = -w^2 df/dw and so on. */
DEVICE mixed quotientOfPowers(int halfN, int halfM, mixed u, mixed* first, mixed* second) {
    if (halfM == 2 * halfN) { // 1/(1 + u^(n/2)), the usual one
        mixed lower = 0, power = 1; // u^(n/2-2), times 0 if that is u^-1, and u^(n/2-1)
        for (int i = 1; i < halfN; i++) {
            lower = power;
            power *= u;
        }
        const mixed f = 1 / (1 + power * u), slope = halfN * f * f;
        *first = -slope * power;
        *second = slope * (2 * halfN * power * power * f - (halfN - 1) * lower);
        return f;
    }
    const mixed w = u > 1 ? 1 / u : u;
    mixed a1, a2, b1, b2;
    const mixed a = sumOfPowers(halfN, w, &a1, &a2), b = sumOfPowers(halfM, w, &b1, &b2);
    mixed f = a / b, f1 = (a1 - f * b1) / b, f2 = (a2 - 2 * f1 * b1 - f * b2) / b;
    if (u > 1) {
        const int k = halfM - halfN;
        mixed power = 1;
        for (int i = 0; i < k; i++)
            power *= w;
        f2 = power * (f2 + 2 * k * u * f1 + k * (k - 1) * u * u * f);
        f1 = power * (f1 + k * u * f);
        f *= power;
        f2 = w * w * w * (w * f2 + 2 * f1);
        f1 *= -w * w;
    }
    *first = f1;
    *second = f2;
    return f;
}

/** What a pair adds, with its derivatives by R. R is less than f.end. */
DEVICE mixed pairNumber(PairFunction f, mixed R, mixed* first, mixed* second) {
    mixed value = quotientOfPowers(f.halfN, f.halfM, f.scale * R, first, second);
    value = f.stretch * (value - f.shift);
    *first *= f.stretch * f.scale;
    *second *= f.stretch * f.scale * f.scale;
    if (R > f.begin) {
        const mixed slope = 1 / (f.end - f.begin), x = slope * (R - f.begin), y = 1 - x;
        const mixed s = y * y * y * (1 + 3 * x + 6 * x * x), s1 = -30 * slope * x * x * y * y;
        *second = s * *second + 2 * s1 * *first - 60 * slope * slope * x * y * (y - x) * value;
        *first = s * *first + s1 * value;
        value *= s;
    }
    return value;
}
