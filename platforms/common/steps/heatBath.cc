// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: thermostatChain.cc
// A Nose-Hoover chain on a device, once sumForBath() of afterwards.cc has summed up the kinetic energy: the chain itself, then
// all velocities by one factor, unless the stage that follows does that (scaleByBath() of steps.cc).

/** One block. The chain has two buffers, which steps write alternately, so that a failed step does not overwrite the
 *  last good one.
 *  @param sums         [NUM_BATH_SUMS] of twice the kinetic energy
 *  @param chain        [2][2 length] positions and velocities of each buffer
 *  @param isFirstHalf  whether to read the chain from the buffer of the previous step
 *  @param factor       [1] of the velocities */
KERNEL void propagateHeatBath(GLOBAL const mixed* sums, GLOBAL mixed* chain, GLOBAL mixed* factor,
                              GLOBAL const mixed* weights, int numWeights, int numSubsteps, int length, int buffer,
                              int isFirstHalf, mixed degreesOfFreedom, mixed kT, mixed frequency, mixed time,
                              GLOBAL int* failure, int launch, int failureCode) {
    LOCAL mixed sum[BLOCK_SIZE];
    const bool isOver = failure[0] < launch;
    mixed own = 0;
    for (int n = LOCAL_ID; n < NUM_BATH_SUMS; n += BLOCK_SIZE)
        own = own + sums[n];
    sum[LOCAL_ID] = own;
    SYNC_THREADS
    if (LOCAL_ID > 0 || isOver)
        return;
    mixed ratio = 0;
    for (int n = 0; n < BLOCK_SIZE; n++)
        ratio = ratio + sum[n] / (degreesOfFreedom * kT);
    GLOBAL mixed* eta = chain + 2 * length * buffer;
    if (isFirstHalf)
        for (int n = 0; n < 2 * length; n++)
            eta[n] = chain[2 * length * (1 - buffer) + n];
    const mixed scale = propagateChain(eta, eta + length, length, ratio, degreesOfFreedom, frequency, time, numSubsteps,
                                       weights, numWeights);
    factor[0] = scale;
    if (!(scale >= 0 && scale * scale * ratio < 1e30f)) { // NaN as well
        failure[0] = launch;
        failure[1] = failureCode;
    }
}

KERNEL void scaleVelocities(GLOBAL mixed4* velm, GLOBAL const mixed* factor, int numParticles,
                            GLOBAL const int* failure, int launch) {
    if (failure[0] < launch)
        return;
    for (int i = GLOBAL_ID; i < numParticles; i += GLOBAL_SIZE) {
        mixed4 v = velm[i];
        if (v.w > 0) {
            v.x = factor[0] * v.x;
            v.y = factor[0] * v.y;
            v.z = factor[0] * v.z;
            velm[i] = v;
        }
    }
}
