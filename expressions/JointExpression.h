// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_JOINT_EXPRESSION_H_
#define OPENMM_CONSTRAINTS_JOINT_EXPRESSION_H_

#include "lepton/Operation.h"
#include "lepton/ParsedExpression.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Several expressions of the same variables, evaluated together. Common subexpressions, which a function and its
 *  derivatives have, are computed once. Evaluation allocates no memory.
 *
 *  A plugin cannot use Lepton's own CompiledExpression: the size of that class depends on whether libOpenMM was built
 * with a JIT compiler, and the headers that OpenMM installs do not show this. */
class JointExpression {
public:
    /** @param variables  name of every variable, and its index in the values given to evaluate()
     *  @throws Lepton::Exception if an expression has a variable that is not among them */
    JointExpression(const std::vector<Lepton::ParsedExpression>& expressions,
                    const std::map<std::string, int>& variables);
    /** @param values        [variables]
     *  @param[out] results  [expressions] */
    void evaluate(const double* values, double* results);

    /** One operation of evaluate(), for code generation. Places are numbers of values: first the variables, then the
     * results of the steps. */
    struct Step {
        std::unique_ptr<Lepton::Operation> operation;
        std::vector<int> arguments; ///< places
        int result;                 ///< place of the result
    };
    const std::vector<Step>& getSteps() const {
        return steps;
    }
    /** [expressions] places */
    const std::vector<int>& getOutputs() const {
        return outputs;
    }

private:
    int compile(const Lepton::ExpressionTreeNode& node, const std::map<std::string, int>& variables);

    int numVariables = 0;
    std::vector<Step> steps;
    std::vector<double> workspace; // by place
    std::vector<double> argumentBuffer;
    std::vector<int> outputs;
    std::map<std::vector<int>, std::vector<int>> stepsByArguments; // while compiling
    const std::map<std::string, double> noVariables;
};

} // namespace ConstraintPlugin

#endif
