// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SparseBatch.h"
#include "SparseFactor.h"
#include <algorithm>
#include <cstring>

namespace ConstraintPlugin {

namespace {

/** Distances of any pattern: one cluster (Number = double), or four equal ones side by side (Number = Lanes).
 *
 *  Both stages begin with the symmetric matrix A_kl = sum_i (1/m_i) grad_i sigma_k . grad_i sigma_l at the start of the
 *  step. It is factored as L D L^T once and kept for the next stage if that begins at the same positions, as RATTLE's
 *  position stage does. With this matrix positions converge linearly (chord Newton). If many further iterations are
 *  expected, A = L U with the present gradients of sigma_k replaces it, as in Newton's method. Source: Elber,
 * Ruymgaart, Hess, Eur. Phys. J. Special Topics 200, 211 (2011), doi:10.1140/epjst/e2011-01525-9.
 *
 *  A large cluster has parts, which threads process in parallel, and a top, which one thread processes between them. */
template <class Number>
class SparseBatch : public DistanceBatch {
public:
    SparseBatch(const DistancePattern& pattern, const std::vector<const DistanceCluster*>& clusters,
                const SparseBatch* like)
        : data(pattern, clusters, like == nullptr ? nullptr : &like->data), lambda(pattern.numRows()),
          mu(pattern.numRows()) {
    }
    BatchReport solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance, int maxIterations,
                               Real3* velocity, double perTime, ThreadWorkspace& shared) override;
    BatchReport solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale, double tolerance,
                                int maxIterations, ThreadWorkspace& shared) override;
    int worstRow() const override;
    void getPositionMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        lambda.get(data.pattern, firstRow, byRow);
    }
    void getVelocityMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        mu.get(data.pattern, firstRow, byRow);
    }

private:
    using Traits = LaneTraits<Number>;
    using Vector = typename Traits::Vector;
    using Workspace = SparseWorkspace<Number>;
    using Part = DistancePattern::Part;
    struct Range { // of particles
        int begin, end;
    };
    struct Errors {
        double largest = 0; // of sigma/L^2
        double sum = 0;     // not finite if any is not
    };

    Workspace& workspace(ThreadWorkspace& shared);

    // ---- all of a stage; all parts, then the top ----
    bool prepare(const Real3* x, const Box& box, Workspace& work, TaskRunner* runner) const;
    template <bool isLinear>
    BatchReport iterate(Workspace& work, Aligned<Number>& multipliers, double toError, double tolerance,
                        int maxIterations, TaskRunner* runner) const;

    // ---- on one part, or on some particles; compiled for several machines ----
    CONSTRAINTS_CLONES bool isAt(const Real3* x, const Workspace& work, Range range) const;
    CONSTRAINTS_CLONES void take(const Real3* array, Vector* to, Range range) const;
    CONSTRAINTS_CLONES void takeBonds(Workspace& work, const Part& part) const;
    template <bool isLinear>
    CONSTRAINTS_CLONES Errors evaluate(Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void takeGradients(Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void applyCorrection(Workspace& work, Number* multiplier, const Part& part) const;
    CONSTRAINTS_CLONES double farthestSquare(const Workspace& work, Range range) const;
    CONSTRAINTS_CLONES bool isTurned(const Workspace& work, const Part& part) const;
    CONSTRAINTS_CLONES void storeMoved(const Workspace& work, Real3* delta, Real3* velocity, double perTime,
                                       Range range) const;
    CONSTRAINTS_CLONES void storeVelocities(const Workspace& work, Real3* velocity, Range range) const;

    /** phase(range) for all particles. */
    template <class Phase>
    void overParticles(TaskRunner* runner, Phase phase) const {
        const long long n = data.pattern.numParticles(), numParts = data.pattern.parts.size();
        overParts(data.pattern, runner, [&](int i) {
            phase(Range{(int) (n * i / numParts), (int) (n * (i + 1) / numParts)});
        });
        if (numParts == 0)
            phase(Range{0, (int) n});
    }

    /** Cost of a new factor, in iterations. */
    static constexpr int worthOfFactor = 4;

    DistanceData<Number> data;
    SparseFactor<Number> factor{data};
    DistanceMultipliers<Number> lambda, mu;
    Workspace own; // of a single cluster, whose factor is kept for the next stage; empty if there are several lanes
};

template <class Number>
void resize(SparseWorkspace<Number>& work, const DistancePattern& pattern) {
    auto grow = [](auto& array, int size) {
        if ((int) array.size() < size)
            array.resize(size);
    };
    for (auto* array : {&work.place, &work.moved})
        grow(*array, pattern.numParticles());
    grow(work.bond, pattern.numRows());
    for (auto* array : {&work.square, &work.x, &work.diagonal, &work.inverse})
        grow(*array, pattern.numRows());
    for (auto* array : {&work.lower, &work.upper})
        grow(*array, pattern.numEntries());
    work.toTop.resize(pattern.parts.size());
    for (auto& toTop : work.toTop) {
        for (auto* array : {&toTop.x, &toTop.diagonal})
            grow(*array, pattern.numRows() - pattern.top.beginRow);
        for (auto* array : {&toTop.lower, &toTop.upper})
            grow(*array, pattern.numEntries() - pattern.firstEntry(pattern.top));
    }
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

/** Bonds at x and the factor of A there, unless the workspace has them.
 *  @return false if A is singular there, or not finite */
template <class Number>
bool SparseBatch<Number>::prepare(const Real3* x, const Box& box, Workspace& work, TaskRunner* runner) const {
    const bool isPeriodic = data.pattern.isPeriodic;
    if (!data.hasImages(box))
        return false;
    const bool isItsBox = !isPeriodic || std::memcmp(&work.box, &box, sizeof(Box)) == 0;
    if (work.owner == this && isItsBox && isAt(x, work, {0, data.pattern.numParticles()}))
        return true;
    work.box = box;
    overParticles(runner, [&](Range range) { take(x, work.place.data(), range); });
    everywhere(data.pattern, runner, [&](const Part& part) { takeBonds(work, part); });
    const bool isRegular = factor.template factorize<true>(work, work.bond.data(), runner);
    work.owner = isRegular ? this : nullptr;
    return isRegular;
}

template <class Number>
bool SparseBatch<Number>::isAt(const Real3* x, const Workspace& work, Range range) const {
    for (int p = range.begin; p < range.end; p++)
        if (!Traits::same(data.load(x, p), work.place[p]))
            return false;
    return true;
}

template <class Number>
void SparseBatch<Number>::take(const Real3* array, Vector* to, Range range) const {
    for (int p = range.begin; p < range.end; p++)
        to[p] = data.load(array, p);
}

template <class Number>
void SparseBatch<Number>::takeBonds(Workspace& work, const Part& part) const {
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

template <class Number>
void SparseBatch<Number>::takeGradients(Workspace& work, const Part& part) const {
    const LocalPair* pairs = data.pattern.pairs.data();
    const Vector* moved = work.moved.data();
    for (int k = part.beginRow; k < part.endRow; k++)
        work.gradient[k] = work.bond[k] + (moved[pairs[k].first] - moved[pairs[k].second]);
}

/** Apply a correction x of the multipliers: moved_i += (1/m_i) sum_k x_k grad_i sigma_k. */
template <class Number>
void SparseBatch<Number>::applyCorrection(Workspace& work, Number* multiplier, const Part& part) const {
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

// ---- the stages
// ------------------------------------------------------------------------------------------------------

/** sigma of the velocity stage (linear) or of the position stage, with its sign changed, to x. */
template <class Number>
template <bool isLinear>
typename SparseBatch<Number>::Errors SparseBatch<Number>::evaluate(Workspace& work, const Part& part) const {
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
    return {Traits::largest(maxError), Traits::sum(sum)};
}

/** Repeat A d lambda = -sigma until no error exceeds the tolerance.
 *  @param toError   factor from sigma/L^2 to the error in units of the tolerance */
template <class Number>
template <bool isLinear>
BatchReport SparseBatch<Number>::iterate(Workspace& work, Aligned<Number>& multipliers, double toError,
                                         double tolerance, int maxIterations, TaskRunner* runner) const {
    const DistancePattern& pattern = data.pattern;
    std::vector<Errors> errors(pattern.parts.size());
    std::fill(multipliers.begin(), multipliers.end(), Number{});
    bool isSymmetric = true;
    double last = 0;
    BatchReport report;
    for (;; report.iterations++) {
        overParts(data.pattern, runner, [&](int i) { errors[i] = evaluate<isLinear>(work, pattern.parts[i]); });
        Errors all = evaluate<isLinear>(work, pattern.top);
        for (const Errors& one : errors) {
            all.largest = std::max(all.largest, one.largest);
            all.sum += one.sum;
        }
        report.maxError = toError * all.largest;
        if (!std::isfinite(all.sum))
            return report;
        // At least one correction: errors below the tolerance would otherwise have the same sign in every step.
        report.converged = report.maxError == 0 || (report.maxError <= tolerance && report.iterations > 0);
        if (report.converged || report.iterations == maxIterations)
            return report;
        if (!isLinear && report.iterations > 0 &&
            report.maxError * std::pow(report.maxError / last, worthOfFactor) > tolerance) {
            work.owner = nullptr;
            isSymmetric = false;
            work.gradient.resize(work.bond.size());
            everywhere(data.pattern, runner, [&](const Part& part) { takeGradients(work, part); });
            if (!factor.template factorize<false>(work, work.gradient.data(), runner))
                return report;
        }
        last = report.maxError;
        if (isSymmetric)
            factor.template solve<true>(work, runner);
        else
            factor.template solve<false>(work, runner);
        everywhere(data.pattern, runner, [&](const Part& part) { applyCorrection(work, multipliers.data(), part); });
    }
}

template <class Number>
double SparseBatch<Number>::farthestSquare(const Workspace& work, Range range) const {
    Number farthest{};
    for (int p = range.begin; p < range.end; p++)
        farthest = larger(inner(work.moved[p], work.moved[p]), farthest);
    return Traits::largest(farthest);
}

/** Whether a bond has rotated by 90 degrees or more, so that the solution may be a wrong root. */
template <class Number>
bool SparseBatch<Number>::isTurned(const Workspace& work, const Part& part) const {
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
void SparseBatch<Number>::storeMoved(const Workspace& work, Real3* delta, Real3* velocity, double perTime,
                                     Range range) const {
    data.storeMoved(work.moved.data(), delta, velocity, perTime, range.begin, range.end);
}

template <class Number>
void SparseBatch<Number>::storeVelocities(const Workspace& work, Real3* velocity, Range range) const {
    data.storeVelocities(work.moved.data(), velocity, range.begin, range.end);
}

template <class Number>
BatchReport SparseBatch<Number>::solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance,
                                                int maxIterations, Real3* velocity, double perTime,
                                                ThreadWorkspace& shared) {
    const DistancePattern& pattern = data.pattern;
    Workspace& work = workspace(shared);
    TaskRunner* runner = shared.runner;
    if (!prepare(x, box, work, runner))
        return {};
    overParticles(runner, [&](Range range) { take(delta, work.moved.data(), range); });
    BatchReport report = iterate<false>(work, lambda.value, 1, tolerance, maxIterations, runner);
    if (!report.converged)
        return report;
    // s.b > 0 follows from |s - b|^2 < |b|^2, and that from displacements of less than half of it.
    const double shortest = data.parameters->shortest;
    if (4 * farthestSquare(work, {0, pattern.numParticles()}) >= shortest * shortest) {
        everywhere(data.pattern, nullptr,
                   [&](const Part& part) { report.converged = report.converged && !isTurned(work, part); });
        if (!report.converged)
            return report;
    }
    overParticles(runner, [&](Range range) { storeMoved(work, delta, velocity, perTime, range); });
    for (int k = 0; k < pattern.numRows(); k++)
        lambda.value[k] *= squareRoot(work.square[k]);
    return report;
}

template <class Number>
BatchReport SparseBatch<Number>::solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale,
                                                 double tolerance, int maxIterations, ThreadWorkspace& shared) {
    const DistancePattern& pattern = data.pattern;
    Workspace& work = workspace(shared);
    TaskRunner* runner = shared.runner;
    if (!prepare(x, box, work, runner))
        return {};
    overParticles(runner, [&](Range range) { take(velocity, work.moved.data(), range); });
    // The velocity of an immovable particle counts as zero.
    for (int p = 0; p < pattern.numParticles(); p++)
        if (!pattern.isMovable[p])
            work.moved[p] = Vector{};
    const BatchReport report = iterate<true>(work, mu.value, timeScale, tolerance, maxIterations, runner);
    if (!report.converged)
        return report;
    overParticles(runner, [&](Range range) { storeVelocities(work, velocity, range); });
    for (int k = 0; k < pattern.numRows(); k++)
        mu.value[k] *= squareRoot(work.square[k]);
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
