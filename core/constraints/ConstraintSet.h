// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONSTRAINT_SET_H_
#define CONSTRAINTS_CORE_CONSTRAINT_SET_H_

#include "Box.h"
#include "CustomCoordinate.h"
#include "Kinds.h"
#include "Real3.h"
#include "RigidBody.h"
#include <algorithm>
#include <array>
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

/** One constraint sigma(r, t) = q(r) - target - rate (t - startTime) = 0. Where a Context parameter p interpolates, the
 * target is target0 + p (target1 - target0). An invalid constraint stays in the list without particles and is ignored.
 */
struct Constraint {
    CoordinateKind kind = CoordinateKind::Distance;
    std::vector<int> particles;
    double target = 0;     ///< nm or rad, at startTime, now; 0 for LinearAngle, AffinePosition and expressions
    bool periodic = false; ///< bond vectors take the minimum image
    int force = -1;        ///< index of its Force in the System, -1: the System itself
    int index = 0;         ///< its index there; for a rigid body's constraints: the body's, -1 if it is recognized
    double rate = 0;       ///< nm/ps or rad/ps
    double startTime = 0;  ///< ps
    int form = -1;         ///< AffinePosition, Custom: index into ConstraintSet::affine, custom. LinearAngle: component
    int firstParameter = 0;  ///< Custom: where its parameters begin in ConstraintSet::parameters
    int owner = -1;          ///< if not declared: the declared constraint that it completes; -1: a rigid body's
    bool isAbsorbed = false; ///< a rigid body or others hold it: it is neither checked nor solved
    bool isForCounting =
        false;                ///< one of the System's that is absorbed because it is only declared for OpenMM to count
    int recognized = -1;      ///< index into ConstraintSet::recognized of the body that it makes with others
    bool isBraced = false;    ///< of a set that is flat within rounding, but that others brace: it is no body
    std::vector<int> nodes{}; ///< what it moves, if bodies are among that; else empty: its particles
    std::array<int, 2> joint = {-1, -1}; ///< bodies whose copies of a particle it holds together; else -1
    int parameter = -1;                  ///< index into ConstraintSet::globals of p; -1: none interpolates
    double target0 = 0, target1 = 0;     ///< nm or rad, targets where p is 0 and where it is 1

    int size() const {
        return (int) particles.size();
    }
    double targetAt(double time) const {
        return target + rate * (time - startTime);
    }
    /** Whether its target stays as it is: neither the time nor a Context parameter changes it. */
    bool isFixed() const {
        return rate == 0 && parameter < 0;
    }
};

/** r_a - sum_b C_ab r_b along one axis. */
struct AffineForm {
    Real3 axis;                  ///< of a joint along the axes of its first body, if that rotates
    std::vector<double> weights; ///< C_ab of the particles after the first, of sum 1
    double length = 1;           ///< nm, the size of the body: errors are relative to it
};

/** A rigid body that distances and angles hold. It absorbs them, and their targets are those of its shape. */
struct RecognizedBody {
    std::vector<int> constraints; ///< ascending
    int dimension = 3;            ///< 1: linear, 2: planar
    /** Particles that span a linear or planar body, 2 or 3: the distances among them have its multipliers. */
    std::vector<int> base;
    int body = -1; ///< index into ConstraintSet::bodies
};

/** A Context parameter that targets depend on, and its present value. */
struct GlobalParameter {
    std::string name;
    double value;
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
    std::vector<GlobalParameter> globals;                  ///< of targets; those of expressions are in `custom`
    std::shared_ptr<const std::vector<std::string>> names; ///< by particle, "" or missing: no name. null: no names
    double fitDeviation = 0;      ///< largest change of a target to that of a recognized shape, relative to scale()
    int fittedConstraint = -1;    ///< the constraint with that change; -1: no target was changed
    double fitBound = 0;          ///< lengths that agree within it, relative, may hold recognized bodies
    double absorbedDeviation = 0; ///< largest deviation of an absorbed constraint from its body's shape, as scale()
    int absorbedConstraint = -1;  ///< the constraint with that deviation; -1: none is absorbed
    std::vector<RecognizedBody> recognized;
    std::vector<RigidBody> bodies; ///< rigid bodies
    int numCopies = 0;             ///< of particles that several bodies share, beyond one each
    /** Which particle of which body. */
    struct Place {
        int body = -1, place = -1; ///< -1: of none
    };
    std::vector<Place> joinedPlaces; ///< [numParticles] in the first joined body that has it; empty: there are none

    int numParticles() const {
        return (int) inverseMass.size();
    }
    /** The name that users gave to a particle; "" if there is none. */
    std::string nameOf(int particle) const {
        return names != nullptr && particle >= 0 && particle < (int) names->size() ? (*names)[particle] : "";
    }
    /** Particles, then the origin and the turn of each body (rigidMotion.cc). Both stay unused where nothing joins it.
     */
    int numNodes() const {
        return numParticles() + 2 * (int) bodies.size();
    }
    int originNodeOf(int body) const {
        return numParticles() + 2 * body;
    }
    int turnNodeOf(int body) const {
        return originNodeOf(body) + 1;
    }
    double inverseMassOf(int node) const {
        const int i = node - numParticles();
        if (i < 0)
            return inverseMass[node];
        const rigid::BodyConstants& body = bodies[i / 2].constants;
        return i % 2 == 0 ? body.inverseMass : body.rotations > 0 ? 1 / body.mass : 0;
    }
    /** What a constraint moves. */
    const std::vector<int>& nodesOf(const Constraint& c) const {
        return c.nodes.empty() ? c.particles : c.nodes;
    }
    /** Whether a constraint has a particle of a joined body. */
    bool isJoined(const Constraint& c) const {
        return !c.nodes.empty();
    }
    /** Which body's place one of a constraint's particles is. */
    Place placeOf(const Constraint& c, int slot) const {
        if (c.joint[0] < 0)
            return joinedPlaces.empty() ? Place() : joinedPlaces[c.particles[slot]];
        const std::vector<int>& of = bodies[c.joint[slot]].particles;
        return {c.joint[slot], (int) (std::find(of.begin(), of.end(), c.particles[slot]) - of.begin())};
    }
    bool isMovable(const Constraint& c) const {
        const std::vector<int>& nodes = nodesOf(c);
        return std::any_of(nodes.begin(), nodes.end(), [&](int node) { return inverseMassOf(node) > 0; });
    }
    /** Whether a constraint is ignored: the System's own constraints between massless particles, as OpenMM documents,
     * those that a rigid body holds, and invalid constraints. It stays in the list of multipliers with a
     * multiplier of 0. */
    bool isIgnored(const Constraint& c) const {
        return c.particles.empty() || c.isAbsorbed || (c.force < 0 && c.index >= 0 && !isMovable(c));
    }
    /** Whether a constraint's target, or an expression, depends on time. */
    bool isMoving(const Constraint& c) const {
        return c.rate != 0 || (c.kind == CoordinateKind::Custom && custom[c.form]->dependsOnTime());
    }
    /** The first Context parameter that a constraint's target or expression depends on; "" if there is none. */
    std::string parameterOf(const Constraint& c) const {
        if (c.parameter >= 0)
            return globals[c.parameter].name;
        const bool hasAny = c.kind == CoordinateKind::Custom && !custom[c.form]->getGlobalNames().empty();
        return hasAny ? custom[c.form]->getGlobalNames()[0] : "";
    }
    bool dependsOnGlobals(const Constraint& c) const {
        return !parameterOf(c).empty();
    }
    /** Set the targets to the present values of `globals`. */
    void interpolateTargets() {
        for (Constraint& c : constraints)
            if (c.parameter >= 0)
                c.target = c.target0 + globals[c.parameter].value * (c.target1 - c.target0);
    }
    /** What there is to know of a constraint's coordinate. */
    const CoordinateTraits& traitsOf(const Constraint& c) const {
        return c.kind == CoordinateKind::Custom ? custom[c.form]->getTraits() : ConstraintPlugin::traitsOf(c.kind);
    }
    /** Whether an expression is a constraint's coordinate, which has no name and no target then. */
    bool isExpression(const Constraint& c) const {
        return c.kind == CoordinateKind::Custom && traitsOf(c).range == Range::Other;
    }
    /** Whether a constraint is a distance, of particles or of centroids: its error is relative to its target. */
    bool hasLengthScale(const Constraint& c) const {
        return traitsOf(c).range == Range::Length;
    }
    /** Whether its error is a length, |sigma|/|grad sigma|: that of an expression, or of a coordination number. */
    bool hasLengthAsError(const Constraint& c) const {
        return c.kind == CoordinateKind::Custom && !hasLengthScale(c);
    }
    /** The divisor of a constraint's error: 1 for an angle, whose error is in radians. A length as an error, as of an
     *  expression, is divided by |grad sigma| besides. */
    double scale(const Constraint& c) const {
        return hasLengthScale(c)                          ? c.target
               : c.kind == CoordinateKind::AffinePosition ? affine[c.form].length
               : c.kind == CoordinateKind::Custom         ? 1 / custom[c.form]->errorFactor()
                                                          : 1.0;
    }
};

} // namespace ConstraintPlugin

#endif
