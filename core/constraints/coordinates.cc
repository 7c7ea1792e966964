// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The coordinates q of constraints, their gradients and curvatures. This file is compiled as C++ (through
// coordinates.h) and as part of the kernels for OpenCL and CUDA. It only needs mixed, mixed3, DEVICE, dot() and cross().
//
// A coordinate of n particles is a function of the n-1 bond vectors b_s = x_s - x_(s+1); G_s = dq/db_s. Its curvature
// is d^2 q(b + t V)/dt^2 at t = 0, where the bond vectors change at the rates V_s; ' and '' stand for d/dt, d^2/dt^2.

/** Distance of two particles: q = |b|, G = b/q. */
DEVICE mixed distanceCoordinate(const mixed3* b, mixed3* G) {
    const mixed q = sqrt(dot(b[0], b[0]));
    G[0] = (1 / q) * b[0];
    return q;
}

/** |b|' = b.V/|b|; |b|'' = (V.V - |b|'^2)/|b|. */
DEVICE mixed distanceCurvature(const mixed3* b, const mixed3* V) {
    const mixed q = sqrt(dot(b[0], b[0])), rate = dot(b[0], V[0]) / q;
    return (dot(V[0], V[0]) - rate * rate) / q;
}

/** atan2(y, x)'' from y, y', y'' and x, x', x'': with D = x^2 + y^2, q' = (x y' - y x')/D and
 *  q'' = (x y'' - y x'')/D - q' D'/D. */
DEVICE mixed atan2Curvature(mixed y, mixed y1, mixed y2, mixed x, mixed x1, mixed x2) {
    const mixed D = x * x + y * y, rate = (x * y1 - y * x1) / D;
    return (x * y2 - y * x2 - 2 * rate * (x * x1 + y * y1)) / D;
}

/** Angle at the second of three particles, between u = x1-x2 = b1 and w = x3-x2 = -b2: its sine and cosine times
 *  |u| |w|; dq/du = u x (u x w) / (|u|^2 |u x w|), and dq/dw likewise. */
DEVICE void angleSineCosine(const mixed3* b, mixed* sine, mixed* cosine, mixed3* G) {
    const mixed3 n = cross(b[1], b[0]); // u x w
    *sine = sqrt(dot(n, n));
    *cosine = -dot(b[0], b[1]);
    G[0] = (1 / (dot(b[0], b[0]) * *sine)) * cross(b[0], n);
    G[1] = (1 / (dot(b[1], b[1]) * *sine)) * cross(n, b[1]);
}

/** q in (0, pi). */
DEVICE mixed angleCoordinate(const mixed3* b, mixed3* G) {
    mixed sine, cosine;
    angleSineCosine(b, &sine, &cosine, G);
    return atan2(sine, cosine);
}

/** With n and p = u.w quadratic in b: |n|' = n.n'/|n|, |n|'' = (n'.n' + n.n'' - |n|'^2)/|n|. */
DEVICE mixed angleCurvature(const mixed3* b, const mixed3* V) {
    const mixed3 n = cross(b[1], b[0]), n1 = cross(V[1], b[0]) + cross(b[1], V[0]), halfN2 = cross(V[1], V[0]);
    const mixed sine = sqrt(dot(n, n)), sine1 = dot(n, n1) / sine;
    const mixed sine2 = (dot(n1, n1) + 2 * dot(n, halfN2) - sine1 * sine1) / sine;
    return atan2Curvature(sine, sine1, sine2, -dot(b[0], b[1]), -dot(b[0], V[1]) - dot(V[0], b[1]),
                          -2 * dot(V[0], V[1]));
}

/** Dihedral of four particles about the axis of the middle two, the sign of PeriodicTorsionForce: its sine and cosine
 *  times |m| |n|.
 *  Source: Blondel, Karplus, J. Comput. Chem. 17, 1132 (1996), eq. 27, without their loss of precision. */
DEVICE void dihedralSineCosine(const mixed3* b, mixed* sine, mixed* cosine, mixed3* G) {
    const mixed3 m = cross(b[0], b[1]), n = cross(b[1], b[2]);
    const mixed axis2 = dot(b[1], b[1]), axis = sqrt(axis2);
    const mixed m2 = dot(m, m), n2 = dot(n, n);
    *sine = -axis * dot(b[0], n);
    *cosine = dot(m, n);
    G[0] = (-axis / m2) * m;
    G[2] = (-axis / n2) * n;
    G[1] = (-dot(b[0], b[1]) / axis2) * G[0] - (dot(b[1], b[2]) / axis2) * G[2];
}

/** q in (-pi, pi]. */
DEVICE mixed dihedralCoordinate(const mixed3* b, mixed3* G) {
    mixed sine, cosine;
    dihedralSineCosine(b, &sine, &cosine, G);
    return atan2(sine, cosine);
}

/** With m, n and the volume h = b1.n: x = m.n, y = -|b2| h, each by the product rule. */
DEVICE mixed dihedralCurvature(const mixed3* b, const mixed3* V) {
    const mixed3 m = cross(b[0], b[1]), m1 = cross(V[0], b[1]) + cross(b[0], V[1]), halfM2 = cross(V[0], V[1]);
    const mixed3 n = cross(b[1], b[2]), n1 = cross(V[1], b[2]) + cross(b[1], V[2]), halfN2 = cross(V[1], V[2]);
    const mixed axis = sqrt(dot(b[1], b[1])), axis1 = dot(b[1], V[1]) / axis;
    const mixed axis2 = (dot(V[1], V[1]) - axis1 * axis1) / axis;
    const mixed h = dot(b[0], n), h1 = dot(V[0], n) + dot(b[0], n1), h2 = 2 * (dot(V[0], n1) + dot(b[0], halfN2));
    return atan2Curvature(-axis * h, -axis1 * h - axis * h1, -axis2 * h - 2 * axis1 * h1 - axis * h2, dot(m, n),
                          dot(m1, n) + dot(m, n1), 2 * (dot(halfM2, n) + dot(m1, n1) + dot(m, halfN2)));
}

/** The component along a unit vector e of the bend of three particles, for an angle of pi at the second particle:
 *  q = e.(b1/|b1| - b2/|b2|), an angle to first order; dq/db1 = (e - (e.u)u)/|b1| with u = b1/|b1|. */
DEVICE mixed linearAngleCoordinate(const mixed3* b, mixed3 e, mixed3* G) {
    const mixed length0 = sqrt(dot(b[0], b[0])), length1 = sqrt(dot(b[1], b[1]));
    const mixed3 u = (1 / length0) * b[0], w = (1 / length1) * b[1];
    G[0] = (1 / length0) * (e - dot(e, u) * u);
    G[1] = (1 / length1) * (dot(e, w) * w - e);
    return dot(e, u) - dot(e, w);
}

/** (e.b/|b|)'' = (-2 |b|' e.V + (2 |b|'^2/|b| - |b|'') e.b)/|b|^2. */
DEVICE mixed directionCurvature(mixed3 b, mixed3 V, mixed3 e) {
    const mixed length = sqrt(dot(b, b)), rate = dot(b, V) / length;
    const mixed second = (dot(V, V) - rate * rate) / length;
    return ((2 * rate * rate / length - second) * dot(e, b) - 2 * rate * dot(e, V)) / (length * length);
}

DEVICE mixed linearAngleCurvature(const mixed3* b, const mixed3* V, mixed3 e) {
    return directionCurvature(b[0], V[0], e) - directionCurvature(b[1], V[1], e);
}

/** Component along e of r_1 - sum_b C_b r_b with sum_b C_b = 1, from the n bond vectors of these particles in turn:
 *  q = sum_s w_s e.b_s with w_s = sum_(b>s) C_b. It has no curvature. */
DEVICE mixed affinePositionCoordinate(int n, const mixed3* b, const mixed* w, mixed3 e, mixed3* G) {
    mixed q = 0;
    for (int s = 0; s < n; s++) {
        G[s] = w[s] * e;
        q = q + dot(G[s], b[s]);
    }
    return q;
}
