// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/CollectConstraints.h"
#include "CentroidDistance.h"
#include "Contradictions.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include "openmmconstraints/internal/CollectBodies.h"
#include "openmmconstraints/internal/ConstraintErrors.h"
#include "openmmconstraints/internal/LeptonCoordinate.h"
#include "openmmconstraints/internal/SystemChecks.h"
#include <map>
#include <set>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Angles (rad) this close to pi are meant to be pi; up to the other limit they are too close to have a gradient. */
constexpr double roundingOfAngles = 1e-4, nearlyStraight = 1e-3;

bool isStraight(double angle) {
    return std::abs(angle - M_PI) <= roundingOfAngles;
}

[[noreturn]] void refuse(const ConstraintSet& set, int constraint, const std::string& why) {
    throw OpenMMException(describeConstraint(set, constraint) + ": " + why);
}

/** Check the value that a constraint asks for. */
void validateTarget(const ConstraintSet& set, int k) {
    const Constraint& c = set.constraints[k];
    std::ostringstream why;
    if (!std::isfinite(c.rate))
        why << "the rate " << c.rate << " is not a number.";
    if (!std::isfinite(c.startTime))
        why << "the start time " << c.startTime << " ps of its rate is not a number.";
    if (set.hasLengthScale(c) && (!(c.target > 0) || std::isinf(c.target)))
        why << "the distance " << c.target << " nm is not a positive number.";
    switch (c.kind) {
    case CoordinateKind::Angle:
        if (isStraight(c.target) && c.rate != 0)
            why << "an angle that changes in time cannot start from pi, where it has no gradient.";
        else if (!isStraight(c.target) && !(c.target > nearlyStraight && c.target < M_PI - nearlyStraight))
            why << "the angle " << c.target << " rad has to be pi, or to lie between 0 and pi by at least "
                << nearlyStraight << " rad: closer, it has no usable gradient.";
        break;
    case CoordinateKind::Dihedral:
        if (!std::isfinite(c.target))
            why << "the dihedral " << c.target << " rad is not a number.";
        break;
    default:
        break;
    }
    if (!why.str().empty())
        refuse(set, k, why.str());
}

/** A particle that is listed twice, or -1. There may be two of them, or a hundred thousand. */
int findRepeated(const std::vector<int>& particles) {
    constexpr std::size_t few = 8;
    if (particles.size() <= few) {
        for (auto p = particles.begin(); p != particles.end(); ++p)
            if (std::find(particles.begin(), p, *p) != p)
                return *p;
        return -1;
    }
    std::vector<int> sorted = particles;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    return twice == sorted.end() ? -1 : *twice;
}

/** Check one constraint by itself; set.constraints holds it already, at index k. */
void validate(const System& system, const ConstraintSet& set, int k, const Box& box) {
    const Constraint& c = set.constraints[k];
    for (int s = 0; s < c.size(); s++) {
        const int p = c.particles[s];
        const std::string why = whyNotConstrainable(system, p);
        if (!why.empty())
            refuse(set, k, why);
        if (!(system.getParticleMass(p) >= 0) || std::isinf(system.getParticleMass(p)))
            refuse(set, k, "the mass of " + describeParticle(set, p) + " is negative or not a number.");
    }
    const int twice = findRepeated(c.particles);
    if (twice >= 0)
        refuse(set, k, "a constraint cannot join " + describeParticle(set, twice) + " to itself.");
    validateTarget(set, k);
    if (c.kind == CoordinateKind::Custom)
        for (std::size_t i = 0; i < set.custom[c.form]->numParameters(); i++)
            if (!std::isfinite(set.parameters[c.firstParameter + i]))
                refuse(set, k, "its parameter " + std::to_string(i) + " is NaN or infinite.");
    if (set.hasLengthScale(c) && c.force >= 0 && c.periodic && c.target > box.halfWidth()) {
        std::ostringstream why;
        why << "the distance " << c.target << " nm exceeds half the shortest width of the periodic box ("
            << box.halfWidth()
            << " nm), so the minimum image cannot represent it. Use a larger box "
               "(System.setDefaultPeriodicBoxVectors) or "
               "setUsesPeriodicBoundaryConditions(False).";
        refuse(set, k, why.str());
    }
}

/** A dihedral has no value where three of its particles in turn are held on one line. */
void validateDihedrals(const ConstraintSet& set) {
    const auto isDihedral = [](const Constraint& c) { return c.kind == CoordinateKind::Dihedral; };
    if (std::none_of(set.constraints.begin(), set.constraints.end(), isDihedral))
        return;
    std::map<std::vector<int>, std::set<int>> lines; // by an angle's particles, or a straight body's base
    for (const Constraint& c : set.constraints)
        if (c.kind == CoordinateKind::Straight)
            lines[c.particles].insert(c.particles.begin(), c.particles.end());
        else if (c.kind == CoordinateKind::Linear && set.linear[c.form].weights.size() == 2)
            lines[{c.particles[1], c.particles[2]}].insert(c.particles.begin(), c.particles.end());
    std::map<int, std::vector<const std::set<int>*>> linesOf;
    for (const auto& line : lines)
        for (int p : line.second)
            linesOf[p].push_back(&line.second);
    for (int k = 0; k < set.numListed; k++) {
        const auto& p = set.constraints[k].particles;
        for (int first = 0; isDihedral(set.constraints[k]) && first < 2; first++)
            for (const std::set<int>* line : linesOf[p[first]])
                if (line->count(p[first + 1]) && line->count(p[first + 2]))
                    refuse(set, k,
                           describeParticle(set, p[first]) + ", " + describeParticle(set, p[first + 1]) + " and " +
                               describeParticle(set, p[first + 2]) +
                               " are held on one line, where a dihedral has no value. Remove it, or choose particles "
                               "beyond the line.");
    }
}

void validateTogether(const ConstraintSet& set, double tolerance) {
    if (const auto pair = findContradictoryPair(set, tolerance)) {
        std::ostringstream out;
        out << describeConstraint(set, (*pair)[0]) << " and " << describeConstraint(set, (*pair)[1])
            << " give the same pair different distances, " << set.constraints[(*pair)[0]].target << " and "
            << set.constraints[(*pair)[1]].target << " nm, that differ by more than the tolerance " << tolerance
            << ". Remove one of them.";
        throw OpenMMException(out.str());
    }
    const std::vector<int> ring = findImpossibleRing(set);
    if (!ring.empty()) {
        const auto all = [&](auto item) {
            std::ostringstream out;
            for (std::size_t i = 0; i < ring.size(); i++)
                out << (i == 0 ? "" : i == ring.size() - 1 ? " and " : ", ") << item(ring[i]);
            return out.str();
        };
        throw OpenMMException(all([&](int k) { return describeConstraint(set, k); }) + " with distances " +
                              all([&](int k) { return set.constraints[k].target; }) +
                              " nm contradict each other: the longest exceeds the sum of the others, so no positions "
                              "can hold all " +
                              (ring.size() == 3 ? "three" : std::to_string(ring.size())) +
                              ". Correct or remove one of them.");
    }
}

/** visit(constraint) for the distances, angles and dihedrals of a Force in turn. */
template <class Visit>
void forEachListed(const ConstraintForce& force, int forceIndex, Visit visit) {
    int p1, p2, p3, p4;
    double target;
    auto add = [&](CoordinateKind kind, std::initializer_list<int> particles, int index, double rate,
                   double startTime) {
        Constraint c;
        c.kind = kind;
        c.particles = particles;
        c.target = target;
        c.periodic = force.usesPeriodicBoundaryConditions();
        c.force = forceIndex;
        c.index = index;
        c.rate = rate;
        c.startTime = startTime;
        visit(std::move(c));
    };
    for (int i = 0; i < force.getNumDistances(); i++) {
        force.getDistanceParameters(i, p1, p2, target);
        add(CoordinateKind::Distance, {p1, p2}, i, force.getDistanceRate(i), force.getDistanceStartTime(i));
    }
    for (int i = 0; i < force.getNumAngles(); i++) {
        force.getAngleParameters(i, p1, p2, p3, target);
        add(CoordinateKind::Angle, {p1, p2, p3}, i, force.getAngleRate(i), force.getAngleStartTime(i));
    }
    for (int i = 0; i < force.getNumDihedrals(); i++) {
        force.getDihedralParameters(i, p1, p2, p3, p4, target);
        add(CoordinateKind::Dihedral, {p1, p2, p3, p4}, i, force.getDihedralRate(i), force.getDihedralStartTime(i));
    }
}

/** A distance of centres of mass, whose particles may be in both groups. Virtual sites have no mass and take no part.
 *  Invalid groups leave it without particles, which validate() refuses. */
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

/** @throws OpenMMException unless both groups have particles with mass, each once */
void validateGroups(const ConstraintSet& set, const ConstraintForce& force, int forceIndex, int index) {
    std::vector<int> groups[2];
    double distance;
    force.getCentroidDistanceParameters(index, groups[0], groups[1], distance);
    for (std::vector<int>& group : groups) {
        const std::string where = "centroid distance " + std::to_string(index) + " of the ConstraintForce with index " +
                                  std::to_string(forceIndex) + ": ";
        std::sort(group.begin(), group.end());
        const auto twice = std::adjacent_find(group.begin(), group.end());
        if (twice != group.end())
            throw OpenMMException(where + describeParticle(set, *twice) + " is twice in a group.");
        const bool hasMass = std::any_of(group.begin(), group.end(), [&](int p) {
            return p < 0 || p >= set.numParticles() || set.inverseMass[p] > 0; // indices are checked elsewhere
        });
        if (!hasMass)
            throw OpenMMException(where + "a group has no particle with mass, so it has no centre of mass.");
    }
}

/** The constraints of a Force with an expression, which share an object; their parameters go to the set. */
std::vector<Constraint> givenBy(const CustomConstraintForce& force, int forceIndex, ConstraintSet& set) {
    std::vector<Constraint> constraints;
    const auto sigma = std::make_shared<LeptonCoordinate>(force);
    std::vector<double> parameters;
    for (int i = 0; i < force.getNumConstraints(); i++) {
        Constraint c;
        c.kind = CoordinateKind::Custom;
        force.getConstraintParameters(i, c.particles, parameters);
        c.periodic = force.usesPeriodicBoundaryConditions();
        c.force = forceIndex;
        c.index = i;
        c.form = (int) set.custom.size();
        c.firstParameter = (int) set.parameters.size();
        if (parameters.size() != sigma->numParameters())
            throw OpenMMException("CustomConstraintForce \"" + force.getExpression() + "\": its constraint " +
                                  std::to_string(i) + " has " + std::to_string(parameters.size()) + " of " +
                                  std::to_string(sigma->numParameters()) + " parameters");
        set.parameters.insert(set.parameters.end(), parameters.begin(), parameters.end());
        constraints.push_back(std::move(c));
    }
    set.custom.push_back(sigma);
    return constraints;
}

/** An angle of pi has no gradient: it becomes the two components of the bend, of which the second is listed nowhere. */
void splitStraightAngles(ConstraintSet& set) {
    for (int k = 0; k < set.numListed; k++) {
        Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Angle || !isStraight(c.target))
            continue;
        c.kind = CoordinateKind::Straight;
        c.target = 0;
        c.form = 0;
        Constraint second = c;
        second.form = 1;
        second.owner = k;
        set.constraints.push_back(std::move(second));
    }
}

} // namespace

bool declaresConstraints(const Force& force) {
    return dynamic_cast<const ConstraintForce*>(&force) != nullptr ||
           dynamic_cast<const CustomConstraintForce*>(&force) != nullptr;
}

void forEachJoinedGroup(const Force& force, const std::function<void(const std::vector<int>&)>& visit) {
    if (const auto* listing = dynamic_cast<const ConstraintForce*>(&force)) {
        forEachListed(*listing, 0, [&](const Constraint& c) { visit(c.particles); });
        std::vector<int> particles, others;
        std::vector<Vec3> positions;
        double distance;
        for (int i = 0; i < listing->getNumCentroidDistances(); i++) {
            listing->getCentroidDistanceParameters(i, particles, others, distance);
            particles.insert(particles.end(), others.begin(), others.end());
            visit(particles);
        }
        for (int i = 0; i < listing->getNumRigidBodies(); i++) {
            listing->getRigidBodyParameters(i, particles, positions);
            visit(particles);
        }
    } else if (const auto* custom = dynamic_cast<const CustomConstraintForce*>(&force)) {
        std::vector<int> particles;
        std::vector<double> parameters;
        for (int i = 0; i < custom->getNumConstraints(); i++) {
            custom->getConstraintParameters(i, particles, parameters);
            visit(particles);
        }
    }
}

/** Names of particles, of the first Force that has some; nullptr if none has.
 *  @throws OpenMMException if they are more than the particles */
static std::shared_ptr<const std::vector<std::string>> findNames(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        if (force == nullptr || force->getParticleNames().empty())
            continue;
        const std::vector<std::string>& names = force->getParticleNames();
        if ((int) names.size() > system.getNumParticles())
            throw OpenMMException("The ConstraintForce with index " + std::to_string(f) + " has names of " +
                                  std::to_string(names.size()) + " particles, but the System has only " +
                                  std::to_string(system.getNumParticles()) +
                                  ". Give the names of this System's particles: setParticleNames(), or "
                                  "openmmconstraints.setTopology(system, topology).");
        return std::make_shared<const std::vector<std::string>>(names);
    }
    return nullptr;
}

/** @throws OpenMMException unless bonds that are listed join particles of the System */
static void validateBonds(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++)
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f)))
            for (const auto& [p, q] : force->getBonds())
                if (std::min(p, q) < 0 || std::max(p, q) >= system.getNumParticles() || p == q)
                    throw OpenMMException("setBonds: the ConstraintForce with index " + std::to_string(f) +
                                          " has a bond of particles " + std::to_string(p) + " and " +
                                          std::to_string(q) + ", but the System has particles 0 to " +
                                          std::to_string(system.getNumParticles() - 1) +
                                          ". Give the bonds of this System, or openmmconstraints.setTopology(system, "
                                          "topology).");
}

ConstraintSet collectConstraints(const System& system, double tolerance) {
    ConstraintSet set;
    set.names = findNames(system);
    validateBonds(system);
    const Box box = defaultBox(system);
    for (int i = 0; i < system.getNumParticles(); i++) {
        const double mass = system.getParticleMass(i);
        set.inverseMass.push_back(mass == 0 ? 0 : 1 / mass);
    }
    auto add = [&](Constraint&& constraint) {
        set.constraints.push_back(std::move(constraint));
        set.numListed++;
        validate(system, set, (int) set.constraints.size() - 1, box);
    };
    const bool periodic = usesPeriodicBoundaries(system);
    std::size_t number = system.getNumConstraints();
    for (int f = 0; f < system.getNumForces(); f++)
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f)))
            number += force->getNumDistances() + force->getNumAngles() + force->getNumDihedrals();
    set.constraints.reserve(number);
    for (int i = 0; i < system.getNumConstraints(); i++) {
        Constraint c;
        int p1, p2;
        system.getConstraintParameters(i, p1, p2, c.target);
        c.particles = {p1, p2};
        c.periodic = periodic;
        c.index = i;
        add(std::move(c));
    }
    for (int f = 0; f < system.getNumForces(); f++) {
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f))) {
            forEachListed(*force, f, add);
            for (int i = 0; i < force->getNumCentroidDistances(); i++) {
                validateGroups(set, *force, f, i);
                add(centroidDistance(system, set, *force, f, i));
            }
        }
        if (const auto* custom = dynamic_cast<const CustomConstraintForce*>(&system.getForce(f)))
            for (Constraint& constraint : givenBy(*custom, f, set))
                add(std::move(constraint));
    }
    convertSingularSets(set, tolerance, box);
    splitStraightAngles(set);
    addRigidBodies(system, set, box);
    validateDihedrals(set);
    validateTogether(set, tolerance);
    return set;
}

} // namespace ConstraintPlugin
