// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc, normalNumbers.cc
// Operations of a time step on each particle, between solves. Each integrator's step defines their order
// (CommonSteps.cpp). Immovable particles are not written back. Before the first solve of a stage, only operations that
// are called keep... write to other arrays: subdomains of clusters do all the others on particles that they do not own, too.

/** Store the positions at which the stage computes gradients, for readings. */
DEVICE void keepPositions(const Arguments* a, int i, Particle* p) {
    const int place = a->momentIndex * a->numParticles + i;
    a->startPosq[place] = p->posq;
#ifdef USE_MIXED_PRECISION
    a->startCorrection[place] = p->correction;
#endif
}

/** Store velocities: with the positions at the start of a step, which are restored if it fails, or to compute a kinetic energy,
 *  which must not change them; startVelm is free between steps. */
DEVICE void keepVelocity(const Arguments* a, int i, Particle* p) {
    a->startVelm[i] = p->velm;
}

/** v *= the factor by which the first half of a heat bath changes velocities (heatBath.cc). */
DEVICE void scaleByBath(const Arguments* a, int i, Particle* p) {
    p->v = a->bathFactor[0] * p->v;
}

/** v += dt/2 f/m */
DEVICE void halfKick(const Arguments* a, int i, Particle* p) {
    p->v = p->v + (0.5f * a->dt * p->w) * p->f;
}

/** v += h/2 F/m, with the forces F of all levels that kick now, of several time steps: those of the fastest, and the sum
 *  of others. */
DEVICE void halfKickOfLevels(const Arguments* a, int i, Particle* p) {
    mixed3 force = p->f;
    if (a->hasSlowForces)
        force = force + load3(a->slowForce, i);
    p->v = p->v + (0.5f * a->driftTime * p->w) * force;
}

/** v += dt f/m */
DEVICE void kick(const Arguments* a, int i, Particle* p) {
    p->v = p->v + (a->dt * p->w) * p->f;
}

/** delta = h v, h the time over which a position stage moves: dt, or a part of it. */
DEVICE void drift(const Arguments* a, int i, Particle* p) {
    p->d = a->driftTime * p->v;
}

/** delta += h/2 v */
DEVICE void halfDrift(const Arguments* a, int i, Particle* p) {
    p->d = p->d + (0.5f * a->driftTime) * p->v;
}

/** delta as an integrator of OpenMM has it. */
DEVICE void loadDelta(const Arguments* a, int i, Particle* p) {
    const mixed4 d = a->posDelta[i];
    p->d = make_mixed3(d.x, d.y, d.z);
}

/** Give it back with the constraints' part: delta + c. What is not finite is left, so that the host finds where it was. */
DEVICE void storeDelta(const Arguments* a, int i, Particle* p) {
    const mixed3 d = p->d + p->c;
    if (p->w > 0) {
        requireFinite(a, i, d);
        if (areFinite(d))
            a->posDelta[i] = withFourth(d, 0);
    }
}

/** v += c, likewise. */
DEVICE void storeVelocities(const Arguments* a, int i, Particle* p) {
    const mixed3 v = p->v + p->c;
    if (p->w > 0)
        requireFinite(a, i, v);
    if (areFinite(p->c))
        p->v = v;
}

DEVICE void stay(const Arguments* a, int i, Particle* p) {
    p->d = make_mixed3(0, 0, 0);
}

/** Add the constraint impulse to both: r += delta + c, v += c/h (3.9.16). */
DEVICE void move(const Arguments* a, int i, Particle* p) {
    mixed3 x = positionIn(p->posq, p->correction);
    if (p->w > 0) {
        if (a->driftTime > 0)
            p->v = p->v + (1 / a->driftTime) * p->c;
        x = x + p->d + p->c;
        requireFinite(a, i, p->v);
        setPosition(a, i, p, x);
    }
    requireFinite(a, i, x);
}

/** r += c */
DEVICE void shift(const Arguments* a, int i, Particle* p) {
    if (p->w > 0)
        setPosition(a, i, p, positionIn(p->posq, p->correction) + p->c);
}

/** v += c */
DEVICE void addVelocityCorrection(const Arguments* a, int i, Particle* p) {
    p->v = p->v + p->c;
    if (p->w > 0)
        requireFinite(a, i, p->v);
}

/** Kinetic energy in OpenMM's fixed-point numbers, whose sums are exact and do not depend on the order of particles. */
DEVICE mm_long kineticEnergyOf(const Particle* p) {
    const mixed energy = p->w > 0 ? 0.5f / p->w * dot(p->v, p->v) : 0;
    return (mm_long) (min(energy, (mixed) 1e9f) * 0x100000000);
}

/** Fail if a projection of positions would move a particle. */
DEVICE void requireUnmoved(const Arguments* a, int i, Particle* p) {
    if (p->w > 0 && !(p->c.x == 0 && p->c.y == 0 && p->c.z == 0))
        fail(a, codeOfParticle(i, a->numClusters));
}

/** Note the kinetic energy of a particle, and return to the velocity that was kept. */
DEVICE void noteKineticEnergy(const Arguments* a, int i, Particle* p) {
    a->particleEnergy[i] = p->w > 0 ? 0.5f / p->w * dot(p->v, p->v) : 0;
    const mixed4 kept = a->startVelm[i];
    p->v = make_mixed3(kept.x, kept.y, kept.z);
}

/** Subtract the kinetic energy before the bath from the heat; noteHeat() has to follow. The first bath of a step starts
 *  with the last step's heat. */
DEVICE void keepHeat(const Arguments* a, int i, Particle* p) {
    const int last = a->isFirstBath ? 1 - a->bufferIndex : a->bufferIndex;
    a->heat[a->bufferIndex * a->numParticles + i] = a->heat[last * a->numParticles + i] - kineticEnergyOf(p);
}

/** v <- a v + sqrt((1-a^2) kT/m) R: the Ornstein-Uhlenbeck process over one step. */
DEVICE void ornsteinUhlenbeck(const Arguments* a, int i, Particle* p) {
    if (a->velocityScale == 1) // no friction
        return;
    const mixed3 R = normalNumbers(a->noiseKey0, a->noiseKey1, a->noiseStepLow, a->noiseStepHigh, a->atomIndex[i]);
    p->v = a->velocityScale * p->v + (a->velocityNoise * sqrt(p->w)) * R;
}

/** Add the kinetic energy after the bath to the heat, once velocities are in the tangent space again. */
DEVICE void noteHeat(const Arguments* a, int i, Particle* p) {
    a->heat[a->bufferIndex * a->numParticles + i] += kineticEnergyOf(p);
}

/** The place of a particle's three numbers in velocityChange. */
DEVICE int changePlace(const Arguments* a, int i) {
    return a->momentIndex * a->numParticles + i;
}

/** v1 - v2, velocities before the bath minus those after it, with delta = h/2 (v1 + v2): see StepRecord. */
DEVICE void noteVelocityChange(const Arguments* a, int i, Particle* p) {
    const mixed perTime = a->driftTime > 0 ? 2 / a->driftTime : 0;
    store3(a->velocityChange, changePlace(a, i), perTime * p->d - 2 * p->v);
}

/** Exchange velocities with their change in the bath, for a solve that uses the change instead. */
DEVICE void swapVelocityChange(const Arguments* a, int i, Particle* p) {
    const mixed3 other = load3(a->velocityChange, changePlace(a, i));
    store3(a->velocityChange, changePlace(a, i), p->v);
    p->v = other;
}

/** a = f/m */
DEVICE void accelerate(const Arguments* a, int i, Particle* p) {
    p->d = p->w * p->f;
}

/** r += dt v + dt^2/2 a and v += dt/2 a, with the constraint force in a. */
DEVICE void moveAccelerated(const Arguments* a, int i, Particle* p) {
    mixed3 x = positionIn(p->posq, p->correction);
    if (p->w > 0) {
        const mixed3 acceleration = p->d + p->c;
        p->v = p->v + (0.5f * a->dt) * acceleration;
        x = x + a->dt * p->v;
        requireFinite(a, i, p->v);
        setPosition(a, i, p, x);
    }
    requireFinite(a, i, x);
}

/** A first guess v + dt a of v(t+dt), on which the force depends, from v(t+dt/2) = v + dt/2 a. */
DEVICE void predictVelocity(const Arguments* a, int i, Particle* p) {
    const mixed4 start = a->startVelm[i];
    p->v = 2 * p->v - make_mixed3(start.x, start.y, start.z);
}

/** v(t+dt) = v(t+dt/2) + dt/2 a(t+dt); v is the guess, 2 v(t+dt/2) - v(t). */
DEVICE void finishVelocity(const Arguments* a, int i, Particle* p) {
    const mixed4 start = a->startVelm[i];
    p->v = 0.5f * (p->v + make_mixed3(start.x, start.y, start.z)) + (0.5f * a->dt) * (p->d + p->c);
    if (p->w > 0)
        requireFinite(a, i, p->v);
}
