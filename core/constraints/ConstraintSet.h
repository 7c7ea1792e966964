// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONSTRAINT_SET_H_
#define CONSTRAINTS_CORE_CONSTRAINT_SET_H_

#include "Box.h"
#include "CustomCoordinate.h"
#include "FreeBody.h"
#include "Kinds.h"
#include "Real3.h"
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Number of particles of a coordinate; 0 if it can have any number. */
inline int numParticlesOf(CoordinateKind kind) {
    return traitsOf(kind).numParticles;
}

/** sigma from q - target: in [-pi, pi] where multiples of 2 pi make no difference. */
inline double wrapResidual(CoordinateKind kind, double difference) {
    constexpr double turn = 6.283185307179586477;
    return traitsOf(kind).range == Range::FullTurn ? std::remainder(difference, turn) : difference;
}

/** One constraint sigma(r, t) = q(r) - target - rate (t - startTime) = 0. An invalid constraint stays in the list
 * without particles and is ignored. */
struct Constraint {
    CoordinateKind kind = CoordinateKind::Distance;
    std::vector<int> particles;
    double target = 0;     ///< nm or rad, at startTime; 0 for LinearAngle, AffinePosition and Custom
    bool periodic = false; ///< bond vectors take the minimum image
    int force = -1;        ///< index of its Force in the System, -1: the System itself
    int index = 0;         ///< its index there; for a rigid body's constraints: the body's, -1 if it was recognized
    double rate = 0;       ///< nm/ps or rad/ps
    double startTime = 0;  ///< ps
    int form = -1;         ///< AffinePosition, Custom: index into ConstraintSet::affine, custom. LinearAngle: component
    int firstParameter = 0;  ///< Custom: where its parameters begin in ConstraintSet::parameters
    int owner = -1;          ///< if not declared: the declared constraint that it completes; -1: a rigid body's
    int replaces = -1;       ///< of a recognized rigid body: one of the declared constraints that it replaces
    bool isReplaced = false; ///< a rigid body replaces it: it is checked, not solved
    bool isAbsorbed = false; ///< a declared rigid body holds it: it is neither checked nor solved
    bool isBraced = false;   ///< of a nearly flat set that keeps its lengths, because others brace it

    int size() const {
        return (int) particles.size();
    }
    double targetAt(double time) const {
        return target + rate * (time - startTime);
    }
};

/** r_a - sum_b C_ab r_b along one axis. */
struct AffineForm {
    Real3 axis;
    std::vector<double> weights; ///< C_ab of the particles after the first, of sum 1
    double length = 1;           ///< nm, the size of the body: errors are relative to it
};

/** Constraints that were recognized as a linear or planar rigid body, which replaces them. */
struct RecognizedSet {
    std::vector<int> constraints, particles; ///< ascending
    bool isStraight = false;
};

/** Every constraint of a System, as plain data: first the numListed constraints that users declared (those of the
 * System, then those of each Force, in System order), then the constraints of rigid bodies and second components of
 * bends. */
struct ConstraintSet {
    std::vector<double> inverseMass; ///< [numParticles] 1/amu, 0 for an immovable particle
    std::vector<Constraint> constraints;
    int numListed = 0;
    std::vector<AffineForm> affine;
    std::vector<std::shared_ptr<CustomCoordinate>> custom;
    std::vector<double> parameters;                        ///< of all Custom constraints
    std::shared_ptr<const std::vector<std::string>> names; ///< by particle, "" or missing: no name. null: no names
    double fitDeviation = 0;      ///< largest change of a target by a linear or planar fit, relative to scale()
    int fittedConstraint = -1;    ///< the constraint with that change; -1: no target was changed
    double absorbedDeviation = 0; ///< largest deviation of an absorbed constraint from its body's shape, as scale()
    int absorbedConstraint = -1;  ///< the constraint with that deviation; -1: none is absorbed
    std::vector<RecognizedSet> recognized;
    std::vector<FreeBody> bodies; ///< rigid bodies that no constraint of this set joins

    int numParticles() const {
        return (int) inverseMass.size();
    }
    /** The name that users gave to a particle; "" if there is none. */
    std::string nameOf(int particle) const {
        return names != nullptr && particle >= 0 && particle < (int) names->size() ? (*names)[particle] : "";
    }
    bool isMovable(const Constraint& c) const {
        return std::any_of(c.particles.begin(), c.particles.end(), [&](int p) { return inverseMass[p] > 0; });
    }
    /** Whether a constraint is ignored: the System's own constraints between massless particles, as OpenMM documents,
     * those that a declared rigid body holds, and invalid constraints. It stays in the list of multipliers with a
     * multiplier of 0. */
    bool isIgnored(const Constraint& c) const {
        return c.particles.empty() || c.isAbsorbed || (c.force < 0 && c.index >= 0 && !isMovable(c));
    }
    /** Whether a constraint's target, or an expression, depends on time. */
    bool isMoving(const Constraint& c) const {
        return c.rate != 0 || (c.kind == CoordinateKind::Custom && custom[c.form]->dependsOnTime());
    }
    /** Whether a constraint's expression depends on a Context parameter. */
    bool dependsOnGlobals(const Constraint& c) const {
        return c.kind == CoordinateKind::Custom && !custom[c.form]->getGlobalNames().empty();
    }
    /** Whether a constraint is a distance, of particles or of centroids: its error is relative to its target. */
    bool hasLengthScale(const Constraint& c) const {
        return c.kind == CoordinateKind::Distance || (c.kind == CoordinateKind::Custom && custom[c.form]->isDistance());
    }
    /** The divisor of a constraint's error: 1 for an angle, whose error is in radians. It is not used for expressions,
     *  whose error is a length, |sigma|/|grad sigma|. */
    double scale(const Constraint& c) const {
        return hasLengthScale(c) ? c.target : c.kind == CoordinateKind::AffinePosition ? affine[c.form].length : 1.0;
    }
};

} // namespace ConstraintPlugin

#endif
