// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintSolver.h"
#include "GenericRank.h"
#include "JointLoops.h"
#include "MirrorImages.h"
#include "OutOfMemory.h"
#include <cstring>
#include <iterator>
#include <numeric>

namespace ConstraintPlugin {

ConstraintSolver::ConstraintSolver(ConstraintSet given, Method method, Centroids centroids)
    : set(std::move(given)), method(method), centroids(centroids), bodies(set.bodies) {
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (const Constraint& c = set.constraints[k]; set.isMovable(c) && !c.isAbsorbed)
            movable.push_back(k);
    const auto describeAnalysis = [&] {
        return "the rank analysis of " + std::to_string(movable.size()) + " constraints";
    };
    // Which constraints of joined bodies are independent, is known once there are positions: chooseIndependent().
    std::vector<int> ofParticles, ofBodies;
    for (std::vector<int>& group : findClusters(set, movable)) {
        const bool isJoined =
            std::any_of(group.begin(), group.end(), [&](int k) { return set.isJoined(set.constraints[k]); });
        std::vector<int>& list = isJoined ? ofBodies : ofParticles;
        list.insert(list.end(), group.begin(), group.end());
        if (isJoined)
            joinedGroups.push_back(std::move(group));
    }
    areLoose.resize(joinedGroups.size());
    std::sort(ofParticles.begin(), ofParticles.end());
    GenericRank rank;
    try {
        rank = allocating(describeAnalysis, false, [&] { return analyzeGenericRank(set, ofParticles); });
    } catch (const OutOfMemory& error) { // for a factor that every method needs here
        throw OutOfMemory(error.isOfSolver ? describeAnalysis() + ": " + error.what() : error.what(), false);
    }
    active = std::move(rank.independent);
    active.insert(active.end(), ofBodies.begin(), ofBodies.end());
    std::sort(active.begin(), active.end());
    redundant = std::move(rank.redundant);
    for (const std::vector<int>& group : redundant) {
        unwound.emplace_back();
        std::set_intersection(group.begin(), group.end(), active.begin(), active.end(),
                              std::back_inserter(unwound.back()));
    }
    wound.resize(redundant.size());
    areJointsKnown = areJointsIndependent(set);
    forgetWidths();
    undecided = std::move(rank.undecided);
    build();
    forgetImpulses();
}

void ConstraintSolver::setTaskRunner(std::shared_ptr<TaskRunner> given) {
    const Impulses kept = getImpulses();
    runner = std::move(given);
    bodies.setTaskRunner(runner);
    makeDistances();
    setImpulses(kept);
}

void ConstraintSolver::makeDistances() {
    distances = runner == nullptr ? nullptr : std::make_unique<DistanceSolver>(set, *graph, runner);
    hasFastLambda = hasFastMu = false;
}

void ConstraintSolver::setMethod(Method newMethod) {
    if (newMethod == method)
        return;
    method = newMethod;
    rebuild();
}

bool ConstraintSolver::setTargets(const ConstraintSet& other) {
    auto isSame = [](const Constraint& a, const Constraint& b) {
        return a.kind == b.kind && a.particles == b.particles && a.force == b.force && a.index == b.index &&
               a.nodes == b.nodes && a.joint == b.joint && a.isAbsorbed == b.isAbsorbed && a.recognized == b.recognized;
    };
    auto isSameBody = [](const RigidBody& a, const RigidBody& b) {
        return a.particles == b.particles && a.force == b.force && a.index == b.index &&
               a.constants.rotations == b.constants.rotations && a.isLinear == b.isLinear && a.isJoined == b.isJoined;
    };
    auto isSameForm = [](const auto& a, const auto& b) {
        return a->isDistance() || a->getWeights() == b->getWeights(); // weights are part of kernels
    };
    // Masses are those of the Context, which the System's may differ from by now.
    std::vector<RigidBody> newBodies = other.bodies;
    for (RigidBody& body : newBodies)
        body = withMasses(std::move(body), set.inverseMass);
    if (set.numListed != other.numListed || set.custom.size() != other.custom.size() ||
        !std::equal(set.custom.begin(), set.custom.end(), other.custom.begin(), isSameForm) ||
        !std::equal(set.bodies.begin(), set.bodies.end(), newBodies.begin(), newBodies.end(), isSameBody) ||
        !std::equal(set.constraints.begin(), set.constraints.end(), other.constraints.begin(), other.constraints.end(),
                    isSame))
        return false;
    // Context parameters keep their values, not those that the Force has for a new Context.
    for (std::size_t i = 0; i < set.custom.size(); i++)
        if (other.custom[i]->getGlobalNames() == set.custom[i]->getGlobalNames())
            other.custom[i]->setGlobals(set.custom[i]->getGlobals());
    set.constraints = other.constraints;
    set.affine = other.affine;
    set.bodies = std::move(newBodies);
    bodies.takeShapes();
    set.custom = other.custom;
    set.parameters = other.parameters;
    set.globals = other.globals;
    set.recognized = other.recognized;
    set.fitDeviation = other.fitDeviation;
    set.fittedConstraint = other.fittedConstraint;
    set.absorbedDeviation = other.absorbedDeviation;
    set.absorbedConstraint = other.absorbedConstraint;
    forgetWidths();
    rebuild();
    return true;
}

bool ConstraintSolver::matchMirrorImages(const Real3* positions, const Box& box) {
    const std::vector<int> mirrored = findMirrored(set, positions, box);
    if (mirrored.empty())
        return false;
    mirror(set, mirrored);
    bodies.takeShapes();
    if (std::any_of(mirrored.begin(), mirrored.end(), [&](int b) { return set.bodies[b].isJoined; }))
        rebuild(); // equations of joints have axes of the shapes
    return true;
}

bool ConstraintSolver::setGlobals(const std::function<double(const std::string&)>& valueOf) {
    std::vector<double> values;
    for (const std::string& name : getGlobalNames())
        values.push_back(valueOf(name));
    return setGlobals(values);
}

std::vector<std::string> ConstraintSolver::getGlobalNames() const {
    std::vector<std::string> names;
    for (const auto& custom : set.custom)
        names.insert(names.end(), custom->getGlobalNames().begin(), custom->getGlobalNames().end());
    for (const GlobalParameter& global : set.globals)
        names.push_back(global.name);
    return names;
}

std::vector<double> ConstraintSolver::getGlobals() const {
    std::vector<double> values;
    for (const auto& custom : set.custom)
        for (double value : custom->getGlobals())
            values.push_back(value);
    for (const GlobalParameter& global : set.globals)
        values.push_back(global.value);
    return values;
}

bool ConstraintSolver::setGlobals(const std::vector<double>& values) {
    bool changed = false, targetsChanged = false;
    auto next = values.begin();
    for (const auto& custom : set.custom) {
        const auto last = next + custom->getGlobalNames().size();
        changed = custom->setGlobals({next, last}) || changed;
        next = last;
    }
    for (GlobalParameter& global : set.globals) {
        targetsChanged = targetsChanged || global.value != *next;
        global.value = *next++;
    }
    if (targetsChanged) {
        set.interpolateTargets();
        jacobian->takeTargets(set);
        checks->takeTargets(set);
        if (distances != nullptr)
            distances->takeTargets(set);
    }
    if (changed || targetsChanged) {
        startPositions.clear();
        borderStart.clear();
    }
    return changed || targetsChanged;
}

void ConstraintSolver::rebuild() {
    const Impulses kept = getImpulses();
    build();
    setImpulses(kept);
}

void ConstraintSolver::build() {
    revision++;
    graph = std::make_unique<ConstraintGraph>(set, active, method, maxDenseCluster, centroids);
    std::vector<char> isActive(set.constraints.size(), 0);
    for (int k : active)
        isActive[k] = 1;
    for (std::size_t g = 0; g < areLoose.size(); g++)
        for (int k : areLoose[g] ? joinedGroups[g] : std::vector<int>())
            isActive[k] = 1; // or need not be
    checked.clear();
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (const Constraint& c = set.constraints[k]; !isActive[k] && !set.isIgnored(c) && c.joint[0] < 0)
            checked.push_back(k);
    jacobian = std::make_unique<Jacobian>(set, graph->rows);
    checks = std::make_unique<Jacobian>(set, checked);
    const auto describeFactors = [&] {
        FillCount sum;
        for (const SymbolicFactor& factor : graph->factors) {
            sum.entries += (double) factor.entryRow.size();
            sum.updates += (double) factor.numUpdates;
        }
        return "factors of all clusters, " + describe(sum);
    };
    matrixInversion =
        allocating(describeFactors, true, [&] { return std::make_unique<MatrixInversionSolver>(*graph); });
    everyCluster.resize(graph->clusters.size());
    std::iota(everyCluster.begin(), everyCluster.end(), 0);
    findNodes();
    makeDistances();
    makeBorder();
    startPositions.clear();
}

bool ConstraintSolver::isStart(const Real3* positions, const Box& box) const {
    return !startPositions.empty() &&
           std::memcmp(startPositions.data(), positions, set.numParticles() * sizeof(Real3)) == 0 &&
           std::memcmp(&startBox, &box, sizeof(Box)) == 0 && !(moves() && startTime != time);
}

int ConstraintSolver::setStart(const Real3* positions, const Box& box) {
    if (!isStart(positions, box)) {
        if (border != nullptr && !isBorderSet(positions, box))
            borderStart.clear();
        startWithoutGradient = jacobian->setStart(positions, box, time);
        checks->setStart(positions, box, time);
        startPositions.assign(positions, positions + set.numParticles());
        startBox = box;
        startTime = time;
    } else
        setEndTime(time);
    return startWithoutGradient;
}

int ConstraintSolver::setStart(const Real3* positions, const Box& box, const std::vector<int>& clusters) {
    if (clusters.size() == everyCluster.size() || isStart(positions, box))
        return setStart(positions, box);
    if (clusters.empty() && checked.empty())
        return -1;
    startPositions.clear();
    std::vector<Jacobian::RowRange> rows;
    for (int c : clusters)
        rows.push_back({graph->clusters[c].begin, graph->clusters[c].end});
    checks->setStart(positions, box, time);
    return jacobian->setStart(positions, box, time, rows);
}

void ConstraintSolver::setEndTime(double end) {
    jacobian->setTime(end);
    checks->setTime(end);
}

} // namespace ConstraintPlugin
