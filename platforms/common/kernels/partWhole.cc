// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What parts leave to their cluster as a whole, with rows that are General, as one part without halo. Without SOLVES_WHOLE
// a test sees whether anything was left: it has no solution then.

/** All rounds of a cluster in one piece. */
DEVICE void solve_$STAGE$(const Arguments* a, int c, bool isWanted SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    PartState state = newPartState();
    state.isOver = !isWanted;
    Report start = newReport();
    IF_UNIFORM(isWanted)
        start = begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
    for (int round = 0; !state.isOver; round++) {
        take_$SOLVE$_General(a, c, round, start, &solve, &state SHARED_ARGUMENT);
        THREAD_GROUP_SYNC
    }
    if (isWanted)
        storePartState(a, c, &state);
}

#if !WAITS
/** A launch after those of rounds: -1, the whole cluster where it is wanted, or -2, the end. */
DEVICE void end_$STAGE$(const Arguments* a, int c, const Solve* solve, PartState* state SHARED_PARAMETER) {
    const int4 parts = a->partsOfCluster[c];
#if IS_$KIND$_LOCAL || !$ROUNDS$ // what a part found in shared memory is lost
    IF_UNIFORM(a->round == -1 && state->isHandedOver)
        begin_$STAGE$_General(a, c, solve, state SHARED_ARGUMENT);
#endif
    solve_$STAGE$(a, parts.z, SOLVES_WHOLE && a->round == -1 && state->isHandedOver && parts.x == c SHARED_ARGUMENT);
    IF_UNIFORM(a->round == -2) {
        adopt_$STAGE$_General(a, c, solve, state->isHandedOver SHARED_ARGUMENT);
        finish_$STAGE$_General(a, c, solve, state, true SHARED_ARGUMENT);
    }
}
#endif

// No part of a cluster that was handed over has moved anything by then.
#if WAITS && IS_$KIND$_LOCAL && HAS_WHOLE
#if TAKES_BODIES
/** Sum up the bodies that a part moves, as kernels do for those that no part takes up (joinedStages.cc). */
DEVICE void joinBodies_$STAGE$(const Arguments* a, int c) {
    EACH_BODY(copy) if (ownsBody(a, copy)) {
        Body body = loadBody(a, FIRST_JOINED + bodyOf(a, copy));
        body.at = positionOf(a, body.reference);
        BodySums sums = noSums();
        EACH_BODY_PLACE(place) {
            const int i = a->bodyParticle[place];
            Particle p = loadParticle(a, i);
            p.c = make_mixed3(0, 0, 0);
$BEFORE$            storeParticle(a, i, &p);
            take_$SOLVE$(a, &body, place, i, &p, &sums);
        }
        join_$SOLVE$(a, &body, &sums);
    }
}

/** Move the particles of the bodies that a part moves. */
DEVICE void moveBodies_$STAGE$(const Arguments* a, int c) {
    EACH_BODY(copy) if (ownsBody(a, copy)) {
        const int number = FIRST_JOINED + bodyOf(a, copy);
        for (int place = a->bodyStart[number]; place < a->bodyStart[number + 1]; place++) {
            Body body = bodyOfPlace(a, place);
            const int i = a->bodyParticle[place];
            Particle p = loadParticle(a, i);
            p.c = make_mixed3(0, 0, 0);
            finish_$SOLVE$(a, &body);
            move_$SOLVE$(a, &body, place, i, &p);
$AFTER$            storeParticle(a, i, &p);
        }
    }
}
#endif

/** For a part that handed over. A function apart, so that the rounds need no registers for it. */
DEVICE APART void leave_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    const int4 parts = a->partsOfCluster[c];
    Solve solve = describe_$SOLVE$(a);
    PartState state = loadPartState(a, c);
#if TAKES_BODIES
    joinBodies_$STAGE$(a, c);
    WAIT_FOR_PARTS(c)
#endif
    begin_$STAGE$_General(a, c, &solve, &state SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
    solve_$STAGE$(a, parts.z, SOLVES_WHOLE && parts.x == c SHARED_ARGUMENT);
    WAIT_FOR_PARTS(c)
    adopt_$STAGE$_General(a, c, &solve, true SHARED_ARGUMENT);
    finish_$STAGE$_General(a, c, &solve, &state, false SHARED_ARGUMENT);
#if TAKES_BODIES
    THREAD_GROUP_SYNC
    moveBodies_$STAGE$(a, c);
#endif
}
#endif

// Where parts with joined bodies are in shared memory and are launched for each round, this has kernels of its own: in one
// with both, the compiler would run out of registers.
#if !WAITS && !$ROUNDS$
DEVICE void run_$STAGE$(const Arguments* a, int c SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    PartState state = loadPartState(a, c);
    end_$STAGE$(a, c, &solve, &state SHARED_ARGUMENT);
}
#endif
