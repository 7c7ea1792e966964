// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: numbers.cc
// The solution for three particles whose three distances are held, in closed form, as SETTLE's (Miyamoto and Kollman 1992,
// doi 10.1002/jcc.540130805), for any masses and lengths.
//
// With the bonds B_1 and B_2 from the first particle to the others at the start, constraint impulses are in the plane of
// B_1 and B_2: they do not change how far the ends of the bonds are above it. So the scalar products of what the bonds
// become within the plane are known, and with them the triangle's shape there, up to an angle; the impulses' moment, which
// is zero, gives that. Everything is in the basis B_1, B_2: bond l becomes B_l + D_l + sum_k y_kl B_k. Impulses on the
// second and third particle are sum_k S_kl B_k, S = Y W^-1, W_kl = w_0 + (k == l) w_k, along bonds if S is symmetric.

/** Errors below this are corrected from where the closed form leads; its rounding is far less. */
#define GUESS_ERROR 0.01f

/** How far Y W^-1 is from symmetry. @param mu  W^-1: 11, 12, 22 */
DEVICE number skew(const number* y, const number* mu) {
    return (y[2] * mu[0] - y[1] * mu[2]) + (y[3] - y[0]) * mu[1];
}

/** Impulses kappa of the rows 0-1, 0-2 and 1-2; not finite where the triangle cannot be closed.
 *  @param g  B_k.B_l: 11, 12, 22
 *  @param v  B_k.D_l: 11, 12, 21, 22
 *  @param f  halves of the residuals without constraints, of the rows
 *  @param w  inverse masses */
DEVICE void closeTriangle(const number* g, const number* v, const number* f, const number* w, number* kappa) {
    const number one = 1, two = 2, oneHalf = (number) 0.5f;
    const number ofMasses = one / (w[0] * (w[1] + w[2]) + w[1] * w[2]);
    const number mu[3] = {(w[0] + w[2]) * ofMasses, -w[0] * ofMasses, (w[0] + w[1]) * ofMasses};
    const number f12 = oneHalf * (f[0] + f[1] - f[2]);
    const number area = g[0] * g[2] - g[1] * g[1], inverse = one / area; // of the square's area
    // The displacements' parts in the plane, and by how much scalar products change there.
    const number t[4] = {(g[2] * v[0] - g[1] * v[2]) * inverse, (g[2] * v[1] - g[1] * v[3]) * inverse,
                         (g[0] * v[2] - g[1] * v[0]) * inverse, (g[0] * v[3] - g[1] * v[1]) * inverse};
    const number d0 = two * (v[0] - f[0]) + (t[0] * v[0] + t[2] * v[2]);
    const number d1 = (v[1] + v[2] - two * f12) + (t[0] * v[1] + t[2] * v[3]);
    const number d2 = two * (v[3] - f[1]) + (t[1] * v[1] + t[3] * v[3]);
    // The shape, with the first bond along B_1: (1 + alpha) B_1 and beta B_1 + (1 + gamma) B_2.
    const number inverse0 = one / g[0], p = d0 * inverse0;
    const number q = (d0 * g[2] + d2 * g[0] - two * g[1] * d1 + (d0 * d2 - d1 * d1)) * inverse;
    const number a = sqrt(one + p), ac = sqrt(one + q), r = one / (a * (a + ac));
    const number alpha = p / (one + a), gamma = (q - p) * r;
    const number beta = (d1 - g[1] * (q / (one + ac))) * (inverse0 * (r * (a + ac)));
    // The same turned by a right angle, times the area.
    const number turned[4] = {-g[1] * a, -g[1] * beta - g[2] * (one + gamma), g[0] * a, g[0] * beta + g[1] * (one + gamma)};
    // sin(angle) moment + cos(angle) shape = what is wanted, by the tangent of half the angle, divided by the area.
    const number shape = (gamma - alpha) * mu[1] - beta * mu[2], moment = skew(turned, mu), wanted = skew(t, mu);
    const number tangent =
        (wanted - shape) / (moment + sqrt(moment * moment + (shape - wanted) * (shape + wanted) * area));
    const number sine = two * tangent / (one + tangent * tangent * area), versine = tangent * sine * area;
    const number y[4] = {(alpha - versine * a) + (sine * turned[0] - t[0]),
                         (beta - versine * beta) + (sine * turned[1] - t[1]), sine * turned[2] - t[2],
                         (gamma - versine * (one + gamma)) + (sine * turned[3] - t[3])};
    const number S11 = y[0] * mu[0] + y[1] * mu[1], S22 = y[2] * mu[1] + y[3] * mu[2];
    const number S12 = oneHalf * ((y[0] * mu[1] + y[1] * mu[2]) + (y[2] * mu[0] + y[3] * mu[1]));
    kappa[0] = S11 + S12;
    kappa[1] = S22 + S12;
    kappa[2] = -S12;
}
