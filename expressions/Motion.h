// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_MOTION_H_
#define OPENMM_CONSTRAINTS_MOTION_H_

#include "PointFunctions.h"
#include "lepton/ExpressionTreeNode.h"
#include "lepton/ParsedExpression.h"
#include <map>
#include <string>
#include <vector>

namespace ConstraintPlugin {

bool isZero(const Lepton::ExpressionTreeNode& node);

/** Differentiates expressions with respect to time along a motion of their variables. */
class Motion {
public:
    /** @param rates  rate of each variable that changes
     *  @param box    for point functions with the minimum image; null: they do not use it */
    Motion(std::map<std::string, Lepton::ExpressionTreeNode> rates, const Box* box)
        : rates(std::move(rates)), box(box) {
    }
    Lepton::ParsedExpression rateOf(const Lepton::ParsedExpression& expression) const;

private:
    using Nodes = std::vector<Lepton::ExpressionTreeNode>;
    Lepton::ExpressionTreeNode rateOf(const Lepton::ExpressionTreeNode& node) const;
    Lepton::ExpressionTreeNode rateOf(const PointFunction::Meaning& meaning, const Nodes& arguments,
                                      const Nodes& ofArguments) const;

    std::map<std::string, Lepton::ExpressionTreeNode> rates;
    const Box* box;
};

} // namespace ConstraintPlugin

#endif
