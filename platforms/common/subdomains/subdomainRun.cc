// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc
// All rounds of a solve of a stage, in one launch or in many (subdomains.cc), for subdomains of one kind, and the whole cluster
// after them (subdomainWhole.cc), unless it has kernels of its own.

#if WAITS
#if !IS_$KIND$_LOCAL
/** For subdomains in global memory: a function apart, as all that it calls more than once, or it would take seconds to
 *  compile. */
DEVICE APART void solveTogether_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    SubdomainState state = newSubdomainState();
    const Report start = begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
    for (int round = 0; !state.isOver; round++) {
        IF_UNIFORM(round > 0)
            WAIT_FOR_SUBDOMAINS(c)
        take_$SOLVE$_General(a, c, round, start, &solve, &state SHARED_ARGUMENT);
    }
#if IS_SPLIT
    IF_UNIFORM(state.isHandedOver) {
        THREAD_GROUP_SYNC // others may still read what was decided by
        const int4 subdomains = a->subdomainsOfCluster[c];
        solve_$STAGE$(a, subdomains.z, SOLVES_WHOLE && subdomains.x == c SHARED_ARGUMENT);
        WAIT_FOR_SUBDOMAINS(c)
        adopt_$STAGE$_General(a, c, &solve, true SHARED_ARGUMENT);
    }
#endif
    finish_$STAGE$_General(a, c, &solve, &state, true SHARED_ARGUMENT);
}
#endif

#if IS_$KIND$_LOCAL // subdomains wait for each other's words
/** @param last   the solve before, of a subdomain that continues with its particles
 *  @param state  after that */
DEVICE void runLocal_$STAGE$(const Arguments* a, int c, bool isStopped, Solve* last, SubdomainState* state SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
#if $CONTINUES$
    const Worst start = continue_$STAGE$_Local(a, c, &solve, last, state SHARED_ARGUMENT);
#else
    *state = newSubdomainState();
    const Worst start = begin_$STAGE$_Local(a, c, &solve, state, true, isStopped SHARED_ARGUMENT);
#endif
    for (int round = 0; !state->isOver; round++)
        takeLocal(a, c, round, start, &solve, state SHARED_ARGUMENT);
#if $GOES_ON$
    *last = solve;
#else
    if (state->isStopped)
        return;
    IF_UNIFORM(!state->isHandedOver)
        finish_$STAGE$_Local(a, c, &solve, state SHARED_ARGUMENT);
#if HAS_WHOLE
    IF_UNIFORM(state->isHandedOver) {
        storeSubdomainState(a, c, state);
        AGAIN(again)
        leave_$STAGE$(again, c SHARED_ARGUMENT);
    }
#else
    if (state->isHandedOver || state->wasHandedOver)
        handOver(a, c, &solve);
#endif
#endif
}
#else
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    AGAIN(again)
    solveTogether_$STAGE$(again, c SHARED_ARGUMENT);
}
#endif
#else
/** A launch: round 0, 1, ..., or -1, the cluster as a whole where it is wanted, or -2, the end, in which no subdomain reads
 *  what another writes. What a subdomain keeps from launch to launch is in global memory. */
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    SubdomainState state = newSubdomainState();
    if (a->round != 0)
        state = loadSubdomainState(a, c);
    IF_UNIFORM(a->round >= 0 && !state.isOver) {
#if IS_$KIND$_LOCAL
        const Worst start = begin_$STAGE$_Local(a, c, &solve, &state, false, false SHARED_ARGUMENT);
#else
        const Report start = begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
#endif
        TAKE_$KIND$($SOLVE$)(a, c, a->round, start, &solve, &state SHARED_ARGUMENT);
        storeSubdomainState(a, c, &state);
    }
#if $WHOLE$
    end_$STAGE$(a, c, &solve, &state SHARED_ARGUMENT);
#endif
}
#endif
