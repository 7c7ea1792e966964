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

/** Variables that change with time: differentiates expressions along their motion. */
class Motion {
public:
    /** @param rates  of those variables that change
     *  @param box    where point functions take the minimum image; null: nowhere */
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
