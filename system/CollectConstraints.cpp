// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CollectConstraints.h"
#include "AbsorbedConstraints.h"
#include "CentroidCoordinate.h"
#include "CollectBodies.h"
#include "ConstraintChecks.h"
#include "ExpressionText.h"
#include "ForceChecks.h"
#include "GroupConstraints.h"
#include "JoinBodies.h"
#include "LengthChecks.h"
#include "LeptonCoordinate.h"
#include "ListedCoordinates.h"
#include "OpenMMVectors.h"
#include "SystemChecks.h"
#include "SystemConstraints.h"
#include "openmmconstraints/CustomCentroidConstraintForce.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include <map>
#include <set>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** visit(constraint, its interpolation) for the distances, angles and dihedrals of a Force in turn. */
template <class Visit>
void forEachListed(const ConstraintForce& force, int forceIndex, Visit visit) {
    ListedCoordinates::forEachKind(force, [&](CoordinateKind kind, const auto& coordinates) {
        for (std::size_t i = 0; i < coordinates.size(); i++) {
            const ListedCoordinates::Coordinate& given = coordinates[i];
            Constraint c;
            c.kind = kind;
            c.particles.assign(given.particles.begin(), given.particles.begin() + numParticlesOf(kind));
            c.target = given.value;
            c.periodic = force.usesPeriodicBoundaryConditions();
            c.force = forceIndex;
            c.index = (int) i;
            c.rate = given.motion.rate;
            c.startTime = given.motion.startTime;
            visit(std::move(c), given.interpolation);
        }
    });
}

/** Fills in particles, form and parameters of a constraint of a Force with an expression. */
using ReadConstraint = std::function<Found(int index, Constraint& c, std::vector<double>& parameters)>;

/** CustomConstraintForce: its constraints share an object. */
ReadConstraint readerOf(const CustomConstraintForce& force, ConstraintSet& set,
                        const std::shared_ptr<LeptonCoordinate>& sigma) {
    const int form = (int) set.custom.size();
    if (sigma != nullptr)
        set.custom.push_back(sigma);
    return [&force, form](int index, Constraint& c, std::vector<double>& parameters) {
        force.getConstraintParameters(index, c.particles, parameters);
        c.form = form;
        return Found();
    };
}

/** CustomCentroidConstraintForce: constraints share an object if their centroids have the same weights. Particles
 *  without weight are left out. */
ReadConstraint readerOf(const CustomCentroidConstraintForce& force, ConstraintSet& set,
                        const std::shared_ptr<LeptonCoordinate>& sigma, const System& system) {
    return [&force, &set, &system, sigma, forms = std::map<std::vector<double>, int>()](
               int index, Constraint& c, std::vector<double>& parameters) mutable {
        std::vector<int> groups;
        force.getConstraintParameters(index, groups, parameters);
        if (Found found = findGroupProblem(system, set, force, c, groups))
            return found;
        std::map<int, std::vector<double>> weightsOf; // of each particle, by group
        for (std::size_t g = 0; g < groups.size(); g++)
            for (const auto& [particle, weight] : weightsIn(set, force, groups[g])) {
                weightsOf[particle].resize(groups.size());
                weightsOf[particle][g] = weight;
            }
        std::vector<double> weights;
        for (const auto& [particle, ofGroups] : weightsOf) {
            c.particles.push_back(particle);
            weights.insert(weights.end(), ofGroups.begin(), ofGroups.end());
        }
        const auto [form, isNew] = forms.emplace(weights, (int) set.custom.size());
        c.form = form->second;
        if (isNew && sigma != nullptr)
            set.custom.push_back(std::make_shared<CentroidCoordinate>(sigma, (int) groups.size(), std::move(weights)));
        return Found();
    };
}

/** visit(constraint, what is wrong with it) for the constraints of a Force with an expression; their parameters go to
 *  the set.
 *  @param reader  sigma -> ReadConstraint */
template <class Reader, class Visit>
void forEachGivenBy(const ExpressionConstraintForce& force, int forceIndex, ConstraintSet& set,
                    const ProblemReport& report, Reader reader, Visit visit) {
    std::shared_ptr<LeptonCoordinate> sigma;
    try {
        sigma = std::make_shared<LeptonCoordinate>(force);
    } catch (const OpenMMException& error) {
        ConstraintProblem problem{"expression", {}, {}, ConstraintProblem::none, ConstraintProblem::none,
                                  error.what(), ""};
        for (int i = 0; i < force.getNumConstraints(); i++)
            problem.constraints.push_back((int) set.constraints.size() + i);
        report(problem);
    }
    const ReadConstraint read = reader(sigma);
    std::vector<double> parameters;
    for (int i = 0; i < force.getNumConstraints(); i++) {
        Constraint c;
        c.periodic = force.usesPeriodicBoundaryConditions();
        c.force = forceIndex;
        c.index = i;
        c.firstParameter = (int) set.parameters.size();
        Found found = read(i, c, parameters);
        if (sigma == nullptr || found) { // an expression was reported already
            c.particles.clear();
            visit(std::move(c), sigma == nullptr ? Found() : found);
            continue;
        }
        c.kind = CoordinateKind::Custom;
        if (parameters.size() != sigma->numParameters())
            found = ConstraintProblem{"parameter",
                                      {(int) set.constraints.size()},
                                      c.particles,
                                      (double) parameters.size(),
                                      (double) sigma->numParameters(),
                                      force.getClassName() + " \"" + shortened(force.getExpression()) +
                                          "\": its constraint " + std::to_string(i) + " has " +
                                          std::to_string(parameters.size()) + " of " +
                                          std::to_string(sigma->numParameters()) + " parameters",
                                      ""};
        set.parameters.insert(set.parameters.end(), parameters.begin(), parameters.end());
        visit(std::move(c), found);
    }
}

/** An angle of pi has no gradient. It is replaced by two constraints, the components of the bend; the second is not
 * among the declared constraints. */
void splitLinearAngles(ConstraintSet& set) {
    for (int k = 0; k < set.numListed; k++) {
        Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Angle || c.isAbsorbed || !c.isFixed() || !isLinearAngle(c.target))
            continue;
        c.kind = CoordinateKind::LinearAngle;
        c.target = 0;
        c.form = 0;
        Constraint second = c;
        second.form = 1;
        second.owner = k;
        set.constraints.push_back(std::move(second));
    }
}

} // namespace

void forEachConstrainedGroup(const Force& force, const std::function<void(const std::vector<int>&)>& visit,
                             bool ofGroupsToo) {
    std::vector<int> particles, others;
    std::vector<double> numbers;
    if (const auto* listing = dynamic_cast<const ConstraintForce*>(&force)) {
        forEachListed(*listing, 0, [&](const Constraint& c, const auto&) { visit(c.particles); });
        std::vector<Vec3> positions;
        if (ofGroupsToo)
            forEachPairOfGroups(*listing, visit);
        for (int i = 0; i < listing->getNumRigidBodies(); i++) {
            listing->getRigidBodyParameters(i, particles, positions);
            visit(particles);
        }
    } else if (const auto* custom = dynamic_cast<const CustomConstraintForce*>(&force)) {
        for (int i = 0; i < custom->getNumConstraints(); i++) {
            custom->getConstraintParameters(i, particles, numbers);
            visit(particles);
        }
    } else if (const auto* ofGroups = dynamic_cast<const CustomCentroidConstraintForce*>(&force)) {
        std::vector<int> groups;
        for (int i = 0; ofGroupsToo && i < ofGroups->getNumConstraints(); i++) {
            particles.clear();
            ofGroups->getConstraintParameters(i, groups, numbers);
            for (int g : groups)
                if (g >= 0 && g < ofGroups->getNumGroups()) { // else it is refused elsewhere
                    ofGroups->getGroupParameters(g, others, numbers);
                    particles.insert(particles.end(), others.begin(), others.end());
                }
            visit(particles);
        }
    }
}

/** Names of particles, of the first Force that has some; nullptr if none has, or if there are more names than
 * particles.
 */
static std::shared_ptr<const std::vector<std::string>> findNames(const System& system, const ProblemReport& report) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        if (force == nullptr || force->getParticleNames().empty())
            continue;
        const std::vector<std::string>& names = force->getParticleNames();
        if ((int) names.size() <= system.getNumParticles())
            return std::make_shared<const std::vector<std::string>>(names);
        report({"topology",
                {},
                {},
                (double) names.size(),
                (double) system.getNumParticles(),
                "The ConstraintForce with index " + std::to_string(f) + " has names of " +
                    std::to_string(names.size()) + " particles, but the System has only " +
                    std::to_string(system.getNumParticles()) + ".",
                "Give the names of this System's particles: setParticleNames(), or "
                "openmmconstraints.setTopology(system, topology)."});
        return nullptr;
    }
    return nullptr;
}

/** Check that bonds join particles of the System. The first invalid bond of each Force is reported. */
static void checkBonds(const System& system, const ProblemReport& report) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        if (force == nullptr)
            continue;
        const auto& bonds = force->getBonds();
        const auto bad = std::find_if(bonds.begin(), bonds.end(), [&](const auto& bond) {
            const auto [low, high] = std::minmax(bond.first, bond.second);
            return low < 0 || high >= system.getNumParticles() || low == high;
        });
        if (bad != bonds.end())
            report({"topology",
                    {},
                    {bad->first, bad->second},
                    ConstraintProblem::none,
                    ConstraintProblem::none,
                    "setBonds: the ConstraintForce with index " + std::to_string(f) + " has a bond of particles " +
                        std::to_string(bad->first) + " and " + std::to_string(bad->second) +
                        ", but the System has particles 0 to " + std::to_string(system.getNumParticles() - 1) + ".",
                    "Give the bonds of this System, or openmmconstraints.setTopology(system, topology)."});
    }
}

/** Where the lengths of all Forces were measured. The first position of each Force that cannot be is reported. */
static MeasuredPositions findMeasuredPositions(const System& system, const ProblemReport& report) {
    MeasuredPositions measured;
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        if (force == nullptr)
            continue;
        std::vector<int> particles;
        std::vector<Vec3> positions;
        force->getReferencePositions(particles, positions);
        for (std::size_t i = 0; i < particles.size(); i++) {
            const int p = particles[i];
            const Vec3& x = positions[i];
            if (p >= 0 && p < system.getNumParticles() && std::isfinite(x[0] + x[1] + x[2])) {
                measured.emplace(p, toReal3(x));
                continue;
            }
            report({"particles",
                    {},
                    {p},
                    ConstraintProblem::none,
                    ConstraintProblem::none,
                    "setReferencePositions: the ConstraintForce with index " + std::to_string(f) +
                        " has a position of particle " + std::to_string(p) +
                        ", which is not finite, or the System has no such particle: it has particles 0 to " +
                        std::to_string(system.getNumParticles() - 1) + ".",
                    "Give finite positions (nm) of this System's particles."});
            break;
        }
    }
    return measured;
}

/** Interpolates targets of a Force's constraints with Context parameters. */
class Interpolations {
public:
    Interpolations(ConstraintSet& set, const ConstraintForce& force, const ParameterValues* values,
                   const ProblemReport& report)
        : set(set), force(force), values(values), report(report) {
    }
    /** @param target1  the target where the parameter, "" for none, is 1 */
    void apply(Constraint& c, const std::string& parameter, double target1) {
        if (parameter.empty())
            return;
        c.parameter = indexOf(parameter);
        c.target0 = c.target;
        c.target1 = target1;
        c.target = c.target0 + set.globals[c.parameter].value * (target1 - c.target0);
    }

private:
    int indexOf(const std::string& name) {
        std::vector<GlobalParameter>& globals = set.globals;
        const auto known =
            std::find_if(globals.begin(), globals.end(), [&](const GlobalParameter& p) { return p.name == name; });
        if (known != globals.end())
            return (int) (known - globals.begin());
        globals.push_back({name, valueOf(name)});
        return (int) globals.size() - 1;
    }
    double valueOf(const std::string& name) const {
        if (values != nullptr) {
            if (const auto found = values->find(name); found != values->end())
                return found->second;
            report({"parameter",
                    {},
                    {},
                    ConstraintProblem::none,
                    ConstraintProblem::none,
                    "This Context has no parameter \"" + name +
                        "\", with which a ConstraintForce interpolates: it was created before.",
                    "call context.reinitialize(True)."});
        }
        for (int i = 0; i < force.getNumGlobalParameters(); i++)
            if (force.getGlobalParameterName(i) == name)
                return force.getGlobalParameterDefaultValue(i);
        return 0;
    }
    ConstraintSet& set;
    const ConstraintForce& force;
    const ParameterValues* values;
    const ProblemReport& report;
};

/** Pairs {smaller, larger index} of ConstraintForce::getCountedPairs(). */
static std::set<std::pair<int, int>> findCountedPairs(const System& system) {
    std::set<std::pair<int, int>> pairs;
    for (int f = 0; f < system.getNumForces(); f++)
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f)))
            for (const auto& [p, q] : force->getCountedPairs())
                pairs.insert(std::minmax(p, q));
    return pairs;
}

ConstraintSet collectConstraints(const System& system, double tolerance, const ProblemReport& report,
                                 const ParameterValues* parameters) {
    ConstraintSet set;
    set.names = findNames(system, report);
    checkBonds(system, report);
    checkForcesWithin(system, report);
    const Box box = defaultBox(system);
    for (int i = 0; i < system.getNumParticles(); i++) {
        const double mass = system.getParticleMass(i);
        set.inverseMass.push_back(mass == 0 ? 0 : 1 / mass);
    }
    const auto add = [&](Constraint&& constraint, Found found = {}) {
        const int k = set.numListed++;
        set.constraints.push_back(std::move(constraint));
        if (!found && !set.constraints[k].particles.empty())
            found = findProblem(system, set, k, box);
        if (found) {
            report(std::move(*found));
            leaveOut(set, k);
        }
    };
    const bool periodic = usesPeriodicBoundaries(system);
    std::size_t number = system.getNumConstraints();
    for (int f = 0; f < system.getNumForces(); f++)
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f)))
            ListedCoordinates::forEachKind(*force, [&](CoordinateKind, const auto& list) { number += list.size(); });
    set.constraints.reserve(number);
    const SystemConstraints* const moved = findSystemConstraints(system);
    const std::set<std::pair<int, int>> counted = findCountedPairs(system);
    for (int i = 0; i < (moved != nullptr ? moved->getNumDistances() : system.getNumConstraints()); i++) {
        Constraint c;
        int p1, p2;
        if (moved != nullptr)
            moved->getDistanceParameters(i, p1, p2, c.target);
        else
            system.getConstraintParameters(i, p1, p2, c.target);
        c.particles = {p1, p2};
        c.periodic = periodic;
        c.index = i;
        c.isAbsorbed = c.isForCounting = counted.count(std::minmax(p1, p2)) > 0;
        add(std::move(c));
    }
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        if (force != nullptr && force != moved) {
            Interpolations interpolations(set, *force, parameters, report);
            forEachListed(*force, f, [&](Constraint&& c, const ListedCoordinates::Interpolation& given) {
                if (given.parameter >= 0)
                    interpolations.apply(c, force->getGlobalParameterName(given.parameter), given.value1);
                add(std::move(c));
            });
            const auto interpolate = [&](Constraint& c, const std::string& parameter, double target1) {
                interpolations.apply(c, parameter, target1);
            };
            forEachOfGroups(system, set, *force, f, interpolate, add);
        }
        if (const auto* custom = dynamic_cast<const CustomConstraintForce*>(&system.getForce(f)))
            forEachGivenBy(
                *custom, f, set, report, [&](auto& sigma) { return readerOf(*custom, set, sigma); }, add);
        if (const auto* custom = dynamic_cast<const CustomCentroidConstraintForce*>(&system.getForce(f)))
            forEachGivenBy(
                *custom, f, set, report, [&](auto& sigma) { return readerOf(*custom, set, sigma, system); }, add);
    }
    std::vector<CollectedBody> bodies = collectDeclaredBodies(system, set, tolerance, report);
    absorbConstraints(set, bodies, tolerance, report); // first: lengths in a body may be rounded, and join nothing
    if (recognizeBodies(bodies, set, tolerance, box, findMeasuredPositions(system, report), report))
        absorbConstraints(set, bodies, tolerance, report);
    splitLinearAngles(set);
    addRigidBodies(bodies, set, box, report);
    checkDihedrals(set, report);
    checkLengths(system, set, tolerance, box, report);
    joinBodies(set);
    return set;
}

} // namespace ConstraintPlugin
