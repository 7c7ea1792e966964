// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JointExpression.h"
#include "lepton/Exception.h"
#include "lepton/ExpressionTreeNode.h"
#include <algorithm>

using Lepton::ExpressionTreeNode;
using Lepton::Operation;

namespace ConstraintPlugin {

JointExpression::JointExpression(const std::vector<Lepton::ParsedExpression>& expressions,
                                 const std::map<std::string, int>& variables) {
    for (const auto& variable : variables)
        numVariables = std::max(numVariables, variable.second + 1);
    workspace.resize(numVariables);
    for (const Lepton::ParsedExpression& expression : expressions)
        outputs.push_back(compile(expression.getRootNode(), variables));
    stepsByArguments.clear();
    std::size_t largest = 1;
    for (const Step& step : steps)
        largest = std::max(largest, step.arguments.size());
    argumentBuffer.resize(largest);
}

int JointExpression::compile(const ExpressionTreeNode& node, const std::map<std::string, int>& variables) {
    const Operation& operation = node.getOperation();
    if (operation.getId() == Operation::VARIABLE) {
        const auto found = variables.find(operation.getName());
        if (found == variables.end())
            throw Lepton::Exception("Unknown variable '" + operation.getName() + "'");
        return found->second;
    }
    std::vector<int> arguments;
    for (const ExpressionTreeNode& child : node.getChildren())
        arguments.push_back(compile(child, variables));
    std::vector<int>& alike = stepsByArguments[arguments];
    for (int step : alike)
        if (*steps[step].operation == operation)
            return steps[step].result;
    alike.push_back((int) steps.size());
    steps.push_back({std::unique_ptr<Operation>(operation.clone()), std::move(arguments), (int) workspace.size()});
    workspace.push_back(0);
    return steps.back().result;
}

void JointExpression::evaluate(const double* values, double* results) {
    std::copy(values, values + numVariables, workspace.begin());
    for (const Step& step : steps) {
        for (std::size_t i = 0; i < step.arguments.size(); i++)
            argumentBuffer[i] = workspace[step.arguments[i]];
        workspace[step.result] = step.operation->evaluate(argumentBuffer.data(), noVariables);
    }
    for (std::size_t i = 0; i < outputs.size(); i++)
        results[i] = workspace[outputs[i]];
}

} // namespace ConstraintPlugin
