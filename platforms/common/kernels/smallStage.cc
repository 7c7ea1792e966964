// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
/** One stage of a step for the cluster with this number, or for a particle without constraints. */
DEVICE void run_STAGESIZE(const Arguments* a, int cluster, int4 group) {
    ClusterSIZE c;
    const int number = cluster - group.x;
    loadSIZE(a, &c, number, group.y, group.z);
#if SIZE > 0
    loadBondsSIZE(a, &c, cluster, group.w + number * SIZE);
#endif
    STEPS
    storeSIZE(a, &c);
}
