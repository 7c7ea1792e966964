// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomainExchange.cc
// The begin of a stage, as in subdomainStage.cc, for a subdomain in shared memory (subdomainDistances.cc): particles stay there
// during the solve, and for the next one (subdomainNextLocal.cc).

/** Until the next barrier a thread may read what is here of all particles, but only of its own rows.
 *  @param keepsNotes  whether operations that only write are done
 *  @param isStopped   whether an earlier launch failed: asked before anything is written, since particles come as fast */
DEVICE Worst begin_$STAGE$_Local(const Arguments* a, int c, const Solve* solve, SubdomainState* state, bool keepsNotes,
                                 bool isStopped SHARED_PARAMETER) {
    GLOBAL const int* particles = tableOf(a, c) + AT_PARTICLE;
    int numbers[PARTICLES_AHEAD];
#pragma unroll
    for (int turn = 0; turn < PARTICLES_AHEAD; turn++)
        numbers[turn] = particles[min(THREAD_IN_GROUP + turn * BLOCK_SIZE, SUBDOMAIN_ALL_PLACES - 1)];
    Reading reading;
    readCounts(a, c, &reading);
    const int4 subdomains = a->subdomainsOfCluster[c];
    READS_COME_FIRST
    Particle ahead[PARTICLES_AHEAD]; // of any particle where there is none
#pragma unroll
    for (int turn = 0; turn < PARTICLES_AHEAD; turn++)
        ahead[turn] = $LOAD$(a, min(PARTICLE_OF(max(numbers[turn], 0)), a->numParticles - 1));
    READS_COME_FIRST
    readRows(a, &reading);
    readTables(a, c, true, &reading);
    READS_COME_FIRST
    state->isOver = state->isStopped = isStopped;
    if (isStopped)
        return newWorst();
    state->firstSubdomain = subdomains.x;
    state->lastSubdomain = subdomains.y;
    state->tolerance = toFloat(solve->tolerance);
    if (THREAD_IN_GROUP == 0)
        startNotes(shared.notes);
    EACH_LOCAL(place, SUBDOMAIN_ALL_PLACES, SUBDOMAIN_ALL_PLACES) {
        const int number = READS_PARTICLES_AHEAD ? numbers[turn] : particles[place], i = PARTICLE_OF(number);
        if (number < 0) // fewer than in other subdomains
            continue;
#if HAS_JOINTS
        if (i >= a->numParticles) {
            takeNodeLocal(a, c, place, number SHARED_ARGUMENT);
            continue;
        }
#endif
        Particle p = READS_PARTICLES_AHEAD ? ahead[turn] : $LOAD$(a, i);
        const mixed3 position = positionIn(p.posq, p.correction);
        if (number & IS_FIXED) {
            p.v = p.d = make_mixed3(0, 0, 0);
            p.w = 0;
        } else {
            const bool isNoted = keepsNotes && (number & IS_MOVED) != 0;
$BEFORE$#if SUBDOMAIN_GLOBAL_ROWS
            takeParticleGeneral(a, c, a->particleStart[c] + place, &p);
#endif
        }
        takeParticleLocal(place, position, &p SHARED_ARGUMENT);
    }
#if HAS_JOINTS
    takeBodiesLocal(a, c, solve SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_GLOBAL_ROWS
    findGlobalStarts(a, c);
#endif
    state->firstStamp = a->subdomainStamps[subdomains.x];
    keepTables(a, c, true, &reading SHARED_ARGUMENT);
    keepRows(a, solve->time, &reading SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
    readTables(a, c, false, &reading);
    READS_COME_FIRST
    const Worst start = startRowsLocal(a, solve SHARED_ARGUMENT);
    keepTables(a, c, false, &reading SHARED_ARGUMENT);
    return start;
}
