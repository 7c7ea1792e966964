// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT

KERNEL void placeholderStep(int numAtoms, GLOBAL const mixed4* RESTRICT velm) {
    for (int i = GLOBAL_ID; i < numAtoms; i += GLOBAL_SIZE)
        (void) velm[i];
}
