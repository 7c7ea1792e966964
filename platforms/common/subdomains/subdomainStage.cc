// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc
// A solve of a stage, with the operations on particles before and after it (Subdomains.cpp). Every subdomain does the
// operations that come before on all of its particles, and at the end, from the same numbers again, on its own ones, which
// it then moves: nothing is written that other subdomains still read.

/** Until the next barrier a thread may read what is here of all particles, but only of its own rows. */
DEVICE APART Report begin_$STAGE$_General(const Arguments* a, int c, const Solve* solve,
                                    SubdomainState* state SHARED_PARAMETER) {
    EACH_PARTICLE(n) {
        const int i = a->clusterParticle[n];
#if HAS_JOINTS
        if (i >= a->numParticles) {
            takeNode(a, n);
            continue;
        }
#endif
        Particle p = loadParticle(a, i);
$WITHOUT_NOTES$        takeParticleGeneral(a, c, n, &p);
    }
    THREAD_GROUP_SYNC
    const Report start = startRowsGeneral(a, c SHARED_ARGUMENT);
    EACH_ROW(row) setOffset_$SOLVE$(a, row);
    return start;
}

/** @param keepsNotes  whether operations that only write were not done before the solve */
DEVICE void finish_$STAGE$_General(const Arguments* a, int c, const Solve* solve, const SubdomainState* state,
                                   bool keepsNotes SHARED_PARAMETER) {
    EACH_ROW(row) if (IS_OWN(row))
        solve->multipliers[row] = (addsUp(a, solve->multipliers) ? solve->multipliers[row] : 0) + a->total[row];
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
$BEFORE$        p.c = load3(a->impulse, NODE_OF_PLACE(n));
$AFTER$        storeParticle(a, i, &p);
    }
}

/** Take what the cluster as a whole was solved to, after its last round. */
DEVICE void adopt_$STAGE$_General(const Arguments* a, int c, const Solve* solve, bool isWanted SHARED_PARAMETER) {
    const SubdomainState whole = loadSubdomainState(a, a->subdomainsOfCluster[c].z);
    applyGeneral(a, c, solve, true, whole.iterations, isWanted SHARED_ARGUMENT);
    if (isWanted && !solve->isSilent)
        copyReport(a, c, solve);
}
