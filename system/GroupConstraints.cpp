// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Constraints of two groups of particles each: distances of centroids, and coordination numbers.
#include "GroupConstraints.h"
#include "CentroidDistance.h"
#include "ConstraintErrors.h"
#include "CoordinationNumber.h"
#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** A problem of a constraint that the set does not hold yet. @param what  "centroid distance" */
ConstraintProblem problemOfNext(const ConstraintSet& set, const Constraint& c, const char* what, const char* kind,
                                const std::vector<int>& particles, const std::string& why, const std::string& remedy,
                                double value, double bound) {
    return {kind,
            {(int) set.constraints.size()},
            particles,
            value,
            bound,
            std::string(what) + " " + std::to_string(c.index) + " of the ConstraintForce with index " +
                std::to_string(c.force) + ": " + why,
            remedy};
}

/** What is wrong with the groups of a centroid distance, which the set does not hold yet: both need particles with
 * mass, each once. */
Found findGroupProblem(const ConstraintSet& set, const ConstraintForce& force, const Constraint& c) {
    std::vector<int> groups[2];
    double distance;
    force.getCentroidDistanceParameters(c.index, groups[0], groups[1], distance);
    const auto problem = [&](const std::vector<int>& particles, const std::string& why, double value, double bound) {
        return problemOfNext(set, c, "centroid distance", "particles", particles, why, "", value, bound);
    };
    for (const std::vector<int>& group : groups) {
        if (const int twice = findRepeated(group); twice >= 0)
            return problem({twice}, describeParticle(set, twice) + " is listed twice in a group.", twice,
                           ConstraintProblem::none);
        const bool hasMass = std::any_of(group.begin(), group.end(), [&](int p) {
            return p < 0 || p >= set.numParticles() || set.inverseMass[p] > 0; // indices are checked elsewhere
        });
        if (!hasMass)
            return problem(group, "a group has no particle with mass, so it has no centre of mass.", 0, 0);
    }
    for (std::vector<int>& group : groups) {
        const auto isMassless = [&](int p) { return p >= 0 && p < set.numParticles() && set.inverseMass[p] == 0; };
        group.erase(std::remove_if(group.begin(), group.end(), isMassless), group.end());
        std::sort(group.begin(), group.end());
    }
    if (groups[0] == groups[1])
        return problem(groups[0], "both groups have the same particles with mass, so that their distance is 0.", 0,
                       distance);
    return {};
}

/** A distance of centres of mass. A particle may be in both groups. Virtual sites have no mass and are omitted. With
 * invalid groups the constraint has no particles; findGroupProblem() says why. */
Constraint centroidDistance(const System& system, ConstraintSet& set, const ConstraintForce& force, int forceIndex,
                            int index) {
    std::vector<int> groups[2];
    Constraint c;
    force.getCentroidDistanceParameters(index, groups[0], groups[1], c.target);
    std::map<int, double> weights;
    for (int g : {0, 1}) {
        double total = 0;
        auto mass = [&](int p) {
            const bool isThere = p >= 0 && p < set.numParticles();
            return isThere && set.inverseMass[p] > 0 ? 1 / set.inverseMass[p] : 0.0;
        };
        const auto isSite = [&](int p) { return p >= 0 && p < set.numParticles() && system.isVirtualSite(p); };
        groups[g].erase(std::remove_if(groups[g].begin(), groups[g].end(), isSite), groups[g].end());
        for (int p : groups[g])
            total += mass(p);
        for (int p : groups[g])
            weights[p] += (g == 0 ? 1 : -1) * mass(p) / total;
    }
    std::vector<double> values;
    for (const auto& [p, w] : weights) {
        c.particles.push_back(p);
        values.push_back(w);
    }
    c.kind = CoordinateKind::Custom;
    c.periodic = force.usesPeriodicBoundaryConditions();
    c.force = forceIndex;
    c.index = index;
    c.rate = force.getCentroidDistanceRate(index);
    c.startTime = force.getCentroidDistanceStartTime(index);
    c.form = (int) set.custom.size();
    c.firstParameter = (int) set.parameters.size();
    set.custom.push_back(std::make_shared<CentroidDistance>(std::move(values), c.periodic));
    return c;
}

/** What is wrong with the groups, the exponents and the lengths of a coordination number, which the set does not hold
 *  yet. */
Found findNumberProblem(const ConstraintSet& set, const ConstraintForce& force, const Constraint& c) {
    std::vector<int> groups[2];
    double number, r0, cutoff;
    int n, m;
    force.getCoordinationNumberParameters(c.index, groups[0], groups[1], number, r0, n, m, cutoff);
    const std::string setThem = "setCoordinationNumberParameters(" + std::to_string(c.index) + ", ...) with ";
    const auto problem = [&](const char* kind, const std::vector<int>& particles, const std::string& why,
                             const std::string& remedy, double value, double bound = ConstraintProblem::none) {
        return problemOfNext(set, c, "coordination number", kind, particles, why, setThem + remedy, value, bound);
    };
    for (const std::vector<int>& group : groups) {
        if (group.empty())
            return problem("particles", {}, "a group has no particles.", "one particle or more in each group.", 0, 1);
        if (const int twice = findRepeated(group); twice >= 0)
            return problem("particles", {twice}, describeParticle(set, twice) + " is listed twice in a group.",
                           "each particle once in a group; it may be in both.", twice);
    }
    if (groups[0] == groups[1] && groups[0].size() == 1)
        return problem("particles", groups[0],
                       "both groups are " + describeParticle(set, groups[0][0]) + ", which makes no pair.",
                       "other particles in one group.", 0, 1);
    std::ostringstream why;
    const auto badNumber = [&](double value, const std::string& remedy) {
        return problem("parameter", {}, why.str(), remedy, value);
    };
    if (!(r0 > 0) || std::isinf(r0)) {
        why << "r0 = " << r0 << " nm is not a positive number.";
        return badNumber(r0, "a distance r0 (nm) at which a pair counts about half.");
    }
    if (n < 2 || n % 2 != 0 || m % 2 != 0 || n >= m) {
        why << "n = " << n << " and m = " << m << " have to be even, and n at least 2 and less than m.";
        return badNumber(n, "n=6, m=12, or the next even numbers.");
    }
    if (cutoff != 0 && (!(cutoff > r0) || std::isinf(cutoff))) {
        why << "its cutoff " << cutoff << " nm has to be longer than r0 = " << r0 << " nm.";
        return badNumber(cutoff, "a longer cutoff, or 0 for " +
                                     std::to_string(CoordinationNumber::defaultCutoff(r0, n, m)) +
                                     " nm, where a pair counts 1e-5.");
    }
    return {};
}

/** @return what is wrong: the constraint has no particles then */
Found readCoordinationNumber(ConstraintSet& set, const ConstraintForce& force, Constraint& c) {
    if (Found found = findNumberProblem(set, force, c))
        return found;
    std::vector<int> groups[2], both;
    double r0, cutoff;
    int n, m;
    force.getCoordinationNumberParameters(c.index, groups[0], groups[1], c.target, r0, n, m, cutoff);
    for (std::vector<int>& group : groups)
        std::sort(group.begin(), group.end());
    std::set_intersection(groups[0].begin(), groups[0].end(), groups[1].begin(), groups[1].end(),
                          std::back_inserter(both));
    std::set_difference(groups[0].begin(), groups[0].end(), both.begin(), both.end(), std::back_inserter(c.particles));
    const int numFirst = (int) c.particles.size();
    c.particles.insert(c.particles.end(), both.begin(), both.end());
    std::set_difference(groups[1].begin(), groups[1].end(), both.begin(), both.end(), std::back_inserter(c.particles));
    c.kind = CoordinateKind::Custom;
    c.periodic = force.usesPeriodicBoundaryConditions();
    c.rate = force.getCoordinationNumberRate(c.index);
    c.startTime = force.getCoordinationNumberStartTime(c.index);
    c.form = (int) set.custom.size();
    c.firstParameter = (int) set.parameters.size();
    const int numBoth = (int) both.size(), numSecond = c.size() - numFirst - numBoth;
    set.custom.push_back(std::make_shared<CoordinationNumber>(numFirst, numBoth, numSecond, c.periodic));
    const std::vector<double> parameters = CoordinationNumber::parametersOf(r0, n, m, cutoff);
    set.parameters.insert(set.parameters.end(), parameters.begin(), parameters.end());
    return {};
}

} // namespace

void forEachOfGroups(const System& system, ConstraintSet& set, const ConstraintForce& force, int forceIndex,
                     const Interpolate& interpolate, const std::function<void(Constraint&& c, Found found)>& visit) {
    std::string parameter;
    double target1;
    for (int i = 0; i < force.getNumCentroidDistances(); i++) {
        Constraint c = centroidDistance(system, set, force, forceIndex, i);
        force.getCentroidDistanceInterpolation(i, parameter, target1);
        interpolate(c, parameter, target1);
        Found found = findGroupProblem(set, force, c);
        visit(std::move(c), std::move(found));
    }
    for (int i = 0; i < force.getNumCoordinationNumbers(); i++) {
        Constraint c;
        c.force = forceIndex;
        c.index = i;
        Found found = readCoordinationNumber(set, force, c);
        force.getCoordinationNumberInterpolation(i, parameter, target1);
        if (!found)
            interpolate(c, parameter, target1);
        visit(std::move(c), std::move(found));
    }
}

void forEachPairOfGroups(const ConstraintForce& force, const std::function<void(const std::vector<int>&)>& visit) {
    std::vector<int> particles, others;
    double target, r0, cutoff;
    int n, m;
    const auto visitBoth = [&] {
        particles.insert(particles.end(), others.begin(), others.end());
        visit(particles);
    };
    for (int i = 0; i < force.getNumCentroidDistances(); i++) {
        force.getCentroidDistanceParameters(i, particles, others, target);
        visitBoth();
    }
    for (int i = 0; i < force.getNumCoordinationNumbers(); i++) {
        force.getCoordinationNumberParameters(i, particles, others, target, r0, n, m, cutoff);
        visitBoth();
    }
}

} // namespace ConstraintPlugin
