// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: smallLanes.cc
/** A solve of all clusters of a block, by the shape of a thread's one. Threads first show what it changes. */
DEVICE void smallSolve_$SOLVE$(const Arguments* a, const Lane* lane, Particle* p) {
    show(lane, SHOWN_VECTOR, p->$CHANGED$);
#if $WITH_VELOCITIES$
    show(lane, SHOWN_SECOND, p->v);
#endif
    SYNC_THREADS
$SHAPES$    p->$CHANGED$ = shownBy(lane, lane->role, SHOWN_VECTOR); // not kept in registers meanwhile
    SYNC_THREADS // before something else is shown
}
