// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_EXPRESSION_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_EXPRESSION_CONSTRAINT_FORCE_H_

#include "openmm/Context.h"
#include "openmm/Force.h"
#include "openmm/TabulatedFunction.h"
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** What CustomConstraintForce and CustomCentroidConstraintForce have in common: an expression sigma of the positions of
 *  points (particles, or centroids of groups), its parameters and its tables. */
class ExpressionConstraintForce : public OpenMM::Force {
public:
    /** What the positions in an expression belong to. */
    struct Points {
        int number;             ///< in each constraint
        std::string noun, sign; ///< "particle" and "p", "group" and "g": of p1, p2, ...
    };
    /** For those who read the expression. */
    const Points& getPoints() const {
        return points;
    }
    /** The name of the Force's class, for messages. */
    const std::string& getClassName() const {
        return className;
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
    struct ConstraintInfo {
        std::vector<int> points;
        std::vector<double> parameters;
    };
    /** @throws OpenMMException if there are no points */
    ExpressionConstraintForce(std::string className, Points points, std::string expression);
    int addPoints(const std::vector<int>& points, const std::vector<double>& parameters);
    const ConstraintInfo& getConstraint(int index) const;
    void setPoints(int index, const std::vector<int>& points, const std::vector<double>& parameters);
    OpenMM::ForceImpl* createImpl() const override;

private:
    struct GlobalParameter {
        std::string name;
        double defaultValue;
    };
    struct FunctionInfo {
        std::string name;
        std::unique_ptr<OpenMM::TabulatedFunction> function;
    };
    void checkSizes(const std::vector<int>& points, const std::vector<double>& parameters) const;

    std::string className;
    Points points;
    std::string expression;
    std::vector<std::string> perConstraintParameters;
    std::vector<GlobalParameter> globalParameters;
    std::vector<ConstraintInfo> constraints;
    std::vector<FunctionInfo> functions;
    bool periodic = false;
};

} // namespace ConstraintPlugin

#endif
