// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: rows.cc
// How angles and dihedrals in a subdomain change with bond vectors, as `number`s (subdomainAngles.cc), and their gradients in
// single precision (subdomainJoints.cc).

/** By how much q changes where its sine and cosine do by ds and dc. */
DEVICE number changeOfAngle(number sine, number cosine, number ds, number dc) {
    return atan2(ds * cosine - dc * sine, (sine + ds) * sine + (cosine + dc) * cosine);
}

/** By how much changes d of the bond vectors b change q, from its sine and cosine before, as coordinates.cc has them.
 *  @param[out] G          dq/db afterwards
 *  @param[out] steepness  by which roundings of directions are multiplied */
DEVICE number angleChange(const number3* b, const number3* d, number sine, number cosine, number3* G,
                          number* steepness) {
    const number3 u = b[0] + d[0], w = b[1] + d[1];
    const number3 n = cross(b[1], b[0]), dn = cross(d[1], u) + cross(b[1], d[0]), after = n + dn;
    const number u2 = dot(u, u), w2 = dot(w, w), size = sqrt(dot(after, after));
    G[0] = (1 / (u2 * size)) * cross(u, after);
    G[1] = (1 / (w2 * size)) * cross(after, w);
    *steepness = sqrt(u2 * w2) / size;
    return changeOfAngle(sine, cosine, dot(n + after, dn) / (size + sine), -dot(d[0], w) - dot(b[0], d[1]));
}

DEVICE number dihedralChange(const number3* b, const number3* d, number sine, number cosine, number3* G,
                             number* steepness) {
    const number3 u = b[0] + d[0], v = b[1] + d[1], w = b[2] + d[2];
    const number3 m = cross(b[0], b[1]), dm = cross(d[0], v) + cross(b[0], d[1]), M = m + dm;
    const number3 n = cross(b[1], b[2]), dn = cross(d[1], w) + cross(b[1], d[2]), N = n + dn;
    const number v2 = dot(v, v), axisBefore = sqrt(dot(b[1], b[1])), axis = sqrt(v2);
    const number m2 = dot(M, M), n2 = dot(N, N);
    G[0] = (-axis / m2) * M;
    G[2] = (-axis / n2) * N;
    G[1] = (-dot(u, v) / v2) * G[0] - (dot(v, w) / v2) * G[2];
    *steepness = sqrt(dot(u, u) * v2 / m2 * (v2 * dot(w, w) / n2));
    const number change = dot(b[1] + v, d[1]) / (axisBefore + axis); // of the axis' length
    return changeOfAngle(sine, cosine, -change * dot(u, N) - axisBefore * (dot(d[0], N) + dot(b[0], dn)),
                  dot(dm, N) + dot(m, dn));
}

/** How far an angle is from its target, by their sines and cosines; those of the angle may be multiplied by a number. */
DEVICE number fromTarget(int kind, mixed sine, mixed cosine, mixed target, mixed targetSine, mixed targetCosine) {
#if MIXED_IS_DOUBLE
    return atan2(toNumber(sine * targetCosine - cosine * targetSine),
                 toNumber(cosine * targetCosine + sine * targetSine));
#else // the target's sine would have fewer digits than the target
    return wrapResidual(kind, atan2(sine, cosine) - target);
#endif
}

/** dq/db in single precision, as coordinates.cc has it in `mixed`. */
DEVICE void angleSlopes(const float3* b, float3* G) {
    const float3 n = cross(b[1], b[0]);
    const float inverse = 1 / sqrt(dot(n, n));
    G[0] = (inverse / dot(b[0], b[0])) * cross(b[0], n);
    G[1] = (inverse / dot(b[1], b[1])) * cross(n, b[1]);
}

DEVICE void dihedralSlopes(const float3* b, float3* G) {
    const float3 m = cross(b[0], b[1]), n = cross(b[1], b[2]);
    const float axis2 = dot(b[1], b[1]), axis = sqrt(axis2);
    G[0] = (-axis / dot(m, m)) * m;
    G[2] = (-axis / dot(n, n)) * n;
    G[1] = (-dot(b[0], b[1]) / axis2) * G[0] - (dot(b[1], b[2]) / axis2) * G[2];
}
