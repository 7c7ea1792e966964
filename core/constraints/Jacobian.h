// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JACOBIAN_H_
#define CONSTRAINTS_CORE_JACOBIAN_H_

#include "ConstraintSet.h"
#include "SmallMatrix.h"
#include "coordinates.h"
#include <type_traits>
#include <vector>

namespace ConstraintPlugin {

class JoinedRows;

/** sigma and its gradient for a list of constraints (rows), on flat arrays.
 *
 *  Works on displacements: bond vectors are computed once, at the start of a step and with the minimum image. Later
 * bond vectors are these plus the displacements of the particles. A row has one slot per particle; slots are numbered
 * over all rows. Rows that have particles of joined bodies have one slot per node (ConstraintSet::nodesOf()), and take
 * displacements, velocities and impulses [numNodes]. Distances, angles and dihedrals have a number of particles known
 * at compile time; less frequent kinds (LinearAngle, AffinePosition, Custom) are in Jacobian.cpp. */
class Jacobian {
public:
    /** @param rows  the constraint of each row */
    Jacobian(const ConstraintSet& set, const std::vector<int>& rows);
    ~Jacobian();
    Jacobian(Jacobian&&) noexcept;

    /** Set the start of a step: compute bond vectors, grad sigma(0) and d sigma/dt.
     *  @param positions  [numParticles] nm
     *  @param box        for periodic constraints; lengths beyond half its width do not use the minimum image
     *  @param time       ps, of moving constraints; evaluate() uses this time too, unless setTime() is called
     *  @return -1, or the first row that has no gradient there: its particles have the same position, a position is
     * NaN, or an expression's gradient is zero
     */
    int setStart(const Real3* positions, const Box& box, double time = 0);
    struct RowRange {
        int begin, end; ///< rows begin ... end-1
    };
    /** The same for some rows only. They must include all moving rows. */
    int setStart(const Real3* positions, const Box& box, double time, const std::vector<RowRange>& ranges);
    /** Evaluate moving constraints at another time (ps) than that of the start, e.g. at the end of the step. */
    void setTime(double time);
    /** Use the targets that constraints with a Context parameter have by now, from the next setStart() on. */
    void takeTargets(const ConstraintSet& set);
    /** Set the axis of an AffinePosition row, before setStart(). */
    void setDirection(int row, const Real3& axis) {
        specials[special[row]].direction = axis;
    }
    /** Whether any constraint moves. */
    bool moves() const {
        return !movingRows.empty();
    }
    /** q of a row after displacements (nm, [numParticles]), and its gradient in the row's slots of `current`. */
    double evaluate(int row, const Real3* displacement) {
        if (isSpecial(row))
            return isJoined(row) ? evaluateJoined(row, displacement) : evaluateSpecial(row, displacement);
        const int first = slotStart[row];
        const Real3* startBond = &bond[first - row];
        return forPlainSize(row, [&](auto size) {
            Real3 b[size() - 1];
            for (int s = 0; s < size() - 1; s++)
                b[s] = startBond[s] + (displacement[particle[first + s]] - displacement[particle[first + s + 1]]);
            return evaluateAt<size()>(row, b, &current[first]);
        });
    }
    /** sigma of a row at a value of q. */
    double residual(int row, double q) const {
        return wrapResidual(kind[row], q - target[row]);
    }
    /** Error, in units of the tolerance, of a row whose last evaluation gave this sigma. */
    double error(int row, double sigma) const {
        return std::abs(sigma) * (hasLengthAsError(row) ? inverseNorm(row) : inverseScale[row]);
    }
    /** The same at the start. */
    double startError(int row) const {
        return std::abs(residual(row, value[row])) * inverseScale[row];
    }
    /** q of a row at the start. */
    double startValue(int row) const {
        return value[row];
    }
    /** J v of a row at the start, for velocities [numParticles] in nm/ps; its dq/dt unless it depends on time. */
    double rate(int row, const Real3* velocity) const {
        return sumSlots(row, [&](int s) { return dot(start[s], velocityOf(s, velocity)); });
    }
    /** sum_i (1/m_i) grad_i sigma_row(t) . grad_i sigma_row(0), with gradients(t) by slot: a diagonal element of A. */
    double diagonal(int row, const Real3* gradients) const {
        return sumSlots(row, [&](int s) { return inverseMass[s] * dot(gradients[s], start[s]); });
    }
    /** Whether a constraint's gradient has rotated by 90 degrees or more since the start. Newton's method may then find
     *  another root: the opposite bond vector, or another sheet of a surface. Angles and dihedrals have no other root,
     *  although their gradients rotate with the particles; a straight angle has the folded one. */
    bool hasTurned(int row) const {
        switch (kind[row]) {
        case CoordinateKind::Distance:
        case CoordinateKind::Custom:
            return !(diagonal(row, current.data()) > pivotThreshold * diagonal(row, start.data()));
        case CoordinateKind::LinearAngle:
            return isFolded(row);
        default:
            return false;
        }
    }
    /** Whether a row has a gradient at the start; an expression may have none. */
    bool hasGradient(int row) const {
        const double square = diagonal(row, start.data());
        return square > 0 && std::isfinite(square);
    }
    /** Set 1/m = 1 for all movable particles, because the rank does not depend on masses. */
    void setUnitMasses() {
        for (double& w : inverseMass)
            w = w > 0 ? 1 : 0;
    }
    /** x_i += (scale/m_i) grad_i sigma_row(0) for the particles of a row. */
    void addImpulse(int row, double scale, Real3* x) const {
        const int first = slotStart[row];
        forSize(row, [&](auto size) {
            for (int s = first; s < first + size(); s++)
                x[particle[s]] += (scale * inverseMass[s]) * start[s];
            return 0.0;
        });
    }
    /** The same for those of a row's nodes that are particles. @param x  [numParticles] */
    void addParticleImpulse(int row, double scale, Real3* x) const {
        for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
            if (particle[s] < numParticles)
                x[particle[s]] += (scale * inverseMass[s]) * start[s];
    }
    /** f_i += multiplier grad_i sigma_row(0) for the particles of a row. */
    void addForce(int row, double multiplier, Real3* force) const;
    /** The rows with particles of joined bodies; null if there are none. */
    JoinedRows* joinedRows() const {
        return joined.get();
    }
    /** Whether a row has such particles, and its number among these rows. */
    bool isJoined(int row) const {
        return joined != nullptr && joinedRow[row] >= 0;
    }
    int joinedNumber(int row) const {
        return joinedRow[row];
    }
    /** J-dot v of a row at the start: sigma'' without acceleration, for velocities [numParticles] times a scale; of a
     *  moving constraint with 2 (dJ/dt) v + d^2 sigma/dt^2. */
    double curvature(int row, const Real3* velocity, double scale = 1) const;
    /** v^T H v alone, with H the second derivatives of sigma: the part of curvature() that is quadratic in v. */
    double quadraticCurvature(int row, const Real3* velocity) const {
        return 0.5 * (curvature(row, velocity, 1) + curvature(row, velocity, -1)) - curvature(row, velocity, 0);
    }
    /** Add multiplier * sum_i r_i (x) grad_i q of a row at the start to a tensor (row-major 3x3). It is computed from
     * bond vectors, so it does not depend on images or on the origin. A Custom row that is not invariant under
     * translation, such as a surface, depends on the origin: it uses the positions themselves. */
    void addVirial(int row, double multiplier, double* tensor) const;

    int numRows() const {
        return (int) target.size();
    }
    std::vector<int> slotStart;         ///< [numRows+1]
    std::vector<int> particle;          ///< [slots] particles or nodes
    std::vector<double> inverseMass;    ///< [slots] 1/amu
    std::vector<Real3> start;           ///< [slots] grad sigma(0)
    std::vector<Real3> current;         ///< [slots] grad sigma as last evaluated
    std::vector<double> target;         ///< [numRows] nm or rad, now
    std::vector<double> inverseScale;   ///< [numRows] 1/nm or 1/rad: error = |sigma| * inverseScale, at the start
    std::vector<double> timeDerivative; ///< [numRows] d sigma/dt at the start

private:
    int setRows(const Real3* positions, const Box& box, const RowRange& range);
    /** Additional data of rows of the less frequent kinds. */
    struct Special {
        Real3 direction;             // LinearAngle: e, perpendicular to the line at the start; AffinePosition: axis
        int component = 0;           // LinearAngle
        bool isFolded = false;       // LinearAngle: the second particle is not between the others
        std::vector<double> weights; // AffinePosition: w of affinePositionCoordinate
        std::shared_ptr<CustomCoordinate> custom;
        std::vector<double> parameters; // Custom
        std::vector<Real3> place;       // Custom: [size] at the start
    };
    struct MovingRow {
        int row;
        double target, rate, startTime;
    };
    struct InterpolatedRow {
        int row, constraint;
    };
    bool isSpecial(int row) const {
        return !isListed(kind[row]) || isJoined(row);
    }
    /** Whether errors are |sigma|/|grad sigma|, nm. */
    bool hasLengthAsError(int row) const {
        return kind[row] == CoordinateKind::Custom && !specials[special[row]].custom->isDistance();
    }
    bool isDistance(int row) const {
        return kind[row] == CoordinateKind::Distance || (kind[row] == CoordinateKind::Custom && !hasLengthAsError(row));
    }
    double evaluateJoined(int row, const Real3* nodes);
    bool isFolded(int row) const;
    double evaluateSpecial(int row, const Real3* displacement);
    double evaluateSpecialAt(int row, const Real3* b, const Real3* x, Real3* gradient);
    /** Of an expression: 1/|grad sigma| with respect to particles, as last evaluated, times errorFactor(). */
    double inverseNorm(int row) const;
    double inverseNorm(int row, const std::vector<Real3>& gradients) const;
    /** The velocity of an immovable particle counts as zero, whatever value it has. */
    Real3 velocityOf(int slot, const Real3* velocity) const {
        return inverseMass[slot] > 0 ? velocity[particle[slot]] : Real3();
    }
    template <int n>
    using Size = std::integral_constant<int, n>;
    struct AnySize {
        int n;
        int operator()() const {
            return n;
        }
    };
    /** Call f with the number of particles of a row that is not special, known at compile time. */
    template <class F>
    double forPlainSize(int row, F f) const {
        switch (kind[row]) {
#define CASE(Name, name, numParticles, range)                                                                          \
    case CoordinateKind::Name:                                                                                         \
        return f(Size<numParticles>());
            LISTED_COORDINATES(CASE)
#undef CASE
        default:
            return f(Size<2>());
        }
    }
    /** Call f with the number of particles of any row. */
    template <class F>
    double forSize(int row, F f) const {
        return isSpecial(row) ? f(AnySize{slotStart[row + 1] - slotStart[row]}) : forPlainSize(row, f);
    }
    template <class Term>
    double sumSlots(int row, Term term) const {
        const int first = slotStart[row];
        return forSize(row, [&](auto size) {
            double sum = 0;
            for (int s = first; s < first + size(); s++)
                sum += term(s);
            return sum;
        });
    }
    /** From G = dq/db to gradients of n particles: grad_s q = G_s - G_(s-1). */
    static void toParticles(int n, const Real3* G, Real3* gradient) {
        gradient[0] = G[0];
        for (int s = 1; s < n - 1; s++)
            gradient[s] = G[s] - G[s - 1];
        gradient[n - 1] = -G[n - 2];
    }
    /** q from bond vectors, and its gradients. */
    template <int size>
    double evaluateAt(int row, const Real3* b, Real3* gradient) const {
        Real3 G[size - 1];
        const double q = coordinateOf<size>(kind[row], b, G);
        toParticles(size, G, gradient);
        return q;
    }

    std::vector<CoordinateKind> kind;
    std::vector<char> periodic;
    std::vector<double> value; // q at the start
    std::vector<Real3> bond;   // bond vectors at the start; row r's begin at slotStart[r] - r
    std::vector<int> special;  // [numRows] index into specials; empty if no row is special
    std::vector<Special> specials;
    std::unique_ptr<JoinedRows> joined;
    std::vector<int> joinedRow; // [numRows] number among these; -1: none
    int numParticles;
    std::vector<MovingRow> movingRows;
    std::vector<InterpolatedRow> interpolatedRows;
    CustomCoordinate::StepState stepState; // of what is evaluated
    std::vector<Real3> bondBuffer, gradientBuffer;
};

} // namespace ConstraintPlugin

#endif
