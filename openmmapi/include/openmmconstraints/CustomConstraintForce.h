// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUSTOM_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_CUSTOM_CONSTRAINT_FORCE_H_

#include "openmm/Context.h"
#include "openmm/Force.h"
#include "openmm/TabulatedFunction.h"
#include <memory>
#include <string>
#include <vector>

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
 *  disable it. Only a ConstraintIntegrator (RattleIntegrator, ShakeIntegrator, ...) solves them; creating a Context
 * with any other integrator throws an OpenMMException.
 *
 *  A surface is fixed in space. Creating a Context throws if the System also has a CMMotionRemover, or a barostat that
 *  scales an axis on which the surface depends.
 *
 *  A massless particle may be constrained; it is an anchor, which does not move. Virtual sites may not be constrained.
 *  Creating a Context throws if the expression has a syntax error, an unknown name, a function with the wrong number of
 *  arguments, a parameter with the name of a variable or of another parameter, or if it depends on no position.
 */
class CustomConstraintForce : public OpenMM::Force {
public:
    /** Create a CustomConstraintForce.
     *
     *  @param particlesPerConstraint  number of particles of every constraint, at least one
     *  @param expression              sigma, as a function of positions, time and parameters
     *  @throws OpenMMException if particlesPerConstraint is not positive
     */
    CustomConstraintForce(int particlesPerConstraint, const std::string& expression);
    /** Number of particles of every constraint. */
    int getNumParticlesPerConstraint() const {
        return particlesPerConstraint;
    }
    /** Number of constraints. */
    int getNumConstraints() const {
        return (int) constraints.size();
    }
    /** Number of per-constraint parameters. */
    int getNumPerConstraintParameters() const {
        return (int) perConstraintParameters.size();
    }
    /** Number of global parameters. */
    int getNumGlobalParameters() const {
        return (int) globalParameters.size();
    }
    /** Number of tabulated functions. */
    int getNumTabulatedFunctions() const {
        return (int) functions.size();
    }
    /** The expression sigma that every constraint keeps at zero. */
    const std::string& getExpression() const {
        return expression;
    }
    /** Set the expression sigma that every constraint keeps at zero. It takes effect when a Context is created.
     *
     *  @param expression  sigma, as a function of positions, time and parameters
     */
    void setExpression(const std::string& expression) {
        this->expression = expression;
    }
    /** Add a parameter that may have another value in every constraint. Add all of them before the first constraint.
     *
     *  @param name  its name in the expression
     *  @return the index of the parameter
     */
    int addPerConstraintParameter(const std::string& name);
    /** Get the name of a per-constraint parameter.
     *
     *  @param index  the index of the parameter
     *  @return its name in the expression
     *  @throws OpenMMException if there is no such parameter
     */
    const std::string& getPerConstraintParameterName(int index) const;
    /** Set the name of a per-constraint parameter.
     *
     *  @param index  the index of the parameter
     *  @param name   its name in the expression
     *  @throws OpenMMException if there is no such parameter
     */
    void setPerConstraintParameterName(int index, const std::string& name);
    /** Add a parameter of the Context. Context.setParameter() changes it at any time, and the next step projects the
     *  positions if necessary. A changed parameter gives the constraint no rate of change: to move a surface
     * continuously, let the expression depend on t.
     *
     *  @param name          its name in the expression and in the Context
     *  @param defaultValue  its value in a new Context
     *  @return the index of the parameter
     */
    int addGlobalParameter(const std::string& name, double defaultValue);
    /** Get the name of a global parameter.
     *
     *  @param index  the index of the parameter
     *  @return its name in the expression and in the Context
     *  @throws OpenMMException if there is no such parameter
     */
    const std::string& getGlobalParameterName(int index) const;
    /** Set the name of a global parameter.
     *
     *  @param index  the index of the parameter
     *  @param name   its name in the expression and in the Context
     *  @throws OpenMMException if there is no such parameter
     */
    void setGlobalParameterName(int index, const std::string& name);
    /** Get the default value of a global parameter.
     *
     *  @param index  the index of the parameter
     *  @return its value in a new Context
     *  @throws OpenMMException if there is no such parameter
     */
    double getGlobalParameterDefaultValue(int index) const;
    /** Set the default value of a global parameter.
     *
     *  @param index         the index of the parameter
     *  @param defaultValue  its value in a new Context
     *  @throws OpenMMException if there is no such parameter
     */
    void setGlobalParameterDefaultValue(int index, double defaultValue);
    /** Add a constraint.
     *
     *  @param particles   [getNumParticlesPerConstraint()] indices of the particles p1, p2, ...
     *  @param parameters  [getNumPerConstraintParameters()] values of the per-constraint parameters
     *  @return the index of the constraint
     *  @throws OpenMMException if one of the two has another length
     */
    int addConstraint(const std::vector<int>& particles, const std::vector<double>& parameters = std::vector<double>());
    /** Get the particles and parameters of a constraint.
     *
     *  @param index            the index of the constraint
     *  @param[out] particles   indices of the particles p1, p2, ...
     *  @param[out] parameters  values of the per-constraint parameters
     *  @throws OpenMMException if there is no such constraint
     */
    void getConstraintParameters(int index, std::vector<int>& particles, std::vector<double>& parameters) const;
    /** Set the particles and parameters of a constraint. It takes effect when a Context is created, or by
     *  updateParametersInContext().
     *
     *  @param index       the index of the constraint
     *  @param particles   [getNumParticlesPerConstraint()] indices of the particles p1, p2, ...
     *  @param parameters  [getNumPerConstraintParameters()] values of the per-constraint parameters
     *  @throws OpenMMException if there is no such constraint, or an argument has another length
     */
    void setConstraintParameters(int index, const std::vector<int>& particles,
                                 const std::vector<double>& parameters = std::vector<double>());
    /** Add a function given by a table, which the expression can call by its name. Continuous functions are cubic
     *  splines, zero outside their range; the expression's second derivatives come from the spline too. A discrete
     *  function has no derivative, so its arguments may depend on parameters only.
     *
     *  @param name      its name in the expression
     *  @param function  the table; this Force becomes its owner. In C++ it has to come from the heap ("new").
     *  @return the index of the function
     *  @throws OpenMMException if the table is a null pointer
     */
    int addTabulatedFunction(const std::string& name, OpenMM::TabulatedFunction* function);
    /** Get a tabulated function.
     *
     *  @param index  the index of the function
     *  @return the table; this Force remains its owner
     *  @throws OpenMMException if there is no such function
     */
    const OpenMM::TabulatedFunction& getTabulatedFunction(int index) const;
    /** Get a tabulated function.
     *
     *  @param index  the index of the function
     *  @return the table; this Force remains its owner
     *  @throws OpenMMException if there is no such function
     */
    OpenMM::TabulatedFunction& getTabulatedFunction(int index);
    /** Get the name of a tabulated function.
     *
     *  @param index  the index of the function
     *  @return its name in the expression
     *  @throws OpenMMException if there is no such function
     */
    const std::string& getTabulatedFunctionName(int index) const;
    /** Multipliers of this Force's constraints, which its integrator applied in the last step: its part of
     *  ConstraintIntegrator::getMultipliers().
     *
     *  @param context  a Context of the System that this Force belongs to
     *  @return [getNumConstraints()] kJ/mol per unit of sigma: the force on particle i is lambda * grad_i sigma
     */
    std::vector<double> getMultipliers(OpenMM::Context& context) const;
    /** Copy the present per-constraint parameters and tables into a Context. The particles of constraints may not
     * change, nor their number. The next step projects the positions if necessary.
     *
     *  @param context  a Context of the System that this Force belongs to
     *  @throws OpenMMException if particles or numbers changed, or a value is not allowed; the Context then keeps the
     * old values
     */
    void updateParametersInContext(OpenMM::Context& context);
    /** Whether distance(), angle(), dihedral() and the point functions use the minimum image (default: false). */
    bool usesPeriodicBoundaryConditions() const override {
        return periodic;
    }
    /** Set whether distance(), angle(), dihedral() and the point functions use the minimum image. Coordinates x1, y1,
     *  z1, ... are unwrapped in either case.
     *
     *  @param yes  true to use the minimum image
     */
    void setUsesPeriodicBoundaryConditions(bool yes) {
        periodic = yes;
    }

protected:
    OpenMM::ForceImpl* createImpl() const override;

private:
    struct GlobalParameter {
        std::string name;
        double defaultValue;
    };
    struct ConstraintInfo {
        std::vector<int> particles;
        std::vector<double> parameters;
    };
    struct FunctionInfo {
        std::string name;
        std::unique_ptr<OpenMM::TabulatedFunction> function;
    };
    void checkSizes(const std::vector<int>& particles, const std::vector<double>& parameters) const;

    int particlesPerConstraint;
    std::string expression;
    std::vector<std::string> perConstraintParameters;
    std::vector<GlobalParameter> globalParameters;
    std::vector<ConstraintInfo> constraints;
    std::vector<FunctionInfo> functions;
    bool periodic = false;
};

} // namespace ConstraintPlugin

#endif
