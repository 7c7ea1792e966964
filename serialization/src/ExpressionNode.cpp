// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ExpressionNode.h"
#include "StrictNode.h"
#include <memory>

using namespace OpenMM;

namespace ConstraintPlugin {

static const int Version = 1;

static std::string numbered(const std::string& prefix, std::size_t index) {
    return prefix + std::to_string(index + 1);
}

void requireExpressionVersion(const SerializationNode& node, const std::string& type) {
    requireVersion(node, type, Version);
}

void writeExpression(const ExpressionConstraintForce& force, SerializationNode& node) {
    node.setIntProperty("version", Version);
    node.setIntProperty("forceGroup", force.getForceGroup());
    node.setStringProperty("name", force.getName());
    node.setBoolProperty("usesPeriodic", force.usesPeriodicBoundaryConditions());
    node.setStringProperty("expression", force.getExpression());
    SerializationNode& perConstraint = node.createChildNode("PerConstraintParameters");
    for (int i = 0; i < force.getNumPerConstraintParameters(); i++)
        perConstraint.createChildNode("Parameter").setStringProperty("name", force.getPerConstraintParameterName(i));
    SerializationNode& globals = node.createChildNode("GlobalParameters");
    for (int i = 0; i < force.getNumGlobalParameters(); i++)
        globals.createChildNode("Parameter")
            .setStringProperty("name", force.getGlobalParameterName(i))
            .setDoubleProperty("default", force.getGlobalParameterDefaultValue(i));
    SerializationNode& functions = node.createChildNode("Functions");
    for (int i = 0; i < force.getNumTabulatedFunctions(); i++)
        functions.createChildNode("Function", &force.getTabulatedFunction(i))
            .setStringProperty("name", force.getTabulatedFunctionName(i));
}

/** decodeObject() believes that a node of any type is of the wanted one. */
static std::unique_ptr<TabulatedFunction> readTable(const SerializationNode& node, const std::string& forceType) {
    const std::string type = node.getStringProperty("type");
    for (const char* known : {"Continuous1DFunction", "Continuous2DFunction", "Continuous3DFunction",
                              "Discrete1DFunction", "Discrete2DFunction", "Discrete3DFunction"})
        if (type == known)
            return std::unique_ptr<TabulatedFunction>(node.decodeObject<TabulatedFunction>());
    throw OpenMMException("Malformed XML: a " + type + " stands among the tabulated functions of a " + forceType);
}

void readExpression(const SerializationNode& node, ExpressionConstraintForce& force) {
    force.setForceGroup(readProperty<int>(node, "forceGroup"));
    force.setName(node.getStringProperty("name"));
    force.setUsesPeriodicBoundaryConditions(readProperty<bool>(node, "usesPeriodic"));
    for (const SerializationNode& parameter : node.getChildNode("PerConstraintParameters").getChildren())
        force.addPerConstraintParameter(parameter.getStringProperty("name"));
    for (const SerializationNode& parameter : node.getChildNode("GlobalParameters").getChildren())
        force.addGlobalParameter(parameter.getStringProperty("name"), readProperty<double>(parameter, "default"));
    for (const SerializationNode& function : node.getChildNode("Functions").getChildren()) {
        const std::string& name = function.getStringProperty("name");
        force.addTabulatedFunction(name, readTable(function, force.getClassName()).release());
    }
}

void writeConstraint(const std::string& sign, const std::vector<int>& points, const std::vector<double>& parameters,
                     SerializationNode& node) {
    for (std::size_t p = 0; p < points.size(); p++)
        node.setIntProperty(numbered(sign, p), points[p]);
    for (std::size_t p = 0; p < parameters.size(); p++)
        node.setDoubleProperty(numbered("param", p), parameters[p]);
}

void readConstraint(const SerializationNode& node, const ExpressionConstraintForce& force, std::vector<int>& points,
                    std::vector<double>& parameters) {
    const std::size_t numPoints = force.getPoints().number, numParameters = force.getNumPerConstraintParameters();
    if (node.getProperties().size() != numPoints + numParameters)
        throw OpenMMException("Malformed XML: a constraint of this " + force.getClassName() + " has " +
                              std::to_string(numPoints) + " " + force.getPoints().noun + "s and " +
                              std::to_string(numParameters) + " parameters, but a node '" + node.getName() + "' has " +
                              std::to_string(node.getProperties().size()) + " properties");
    points.resize(numPoints); // only now, when the file is known to have that many
    parameters.resize(numParameters);
    for (std::size_t p = 0; p < numPoints; p++)
        points[p] = readProperty<int>(node, numbered(force.getPoints().sign, p));
    for (std::size_t p = 0; p < numParameters; p++)
        parameters[p] = readProperty<double>(node, numbered("param", p));
}

} // namespace ConstraintPlugin
