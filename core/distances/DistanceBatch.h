// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_DISTANCE_BATCH_H_
#define CONSTRAINTS_CORE_DISTANCES_DISTANCE_BATCH_H_

#include "Box.h"
#include "DistancePattern.h"
#include "LaneRecords.h"
#include <algorithm>
#include <memory>

namespace ConstraintPlugin {

/** One of several equal clusters, as plain data. */
struct DistanceCluster {
    std::vector<int> particles;      ///< [particles] in the System
    std::vector<double> inverseMass; ///< [particles] 1/amu
    std::vector<double> lengths;     ///< [rows] nm, by position in the pattern
};

/** Result of a stage of clusters that are solved side by side. */
struct LaneReport {
    bool converged = false; ///< if not, displacements and velocities are unchanged
    int iterations = 0;
    double maxError = 0; ///< in units of the tolerance
};

/** Result of a stage of a batch. */
struct BatchReport {
    struct Clusters { // begin ... end-1 of the batch
        int begin = 0, end = 0;
    };
    int iterations = 0;             ///< of those that converged, at most
    double maxError = 0;            ///< of these
    Clusters worst;                 ///< those that have it; empty if none converged
    std::vector<Clusters> unsolved; ///< those that did not converge

    bool hasSolved() const {
        return worst.begin < worst.end;
    }
    void add(const LaneReport& one, Clusters clusters) {
        if (!one.converged) {
            unsolved.push_back(clusters);
            return;
        }
        iterations = std::max(iterations, one.iterations);
        if (!hasSolved() || one.maxError > maxError) {
            maxError = one.maxError;
            worst = clusters;
        }
    }
};

struct ThreadWorkspace;

/** Clusters of one pattern: those of a batch are solved one after the other, or several side by side. sigma is (|s|^2 -
 * L^2)/2, whose gradient is the bond vector itself, so no square roots are needed. */
class DistanceBatch {
public:
    virtual ~DistanceBatch() = default;
    /** Position stage, as ClusterSolver's; velocities get the impulse too.
     *  @param x         [all particles] nm
     *  @param box       for periodic patterns
     *  @param delta     [all particles] nm
     *  @param velocity  [all particles] nm/ps, or null
     *  @param perTime   1/ps, factor from displacements to velocities
     *  @param shared    workspace of the calling thread */
    virtual BatchReport solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance,
                                       int maxIterations, Real3* velocity, double perTime, ThreadWorkspace& shared) = 0;
    /** Velocity stage, as ClusterSolver's. */
    virtual BatchReport solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale,
                                        double tolerance, int maxIterations, ThreadWorkspace& shared) = 0;
    /** The row with the largest error of the last stage, which converged, as given to the pattern; -1 if that is not
     * known. */
    virtual int worstRow() const {
        return -1;
    }
    /** Multipliers of lengths (not of their squares) in the last stage.
     *  @param firstRow    [clusters] where in byRow each cluster's rows begin; -1: leave it out
     *  @param[out] byRow  [all rows] */
    virtual void getPositionMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const = 0;
    virtual void getVelocityMultipliers(const std::vector<int>& firstRow, std::vector<double>& byRow) const = 0;
    /** Take other lengths, of which any may be none that the solver can reach.
     *  @param clusters  those that the batch was made with, with other lengths
     *  @param like      as in DistanceData; another batch of the same kind, or null */
    virtual void setLengths(const std::vector<const DistanceCluster*>& clusters, const DistanceBatch* like) = 0;
};

/** Data of a batch, for any algorithm. */
template <class Number>
class DistanceData {
public:
    using Traits = LaneTraits<Number>;
    using Vector = typename Traits::Vector;

    /** Parameters that equal molecules share. */
    struct Parameters {
        Aligned<Number> inverseMass;   ///< [particles]
        Aligned<Number> firstWeight;   ///< [rows] inverse mass of the first particle
        Aligned<Number> secondWeight;  ///< [rows] and of the second
        Aligned<Number> weight;        ///< [sharedElements] inverse mass with its sign
        Aligned<Number> square;        ///< [rows] L^2
        Aligned<Number> inverseSquare; ///< [rows] 1/L^2
        double shortest, longest;      ///< L
    };

    /** @param clusters  1 to Traits::width; unused lanes repeat the first
     *  @param like      data of the same pattern, whose parameters are shared if they are equal; may be null */
    DistanceData(const DistancePattern& pattern, const std::vector<const DistanceCluster*>& clusters,
                 const DistanceData* like);
    /** Take other lengths. @param like  as before */
    void setLengths(const std::vector<const DistanceCluster*>& clusters, const DistanceData* like);

    /** A particle of all clusters. */
    CONSTRAINTS_INLINE Vector load(const Real3* array, int p) const {
        return Traits::load(array, &particle[p * Traits::width]);
    }
    /** All particles of small clusters. @param[out] result  [particles] */
    template <int numParticles>
    CONSTRAINTS_INLINE void load(const Real3* array, Vector (&result)[numParticles]) const {
        if (!isConsecutive) {
            CONSTRAINTS_UNROLL
            for (int p = 0; p < numParticles; p++)
                result[p] = load(array, p);
            return;
        }
        const double* record[Traits::width];
        recordsOf(array, record);
        Number numbers[3 * numParticles];
        loadRecords(record, numbers);
        CONSTRAINTS_UNROLL
        for (int p = 0; p < numParticles; p++)
            result[p] = {numbers[3 * p], numbers[3 * p + 1], numbers[3 * p + 2]};
    }
    /** Whether all lengths are positive and the minimum image can represent them; otherwise nothing is solved. */
    bool hasLengths(const Box& box) const {
        return parameters->shortest > 0 && (!pattern.isPeriodic || parameters->longest <= box.halfWidth());
    }
    /** Whether bonds may have a shorter image. @param square  the largest |b|^2 */
    bool needImages(const Number& square, const Box& box) const {
        return pattern.isPeriodic && Traits::largest(square) >= box.halfWidth() * box.halfWidth();
    }
    static CONSTRAINTS_INLINE Vector imageOf(const Vector& bond, const Box& box) {
        Vector image{};
        for (int lane = 0; lane < Traits::width; lane++)
            Traits::setLane(image, lane, box.minimumImage(Traits::lane(bond, lane)));
        return image;
    }

    /** visit(particle of the pattern, lane, particle of the System) for movable ones among begin ... end-1 */
    template <class Visit>
    CONSTRAINTS_INLINE void forMovable(int begin, int end, Visit visit) const {
        const int lanes = Traits::width == 1 ? 1 : count;
        const int* i = particle.data() + begin * Traits::width;
        for (int p = begin; p < end; p++, i += Traits::width)
            if (pattern.isMovable[p])
                for (int lane = 0; lane < lanes; lane++)
                    visit(p, lane, i[lane]);
    }
    /** Store displacements, and add their change to velocities (or null), for movable particles begin ... end-1. */
    CONSTRAINTS_INLINE void storeMoved(const Vector* moved, Real3* delta, Real3* velocity, double perTime, int begin,
                                       int end) const {
        forMovable(begin, end, [=](int p, int lane, int i) CONSTRAINTS_INLINE_LAMBDA {
            const Real3 now = Traits::lane(moved[p], lane);
            if (velocity != nullptr)
                velocity[i] += perTime * (now - delta[i]);
            delta[i] = now;
        });
    }
    CONSTRAINTS_INLINE void storeVelocities(const Vector* moved, Real3* velocity, int begin, int end) const {
        forMovable(begin, end, [=](int p, int lane, int i) CONSTRAINTS_INLINE_LAMBDA {
            velocity[i] = Traits::lane(moved[p], lane);
        });
    }

    /** The same for all particles of small clusters, which are movable. */
    template <int numParticles>
    CONSTRAINTS_INLINE void storeMoved(const Vector (&moved)[numParticles], Real3* delta, Real3* velocity,
                                       double perTime) const {
        if (!isConsecutive)
            return storeMoved(&moved[0], delta, velocity, perTime, 0, numParticles);
        Number numbers[3 * numParticles];
        toNumbers(moved, numbers);
        double *record[Traits::width], *velocityRecord[Traits::width];
        recordsOf(delta, record);
        if (velocity != nullptr)
            recordsOf(velocity, velocityRecord);
        storeRecords(numbers, [&](int lane, int k, const auto& now) CONSTRAINTS_INLINE_LAMBDA {
            if (velocity != nullptr) {
                auto before = now, rate = now;
                std::memcpy(&before, record[lane] + k, sizeof(now));
                std::memcpy(&rate, velocityRecord[lane] + k, sizeof(now));
                rate += perTime * (now - before);
                std::memcpy(velocityRecord[lane] + k, &rate, sizeof(now));
            }
            std::memcpy(record[lane] + k, &now, sizeof(now));
        });
    }
    template <int numParticles>
    CONSTRAINTS_INLINE void storeVelocities(const Vector (&moved)[numParticles], Real3* velocity) const {
        if (!isConsecutive)
            return storeVelocities(&moved[0], velocity, 0, numParticles);
        Number numbers[3 * numParticles];
        toNumbers(moved, numbers);
        double* record[Traits::width];
        recordsOf(velocity, record);
        storeRecords(numbers, [&](int lane, int k, const auto& now)
                                  CONSTRAINTS_INLINE_LAMBDA { std::memcpy(record[lane] + k, &now, sizeof(now)); });
    }

    const DistancePattern& pattern;
    bool isConsecutive; ///< every lane is used, and particles of the pattern are consecutive ones of the System
    std::shared_ptr<const Parameters> parameters;
    int count;                 ///< of clusters
    std::vector<int> particle; ///< [particles][width] in the System

private:
    /** Parameters with the lengths of all lanes, shared with other data if they are equal. */
    void takeLengths(std::shared_ptr<Parameters> own, const std::vector<const DistanceCluster*>& clusters,
                     const DistanceData* like);
    static_assert(sizeof(Real3) == 3 * sizeof(double), "consecutive particles are a record of numbers");
    /** Where each lane's particles are, if they are consecutive. */
    template <class Vector3, class Pointer>
    CONSTRAINTS_INLINE void recordsOf(Vector3* array, Pointer (&record)[Traits::width]) const {
        CONSTRAINTS_UNROLL
        for (int lane = 0; lane < Traits::width; lane++)
            record[lane] = &array[particle[lane]].x;
    }
    template <int numParticles>
    static CONSTRAINTS_INLINE void toNumbers(const Vector (&vectors)[numParticles],
                                             Number (&numbers)[3 * numParticles]) {
        CONSTRAINTS_UNROLL
        for (int p = 0; p < numParticles; p++) {
            numbers[3 * p] = vectors[p].x;
            numbers[3 * p + 1] = vectors[p].y;
            numbers[3 * p + 2] = vectors[p].z;
        }
    }
};

/** Copy the multipliers of clusters that are solved side by side.
 *  @param value       [rows] of lengths
 *  @param firstRow    [clusters] as in DistanceBatch::getPositionMultipliers()
 *  @param[out] byRow  [all rows] */
template <class Number>
void copyMultipliers(const DistancePattern& pattern, const Number* value, const int* firstRow, int numClusters,
                     std::vector<double>& byRow) {
    for (int k = 0; k < pattern.numRows(); k++) {
        const int row = pattern.positionOf[k];
        for (int cluster = 0; cluster < numClusters; cluster++)
            if (firstRow[cluster] >= 0)
                byRow[firstRow[cluster] + k] = LaneTraits<Number>::lane(value[row], cluster);
    }
}

} // namespace ConstraintPlugin

#endif
