// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SparseBatch.h"
#include "SparseFactor.h"
#include "SparseLoops.h"
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
 *  A large cluster has parts, which threads process in parallel, and a top, which separates them and which one thread
 *  processes between them. Threads wait for each other once an iteration: a part that is corrected finds its errors at
 *  once and begins with the next correction. Of any other cluster all rows are the top. */
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
        copyMultipliers(data.pattern, lambda.data(), firstRow.data(), data.count, byRow);
    }
    void getVelocityMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        copyMultipliers(data.pattern, mu.data(), firstRow.data(), data.count, byRow);
    }
    void setLengths(const std::vector<const DistanceCluster*>& clusters, const DistanceBatch* like) override {
        data.setLengths(clusters, like == nullptr ? nullptr : &static_cast<const SparseBatch*>(like)->data);
    }

private:
    using Traits = LaneTraits<Number>;
    using Vector = typename Traits::Vector;
    using Workspace = SparseWorkspace<Number>;
    using Part = DistancePattern::Part;
    using Finding = typename Workspace::Finding;
    struct Stage {
        const Real3* x;
        const Box& box;
        const Real3* given; ///< displacements or velocities
        double toError;     ///< factor from sigma/L^2 to the error in units of the tolerance
        double tolerance;
        int maxIterations;
        Number* multiplier;
        TaskRunner* runner;
    };

    Workspace& workspace(ThreadWorkspace& shared);

    // ---- all of a stage ----
    template <bool isLinear>
    LaneReport solve(Workspace& work, const Stage& stage) const;
    template <bool isLinear>
    bool begin(Workspace& work, const Stage& stage) const;
    template <bool isLinear>
    LaneReport iterate(Workspace& work, const Stage& stage) const;
    bool refactorize(Workspace& work, const Stage& stage) const;
    bool mayHaveTurned(Workspace& work) const;
    BatchReport reportOf(const LaneReport& report) const {
        BatchReport result;
        result.add(report, {0, data.count});
        return result;
    }

    // ---- all of a part that comes between two points where threads wait ----
    template <bool isLinear>
    void beginPart(Workspace& work, const Stage& stage, int i, bool isKept) const;
    template <bool isLinear>
    void correctPart(Workspace& work, const Stage& stage, int i, bool isSymmetric, double lastError) const;

    /** phase(i) for all parts, in parallel. */
    template <class Phase>
    void overParts(TaskRunner* runner, Phase phase) const {
        const int numParts = (int) data.pattern.parts.size();
        if (runner != nullptr && numParts > 0)
            runner->run(numParts, [&](int i, int) { phase(i); });
        else
            for (int i = 0; i < numParts; i++)
                phase(i);
    }
    /** phase(part) for all parts, in parallel, and for the top. */
    template <class Phase>
    void everywhere(TaskRunner* runner, Phase phase) const {
        overParts(runner, [&](int i) { phase(data.pattern.parts[i]); });
        phase(data.pattern.top);
    }

    /** Cost of a new factor, in iterations. */
    static constexpr int worthOfFactor = 4;
    /** Whether a new factor takes less time than the iterations without it. */
    static bool isWorthFactor(double error, double lastError, double tolerance) {
        return error * std::pow(error / lastError, worthOfFactor) > tolerance;
    }

    DistanceData<Number> data;
    SparseFactor<Number> factor{data};
    SparseLoops<Number> loops{data};
    Aligned<Number> lambda, mu; // [rows] multipliers of lengths; during a solve, of |s|^2/2
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
    for (auto* array : {&work.square, &work.inverse})
        grow(*array, pattern.numRows());
    for (auto* array : {&work.x, &work.diagonal})
        grow(*array, pattern.numStoredRows);
    for (auto* array : {&work.lower, &work.upper})
        grow(*array, pattern.numStoredEntries);
    work.findings.resize(pattern.parts.size());
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

// ---- the stages -----------------------------------------------------------------------------------------------------

template <class Number>
template <bool isLinear>
void SparseBatch<Number>::beginPart(Workspace& work, const Stage& stage, int i, bool isKept) const {
    const Part& part = data.pattern.parts[i];
    Finding& finding = work.findings[i];
    finding.isNew = !isKept || !loops.isAt(stage.x, work, part);
    if (finding.isNew) {
        loops.take(stage.x, work.place.data(), part);
        loops.takeBonds(work, part);
        finding.isRegular = factor.template factorize<true>(work, work.bond.data(), part);
    }
    loops.take(stage.given, work.moved.data(), part);
    std::fill(stage.multiplier + part.beginRow, stage.multiplier + part.endRow, Number{});
    loops.template evaluate<isLinear>(work, part, finding);
    finding.isForwarded = true;
    finding.farthest = -1;
    factor.solvePartForward(work, part);
}

template <class Number>
template <bool isLinear>
void SparseBatch<Number>::correctPart(Workspace& work, const Stage& stage, int i, bool isSymmetric,
                                      double lastError) const {
    const Part& part = data.pattern.parts[i];
    Finding& finding = work.findings[i];
    if (isSymmetric)
        factor.template solvePartBackward<true>(work, part);
    else
        factor.template solvePartBackward<false>(work, part);
    loops.applyCorrection(work, stage.multiplier, part);
    loops.applyTop(work, part);
    loops.template evaluate<isLinear>(work, part, finding);
    // Begin with the next correction, if there will be one with this factor as far as this part knows.
    const double error = stage.toError * finding.largest;
    finding.isForwarded = error > stage.tolerance && (isLinear || !isWorthFactor(error, lastError, stage.tolerance));
    if (finding.isForwarded)
        factor.solvePartForward(work, part);
    else if (!isLinear)
        finding.farthest = loops.farthestSquare(work, part);
}

/** Bonds at x and the factor of A there, unless the workspace has them; the first errors of all parts.
 *  @return false if A is singular there, or not finite */
template <class Number>
template <bool isLinear>
bool SparseBatch<Number>::begin(Workspace& work, const Stage& stage) const {
    const DistancePattern& pattern = data.pattern;
    if (!data.hasLengths(stage.box))
        return false;
    const bool isItsBox = !pattern.isPeriodic || std::memcmp(&work.box, &stage.box, sizeof(Box)) == 0;
    const bool isKept = work.owner == this && isItsBox;
    work.owner = nullptr;
    work.box = stage.box;
    if (pattern.isSplit())
        loops.takeTopBonds(work, stage.x);
    overParts(stage.runner, [&](int i) { beginPart<isLinear>(work, stage, i, isKept); });
    bool isNew = !isKept || !loops.isAt(stage.x, work, pattern.top);
    for (const Finding& finding : work.findings) {
        if (!finding.isRegular)
            return false;
        isNew = isNew || finding.isNew;
    }
    if (isNew) {
        loops.take(stage.x, work.place.data(), pattern.top);
        if (!pattern.isSplit())
            loops.takeBonds(work, pattern.top);
        if (!factor.template factorize<true>(work, work.bond.data(), pattern.top))
            return false;
    }
    work.owner = this;
    loops.take(stage.given, work.moved.data(), pattern.top);
    // The velocity of an immovable particle counts as zero. Parts have none.
    for (int p = pattern.top.beginParticle; isLinear && p < pattern.top.endParticle; p++)
        if (!pattern.isMovable[p])
            work.moved[p] = Vector{};
    std::fill(stage.multiplier + pattern.top.beginRow, stage.multiplier + pattern.top.endRow, Number{});
    return true;
}

/** A = L U with the present gradients, and the beginning of a correction with it.
 *  @return false if A is singular, or not finite */
template <class Number>
bool SparseBatch<Number>::refactorize(Workspace& work, const Stage& stage) const {
    const DistancePattern& pattern = data.pattern;
    work.owner = nullptr;
    work.gradient.resize(work.bond.size());
    loops.takeGradients(work, pattern.top); // parts have elements with these
    overParts(stage.runner, [&](int i) {
        const Part& part = pattern.parts[i];
        Finding& finding = work.findings[i];
        loops.takeGradients(work, part);
        finding.isRegular = factor.template factorize<false>(work, work.gradient.data(), part);
        if (finding.isForwarded)
            loops.template evaluate<false>(work, part, finding);
        factor.solvePartForward(work, part);
    });
    for (const Finding& finding : work.findings)
        if (!finding.isRegular)
            return false;
    return factor.template factorize<false>(work, work.gradient.data(), pattern.top);
}

/** Repeat A d lambda = -sigma until no error exceeds the tolerance. */
template <class Number>
template <bool isLinear>
LaneReport SparseBatch<Number>::iterate(Workspace& work, const Stage& stage) const {
    const DistancePattern& pattern = data.pattern;
    bool isSymmetric = true;
    double last = 0;
    LaneReport report;
    for (;; report.iterations++) {
        loops.template evaluate<isLinear>(work, pattern.top, work.ofTop);
        Finding all = work.ofTop;
        for (const Finding& one : work.findings) {
            all.largest = std::max(all.largest, one.largest);
            all.sum += one.sum;
        }
        report.maxError = stage.toError * all.largest;
        if (!std::isfinite(all.sum))
            return report;
        // At least one correction: errors below the tolerance would otherwise have the same sign in every step.
        report.converged = report.maxError == 0 || (report.maxError <= stage.tolerance && report.iterations > 0);
        if (report.converged || report.iterations == stage.maxIterations)
            return report;
        if (!isLinear && report.iterations > 0 && isWorthFactor(report.maxError, last, stage.tolerance)) {
            isSymmetric = false;
            if (!refactorize(work, stage))
                return report;
        } else
            for (std::size_t i = 0; i < work.findings.size(); i++)
                if (!work.findings[i].isForwarded) // its own errors are small
                    factor.solvePartForward(work, pattern.parts[i]);
        last = report.maxError;
        if (isSymmetric)
            factor.template solveTop<true>(work);
        else
            factor.template solveTop<false>(work);
        if (pattern.isSplit()) {
            for (int k = pattern.top.beginRow; k < pattern.top.endRow; k++)
                stage.multiplier[k] += work.x[k];
            loops.applyTop(work, pattern.top);
        } else
            loops.applyCorrection(work, stage.multiplier, pattern.top);
        overParts(stage.runner, [&](int i) { correctPart<isLinear>(work, stage, i, isSymmetric, last); });
    }
}

template <class Number>
template <bool isLinear>
LaneReport SparseBatch<Number>::solve(Workspace& work, const Stage& stage) const {
    return begin<isLinear>(work, stage) ? iterate<isLinear>(work, stage) : LaneReport();
}

/** Whether isTurned() has to be asked: s.b > 0 follows from |s - b|^2 < |b|^2, and that from displacements of less than
 *  half of it. */
template <class Number>
bool SparseBatch<Number>::mayHaveTurned(Workspace& work) const {
    const DistancePattern& pattern = data.pattern;
    double farthest = loops.farthestSquare(work, pattern.top);
    for (std::size_t i = 0; i < work.findings.size(); i++) {
        double& mine = work.findings[i].farthest;
        if (mine < 0) // there was no correction
            mine = loops.farthestSquare(work, pattern.parts[i]);
        farthest = std::max(farthest, mine);
    }
    return 4 * farthest >= data.parameters->shortest * data.parameters->shortest;
}

template <class Number>
BatchReport SparseBatch<Number>::solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance,
                                                int maxIterations, Real3* velocity, double perTime,
                                                ThreadWorkspace& shared) {
    Workspace& work = workspace(shared);
    TaskRunner* runner = shared.runner;
    Number* multiplier = lambda.data();
    LaneReport report = solve<false>(work, {x, box, delta, 1, tolerance, maxIterations, multiplier, runner});
    if (report.converged && mayHaveTurned(work))
        everywhere(nullptr,
                   [&](const Part& part) { report.converged = report.converged && !loops.isTurned(work, part); });
    if (report.converged)
        everywhere(runner, [&](const Part& part) {
            loops.storeMoved(work, delta, velocity, perTime, part);
            loops.toLengths(work, multiplier, part);
        });
    return reportOf(report);
}

template <class Number>
BatchReport SparseBatch<Number>::solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale,
                                                 double tolerance, int maxIterations, ThreadWorkspace& shared) {
    Workspace& work = workspace(shared);
    TaskRunner* runner = shared.runner;
    Number* multiplier = mu.data();
    const LaneReport report =
        solve<true>(work, {x, box, velocity, timeScale, tolerance, maxIterations, multiplier, runner});
    if (report.converged)
        everywhere(runner, [&](const Part& part) {
            loops.storeVelocities(work, velocity, part);
            loops.toLengths(work, multiplier, part);
        });
    return reportOf(report);
}

template <class Number>
int SparseBatch<Number>::worstRow() const {
    if constexpr (Traits::width == 1) {
        const DistancePattern& pattern = data.pattern;
        const Finding* worst = &own.ofTop;
        const Part* part = &pattern.top;
        for (std::size_t i = 0; i < pattern.parts.size(); i++)
            if (own.findings[i].largest > worst->largest) {
                worst = &own.findings[i];
                part = &pattern.parts[i];
            }
        for (int k = part->beginRow; k < part->endRow; k++) // x are the residuals that were found last
            if (absolute(own.x[k]) * data.parameters->inverseSquare[k] == worst->largest)
                return pattern.givenRow[k];
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
