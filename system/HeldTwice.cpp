// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "HeldTwice.h"
#include "ConstraintErrors.h"
#include "HeldCoordinates.h"
#include "openmmconstraints/ConstraintForce.h"
#include <algorithm>
#include <set>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** With the name that a user has given to its Force. */
std::string nameWithForce(const System& system, const ConstraintSet& set, int constraint) {
    const std::string what = describeConstraint(set, constraint);
    const int force = set.constraints[constraint].force;
    const std::string name = force < 0 ? "" : system.getForce(force).getName();
    return name.empty() || what.find(name) != std::string::npos ? what : what + " in \"" + name + "\"";
}

/** What both have in common: "distance". */
std::string coordinateOf(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    if (set.isExpression(c))
        return "expression";
    return c.kind == CoordinateKind::LinearAngle ? "angle" : nameOf(set, c);
}

/** Whether a Force holds nothing but what others hold, so that it can go. */
bool isSpare(const System& system, const ConstraintSet& set, const std::vector<HeldCoordinate>& same, int force) {
    const auto isOfIt = [&](const auto& one) { return one.force == force; };
    const auto isHeld = [&](const HeldCoordinate& h) { return isOfIt(set.constraints[h.constraint]); };
    const auto* list = dynamic_cast<const ConstraintForce*>(&system.getForce(force));
    const bool isUsedElse = list != nullptr && (list->getReplacesSolver() || list->getNumRigidBodies() > 0 ||
                                                !list->getParticleNames().empty());
    const auto listed = set.constraints.begin();
    return !isUsedElse &&
           std::count_if(same.begin(), same.end(), isHeld) == std::count_if(listed, listed + set.numListed, isOfIt);
}

std::string andMore(std::size_t number, const char* one, const char* several) {
    return number == 0 ? "" : " So " + (number == 1 ? one : std::to_string(number) + several);
}

ConstraintProblem warning(const ConstraintSet& set, const std::vector<HeldCoordinate>& held, const std::string& message,
                          const std::string& remedy) {
    std::vector<int> concerned = held[0].by;
    concerned.push_back(held[0].constraint);
    ConstraintProblem problem = problemOf(set, "held-twice", concerned, message, remedy);
    std::set<int> all;
    for (const HeldCoordinate& one : held) {
        all.insert(one.constraint);
        all.insert(one.by.begin(), one.by.end());
    }
    problem.constraints.assign(all.begin(), all.end());
    return problem;
}

ConstraintProblem sameCoordinates(const System& system, const ConstraintSet& set,
                                  const std::vector<HeldCoordinate>& held) {
    const int second = held[0].constraint, first = held[0].by[0], force = set.constraints[second].force;
    std::string remedy = "Leave one of them out.";
    if (isSpare(system, set, held, force))
        remedy = "If the Force was added twice, call system.removeForce(" + std::to_string(force) +
                 ") before the Context is created.";
    else if (set.constraints[first].force < 0)
        remedy = "Leave one of them out: system.removeConstraint(" + std::to_string(set.constraints[first].index) +
                 ") removes that of the System.";
    return warning(set, held,
                   nameWithForce(system, set, first) + " and " + nameWithForce(system, set, second) +
                       " hold the same " + coordinateOf(set, second) + "." +
                       andMore(held.size() - 1, "does 1 more pair.", " more pairs do.") +
                       " One of them is redundant: it is checked, not solved, and counts for no degree of freedom. "
                       "getMultipliers() divides the force between both.",
                   remedy);
}

ConstraintProblem heldByDistances(const System& system, const ConstraintSet& set,
                                  const std::vector<HeldCoordinate>& held) {
    const std::string name = nameWithForce(system, set, held[0].constraint);
    return warning(set, held,
                   name +
                       " is held already by the distances of its particles: " + describeConstraints(set, held[0].by) +
                       "." + andMore(held.size() - 1, "is 1 more constraint.", " more constraints are.") +
                       " One of them is redundant: it is checked, not solved, and counts for no degree of freedom. "
                       "getMultipliers() divides the force among all.",
                   "Leave out the " + coordinateOf(set, held[0].constraint) + ", or one of the distances.");
}

ConstraintProblem heldByBody(const System& system, const ConstraintSet& set, const std::vector<HeldCoordinate>& held) {
    return warning(set, held,
                   nameWithForce(system, set, held[0].constraint) + " is held already by " +
                       describeBody(set, held[0].body) + ": it is checked, not solved, and its multiplier is 0." +
                       andMore(held.size() - 1, "is 1 more constraint.", " more constraints are."),
                   "Leave it out, or leave one of its particles out of the body.");
}

} // namespace

std::vector<ConstraintProblem> findHeldTwice(const System& system, const ConstraintSet& set) {
    std::vector<HeldCoordinate> same, byDistances, byBody;
    for (HeldCoordinate& held : findHeldCoordinates(set))
        (held.body >= 0 ? byBody : held.by.size() > 1 ? byDistances : same).push_back(std::move(held));
    std::vector<ConstraintProblem> warnings;
    if (!same.empty())
        warnings.push_back(sameCoordinates(system, set, same));
    if (!byDistances.empty())
        warnings.push_back(heldByDistances(system, set, byDistances));
    if (!byBody.empty())
        warnings.push_back(heldByBody(system, set, byBody));
    return warnings;
}

std::vector<int> othersThatHold(const ConstraintSet& set, int constraint) {
    std::vector<int> others = findSameExpressions(set, constraint);
    for (const HeldCoordinate& held : findHeldCoordinates(set)) {
        const bool isBy = std::find(held.by.begin(), held.by.end(), constraint) != held.by.end();
        if (!isBy && held.constraint != constraint)
            continue;
        if (isBy)
            others.push_back(held.constraint);
        for (int k : held.by)
            if (k != constraint)
                others.push_back(k);
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return others;
}

ConstraintProblem noReactionCoordinate(const ConstraintSet& set, int constraint) {
    const std::vector<int> others = othersThatHold(set, constraint);
    std::vector<int> all = {constraint};
    all.insert(all.end(), others.begin(), others.end());
    const std::string what = describeConstraint(set, constraint) + ", constraint " + std::to_string(constraint) +
                             " in the order of getMultipliers(), cannot be a reaction coordinate: ";
    return problemOf(
        set, "held-twice", all,
        what +
            (others.empty()
                 ? "other constraints hold it, too, a rigid body has it, or it is an angle of 180 degrees."
                 : "its force is divided between it and " + describeConstraints(set, others) + ", which hold it, too."),
        others.empty() ? "Leave out what holds it." : "Leave out all but one of them.");
}

} // namespace ConstraintPlugin
