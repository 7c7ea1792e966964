// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Normal random numbers as a function of key, step and particle, without a state. So they do not depend on other draws,
// on threads or on the order of particles. Like coordinates.cc, this file is compiled as C++ (through
// NormalNumbers.cpp) and as part of the kernels for OpenCL and CUDA.

/** Philox4x32-10: replace four numbers, a counter, by random bits.
 *  Source: Salmon, Moraes, Dror, Shaw, SC '11, doi 10.1145/2063384.2063405. */
DEVICE void philox(unsigned int* c, unsigned int key0, unsigned int key1) {
    for (int round = 0; round < 10; round++) {
        const mm_ulong first = (mm_ulong) 0xD2511F53u * c[0], second = (mm_ulong) 0xCD9E8D57u * c[2];
        c[0] = (unsigned int) (second >> 32) ^ c[1] ^ key0;
        c[1] = (unsigned int) second;
        c[2] = (unsigned int) (first >> 32) ^ c[3] ^ key1;
        c[3] = (unsigned int) first;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/** The distance from the origin of two independent normal numbers, by the Box-Muller method. In single precision a
 *  uniform number may be rounded to 1, and a fast logarithm of 1 may be slightly positive or negative: hence fabs(). */
DEVICE real normalRadius(unsigned int bits) {
    const real u = ((real) bits + 0.5f) * 2.3283064365386963e-10f; // times 2^-32: between 0 and 1
    return sqrt(2 * fabs(log(u)));
}

/** Their direction, from -1 to 1 in units of pi, for sinpi() and cospi(). In double precision sin() and cos() contain
 *  code for large angles, which uses local memory on GPUs. */
DEVICE real normalAngle(unsigned int bits) {
    return (real) (int) bits * 4.6566128730773926e-10f; // times 2^-31
}

/** Three independent standard normal numbers for a particle in a step. */
DEVICE mixed3 normalNumbers(unsigned int key0, unsigned int key1, unsigned int stepLow, unsigned int stepHigh,
                            unsigned int particle) {
    unsigned int c[4];
    c[0] = stepLow;
    c[1] = stepHigh;
    c[2] = particle;
    c[3] = 0;
    philox(c, key0, key1);
    const real r = normalRadius(c[0]), angle = normalAngle(c[1]);
    return make_mixed3(r * cospi(angle), r * sinpi(angle), normalRadius(c[2]) * cospi(normalAngle(c[3])));
}
