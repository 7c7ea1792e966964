// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: steps.cc
// Kernels before and after the solves of a step: the state that it starts with, work, energies, sums for a heat bath.

/** Add to a sum that is compensated (Kahan): single precision would lose small steps of a long run, and digits of the
 *  energies of many particles. */
DEVICE mixed2 plus(mixed2 sum, mixed term) {
    term -= sum.y;
    const mixed next = sum.x + term;
    sum.y = (next - sum.x) - term;
    sum.x = next;
    return sum;
}

DEVICE void addTo(GLOBAL mixed2* place, mixed term) {
    *place = plus(*place, term);
}

/** Work of constraints that move: sum over steps of lambda d xi_0/dt dt, with d sigma/dt = -d xi_0/dt. */
KERNEL void addWork($PARAMETERS$) {
$BEGIN$    for (int n = GLOBAL_ID; n < a->numMoving; n += GLOBAL_SIZE) {
        const int row = a->movingRows[n];
        mixed sum = 0;
        for (int moment = 0; moment < a->numMoments; moment++) {
            const int place = (a->bufferIndex * a->numMoments + moment) * a->numRows + row;
            GLOBAL const mixed* rates = a->workRate + 2 * moment * a->numRows + row;
            sum -= a->lambdaToWork * a->lambda[place] * rates[0] + a->muToWork * a->mu[place] * rates[a->numRows];
        }
        addTo(a->work + n, sum);
        addTo(a->work + a->numMoving + n, a->spreadWork[n]);
    }
}

/** The contribution of the changes of velocities in the heat baths of a step, for addWork() at its end. */
KERNEL void addSpreadWork($PARAMETERS$) {
$BEGIN$    for (int n = GLOBAL_ID; n < a->numMoving; n += GLOBAL_SIZE) {
        const int row = a->movingRows[n];
        const mixed before = a->isFirstBath ? 0 : a->spreadWork[n];
        a->spreadWork[n] = before - a->driftTime * a->projection[row] * workRatesOf(a)[row];
    }
}

/** Sum up the kinetic energies of particles, a part a thread; the first part is negative if they were not computed. */
KERNEL void sumParticleEnergies($PARAMETERS$) {
$BEGIN_ANYWAY$    mixed2 sum;
    sum.x = hasFailed(a) ? -1 : 0;
    sum.y = 0;
    if (!hasFailed(a))
        for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE)
            sum = plus(sum, a->particleEnergy[i]);
    a->energySums[GLOBAL_ID] = sum;
}

/** Add the forces of a level to those of slower ones, each times the number of innermost steps in one of its level. */
KERNEL void addSlowForces($PARAMETERS$) {
$BEGIN$    for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE) {
        const mixed3 others = a->hasSlowForces ? load3(a->slowForce, i) : make_mixed3(0, 0, 0);
        store3(a->slowForce, i, others + a->forceFactor * forceOn(a, i));
    }
}

/** Keep the state as the start of a step, before it is projected. */
KERNEL void keepState($PARAMETERS$) {
$BEGIN$    for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE) {
        Particle p = startParticle(a, i);
        keepPositions(a, i, &p);
        keepVelocity(a, i, &p);
    }
}

/** Sum up twice the kinetic energy for a heat bath (heatBath.cc), and before its first half keep the state as the start of
 *  a step. The order of sums does not depend on the number of threads. */
KERNEL void sumForBath($PARAMETERS$) {
$BEGIN$    for (int n = GLOBAL_ID; n < NUM_BATH_SUMS; n += GLOBAL_SIZE) {
        mixed sum = 0;
        for (int i = n; i < a->numParticles; i += NUM_BATH_SUMS) {
            Particle p = startParticle(a, i);
            if (a->isFirstBath) {
                keepPositions(a, i, &p);
                keepVelocity(a, i, &p);
            }
            if (p.w > 0)
                sum = sum + dot(p.v, p.v) / p.w;
        }
        a->bathSums[n] = sum;
    }
}

/** Keep the positions after the last step of a run. */
KERNEL void keepEnd($PARAMETERS$) {
$BEGIN$    for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE) {
        a->endPosq[i] = a->posq[i];
#ifdef USE_MIXED_PRECISION
        a->endCorrection[i] = a->posqCorrection[i];
#endif
    }
}
