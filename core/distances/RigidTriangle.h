// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_RIGID_TRIANGLE_H_
#define CONSTRAINTS_CORE_DISTANCES_RIGID_TRIANGLE_H_

#include "Lanes.h"

namespace ConstraintPlugin {

/** The position stage of three particles with all three distances, as in SETTLE (S. Miyamoto and P. A. Kollman,
 *  J. Comput. Chem. 13, 952 (1992), doi:10.1002/jcc.540130805), here for any masses and lengths, and with the two sides
 *  from particle 0 instead of positions relative to the centre.
 *
 *  Impulses lie in the plane of the triangle at the start. Heights above this plane are therefore known, and give two
 *  angles of the new triangle. The third follows from the angular momentum about the normal, which impulses along the
 *  sides conserve. */
template <class Number>
class RigidTriangle {
public:
    using Vector = LanesVector<Number>;

    /** @param inverseMass  [3]
     *  @param square       squares of the lengths 0-1, 0-2, 1-2 */
    RigidTriangle(const Number* inverseMass, const Number* square) {
        const Number m0 = 1 / inverseMass[0], m1 = 1 / inverseMass[1], m2 = 1 / inverseMass[2], all = m0 + m1 + m2;
        length = squareRoot(square[0]);
        along = (square[0] + square[1] - square[2]) / (2 * length);
        height = squareRoot(Number(square[1] - along * along));
        inverseLength = 1 / length;
        inverseHeight = 1 / height;
        mass1 = m1;
        mass2 = m2;
        share1 = m1 / all;
        share2 = m2 / all;
        rest1 = (m0 + m2) / all;
        rest2 = (m0 + m1) / all;
        mu11 = m1 * rest1;
        mu12 = -m1 * share2;
        mu22 = m2 * rest2;
    }

    struct Solution {
        Vector move[3];       ///< of the particles, beyond the unconstrained displacement
        Number multiplier[3]; ///< of |s|^2/2
        Number startError; ///< of the squared length and height at the start; the solution is accurate if this is small
    };
    /** @param b1, b2  r0 - r1 and r0 - r2 at the start
     *  @param s1, s2  the same after the unconstrained displacement */
    CONSTRAINTS_INLINE Solution solve(const Vector& b1, const Vector& b2, const Vector& s1, const Vector& s2) const {
        // Axes in the plane at the start, and its normal: b1 = l1 e1, b2 = g e1 + h e2.
        const Number square1 = inner(b1, b1), error1 = square1 * (inverseLength * inverseLength) - 1;
        const Number inverse1 = inverseLength * inverseRoot(error1), l1 = inverse1 * square1;
        const Vector e1 = inverse1 * b1;
        const Number g = inner(e1, b2);
        const Vector across = b2 - g * e1;
        const Number square2 = inner(across, across), error2 = square2 * (inverseHeight * inverseHeight) - 1;
        const Number inverse2 = inverseHeight * inverseRoot(error2), h = inverse2 * square2;
        const Vector e2 = inverse2 * across, normal = cross(e1, e2);

        // The third row of the new triangle's rotation, from the heights of the sides' ends.
        const Number c1 = inverseLength * inner(s1, normal);
        const Number c2 = inverseHeight * (inner(s2, normal) - along * c1);
        const Number c3 = squareRoot(Number(1 - c1 * c1 - c2 * c2)), scale = 1 + c3;
        // Within the plane, times this scale: its sides if it does not rotate about the normal, by the shortest
        // rotation with this row.
        const Number k11 = scale - c1 * c1, k12 = -c1 * c2, k22 = scale - c2 * c2;
        const Number x1 = length * k11, y1 = length * k12;
        const Number x2 = along * k11 + height * k12, y2 = along * k12 + height * k22;

        // Angular momentum about the normal: sum_j w_j x side_j, w_j = sum_k mu_jk b_k. After a rotation by phi it is
        // a cos(phi) + b sin(phi).
        const Number w1x = mu11 * l1 + mu12 * g, w1y = mu12 * h, w2x = mu12 * l1 + mu22 * g, w2y = mu22 * h;
        const Number s1x = inner(s1, e1), s1y = inner(s1, e2), s2x = inner(s2, e1), s2y = inner(s2, e2);
        const Number momentum = scale * ((w1x * s1y - w1y * s1x) + (w2x * s2y - w2y * s2x));
        const Number a = (w1x * y1 - w1y * x1) + (w2x * y2 - w2y * x2);
        const Number b = (w1x * x1 + w1y * y1) + (w2x * x2 + w2y * y2);
        const Number square = a * a + b * b, root = squareRoot(Number(square - momentum * momentum));
        const Number inverse = 1 / (square * scale);
        const Number cosine = inverse * (a * momentum + b * root), sine = inverse * (b * momentum - a * root);

        // How the sides change, and what moves particles so, while their centre stays.
        const Number d1x = cosine * x1 - sine * y1 - s1x, d1y = sine * x1 + cosine * y1 - s1y;
        const Number d2x = cosine * x2 - sine * y2 - s2x, d2y = sine * x2 + cosine * y2 - s2y;
        const Number m0x = share1 * d1x + share2 * d2x, m0y = share1 * d1y + share2 * d2y;
        const Number m1x = share2 * d2x - rest1 * d1x, m1y = share2 * d2y - rest1 * d1y;
        const Number m2x = share1 * d1x - rest2 * d2x, m2y = share1 * d1y - rest2 * d2y;
        Solution result;
        result.move[0] = m0x * e1 + m0y * e2;
        result.move[1] = m1x * e1 + m1y * e2;
        result.move[2] = m2x * e1 + m2y * e2;

        // mass1 move1 = -lambda0 b1 + lambda2 (b2 - b1), mass2 move2 = -lambda1 b2 - lambda2 (b2 - b1)
        const Number lambda2 = mass1 * m1y * inverse2;
        result.multiplier[0] = inverse1 * (lambda2 * g - mass1 * m1x) - lambda2;
        result.multiplier[1] = -mass2 * m2y * inverse2 - lambda2;
        result.multiplier[2] = lambda2;
        result.startError = larger(Number(absolute(error1)), Number(absolute(error2)));
        return result;
    }

    /** Up to this startError the result is accurate to 3e-9, relative to lengths; below 1e-4 to rounding. */
    static constexpr double maxStartError = 0.01;

private:
    /** 1/sqrt(1 + e) for small e. */
    static CONSTRAINTS_INLINE Number inverseRoot(const Number& e) {
        return 1 - e * (0.5 - e * (0.375 - e * 0.3125));
    }

    // r0 - r1 = (length, 0), r0 - r2 = (along, height)
    Number length, along, height, inverseLength, inverseHeight;
    Number mass1, mass2, share1, share2; ///< of particles 1 and 2, also as parts of the sum
    Number rest1, rest2;                 ///< 1 - share, without cancellation if one mass is large
    Number mu11, mu12, mu22;             ///< reduced masses
};

} // namespace ConstraintPlugin

#endif
