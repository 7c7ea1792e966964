// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of expressions that neither C++ nor OpenCL C provides. Like coordinates.cc, this file is compiled as C++
// (through SplineFunction.cpp) and as part of the kernels for OpenCL and CUDA.

/** A spline through a table of one to three axes, or a derivative of it; zero outside the table.
 *  @param patches   first axis fastest; each [4^numAxes] coefficients of powers, first axis fastest
 *  @param at        [numAxes] arguments;  @param order  [numAxes] of the derivative
 *  @param size      [numAxes] points on an axis, from low to high */
DEVICE mixed spline(GLOBAL const mixed* patches, int numAxes, const mixed* at, const int* order, const int* size,
                    const mixed* low, const mixed* high, int periodic) {
    mixed powers[3][4]; // of the place in the patch, differentiated
    int patch = 0, stride = 1;
    for (int a = 0; a < numAxes; a++) {
        mixed u = (at[a] - low[a]) / (high[a] - low[a]);
        if (periodic)
            u = u - floor(u);
        if (!(u >= 0 && u <= 1))
            return u == u ? 0 : u; // NaN remains NaN
        const int last = size[a] - 2;
        const mixed place = u * (last + 1), perUnit = (last + 1) / (high[a] - low[a]);
        const int interval = (int) place < last ? (int) place : last;
        patch += stride * interval;
        stride *= last + 1;
        for (int k = 0; k < 4; k++) {
            mixed entry = k < order[a] ? 0 : 1;
            for (int n = 0; n < k; n++)
                entry *= n < order[a] ? (k - n) * perUnit : place - interval;
            powers[a][k] = entry;
        }
    }
    const int numTerms = 1 << (2 * numAxes);
    mixed sum = 0;
    for (int i = 0; i < numTerms; i++) {
        mixed term = patches[patch * numTerms + i];
        for (int a = 0; a < numAxes; a++)
            term *= powers[a][(i >> (2 * a)) & 3];
        sum += term;
    }
    return sum;
}

/** The index of an argument in a discrete table: rounded, and limited to the range of the table. */
DEVICE int discretePlace(mixed x, int size) {
    const mixed place = round(x);
    return place > 0 ? (place < size - 1 ? (int) place : size - 1) : 0;
}

/** x^n by repeated multiplication. */
DEVICE mixed integerPower(mixed x, int n) {
    mixed base = n < 0 ? 1 / x : x, result = 1;
    for (int exponent = n < 0 ? -n : n; exponent != 0; exponent = exponent >> 1) {
        if ((exponent & 1) == 1)
            result *= base;
        base *= base;
    }
    return result;
}

/** x^y for any x. OpenMM compiles single precision with CUDA's fast pow, which requires positive x. */
DEVICE mixed power(mixed x, mixed y) {
    if (x > 0 || x != x || y != y)
        return y == 0 ? 1 : pow(x, y);
    if (y == 0)
        return 1;
    if (x == 0)
        return y > 0 ? x * x : 1 / (x * x);
    if (floor(y) != y)
        return sqrt(x); // not a number
    const mixed size = pow(-x, y);
    return 2 * floor(y / 2) == y ? size : -size;
}
