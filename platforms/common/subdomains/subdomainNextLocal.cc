// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomainExchange.cc
// From one solve of a launch to the next one, with particles that stay in shared memory. All subdomains compute the same
// numbers of a particle, so none has to wait for what another one writes. The operations between change velocities and
// displacements only, but for those that write elsewhere, which the subdomain does that owns the particle.

/** As begin_..._Local(). */
DEVICE Worst continue_$STAGE$_Local(const Arguments* a, int c, const Solve* solve, const Solve* before,
                                    SubdomainState* state SHARED_PARAMETER) {
    if (state->isStopped)
        return newWorst();
    const LocalSubdomain sub = localSubdomain(shared);
    Reading reading;
    reading.firstRow = sub.i[AT_FIRST_ROW];
    reading.numRows = NUM_ROWS;
    reading.numSolved = NUM_SOLVED;
    readRows(a, &reading);
    const SubdomainState last = *state;
    leaveRows(a, c, before, state SHARED_ARGUMENT);
    THREAD_GROUP_SYNC // what was noted has been reported
    if (THREAD_IN_GROUP == 0)
        startNotes(shared.notes);
    EACH_PLACE(place) {
        const int number = sub.i[AT_PARTICLE + place], i = PARTICLE_OF(number);
        const bool isNoted = (number & IS_MOVED) != 0;
        Particle p;
        giveParticleLocal(place, &p SHARED_ARGUMENT);
        p.c = choose(last.isHandedOver, make_mixed3(0, 0, 0), impulseLocal(place SHARED_ARGUMENT)); // the step is taken again
$BETWEEN$#if SUBDOMAIN_GLOBAL_ROWS
        takeParticleGeneral(a, c, a->particleStart[c] + place, &p);
#endif
        takeParticleLocal(place, vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, place), &p SHARED_ARGUMENT);
    }
    *state = newSubdomainState();
    state->wasHandedOver = last.wasHandedOver || last.isHandedOver;
    state->firstSubdomain = last.firstSubdomain;
    state->lastSubdomain = last.lastSubdomain;
    state->firstStamp = nextFirstStamp(&last);
    state->tolerance = toFloat(solve->tolerance);
    keepRows(a, solve->time, &reading SHARED_ARGUMENT);
    THREAD_GROUP_SYNC // others have read the impulses that are in the place of bonds
    return startRowsLocal(a, solve SHARED_ARGUMENT);
}
