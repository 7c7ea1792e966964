// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
/** One stage of a step for the cluster with this number, or for a particle without constraints.
 *  @param numbers, vectors  the thread's share of local memory */
DEVICE void run_$STAGE$$SIZE$(const Arguments* a, int cluster, int4 group, volatile LOCAL_ARG number* numbers,
                              volatile LOCAL_ARG mixed* vectors) {
    Cluster$SIZE$ c;
    const int place = cluster - group.x;
    c.firstPlace = group.z + place;
    c.stride = group.y;
#if $SIZE$ >= LEAST_IN_LOCAL_MEMORY
    c.numbers = numbers;
#if $SIZE$ <= MAX_IN_REGISTERS
    c.vectors = vectors;
#endif
#endif
    loadParticles$SIZE$(a, &c);
#if $SIZE$ > 0
    c.firstRow = group.w + place * $SIZE$;
    loadBonds$SIZE$(a, &c, cluster);
#endif
    $STEPS$
    storeParticles$SIZE$(a, &c);
}
