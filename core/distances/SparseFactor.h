// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SPARSE_FACTOR_H_
#define CONSTRAINTS_CORE_DISTANCES_SPARSE_FACTOR_H_

#include "SmallMatrix.h"
#include "SparseBatch.h"
#include <algorithm>
#include <type_traits>

// For SparseBatch.cpp only: functions that are compiled for several instruction sets must be in one file.
namespace ConstraintPlugin {
namespace {

/** The length given by forLength(), or 1 if it is not known at compile time. */
template <class Length>
constexpr int fixedLength = 1;
template <int length>
constexpr int fixedLength<std::integral_constant<int, length>> = length > 1 ? length : 1;

/** A_kl = sum_i (1/m_i) gradient_k . bond_l of a pattern, and its factor: L D L^T if the gradients are the bonds,
 * otherwise L U. */
template <class Number>
class SparseFactor {
public:
    using Vector = typename LaneTraits<Number>::Vector;
    using Workspace = SparseWorkspace<Number>;
    using Part = DistancePattern::Part;

    explicit SparseFactor(const DistanceData<Number>& data) : data(data) {
    }
    /** Factor the rows of a part, or of the top once all parts are factored.
     *  @return false if A is singular, or not finite */
    template <bool symmetric>
    bool factorize(Workspace& work, const Vector* gradient, const Part& part) const;
    /** x = A^-1 x in three steps: each part, the top, each part again. */
    void solvePartForward(Workspace& work, const Part& part) const;
    template <bool symmetric>
    void solveTop(Workspace& work) const;
    template <bool symmetric>
    void solvePartBackward(Workspace& work, const Part& part) const;

private:
    using Traits = LaneTraits<Number>;

    int numTopRows() const {
        return data.pattern.numRows() - data.pattern.top.beginRow;
    }
    int numTopEntries() const {
        return data.pattern.numEntries() - data.pattern.firstEntry(data.pattern.top);
    }
    template <bool symmetric>
    CONSTRAINTS_CLONES void assemble(Workspace& work, const Vector* gradient, const Part& part) const;
    template <bool symmetric>
    CONSTRAINTS_CLONES bool eliminate(Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void forward(Workspace& work, const Part& part) const;
    template <bool symmetric>
    CONSTRAINTS_CLONES void backward(Workspace& work, const Part& part) const;

    const DistanceData<Number>& data;
};

/** Call f with the length of a run's columns, known at compile time if it is small. */
template <class F>
CONSTRAINTS_INLINE void forLength(int length, F f) {
    switch (length) {
    case 0:
        return f(std::integral_constant<int, 0>());
    case 1:
        return f(std::integral_constant<int, 1>());
    case 2:
        return f(std::integral_constant<int, 2>());
    case 3:
        return f(std::integral_constant<int, 3>());
    case 4:
        return f(std::integral_constant<int, 4>());
    case 5:
        return f(std::integral_constant<int, 5>());
    case 6:
        return f(std::integral_constant<int, 6>());
    default:
        return f(length);
    }
}

template <class Number>
template <bool symmetric>
bool SparseFactor<Number>::factorize(Workspace& work, const Vector* gradient, const Part& part) const {
    const DistancePattern& pattern = data.pattern;
    assemble<symmetric>(work, gradient, part);
    const auto forCopies = [&](auto visit) { // of the top's rows and entries
        visit(work.diagonal.data(), pattern.top.beginRow, &Part::copyRow, numTopRows());
        visit(work.lower.data(), pattern.firstEntry(pattern.top), &Part::copyEntry, numTopEntries());
        if (!symmetric)
            visit(work.upper.data(), pattern.firstEntry(pattern.top), &Part::copyEntry, numTopEntries());
    };
    if (&part != &pattern.top)
        forCopies([&](Number* array, int, int Part::*copy, int n) { std::fill_n(array + part.*copy, n, Number{}); });
    else // in the order of parts, whichever thread had which
        forCopies([&](Number* array, int first, int Part::*copy, int n) {
            for (const Part& each : pattern.parts)
                for (int i = 0; i < n; i++)
                    array[first + i] += array[each.*copy + i];
        });
    return eliminate<symmetric>(work, part);
}

template <class Number>
template <bool symmetric>
void SparseFactor<Number>::assemble(Workspace& work, const Vector* gradient, const Part& part) const {
    const DistancePattern& pattern = data.pattern;
    const Vector* bond = work.bond.data();
    Number *diagonal = work.diagonal.data(), *lower = work.lower.data(), *upper = work.upper.data();
    const Number *first = data.parameters->firstWeight.data(), *second = data.parameters->secondWeight.data();
    for (int k = part.beginRow; k < part.endRow; k++)
        diagonal[k] = (first[k] + second[k]) * inner(gradient[k], bond[k]);
    const int beginEntry = pattern.firstEntry(part), endEntry = pattern.lastEntry(part);
    std::fill(lower + beginEntry, lower + endEntry, Number{});
    if (!symmetric)
        std::fill(upper + beginEntry, upper + endEntry, Number{});
    const Number* weight = data.parameters->weight.data();
    for (int i = part.beginShared; i < part.endShared; i++) {
        const DistancePattern::SharedElement& m = pattern.sharedElements[i];
        lower[m.entry] = weight[i] * inner(gradient[m.row], bond[m.column]);
        if (!symmetric)
            upper[m.entry] = weight[i] * inner(gradient[m.column], bond[m.row]);
    }
}

/** Column after column: A(b, a) -= L(b, k) U(k, a) for all rows a, b that column k has; U = D L^T where A is symmetric.
 */
template <class Number>
template <bool symmetric>
bool SparseFactor<Number>::eliminate(Workspace& work, const Part& part) const {
    const DistancePattern& pattern = data.pattern;
    const Number zero{}, one = zero + 1;
    Number *diagonal = work.diagonal.data(), *lower = work.lower.data(), *upper = work.upper.data();
    const Number *first = data.parameters->firstWeight.data(), *second = data.parameters->secondWeight.data();
    Number isSingular = zero;
    const Number* square = work.square.data();
    for (int r = part.beginRun; r < part.endRun; r++) {
        const DistancePattern::Run& run = pattern.runs[r];
        Number *l = lower + run.entry, *u = upper + run.entry;
        const int* row = pattern.entryRow.data() + run.entry;
        const int* target = pattern.updateTarget.data() + run.update;
        forLength(run.length, [&](auto length) CONSTRAINTS_INLINE_LAMBDA {
            constexpr int fixed = fixedLength<decltype(length)>;
            Number L[fixed], U[fixed]; // in registers, where the length is known
            for (int k = run.begin; k < run.end; k++, l += length, u += length, row += length) {
                const Number pivot = diagonal[k], inverse = 1 / pivot;
                // False for NaN too.
                isSingular = pivot > pivotThreshold * (first[k] + second[k]) * square[k] ? isSingular : one;
                work.inverse[k] = inverse;
                const Number *below = fixed > 1 ? L : l, *above = fixed > 1 ? U : u;
                for (int a = 0; a < length; a++) {
                    const Number ua = symmetric ? l[a] : u[a], la = l[a] * inverse;
                    (fixed > 1 ? L : l)[a] = la;
                    (fixed > 1 ? U : u)[a] = ua;
                    l[a] = la;
                }
                for (int a = 0; a < length; a++) {
                    diagonal[row[a]] -= below[a] * above[a];
                    for (int b = a + 1; b < length; b++, target++) {
                        lower[*target] -= below[b] * above[a];
                        if (!symmetric)
                            upper[*target] -= below[a] * above[b];
                    }
                }
            }
        });
    }
    return Traits::largest(isSingular) == 0;
}

template <class Number>
void SparseFactor<Number>::solvePartForward(Workspace& work, const Part& part) const {
    std::fill_n(work.x.data() + part.copyRow, numTopRows(), Number{});
    forward(work, part);
}

template <class Number>
template <bool symmetric>
void SparseFactor<Number>::solveTop(Workspace& work) const {
    const DistancePattern& pattern = data.pattern;
    Number* top = work.x.data() + pattern.top.beginRow;
    for (const Part& part : pattern.parts)
        for (int i = 0; i < numTopRows(); i++)
            top[i] += work.x[part.copyRow + i];
    forward(work, pattern.top);
    backward<symmetric>(work, pattern.top);
}

template <class Number>
template <bool symmetric>
void SparseFactor<Number>::solvePartBackward(Workspace& work, const Part& part) const {
    std::copy_n(work.x.data() + data.pattern.top.beginRow, numTopRows(), work.x.data() + part.copyRow);
    backward<symmetric>(work, part);
}

template <class Number>
void SparseFactor<Number>::forward(Workspace& work, const Part& part) const {
    const DistancePattern& pattern = data.pattern;
    Number* x = work.x.data();
    for (int r = part.beginRun; r < part.endRun; r++) {
        const DistancePattern::Run& run = pattern.runs[r];
        const Number* firstL = work.lower.data() + run.entry;
        const int* firstRow = pattern.entryRow.data() + run.entry;
        forLength(run.length, [=](auto length) CONSTRAINTS_INLINE_LAMBDA {
            const Number* l = firstL;
            const int* row = firstRow;
            for (int k = run.begin; length > 0 && k < run.end; k++, l += length, row += length) {
                const Number known = x[k];
                for (int a = 0; a < length; a++)
                    x[row[a]] -= l[a] * known;
            }
        });
    }
}

template <class Number>
template <bool symmetric>
void SparseFactor<Number>::backward(Workspace& work, const Part& part) const {
    const DistancePattern& pattern = data.pattern;
    const Number* inverse = work.inverse.data();
    Number* x = work.x.data();
    for (int r = part.endRun - 1; r >= part.beginRun; r--) {
        const DistancePattern::Run& run = pattern.runs[r];
        const Number* firstU = (symmetric ? work.lower : work.upper).data() + run.entry;
        const int* firstRow = pattern.entryRow.data() + run.entry;
        forLength(run.length, [=](auto length) CONSTRAINTS_INLINE_LAMBDA {
            const Number* u = firstU;
            const int* row = firstRow;
            for (int k = run.begin; k < run.end; k++, u += length, row += length) {
                Number sum = symmetric ? x[k] * inverse[k] : x[k];
                for (int a = 0; a < length; a++)
                    sum -= u[a] * x[row[a]];
                x[k] = symmetric ? sum : sum * inverse[k];
            }
        });
    }
}

} // namespace
} // namespace ConstraintPlugin

#endif
