// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: partExchange.cc
// As partStage.cc, for a part in shared memory (partDistances.cc): particles stay there during the solve.

/** Until the next barrier a thread may read what is here of all particles, but only of its own rows.
 *  @param keepsNotes  whether operations that only write are done */
DEVICE Worst begin_$STAGE$_Local(const Arguments* a, int c, const Solve* solve, PartState* state,
                                 bool keepsNotes SHARED_PARAMETER) {
    GLOBAL const int* particles = tableOf(a, c) + AT_PARTICLE;
    int numbers[PARTICLES_AHEAD];
#pragma unroll
    for (int turn = 0; turn < PARTICLES_AHEAD; turn++)
        numbers[turn] = particles[min(THREAD_IN_GROUP + turn * BLOCK_SIZE, PART_ALL_PLACES - 1)];
    Reading reading;
    readCounts(a, c, &reading);
    READS_COME_FIRST
    readTables(a, c, &reading);
    Particle ahead[PARTICLES_AHEAD]; // of any particle where there is none
#pragma unroll
    for (int turn = 0; turn < PARTICLES_AHEAD; turn++)
        ahead[turn] = loadParticle(a, min(PARTICLE_OF(max(numbers[turn], 0)), a->numParticles - 1));
    READS_COME_FIRST
    const int4 parts = a->partsOfCluster[c];
    state->firstPart = parts.x;
    state->lastPart = parts.y;
    state->tolerance = toFloat(solve->tolerance);
    if (THREAD_IN_GROUP == 0)
        startNotes(shared.notes);
    EACH_LOCAL(place, PART_ALL_PLACES, PART_ALL_PLACES) {
        const int number = READS_PARTICLES_AHEAD ? numbers[turn] : particles[place], i = PARTICLE_OF(number);
        if (number < 0) // fewer than in other parts
            continue;
#if HAS_JOINTS
        if (i >= a->numParticles) {
            takeNodeLocal(a, c, place, number SHARED_ARGUMENT);
            continue;
        }
#endif
        Particle p = READS_PARTICLES_AHEAD ? ahead[turn] : loadParticle(a, i);
        const mixed3 position = positionIn(p.posq, p.correction);
        if (number & IS_FIXED) {
            p.v = p.d = make_mixed3(0, 0, 0);
            p.w = 0;
        } else {
            const bool isNoted = keepsNotes && (number & IS_MOVED) != 0;
$BEFORE$#if PART_GLOBAL_ROWS
            takeParticleGeneral(a, c, a->particleStart[c] + place, &p);
#endif
        }
        takeParticleLocal(place, position, &p SHARED_ARGUMENT);
    }
#if HAS_JOINTS
    takeBodiesLocal(a, c, solve SHARED_ARGUMENT);
#endif
#if PART_GLOBAL_ROWS
    findGlobalStarts(a, c);
#endif
    state->firstStamp = a->partStamps[parts.x];
    keepTables(a, c, solve->time, &reading SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
    return startRowsLocal(a, solve SHARED_ARGUMENT);
}

DEVICE void finish_$STAGE$_Local(const Arguments* a, int c, const Solve* solve,
                                 const PartState* state SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    Particle ahead[PARTICLES_AHEAD];
    EACH_PLACE(place) {
        const int number = part.i[AT_PARTICLE + place], i = PARTICLE_OF(number);
        if (READS_PARTICLES_AHEAD && (number & IS_MOVED) && !(HAS_JOINTS && i >= a->numParticles))
            loadStart(a, i, &ahead[turn]);
    }
    EACH_SOLVED_ROW(k) if (IS_OWN_LOCAL(k)) {
        const int row = part.i[AT_FIRST_ROW] + k;
        solve->multipliers[row] = (addsUp(a, solve->multipliers) ? solve->multipliers[row] : 0) + part.m[AT_TOTAL + k];
    }
    findImpulsesLocal(shared);
    const bool isReported = !state->isHandedOver && !state->isLast && !solve->isSilent;
    if (isReported)
        findWorstRow(state SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
#if HAS_JOINTS
    displaceBodiesLocal(a, c, solve, true SHARED_ARGUMENT);
#endif
    if (isReported)
        reportRound(a, c, solve, state SHARED_ARGUMENT);
    EACH_PLACE(place) {
        const int number = part.i[AT_PARTICLE + place], i = PARTICLE_OF(number);
        if (!(number & IS_MOVED))
            continue;
#if HAS_JOINTS
        if (i >= a->numParticles) {
            store3(a->impulse, i, impulseLocal(place SHARED_ARGUMENT));
            continue;
        }
#endif
        Particle p = ahead[READS_PARTICLES_AHEAD ? turn : 0];
        if (!READS_PARTICLES_AHEAD)
            loadStart(a, i, &p);
        giveParticleLocal(place, &p SHARED_ARGUMENT);
        p.c = impulseLocal(place SHARED_ARGUMENT);
$AFTER$        storeParticle(a, i, &p);
    }
}
