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

/** Call phase(part) for all parts in parallel. */
template <class Phase>
void overParts(const DistancePattern& pattern, TaskRunner* runner, Phase phase) {
    const int numParts = (int) pattern.parts.size();
    if (runner != nullptr && numParts > 0)
        runner->run(numParts, [&](int i, int) { phase(i); });
    else
        for (int i = 0; i < numParts; i++)
            phase(i);
}
/** Call phase(part) for all parts and for the top. */
template <class Phase>
void everywhere(const DistancePattern& pattern, TaskRunner* runner, Phase phase) {
    overParts(pattern, runner, [&](int i) { phase(pattern.parts[i]); });
    phase(pattern.top);
}
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
    /** @return false if A is singular, or not finite */
    template <bool symmetric>
    bool factorize(Workspace& work, const Vector* gradient, TaskRunner* runner) const;
    /** x = A^-1 x. */
    template <bool symmetric>
    void solve(Workspace& work, TaskRunner* runner) const;

private:
    using Traits = LaneTraits<Number>;
    using ToTop = typename Workspace::ToTop;

    template <bool symmetric>
    CONSTRAINTS_CLONES void assemble(Workspace& work, const Vector* gradient, const Part& part) const;
    template <bool symmetric, bool isPart>
    CONSTRAINTS_CLONES bool eliminate(Workspace& work, const Part& part, ToTop* toTop) const;
    template <bool isPart>
    CONSTRAINTS_CLONES void forward(Workspace& work, const Part& part, ToTop* toTop) const;
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
bool SparseFactor<Number>::factorize(Workspace& work, const Vector* gradient, TaskRunner* runner) const {
    const DistancePattern& pattern = data.pattern;
    everywhere(pattern, runner, [&](const Part& part) { assemble<symmetric>(work, gradient, part); });
    std::vector<char> isRegular(pattern.parts.size());
    overParts(pattern, runner,
              [&](int i) { isRegular[i] = eliminate<symmetric, true>(work, pattern.parts[i], &work.toTop[i]); });
    if (std::find(isRegular.begin(), isRegular.end(), 0) != isRegular.end())
        return false;
    auto add = [](const Aligned<Number>& from, Number* to) {
        for (std::size_t i = 0; i < from.size(); i++)
            to[i] += from[i];
    };
    for (const ToTop& toTop : work.toTop) {
        add(toTop.diagonal, &work.diagonal[pattern.top.beginRow]);
        add(toTop.lower, work.lower.data() + pattern.firstEntry(pattern.top));
        if (!symmetric)
            add(toTop.upper, work.upper.data() + pattern.firstEntry(pattern.top));
    }
    return eliminate<symmetric, false>(work, pattern.top, nullptr);
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
template <bool symmetric, bool isPart>
bool SparseFactor<Number>::eliminate(Workspace& work, const Part& part, ToTop* toTop) const {
    const DistancePattern& pattern = data.pattern;
    const Number zero{}, one = zero + 1;
    Number *diagonal = work.diagonal.data(), *lower = work.lower.data(), *upper = work.upper.data();
    const int topRow = pattern.top.beginRow, topEntry = pattern.firstEntry(pattern.top);
    if (isPart)
        for (auto* array : {&toTop->diagonal, &toTop->lower, &toTop->upper})
            std::fill(array->begin(), array->end(), zero);
    // Each part has its own contributions to the top, so that parts do not write to the same memory.
    auto diagonalAt = [&](int row) CONSTRAINTS_INLINE_LAMBDA -> Number& {
        return isPart && row >= topRow ? toTop->diagonal[row - topRow] : diagonal[row];
    };
    auto lowerAt = [&](int entry) CONSTRAINTS_INLINE_LAMBDA -> Number& {
        return isPart && entry >= topEntry ? toTop->lower[entry - topEntry] : lower[entry];
    };
    auto upperAt = [&](int entry) CONSTRAINTS_INLINE_LAMBDA -> Number& {
        return isPart && entry >= topEntry ? toTop->upper[entry - topEntry] : upper[entry];
    };

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
                    diagonalAt(row[a]) -= below[a] * above[a];
                    for (int b = a + 1; b < length; b++, target++) {
                        lowerAt(*target) -= below[b] * above[a];
                        if (!symmetric)
                            upperAt(*target) -= below[a] * above[b];
                    }
                }
            }
        });
    }
    return Traits::largest(isSingular) == 0;
}

template <class Number>
template <bool symmetric>
void SparseFactor<Number>::solve(Workspace& work, TaskRunner* runner) const {
    const DistancePattern& pattern = data.pattern;
    overParts(pattern, runner, [&](int i) { forward<true>(work, pattern.parts[i], &work.toTop[i]); });
    for (const ToTop& toTop : work.toTop)
        for (std::size_t i = 0; i < toTop.x.size(); i++)
            work.x[pattern.top.beginRow + i] += toTop.x[i];
    forward<false>(work, pattern.top, nullptr);
    backward<symmetric>(work, pattern.top);
    overParts(pattern, runner, [&](int i) { backward<symmetric>(work, pattern.parts[i]); });
}

template <class Number>
template <bool isPart>
void SparseFactor<Number>::forward(Workspace& work, const Part& part, ToTop* toTop) const {
    const DistancePattern& pattern = data.pattern;
    const int topRow = pattern.top.beginRow;
    Number *x = work.x.data(), *top = isPart ? toTop->x.data() : nullptr;
    if (isPart)
        std::fill(toTop->x.begin(), toTop->x.end(), Number{});
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
                    (isPart && row[a] >= topRow ? top[row[a] - topRow] : x[row[a]]) -= l[a] * known;
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
