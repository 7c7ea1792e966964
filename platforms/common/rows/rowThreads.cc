// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc
// Threads that solve a cluster, and those that evaluate a row. A thread has a row of its own, unless it is bordered
// (IS_BORDER): such a row may have thousands of particles, and all threads of a group share its sums. All of them call the
// functions of rows.cc then, with the same row, and all return the same. Texts without clusters define neither IS_BORDER
// nor GROUP_IS_BLOCK.

// Of the group that has a cluster: a block, or a single thread (threadGroups.cc).
#if GROUP_IS_BLOCK
#define THREAD_IN_GROUP ((int) LOCAL_ID)
#define THREAD_GROUP_SIZE BLOCK_SIZE
#define THREAD_GROUP_SYNC SYNC_THREADS
#define SHARED_ARGUMENT , shared
#define SHARED_PARAMETER , SharedMemory shared
#else
#define THREAD_IN_GROUP 0
#define THREAD_GROUP_SIZE 1
#define THREAD_GROUP_SYNC
#define SHARED_ARGUMENT
#define SHARED_PARAMETER
#endif

#if IS_BORDER && GROUP_IS_BLOCK
#define ROW_THREAD ((int) LOCAL_ID)
#define ROW_THREADS BLOCK_SIZE
#define ROW_SYNC SYNC_THREADS

/** The sum of all threads' vectors, in a fixed order. It is a barrier, too. */
DEVICE mixed3 sumOfThreads(const Arguments* a, mixed3 mine) {
#ifdef __OPENCL_VERSION__ // which has shared memory in kernels only, not in functions
    GLOBAL mixed* sums = a->threadSums + 3 * BLOCK_SIZE * (int) GROUP_ID;
#else
    LOCAL mixed sums[3 * BLOCK_SIZE];
#endif
    SYNC_THREADS // all threads have read the last result
    store3(sums, ROW_THREAD, mine);
    SYNC_THREADS
    // One thread of eight continues, then one of eight of these, and so on.
    for (int others = BLOCK_SIZE; others > 1;) {
        const int threads = (others + 7) / 8;
        for (int other = ROW_THREAD + threads; ROW_THREAD < threads && other < others; other += threads)
            mine = mine + load3(sums, other);
        if (ROW_THREAD < threads)
            store3(sums, ROW_THREAD, mine);
        others = threads;
        SYNC_THREADS
    }
    return load3(sums, 0);
}

DEVICE mixed sumOfRow(const Arguments* a, mixed mine) {
    return sumOfThreads(a, make_mixed3(mine, 0, 0)).x;
}
#else
#define ROW_THREAD 0
#define ROW_THREADS 1
#define ROW_SYNC
#define sumOfThreads(a, mine) (mine)
#define sumOfRow(a, mine) (mine)
#endif

/** The slots of a row that a thread has. */
#define EACH_SLOT(s, first, last) for (int s = (first) + ROW_THREAD; s < (last); s += ROW_THREADS)

// What rows.cc defines of a point, for functions of the centroids and pairs of a row.
DEVICE mixed3 displacementOf(const Arguments* a, int slot);
DEVICE mixed3 unwrappedPosition(const Arguments* a, int slot, StepState box);
DEVICE mixed3 velocityOf(const Arguments* a, int slot);
