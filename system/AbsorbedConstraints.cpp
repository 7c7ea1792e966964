// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "AbsorbedConstraints.h"
#include "ConstraintChecks.h"
#include "ConstraintErrors.h"
#include "RigidSets.h"
#include "coordinates.h"
#include <random>
#include <sstream>

namespace ConstraintPlugin {

namespace {

/** The part of the shortest bond by which rounding may shift a particle of a declared body. */
constexpr double largestShift = 0.01;

/** A body that has particles of a constraint, and their places in it, -1 for others. */
struct Place {
    int body = -1; // -1: there is none
    std::vector<int> places;
};

/** The first body that has all particles of a constraint; of an expression, all with mass. */
Place findBody(const ConstraintSet& set, const Constraint& c, const BodyMembership& membership) {
    const bool isCustom = c.kind == CoordinateKind::Custom;
    const auto isNeeded = [&](int p) { return !isCustom || set.inverseMass[p] > 0; };
    const auto first = std::find_if(c.particles.begin(), c.particles.end(), isNeeded);
    if (first == c.particles.end())
        return {};
    for (const auto* entry = membership.begin(*first); entry != membership.end(*first); ++entry) {
        Place place{entry->body, {}};
        bool isInside = true;
        for (int p : c.particles) {
            place.places.push_back(membership.placeIn(entry->body, p));
            isInside = isInside && (place.places.back() >= 0 || !isNeeded(p));
            if (!isInside)
                break;
        }
        if (isInside)
            return place;
    }
    return {};
}

/** What is wrong with a constraint in a body.
 *  @param what  is wrong, after the constraint's name
 *  @param held  what the body says */
ConstraintProblem problemInBody(const ConstraintSet& set, int k, const char* kind, const std::string& what,
                                const std::string& remedy, double value = ConstraintProblem::none,
                                double bound = ConstraintProblem::none) {
    return problemOf(set, kind, {k}, describeConstraint(set, k) + " " + what, remedy, value, bound);
}

const char* const removeIt = "Remove it, because the body holds these particles, or take one of them out of the body.";

/** "Remove or correct it ...", by the call that does. */
std::string remedyOf(const ConstraintSet& set, int k, const CollectedBody& body) {
    const Constraint& c = set.constraints[k];
    const std::string call = c.force < 0           ? "system.removeConstraint(" + std::to_string(c.index) + ")"
                             : set.isExpression(c) ? ""
                                                   : "set" + std::string(set.traitsOf(c).method) + "Parameters(" +
                                                         std::to_string(c.index) + ", ...)";
    return "Remove or correct it" + (call.empty() ? "" : ", " + call) +
           (body.force < 0 ? "." : ", or give addRigidBody() the positions that it holds for.");
}

// ---- distances, angles, dihedrals
// -------------------------------------------------------------------------------------

/** A listed coordinate in a body's shape. @param part  of the shortest bond by which particles may be shifted */
struct InShape {
    double value;
    double bound;   // of its deviation, nm or rad
    bool isOnALine; // a dihedral that has no value
};

InShape measure(const Constraint& c, const CollectedBody& body, const std::vector<int>& places, double part) {
    Real3 bonds[3], G[3];
    const int n = c.size() - 1;
    double shortest = HUGE_VAL;
    for (int s = 0; s < n; s++) {
        bonds[s] = body.positions[places[s]] - body.positions[places[s + 1]];
        shortest = std::min(shortest, norm(bonds[s]));
    }
    InShape result{coordinate(c.kind, bonds, G), 0, false};
    const double shift = part * (c.kind == CoordinateKind::Distance ? c.target : shortest);
    if (c.kind == CoordinateKind::Angle) { // whose gradient is at most this, also where it has none, at pi
        result.bound = shift * 2 * (1 / norm(bonds[0]) + 1 / norm(bonds[1]));
        return result;
    }
    double sum = norm(G[0]) + norm(G[n - 1]);
    for (int s = 1; s < n; s++)
        sum += norm(G[s] - G[s - 1]);
    result.bound = shift * sum;
    for (int s = 0; s + 1 < n && n == 3; s++)
        result.isOnALine =
            result.isOnALine || norm(cross(bonds[s], bonds[s + 1])) <= 1e-6 * norm(bonds[s]) * norm(bonds[s + 1]);
    return result;
}

/** A constraint in a body whose value changes: in time, or with a Context parameter. */
Found findChange(const ConstraintSet& set, int k, const CollectedBody& body, const char* has) {
    const Constraint& c = set.constraints[k];
    const std::string by = set.isMoving(c)           ? "in time"
                           : set.dependsOnGlobals(c) ? "with the Context parameter \"" + set.parameterOf(c) + "\""
                                                     : "";
    if (by.empty())
        return {};
    return problemInBody(set, k, "moving", "changes " + by + ", but " + nameOf(body) + has, removeIt, c.rate, 0);
}

/** What contradicts the shape. @param[out] deviation  by ConstraintSet::scale() */
Found checkListed(const ConstraintSet& set, int k, const CollectedBody& body, const std::vector<int>& places,
                  double tolerance, double& deviation) {
    const Constraint& c = set.constraints[k];
    if (Found found = findChange(set, k, body, ", which keeps its shape, has all its particles."))
        return found;
    const double part = body.force < 0 ? std::max(tolerance, flatnessBound) / 2 : largestShift;
    const InShape shape = measure(c, body, places, part);
    if (shape.isOnALine)
        return problemInBody(set, k, "straight",
                             "has no value in " + nameOf(body) + ", which holds three of its particles on one line.",
                             "Remove it, or choose particles beyond the line.");
    deviation = std::abs(wrapResidual(c.kind, shape.value - c.target)) / set.scale(c);
    const double bound = shape.bound / set.scale(c);
    if (deviation <= bound)
        return {};
    std::ostringstream what;
    what << "is given as " << c.target << unitOf(set, c) << ", but is " << shape.value << unitOf(set, c)
         << " in the shape of " << nameOf(body) << ", which has all its particles: off by "
         << (set.hasLengthScale(c) ? 100 * deviation : deviation) << (set.hasLengthScale(c) ? " %" : " rad")
         << ", and rounded coordinates explain " << (set.hasLengthScale(c) ? 100 * bound : bound) << ".";
    return problemInBody(set, k, "contradictory", what.str(), remedyOf(set, k, body), deviation, bound);
}

// ---- expressions and distances of centroids
// ---------------------------------------------------------------------------

/** sigma of a constraint whose particles with mass are in a body. */
class InBody {
public:
    InBody(const ConstraintSet& set, const Constraint& c, const CollectedBody& body, const std::vector<int>& places)
        : set(set), c(c), body(body), places(places), x(c.size()), gradient(c.size()) {
    }
    /** Whether no rigid motion of the body changes it: at random places of the body, and of immovable particles that
     * are not in it, its gradient has neither resultant nor torque. */
    bool isFixed() {
        constexpr double rounding = 1e-8;
        constexpr int samples = 6;
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        const auto vector = [&] { return Real3{uniform(random), uniform(random), uniform(random)}; };
        for (int sample = 0; sample < samples; sample++) {
            place(vector(), uniform(random), vector());
            for (int s = 0; s < c.size(); s++)
                if (places[s] < 0)
                    x[s] = vector();
            evaluate();
            Real3 resultant, torque;
            double forces = 0, torques = 0;
            for (int s = 0; s < c.size(); s++)
                if (places[s] >= 0) {
                    const Real3 arm = x[s] - x[firstPlace()];
                    resultant += gradient[s];
                    torque += cross(arm, gradient[s]);
                    forces += norm(gradient[s]);
                    torques += norm(arm) * norm(gradient[s]);
                }
            const bool isInvariant = norm(resultant) <= rounding * forces && norm(torque) <= rounding * torques;
            if (!(forces > 0) || !isInvariant) // NaN, too
                return false;
        }
        return true;
    }
    /** sigma in the shape. */
    double sigmaInShape() {
        place({0, 0, 1}, 0, {});
        return evaluate() - c.target;
    }
    /** Its error in units of the tolerance, after sigmaInShape(). */
    double error(double sigma) const {
        double square = 0;
        for (const Real3& g : gradient)
            square += dot(g, g);
        return std::abs(sigma) / set.scale(c) / (set.hasLengthScale(c) ? 1 : std::sqrt(square));
    }

private:
    int firstPlace() const {
        return (int) (std::find_if(places.begin(), places.end(), [](int place) { return place >= 0; }) -
                      places.begin());
    }
    double evaluate() {
        return set.custom[c.form]->evaluate(x.data(), set.parameters.data() + c.firstParameter, {}, gradient.data());
    }
    /** Turn the shape about an axis by pi times a number, and shift it. */
    void place(const Real3& about, double turn, const Real3& shift) {
        const Real3 axis = (1 / norm(about)) * about;
        const double cosine = std::cos(M_PI * turn), sine = std::sin(M_PI * turn);
        for (int s = 0; s < c.size(); s++)
            if (places[s] >= 0) {
                const Real3 r = body.positions[places[s]] - body.positions[0];
                x[s] = shift + cosine * r + sine * cross(axis, r) + ((1 - cosine) * dot(axis, r)) * axis;
            }
    }
    const ConstraintSet& set;
    const Constraint& c;
    const CollectedBody& body;
    const std::vector<int>& places;
    std::vector<Real3> x, gradient;
};

Found checkCustom(const ConstraintSet& set, int k, const CollectedBody& body, InBody& inside, double tolerance) {
    const Constraint& c = set.constraints[k];
    if (Found found = findChange(set, k, body, " holds it: it has all its particles with mass."))
        return found;
    const double sigma = inside.sigmaInShape(), error = inside.error(sigma);
    if (error <= tolerance)
        return {};
    std::ostringstream what;
    if (set.isExpression(c))
        what << "is " << sigma;
    else
        what << "is given as " << c.target << unitOf(set, c) << ", but is " << sigma + c.target << unitOf(set, c);
    what << " in the shape of " << nameOf(body) << ", which holds it: an error of " << error
         << ", and the tolerance is " << tolerance << ".";
    return problemInBody(set, k, "contradictory", what.str(), remedyOf(set, k, body), error, tolerance);
}

struct Check {
    bool isHeld = true; // by the body; else it joins the body to something
    Found problem;
    double deviation = 0;
};

Check check(const ConstraintSet& set, int k, const CollectedBody& body, const std::vector<int>& places,
            double tolerance) {
    Check result;
    if (set.constraints[k].kind == CoordinateKind::Custom) {
        InBody inside(set, set.constraints[k], body, places);
        result.isHeld = inside.isFixed();
        if (result.isHeld)
            result.problem = checkCustom(set, k, body, inside, tolerance);
    } else
        result.problem = checkListed(set, k, body, places, tolerance, result.deviation);
    return result;
}

/** A constraint that one of both mirror images of a recognized body meets decides between them. */
void decideHandedness(const ConstraintSet& set, int k, CollectedBody& body, const std::vector<int>& places,
                      double tolerance, Check& result) {
    CollectedBody image = mirrored(body, set.inverseMass);
    Check ofImage = check(set, k, image, places, tolerance);
    if (result.problem.has_value() == ofImage.problem.has_value())
        return;
    if (result.problem) {
        result = std::move(ofImage);
        body = std::move(image);
    }
    body.closedForm.mayBeMirrored = false;
}

} // namespace

void absorbConstraints(ConstraintSet& set, std::vector<CollectedBody>& bodies, double tolerance,
                       const ProblemReport& report) {
    if (bodies.empty())
        return;
    const BodyMembership membership(bodies, set.numParticles());
    for (int k = 0; k < set.numListed; k++) {
        if (set.isIgnored(set.constraints[k]))
            continue;
        const Place found = findBody(set, set.constraints[k], membership);
        if (found.body < 0)
            continue;
        CollectedBody& body = bodies[found.body];
        Check result = check(set, k, body, found.places, tolerance);
        if (!result.isHeld)
            continue;
        if (body.closedForm.mayBeMirrored)
            decideHandedness(set, k, body, found.places, tolerance, result);
        if (result.problem) {
            report(std::move(*result.problem));
            leaveOut(set, k);
            continue;
        }
        set.constraints[k].isAbsorbed = true;
        if (result.deviation > set.absorbedDeviation || set.absorbedConstraint < 0) {
            set.absorbedDeviation = result.deviation;
            set.absorbedConstraint = k;
        }
    }
}

} // namespace ConstraintPlugin
