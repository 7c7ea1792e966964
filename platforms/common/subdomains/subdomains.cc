// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: solves.cc
// needs if HAS_JOINTS: joinedBodies.cc
// Large clusters in overlapping subdomains (core/graph/Subdomain.h), a thread block each. In every round a subdomain solves its
// own rows and its halo for the residuals at the present displacements, and writes the total multipliers of its own rows where
// all subdomains read them: restricted additive Schwarz within Newton's method. All subdomains compute the displacement of a
// particle from the same multipliers in the same order, so residuals are the true ones, and impulses of a row add up to
// nothing. What the rows of a subdomain were found to be goes through the same exchange: all subdomains decide alike. The last
// round may be one of which a subdomain tells nobody (endsIn() in subdomainExchange.cc).
//
// Between two rounds all subdomains of a cluster have to be done: they wait for each other (WAITS), or a round is a launch. A
// round begins with what the one before left in global memory, so both compute the same bits. A cluster whose subdomains do
// not converge after MOST_CORRECTIONS, or fail, is solved as a whole by the first subdomain's block, as one subdomain without
// halo.
//
// Functions are General, for rows and a factor in global memory (HAS_ROWS), or Local, for those in shared memory
// (subdomainLocal.cc).
// HAS_WHOLE: whether what Local subdomains leave to their cluster is solved; if not, the host takes the step again with a text
// that has it.

// The whole cluster is General, and so are subdomains that do not fit into shared memory, and solves that are not of Local
// subdomains.
#define IS_General_LOCAL 0
#define IS_Local_LOCAL 1

#if IS_SPLIT
#define WAIT_FOR_SUBDOMAINS(c)                                                                                         \
    blockBarrier(a->subdomainBarriers + 2 * a->subdomainsOfCluster[c].x,                                               \
                 a->subdomainsOfCluster[c].y - a->subdomainsOfCluster[c].x);
#else
#define WAIT_FOR_SUBDOMAINS(c) SYNC_THREADS
#endif

#define EACH_ROW_OR_RING(row)                                                                                          \
    for (int row = a->rowStart[c] + THREAD_IN_GROUP; row < a->rowStart[c + 1]; row += THREAD_GROUP_SIZE)
#define IS_OWN(row) (a->rowOwner[row] == (row))

#define TAKE_General(solve) take_##solve##_General
#define TAKE_Local(solve) takeLocal

/** If no row that a subdomain solves has an error above this part of the tolerance, it leaves out a correction that others may
 *  need. */
#define NEGLIGIBLE_PART 0.5f

/** Second reports of a round: a row whose gradient has turned, or whose pivot has vanished. */
#define TURNED 1
#define VANISHED 2

/** The Arguments for functions APART: in shared memory, or the compiler would write them to memory before the first round.
 *  Others may still read what was decided by. */
#ifdef __OPENCL_VERSION__
#define AGAIN(again)                                                                                                   \
    THREAD_GROUP_SYNC                                                                                                  \
    const Arguments values = readAgain(a), *again = &values;
#else
#define ARGUMENTS_AT ((FACTOR_NUMBERS + 7) / 8 * 8) // ThreadGroup::argumentsAt()
DEVICE const Arguments* argumentsAgain(const Arguments* a SHARED_PARAMETER) {
    Arguments* again = (Arguments*) (shared.numbers + ARGUMENTS_AT);
    THREAD_GROUP_SYNC // others may still write numbers of the subdomain, as those of bodies
    if (THREAD_IN_GROUP == 0)
        *again = readAgain(a);
    THREAD_GROUP_SYNC
    return again;
}
#define AGAIN(again)                                                                                                   \
    const Arguments* again = argumentsAgain(a SHARED_ARGUMENT);                                                        \
    shared.arguments = again;
#endif

/** What a subdomain knows from round to round. */
typedef struct {
    bool isOver;        // the solve, for all subdomains of the cluster
    bool isHandedOver;  // to the cluster as a whole
    bool wasHandedOver; // by an earlier solve of the launch
    bool isLast;        // the round: see endsIn()
    bool isStopped;     // an earlier launch failed
    int iterations;     // corrections that all subdomains have made
    bool usesShared;    // the factor in shared memory, which has single precision
    bool hasFactor;     // of a matrix that is constant
    mixed lastError;    // of its own rows
    mixed lastLargest;  // of the cluster
    // subdomainExchange.cc:
    int firstSubdomain, lastSubdomain; // of the cluster
    int firstStamp;                    // before those of a solve's rounds
    int lastRound;                     // before the one that decided
    int foundKey, foundRow;            // of the subdomains that a thread asks, the largest error and its row
    float tolerance, lastFound;
} SubdomainState;

DEVICE SubdomainState newSubdomainState() {
    SubdomainState state;
    state.isOver = state.isHandedOver = state.wasHandedOver = state.isLast = state.isStopped = false;
    state.iterations = 0;
    state.usesShared = true;
    state.hasFactor = false;
    state.lastError = INFINITE_ERROR;
    state.lastLargest = INFINITE_ERROR;
    state.firstSubdomain = state.lastSubdomain = state.firstStamp = state.lastRound = 0;
    state.foundKey = state.foundRow = -1;
    state.tolerance = 0;
    state.lastFound = INFINITE_ERROR;
    return state;
}

DEVICE SubdomainState loadSubdomainState(const Arguments* a, int c) {
    SubdomainState state = newSubdomainState();
    const int4 numbers = a->subdomainState[c];
    state.isOver = numbers.x != 0;
    state.iterations = numbers.y;
    state.isHandedOver = numbers.z != 0;
    state.usesShared = numbers.w != 0;
    state.lastError = a->subdomainErrorsBefore[c].x;
    state.lastLargest = a->subdomainErrorsBefore[c].y;
    state.lastFound = state.lastLargest;
    return state;
}

DEVICE void storeSubdomainState(const Arguments* a, int c, const SubdomainState* state) {
    if (THREAD_IN_GROUP != 0)
        return;
    a->subdomainState[c] = make_int4(state->isOver, state->iterations, state->isHandedOver, state->usesShared);
    mixed2 errors;
    errors.x = state->lastError;
    errors.y = state->lastLargest;
    a->subdomainErrorsBefore[c] = errors;
}

// ---- rounds ------------------------------------------------------------------------------------------------------------

/** The node of a place in the list of a subdomain's particles. */
#define NODE_OF_PLACE(n) (a->firstPlace + (n))

/** Take up what a subdomain's particle is before the solve. */
DEVICE void takeParticleGeneral(const Arguments* a, int c, int n, const Particle* p) {
    mixed4 v;
    v.x = p->v.x;
    v.y = p->v.y;
    v.z = p->v.z;
    v.w = p->w;
    storeDisplacement(a, NODE_OF_PLACE(n), p->d);
    a->placeVelocity[n] = v;
    store3(a->impulse, NODE_OF_PLACE(n), make_mixed3(0, 0, 0));
}

#if HAS_JOINTS
/** Take up what a joined body is before the solve: its copy is displaced as it is. */
DEVICE void takeNode(const Arguments* a, int n) {
    a->displacement[NODE_OF_PLACE(n)] = a->displacement[a->clusterParticle[n]];
    store3(a->impulse, NODE_OF_PLACE(n), make_mixed3(0, 0, 0));
}

/** Copy what a solve changes of a body. */
DEVICE void copyBody(const Arguments* a, int from, int to) {
    for (int which = BodyVector_Rotation; which <= BodyVector_Motion3; which++)
        setBodyVector(a, to, which, bodyVector(a, from, which));
}
#endif

/** Write the report of a solve, as one thread: each subdomain writes it, and the first one for the cluster as a whole. */
DEVICE void writeSubdomainReport(const Arguments* a, int c, const Solve* solve, Report report) {
    const int4 subdomains = a->subdomainsOfCluster[c];
    const bool isFirst = subdomains.x == c && subdomains.z != c;
#pragma unroll 1 // one place for all that this compiles to
    for (int n = 0; n <= isFirst; n++)
        writeReport(a, solve->solve, a->firstCluster + (n == 0 ? c : subdomains.z), report);
}

#if HAS_ROWS
/** Take the present positions as the start of all rows, the ring's too.
 *  @return the first own row of this thread that has no gradient */
DEVICE Report startRowsGeneral(const Arguments* a, int c SHARED_PARAMETER) {
    Report mine = newReport(), ofOthers = newReport();
#if HAS_JOINTS
    EACH_BODY(b) copyBody(a, bodyOf(a, b), b);
    THREAD_GROUP_SYNC
#endif
    EACH_ROW_OR_RING(row) {
        a->total[row] = 0;
        noteStart(a, row, IS_OWN(row) ? &mine : &ofOthers);
    }
    return mine;
}

/** Total multipliers of the first `iterations` corrections, and the impulses by them, also of the ring:
 *  impulse_i = 1/m_i sum_k Lambda_k grad_i sigma_k(0). All rows of a particle are among a subdomain's.
 *  @param isOfWhole  corrections of the cluster as a whole, or of its subdomains */
DEVICE APART void applyGeneral(const Arguments* a, int c, const Solve* solve, bool isOfWhole, int iterations,
                         bool isWanted SHARED_PARAMETER) {
    GLOBAL const int* rows = isOfWhole ? a->rowWhole : a->rowOwner;
    GLOBAL const mixed* exchanged = a->exchange + ((iterations + 1) & 1) * a->numRows;
    EACH_ROW_OR_RING(row) if (isWanted)
        a->total[row] = iterations > 0 ? exchanged[rows[row]] : 0;
    THREAD_GROUP_SYNC
    EACH_PARTICLE(n) if (isWanted) {
        mixed3 sum = make_mixed3(0, 0, 0);
        mixed w = 0;
        for (int m = a->particleSlotStart[n]; m < a->particleSlotStart[n + 1]; m++) {
            const int slot = a->particleSlot[m];
            sum = sum + a->total[ROW_OF(slot)] * gradientAt(a->startGradient, slot);
            w = inverseMassOf(a, slot);
        }
        store3(a->impulse, NODE_OF_PLACE(n), w * sum);
    }
    THREAD_GROUP_SYNC
#if HAS_JOINTS
    displaceBodies(a, c, solve->what == POSITIONS && isWanted);
#endif
}

/** Write what a subdomain found in a round, for all subdomains of its cluster. */
DEVICE void writeFound(const Arguments* a, int c, int buffer, Report first, Report second) {
    if (THREAD_IN_GROUP != 0)
        return;
    const int place = buffer * a->numGeneralClusters + c;
    mixed4 errors;
    errors.x = first.error;
    errors.y = first.value;
    errors.z = second.error;
    errors.w = second.value;
    a->subdomainErrors[place] = errors;
    a->subdomainRows[place] = make_int4(first.outcome, first.row, second.outcome, second.row);
}

DEVICE Report makeReport(int outcome, int row, mixed error, mixed value) {
    Report report = newReport();
    report.outcome = outcome;
    report.row = row;
    report.error = error;
    report.value = value;
    return report;
}

DEVICE Report worseOf(Report one, Report other) {
    if (isWorse(one, other))
        return one;
    return other;
}

/** The worst of what all subdomains of a cluster found in a round. */
DEVICE void readFound(const Arguments* a, int c, int buffer, bool isWanted, Report* first,
                      Report* second SHARED_PARAMETER) {
    const int4 subdomains = a->subdomainsOfCluster[c];
    Report mine[2];
    mine[0] = mine[1] = newReport();
    for (int s = subdomains.x + THREAD_IN_GROUP; isWanted && s < subdomains.y; s += THREAD_GROUP_SIZE) {
        const int place = buffer * a->numGeneralClusters + s;
        const mixed4 errors = a->subdomainErrors[place];
        const int4 rows = a->subdomainRows[place];
        mine[0] = worseOf(makeReport(rows.x, rows.y, errors.x, errors.y), mine[0]);
        mine[1] = worseOf(makeReport(rows.z, rows.w, errors.z, errors.w), mine[1]);
    }
    *first = worstOf(mine[0] SHARED_ARGUMENT);
    *second = worstOf(mine[1] SHARED_ARGUMENT);
}

/** The buffer of what was measured; rounds of corrections use 0 and 1 in turns. */
#define MEASURED 2

/** Decide whether a solve ends after so many corrections, from what all subdomains found with them.
 *  @param handsOver  whether the cluster is then solved as a whole, if subdomains fail or are too slow */
DEVICE void decide(const Arguments* a, const Solve* solve, SubdomainState* state, int iterations, bool handsOver,
                   Report* report, Report second) {
    report->iterations = state->iterations = iterations;
    const bool isLinear = solve->what == ACCELERATIONS || solve->what == RESPONSES;
    // At least one correction: errors below the tolerance would otherwise have the same sign in every step.
    const bool isSolved = report->outcome == Outcome_Converged &&
                          (report->error == 0 || (report->error <= solve->tolerance && iterations > 0));
    // The rounding of a linear problem is not corrected.
    const bool isStuck = isLinear && report->error < LINEAR_ROUNDING && report->error > 0.5f * state->lastLargest;
    state->lastLargest = report->error;
    if (report->outcome == Outcome_Converged && (isSolved ? second.error == TURNED : second.error == VANISHED)) {
        report->outcome = Outcome_Singular; // after a turn the solution may be a wrong root
        report->row = second.row;
    } else if (report->outcome == Outcome_Converged && !isSolved && (isStuck || iterations == a->maxIterations))
        report->outcome = Outcome_NotConverged;
    const bool isTooSlow = !isSolved && handsOver && iterations >= MOST_CORRECTIONS;
    state->isOver = isSolved || isTooSlow || report->outcome != Outcome_Converged;
    state->isHandedOver = handsOver && (isTooSlow || report->outcome != Outcome_Converged);
}

/** Copy the report of a cluster that was solved as a whole. */
DEVICE void copyReport(const Arguments* a, int c, const Solve* solve) {
    if (THREAD_IN_GROUP != 0)
        return;
    const int first = (a->bufferIndex * numStepSolves + solve->solve) * a->numClusters + a->firstCluster,
              from = first + a->subdomainsOfCluster[c].z;
    a->reportErrors[first + c] = a->reportErrors[from];
    a->reportRows[first + c] = a->reportRows[from];
}

/** -sigma of all rows of a subdomain, its halo included, and the errors of its own ones. */
DEVICE APART void evaluateGeneral(const Arguments* a, int c, const Solve* solve, int iterations, bool isWanted,
                            Report* first, Report* second SHARED_PARAMETER) {
    EACH_ROW(row) if (isWanted) {
        mixed error, value;
        a->change[row] = -residual(a, row, solve->what, solve->time, solve->timeScale, &error, &value);
        if (!IS_OWN(row))
            continue;
        note(first, row, error, value);
        if (solve->what == POSITIONS && iterations > 0 && hasTurned(a, row))
            note(second, row, TURNED, 0);
    }
}

/** Whether a factor fits into shared memory: that of a whole cluster may not, while those of its subdomains do. */
DEVICE bool fitsShared(const Arguments* a, int c) {
    return 2 * (a->solvedEnd[c] - a->rowStart[c] + a->entryStart[c + 1] - a->entryStart[c]) <= FACTOR_NUMBERS;
}

/** change <- A^-1 change for the rows of a subdomain; of their halo, the rest of the cluster is taken as corrected already.
 *  @return the first row whose pivot vanished, or NO_ROW */
DEVICE APART int correctGeneral(const Arguments* a, int c, const Solve* solve, int iterations,
                          SubdomainState* state SHARED_PARAMETER) {
    GLOBAL const mixed* gradients = solve->what == POSITIONS ? a->gradient : a->startGradient;
    const bool factorizes = solve->what == POSITIONS || !state->hasFactor;
    int singular = NO_ROW;
    state->usesShared = state->usesShared && fitsShared(a, c);
#if HAS_SHARED
    const bool triesShared = state->usesShared;
    singular = correctShared(a, c, gradients, factorizes, triesShared, sharedFactor(a, c, shared) SHARED_ARGUMENT);
#if FALLS_BACK
    const bool isRepeated = triesShared && singular != NO_ROW;
    IF_UNIFORM(isRepeated) {
        Report ignored[2];
        ignored[0] = ignored[1] = newReport();
        evaluateGeneral(a, c, solve, iterations, true, &ignored[0], &ignored[1] SHARED_ARGUMENT);
        state->usesShared = state->hasFactor = false;
        THREAD_GROUP_SYNC // gradients were written again
    }
#endif
#endif
#if HAS_GLOBAL
    const int inMemory = correctGlobal(a, c, gradients, solve->what == POSITIONS || !state->hasFactor,
                                       !state->usesShared, globalFactor(a, c) SHARED_ARGUMENT);
    singular = state->usesShared ? singular : inMemory;
#endif
    state->hasFactor = singular == NO_ROW;
    return singular;
}
#endif
