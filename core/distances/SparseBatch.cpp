// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SparseBatch.h"
#include "SmallMatrix.h"
#include <algorithm>
#include <type_traits>

namespace ConstraintPlugin {

namespace {

/** Distances of any pattern: one cluster (Number = double), or numLanes equal ones side by side (Number = Lanes).
 *
 *  Both stages begin with the symmetric matrix A_kl = sum_i (1/m_i) grad_i sigma_k . grad_i sigma_l at the start of the
 *  step, factored as L D L^T once and kept for the next stage if that begins at the same positions, as RATTLE's
 * position stage does. With it positions converge linearly (chord Newton). Where many iterations lie ahead, A = L U
 * takes its place, with the gradients sigma_k as they are now: a step of Newton's method. Source: Elber, Ruymgaart,
 * Hess, Eur. Phys. J. Special Topics 200, 211 (2011), doi:10.1140/epjst/e2011-01525-9. */
template <class Number>
class SparseBatch : public DistanceBatch {
public:
    using Workspace = SparseWorkspace<Number>;

    SparseBatch(const DistancePattern& pattern, const std::vector<const DistanceCluster*>& clusters,
                const SparseBatch* like)
        : data(pattern, clusters, like == nullptr ? nullptr : &like->data), lambda(pattern.numRows()),
          mu(pattern.numRows()) {
    }
    BatchReport solvePositions(const Real3* x, Real3* delta, double tolerance, int maxIterations, Real3* velocity,
                               double perTime, ThreadWorkspace& shared) override {
        return positionStage(x, delta, tolerance, maxIterations, velocity, perTime, shared);
    }
    BatchReport solveVelocities(const Real3* x, Real3* velocity, double timeScale, double tolerance, int maxIterations,
                                ThreadWorkspace& shared) override {
        return velocityStage(x, velocity, timeScale, tolerance, maxIterations, shared);
    }
    int worstRow() const override;
    void getPositionMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        lambda.get(data.pattern, firstRow, byRow);
    }
    void getVelocityMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        mu.get(data.pattern, firstRow, byRow);
    }

private:
    // Compiled for several machines, as no virtual function can be.
    CONSTRAINTS_CLONES BatchReport positionStage(const Real3* x, Real3* delta, double tolerance, int maxIterations,
                                                 Real3* velocity, double perTime, ThreadWorkspace& shared);
    CONSTRAINTS_CLONES BatchReport velocityStage(const Real3* x, Real3* velocity, double timeScale, double tolerance,
                                                 int maxIterations, ThreadWorkspace& shared);

    using Traits = LaneTraits<Number>;
    using Vector = typename Traits::Vector;

    Workspace& workspace(ThreadWorkspace& shared);
    bool prepare(const Real3* x, Workspace& work) const;
    template <bool symmetric>
    bool factorize(Workspace& work, const Vector* gradient) const;
    template <bool symmetric>
    void solve(Workspace& work) const;
    void applyCorrection(Workspace& work, Number* multiplier) const;
    template <bool isLinear, class Residual>
    BatchReport iterate(Workspace& work, Aligned<Number>& multipliers, double toError, double tolerance,
                        int maxIterations, Residual residual) const;
    bool isTurned(const Workspace& work) const;

    DistanceData<Number> data;
    DistanceMultipliers<Number> lambda, mu;
    Workspace own; // of a single cluster, which finds its factor there the next time; empty where there are lanes
};

template <class Number>
void resize(SparseWorkspace<Number>& work, const DistancePattern& pattern) {
    auto grow = [](auto& array, int size) {
        if ((int) array.size() < size)
            array.resize(size);
    };
    for (auto* array : {&work.place, &work.moved})
        grow(*array, pattern.numParticles());
    for (auto* array : {&work.bond, &work.gradient})
        grow(*array, pattern.numRows());
    for (auto* array : {&work.square, &work.x, &work.diagonal, &work.inverse})
        grow(*array, pattern.numRows());
    for (auto* array : {&work.lower, &work.upper})
        grow(*array, pattern.numEntries());
}

template <class Number>
SparseWorkspace<Number>& SparseBatch<Number>::workspace([[maybe_unused]] ThreadWorkspace& shared) {
    auto& work = [&]() -> Workspace& {
        if constexpr (Traits::width == 1)
            return own;
        else
            return shared.lanes;
    }();
    resize(work, data.pattern);
    return work;
}

// ---- the linear system
// -----------------------------------------------------------------------------------------------

/** Call f with the length of a run's columns, known at compile time where it is small. */
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

/** Bonds at x and the factor of A there, unless the workspace has them.
 *  @return false if A is singular there, or not finite */
template <class Number>
CONSTRAINTS_INLINE bool SparseBatch<Number>::prepare(const Real3* x, Workspace& work) const {
    const DistancePattern& pattern = data.pattern;
    const int numParticles = pattern.numParticles();
    int p = 0;
    while (work.owner == this && p < numParticles && Traits::same(data.load(x, p), work.place[p]))
        p++;
    if (p == numParticles)
        return true;
    for (int p = 0; p < numParticles; p++)
        work.place[p] = data.load(x, p);
    const Vector* place = work.place.data();
    for (int k = 0; k < pattern.numRows(); k++) {
        const LocalPair pair = pattern.pairs[k];
        work.bond[k] = place[pair.first] - place[pair.second];
        work.square[k] = inner(work.bond[k], work.bond[k]);
    }
    const bool isRegular = factorize<true>(work, work.bond.data());
    work.owner = isRegular ? this : nullptr;
    return isRegular;
}

/** A_kl = sum_i (1/m_i) gradient_k . bond_l and its factor, column after column: A(b, a) -= L(b, k) U(k, a) for all
 * rows a, b that column k has; U = D L^T where A is symmetric. @return false if A is singular, or not finite */
template <class Number>
template <bool symmetric>
CONSTRAINTS_INLINE bool SparseBatch<Number>::factorize(Workspace& work, const Vector* gradient) const {
    const DistancePattern& pattern = data.pattern;
    const Number zero{}, one = zero + 1;
    const Vector* bond = work.bond.data();
    Number *diagonal = work.diagonal.data(), *lower = work.lower.data(), *upper = work.upper.data();
    const Number *first = data.parameters->firstWeight.data(), *second = data.parameters->secondWeight.data();
    for (int k = 0; k < pattern.numRows(); k++)
        diagonal[k] = (first[k] + second[k]) * inner(gradient[k], bond[k]);
    std::fill(lower, lower + pattern.numEntries(), zero);
    if (!symmetric)
        std::fill(upper, upper + pattern.numEntries(), zero);
    const Number* weight = data.parameters->weight.data();
    for (const DistancePattern::Meeting& m : pattern.meetings) {
        lower[m.entry] = *weight * inner(gradient[m.row], bond[m.column]);
        if (!symmetric)
            upper[m.entry] = *weight * inner(gradient[m.column], bond[m.row]);
        weight++;
    }

    Number isSingular = zero;
    Number* inverse = work.inverse.data();
    const Number* square = work.square.data();
    for (const DistancePattern::Run& run : pattern.runs) {
        Number *l = lower + run.entry, *u = upper + run.entry;
        const int* row = pattern.entryRow.data() + run.entry;
        const int* target = pattern.updateTarget.data() + run.update;
        forLength(run.length, [&](auto length) CONSTRAINTS_INLINE_LAMBDA {
            for (int k = run.begin; k < run.end; k++, l += length, u += length, row += length) {
                // False for NaN too.
                isSingular = diagonal[k] > pivotThreshold * (first[k] + second[k]) * square[k] ? isSingular : one;
                inverse[k] = 1 / diagonal[k];
                for (int a = 0; a < length; a++) {
                    if (symmetric)
                        u[a] = l[a];
                    l[a] *= inverse[k];
                }
                for (int a = 0; a < length; a++) {
                    diagonal[row[a]] -= l[a] * u[a];
                    for (int b = a + 1; b < length; b++, target++) {
                        lower[*target] -= l[b] * u[a];
                        if (!symmetric)
                            upper[*target] -= l[a] * u[b];
                    }
                }
            }
        });
    }
    return Traits::largest(isSingular) == 0;
}

/** x = A^-1 x. */
template <class Number>
template <bool symmetric>
CONSTRAINTS_INLINE void SparseBatch<Number>::solve(Workspace& work) const {
    const DistancePattern& pattern = data.pattern;
    const Number *inverse = work.inverse.data(), *lower = work.lower.data(), *upper = work.upper.data();
    Number* x = work.x.data();
    for (auto run = pattern.runs.begin(); run != pattern.runs.end(); ++run) {
        const Number* l = lower + run->entry;
        const int* row = pattern.entryRow.data() + run->entry;
        forLength(run->length, [=](auto length) mutable CONSTRAINTS_INLINE_LAMBDA {
            for (int k = run->begin; length > 0 && k < run->end; k++, l += length, row += length) {
                const Number known = x[k];
                for (int a = 0; a < length; a++)
                    x[row[a]] -= l[a] * known;
            }
        });
    }
    for (auto run = pattern.runs.rbegin(); run != pattern.runs.rend(); ++run) {
        const Number* u = (symmetric ? lower : upper) + run->entry;
        const int* row = pattern.entryRow.data() + run->entry;
        forLength(run->length, [=](auto length) mutable CONSTRAINTS_INLINE_LAMBDA {
            for (int k = run->begin; k < run->end; k++, u += length, row += length) {
                Number sum = symmetric ? x[k] * inverse[k] : x[k];
                for (int a = 0; a < length; a++)
                    sum -= u[a] * x[row[a]];
                x[k] = symmetric ? sum : sum * inverse[k];
            }
        });
    }
}

/** What follows from a correction x of the multipliers: moved_i += (1/m_i) sum_k x_k grad_i sigma_k. */
template <class Number>
CONSTRAINTS_INLINE void SparseBatch<Number>::applyCorrection(Workspace& work, Number* multiplier) const {
    const Number *first = data.parameters->firstWeight.data(), *second = data.parameters->secondWeight.data();
    const Number* x = work.x.data();
    const LocalPair* pairs = data.pattern.pairs.data();
    const Vector* bond = work.bond.data();
    Vector* moved = work.moved.data();
    for (int k = 0; k < data.pattern.numRows(); k++) {
        const int i = pairs[k].first, j = pairs[k].second;
        multiplier[k] += x[k];
        const Vector impulse = x[k] * bond[k];
        moved[i] = moved[i] + first[k] * impulse;
        moved[j] = moved[j] - second[k] * impulse;
    }
}

// ---- the stages
// ------------------------------------------------------------------------------------------------------

/** Repeat A d lambda = -sigma until no error exceeds the tolerance.
 *  @param residual  (row, difference of its particles' moved) -> sigma
 *  @param toError   what makes an error of sigma/L^2, in units of the tolerance
 *  @param isLinear  the start's A is exact */
template <class Number>
template <bool isLinear, class Residual>
CONSTRAINTS_INLINE BatchReport SparseBatch<Number>::iterate(Workspace& work, Aligned<Number>& multipliers,
                                                            double toError, double tolerance, int maxIterations,
                                                            Residual residual) const {
    const int n = data.pattern.numRows();
    const LocalPair* pairs = data.pattern.pairs.data();
    const Number* inverseSquare = data.parameters->inverseSquare.data();
    const Vector* moved = work.moved.data();
    Number *x = work.x.data(), *multiplier = multipliers.data();
    std::fill(multiplier, multiplier + n, Number{});
    bool isSymmetric = true;
    double last = 0;
    BatchReport report;
    for (;; report.iterations++) {
        Number maxError{}, sum{};
        for (int k = 0; k < n; k++) {
            const Number sigma = residual(k, moved[pairs[k].first] - moved[pairs[k].second]);
            const Number error = absolute(sigma) * inverseSquare[k];
            x[k] = -sigma;
            maxError = larger(error, maxError);
            sum += error; // keeps a NaN, which a comparison does not
        }
        report.maxError = toError * Traits::largest(maxError);
        if (!std::isfinite(Traits::sum(sum)))
            return report;
        // At least one correction: errors left below the tolerance would be off to the same side step after step.
        report.converged = report.maxError == 0 || (report.maxError <= tolerance && report.iterations > 0);
        if (report.converged || report.iterations == maxIterations)
            return report;
        // What a new factor costs is worth some four iterations.
        if (!isLinear && report.iterations > 0 && report.maxError * std::pow(report.maxError / last, 4) > tolerance) {
            work.owner = nullptr;
            isSymmetric = false;
            for (int k = 0; k < n; k++)
                work.gradient[k] = work.bond[k] + (moved[pairs[k].first] - moved[pairs[k].second]);
            if (!factorize<false>(work, work.gradient.data()))
                return report;
        }
        last = report.maxError;
        if (isSymmetric)
            solve<true>(work);
        else
            solve<false>(work);
        applyCorrection(work, multiplier);
    }
}

/** Whether a bond has turned by 90 degrees or more: beyond lies another root. */
template <class Number>
CONSTRAINTS_INLINE bool SparseBatch<Number>::isTurned(const Workspace& work) const {
    // s.b > 0 follows from |s - b|^2 < |b|^2, and that from displacements of less than half of it.
    const DistancePattern& pattern = data.pattern;
    Number farthest{};
    for (int p = 0; p < pattern.numParticles(); p++)
        farthest = larger(inner(work.moved[p], work.moved[p]), farthest);
    if (4 * Traits::largest(farthest) < data.parameters->shortest * data.parameters->shortest)
        return false;
    Number turned{};
    const Number one = turned + 1;
    for (int k = 0; k < pattern.numRows(); k++) {
        const auto [first, second] = pattern.pairs[k];
        const Vector s = work.bond[k] + (work.moved[first] - work.moved[second]);
        turned = inner(s, work.bond[k]) > pivotThreshold * work.square[k] ? turned : one;
    }
    return Traits::largest(turned) > 0;
}

template <class Number>
BatchReport SparseBatch<Number>::positionStage(const Real3* x, Real3* delta, double tolerance, int maxIterations,
                                               Real3* velocity, double perTime, ThreadWorkspace& shared) {
    Workspace& work = workspace(shared);
    if (!prepare(x, work))
        return {};
    for (int p = 0; p < data.pattern.numParticles(); p++)
        work.moved[p] = data.load(delta, p);
    BatchReport report = iterate<false>(work, lambda.value, 1, tolerance, maxIterations,
                                        [bond = work.bond.data(), square = data.parameters->square.data()](
                                            int k, const Vector& difference) CONSTRAINTS_INLINE_LAMBDA -> Number {
                                            const Vector s = bond[k] + difference;
                                            return 0.5 * (inner(s, s) - square[k]);
                                        });
    if (report.converged && isTurned(work))
        report.converged = false;
    if (!report.converged)
        return report;
    data.storeMoved(work.moved.data(), delta, velocity, perTime);
    std::copy_n(work.square.begin(), data.pattern.numRows(), lambda.square.begin());
    return report;
}

template <class Number>
BatchReport SparseBatch<Number>::velocityStage(const Real3* x, Real3* velocity, double timeScale, double tolerance,
                                               int maxIterations, ThreadWorkspace& shared) {
    Workspace& work = workspace(shared);
    if (!prepare(x, work))
        return {};
    // An immovable particle does not move, whatever velocity it was given.
    for (int p = 0; p < data.pattern.numParticles(); p++)
        work.moved[p] = data.pattern.isMovable[p] ? data.load(velocity, p) : Vector{};
    const BatchReport report =
        iterate<true>(work, mu.value, timeScale, tolerance, maxIterations,
                      [bond = work.bond.data()](int k, const Vector& difference)
                          CONSTRAINTS_INLINE_LAMBDA -> Number { return inner(bond[k], difference); });
    if (!report.converged)
        return report;
    data.storeVelocities(work.moved.data(), velocity);
    std::copy_n(work.square.begin(), data.pattern.numRows(), mu.square.begin());
    return report;
}

template <class Number>
int SparseBatch<Number>::worstRow() const {
    if constexpr (Traits::width == 1) {
        const Aligned<double>& inverseSquare = data.parameters->inverseSquare;
        int worst = 0;
        double largest = 0;
        for (int k = 0; k < data.pattern.numRows(); k++) {
            const double error = absolute(own.x[k]) * inverseSquare[k];
            if (error > largest) {
                largest = error;
                worst = k;
            }
        }
        return worst;
    }
    return -1;
}

template <class Number>
std::unique_ptr<DistanceBatch> make(const DistancePattern& pattern, const std::vector<const DistanceCluster*>& clusters,
                                    const DistanceBatch* like) {
    return std::make_unique<SparseBatch<Number>>(pattern, clusters, static_cast<const SparseBatch<Number>*>(like));
}

} // namespace

std::unique_ptr<DistanceBatch> makeSparseBatch(bool useLanes, const DistancePattern& pattern,
                                               const std::vector<const DistanceCluster*>& clusters,
                                               const DistanceBatch* like) {
    return useLanes ? make<Lanes>(pattern, clusters, like) : make<double>(pattern, clusters, like);
}

} // namespace ConstraintPlugin
