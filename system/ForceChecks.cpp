// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ForceChecks.h"
#include "Border.h"
#include "CollectConstraints.h"
#include "ConstraintErrors.h"
#include "DisjointSets.h"
#include "ScaledAxes.h"
#include "SystemChecks.h"
#include "openmm/ATMForce.h"
#include "openmm/AndersenThermostat.h"
#include "openmm/CMMotionRemover.h"
#include "openmm/CustomCVForce.h"
#include "openmm/MonteCarloAnisotropicBarostat.h"
#include "openmm/MonteCarloBarostat.h"
#include "openmm/MonteCarloFlexibleBarostat.h"
#include "openmm/MonteCarloMembraneBarostat.h"
#include "openmmconstraints/ConstraintForce.h"
#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <typeinfo>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

constexpr std::array<int, 3> axes = {0, 1, 2};

bool removesMotion(const Force& force) {
    return dynamic_cast<const CMMotionRemover*>(&force) != nullptr;
}

/** The axes along which a Force shifts or scales all positions or velocities. */
Axes shiftedBy(const Force& force) {
    return removesMotion(force) ? Axes{true, true, true} : scaledBy(force);
}

/** A massless particle of a constraint that also has massive ones, which it anchors; -1: there is none. */
int anchorOf(const ConstraintSet& set, const Constraint& c) {
    const auto massless =
        std::find_if(c.particles.begin(), c.particles.end(), [&](int p) { return set.inverseMass[p] == 0; });
    return massless != c.particles.end() && set.isMovable(c) ? *massless : -1;
}

} // namespace

/** Report a Force that does not work with a constraint. */
static void reportCombination(const ConstraintSet& set, size_t constraint, const Force& force,
                              const std::string& cannot, const std::string& why, const std::string& remedy,
                              const ProblemReport& report) {
    report(problemOf(set, "combination", {(int) constraint},
                     force.getName() + cannot + describeConstraint(set, (int) constraint) + why, remedy));
}

static std::string tiesTo(const ConstraintSet& set, int anchor) {
    return ", which ties particles to " + describeParticle(set, anchor) +
           ", which is massless and does not move: it would remove their motion.";
}

static std::string cannotBeCombined(const Force& force, const std::string& with) {
    return force.getName() + " cannot be combined with " + with;
}

/** A massless particle of a body; -1: there is none. */
static int anchorOf(const RigidBody& body) {
    const auto massless = std::find(body.mass.begin(), body.mass.end(), 0.0);
    return massless == body.mass.end() ? -1 : body.particles[massless - body.mass.begin()];
}

/** The first rigid body that a massless particle holds in place; -1: there is none. */
static int findAnchored(const ConstraintSet& set) {
    const auto found = std::find_if(set.bodies.begin(), set.bodies.end(),
                                    [](const RigidBody& body) { return body.numMassive > 0 && anchorOf(body) >= 0; });
    return found == set.bodies.end() ? -1 : (int) (found - set.bodies.begin());
}

/** The first rigid body with several massive particles; -1: there is none. */
static int findJoining(const ConstraintSet& set, const std::set<int>& exceptForces = {}) {
    const auto found = std::find_if(set.bodies.begin(), set.bodies.end(), [&](const RigidBody& body) {
        return body.numMassive > 1 && exceptForces.count(body.force) == 0;
    });
    return found == set.bodies.end() ? -1 : (int) (found - set.bodies.begin());
}

/** A CMMotionRemover subtracts the velocity of the centre of mass from particles that are tied to a point in space.
 * Anchors are no problem for barostats, which move massless particles with their molecules. */
static void checkShiftsOfPlaces(const System& system, const ConstraintSet& set, const ProblemReport& report) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        const Axes shifted = shiftedBy(force);
        if (shifted == Axes{})
            continue;
        const bool removes = removesMotion(force);
        const std::string remedy =
            removes ? "Remove it before the Context is made: system.removeForce(" + std::to_string(f) +
                          "), or ForceField.createSystem(removeCMMotion=False)."
                    : "Use one that leaves this axis alone (MonteCarloAnisotropicBarostat), or an expression in "
                      "distances only.";
        if (const int body = removes ? findAnchored(set) : -1; body >= 0) {
            const RigidBody& held = set.bodies[body];
            report(problemOfBody(set, "combination", body,
                                 cannotBeCombined(force, describeBody(set, body)) + tiesTo(set, anchorOf(held)),
                                 remedy));
            continue;
        }
        for (size_t k = 0; k < set.constraints.size(); k++) {
            const Constraint& c = set.constraints[k];
            if (set.isIgnored(c) || c.joint[0] >= 0)
                continue;
            const int anchor = removes ? anchorOf(set, c) : -1;
            const Axes fixed = c.kind == CoordinateKind::Custom ? fixedBy(set, c, !removes)
                                                                : Axes{anchor >= 0, anchor >= 0, anchor >= 0};
            const auto axis = std::find_if(axes.begin(), axes.end(), [&](int i) { return shifted[i] && fixed[i]; });
            if (axis == axes.end())
                continue;
            reportCombination(set, k, force, " cannot be combined with ",
                              anchor >= 0 ? tiesTo(set, anchor)
                                          : std::string(", which fixes places in space along ") + "xyz"[*axis] +
                                                (removes ? ": it would remove the motion along the surface."
                                                         : ": it would scale positions off the surface."),
                              remedy, report);
            break;
        }
    }
}

template <class Barostat>
static auto scalesAsRigid(const Barostat& barostat, int) -> decltype(barostat.getScaleMoleculesAsRigid()) {
    return barostat.getScaleMoleculesAsRigid();
}
template <class Barostat>
static bool scalesAsRigid(const Barostat&, long) {
    return true;
}

/** Whether a Force is a barostat that scales the position of each particle instead of each molecule's. */
static bool scalesParticles(const Force& force) {
    const auto scales = [&](const auto* barostat) { return barostat != nullptr && !scalesAsRigid(*barostat, 0); };
    return scales(dynamic_cast<const MonteCarloBarostat*>(&force)) ||
           scales(dynamic_cast<const MonteCarloAnisotropicBarostat*>(&force)) ||
           scales(dynamic_cast<const MonteCarloMembraneBarostat*>(&force)) ||
           scales(dynamic_cast<const MonteCarloFlexibleBarostat*>(&force));
}

static void checkScalingOfParticles(const System& system, const ConstraintSet& set, const ProblemReport& report) {
    const auto joinsMovable = [&](const Constraint& c) {
        return !set.isIgnored(c) && c.joint[0] < 0 &&
               std::count_if(c.particles.begin(), c.particles.end(), [&](int p) { return set.inverseMass[p] > 0; }) > 1;
    };
    const auto first = std::find_if(set.constraints.begin(), set.constraints.end(), joinsMovable);
    const int body = first == set.constraints.end() ? findJoining(set) : -1;
    const char *const cannot = " with setScaleMoleculesAsRigid(False) cannot be combined with ",
                      *const why = ": it would stretch what the constraint holds, and accept moves by the energy of "
                                   "stretched molecules.",
                      *const remedy = "Leave it at True.";
    for (int f = 0; f < system.getNumForces(); f++) {
        if (!scalesParticles(system.getForce(f)))
            continue;
        if (first != set.constraints.end())
            reportCombination(set, first - set.constraints.begin(), system.getForce(f), cannot, why, remedy, report);
        else if (body >= 0)
            report(problemOfBody(set, "combination", body,
                                 system.getForce(f).getName() + cannot + describeBody(set, body) + why, remedy));
    }
}

/** Recognized by its name, because OpenMM's Drude plugin may not be installed. */
static void checkDrudeParticles(const System& system, const ProblemReport& report) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        if (std::string(typeid(force).name()).find("DrudeForce") != std::string::npos)
            report({"combination",
                    {},
                    {},
                    ConstraintProblem::none,
                    ConstraintProblem::none,
                    "The System has a DrudeForce, and the integrators of openmm-constraints have no heat bath of their "
                    "own "
                    "for Drude particles: they would be heated like atoms, and the polarization with them.",
                    "Use DrudeLangevinIntegrator, DrudeNoseHooverIntegrator or DrudeSCFIntegrator, with "
                    "openmmconstraints.replaceSolver(system) where a Force has constraints, or a force field without "
                    "Drude "
                    "particles."});
    }
}

/** The groups of particles in which AndersenThermostat draws velocities together. */
static DisjointSets groupsOfSystem(const System& system) {
    DisjointSets groups(system.getNumParticles());
    for (int i = 0; i < system.getNumConstraints(); i++) {
        int p, q;
        double distance;
        system.getConstraintParameters(i, p, q, distance);
        if (std::min(p, q) >= 0 && std::max(p, q) < system.getNumParticles()) // others are refused elsewhere
            groups.join(p, q);
    }
    return groups;
}

/** AndersenThermostat with constraints of Forces that join its groups; for each Force the first one. */
static void checkThermostats(const System& system, const ConstraintSet& set, const ProblemReport& report) {
    const auto isAndersen = [&](int f) {
        return dynamic_cast<const AndersenThermostat*>(&system.getForce(f)) != nullptr;
    };
    int thermostat = 0;
    while (thermostat < system.getNumForces() && !isAndersen(thermostat))
        thermostat++;
    if (thermostat == system.getNumForces())
        return;
    DisjointSets groups = groupsOfSystem(system);
    const auto problem = [](const std::array<int, 2>& joined) {
        return "AndersenThermostat cannot be combined with a ConstraintForce that joins massive particles (" +
               std::to_string(joined[0]) + " and " + std::to_string(joined[1]) +
               "): it groups collisions by System constraints only and would sample too low a temperature.";
    };
    const char* const remedy =
        "Keep these constraints in the System (openmmconstraints.replaceSolver(system) declares distances and rigid "
        "bodies there), or use another thermostat. openmmtools adds this one where an integrator has no temperature.";
    const auto joinedBy = [&](const std::vector<int>& particles) -> std::optional<std::array<int, 2>> {
        int first = -1;
        for (int p : particles) {
            if (set.inverseMass[p] == 0)
                continue;
            if (first >= 0 && groups.find(p) != groups.find(first))
                return std::array<int, 2>{first, p};
            first = first < 0 ? p : first;
        }
        return {};
    };
    std::set<int> seen; // Forces
    for (size_t k = 0; k < set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (c.force < 0 || set.isIgnored(c) || c.joint[0] >= 0) // of joints, the bodies are told below
            continue;
        if (const auto joined = joinedBy(c.particles); joined && seen.insert(c.force).second)
            report(problemOf(set, "combination", {(int) k}, problem(*joined), remedy));
    }
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (const auto joined = joinedBy(set.bodies[b].particles);
            joined && set.bodies[b].force >= 0 && seen.insert(set.bodies[b].force).second)
            report(problemOfBody(set, "combination", b, problem(*joined), remedy));
}

/** The Forces that another one contains and evaluates in Contexts of its own. */
static std::vector<const Force*> forcesWithin(const Force& force) {
    std::vector<const Force*> within;
    if (const auto* variables = dynamic_cast<const CustomCVForce*>(&force))
        for (int i = 0; i < variables->getNumCollectiveVariables(); i++)
            within.push_back(&variables->getCollectiveVariable(i));
    if (const auto* transfer = dynamic_cast<const ATMForce*>(&force))
        for (int i = 0; i < transfer->getNumForces(); i++)
            within.push_back(&transfer->getForce(i));
    return within;
}

static bool holdsSomething(const Force& force) {
    const auto* ours = dynamic_cast<const ConstraintForce*>(&force);
    bool holds = ours != nullptr && ours->getReplacesSolver();
    forEachConstrainedGroup(force, [&](const std::vector<int>&) { holds = true; });
    return holds;
}

void checkForcesWithin(const System& system, const ProblemReport& report) {
    for (int f = 0; f < system.getNumForces(); f++)
        for (const Force* inner : forcesWithin(system.getForce(f)))
            if (holdsSomething(*inner))
                report({"combination",
                        {},
                        {},
                        ConstraintProblem::none,
                        ConstraintProblem::none,
                        "The " + system.getForce(f).getName() + " with index " + std::to_string(f) + " contains a " +
                            inner->getName() + ", which holds nothing there: only Forces of the System are solved.",
                        "Add it to the System, by system.addForce()."});
}

void checkForces(const System& system, const ConstraintSet& set, bool areIntegratorsOurs, const ProblemReport& report) {
    checkThermostats(system, set, report);
    if (areIntegratorsOurs)
        checkDrudeParticles(system, report);
    checkShiftsOfPlaces(system, set, report);
    checkScalingOfParticles(system, set, report);
}

void checkReplaced(const System& system, const ConstraintSet& set, const ProblemReport& report) {
    int place = 0;
    while (place < system.getNumForces() && &system.getForce(place) != findReplacingForce(system))
        place++;
    const auto ofGroups = std::find_if(set.constraints.begin(), set.constraints.end(),
                                       [&](const Constraint& c) { return !set.isIgnored(c) && isOfGroups(set, c); });
    for (int f = place + 1; ofGroups != set.constraints.end() && f < system.getNumForces(); f++)
        if (scaledBy(system.getForce(f)) != Axes{})
            reportCombination(set, ofGroups - set.constraints.begin(), system.getForce(f), " moves the groups of ",
                              ", and comes after the ConstraintForce that replaces the solver: the correction would go "
                              "into the velocities.",
                              "Add it to the System before this Force: call replaceSolver() last.", report);
    for (size_t k = 0; k < set.constraints.size(); k++)
        if (!set.isIgnored(set.constraints[k]) && set.isMoving(set.constraints[k]))
            report(problemOf(set, "integrator", {(int) k},
                             describeConstraint(set, (int) k) +
                                 " moves in time, which only an integrator of openmm-constraints solves: others do not "
                                 "say how long a step is.",
                             "Use one (RattleIntegrator, RattleLangevinIntegrator, ...), or hold it still: a Context "
                             "parameter (setDistanceInterpolation and the like) may move it between steps."));
}

} // namespace ConstraintPlugin
