// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_EXPRESSION_NODE_H_
#define OPENMM_CONSTRAINTS_EXPRESSION_NODE_H_

#include "openmm/serialization/SerializationNode.h"
#include "openmmconstraints/ExpressionConstraintForce.h"

namespace ConstraintPlugin {

/** What the proxies of Forces with an expression share: version, force group, name, periodic flag, expression,
 *  parameters and tables. */
void writeExpression(const ExpressionConstraintForce& force, OpenMM::SerializationNode& node);
/** Reads all of that but the version and the expression. */
void readExpression(const OpenMM::SerializationNode& node, ExpressionConstraintForce& force);
/** @throws OpenMMException if the node is of another version */
void requireExpressionVersion(const OpenMM::SerializationNode& node, const std::string& type);

/** One constraint: "p1", "p2", ... for particles or "g1", ... for groups, "param1", ... for parameters, as
 *  CustomCompoundBondForce and CustomCentroidBondForce write them. */
void writeConstraint(const std::string& sign, const std::vector<int>& points, const std::vector<double>& parameters,
                     OpenMM::SerializationNode& node);
void readConstraint(const OpenMM::SerializationNode& node, const ExpressionConstraintForce& force,
                    std::vector<int>& points, std::vector<double>& parameters);

/** All constraints of such a Force. */
template <class Force>
void writeConstraints(const Force& force, OpenMM::SerializationNode& node) {
    OpenMM::SerializationNode& constraints = node.createChildNode("Constraints");
    std::vector<int> points;
    std::vector<double> parameters;
    for (int i = 0; i < force.getNumConstraints(); i++) {
        force.getConstraintParameters(i, points, parameters);
        writeConstraint(force.getPoints().sign, points, parameters, constraints.createChildNode("Constraint"));
    }
}

template <class Force>
void readConstraints(const OpenMM::SerializationNode& node, Force& force) {
    std::vector<int> points;
    std::vector<double> parameters;
    for (const OpenMM::SerializationNode& constraint : node.getChildNode("Constraints").getChildren()) {
        readConstraint(constraint, force, points, parameters);
        force.addConstraint(points, parameters);
    }
}

} // namespace ConstraintPlugin

#endif
