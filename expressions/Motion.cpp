// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Motion.h"
#include "ExpressionChecks.h"
#include "lepton/Operation.h"
#include <algorithm>

using Lepton::ExpressionTreeNode;
using Lepton::Operation;
using Lepton::ParsedExpression;

namespace ConstraintPlugin {

bool isZero(const ExpressionTreeNode& node) {
    const auto* constant = dynamic_cast<const Operation::Constant*>(&node.getOperation());
    return constant != nullptr && constant->getValue() == 0;
}

ParsedExpression Motion::rateOf(const ParsedExpression& expression) const {
    checkDerivative(expression);
    return simplified(ParsedExpression(rateOf(expression.getRootNode())));
}

ExpressionTreeNode Motion::rateOf(const ExpressionTreeNode& node) const {
    const Operation& operation = node.getOperation();
    if (operation.getId() == Operation::VARIABLE) {
        const auto found = rates.find(operation.getName());
        return found == rates.end() ? ExpressionTreeNode(new Operation::Constant(0)) : found->second;
    }
    Nodes ofChildren;
    for (const ExpressionTreeNode& child : node.getChildren())
        ofChildren.push_back(rateOf(child));
    if (operation.getId() == Operation::CUSTOM)
        if (const auto meaning = PointFunction::find(operation.getName()))
            return rateOf(*meaning, node.getChildren(), ofChildren);
    return operation.differentiate(node.getChildren(), ofChildren, "");
}

/** The rate of q(x) is q'(x, x'), whose rate is C(x, x') + q'(x, x''). */
ExpressionTreeNode Motion::rateOf(const PointFunction::Meaning& meaning, const Nodes& arguments,
                                  const Nodes& ofArguments) const {
    using Result = PointFunction::Result;
    const auto rest = [](const Nodes& nodes) { return std::all_of(nodes.begin(), nodes.end(), isZero); };
    const auto call = [&](Result result, Nodes x, const Nodes& rates) {
        x.insert(x.end(), rates.begin(), rates.end());
        const PointFunction::Meaning called{meaning.kind, result};
        return ExpressionTreeNode(new Operation::Custom(PointFunction::nameOf(called), new PointFunction(called, box)),
                                  x);
    };
    if (rest(ofArguments))
        return ExpressionTreeNode(new Operation::Constant(0));
    if (meaning.result == Result::Value)
        return call(Result::Rate, arguments, ofArguments);
    const std::size_t half = arguments.size() / 2; // meaning.result is Rate: nobody differentiates three times
    const Nodes x(arguments.begin(), arguments.begin() + half), rates(arguments.begin() + half, arguments.end());
    const Nodes accelerations(ofArguments.begin() + half, ofArguments.end());
    ExpressionTreeNode curvature = call(Result::Curvature, x, rates);
    if (rest(accelerations))
        return curvature;
    return ExpressionTreeNode(new Operation::Add(), curvature, call(Result::Rate, x, accelerations));
}

} // namespace ConstraintPlugin
