// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The motion of a rigid body in closed form. This file is compiled as C++ (through rigidMotion.h) and as part of the
// kernels for OpenCL and CUDA. It only needs mixed, mixed3, make_mixed3(), DEVICE, dot(), cross(), sqrt(), fabs(),
// inverseRoot(), 1/sqrt, and ROTATION_ACCURACY, the square root of the rounding error.
//
// The particles of a body are at o + s_i1 e1 + s_i2 e2 + s_i3 e3. The numbers s_ik are its shape. The axes e1, e2, e3
// are orthonormal; o is the centre of mass, or an immovable particle. The axes are principal: sum_i m_i s_ik s_il = 0
// for k != l, with the largest sum_i m_i s_i1^2 first.
//
// Rigid motion moves particle i by t + s_i1 p1 + s_i2 p2 + s_i3 p3: it is four vectors. What it is, follows from sums
// over the particles, whatever their number: the moments sum_i m_i y_i and sum_i m_i s_ik y_i of the displacements,
// velocities or accelerations y_i that the particles would have without the body's constraint forces. These forces have
// no resultant and no torque about the positions at the start, where their directions are taken.
//
// Source: Moser, Veselov, Commun. Math. Phys. 139, 217 (1991), doi 10.1007/BF02352494; McLachlan, Zanna, Found. Comput.
// Math. 5, 87 (2005), doi 10.1007/s10208-004-0118-6.

/** The axes of a body. */
typedef struct {
    mixed3 e1, e2, e3;
} BodyAxes;

/** t + s1 p1 + s2 p2 + s3 p3 for a particle with the shape s. */
typedef struct {
    mixed3 t, p1, p2, p3;
} RigidMotion;

/** sum m y, sum m s_1 y, sum m s_2 y, sum m s_3 y. */
typedef struct {
    mixed3 total, first, second, third;
} Moments;

/** Constants of a body.
 *  inertia: about e1, e2, e3 (amu nm^2). radii: of gyration about these, sqrt(I/M) (nm). inverseInertia: 0 for an axis
 * about which the body does not rotate: the axis of a linear body, those that immovable particles hold. mass: of all its particles (amu). inverseMass: 0 if an
 * immovable particle holds the origin. rotations: number of axes about which it rotates. */
typedef struct {
    mixed3 inertia, inverseInertia, radii;
    mixed mass, inverseMass;
    int rotations;
} BodyConstants;

DEVICE mixed3 scaledBy(mixed3 a, mixed3 factors) {
    return make_mixed3(a.x * factors.x, a.y * factors.y, a.z * factors.z);
}

DEVICE mixed3 alongAxes(BodyAxes e, mixed3 a) {
    return a.x * e.e1 + a.y * e.e2 + a.z * e.e3;
}

/** The components along the axes of a vector. */
DEVICE mixed3 componentsOf(BodyAxes e, mixed3 v) {
    return make_mixed3(dot(e.e1, v), dot(e.e2, v), dot(e.e3, v));
}

DEVICE mixed3 motionOf(RigidMotion motion, mixed3 s) {
    return motion.t + s.x * motion.p1 + s.y * motion.p2 + s.z * motion.p3;
}

/** The axes from the first two moments of the positions, which are parallel to e1 and e2. A linear body has only e1;
 *  the others are any normals then. */
DEVICE BodyAxes bodyAxes(mixed3 first, mixed3 second, bool isLinear) {
    BodyAxes e;
    e.e1 = inverseRoot(dot(first, first)) * first;
    if (isLinear) {
        const mixed x = fabs(e.e1.x), y = fabs(e.e1.y), z = fabs(e.e1.z);
        second = x <= y && x <= z ? make_mixed3(1, 0, 0) : y <= z ? make_mixed3(0, 1, 0) : make_mixed3(0, 0, 1);
    }
    second = second - dot(second, e.e1) * e.e1;
    e.e2 = inverseRoot(dot(second, second)) * second;
    e.e3 = cross(e.e1, e.e2);
    return e;
}

/** The same where the particles are not quite at their places: axes with which these fit best. From there to the
 *  particles there is no torque then, sum_i m_i x_i x (r_i - x_i) = 0. One step of Newton's method from bodyAxes().
 *  @param turn  inverse inertia times the angular moment of the positions */
DEVICE BodyAxes fittedAxes(BodyAxes e, mixed3 turn, bool isLinear) {
    return bodyAxes(e.e1 + turn.z * e.e2 - turn.y * e.e3, e.e2 + turn.x * e.e3 - turn.z * e.e1, isLinear);
}

/** L = sum_i m_i x_i x y_i, x_i = sum_k s_ik e_k, in components along the axes. */
DEVICE mixed3 angularMoment(BodyAxes e, Moments y) {
    return make_mixed3(dot(e.e3, y.second) - dot(e.e2, y.third), dot(e.e1, y.third) - dot(e.e3, y.first),
                       dot(e.e2, y.first) - dot(e.e1, y.second));
}

/** The rotation R, as the vector part v of a unit quaternion, along the axes, that solves R S - S R^T = [L]x with
 *  S = diag(sum_i m_i s_ik^2). With I = tr(S) - S and w = sqrt(1 - v^2) this is
 *
 *      w I v + v x I v = L/2,
 *
 *  solved by Newton's method from v = I^-1 L/2. About one or two axes (of equal moments) v is parallel to I^-1 L, and
 *  the angle is asin|I^-1 L|.
 *  @return false if there is no solution with an angle below 90 degrees: SHAKE has none either */
DEVICE bool solveRotation(BodyConstants body, mixed3 L, mixed3* solution) {
    mixed3 v = 0.5f * scaledBy(L, body.inverseInertia);
    if (body.rotations < 3) {
        const mixed cosine2 = 1 - 4 * dot(v, v);
        if (!(cosine2 > 0))
            return false;
        v = (1 / sqrt(0.5f * (1 + sqrt(cosine2)))) * v;
        *solution = v;
        return true;
    }
    for (int iteration = 0; iteration < 20; iteration++) {
        const mixed w2 = 1 - dot(v, v);
        if (!(w2 > 0.5f)) // of 90 degrees
            return false;
        const mixed w = sqrt(w2);
        const mixed3 I = body.inertia, Iv = scaledBy(v, I);
        const mixed3 rest = 0.5f * L - w * Iv - cross(v, Iv);
        // J dv = w I dv - (v.dv/w) I v + dv x I v + v x I dv: its columns
        const mixed3 g = (1 / w) * v;
        const mixed3 a =
            make_mixed3(w * I.x - g.x * Iv.x, -g.x * Iv.y - Iv.z + v.z * I.x, -g.x * Iv.z + Iv.y - v.y * I.x);
        const mixed3 b =
            make_mixed3(-g.y * Iv.x + Iv.z - v.z * I.y, w * I.y - g.y * Iv.y, -g.y * Iv.z - Iv.x + v.x * I.y);
        const mixed3 c =
            make_mixed3(-g.z * Iv.x - Iv.y + v.y * I.z, -g.z * Iv.y + Iv.x - v.x * I.z, w * I.z - g.z * Iv.z);
        const mixed3 bc = cross(b, c);
        const mixed inverse = 1 / dot(a, bc);
        const mixed3 change = inverse * make_mixed3(dot(rest, bc), dot(rest, cross(c, a)), dot(rest, cross(a, b)));
        v = v + change;
        if (dot(change, change) <= ROTATION_ACCURACY * ROTATION_ACCURACY) { // the next change would be its square
            *solution = v;
            return dot(v, v) < 0.5f;
        }
    }
    return false;
}

/** The motion of a translation t and a rotation, the unit quaternion (w, v): t, and (R - 1) x_i without loss of digits,
 *  R - 1 = 2 w [v]x + 2 [v]x^2. */
DEVICE RigidMotion motionByQuaternion(BodyAxes e, mixed3 t, mixed w, mixed3 v) {
    RigidMotion motion;
    motion.t = t;
    motion.p1 = 2 * alongAxes(e, make_mixed3(-v.y * v.y - v.z * v.z, v.x * v.y + w * v.z, v.x * v.z - w * v.y));
    motion.p2 = 2 * alongAxes(e, make_mixed3(v.x * v.y - w * v.z, -v.x * v.x - v.z * v.z, v.y * v.z + w * v.x));
    motion.p3 = 2 * alongAxes(e, make_mixed3(v.x * v.z + w * v.y, v.y * v.z - w * v.x, -v.x * v.x - v.y * v.y));
    return motion;
}

DEVICE RigidMotion displacementBy(BodyAxes e, mixed3 t, mixed3 v) {
    return motionByQuaternion(e, t, sqrt(1 - dot(v, v)), v);
}

/** The motion that displaces a body. @param displacement  its moments;  @return false as solveRotation() */
DEVICE bool displace(BodyConstants body, BodyAxes e, Moments displacement, RigidMotion* motion) {
    mixed3 v;
    if (!solveRotation(body, angularMoment(e, displacement), &v))
        return false;
    *motion = displacementBy(e, body.inverseMass * displacement.total, v);
    return true;
}

/** p_k = a x e_k, a in components along the axes. */
DEVICE RigidMotion turning(BodyAxes e, mixed3 a) {
    RigidMotion motion;
    motion.t = make_mixed3(0, 0, 0);
    motion.p1 = a.z * e.e2 - a.y * e.e3;
    motion.p2 = a.x * e.e3 - a.z * e.e1;
    motion.p3 = a.y * e.e1 - a.x * e.e2;
    return motion;
}

/** The angular velocity w = I^-1 L of a body along its axes. */
DEVICE mixed3 angularVelocity(BodyConstants body, BodyAxes e, Moments velocity) {
    return scaledBy(angularMoment(e, velocity), body.inverseInertia);
}

/** The rigid motion with the linear and angular momentum of given velocities: v_i = t + w x x_i. */
DEVICE RigidMotion rigidVelocity(BodyConstants body, BodyAxes e, Moments velocity) {
    RigidMotion motion = turning(e, angularVelocity(body, e, velocity));
    motion.t = body.inverseMass * velocity.total;
    return motion;
}

/** Add accelerations w x (w x x_i) by a rotation with the angular velocity w (along the axes). */
DEVICE RigidMotion withCentripetal(RigidMotion motion, BodyAxes e, mixed3 w) {
    const mixed3 W = alongAxes(e, w);
    const mixed square = dot(w, w);
    motion.p1 = motion.p1 + w.x * W - square * e.e1;
    motion.p2 = motion.p2 + w.y * W - square * e.e2;
    motion.p3 = motion.p3 + w.z * W - square * e.e3;
    return motion;
}

/** Accelerations a_i = t + b x x_i + w x (w x x_i) of a body with angular velocity w (along the axes), from those that
 *  its particles have without constraint forces: I b = L - w x I w. */
DEVICE RigidMotion rigidAcceleration(BodyConstants body, BodyAxes e, Moments acceleration, mixed3 w) {
    const mixed3 torque = angularMoment(e, acceleration) - cross(w, scaledBy(w, body.inertia));
    RigidMotion motion = withCentripetal(turning(e, scaledBy(torque, body.inverseInertia)), e, w);
    motion.t = body.inverseMass * acceleration.total;
    return motion;
}

// A body that constraints join is two nodes of three numbers in their equations, each with the body's mass. The first
// is its origin. The second is its turn: the rotation about each axis times the radius of gyration about it, nm. Both
// have displacements, velocities and accelerations, and constraints have gradients with respect to both, as with
// respect to particles. L of the position stage depends linearly on the impulses; the rotation that belongs to L does
// not.

/** The turn from an angular moment L, both along the axes: rho I^-1 L. */
DEVICE mixed3 turnOf(BodyConstants body, mixed3 L) {
    return scaledBy(body.radii, scaledBy(L, body.inverseInertia));
}

/** The angular moment L from a turn: M rho turn. */
DEVICE mixed3 angularMomentOf(BodyConstants body, mixed3 turn) {
    return body.mass * scaledBy(body.radii, turn);
}

/** The angular velocity along the axes from the turn's velocity. */
DEVICE mixed3 angularVelocityOf(BodyConstants body, mixed3 turn) {
    return scaledBy(body.inverseInertia, angularMomentOf(body, turn));
}

/** R s for a rotation v. */
DEVICE mixed3 rotated(mixed3 v, mixed3 s) {
    const mixed3 vs = cross(v, s);
    return s + 2 * (sqrt(1 - dot(v, v)) * vs + cross(v, vs));
}

/** Gradient of a constraint with respect to a body's turn, after a rotation v. A small change of L rotates the body by
 *  theta with (tr(K) - K) theta = dL, K = R S. So with the torque T = sum_a R s_a x G_a of the gradients G_a at the
 *  body's particles, the constraint changes by T.theta = y.dL, (tr(K) - K)^T y = T. For v = 0 this is y = I^-1 T.
 *  @param torque  along the axes at the start, as G_a is */
DEVICE mixed3 turnGradient(BodyConstants body, mixed3 v, mixed3 torque) {
    if (body.rotations < 3) // of a single angle, or of a linear body
        return (1 / (1 - 2 * dot(v, v))) * angularMomentOf(body, scaledBy(body.inverseInertia, torque));
    const mixed3 I = body.inertia;
    const mixed S = 0.5f * (I.x + I.y + I.z); // of all sum_i m_i s_ik^2
    const mixed3 a = (S - I.x) * rotated(v, make_mixed3(1, 0, 0)); // the columns of K
    const mixed3 b = (S - I.y) * rotated(v, make_mixed3(0, 1, 0));
    const mixed3 c = (S - I.z) * rotated(v, make_mixed3(0, 0, 1));
    const mixed trace = a.x + b.y + c.z;
    const mixed3 A = make_mixed3(trace - a.x, -a.y, -a.z), B = make_mixed3(-b.x, trace - b.y, -b.z),
                 C = make_mixed3(-c.x, -c.y, trace - c.z), BC = cross(B, C);
    const mixed3 y = (1 / dot(A, BC)) * (torque.x * BC + torque.y * cross(C, A) + torque.z * cross(A, B));
    return angularMomentOf(body, y);
}
