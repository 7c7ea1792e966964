// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// A solve of a stage, with the operations on particles before and after it (PartsProgram.cpp), for parts of one kind:
// General (parts.cc) or Local (partDistances.cc). Every part does the operations that come before on all of its particles,
// and at the end, from the same numbers again, on its own ones, which it then moves: nothing is written that other parts
// still read.

DEVICE Report begin_$STAGE$_$KIND$(const Arguments* a, int c, const PartSolve* solve SHARED_PARAMETER) {
#if IS_$KIND$_LOCAL
    readTables(a, c SHARED_ARGUMENT);
#endif
    EACH_PARTICLE(n) {
        const int i = a->clusterParticle[n];
#if HAS_JOINTS
        if (i >= a->numParticles) {
            takeNode(a, n);
            continue;
        }
#endif
        Particle p = loadParticle(a, i);
$WITHOUT_NOTES$        takeParticle$KIND$(a, c, n, &p, solve->what SHARED_ARGUMENT);
    }
    THREAD_GROUP_SYNC
    const Report start = startRows$KIND$(a, c, solve SHARED_ARGUMENT);
#if !IS_$KIND$_LOCAL
    EACH_ROW(row) setOffset_$SOLVE$(a, row);
#endif
    THREAD_GROUP_SYNC
    return start;
}

DEVICE void finish_$STAGE$_$KIND$(const Arguments* a, int c, const PartSolve* solve SHARED_PARAMETER) {
    EACH_ROW(row) if (IS_OWN(row))
        solve->multipliers[row] = (addsUp(a, solve->multipliers) ? solve->multipliers[row] : 0) +
                                  total$KIND$(a, c, row SHARED_ARGUMENT);
#if HAS_JOINTS
    EACH_BODY(b) if (ownsBody(a, b))
        copyBody(a, b, bodyOf(a, b));
#endif
    EACH_PARTICLE(n) if (a->ownsNode[n]) {
        const int i = a->clusterParticle[n];
#if HAS_JOINTS
        if (i >= a->numParticles) {
            store3(a->impulse, i, load3(a->impulse, NODE_OF_PLACE(n)));
            continue;
        }
#endif
        Particle p = loadParticle(a, i);
$BEFORE$        p.c = impulseOf$KIND$(a, c, n SHARED_ARGUMENT);
$AFTER$        storeParticle(a, i, &p);
    }
}

DEVICE void take_$STAGE$_$KIND$(const Arguments* a, int c, int round, Report start, PartSolve* solve,
                                PartState* state SHARED_PARAMETER) {
#if IS_$KIND$_LOCAL
    takeLocal(a, c, round, start, solve, state SHARED_ARGUMENT);
#else
    take_$SOLVE$_General(a, c, round, start, solve, state SHARED_ARGUMENT);
#endif
}

/** Take what the cluster as a whole was solved to, after its last round. */
DEVICE void adopt_$STAGE$_$KIND$(const Arguments* a, int c, const PartSolve* solve, bool isWanted SHARED_PARAMETER) {
    const PartState whole = loadPartState(a, a->partsOfCluster[c].z);
    apply$KIND$(a, c, solve, true, whole.iterations, isWanted, false SHARED_ARGUMENT);
    if (isWanted && !solve->isSilent)
        copyReport(a, c, solve);
}
