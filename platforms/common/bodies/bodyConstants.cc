// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc, rigidMotion.cc
// Constants of rigid bodies, in memory by their numbers (BodyTables.h), as rigidMotion.cc takes them.

/** Constants of a body, free or joined, by its number. */
DEVICE BodyConstants constantsOf(const Arguments* a, int number) {
    BodyConstants constants;
    const mixed3 others = load3(a->bodyNumbers, 4 * number + 3);
    constants.inertia = load3(a->bodyNumbers, 4 * number);
    constants.inverseInertia = load3(a->bodyNumbers, 4 * number + 1);
    constants.radii = load3(a->bodyNumbers, 4 * number + 2);
    constants.inverseMass = others.x;
    constants.mass = others.z;
    constants.rotations = a->bodyKinds[number].z;
    return constants;
}
