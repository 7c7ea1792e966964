// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The coordinates q that constraints hold fixed, and their gradients. This one text is C++ (through coordinates.h) and
// is meant to be kernel text for OpenCL and CUDA as well: mixed, mixed3, DEVICE and dot() are all it needs.
//
// A coordinate of n particles is a function of the n-1 bond vectors b_s = x_s - x_(s+1); G_s = dq/db_s.

/** Distance of two particles: q = |b|, G = b/q. */
DEVICE mixed distanceCoordinate(const mixed3* b, mixed3* G) {
    const mixed q = sqrt(dot(b[0], b[0]));
    G[0] = (1 / q) * b[0];
    return q;
}
