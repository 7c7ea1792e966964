// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The coordinates q that constraints hold fixed, and their gradients. This one text is C++ (through coordinates.h) and
// is meant to be kernel text for OpenCL and CUDA as well: mixed, mixed3, DEVICE, dot() and cross() are all it needs.
//
// A coordinate of n particles is a function of the n-1 bond vectors b_s = x_s - x_(s+1); G_s = dq/db_s.

/** Distance of two particles: q = |b|, G = b/q. */
DEVICE mixed distanceCoordinate(const mixed3* b, mixed3* G) {
    const mixed q = sqrt(dot(b[0], b[0]));
    G[0] = (1 / q) * b[0];
    return q;
}

/** Angle at the second of three particles, between u = x1-x2 = b1 and w = x3-x2 = -b2: q in (0, pi),
 *  dq/du = u x (u x w) / (|u|^2 |u x w|), and dq/dw likewise. */
DEVICE mixed angleCoordinate(const mixed3* b, mixed3* G) {
    const mixed3 n = cross(b[1], b[0]); // u x w
    const mixed sine = sqrt(dot(n, n)); // times |u| |w|
    G[0] = (1 / (dot(b[0], b[0]) * sine)) * cross(b[0], n);
    G[1] = (1 / (dot(b[1], b[1]) * sine)) * cross(n, b[1]);
    return atan2(sine, -dot(b[0], b[1]));
}

/** Dihedral of four particles about the axis of the middle two: q in (-pi, pi], the sign of PeriodicTorsionForce.
 *  Source: Blondel, Karplus, J. Comput. Chem. 17, 1132 (1996), eq. 27, without their loss of precision. */
DEVICE mixed dihedralCoordinate(const mixed3* b, mixed3* G) {
    const mixed3 m = cross(b[0], b[1]), n = cross(b[1], b[2]);
    const mixed axis2 = dot(b[1], b[1]), axis = sqrt(axis2);
    const mixed m2 = dot(m, m), n2 = dot(n, n);
    G[0] = (-axis / m2) * m;
    G[2] = (-axis / n2) * n;
    G[1] = (-dot(b[0], b[1]) / axis2) * G[0] - (dot(b[1], b[2]) / axis2) * G[2];
    return atan2(-axis * dot(b[0], n), dot(m, n));
}

/** A component, along a unit vector e, of the bend of three particles that shall lie on a line, the second between the
 *  others: q = e.(b1/|b1| - b2/|b2|), an angle to first order; dq/db1 = (e - (e.u)u)/|b1| with u = b1/|b1|. */
DEVICE mixed straightCoordinate(const mixed3* b, mixed3 e, mixed3* G) {
    const mixed length0 = sqrt(dot(b[0], b[0])), length1 = sqrt(dot(b[1], b[1]));
    const mixed3 u = (1 / length0) * b[0], w = (1 / length1) * b[1];
    G[0] = (1 / length0) * (e - dot(e, u) * u);
    G[1] = (1 / length1) * (dot(e, w) * w - e);
    return dot(e, u) - dot(e, w);
}

/** Component along e of r_1 - sum_b C_b r_b with sum_b C_b = 1, from the n bond vectors of these particles in turn:
 *  q = sum_s w_s e.b_s with w_s = sum_(b>s) C_b. */
DEVICE mixed linearCoordinate(int n, const mixed3* b, const mixed* w, mixed3 e, mixed3* G) {
    mixed q = 0;
    for (int s = 0; s < n; s++) {
        G[s] = w[s] * e;
        q = q + dot(G[s], b[s]);
    }
    return q;
}
