// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUSTOM_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_CUSTOM_CONSTRAINT_FORCE_H_

#include "ExpressionConstraintForce.h"

namespace ConstraintPlugin {

/** Constraints sigma(r) = 0 given by an algebraic expression, which one of this plugin's integrators solves together
 * with all other constraints: a particle on a surface, two distances in a constant ratio, ...
 *
 *  The expression is sigma itself, in OpenMM's expression language: "z1 - a*(x1^2+y1^2)" keeps a particle on a
 *  paraboloid. Several Forces, or several constraints, may share a particle: two surfaces keep it on the curve where
 * they intersect. The expression may depend on
 *
 *  - x1, y1, z1, x2, ...: coordinates of the particles p1, p2, ... of a constraint (nm), as returned by getState(), not
 *    wrapped into a periodic box.
 *  - distance(p1, p2) (nm), angle(p1, p2, p3) (rad, p2 is the vertex), dihedral(p1, p2, p3, p4) (rad, from -pi to pi,
 *    with the sign of PeriodicTorsionForce), and pointdistance(x1, y1, z1, x2, y2, z2), pointangle(), pointdihedral()
 * of any points.
 *  - per-constraint parameters; global parameters, changed by Context.setParameter() and used from the next step on.
 *  - t: the Context's time (ps). A constraint that depends on it moves and does work.
 *  - tabulated functions, and sqrt, exp, log, sin, cos, sec, csc, tan, cot, asin, acos, atan, atan2, sinh, cosh, tanh,
 *    erf, erfc, min, max, abs, floor, ceil, step, delta, select, as in CustomCompoundBondForce.
 *
 *  Derivatives are analytic. sigma may have any unit and scale, and need not be a length: a constraint counts as
 *  satisfied if |sigma| / sqrt(sum over its particles of |grad sigma|^2), a length, is within the integrator's
 * constraint tolerance (nm). If sigma is not a number, or its gradient is zero or does not exist (the apex of a cone,
 * the centre of a sphere), no constraint force is defined, and an OpenMMException is thrown.
 *
 *  The multiplier lambda of a constraint is in kJ/mol per unit of sigma: the force on its particle i is
 *  lambda * grad_i sigma.
 *
 *  The Force only declares constraints: it contributes no energy and no force to getState(), and force groups do not
 *  disable it. A ConstraintIntegrator (RattleIntegrator, ShakeIntegrator, ...) solves them, and with
 *  ConstraintForce::setReplacesSolver() any integrator but RPMDIntegrator. Otherwise creating a Context
 *  with another integrator throws an OpenMMException if the Force has a constraint, and with a VerletIntegrator its
 *  first step does.
 *
 *  A surface is fixed in space. Creating a Context throws if the System also has a CMMotionRemover, or a barostat that
 *  scales an axis on which the surface depends.
 *
 *  A massless particle may be constrained; it is an anchor, which does not move. Virtual sites may not be constrained.
 *  Creating a Context throws if the expression has a syntax error, an unknown name, a function with the wrong number of
 *  arguments, a parameter with the name of a variable or of another parameter, or if it depends on no position.
 */
class CustomConstraintForce : public ExpressionConstraintForce {
public:
    /** Create a CustomConstraintForce.
     *
     *  @param particlesPerConstraint  number of particles of every constraint, at least one
     *  @param expression              sigma, as a function of positions, time and parameters
     *  @throws OpenMMException if particlesPerConstraint is not positive
     */
    CustomConstraintForce(int particlesPerConstraint, const std::string& expression)
        : ExpressionConstraintForce("CustomConstraintForce", {particlesPerConstraint, "particle", "p"}, expression) {
    }
    /** Number of particles of every constraint. */
    int getNumParticlesPerConstraint() const {
        return getPoints().number;
    }
    /** Add a constraint.
     *
     *  @param particles   [getNumParticlesPerConstraint()] indices of the particles p1, p2, ...
     *  @param parameters  [getNumPerConstraintParameters()] values of the per-constraint parameters
     *  @return the index of the constraint
     *  @throws OpenMMException if one of the two has another length
     */
    int addConstraint(const std::vector<int>& particles,
                      const std::vector<double>& parameters = std::vector<double>()) {
        return addPoints(particles, parameters);
    }
    /** Get the particles and parameters of a constraint.
     *
     *  @param index            the index of the constraint
     *  @param[out] particles   indices of the particles p1, p2, ...
     *  @param[out] parameters  values of the per-constraint parameters
     *  @throws OpenMMException if there is no such constraint
     */
    void getConstraintParameters(int index, std::vector<int>& particles, std::vector<double>& parameters) const {
        particles = getConstraint(index).points;
        parameters = getConstraint(index).parameters;
    }
    /** Set the particles and parameters of a constraint. It takes effect when a Context is created, or by
     *  updateParametersInContext().
     *
     *  @param index       the index of the constraint
     *  @param particles   [getNumParticlesPerConstraint()] indices of the particles p1, p2, ...
     *  @param parameters  [getNumPerConstraintParameters()] values of the per-constraint parameters
     *  @throws OpenMMException if there is no such constraint, or an argument has another length
     */
    void setConstraintParameters(int index, const std::vector<int>& particles,
                                 const std::vector<double>& parameters = std::vector<double>()) {
        setPoints(index, particles, parameters);
    }
};

} // namespace ConstraintPlugin

#endif
