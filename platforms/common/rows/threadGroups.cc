// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: rowThreads.cc
// Thread groups, each of which solves a cluster: a thread block, or a single thread for few rows. Threads of a group share
// loops over rows, entries and particles; every sum has one thread and a fixed order.
//
// No barrier is inside an `if`, because OpenCL on CPUs would compile all code after it twice: IF_UNIFORM is a loop there.
// Code that is not needed runs through empty loops instead.

/** Whether factors are in shared memory, and whether they are repeated in global memory, as `mixed`, where that does not do. */
#define HAS_SHARED (FACTOR_NUMBERS > 0)
#define FALLS_BACK (HAS_SHARED && MIXED_IS_DOUBLE)

/** Do what follows if all threads of a group find that a condition holds, and none otherwise. */
#ifdef __OPENCL_VERSION__
#define IF_UNIFORM(condition) for (int once = 0; once < (condition); once++)
#else
#define IF_UNIFORM(condition) if (condition)
#endif

#define EACH_ROW(row)                                                                                                  \
    for (int row = a->rowStart[c] + THREAD_IN_GROUP; row < a->solvedEnd[c]; row += THREAD_GROUP_SIZE)
#define EACH_PARTICLE(n)                                                                                               \
    for (int n = a->particleStart[c] + THREAD_IN_GROUP; n < a->particleStart[c + 1]; n += THREAD_GROUP_SIZE)

#define NO_ROW 0x7fffffff

/** Of a function that is called seldom, and takes no registers from what calls it. */
#ifdef __CUDACC_RTC__
#define APART __noinline__
#else
#define APART
#endif

#if GROUP_IS_BLOCK
#ifdef __OPENCL_VERSION__
#define GROUP_BOUNDS __attribute__((reqd_work_group_size(BLOCK_SIZE, 1, 1)))
#if SHARED_FLOATS > 0
#define DECLARE_NUMBERS                                                                                                \
    LOCAL long4 memory[SHARED_FLOATS / 8 + 1]; /* vectors, because subdomains keep these there, too */                 \
    LOCAL_ARG float* numbers = (LOCAL_ARG float*) memory;
#else
#define DECLARE_NUMBERS LOCAL_ARG float* numbers = 0;
#endif
#define DECLARE_MEMORY                                                                                                 \
    LOCAL Report reports[BLOCK_SIZE];                                                                                  \
    LOCAL int least;                                                                                                   \
    LOCAL int notes[NUM_NOTES];                                                                                        \
    DECLARE_NUMBERS
#define GROUP_MINIMUM(place, value) atomic_min(place, value)
#define GROUP_MAXIMUM(place, value) atomic_max(place, value)
#define FLOAT_BITS(x) as_int(x)
#define BITS_FLOAT(x) as_float(x)
#define DOUBLE_BITS(x) as_long(x)
#define BITS_DOUBLE(x) as_double(x)
#define GRID_ADD(place, value) atomic_add(place, value)
#define GRID_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE);
#else
#define GROUP_BOUNDS __launch_bounds__(BLOCK_SIZE, BLOCKS_TOGETHER)
#define DECLARE_MEMORY /* none that is declared: what takes turns in a block uses the same */                          \
    extern __shared__ int4 memory[];                                                                                   \
    LOCAL_ARG int* notes = (LOCAL_ARG int*) memory;                                                                    \
    LOCAL_ARG int& least = notes[NUM_NOTES];                                                                           \
    LOCAL_ARG float* numbers = (LOCAL_ARG float*) (notes + (NUM_NOTES + 4));                                           \
    LOCAL_ARG Report* reports = (LOCAL_ARG Report*) (numbers + REPORTS_AT);
#define GROUP_MINIMUM(place, value) atomicMin(place, value)
#define GROUP_MAXIMUM(place, value) atomicMax(place, value)
#define FLOAT_BITS(x) __float_as_int(x)
#define BITS_FLOAT(x) __int_as_float(x)
#define DOUBLE_BITS(x) __double_as_longlong(x)
#define BITS_DOUBLE(x) __longlong_as_double(x)
#define GRID_ADD(place, value) atomicAdd(place, value)
#define GRID_FENCE __threadfence();
#endif
#define NUM_NOTES 16
#define DECLARE_SHARED_MEMORY                                                                                          \
    DECLARE_MEMORY                                                                                                     \
    SharedMemory shared;                                                                                               \
    shared.arguments = a;                                                                                              \
    shared.reports = reports;                                                                                          \
    shared.least = &least;                                                                                             \
    shared.notes = notes;                                                                                              \
    shared.numbers = numbers;

/** Memory of a block. */
typedef struct {
    const Arguments* arguments;
    LOCAL_ARG Report* reports; // [BLOCK_SIZE]; in CUDA where a subdomain in shared memory has numbers
    LOCAL_ARG int* least;
    LOCAL_ARG int* notes; // of subdomains: subdomainExchange.cc
    LOCAL_ARG float* numbers; // [SHARED_FLOATS]
} SharedMemory;

/** Whether a report is worse than another. Among failed ones, the one of the first row is the worst. */
DEVICE bool isWorse(Report one, Report other) {
    const bool oneIsBad = one.outcome != Outcome_Converged, otherIsBad = other.outcome != Outcome_Converged;
    if (oneIsBad != otherIsBad)
        return oneIsBad;
    if (one.row < 0 || other.row < 0)
        return one.row >= 0;
    return !oneIsBad && one.error != other.error ? one.error > other.error : one.row < other.row;
}
#endif

#if GROUP_IS_BLOCK
/** Wait for the blocks that share a barrier: the last one to arrive releases all. The host ensures that they are on the
 *  device at the same time. Fences are those of cooperative groups: all threads can read afterwards the values that any
 *  of them wrote before. count[0]: blocks that have arrived, count[1]: how often all have */
DEVICE void blockBarrier(GLOBAL int* count, int blocks) {
    volatile GLOBAL int* rounds = count + 1;
    SYNC_THREADS
    if (LOCAL_ID == 0) {
        const int round = *rounds;
        GRID_FENCE
        if (GRID_ADD(count, 1) == blocks - 1) {
            GRID_ADD(count, -blocks);
            GRID_FENCE
            GRID_ADD(count + 1, 1);
        } else
            while (*rounds == round) {
                GRID_FENCE // where threads take turns (tests/emulator), another one runs now
            }
        GRID_FENCE
    }
    SYNC_THREADS
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

/** The report of the worst row, from the reports of all threads; all threads return it. It is a barrier, too: what any
 *  thread wrote before, all can read afterwards. */
DEVICE Report worstOf(Report mine SHARED_PARAMETER) {
#if GROUP_IS_BLOCK
    LOCAL_ARG Report* reports = shared.reports;
    const int thread = LOCAL_ID;
    SYNC_THREADS // all threads have read the result of the last call
    reports[thread] = mine;
    SYNC_THREADS
    // One thread of eight continues, then one of eight of these, and so on.
    for (int others = BLOCK_SIZE; others > 1;) {
        const int threads = (others + 7) / 8;
        for (int other = thread + threads; thread < threads && other < others; other += threads)
            if (isWorse(reports[other], mine))
                mine = reports[other];
        if (thread < threads)
            reports[thread] = mine;
        others = threads;
        SYNC_THREADS
    }
    return reports[0];
#else
    return mine;
#endif
}

/** The least value of all threads, or NO_ROW; all threads return it. A barrier is required before the next call. */
DEVICE int leastOf(int mine SHARED_PARAMETER) {
#if GROUP_IS_BLOCK
    LOCAL_ARG int* least = shared.least;
    if (THREAD_IN_GROUP == 0)
        *least = NO_ROW;
    THREAD_GROUP_SYNC
    if (mine < NO_ROW)
        GROUP_MINIMUM(least, mine);
    THREAD_GROUP_SYNC
    return *least;
#else
    return mine;
#endif
}

DEVICE void writeGroupReport(const Arguments* a, int solve, int c, Report report) {
    if (THREAD_IN_GROUP == 0)
        writeReport(a, solve, a->firstCluster + c, report);
}
