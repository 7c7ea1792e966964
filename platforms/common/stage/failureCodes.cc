// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The cluster, particle or constraint that failed in a launch, as one number: first the clusters by their numbers, then
// particles, then redundant constraints in the position stage (0) and in the velocity stage (1), then the heat bath. This
// text is both C++ (FailureCodes.h) and kernel text.

DEVICE int codeOfParticle(int particle, int numClusters) {
    return numClusters + particle;
}

DEVICE int codeOfRedundant(int n, int stage, int numRedundant, int numClusters, int numParticles) {
    return numClusters + numParticles + stage * numRedundant + n;
}

DEVICE int codeOfBath(int numRedundant, int numClusters, int numParticles) {
    return codeOfRedundant(0, 2, numRedundant, numClusters, numParticles);
}
