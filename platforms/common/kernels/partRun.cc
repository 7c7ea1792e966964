// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// All rounds of a solve of a stage, in one launch or in many (parts.cc), for parts of one kind, and the whole cluster after
// them (partWhole.cc), unless it has kernels of its own.

#if WAITS
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    PartSolve solve = describe_$SOLVE$(a);
    PartState state = newPartState();
#if IS_$KIND$_LOCAL // parts wait for each other's words
    const Worst start = begin_$STAGE$_Local(a, c, &solve, &state, true SHARED_ARGUMENT);
    for (int round = 0; !state.isOver; round++)
        takeLocal(a, c, round, start, &solve, &state SHARED_ARGUMENT);
#else
    const Report start = begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
    take_$SOLVE$_General(a, c, 0, start, &solve, &state SHARED_ARGUMENT);
    for (int round = 1; !state.isOver; round++) {
        WAIT_FOR_PARTS(c)
        take_$SOLVE$_General(a, c, round, start, &solve, &state SHARED_ARGUMENT);
    }
#endif
#if $WHOLE$ && (IS_SPLIT || IS_$KIND$_LOCAL)
    for (int once = 0; once < state.isHandedOver; once++) {
        THREAD_GROUP_SYNC // others may still read what was decided by
#if IS_$KIND$_LOCAL // otherwise what the whole cluster needs would take registers from the rounds
        const Arguments values = readAgain(a), *again = &values;
#else
        const Arguments* again = a;
#endif
        const int4 parts = again->partsOfCluster[c];
        solve_$STAGE$(again, parts.z, SOLVES_WHOLE && parts.x == c SHARED_ARGUMENT);
#if IS_$KIND$_LOCAL
        for (int first = 0; first < (parts.x == c); first++) // the whole cluster took its shared memory
            begin_$STAGE$_$KIND$(again, c, &solve, &state, false SHARED_ARGUMENT);
#endif
        WAIT_FOR_PARTS(c)
        adopt_$STAGE$_$KIND$(again, c, &solve, true SHARED_ARGUMENT);
    }
#endif
#if !IS_$KIND$_LOCAL
    finish_$STAGE$_General(a, c, &solve, &state, true SHARED_ARGUMENT);
#elif $WHOLE$
    finish_$STAGE$_Local(a, c, &solve, &state SHARED_ARGUMENT);
#else
    for (int once = 0; once < !state.isHandedOver; once++)
        finish_$STAGE$_Local(a, c, &solve, &state SHARED_ARGUMENT);
    storePartState(a, c, &state);
#endif
}
#else
/** A launch: round 0, 1, ..., or -1, the cluster as a whole where it is wanted, or -2, the end, in which no part reads what
 *  another writes. What a part keeps from launch to launch is in global memory. */
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    PartSolve solve = describe_$SOLVE$(a);
    PartState state = newPartState();
    if (a->round != 0)
        state = loadPartState(a, c);
    for (int once = 0; once < (a->round >= 0 && !state.isOver); once++) {
#if IS_$KIND$_LOCAL
        const Worst start = begin_$STAGE$_Local(a, c, &solve, &state, false SHARED_ARGUMENT);
#else
        const Report start = begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
#endif
        TAKE_$KIND$($SOLVE$)(a, c, a->round, start, &solve, &state SHARED_ARGUMENT);
        storePartState(a, c, &state);
    }
#if $WHOLE$
    end_$STAGE$(a, c, &solve, &state SHARED_ARGUMENT);
#endif
}
#endif
