// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SmallBatch.h"
#include "SmallMatrix.h"
#include <limits>

namespace ConstraintPlugin {

namespace {

/** All distances have particle 0. */
template <int n>
struct Star {
    static constexpr int rows = n, particles = n + 1;
    static constexpr int first(int) {
        return 0;
    }
    static constexpr int second(int k) {
        return k + 1;
    }
};

struct Triangle {
    static constexpr int rows = 3, particles = 3;
    static constexpr int first(int k) {
        return k == 2 ? 1 : 0;
    }
    static constexpr int second(int k) {
        return k == 0 ? 1 : 2;
    }
};

template <class Shape>
bool isOf(const DistancePattern& pattern) {
    if (pattern.numRows() != Shape::rows || pattern.numParticles() != Shape::particles)
        return false;
    for (int k = 0; k < Shape::rows; k++)
        if (pattern.pairs[k].first != Shape::first(k) || pattern.pairs[k].second != Shape::second(k))
            return false;
    for (char movable : pattern.isMovable)
        if (!movable)
            return false;
    return true;
}

/** Loops of so few iterations are unrolled, so that arrays are in registers. */
#define CONSTRAINTS_UNROLL _Pragma("GCC unroll 8")

template <class Shape>
class SmallBatch : public DistanceBatch {
public:
    SmallBatch(const DistancePattern& pattern, const std::vector<const DistanceCluster*>& clusters,
               const DistanceBatch* like)
        : data(pattern, clusters, like == nullptr ? nullptr : &static_cast<const SmallBatch*>(like)->data), lambda(n),
          mu(n) {
    }
    BatchReport solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance, int maxIterations,
                               Real3* velocity, double perTime, ThreadWorkspace& shared) override {
        return positionStage(x, box, delta, tolerance, maxIterations, velocity, perTime, shared);
    }
    BatchReport solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale, double tolerance,
                                int maxIterations, ThreadWorkspace& shared) override {
        return velocityStage(x, box, velocity, timeScale, tolerance, maxIterations, shared);
    }
    void getPositionMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        lambda.get(data.pattern, firstRow, byRow);
    }
    void getVelocityMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const override {
        mu.get(data.pattern, firstRow, byRow);
    }

private:
    // Compiled for several instruction sets, which is not possible for virtual functions.
    CONSTRAINTS_CLONES BatchReport positionStage(const Real3* x, const Box& box, Real3* delta, double tolerance,
                                                 int maxIterations, Real3* velocity, double perTime,
                                                 ThreadWorkspace& shared);
    CONSTRAINTS_CLONES BatchReport velocityStage(const Real3* x, const Box& box, Real3* velocity, double timeScale,
                                                 double tolerance, int maxIterations, ThreadWorkspace& shared);

    static constexpr int n = Shape::rows, numParticles = Shape::particles;

    /** What both stages begin with: bond vectors at the start, and what moves. begin(): false where it cannot. */
    struct State {
        LanesVector bond[n], moved[numParticles];
        Lanes multiplier[n];
        Lanes inverseMass[numParticles];
    };
    CONSTRAINTS_INLINE bool begin(const Real3* x, const Box& box, const Real3* toMove, State& state) const {
        LanesVector place[numParticles];
        CONSTRAINTS_UNROLL
        for (int p = 0; p < numParticles; p++) {
            place[p] = data.load(x, p);
            state.moved[p] = data.load(toMove, p);
            state.inverseMass[p] = data.parameters->inverseMass[p];
        }
        CONSTRAINTS_UNROLL
        for (int k = 0; k < n; k++) {
            state.bond[k] = place[Shape::first(k)] - place[Shape::second(k)];
            state.multiplier[k] = Lanes{};
        }
        if (!data.pattern.isPeriodic)
            return true;
        Lanes reach{};
        CONSTRAINTS_UNROLL
        for (int k = 0; k < n; k++)
            reach = larger(data.reach(state.bond[k], box), reach);
        if (Traits::largest(reach) >= 1) // rare: molecules are usually not split by the box
            for (int k = 0; k < n; k++)
                state.bond[k] = data.imageOf(state.bond[k], box);
        return data.hasImages(box);
    }
    static CONSTRAINTS_INLINE LanesVector difference(const State& state, int k) {
        return state.moved[Shape::first(k)] - state.moved[Shape::second(k)];
    }

    /** sum_i (1/m_i) with the signs of both rows, over the particles where they meet. */
    static CONSTRAINTS_INLINE Lanes weight(const State& state, int k, int l) {
        const int i = Shape::first(k), j = Shape::second(k);
        if (k == l)
            return state.inverseMass[i] + state.inverseMass[j];
        if (i == Shape::first(l))
            return state.inverseMass[i];
        if (j == Shape::second(l))
            return state.inverseMass[j];
        return i == Shape::second(l) ? -state.inverseMass[i] : -state.inverseMass[j];
    }

    /** One step of Newton's method: A x = -residual, A_kl = sum_i (1/m_i) grad_i sigma_k . grad_i sigma_l(0), and what
     *  follows from x. @return not 0 in lanes where A is singular, or not finite */
    static CONSTRAINTS_INLINE Lanes correct(State& state, const LanesVector (&gradient)[n],
                                            const Lanes (&residual)[n]) {
        const Lanes zero{}, one = zero + 1;
        Lanes A[n][n], x[n], inverse[n], isSingular = zero;
        CONSTRAINTS_UNROLL
        for (int k = 0; k < n; k++) {
            x[k] = -residual[k];
            CONSTRAINTS_UNROLL
            for (int l = 0; l < n; l++)
                A[k][l] = weight(state, k, l) * inner(gradient[k], state.bond[l]);
        }
        CONSTRAINTS_UNROLL
        for (int k = 0; k < n; k++) { // Gauss's elimination
            const Lanes whole = weight(state, k, k) * inner(gradient[k], state.bond[k]);
            // False for NaN too.
            isSingular = A[k][k] > pivotThreshold * whole ? isSingular : one;
            inverse[k] = 1 / A[k][k];
            CONSTRAINTS_UNROLL
            for (int row = k + 1; row < n; row++) {
                const Lanes l = A[row][k] * inverse[k];
                CONSTRAINTS_UNROLL
                for (int column = k + 1; column < n; column++)
                    A[row][column] -= l * A[k][column];
                x[row] -= l * x[k];
            }
        }
        CONSTRAINTS_UNROLL
        for (int k = n - 1; k >= 0; k--) {
            CONSTRAINTS_UNROLL
            for (int column = k + 1; column < n; column++)
                x[k] -= A[k][column] * x[column];
            x[k] *= inverse[k];
        }
        CONSTRAINTS_UNROLL
        for (int k = 0; k < n; k++) {
            const int i = Shape::first(k), j = Shape::second(k);
            const LanesVector impulse = x[k] * state.bond[k];
            state.multiplier[k] += x[k];
            state.moved[i] = state.moved[i] + state.inverseMass[i] * impulse;
            state.moved[j] = state.moved[j] - state.inverseMass[j] * impulse;
        }
        return isSingular;
    }

    /** Repeat until no error exceeds the tolerance.
     *  @param evaluate  (gradients, residuals, errors) of all rows as they are now */
    template <class Evaluate>
    CONSTRAINTS_INLINE BatchReport newton(State& state, double tolerance, int maxIterations, Evaluate evaluate) const {
        BatchReport report;
        for (;; report.iterations++) {
            LanesVector gradient[n];
            Lanes residual[n], error[n], maxError{}, sum{};
            evaluate(gradient, residual, error);
            CONSTRAINTS_UNROLL
            for (int k = 0; k < n; k++) {
                maxError = larger(error[k], maxError);
                sum += error[k]; // keeps a NaN, which a comparison does not
            }
            report.maxError = Traits::largest(maxError);
            if (!std::isfinite(Traits::sum(sum)))
                return report;
            // At least one correction: errors below the tolerance would otherwise have the same sign in every step.
            report.converged = report.maxError == 0 || (report.maxError <= tolerance && report.iterations > 0);
            if (report.converged || report.iterations == maxIterations)
                return report;
            if (Traits::largest(correct(state, gradient, residual)) != 0)
                return report;
        }
    }

    void keep(const State& state, DistanceMultipliers<Lanes>& multipliers) const {
        for (int k = 0; k < n; k++)
            multipliers.value[k] = state.multiplier[k] * squareRoot(inner(state.bond[k], state.bond[k]));
    }

    static constexpr double turned = std::numeric_limits<double>::infinity();
    using Traits = LaneTraits<Lanes>;
    DistanceData<Lanes> data;
    DistanceMultipliers<Lanes> lambda, mu;
};

template <class Shape>
BatchReport SmallBatch<Shape>::positionStage(const Real3* x, const Box& box, Real3* delta, double tolerance,
                                             int maxIterations, Real3* velocity, double perTime, ThreadWorkspace&) {
    State state;
    if (!begin(x, box, delta, state))
        return {};
    // Newton's method for the length, |s| - L, needs one iteration less than for its square. Its row times |s| is that
    // for the square, with another residual: where e = |s|^2/L^2 - 1, |s| (|s| - L) = (L^2 e/2)(1 + e/4 - e^2/8 + ...).
    const BatchReport report =
        newton(state, tolerance, maxIterations,
               [&](LanesVector(&gradient)[n], Lanes(&residual)[n], Lanes(&error)[n]) CONSTRAINTS_INLINE_LAMBDA {
                   CONSTRAINTS_UNROLL
                   for (int k = 0; k < n; k++) {
                       const LanesVector s = state.bond[k] + difference(state, k);
                       const Lanes e = inner(s, s) * data.parameters->inverseSquare[k] - 1;
                       const Lanes relative = 0.5 * e * (1 + e * (0.25 - 0.125 * e));
                       // If a bond has rotated by 90 degrees or more, the solution may be a wrong root.
                       error[k] = inner(s, state.bond[k]) > Lanes{} ? absolute(relative) : Lanes{} + turned;
                       residual[k] = relative * data.parameters->square[k];
                       gradient[k] = s;
                   }
               });
    if (!report.converged)
        return report;
    data.storeMoved(state.moved, delta, velocity, perTime, 0, numParticles);
    keep(state, lambda);
    return report;
}

template <class Shape>
BatchReport SmallBatch<Shape>::velocityStage(const Real3* x, const Box& box, Real3* velocity, double timeScale,
                                             double tolerance, int maxIterations, ThreadWorkspace&) {
    State state;
    if (!begin(x, box, velocity, state))
        return {};
    const BatchReport report =
        newton(state, tolerance, maxIterations,
               [&](LanesVector(&gradient)[n], Lanes(&residual)[n], Lanes(&error)[n]) CONSTRAINTS_INLINE_LAMBDA {
                   CONSTRAINTS_UNROLL
                   for (int k = 0; k < n; k++) {
                       gradient[k] = state.bond[k];
                       residual[k] = inner(state.bond[k], difference(state, k));
                       error[k] = timeScale * absolute(residual[k]) * data.parameters->inverseSquare[k];
                   }
               });
    if (!report.converged)
        return report;
    data.storeVelocities(state.moved, velocity, 0, numParticles);
    keep(state, mu);
    return report;
}

template <class Shape>
std::unique_ptr<DistanceBatch> makeIf(const DistancePattern& pattern,
                                      const std::vector<const DistanceCluster*>& clusters, const DistanceBatch* like) {
    if (!isOf<Shape>(pattern))
        return nullptr;
    return std::make_unique<SmallBatch<Shape>>(pattern, clusters, like);
}

} // namespace

std::unique_ptr<DistanceBatch> makeSmallBatch(const DistancePattern& pattern,
                                              const std::vector<const DistanceCluster*>& clusters,
                                              const DistanceBatch* like) {
    for (const auto make : {makeIf<Star<1>>, makeIf<Star<2>>, makeIf<Star<3>>, makeIf<Star<4>>, makeIf<Triangle>})
        if (auto batch = make(pattern, clusters, like))
            return batch;
    return nullptr;
}

} // namespace ConstraintPlugin
