// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The time and the box of a step, which all constraints share, and minimum images in it: core/basics/Box.h as kernel
// text.

typedef struct {
    mixed time;      // ps
    mixed3 a, b, c;  // box vectors in OpenMM's reduced form, nm; all zero without a box
} StepState;

DEVICE mixed3 minimumImage(mixed3 r, StepState stepState) {
    const mixed3 a = stepState.a, b = stepState.b, c = stepState.c;
    if (2 * fabs(r.x) < a.x && 2 * fabs(r.y) < b.y && 2 * fabs(r.z) < c.z)
        return r; // saves the divisions below for nearly all bonds
    const mixed rounding = (mixed) 0.5;
    r = r - floor(r.z / c.z + rounding) * c;
    r = r - floor(r.y / b.y + rounding) * b;
    return r - floor(r.x / a.x + rounding) * a;
}

/** The same if there may be no box. */
DEVICE mixed3 nearestImage(mixed3 r, StepState stepState) {
    if (stepState.a.x > 0)
        return minimumImage(r, stepState);
    return r;
}
