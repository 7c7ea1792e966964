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

/** Several expressions of the same variables, evaluated together: what they share, as a function and its derivatives
 *  do, is computed once. Evaluation allocates nothing.
 *
 *  Lepton's own CompiledExpression is out of reach for a plugin: the size of that class depends on whether libOpenMM
 * was built with a JIT compiler, and the headers that OpenMM installs do not say. */
class JointExpression {
public:
    /** @param variables  name of every variable, and its index in the values given to evaluate()
     *  @throws Lepton::Exception if an expression has a variable that is not among them */
    JointExpression(const std::vector<Lepton::ParsedExpression>& expressions,
                    const std::map<std::string, int>& variables);
    /** @param values        [variables]
     *  @param[out] results  [expressions] */
    void evaluate(const double* values, double* results);

    /** What evaluate() does, for those who write it down. Places are those of the variables, then of the steps' results
     *  in turn. */
    struct Step {
        std::unique_ptr<Lepton::Operation> operation;
        std::vector<int> arguments; ///< places
        int result;                 ///< and of what it computes
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
