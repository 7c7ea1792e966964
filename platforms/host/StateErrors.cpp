// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "StateErrors.h"
#include "ConstraintErrors.h"
#include "Jacobian.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include <algorithm>
#include <limits>
#include <sstream>

namespace ConstraintPlugin {

ConstraintProblem unresolvedPosition(const ConstraintSet& set, const Projection& projection, const Real3* x,
                                     const std::string& activity) {
    const auto [constraint, body, particle, rounding] =
        std::tuple(projection.constraint, projection.body, projection.particle, projection.distance);
    std::ostringstream out;
    out << describeParticle(set, particle) << " is at (" << x[particle].x << ", " << x[particle].y << ", "
        << x[particle].z << ") nm in " << activity
        << ": at this distance from the origin, positions in this precision are rounded by " << rounding
        << " nm, too much for " << (constraint >= 0 ? describeConstraint(set, constraint) : describeBody(set, body))
        << ".";
    const char* const remedy = "correct its position, or move all particles closer to the origin.";
    return constraint >= 0 ? problemOf(set, "rounding", {constraint}, out.str(), remedy, rounding,
                                       set.scale(set.constraints[constraint]))
                           : problemOfBody(set, "rounding", body, out.str(), remedy, rounding, set.bodies[body].radius);
}

namespace {

/** " nm" after an error of a constraint, or what else it is measured in. */
const char* unitOfError(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    return set.hasLengthScale(c) ? " of its length" : isAngular(c.kind) ? " rad" : " nm";
}

/** "is 0.31 nm, not 0.1 nm", "is 118 degrees from its value". */
std::string describeError(const ConstraintSet& set, const SolveReport& report, double time) {
    std::ostringstream out;
    const Constraint& c = set.constraints[report.constraint];
    if (set.hasLengthScale(c))
        out << "is " << report.value << " nm, not " << c.targetAt(time) << " nm";
    else if (set.traitsOf(c).range == Range::Number)
        out << "is " << report.value << ", not " << c.targetAt(time);
    else if (c.kind == CoordinateKind::Custom)
        out << "is " << report.maxError << " nm from its value";
    else if (c.joint[0] >= 0)
        out << "is open by " << std::abs(report.value) << " nm along an axis";
    else if (c.kind == CoordinateKind::AffinePosition)
        out << "has a different shape";
    else
        out << "is " << report.maxError * 180 / M_PI << " degrees from its value";
    return out.str();
}

/** The value of a constraint if it took the minimum image, as setUsesPeriodicBoundaryConditions() lets it; NaN of one
 *  that this is not known of. */
double valueWithImages(const ConstraintSet& set, const Constraint& c, const Real3* x, const Box& box) {
    if (c.kind == CoordinateKind::Custom) {
        std::vector<Real3> places;
        for (int p : c.particles)
            places.push_back(x[p]);
        return set.custom[c.form]->valueWithImages(places.data(), set.parameters.data() + c.firstParameter, box);
    }
    if (c.kind == CoordinateKind::AffinePosition)
        return std::numeric_limits<double>::quiet_NaN();
    ConstraintSet one;
    one.inverseMass = set.inverseMass;
    one.constraints = {c};
    one.constraints[0].periodic = true;
    one.constraints[0].nodes.clear();
    Jacobian jacobian(one, {0});
    jacobian.setStart(x, box);
    return jacobian.startValue(0);
}

/** Whether positions of a body that takes no images would fit its shape if it did. */
bool lacksImage(const RigidBody& body, const Real3* x, const Box& box) {
    RigidBody periodic = body;
    periodic.periodic = true;
    return !body.periodic && fitBody(periodic, x, box).deviation < 0.5 * fitBody(body, x, box).deviation;
}

/** Why a constraint or a body may be far from its value. */
enum class Cause { Unknown, StartTime, MissingImage };

Cause causeOf(const ConstraintSet& set, const SolveReport& report, double time, const Real3* x, const Box& box) {
    if (report.body >= 0)
        return lacksImage(set.bodies[report.body], x, box) ? Cause::MissingImage : Cause::Unknown;
    const Constraint& c = set.constraints[report.constraint];
    const auto error = [&](double value, double target) { return std::abs(wrapResidual(c.kind, value - target)); };
    if (c.rate != 0 && error(report.value, c.target) < error(report.value, c.targetAt(time)))
        return Cause::StartTime;
    const double target = c.targetAt(time);
    const bool wouldFit =
        !c.periodic && error(valueWithImages(set, c, x, box), target) < 0.1 * error(report.value, target);
    return wouldFit ? Cause::MissingImage : Cause::Unknown;
}

std::string remedyOf(Cause cause, bool isConverged, bool isOurs) {
    if (cause == Cause::MissingImage)
        return "Its particles are in different copies of the periodic box: call "
               "setUsesPeriodicBoundaryConditions(True) on its Force, or make molecules whole.";
    if (!isOurs)
        return "Call openmmconstraints.minimize(context), which projects in stages and minimizes (OpenMM's minimizer "
               "ignores ConstraintForces).";
    return std::string(cause == Cause::StartTime ? "Its target changes from its start time on: set it to the present "
                                                   "time with startTime=context.getTime(). "
                                                 : "") +
           "Call openmmconstraints.minimize(context), which projects in stages and minimizes (OpenMM's minimizer "
           "ignores ConstraintForces), or integrator.applyConstraints(), which only projects" +
           (isConverged ? "; setMaxProjection() allows it in one stage." : ".");
}

} // namespace

bool wouldFitWithImages(const ConstraintSet& set, const SolveReport& report, double time, const Real3* x,
                        const Box& box) {
    return causeOf(set, report, time, x, box) == Cause::MissingImage;
}

ConstraintProblem farOff(const ConstraintSet& set, const Projection& projection, const Real3* x, const Box& box,
                         double time, double bound, const std::string& activity, bool isOurs) {
    const SolveReport& before = projection.before;
    const bool isConverged = projection.particle >= 0, isBody = before.body >= 0;
    std::ostringstream out;
    out.precision(3);
    if (isBody)
        out << describeBody(set, before.body) << " has a different shape, by " << before.maxError << " of its radius";
    else
        out << describeConstraint(set, before.constraint) << " " << describeError(set, before, time);
    out << ": " << activity;
    if (isConverged && projection.distance <= bound)
        out << " would move " << describeParticle(set, projection.particle) << " by " << projection.distance << " nm";
    else if (isConverged)
        out << " would move " << describeParticle(set, projection.particle) << " by " << projection.distance
            << " nm, farther than " << (isOurs ? "setMaxProjection() allows (" : "a step may (") << bound << " nm)";
    else
        out << " does not succeed in one stage";
    out << ".";
    const Cause cause = causeOf(set, before, time, x, box);
    const char* const kind = cause == Cause::MissingImage ? "minimum-image" : "far-off";
    const std::string remedy = remedyOf(cause, isConverged, isOurs);
    return isBody ? problemOfBody(set, kind, before.body, out.str(), remedy, projection.distance, bound)
                  : problemOf(set, kind, {before.constraint}, out.str(), remedy, projection.distance, bound);
}

ConstraintProblem vanishingGradient(const ConstraintSet& set, const VanishingGradient& vanishing,
                                    const std::string& activity) {
    const auto& [constraint, given, near] = vanishing;
    std::ostringstream out;
    out.precision(3);
    out << describeConstraint(set, constraint)
        << ": its gradient vanishes on the surface sigma = 0 itself, so that no force along it can hold the particles "
           "there. In "
        << activity << ", sigma is " << given.sigma << " and |grad sigma| " << given.gradient
        << " per nm at the given positions";
    if (near.gradient > 0)
        out << ", and " << near.sigma << " and " << near.gradient << " where |sigma|/|grad sigma| is "
            << std::abs(near.sigma) / near.gradient << " nm";
    out << ".";
    return problemOf(
        set, "no-gradient", {constraint}, out.str(),
        "give the expression itself instead of its square: z1-h instead of (z1-h)^2. Where a sum of squares "
        "shall be zero, give each of its terms a constraint: x1-x2, y1-y2 and z1-z2.",
        near.gradient);
}

ConstraintProblem misplacedBody(const ConstraintSet& set, const ConstraintSolver::Misplaced& misplaced,
                                const std::string& activity) {
    using Misplaced = ConstraintSolver::Misplaced;
    if (misplaced.reason == Misplaced::Mirrored)
        return problemOfBody(set, "mirror-image", misplaced.body,
                             "The positions of " + describeBody(set, misplaced.body) + " in " + activity +
                                 " are a mirror image of its shape, which no rotation makes of it.",
                             "give addRigidBody() the positions of this enantiomer, or set positions of the other.");
    std::ostringstream out;
    out.precision(3);
    out << "The positions of " << describeBody(set, misplaced.body) << " in " << activity << ": "
        << describeParticle(set, misplaced.anchor) << " has no mass and cannot move, but it is " << misplaced.distance
        << " nm from its place in the body, relative to the others without mass.";
    return problemOfBody(set, "anchors", misplaced.body, out.str(),
                         "set the positions of particles without mass as in the shape, or give addRigidBody() the "
                         "positions that they have.",
                         misplaced.distance);
}

int firstNotFinite(const Real3* v, int begin, int end) {
    bool areFinite = true; // no early exit, so that the loop is vectorized
    for (int i = begin; i < end; i++)
        areFinite &= std::abs(v[i].x + v[i].y + v[i].z) <= std::numeric_limits<double>::max();
    for (int i = begin; !areFinite && i < end; i++)
        if (!isFinite(v[i]))
            return i;
    return -1;
}

static bool hasSystemConstraint(const ConstraintSet& set, int particle) {
    return std::any_of(set.constraints.begin(), set.constraints.end(), [&](const Constraint& c) {
        return c.force < 0 && std::count(c.particles.begin(), c.particles.end(), particle) > 0;
    });
}

ConstraintProblem notFinite(const ConstraintSet& set, Bad what, int particle, const std::string& activity) {
    const std::string of = " of " + describeParticle(set, particle) + " is ", in = " in " + activity + ".";
    if (what == Bad::Force)
        return {"not-finite",
                {},
                {particle},
                ConstraintProblem::none,
                ConstraintProblem::none,
                "The force on " + describeParticle(set, particle) + " is NaN, infinite or too large" + in,
                "look for overlapping particles, minimize the energy (openmmconstraints.minimize(context)), or look "
                "for a Force whose expression or parameters are not finite there."};
    return {"not-finite",
            {},
            {particle},
            ConstraintProblem::none,
            ConstraintProblem::none,
            std::string(what == Bad::Position ? "The position" : "The velocity") + of + "NaN or infinite" + in,
            std::string("set one that is a number") +
                (hasSystemConstraint(set, particle) ? singularSystemConstraints : ".")};
}

ConstraintProblem becameNotFinite(const ConstraintSet& set, const std::string& what, int particle,
                                  const std::string& activity) {
    return {"not-finite",
            {},
            {particle},
            ConstraintProblem::none,
            ConstraintProblem::none,
            "The " + what + " of " + describeParticle(set, particle) + " would become NaN or infinite in " + activity +
                ". Its force, velocity or position is not finite.",
            "look for overlapping particles, minimize the energy (openmmconstraints.minimize(context)), or "
            "reduce the step size."};
}

ConstraintProblem bathLeftBehind(const HeatBath& bath, double twiceKineticEnergy, const std::string& activity) {
    std::ostringstream out;
    out.precision(3);
    out << "The Nose-Hoover chain cannot follow in " << activity << ": the particles have a temperature of "
        << twiceKineticEnergy / (bath.degreesOfFreedom * BOLTZ) << " K, the heat bath " << bath.kT / BOLTZ
        << " K and a frequency of " << bath.frequency << " /ps, so that the chain would become NaN or infinite.";
    return {"not-finite",
            {},
            {},
            ConstraintProblem::none,
            ConstraintProblem::none,
            out.str(),
            "set velocities of the new temperature (context.setVelocitiesToTemperature()), change the temperature in "
            "stages, or reduce the collision frequency or the step size."};
}

ConstraintProblem tooMuchDrift(const ConstraintSet& set, const SolveReport& drift, double bound,
                               const std::string& activity) {
    std::ostringstream out;
    out << "The constraints drifted beyond the bound " << bound << " in " << activity << ": ";
    if (drift.body >= 0)
        out << describeBody(set, drift.body) << " has a different shape, by " << drift.maxError << " of its radius.";
    else
        out << describeConstraint(set, drift.constraint) << " has the value " << drift.value << ", an error of "
            << drift.maxError << ".";
    const char* const remedy =
        "stabilize (setStabilization(alpha, beta), both about 0.1/stepSize), reduce the step size, raise "
        "setMaxDrift(), call applyConstraints() regularly, or use RattleIntegrator, which does not drift.";
    return drift.body >= 0 ? problemOfBody(set, "drift", drift.body, out.str(), remedy, drift.maxError, bound)
                           : problemOf(set, "drift", {drift.constraint}, out.str(), remedy, drift.maxError, bound);
}

ConstraintProblem offParameter(const ConstraintSet& set, const SolveReport& report, const GlobalValues& globals,
                               double bound) {
    const auto& [names, now, met] = globals;
    std::ostringstream out;
    out << "The positions do not satisfy the constraints after a change of a Context parameter: ";
    for (std::size_t i = 0; i < names.size(); i++)
        if (i >= met.size() || now[i] != met[i]) {
            out << "\"" << names[i] << "\" is " << now[i];
            if (i < met.size())
                out << ", they were projected with " << met[i];
            break;
        }
    out << ". " << describeConstraint(set, report.constraint) << " has an error of " << report.maxError
        << unitOfError(set, report.constraint)
        << ", so energies and forces here are not those of the constrained system.";
    return problemOf(
        set, "off-parameter", {report.constraint}, out.str(),
        "call integrator.applyConstraints() after context.setParameter(). Exchanges of states between values of such "
        "a parameter cannot make this call: run each value by itself and integrate computeParameterDerivatives(), or "
        "exchange temperatures or parameters of other Forces.",
        report.maxError, bound);
}

} // namespace ConstraintPlugin
