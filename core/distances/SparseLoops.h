// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SPARSE_LOOPS_H_
#define CONSTRAINTS_CORE_DISTANCES_SPARSE_LOOPS_H_

#include "SparseBatch.h"

// For SparseBatch.cpp only: functions that are compiled for several instruction sets must be in one file.
namespace ConstraintPlugin {
namespace {

/** Loops over the rows and particles of a part, or of the top, of which both stages consist, except for the linear
 *  system: SparseFactor. */
template <class Number>
class SparseLoops {
public:
    using Vector = typename LaneTraits<Number>::Vector;
    using Workspace = SparseWorkspace<Number>;
    using Finding = typename Workspace::Finding;
    using Part = DistancePattern::Part;

    explicit SparseLoops(const DistanceData<Number>& data) : data(data) {
    }
    CONSTRAINTS_CLONES bool isAt(const Real3* x, const Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void take(const Real3* array, Vector* to, const Part& part) const;
    CONSTRAINTS_CLONES void takeBonds(Workspace& work, const Part& part) const;
    template <bool isLinear>
    CONSTRAINTS_CLONES void evaluate(Workspace& work, const Part& part, Finding& finding) const;
    CONSTRAINTS_CLONES void takeGradients(Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void applyCorrection(Workspace& work, Number* multiplier, const Part& part) const;
    CONSTRAINTS_CLONES double farthestSquare(const Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES bool isTurned(const Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void storeMoved(const Workspace& work, Real3* delta, Real3* velocity, double perTime,
                                       const Part& part) const;
    CONSTRAINTS_CLONES void storeVelocities(const Workspace& work, Real3* velocity, const Part& part) const;
    CONSTRAINTS_CLONES void toLengths(const Workspace& work, Number* multiplier, const Part& part) const;

    // The top of a split cluster: its rows have particles of several parts.
    void takeTopBonds(Workspace& work, const Real3* x) const;
    void applyTop(Workspace& work, const Part& part) const;

private:
    using Traits = LaneTraits<Number>;

    const DistanceData<Number>& data;
};

template <class Number>
bool SparseLoops<Number>::isAt(const Real3* x, const Workspace& work, const Part& part) const {
    for (int p = part.beginParticle; p < part.endParticle; p++)
        if (!Traits::same(data.load(x, p), work.place[p]))
            return false;
    return true;
}

template <class Number>
void SparseLoops<Number>::take(const Real3* array, Vector* to, const Part& part) const {
    for (int p = part.beginParticle; p < part.endParticle; p++)
        to[p] = data.load(array, p);
}

template <class Number>
void SparseLoops<Number>::takeBonds(Workspace& work, const Part& part) const {
    const LocalPair* pairs = data.pattern.pairs.data();
    const Vector* place = work.place.data();
    Number longest{};
    for (int k = part.beginRow; k < part.endRow; k++) {
        const Vector bond = place[pairs[k].first] - place[pairs[k].second];
        work.bond[k] = bond;
        work.square[k] = inner(bond, bond);
        longest = larger(work.square[k], longest);
    }
    if (!data.needImages(longest, work.box))
        return; // nearly always: molecules are usually not split by the box
    for (int k = part.beginRow; k < part.endRow; k++) {
        work.bond[k] = data.imageOf(work.bond[k], work.box);
        work.square[k] = inner(work.bond[k], work.bond[k]);
    }
}

/** Before the parts have taken their particles: their matrices have elements with these bonds. */
template <class Number>
void SparseLoops<Number>::takeTopBonds(Workspace& work, const Real3* x) const {
    for (int k = data.pattern.top.beginRow; k < data.pattern.top.endRow; k++) {
        const auto [first, second] = data.pattern.pairs[k];
        work.bond[k] = data.load(x, first) - data.load(x, second);
        if (data.needImages(inner(work.bond[k], work.bond[k]), work.box))
            work.bond[k] = data.imageOf(work.bond[k], work.box);
        work.square[k] = inner(work.bond[k], work.bond[k]);
    }
}

template <class Number>
void SparseLoops<Number>::takeGradients(Workspace& work, const Part& part) const {
    const LocalPair* pairs = data.pattern.pairs.data();
    const Vector* moved = work.moved.data();
    for (int k = part.beginRow; k < part.endRow; k++)
        work.gradient[k] = work.bond[k] + (moved[pairs[k].first] - moved[pairs[k].second]);
}

/** Apply a correction x of the multipliers: moved_i += (1/m_i) sum_k x_k grad_i sigma_k. */
template <class Number>
void SparseLoops<Number>::applyCorrection(Workspace& work, Number* multiplier, const Part& part) const {
    const Number *first = data.parameters->firstWeight.data(), *second = data.parameters->secondWeight.data();
    const Number* x = work.x.data();
    const LocalPair* pairs = data.pattern.pairs.data();
    const Vector* bond = work.bond.data();
    Vector* moved = work.moved.data();
    for (int k = part.beginRow; k < part.endRow; k++) {
        const int i = pairs[k].first, j = pairs[k].second;
        multiplier[k] += x[k];
        const Vector impulse = x[k] * bond[k];
        moved[i] = moved[i] + first[k] * impulse;
        moved[j] = moved[j] - second[k] * impulse;
    }
}

/** The same for the top's rows, on the particles of a part only. */
template <class Number>
void SparseLoops<Number>::applyTop(Workspace& work, const Part& part) const {
    const Number *first = data.parameters->firstWeight.data(), *second = data.parameters->secondWeight.data();
    for (int e = part.beginTopEnd; e < part.endTopEnd; e++) {
        const DistancePattern::TopEnd& end = data.pattern.topEnds[e];
        const Number weight = end.isFirst ? first[end.row] : -second[end.row];
        work.moved[end.particle] = work.moved[end.particle] + weight * (work.x[end.row] * work.bond[end.row]);
    }
}

/** sigma of the velocity stage (linear) or of the position stage, with its sign changed, to x. */
template <class Number>
template <bool isLinear>
void SparseLoops<Number>::evaluate(Workspace& work, const Part& part, Finding& finding) const {
    const LocalPair* pairs = data.pattern.pairs.data();
    const Number *square = data.parameters->square.data(), *inverseSquare = data.parameters->inverseSquare.data();
    const Vector *moved = work.moved.data(), *bond = work.bond.data();
    Number *x = work.x.data(), maxError{}, sum{};
    for (int k = part.beginRow; k < part.endRow; k++) {
        const Vector difference = moved[pairs[k].first] - moved[pairs[k].second];
        if (isLinear)
            x[k] = -inner(bond[k], difference);
        else {
            const Vector s = bond[k] + difference;
            x[k] = 0.5 * (square[k] - inner(s, s));
        }
        const Number error = absolute(x[k]) * inverseSquare[k];
        maxError = larger(error, maxError);
        sum += error; // keeps a NaN, which a comparison does not
    }
    finding.largest = Traits::largest(maxError);
    finding.sum = Traits::sum(sum);
}

template <class Number>
double SparseLoops<Number>::farthestSquare(const Workspace& work, const Part& part) const {
    Number farthest{};
    for (int p = part.beginParticle; p < part.endParticle; p++)
        farthest = larger(inner(work.moved[p], work.moved[p]), farthest);
    return Traits::largest(farthest);
}

/** Whether a bond has rotated by 90 degrees or more, so that the solution may be a wrong root. */
template <class Number>
bool SparseLoops<Number>::isTurned(const Workspace& work, const Part& part) const {
    Number turned{};
    const Number one = turned + 1;
    for (int k = part.beginRow; k < part.endRow; k++) {
        const auto [first, second] = data.pattern.pairs[k];
        const Vector s = work.bond[k] + (work.moved[first] - work.moved[second]);
        turned = inner(s, work.bond[k]) > pivotThreshold * work.square[k] ? turned : one;
    }
    return Traits::largest(turned) > 0;
}

template <class Number>
void SparseLoops<Number>::storeMoved(const Workspace& work, Real3* delta, Real3* velocity, double perTime,
                                     const Part& part) const {
    data.storeMoved(work.moved.data(), delta, velocity, perTime, part.beginParticle, part.endParticle);
}

template <class Number>
void SparseLoops<Number>::storeVelocities(const Workspace& work, Real3* velocity, const Part& part) const {
    data.storeVelocities(work.moved.data(), velocity, part.beginParticle, part.endParticle);
}

/** Multipliers of lengths, from those of their squares. */
template <class Number>
void SparseLoops<Number>::toLengths(const Workspace& work, Number* multiplier, const Part& part) const {
    for (int k = part.beginRow; k < part.endRow; k++)
        multiplier[k] *= squareRoot(work.square[k]);
}

} // namespace
} // namespace ConstraintPlugin

#endif
