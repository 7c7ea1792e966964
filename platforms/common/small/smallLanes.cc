// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc
// Small clusters: a thread for each particle, those of a cluster side by side in a block. Every thread loads its particle
// and shows the others of its cluster what they need; each solves the cluster by itself (smallClusters.cc), and takes
// what the solve gives its own particle. So each particle is loaded and stored once in a stage, next to its neighbours.

#ifdef __OPENCL_VERSION__
#define SMALL_BOUNDS __attribute__((reqd_work_group_size(SMALL_BLOCK, 1, 1)))
#else
#define SMALL_BOUNDS __launch_bounds__(SMALL_BLOCK, 4)
#endif

// In a launch that has other clusters, too, a block of threads has several blocks of small clusters side by side.
#if SMALL_BLOCKS_TOGETHER > 1
#define SMALL_LANE ((int) LOCAL_ID % SMALL_BLOCK)
#define SMALL_PLACE ((int) LOCAL_ID / SMALL_BLOCK)
#define DECLARE_SHOWN                                                                                                  \
    extern __shared__ int4 memory[];                                                                                   \
    LOCAL_ARG mixed* shown = (LOCAL_ARG mixed*) memory + SMALL_PLACE * (NUM_SHOWN * SMALL_BLOCK);
#else
#define SMALL_LANE ((int) LOCAL_ID)
#define SMALL_PLACE 0
#define DECLARE_SHOWN LOCAL mixed shown[NUM_SHOWN * SMALL_BLOCK];
#endif
/** All threads of a block take as many turns. */
#define EACH_SMALL_BLOCK(block)                                                                                        \
    for (int firstBlock = a->firstOfRange + SMALL_BLOCKS_TOGETHER * (int) GROUP_ID, block = firstBlock + SMALL_PLACE;  \
         firstBlock < a->lastOfRange; firstBlock += SMALL_BLOCKS_TOGETHER * (int) NUM_GROUPS,                          \
             block += SMALL_BLOCKS_TOGETHER * (int) NUM_GROUPS)

/** What a thread has to do in a block. */
typedef struct {
    int index;   // of its particle; -1: it has none
    bool isOwn;  // it takes the particle's step: an immovable one may be in several clusters, and has a thread of its own
    int shape;   // of its cluster; -1: the particle is in none
    int role;    // place of the particle in its cluster
    int block;
    int4 place;  // of the clusters of its shape: first block, cluster and row
    LOCAL_ARG mixed* shown; // to other threads: of this one, SMALL_BLOCK apart
} Lane;

// What is shown: position, inverse mass, lengths of one or two rows; then one or two vectors, which a solve changes.
#define SHOWN_POSITION 0
#define SHOWN_INVERSE_MASS 3
#define SHOWN_LENGTH 4
#define SHOWN_VECTOR (SHOWN_LENGTH + LENGTHS_OF_LANE)
#define SHOWN_SECOND (SHOWN_VECTOR + 3)
#define NUM_SHOWN (SHOWN_SECOND + 3)

DEVICE void show(const Lane* lane, int n, mixed3 v) {
    lane->shown[SMALL_BLOCK * n] = v.x;
    lane->shown[SMALL_BLOCK * (n + 1)] = v.y;
    lane->shown[SMALL_BLOCK * (n + 2)] = v.z;
}

/** What the i-th particle of the thread's cluster shows. */
DEVICE mixed3 shownBy(const Lane* lane, int i, int n) {
    LOCAL_ARG const mixed* shown = lane->shown + (i - lane->role) + SMALL_BLOCK * n;
    return make_mixed3(shown[0], shown[SMALL_BLOCK], shown[2 * SMALL_BLOCK]);
}

DEVICE mixed inverseMassShown(const Lane* lane, int i) {
    return lane->shown[(i - lane->role) + SMALL_BLOCK * SHOWN_INVERSE_MASS];
}

/** q - length by half of q^2 - length^2. */
DEVICE number excessOf(number length, number f, number* q) {
    *q = sqrt(fabs(length * length + 2 * f)); // NaN stays NaN
    return 2 * f / (*q + length);
}

DEVICE Lane laneOf(const Arguments* a, int block, LOCAL_ARG mixed* shown) {
    int2 entry;
    entry.x = 0;
    entry.y = -1;
    if (SMALL_BLOCKS_TOGETHER == 1 || block < a->lastOfRange)
        entry = a->smallLanes[block * SMALL_BLOCK + SMALL_LANE];
    Lane lane;
    lane.isOwn = entry.x >= 0;
    lane.index = entry.x < 0 ? ~entry.x : entry.x;
    lane.shape = (entry.y >> 4) - 1;
    lane.role = entry.y & 15;
    lane.block = block;
    lane.place = a->smallPlaces[max(lane.shape, 0)];
    lane.shown = shown + SMALL_LANE;
    if (entry.y < 0) {
        lane.index = lane.shape = -1;
        lane.isOwn = false;
    }
    return lane;
}

/** Store a vector of each thread's particle. In CUDA one of doubles goes in two halves: threads side by side swap them, so
 *  that each store fills whole sectors of 32 bytes. */
DEVICE void storeOfLanes(GLOBAL mixed4* to, const Lane* lane, bool isWanted, mixed4 v) {
#if !defined(__OPENCL_VERSION__) && MIXED_IS_DOUBLE
    const bool isOdd = (SMALL_LANE & 1) != 0;
    const int own = isWanted ? lane->index : -1, others = __shfl_xor_sync(0xffffffff, own, 1);
    const double x = __shfl_xor_sync(0xffffffff, isOdd ? v.x : v.z, 1);
    const double y = __shfl_xor_sync(0xffffffff, isOdd ? v.y : v.w, 1);
    const int even = isOdd ? others : own, odd = isOdd ? own : others;
    double2* halves = (double2*) to + isOdd;
    if (even >= 0)
        halves[2 * even] = make_double2(isOdd ? x : v.x, isOdd ? y : v.y);
    if (odd >= 0)
        halves[2 * odd] = make_double2(isOdd ? v.z : x, isOdd ? v.w : y);
#else
    if (isWanted)
        to[lane->index] = v;
#endif
}

/** As keepVelocity() and storeVelocity(), by all threads. */
DEVICE void keepVelocityOfLanes(const Arguments* a, const Lane* lane, const Particle* p) {
    storeOfLanes(a->startVelm, lane, lane->isOwn, p->velm);
}

DEVICE void storeVelocityOfLanes(const Arguments* a, const Lane* lane, const Particle* p) {
    storeOfLanes(a->velm, lane, lane->isOwn && p->w > 0, withFourth(p->v, p->w));
}

/** Load the particle of a thread, and show it to others. */
DEVICE Particle takeParticle(const Arguments* a, const Lane* lane) {
    Particle p;
    p.f = p.v = p.d = p.c = make_mixed3(0, 0, 0);
    p.w = 0;
    if (lane->index >= 0) {
        p = startParticle(a, lane->index);
#pragma unroll
        for (int n = 0; n < LENGTHS_OF_LANE; n++)
            lane->shown[SMALL_BLOCK * (SHOWN_LENGTH + n)] =
                a->smallLengths[(lane->block * LENGTHS_OF_LANE + n) * SMALL_BLOCK + SMALL_LANE];
        show(lane, SHOWN_POSITION, positionIn(p.posq, p.correction));
        lane->shown[SMALL_BLOCK * SHOWN_INVERSE_MASS] = p.w;
    }
    return p;
}
