// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc
// What subdomains leave to their cluster as a whole, with rows that are General, as one subdomain without halo. Without
// SOLVES_WHOLE a test sees whether anything was left: it has no solution then.

/** All rounds of a cluster in one piece. */
DEVICE void solve_$STAGE$(const Arguments* a, int c, bool isWanted SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    SubdomainState state = newSubdomainState();
    state.isOver = !isWanted;
    Report start = newReport();
    IF_UNIFORM(isWanted)
        start = begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
    for (int round = 0; !state.isOver; round++) {
        take_$SOLVE$_General(a, c, round, start, &solve, &state SHARED_ARGUMENT);
        THREAD_GROUP_SYNC
    }
    if (isWanted)
        storeSubdomainState(a, c, &state);
}

#if !WAITS
/** A launch after those of rounds: -1, the whole cluster where it is wanted, or -2, the end. */
DEVICE void end_$STAGE$(const Arguments* a, int c, const Solve* solve, SubdomainState* state SHARED_PARAMETER) {
    const int4 subdomains = a->subdomainsOfCluster[c];
#if IS_$KIND$_LOCAL || !$ROUNDS$ // what a subdomain found in shared memory is lost
    IF_UNIFORM(a->round == -1 && state->isHandedOver)
        begin_$STAGE$_General(a, c, solve, state SHARED_ARGUMENT);
#endif
    solve_$STAGE$(a, subdomains.z, SOLVES_WHOLE && a->round == -1 && state->isHandedOver && subdomains.x == c SHARED_ARGUMENT);
    IF_UNIFORM(a->round == -2) {
        adopt_$STAGE$_General(a, c, solve, state->isHandedOver SHARED_ARGUMENT);
        finish_$STAGE$_General(a, c, solve, state, true SHARED_ARGUMENT);
    }
}
#endif

// No subdomain of a cluster that was handed over has moved anything by then.
#if WAITS && IS_$KIND$_LOCAL && HAS_WHOLE

/** For a subdomain that handed over. A function apart, so that the rounds need no registers for it. */
DEVICE APART void leave_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    const int4 subdomains = a->subdomainsOfCluster[c];
    Solve solve = describe_$SOLVE$(a);
    SubdomainState state = loadSubdomainState(a, c);
    begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
    solve_$STAGE$(a, subdomains.z, SOLVES_WHOLE && subdomains.x == c SHARED_ARGUMENT);
    WAIT_FOR_SUBDOMAINS(c)
    adopt_$STAGE$_General(a, c, &solve, true SHARED_ARGUMENT);
    finish_$STAGE$_General(a, c, &solve, &state, false SHARED_ARGUMENT);
}
#endif

// Where subdomains with joined bodies are in shared memory and are launched for each round, this has kernels of its own: in one
// with both, the compiler would run out of registers.
#if !WAITS && !$ROUNDS$
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    SubdomainState state = loadSubdomainState(a, c);
    end_$STAGE$(a, c, &solve, &state SHARED_ARGUMENT);
}
#endif
