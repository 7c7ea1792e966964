// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Teams that serve a cluster each: a thread block or, for small clusters, a single thread. Members of a team share loops
// over rows, entries and particles; every sum has one member and a fixed order.
//
// TEAM_MEMBER, TEAM_SIZE, TEAM_SYNC and TEAM_SHARED are what the host compiles this text with. No barrier stands inside
// an `if`: OpenCL on CPUs would compile all that follows twice. What is not wanted runs through empty loops instead.

#define EACH_ROW(row) for (int row = a->rowStart[c] + TEAM_MEMBER; row < a->rowStart[c + 1]; row += TEAM_SIZE)
#define EACH_PARTICLE(n)                                                                                               \
    for (int n = a->particleStart[c] + TEAM_MEMBER; n < a->particleStart[c + 1]; n += TEAM_SIZE)

#define NO_ROW 0x7fffffff

#if TEAM_IS_BLOCK
#ifdef __OPENCL_VERSION__
#define TEAM_BOUNDS __attribute__((reqd_work_group_size(TEAM_SIZE, 1, 1)))
#define DECLARE_NUMBERS LOCAL float numbers[FACTOR_NUMBERS];
#else
#define TEAM_BOUNDS __launch_bounds__(TEAM_SIZE, 512 / TEAM_SIZE)
#define DECLARE_NUMBERS extern __shared__ float numbers[];
#endif
#if !HAS_SHARED
#undef DECLARE_NUMBERS
#define DECLARE_NUMBERS LOCAL_ARG float* numbers = 0;
#endif
#define DECLARE_SHARED_MEMORY                                                                                          \
    LOCAL Report reports[TEAM_SIZE];                                                                                   \
    LOCAL int least;                                                                                                   \
    DECLARE_NUMBERS                                                                                                    \
    SharedMemory shared;                                                                                               \
    shared.reports = reports;                                                                                          \
    shared.least = &least;                                                                                             \
    shared.numbers = numbers;

/** Memory of a block. */
typedef struct {
    LOCAL_ARG Report* reports; // [TEAM_SIZE]
    LOCAL_ARG int* least;
    LOCAL_ARG float* numbers; // [FACTOR_NUMBERS]
} SharedMemory;

DEVICE void atomicMinimumInBlock(LOCAL_ARG int* place, int value) {
#ifdef __OPENCL_VERSION__
    atomic_min(place, value);
#else
    atomicMin(place, value);
#endif
}

/** Whether a report is worse than another. Of those that failed, the one of the first row counts. */
DEVICE bool isWorse(Report one, Report other) {
    const bool oneIsBad = one.outcome != CONVERGED, otherIsBad = other.outcome != CONVERGED;
    if (oneIsBad != otherIsBad)
        return oneIsBad;
    if (one.row < 0 || other.row < 0)
        return one.row >= 0;
    return !oneIsBad && one.error != other.error ? one.error > other.error : one.row < other.row;
}
#endif

/** Three numbers of a table: the host packs the first two into one int if all fit. */
#if SHORT_NUMBERS
DEVICE int4 tripleOf(int2 packed) {
    return make_int4(packed.x & 0xffff, (int) ((unsigned int) packed.x >> 16), packed.y, 0);
}
#else
DEVICE int4 tripleOf(int4 triple) {
    return triple;
}
#endif

/** The report of the worst row, from what each member has seen. Every member gets it. */
DEVICE Report worstOf(Report mine TEAM_SHARED_PARAMETER) {
#if TEAM_IS_BLOCK
    TEAM_SYNC
    shared.reports[TEAM_MEMBER] = mine;
    TEAM_SYNC
    // One of eight goes on, then one of these eight, and so on.
    for (int others = TEAM_SIZE; others > 1;) {
        const int members = (others + 7) / 8;
        for (int member = TEAM_MEMBER + members; TEAM_MEMBER < members && member < others; member += members)
            if (isWorse(shared.reports[member], mine))
                mine = shared.reports[member];
        if (TEAM_MEMBER < members)
            shared.reports[TEAM_MEMBER] = mine;
        others = members;
        TEAM_SYNC
    }
    return shared.reports[0];
#else
    return mine;
#endif
}

/** The least of what members have, or NO_ROW. Every member gets it. A barrier has to follow before the next one. */
DEVICE int leastOf(int mine TEAM_SHARED_PARAMETER) {
#if TEAM_IS_BLOCK
    if (TEAM_MEMBER == 0)
        *shared.least = NO_ROW;
    TEAM_SYNC
    if (mine < NO_ROW)
        atomicMinimumInBlock(shared.least, mine);
    TEAM_SYNC
    return *shared.least;
#else
    return mine;
#endif
}

DEVICE void writeTeamReport(const Arguments* a, int stage, int c, Report report) {
    if (TEAM_MEMBER == 0)
        writeReport(a, stage, a->firstCluster + c, report,
                    report.row < 0 ? -1 : a->slotParticle[a->slotStart[report.row]]);
}

/** impulse_i += 1/m_i sum_k change_k grad_i sigma_k(0) over the rows of each particle */
DEVICE void addImpulses(const Arguments* a, int c, GLOBAL const mixed* change, bool isWanted) {
    EACH_PARTICLE(n) if (isWanted) {
        const int i = a->clusterParticle[n];
        mixed3 sum = make_mixed3(0, 0, 0);
        for (int m = a->meetingStart[n]; m < a->meetingStart[n + 1]; m++) {
            const int slot = a->meetingSlot[m];
            sum = sum + change[a->slotRow[slot]] * load3(a->startGradient, slot);
        }
        store3(a->impulse, i, load3(a->impulse, i) + a->velm[i].w * sum);
    }
    TEAM_SYNC
}
