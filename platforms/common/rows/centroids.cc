// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: rowThreads.cc
// Rows that are functions of the centroids of groups of their particles, as core/constraints/CentroidCoordinate.h:
// X_g = sum_s w_sg x_s, with weights [particles][groups]. Most weights are zero.

/** Terms that are summed up by themselves, so that sums over large groups lose fewer digits in single precision. */
#define CENTROID_TERMS 64

/** TERM(s) summed up with the weights of a group. */
#define SUM_OVER_GROUP(result, TERM)                                                                                   \
    mixed3 result = make_mixed3(0, 0, 0);                                                                              \
    for (int begin = ROW_THREAD; begin < size; begin += CENTROID_TERMS * ROW_THREADS) {                                \
        mixed3 part = make_mixed3(0, 0, 0);                                                                            \
        for (int s = begin; s < size && s < begin + CENTROID_TERMS * ROW_THREADS; s += ROW_THREADS) {                  \
            const mixed weight = weights[s * groups + g];                                                              \
            if (weight != 0)                                                                                           \
                part = part + weight * (TERM);                                                                         \
        }                                                                                                              \
        result = result + part;                                                                                        \
    }                                                                                                                  \
    result = sumOfThreads(a, result);

/** The centroids of a row with points from `first` on.
 *  @param isDisplaced  whether to add displacements since the start */
DEVICE void findCentroids(const Arguments* a, int first, int size, int groups, GLOBAL const mixed* weights,
                          bool isDisplaced, StepState stepState, mixed3* x) {
    for (int g = 0; g < groups; g++) {
        SUM_OVER_GROUP(sum, unwrappedPosition(a, first + s, stepState))
        x[g] = sum;
        if (isDisplaced) {
            SUM_OVER_GROUP(displacement, displacementOf(a, first + s))
            x[g] = x[g] + displacement;
        }
    }
}

/** Their velocities times a scale. */
DEVICE void findCentroidVelocities(const Arguments* a, int first, int size, int groups, GLOBAL const mixed* weights,
                                   mixed scale, mixed3* v) {
    for (int g = 0; g < groups; g++) {
        SUM_OVER_GROUP(sum, velocityOf(a, first + s))
        v[g] = scale * sum;
    }
}

/** grad_s = sum_g w_sg grad_g */
DEVICE void storeCentroidGradients(GLOBAL mixed* gradients, int first, int size, int groups,
                                   GLOBAL const mixed* weights, const mixed3* ofCentroids) {
    EACH_SLOT(s, 0, size) {
        mixed3 sum = make_mixed3(0, 0, 0);
        for (int g = 0; g < groups; g++)
            sum = sum + weights[s * groups + g] * ofCentroids[g];
        store3(gradients, first + s, sum);
    }
}
