// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: coordination.cc, rowThreads.cc
// Rows that are coordination numbers, as core/constraints/CoordinationNumber.h: points s of a row are in the first group
// up to `endFirst`, in the second from `beginSecond` on. A thread sums up the pairs of its points, each from both ends.

typedef struct {
    int first, beginSecond, endFirst, size;
    bool isPeriodic;
} PairsOfRow;

DEVICE PairsOfRow pairsOfRow(int first, int beginSecond, int endFirst, int size, bool isPeriodic) {
    PairsOfRow p;
    p.first = first;
    p.beginSecond = beginSecond;
    p.endFirst = endFirst;
    p.size = size;
    p.isPeriodic = isPeriodic;
    return p;
}

/** From one point to another, at the start or displaced since. */
DEVICE mixed3 betweenPoints(const Arguments* a, PairsOfRow p, int s, int t, bool isDisplaced, StepState stepState) {
    mixed3 r = unwrappedPosition(a, p.first + s, stepState) - unwrappedPosition(a, p.first + t, stepState);
    if (isDisplaced)
        r = r + (displacementOf(a, p.first + s) - displacementOf(a, p.first + t));
    return p.isPeriodic ? minimumImage(r, stepState) : r;
}

/** q of a row, and its gradients by point. */
DEVICE mixed evaluatePairs(const Arguments* a, PairsOfRow p, PairFunction f, bool isDisplaced, StepState stepState,
                           GLOBAL mixed* gradients) {
    mixed number = 0;
    EACH_SLOT(s, 0, p.size) {
        mixed3 gradient = make_mixed3(0, 0, 0);
        for (int isSecond = s < p.endFirst ? 0 : 1; isSecond < (s < p.beginSecond ? 1 : 2); isSecond++) {
            mixed ofPoint = 0; // sums of sums lose fewer digits
            const int end = isSecond ? p.endFirst : p.size;
            for (int t = isSecond ? 0 : p.beginSecond; t < end; t++) {
                const mixed3 r = betweenPoints(a, p, s, t, isDisplaced, stepState);
                const mixed R = dot(r, r);
                if (R >= f.end || s == t)
                    continue;
                mixed rate, unused;
                ofPoint += pairNumber(f, R, &rate, &unused);
                gradient = gradient + (2 * rate) * r;
            }
            number += isSecond ? 0 : ofPoint;
        }
        store3(gradients, p.first + s, gradient);
    }
    return sumOfRow(a, number);
}

/** Its second derivative along velocities times a scale. */
DEVICE mixed curvatureOfPairs(const Arguments* a, PairsOfRow p, PairFunction f, mixed scale, StepState stepState) {
    mixed sum = 0;
    EACH_SLOT(s, 0, p.endFirst) {
        mixed ofPoint = 0;
        for (int t = p.beginSecond; t < p.size; t++) {
            const mixed3 r = betweenPoints(a, p, s, t, false, stepState);
            const mixed R = dot(r, r);
            if (R >= f.end || s == t)
                continue;
            const mixed3 v = scale * (velocityOf(a, p.first + s) - velocityOf(a, p.first + t));
            const mixed along = dot(r, v);
            mixed rate, second;
            pairNumber(f, R, &rate, &second);
            ofPoint += 4 * second * along * along + 2 * rate * dot(v, v);
        }
        sum += ofPoint;
    }
    return sumOfRow(a, sum);
}
