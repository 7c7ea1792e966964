// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/SystemChecks.h"
#include "openmm/CMMotionRemover.h"
#include "openmm/MonteCarloAnisotropicBarostat.h"
#include "openmm/MonteCarloBarostat.h"
#include "openmm/MonteCarloFlexibleBarostat.h"
#include "openmm/MonteCarloMembraneBarostat.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/internal/ConstraintErrors.h"
#include <algorithm>
#include <array>
#include <random>
#include <typeinfo>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

using Axes = std::array<bool, 3>;

bool removesMotion(const Force& force) {
    return dynamic_cast<const CMMotionRemover*>(&force) != nullptr;
}

/** Along which axes a Force shifts or scales positions or velocities of everything. */
Axes shiftedBy(const Force& force) {
    if (removesMotion(force) || dynamic_cast<const MonteCarloBarostat*>(&force) != nullptr ||
        dynamic_cast<const MonteCarloFlexibleBarostat*>(&force) != nullptr)
        return {true, true, true};
    if (const auto* anisotropic = dynamic_cast<const MonteCarloAnisotropicBarostat*>(&force))
        return {anisotropic->getScaleX(), anisotropic->getScaleY(), anisotropic->getScaleZ()};
    if (const auto* membrane = dynamic_cast<const MonteCarloMembraneBarostat*>(&force))
        return {true, true, membrane->getZMode() != MonteCarloMembraneBarostat::ZFixed};
    return {};
}

/** A massless particle of a constraint that also has massive ones, which it anchors; -1: there is none. */
int anchorOf(const ConstraintSet& set, const Constraint& c) {
    const auto massless =
        std::find_if(c.particles.begin(), c.particles.end(), [&](int p) { return set.inverseMass[p] == 0; });
    return massless != c.particles.end() && set.isMovable(c) ? *massless : -1;
}

/** Along which axes moving all particles of a constraint together, massless ones too or not, changes sigma: somewhere,
 *  of several random places, near the origin and far from it, for the Context parameters' defaults and for other
 *  values. */
Axes fixedBy(const ConstraintSet& set, const Constraint& c, bool masslessToo) {
    Axes fixed = {};
    CustomCoordinate& sigma = *set.custom[c.form];
    const std::vector<double> defaults = sigma.getGlobals();
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Real3> x(c.size()), gradient(c.size());
    for (int sample = 0; sample < 50; sample++) {
        const double scale = std::array<double, 5>{1, 3, 10, 30, 100}[sample % 5];
        for (Real3& place : x)
            place = {scale * uniform(random), scale * uniform(random), scale * uniform(random)};
        std::vector<double> globals = defaults;
        for (double& value : globals)
            value += sample % 2 * uniform(random);
        sigma.setGlobals(globals);
        sigma.evaluate(x.data(), set.parameters.data() + c.firstParameter, {}, gradient.data());
        Real3 sum;
        double squares = 0;
        for (int s = 0; s < c.size(); s++) {
            if (masslessToo || set.inverseMass[c.particles[s]] > 0)
                sum += gradient[s];
            squares += dot(gradient[s], gradient[s]);
        }
        const double components[3] = {sum.x, sum.y, sum.z};
        for (int axis = 0; axis < 3; axis++) // false where there is no gradient
            fixed[axis] = fixed[axis] || std::abs(components[axis]) > 1e-8 * std::sqrt(squares);
    }
    sigma.setGlobals(defaults);
    return fixed;
}

} // namespace

/** A CMMotionRemover takes the velocity of the centre of mass from what a constraint ties to a place. Barostats move
 *  massless particles with their molecules, so anchors are no surface to them. */
static void refuseShiftsOfPlaces(const System& system, const ConstraintSet& set) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        const Axes shifted = shiftedBy(force);
        if (shifted == Axes{})
            continue;
        const bool removes = removesMotion(force);
        const std::string remedy =
            removes ? " Remove it before the Context is made: system.removeForce(" + std::to_string(f) +
                          "), or ForceField.createSystem(removeCMMotion=False)."
                    : " Use one that leaves this axis alone (MonteCarloAnisotropicBarostat), or an expression in "
                      "distances only.";
        for (size_t k = 0; k < set.constraints.size(); k++) {
            const Constraint& c = set.constraints[k];
            const bool isExpression = c.kind == CoordinateKind::Custom;
            const int anchor = removes ? anchorOf(set, c) : -1;
            const Axes fixed = isExpression ? fixedBy(set, c, !removes) : Axes{anchor >= 0, anchor >= 0, anchor >= 0};
            for (int axis = 0; axis < 3; axis++)
                if (shifted[axis] && fixed[axis])
                    throw OpenMMException(
                        force.getName() + " cannot be combined with " + describeConstraint(set, (int) k) + ", which " +
                        (anchor >= 0 ? "ties particles to " + describeParticle(set, anchor) +
                                           ", which is massless and does not move: it would take their motion away."
                                     : std::string("fixes places in space along ") + "xyz"[axis] +
                                           (removes ? ": it would take the motion on the surface away."
                                                    : ": it would scale positions off the surface.")) +
                        remedy);
        }
    }
}

/** Whether a Force is a barostat that scales the position of each particle instead of each molecule's. */
static bool scalesParticles(const Force& force) {
    const auto scales = [&](const auto* barostat) {
        return barostat != nullptr && !barostat->getScaleMoleculesAsRigid();
    };
    return scales(dynamic_cast<const MonteCarloBarostat*>(&force)) ||
           scales(dynamic_cast<const MonteCarloAnisotropicBarostat*>(&force)) ||
           scales(dynamic_cast<const MonteCarloMembraneBarostat*>(&force)) ||
           scales(dynamic_cast<const MonteCarloFlexibleBarostat*>(&force));
}

static void refuseScalingOfParticles(const System& system, const ConstraintSet& set) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        if (!scalesParticles(force))
            continue;
        for (size_t k = 0; k < set.constraints.size(); k++) {
            const std::vector<int>& particles = set.constraints[k].particles;
            const auto numMovable =
                std::count_if(particles.begin(), particles.end(), [&](int p) { return set.inverseMass[p] > 0; });
            if (numMovable > 1)
                throw OpenMMException(force.getName() +
                                      " with setScaleMoleculesAsRigid(False) cannot be combined with " +
                                      describeConstraint(set, (int) k) +
                                      ": it would stretch what the constraint holds, and accept moves by the energy of "
                                      "stretched molecules. Leave it at True.");
        }
    }
}

/** By its name: OpenMM's Drude plugin need not be there. */
static void refuseDrudeParticles(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        if (std::string(typeid(force).name()).find("DrudeForce") != std::string::npos)
            throw OpenMMException(
                "The System has a DrudeForce, and the integrators of openmm-constraints have no heat bath of their own "
                "for Drude particles: they would be heated like atoms, and the polarization with them. Use "
                "DrudeLangevinIntegrator, DrudeNoseHooverIntegrator or DrudeSCFIntegrator with System constraints only "
                "(they solve no ConstraintForce), or a force field without Drude particles.");
    }
}

void refuseForces(const System& system, const ConstraintSet& set) {
    refuseDrudeParticles(system);
    refuseShiftsOfPlaces(system, set);
    refuseScalingOfParticles(system, set);
}

/** A Force that does not say whether it is periodic throws; such a one decides nothing here. */
static bool isPeriodic(const Force& force) {
    try {
        return force.usesPeriodicBoundaryConditions();
    } catch (const OpenMMException&) {
        return false;
    }
}

bool usesPeriodicBoundaries(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++)
        if (isPeriodic(system.getForce(f)))
            return true;
    return false;
}

Box defaultBox(const System& system) {
    Vec3 v[3];
    system.getDefaultPeriodicBoxVectors(v[0], v[1], v[2]);
    return {{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

std::string whyNotConstrainable(const System& system, int particle) {
    if (particle < 0 || particle >= system.getNumParticles())
        return "particle index " + std::to_string(particle) + " is out of range: the System has " +
               std::to_string(system.getNumParticles()) + " particles, 0 to " +
               std::to_string(system.getNumParticles() - 1) + ".";
    if (system.isVirtualSite(particle))
        return "particle " + std::to_string(particle) +
               " is a virtual site, which follows other particles and cannot be constrained. Constrain the particles "
               "that define it.";
    return "";
}

} // namespace ConstraintPlugin
