// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// A solve of a stage, with the operations on particles before and after it (PartsProgram.cpp). Every part does the
// operations that come before on all of its particles, and at the end, from the same numbers again, on its own ones, which
// it then moves: nothing is written that other parts still read.

DEVICE Report begin_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    EACH_PARTICLE(n) {
        const int i = a->clusterParticle[n];
#if HAS_JOINTS
        if (i >= a->numParticles) {
            takeNode(a, n);
            continue;
        }
#endif
        Particle p = loadParticle(a, i);
$WITHOUT_NOTES$        takeParticle(a, n, &p);
    }
    return start_$SOLVE$(a, c SHARED_ARGUMENT);
}

DEVICE void finish_$STAGE$(const Arguments* a, int c, const PartSolve* solve SHARED_PARAMETER) {
    end_$SOLVE$(a, c, solve SHARED_ARGUMENT);
    EACH_PARTICLE(n) if (a->ownsNode[n]) {
        const int i = a->clusterParticle[n];
#if HAS_JOINTS
        if (i >= a->numParticles) {
            store3(a->impulse, i, load3(a->impulse, NODE_OF_PLACE(n)));
            continue;
        }
#endif
        Particle p = loadParticle(a, i);
$BEFORE$        p.c = load3(a->impulse, NODE_OF_PLACE(n));
$AFTER$        storeParticle(a, i, &p);
    }
}

/** All rounds of a cluster in one piece. */
DEVICE void solve_$STAGE$(const Arguments* a, int c, bool isWanted SHARED_PARAMETER) {
    PartSolve solve = describe_$SOLVE$(a);
    PartState state = newPartState();
    state.isOver = !isWanted;
    Report start = newReport();
    for (int once = 0; once < isWanted; once++)
        start = begin_$STAGE$(a, c SHARED_ARGUMENT);
    for (int round = 0; !state.isOver; round++) {
        take_$SOLVE$(a, c, round, start, &solve, &state SHARED_ARGUMENT);
        THREAD_GROUP_SYNC
    }
    if (isWanted)
        storePartState(a, c, &state);
}

#if WAITS
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    PartSolve solve = describe_$SOLVE$(a);
    PartState state = newPartState();
    const Report start = begin_$STAGE$(a, c SHARED_ARGUMENT);
    take_$SOLVE$(a, c, 0, start, &solve, &state SHARED_ARGUMENT);
    for (int round = 1; !state.isOver; round++) {
        WAIT_FOR_PARTS(c)
        take_$SOLVE$(a, c, round, start, &solve, &state SHARED_ARGUMENT);
    }
#if IS_SPLIT
    for (int once = 0; once < state.isHandedOver; once++) {
        const int4 parts = a->partsOfCluster[c];
        solve_$STAGE$(a, parts.z, parts.x == c SHARED_ARGUMENT);
        WAIT_FOR_PARTS(c)
        adopt_$SOLVE$(a, c, &solve, true SHARED_ARGUMENT);
    }
#endif
    finish_$STAGE$(a, c, &solve SHARED_ARGUMENT);
}
#else
/** A launch: round 0, 1, ..., or -1, the cluster as a whole where it is wanted, or -2, the end, in which no part reads what
 *  another writes. What a part keeps from launch to launch is in global memory. */
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    const int4 parts = a->partsOfCluster[c];
    PartSolve solve = describe_$SOLVE$(a);
    PartState state = newPartState();
    if (a->round != 0)
        state = loadPartState(a, c);
    for (int once = 0; once < (a->round >= 0 && !state.isOver); once++) {
        const Report start = begin_$STAGE$(a, c SHARED_ARGUMENT);
        take_$SOLVE$(a, c, a->round, start, &solve, &state SHARED_ARGUMENT);
        storePartState(a, c, &state);
    }
    solve_$STAGE$(a, parts.z, a->round == -1 && state.isHandedOver && parts.x == c SHARED_ARGUMENT);
    for (int once = 0; once < (a->round == -2); once++) {
        adopt_$SOLVE$(a, c, &solve, state.isHandedOver SHARED_ARGUMENT);
        finish_$STAGE$(a, c, &solve SHARED_ARGUMENT);
    }
}
#endif
