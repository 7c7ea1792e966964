// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomainExchange.cc
// The end of a stage for a subdomain in shared memory, after its last solve.

DEVICE void finish_$STAGE$_Local(const Arguments* a, int c, const Solve* solve,
                                 const SubdomainState* state SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    Particle ahead[PARTICLES_AHEAD];
    EACH_PLACE(place) {
        const int number = sub.i[AT_PARTICLE + place], i = PARTICLE_OF(number);
        if (READS_PARTICLES_AHEAD && (number & IS_MOVED) && !(HAS_JOINTS && i >= a->numParticles))
            loadStart(a, i, &ahead[turn]);
    }
    leaveRows(a, c, solve, state SHARED_ARGUMENT);
    EACH_PLACE(place) {
        const int number = sub.i[AT_PARTICLE + place], i = PARTICLE_OF(number);
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
$AFTER$        $STORE$(a, i, &p);
    }
}
