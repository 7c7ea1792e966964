// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/Diagnosis.h"
#include "ClusterReport.h"
#include "CollectConstraints.h"
#include "Conditioning.h"
#include "ConstraintErrors.h"
#include "CoreExceptions.h"
#include "ForceChecks.h"
#include "HeldTwice.h"
#include "NetworkChecks.h"
#include "OpenMMVectors.h"
#include "PossibleWindings.h"
#include "SystemChecks.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/VerletIntegrator.h"
#include "openmmconstraints/ConstraintIntegrator.h"
#include <cmath>
#include <map>
#include <set>
#include <typeinfo>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Beyond it, constraints nearly depend on each other. */
constexpr double largestCondition = 1e4;

std::vector<int> sorted(std::vector<int> particles) {
    std::sort(particles.begin(), particles.end());
    return particles;
}

ConstraintGroup makeGroup(ConstraintGroup::Kind kind, const ConstraintSet& set, const std::vector<int>& constraints,
                          std::vector<int> particles = {}) {
    ConstraintProblem named = problemOf(set, "", constraints, ""); // places in getMultipliers(), particles
    if (particles.empty()) {
        particles = std::move(named.particles);
        std::sort(particles.begin(), particles.end());
    }
    std::sort(named.constraints.begin(), named.constraints.end());
    return {kind, std::move(named.constraints), std::move(particles), (int) constraints.size()};
}

/** Add the constraints that bodies hold to their groups. */
void addAbsorbed(const ConstraintSet& set, std::vector<ConstraintGroup>& groups) {
    const auto isRigid = [](const ConstraintGroup& group) { return group.kind == ConstraintGroup::Rigid; };
    if (std::none_of(groups.begin(), groups.end(), isRigid))
        return;
    std::vector<std::vector<int>> groupsOf(set.numParticles()); // two bodies may share a particle
    for (int g = 0; g < (int) groups.size(); g++)
        if (isRigid(groups[g]))
            for (int p : groups[g].particles)
                groupsOf[p].push_back(g);
    const auto isIn = [&](int p, int g) {
        return set.inverseMass[p] == 0 || std::count(groupsOf[p].begin(), groupsOf[p].end(), g) > 0;
    };
    for (int k = 0; k < set.numListed; k++) {
        const std::vector<int>& particles = set.constraints[k].particles;
        const auto first =
            std::find_if(particles.begin(), particles.end(), [&](int p) { return set.inverseMass[p] > 0; });
        if (!set.constraints[k].isAbsorbed || first == particles.end())
            continue;
        for (int g : groupsOf[*first])
            if (std::all_of(first, particles.end(), [&](int p) { return isIn(p, g); })) {
                groups[g].constraints.push_back(k);
                break;
            }
    }
}

/** Without the joints of rigid bodies, some of which depend on each other by themselves. */
std::vector<int> withoutJoints(const ConstraintSet& set, std::vector<int> constraints) {
    const auto isJoint = [&](int k) { return set.constraints[k].joint[0] >= 0; };
    constraints.erase(std::remove_if(constraints.begin(), constraints.end(), isJoint), constraints.end());
    return constraints;
}

void describeGroups(const ConstraintSolver& solver, const Box& box, Diagnosis& diagnosis) {
    const ConstraintSet& set = solver.getSet();
    std::vector<ConstraintGroup::Kind> kinds(set.bodies.size(), ConstraintGroup::Rigid);
    for (const RecognizedBody& body : set.recognized) {
        constexpr ConstraintGroup::Kind kindOf[] = {ConstraintGroup::Straight, ConstraintGroup::Flat,
                                                    ConstraintGroup::Spatial};
        kinds[body.body] = kindOf[body.dimension - 1];
        diagnosis.groups.push_back(
            makeGroup(kinds[body.body], set, body.constraints, sorted(set.bodies[body.body].particles)));
        diagnosis.groups.back().number = set.bodies[body.body].degreesOfFreedom();
    }
    for (const RigidBody& body : set.bodies) {
        if (kinds[&body - set.bodies.data()] != ConstraintGroup::Rigid)
            continue;
        diagnosis.groups.push_back({ConstraintGroup::Rigid,
                                    {},
                                    sorted(body.particles),
                                    3 * body.numMassive - body.degreesOfFreedom(),
                                    body.lineShift});
    }
    addAbsorbed(set, diagnosis.groups);
    const auto isOpen = [&](const std::vector<int>& group) { // which of them depend on others
        return !diagnosis.isRankKnown && !findPossibleWindings(set, group, box).empty();
    };
    for (const auto& [group, dependent] : solver.getRedundant())
        if (const std::vector<int> declared = withoutJoints(set, dependent); !declared.empty() && !isOpen(group))
            diagnosis.groups.push_back(makeGroup(ConstraintGroup::Redundant, set, declared,
                                                 makeGroup(ConstraintGroup::Redundant, set, group).particles));
}

/** Values, targets and errors of what is listed. The two components of a straight angle's bend count as the angle. */
void measure(const ConstraintSet& set, const Real3* positions, const Box& box, double time, Diagnosis& diagnosis) {
    std::vector<int> constraints;
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (const Constraint& c = set.constraints[k];
            c.recognized >= 0 || (!set.isIgnored(c) && (k < set.numListed || c.owner >= 0)))
            constraints.push_back(k);
    Jacobian J(set, constraints);
    J.setStart(positions, box, time);
    for (std::vector<double>* numbers : {&diagnosis.values, &diagnosis.targets, &diagnosis.errors})
        numbers->assign(set.numListed, ConstraintProblem::none);
    for (int row = 0; row < J.numRows(); row++) {
        const int k = constraints[row], listed = listedIndex(set, k);
        const Constraint& c = set.constraints[k];
        double& value = diagnosis.values[listed];
        double& error = diagnosis.errors[listed];
        if (c.kind != CoordinateKind::LinearAngle) {
            value = J.startValue(row);
            error = J.startError(row);
        } else { // two components
            const double component = J.startError(row);
            error = k == listed ? component : std::sqrt(error * error + component * component);
        }
        diagnosis.targets[listed] = c.targetAt(time);
        if (c.kind == CoordinateKind::LinearAngle) {
            value = M_PI - error;
            diagnosis.targets[listed] = M_PI;
        }
    }
}

bool areFinite(const std::vector<Real3>& x) {
    return std::all_of(x.begin(), x.end(), [](const Real3& r) { return isFinite(r); });
}

Box boxOf(const Start& start) {
    return toBox(start.box[0], start.box[1], start.box[2]);
}

/** Which constraints are independent may be a matter of positions. */
void chooseAtStart(ConstraintSolver& solver, const Start& start, Diagnosis& diagnosis) {
    std::vector<Real3> x = toReal3(start.positions);
    if (areFinite(x) && solver.chooseAt(std::move(x), boxOf(start), start.time))
        diagnosis.isRankKnown = true;
}

void lookAtStart(const System& system, ConstraintSolver& solver, const Start& start, Diagnosis& diagnosis,
                 const ProblemReport& report) {
    const std::vector<Real3> x = toReal3(start.positions);
    const Box box = boxOf(start);
    const ConstraintSet& set = solver.getSet();
    if (!areFinite(x)) {
        for (std::vector<double>* numbers : {&diagnosis.values, &diagnosis.targets, &diagnosis.errors})
            numbers->assign(set.numListed, ConstraintProblem::none);
        return;
    }
    measure(set, x.data(), box, start.time, diagnosis);
    checkNetworks(system, set, x.data(), box, report);
    std::vector<int> ofParticles;
    for (int k : solver.getGraph().rows)
        if (!set.isJoined(set.constraints[k]))
            ofParticles.push_back(k);
    for (const IllConditioned& found :
         findIllConditioned(set, ofParticles, x.data(), box, largestCondition, start.time)) {
        diagnosis.groups.push_back(makeGroup(ConstraintGroup::IllConditioned, set, found.constraints));
        diagnosis.groups.back().number = found.condition;
    }
}

bool declaresAny(const System& system) {
    bool any = false;
    for (int f = 0; f < system.getNumForces(); f++)
        forEachConstrainedGroup(system.getForce(f), [&](const std::vector<int>&) { any = true; });
    return any;
}

/** What OpenMM refuses of the System's own constraints, before it asks anyone else. */
void checkAsOpenMMDoes(const ConstraintSet& set, const ProblemReport& report) {
    std::map<std::pair<int, int>, int> known;
    for (int k = 0; k < set.numListed; k++) {
        const Constraint& c = set.constraints[k];
        if (c.force >= 0 || c.particles.empty())
            continue;
        if ((set.inverseMass[c.particles[0]] == 0) != (set.inverseMass[c.particles[1]] == 0))
            report(
                problemOf(set, "anchor", {k},
                          describeConstraint(set, k) + " has one end without mass, which OpenMM refuses in the System.",
                          "Call openmmconstraints.moveConstraints(system): in a ConstraintForce it is an anchor."));
        const auto [first, isNew] = known.emplace(std::minmax(c.particles[0], c.particles[1]), k);
        if (!isNew)
            report(problemOf(set, "duplicate", {first->second, k},
                             describeConstraint(set, first->second) + " and " + describeConstraint(set, k) +
                                 " join the same particles, which OpenMM refuses in the System.",
                             "Remove one of them."));
    }
}

/** The integrators of this library among one, or one's children. */
std::vector<const ConstraintIntegrator*> oursAmong(const Integrator& integrator) {
    std::vector<const ConstraintIntegrator*> ours;
    const auto add = [&](const Integrator& one) {
        if (const auto* ourOne = dynamic_cast<const ConstraintIntegrator*>(&one))
            ours.push_back(ourOne);
    };
    add(integrator);
    if (const auto* compound = dynamic_cast<const CompoundIntegrator*>(&integrator))
        for (int i = 0; i < compound->getNumIntegrators(); i++)
            add(compound->getIntegrator(i));
    return ours;
}

/** Each child of a CompoundIntegrator collects constraints with its own: what the strictest refuses, is refused. */
double smallestTolerance(const Integrator& integrator, const std::vector<const ConstraintIntegrator*>& ours) {
    double smallest = integrator.getConstraintTolerance();
    for (const ConstraintIntegrator* one : ours)
        smallest = std::min(smallest, one->getConstraintTolerance());
    return smallest;
}

std::set<Method> solversOf(const std::vector<const ConstraintIntegrator*>& ours) {
    std::set<Method> solvers;
    for (const ConstraintIntegrator* one : ours)
        solvers.insert((Method) one->getSolver());
    return solvers;
}

/** A solver of what is left, by one of the methods that integrators ask for; where all their factors are too large,
 *  Automatic's. */
std::unique_ptr<ConstraintSolver> makeSolver(const ConstraintSet& set, const std::set<Method>& methods,
                                             const ProblemReport& report) {
    std::unique_ptr<ConstraintSolver> solver;
    for (Method method : methods)
        try {
            auto made = std::make_unique<ConstraintSolver>(set, method);
            solver = std::move(made);
        } catch (const FactorTooLarge& error) {
            report(problemOf(error));
        }
    return solver != nullptr ? std::move(solver) : std::make_unique<ConstraintSolver>(set, Method::Automatic);
}

} // namespace

Diagnosis diagnose(const System& system, const Integrator& integrator, const Start* start) {
    if (start != nullptr)
        requirePositions(system, start->positions);
    Diagnosis diagnosis;
    const ProblemReport report = [&](ConstraintProblem problem) { diagnosis.problems.push_back(std::move(problem)); };
    const auto look = [&] {
        // As a Context does: its Forces come first, then its integrator.
        const std::vector<const ConstraintIntegrator*> ours = oursAmong(integrator);
        const bool isReplaced = findReplacingForce(system) != nullptr;
        if (declaresAny(system)) {
            checkIntegrator(system, integrator, report);
            if (typeid(integrator) == typeid(VerletIntegrator) && !isReplaced) // whose first step is refused
                report(wrongIntegrator("VerletIntegrator"));
        }
        const ConstraintSet set = collectConstraints(system, smallestTolerance(integrator, ours), report);
        for (int k = 0; k < set.numListed; k++)
            if (set.constraints[k].particles.empty())
                diagnosis.refused.push_back(k);
            else if (set.constraints[k].isAbsorbed && set.constraints[k].recognized < 0 &&
                     !set.constraints[k].isForCounting)
                diagnosis.absorbed.push_back(k);
        diagnosis.absorbedDeviation = set.absorbedDeviation;
        diagnosis.absorbedConstraint = set.absorbedConstraint;
        diagnosis.joinedBodies = (int) set.bodies.size() - countFreeBodies(set);
        diagnosis.joints = set.numCopies;
        checkAsOpenMMDoes(set, report);
        for (const ConstraintIntegrator* one : ours) {
            one->checkSupported(set, report);
            checkForceGroups(system, *one, report);
        }
        const bool areOurs = areAllOurs(integrator);
        if (isReplaced && !areOurs)
            checkReplaced(system, set, report);
        if (isReplaced || !ours.empty())
            checkForces(system, set, areOurs, report);
        diagnosis.warnings = findHeldTwice(system, set);
        const std::unique_ptr<ConstraintSolver> solver = makeSolver(set, solversOf(ours), report);
        if (!solver->getUndecided().empty())
            report(undecidedRank(set, solver->getUndecided()));
        const Box box = start != nullptr ? boxOf(*start) : defaultBox(system);
        diagnosis.isRankKnown = solver->isRankKnown(box);
        const bool isKnown = diagnosis.isRankKnown;
        if (start != nullptr && !isKnown)
            chooseAtStart(*solver, *start, diagnosis);
        diagnosis.clusters = describeClusters(set, solver->getGraph());
        diagnosis.numIndependent = solver->rank();
        describeGroups(*solver, box, diagnosis);
        if (start != nullptr && isKnown)
            chooseAtStart(*solver, *start, diagnosis);
        if (start != nullptr)
            lookAtStart(system, *solver, *start, diagnosis, report);
    };
    try {
        withOpenMMExceptions(system, "the check of a System", look);
    } catch (const ConstraintException& error) { // memory does not suffice
        report(error.getProblem());
        diagnosis.isComplete = false;
    }
    return diagnosis;
}

} // namespace ConstraintPlugin
