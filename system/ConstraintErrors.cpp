// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintErrors.h"
#include "HeldTwice.h"
#include "JointErrors.h"
#include "MovingTargets.h"
#include <set>
#include <sstream>

namespace ConstraintPlugin {

namespace {

/** "a, b and c"; long lists are cut. @param item  (i) -> what to write */
template <class Item>
void writeList(std::ostream& out, std::size_t size, Item item) {
    constexpr std::size_t most = 12; // of a group of thousands
    for (std::size_t i = 0; i < size && i < most; i++)
        out << (i == 0 ? "" : i == size - 1 ? " and " : ", ") << item(i);
    if (size > most)
        out << " and " << size - most << " more";
}

/** "particles 11 and 12", and if any of them has a name: "particles 11 and 12: A:LEU3:CA and A:LEU3:HA". */
std::string listParticles(const ConstraintSet& set, const std::vector<int>& particles) {
    std::ostringstream out;
    out << (particles.size() == 1 ? "particle " : "particles ");
    writeList(out, particles.size(), [&](std::size_t i) { return particles[i]; });
    if (std::any_of(particles.begin(), particles.end(), [&](int p) { return !set.nameOf(p).empty(); })) {
        out << ": ";
        writeList(out, particles.size(), [&](std::size_t i) {
            const std::string name = set.nameOf(particles[i]);
            return name.empty() ? std::to_string(particles[i]) : name;
        });
    }
    return out.str();
}

std::string whatHappened(const ConstraintSet& set, const SolveReport& report) {
    switch (report.outcome) {
    case Outcome::Converged:
        return "converged";
    case Outcome::NotConverged:
        return "no convergence";
    case Outcome::Singular:
        return "the constraint matrix is singular";
    case Outcome::NotFinite:
        return "a coordinate is NaN or infinite, or two constrained particles are at the same place";
    case Outcome::Inconsistent:
        return "a constraint that depends on others, or joins immovable particles, does not hold";
    case Outcome::NoGradient:
        if (isAngular(set.constraints[report.constraint].kind))
            return "the " + std::string(nameOf(set, set.constraints[report.constraint])) +
                   " below has no gradient where it starts, because three neighbours of its particles lie exactly on a "
                   "straight line";
        return "a constraint has no gradient where its particles are: it is zero, infinite or NaN there";
    }
    return "";
}

bool isJoint(const Constraint& c) {
    return c.joint[0] >= 0;
}

/** A remedy for bad states. OpenMM's own minimizer is not recommended, because it violates the constraints of Forces.
 */
const char* const minimizeFirst = "minimize the energy first (openmmconstraints.minimize(context))";

/** A free bond that rotates by w dt has the relative length sqrt(1 + (w dt)^2) afterwards. Impulses along its initial
 *  direction can restore its length only if w dt < 1. Coupled constraints change this bound a little. */
constexpr double maxRotation = 1, muchRotation = 0.7 * maxRotation;

bool turnsTooFast(const SolveReport& report, const SolveContext& context) {
    return !context.isProjection && report.rotation > muchRotation &&
           (report.outcome == Outcome::Singular || report.outcome == Outcome::NotConverged);
}

const char* kindOf(const SolveReport& report, const SolveContext& context) {
    if (turnsTooFast(report, context))
        return "too-fast";
    switch (report.outcome) {
    case Outcome::Singular:
        return "singular";
    case Outcome::NotFinite:
        return "not-finite";
    case Outcome::Inconsistent:
        return "inconsistent";
    case Outcome::NoGradient:
        return "no-gradient";
    default:
        return "not-converged";
    }
}

/** What brings positions closer to the constraints. */
const char* placeNearer(const SolveContext& context) {
    if (!context.isProjection)
        return "reduce the step size";
    if (!context.isOneStage)
        return "set positions closer to the constraints";
    return context.isOurs ? "call openmmconstraints.minimize(context), which projects in stages and minimizes, or "
                            "integrator.applyConstraints(), which only projects"
                          : "call openmmconstraints.minimize(context), which projects in stages and minimizes";
}

std::string remedyFor(const ConstraintSet& set, const SolveReport& report, const SolveContext& context) {
    const bool ofExpression = report.constraint >= 0 && set.isExpression(set.constraints[report.constraint]);
    const bool isOfJoint = report.constraint >= 0 && isJoint(set.constraints[report.constraint]);
    const char* const nearer = placeNearer(context);
    const bool isNumber =
        report.constraint >= 0 && set.traitsOf(set.constraints[report.constraint]).range == Range::Number;
    const bool isOfSystem = report.constraint >= 0 && !isOfJoint && set.constraints[report.constraint].force < 0;
    if (context.nearLimit >= 0)
        return remedyForMotion(set, context.nearLimit) +
               (context.isProjection ? "" : " With a smaller step size it can come closer to the limit.");
    if (turnsTooFast(report, context)) {
        std::ostringstream out;
        out.precision(2);
        out << "a step size below " << context.stepSize / report.rotation << " ps (setStepSize), or " << minimizeFirst
            << " if it is fast because of large forces.";
        return out.str();
    }
    switch (report.outcome) {
    case Outcome::NotFinite:
        if (ofExpression)
            return "the expression, or its gradient, is NaN or infinite where the particles were going: " +
                   std::string(nearer) + ", or write the expression so that it is defined there.";
        return std::string("look for overlapping particles") +
               (context.isProjection ? "" : " or a step size that is too large") +
               (isOfSystem ? singularSystemConstraints : ".");
    case Outcome::Singular:
        if (ofExpression)
            return "its normal turned by 90 degrees on the way, its gradient vanishes, or it touches another "
                   "constraint of its particles here: " +
                   (context.isProjection && !context.isOneStage ? "" : std::string(nearer) + ", ") +
                   "start closer to the surface, or write the expression so that its gradient vanishes nowhere on the "
                   "surface.";
        if (isNumber)
            return "its gradient turned by 90 degrees on the way, or other constraints of its particles leave it no "
                   "freedom here: " +
                   std::string(nearer) + ", or move it there by a rate (setCoordinationNumberRate()).";
        return (context.isProjection ? "this " : "the step is too large for this ") +
               std::string(isOfJoint ? "joint" : "bond") +
               (context.isProjection ? " turned by 90 degrees on the way" : " to follow (it turned by 90 degrees)") +
               ", or the constraints of these particles depend on each other in this geometry: " + std::string(nearer) +
               ", " + (context.isProjection ? "" : std::string(minimizeFirst) + ", ") +
               "or remove a constraint of the set.";
    case Outcome::NoGradient:
        if (isAngular(set.constraints[report.constraint].kind))
            return "move " + describeParticle(set, set.constraints[report.constraint].particles[1]) +
                   " off the line, by 0.001 nm to the side where it shall be, and set the positions again.";
        if (isNumber)
            return "no two particles of its groups are closer than its cutoff, or all that are cannot move: set "
                   "positions where some are, or give it a longer cutoff (setCoordinationNumberParameters()).";
        return "move the particles away from this place (the centre of a sphere, the apex of a cone, a kink), or write "
               "the expression so that it is differentiable there (x^2+y^2-r^2 instead of sqrt(x^2+y^2)-r).";
    case Outcome::Inconsistent:
        if (report.constraint >= 0 && !set.isMovable(set.constraints[report.constraint]))
            return "all its particles have zero mass and cannot move: place them at the target, give one a mass, or "
                   "remove the constraint, as openmmconstraints.freeze(system, []) does before a Context is made.";
        if (report.constraint >= 0 && !othersThatHold(set, report.constraint).empty())
            return "give them values that agree, or leave one of them out.";
        return "the constraints of these particles contradict each other: give them values that agree within the "
               "tolerance, or remove this one. Where they differ by rounding only, a larger setConstraintTolerance() "
               "will do.";
    default:
        if (context.tolerance < 1e-13)
            return "the tolerance is near the floor of double precision: use 1e-13 or more.";
        return std::string(nearer) + ", " + (context.isProjection ? "" : std::string(minimizeFirst) + ", ") +
               (!context.isIterative   ? ""
                : context.note.empty() ? "choose setSolver(MatrixInversion) for strongly coupled constraints, "
                                       : "couple fewer constraints (" + context.note + "), ") +
               (context.isOurs ? "raise setMaxIterations(), " : "") +
               "or check that the lengths do not contradict each other.";
    }
}

} // namespace

const char* const singularSystemConstraints =
    "; if positions are NaN after setVelocitiesToTemperature(), Context.applyConstraints() or "
    "LocalEnergyMinimizer.minimize(), OpenMM's own solver failed on a singular set of System constraints: call "
    "openmmconstraints.moveConstraints(system) before creating the Context, and minimize with "
    "openmmconstraints.minimize(context).";

const char* nameOf(const ConstraintSet& set, const Constraint& c) {
    switch (c.kind) {
    case CoordinateKind::LinearAngle:
        return "straight angle";
    case CoordinateKind::AffinePosition:
        return "rigid body";
    default:
        return set.traitsOf(c).name;
    }
}

const char* unitOf(const ConstraintSet& set, const Constraint& c) {
    return isAngular(c.kind) || c.kind == CoordinateKind::LinearAngle ? " rad"
           : set.traitsOf(c).range == Range::Number                   ? ""
                                                                      : " nm";
}

std::string describeConstraint(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    if (isJoint(c))
        return describeJoint(set, c);
    std::ostringstream out;
    const bool isOfBody = constraint >= set.numListed && c.owner < 0;
    if (isOfBody && c.force < 0)
        out << "the rigid body that distances and angles hold";
    else if (c.force < 0)
        out << "System constraint " << c.index;
    else if (set.isExpression(c))
        out << "constraint " << c.index << " of the " << set.custom[c.form]->getForceName() << " with index "
            << c.force;
    else
        out << (isOfBody ? "rigid body" : nameOf(set, c)) << " " << c.index << " of the ConstraintForce with index "
            << c.force;
    if (set.isExpression(c))
        out << ", " << set.custom[c.form]->describe() << " = 0,";
    out << " (" << listParticles(set, c.particles) << ")";
    return out.str();
}

std::string describeBody(const ConstraintSet& set, int body) {
    const RigidBody& b = set.bodies[body];
    return (b.force < 0 ? std::string("the rigid body that distances and angles hold")
                        : "rigid body " + std::to_string(b.index) + " of the ConstraintForce with index " +
                              std::to_string(b.force)) +
           " (" + listParticles(set, b.particles) + ")";
}

ConstraintProblem problemOfBody(const ConstraintSet& set, std::string kind, int body, std::string message,
                                std::string remedy, double value, double bound) {
    return {std::move(kind), {}, set.bodies[body].particles, value, bound, std::move(message), std::move(remedy)};
}

/** @throws ConstraintException: a body turns too far in a step, or its motion is not finite */
[[noreturn]] static void throwBodyError(const ConstraintSet& set, const SolveReport& report,
                                        const SolveContext& context) {
    std::ostringstream out;
    out.precision(3);
    out << "The constraints could not be solved in " << context.activity << ", "
        << (context.stage == Stage::Positions ? "position" : "velocity")
        << " stage: " << describeBody(set, report.body);
    if (report.outcome == Outcome::NotFinite) {
        out << (context.isProjection ? " has a coordinate that is NaN or infinite."
                                     : " has a position, velocity or force that is NaN or infinite.");
        throwProblem(problemOfBody(
            set, "not-finite", report.body, out.str(),
            std::string("look for overlapping particles") +
                (context.isProjection ? "."
                                      : " or a step size that is too large, or " + std::string(minimizeFirst) + ".")));
    }
    if (context.isProjection) {
        out << " would have to turn by 90 degrees or more to meet the constraints of its particles.";
        throwProblem(problemOfBody(set, "not-converged", report.body, out.str(),
                                   std::string(placeNearer(context)) +
                                       ", or check that the lengths do not contradict each other."));
    }
    out << " turns by " << report.rotation
        << " rad in this step, by its angular velocity. Constraint forces with the directions of the step's start can "
        << "turn it up to about " << maxRotation << " rad, where it turns by 90 degrees.";
    std::ostringstream remedy;
    remedy.precision(2);
    remedy << "a step size below " << context.stepSize / report.rotation << " ps (setStepSize), or " << minimizeFirst
           << " if it is fast because of large forces.";
    throwProblem(problemOfBody(set, "too-fast", report.body, out.str(), remedy.str(), report.rotation, maxRotation));
}

std::string describeParticle(const ConstraintSet& set, int particle) {
    const std::string name = set.nameOf(particle);
    return "particle " + std::to_string(particle) + (name.empty() ? "" : " (" + name + ")");
}

int listedIndex(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    return constraint < set.numListed ? constraint : c.owner;
}

std::string describeParticles(const ConstraintSet& set, const std::vector<int>& constraints) {
    std::vector<int> particles;
    for (int k : constraints)
        particles.insert(particles.end(), set.constraints[k].particles.begin(), set.constraints[k].particles.end());
    std::sort(particles.begin(), particles.end());
    particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
    return listParticles(set, particles);
}

ConstraintProblem problemOf(const ConstraintSet& set, std::string kind, const std::vector<int>& constraints,
                            std::string message, std::string remedy, double value, double bound) {
    ConstraintProblem problem{std::move(kind), {}, {}, value, bound, std::move(message), std::move(remedy)};
    std::set<int> known, listed;
    for (int k : constraints) {
        const int index = listedIndex(set, k);
        if (index >= 0 && listed.insert(index).second)
            problem.constraints.push_back(index);
        for (int p : set.constraints[k].particles)
            if (known.insert(p).second)
                problem.particles.push_back(p);
    }
    return problem;
}

void throwSolveError(const ConstraintSet& set, const SolveReport& report, const SolveContext& context) {
    if (report.body >= 0)
        throwBodyError(set, report, context);
    std::ostringstream out;
    out << "The constraints could not be solved in " << context.activity << ", "
        << (context.stage == Stage::Positions ? "position" : "velocity") << " stage: " << whatHappened(set, report)
        << " (after " << report.iterations << " iterations of " << context.solver << ").";
    if (report.constraint >= 0) {
        const Constraint& c = set.constraints[report.constraint];
        out.precision(6);
        out << "\nWorst: " << describeConstraint(set, report.constraint) << ": ";
        const std::string unit = unitOf(set, c);
        const bool isRelative = set.hasLengthScale(c) || c.kind == CoordinateKind::AffinePosition;
        const char* const residual = set.hasLengthAsError(c) ? "|sigma|/|grad sigma| in nm "
                                     : isRelative            ? "relative residual "
                                                             : "residual ";
        const bool isOfPositions = context.stage == Stage::Positions || report.isOfStart;
        if (isOfPositions && set.isExpression(c))
            out << "sigma is " << report.value << ", " << residual;
        else if (isOfPositions && isJoint(c))
            out << "its places in the two bodies are " << std::abs(report.value) << " nm apart along an axis, "
                << residual;
        else if (isOfPositions)
            out << "value " << report.value << unit << ", target " << c.targetAt(context.time) << unit << ", "
                << residual;
        else if (set.isExpression(c))
            out << "its rate of change is " << report.value << " /ps, " << residual << "in " << context.timeScale
                << " ps ";
        else if (isJoint(c))
            out << "its places in the two bodies part with " << std::abs(report.value) << " nm/ps along an axis, "
                << residual << "in " << context.timeScale << " ps ";
        else
            out << "rate of change " << report.value + c.rate << unit << "/ps, target " << c.rate << unit << "/ps ("
                << nameOf(set, c) << " " << c.targetAt(context.time) << unit << "), " << residual << "in "
                << context.timeScale << " ps ";
        out.precision(3);
        out << report.maxError << ", tolerance " << context.tolerance << ".";
        if (report.outcome == Outcome::Inconsistent)
            if (const std::vector<int> others = othersThatHold(set, report.constraint); !others.empty())
                out << "\nOthers hold its coordinate, too: " << describeConstraints(set, others) << ".";
        if (turnsTooFast(report, context))
            out << "\nFree particles would turn it by " << report.rotation
                << " rad in this step. Constraint forces along "
                << "the bond's direction at the start of the step can hold it only up to about " << maxRotation
                << " rad, where it turns by 90 degrees.";
        for (std::size_t s = 0; s < report.places.size() && !(isJoint(c) && s > 0); s++)
            out << (s == 0 ? "\nThere: " : ", ") << describeParticle(set, c.particles[s]) << " at ("
                << report.places[s].x << ", " << report.places[s].y << ", " << report.places[s].z << ") nm";
    }
    if (context.nearLimit >= 0)
        out << "\nA target is near the limit of its range: " << describeMotion(set, context.nearLimit, context.time)
            << (context.isProjection ? "." : ", and this close to the limit its particles cross it within one step.");
    const int about = context.nearLimit >= 0 ? context.nearLimit : report.constraint;
    const bool isTooFast = context.nearLimit < 0 && turnsTooFast(report, context);
    throwProblem(problemOf(set, context.nearLimit >= 0 ? "moving" : kindOf(report, context),
                           about < 0 ? std::vector<int>() : std::vector{about}, out.str(),
                           remedyFor(set, report, context), isTooFast ? report.rotation : report.maxError,
                           isTooFast ? maxRotation : context.tolerance));
}

std::string describeConstraints(const ConstraintSet& set, const std::vector<int>& constraints) {
    constexpr std::size_t most = 6;
    std::vector<std::string> names; // a joint is three constraints
    std::size_t further = 0;
    for (int k : constraints)
        if (names.size() == most)
            further++;
        else if (std::string name = describeConstraint(set, k);
                 std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : "; ") + name;
    return text + (further > 0 ? "; and " + std::to_string(further) + " more" : "");
}

ConstraintProblem rankWithoutPositions(const ConstraintSolver& solver, const Box& box, const std::string& call,
                                       const std::string& remedy) {
    const ConstraintSet& set = solver.getSet();
    const std::vector<int> among = solver.constraintsOfUnknownRank(box);
    std::string text = call + ": positions decide how many of the constraints are independent, and are not set. ";
    if (haveJoinedBodies(set, among))
        return problemOf(set, "no-positions", among,
                         text + "Constraints join " + describeJoinedBodies(set, among) + " in a loop.", remedy);
    std::ostringstream out;
    out << text << describeConstraint(set, among[0]) << " and " << among.size() - 1
        << " more redundant constraints may join particles to their own periodic images: with others they form a ring "
           "whose lengths add up to the smallest width of the box, "
        << 2 * box.halfWidth() << " nm, or more.";
    return problemOf(set, "no-positions", among, out.str(), remedy, ConstraintProblem::none, 2 * box.halfWidth());
}

ConstraintProblem contradictoryLengths(const ConstraintSet& set, const LengthConflict& conflict, double tolerance,
                                       const std::string& activity) {
    std::ostringstream out;
    out.precision(3);
    out << "The distances and angles of " << listParticles(set, conflict.particles)
        << " contradict each other, so that " << activity
        << " cannot succeed: no positions hold all of them. Without any one of these particles, the others hold. A "
           "least-squares fit leaves an error of "
        << conflict.error << " nm (root mean square)";
    const Constraint& worst = set.constraints[conflict.worst];
    out.precision(6);
    out << "; worst is " << describeConstraint(set, conflict.worst) << ", "
        << (worst.kind == CoordinateKind::Angle ? "whose ends should be " : "which should be ") << conflict.length
        << " nm " << (worst.kind == CoordinateKind::Angle ? "from each other, and are " : "long, and is ")
        << conflict.fitted << " nm there.";
    return problemOf(set, "contradictory", conflict.constraints, out.str(),
                     "take lengths that agree, those of a structure: make the System without these constraints, and "
                     "call openmmconstraints.constrain(system, topology, bonds, angles, lengths=\"positions\", "
                     "positions=positions). Or remove constraints of these particles until the others agree.",
                     std::abs(conflict.fitted / conflict.length - 1), tolerance);
}

ConstraintProblem undecidedRank(const ConstraintSet& set, const std::vector<int>& constraints) {
    std::ostringstream out;
    out << "It could not be determined how many of " << constraints.size() << " coupled constraints of "
        << describeParticles(set, constraints)
        << " are independent, so the number of degrees of freedom is unknown: at "
        << "no random positions is there a gap of 10^6 between dependent and independent gradients. The constraints "
           "are: ";
    out << describeConstraints(set, constraints) << ".";
    return problemOf(set, "undecided", constraints, out.str(),
                     "remove redundant constraints, or declare rigid parts with "
                     "ConstraintForce.addRigidBody(particles, positions).");
}

void throwSingularSet(const ConstraintSet& set, const RankAnalysis& analysis) {
    if (haveJoinedBodies(set, analysis.circuit))
        throwProblem(singularJoints(set, analysis.circuit));
    std::ostringstream out;
    out << "The constraints of " << describeParticles(set, analysis.circuit) << " form a "
        << (analysis.shape == Shape::Straight ? "linear"
            : analysis.shape == Shape::Flat   ? "planar"
                                              : "special")
        << " set that is singular: its gradients depend on each other in the constrained geometry itself (smallest "
        << "pivot " << analysis.smallestPivot << "), so no multipliers can maintain it. The constraints are: ";
    out << describeConstraints(set, analysis.circuit) << ".";
    throwProblem(problemOf(set, "singular", analysis.circuit, out.str(),
                           "if these particles are rigid, declare them so with ConstraintForce.addRigidBody(particles, "
                           "positions), or remove the constraints that only restrict the bending.",
                           analysis.smallestPivot, analysis.leastPivot()));
}

} // namespace ConstraintPlugin
