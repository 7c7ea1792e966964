// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// A Nose-Hoover chain for all degrees of freedom together. Like coordinates.cc, this file is compiled as C++ (through
// ThermostatChain.cpp) and as part of the kernels for OpenCL and CUDA.
//
// With masses Q_1 = N kT/w^2 and Q_j = kT/w^2 (w the frequency, N the number of degrees of freedom) the equations of
// motion need neither kT nor a mass: r = 2K/(N kT), and velocities dx/dt = -v_1 x,
//   dv_1/dt = w^2 (r - 1) - v_1 v_2,   dv_2/dt = N v_1^2 - w^2 - v_2 v_3,   dv_j/dt = v_(j-1)^2 - w^2 - v_j v_(j+1)

/** Propagate v_j by the time 2 * halfTime, under its own force and the drag of the next thermostat. */
DEVICE void kickThermostat(GLOBAL mixed* v, int length, int j, mixed ratio, mixed degreesOfFreedom, mixed frequency,
                           mixed halfTime) {
    const mixed square = frequency * frequency;
    const mixed force = j == 0 ? square * (ratio - 1) : (j == 1 ? degreesOfFreedom : 1) * v[j - 1] * v[j - 1] - square;
    const mixed drag = j + 1 < length ? exp(-halfTime * v[j + 1]) : 1;
    v[j] = drag * (drag * v[j] + 2 * halfTime * force);
}

/** Into how many pieces a chain divides a time: one, unless a thermostat might move by more than mostMove meanwhile, as
 *  where the bath is much colder than the particles. Each thermostat's force comes from the speed of the one before, and
 *  none is faster than the energy of all allows. @return  0 if it takes more pieces than there may be */
DEVICE int piecesOf(GLOBAL const mixed* v, int length, mixed ratio, mixed degreesOfFreedom, mixed frequency,
                    mixed time, int mostPieces) {
    const mixed mostMove = 0.5f, square = frequency * frequency, duration = fabs(time);
    mixed energy = degreesOfFreedom * square * (1 + ratio); // twice, divided by the mass of all thermostats but the first
    for (int j = 0; j < length; j++)
        energy = energy + (j == 0 ? degreesOfFreedom : 1) * v[j] * v[j];
    mixed speed = 0, fastest = 0;
    for (int j = 0; j < length; j++) {
        const mixed mass = j == 0 ? degreesOfFreedom : 1, massBefore = j == 1 ? degreesOfFreedom : 1;
        const mixed force = square * (j == 0 ? fabs(ratio - 1) : 1) + massBefore * speed * speed;
        speed = min(fabs(v[j]) + duration * force, sqrt(energy / mass));
        fastest = max(fastest, speed);
    }
    const mixed pieces = duration * fastest / mostMove;
    return pieces <= mostPieces ? max(1, (int) ceil(pieces)) : 0; // 0 of NaN too
}

/** Propagate a chain by a time in substeps, each a Yoshida-Suzuki product of symmetric ones. Where they are too long
 *  for the speed of the chain, they are divided.
 *  @param eta      [length] positions of the chain;  @param v  [length] its velocities (1/ps)
 *  @param ratio    2K/(N kT) at the beginning
 *  @param weights  [numWeights] of sum 1
 *  @return the factor for the velocities of all particles; negative if the chain cannot follow */
DEVICE mixed propagateChain(GLOBAL mixed* eta, GLOBAL mixed* v, int length, mixed ratio, mixed degreesOfFreedom,
                            mixed frequency, mixed time, int numSubsteps, GLOBAL const mixed* weights,
                            int numWeights) {
    mixed scale = 1;
    for (int substep = 0; substep < numSubsteps; substep++) {
        const int pieces = piecesOf(v, length, scale * scale * ratio, degreesOfFreedom, frequency, time / numSubsteps,
                                    30000 / numSubsteps);
        if (pieces == 0)
            return -1;
        for (int n = 0; n < pieces * numWeights; n++) {
            const mixed h = weights[n % numWeights] * time / (numSubsteps * pieces);
            for (int j = length - 1; j >= 0; j--)
                kickThermostat(v, length, j, scale * scale * ratio, degreesOfFreedom, frequency, h / 4);
            scale = scale * exp(-h * v[0]);
            for (int j = 0; j < length; j++)
                eta[j] = eta[j] + h * v[j];
            for (int j = 0; j < length; j++)
                kickThermostat(v, length, j, scale * scale * ratio, degreesOfFreedom, frequency, h / 4);
        }
    }
    return scale;
}
