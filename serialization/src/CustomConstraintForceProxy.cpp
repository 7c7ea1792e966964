// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CustomConstraintForceProxy.h"
#include "StrictNode.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include <memory>

using namespace OpenMM;

namespace ConstraintPlugin {

static const int Version = 1;

/** "p1", "p2", ... for particles, "param1", ... for parameters, as CustomCompoundBondForce writes them. */
static std::string numbered(const char* prefix, std::size_t index) {
    return prefix + std::to_string(index + 1);
}

void CustomConstraintForceProxy::serialize(const void* object, SerializationNode& node) const {
    const CustomConstraintForce& force = *static_cast<const CustomConstraintForce*>(object);
    node.setIntProperty("version", Version);
    node.setIntProperty("forceGroup", force.getForceGroup());
    node.setStringProperty("name", force.getName());
    node.setBoolProperty("usesPeriodic", force.usesPeriodicBoundaryConditions());
    node.setIntProperty("particles", force.getNumParticlesPerConstraint());
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
    SerializationNode& constraints = node.createChildNode("Constraints");
    std::vector<int> particles;
    std::vector<double> parameters;
    for (int i = 0; i < force.getNumConstraints(); i++) {
        force.getConstraintParameters(i, particles, parameters);
        SerializationNode& constraint = constraints.createChildNode("Constraint");
        for (std::size_t p = 0; p < particles.size(); p++)
            constraint.setIntProperty(numbered("p", p), particles[p]);
        for (std::size_t p = 0; p < parameters.size(); p++)
            constraint.setDoubleProperty(numbered("param", p), parameters[p]);
    }
}

/** decodeObject() believes that a node of any type is of the wanted one. */
static std::unique_ptr<TabulatedFunction> readTable(const SerializationNode& node) {
    const std::string type = node.getStringProperty("type");
    for (const char* known : {"Continuous1DFunction", "Continuous2DFunction", "Continuous3DFunction",
                              "Discrete1DFunction", "Discrete2DFunction", "Discrete3DFunction"})
        if (type == known)
            return std::unique_ptr<TabulatedFunction>(node.decodeObject<TabulatedFunction>());
    throw OpenMMException("Malformed XML: a " + type +
                          " stands among the tabulated functions of a "
                          "CustomConstraintForce");
}

void* CustomConstraintForceProxy::deserialize(const SerializationNode& node) const {
    requireVersion(node, getTypeName(), Version);
    auto force = std::make_unique<CustomConstraintForce>(readProperty<int>(node, "particles"),
                                                         node.getStringProperty("expression"));
    force->setForceGroup(readProperty<int>(node, "forceGroup"));
    force->setName(node.getStringProperty("name"));
    force->setUsesPeriodicBoundaryConditions(readProperty<bool>(node, "usesPeriodic"));
    for (const SerializationNode& parameter : node.getChildNode("PerConstraintParameters").getChildren())
        force->addPerConstraintParameter(parameter.getStringProperty("name"));
    for (const SerializationNode& parameter : node.getChildNode("GlobalParameters").getChildren())
        force->addGlobalParameter(parameter.getStringProperty("name"), readProperty<double>(parameter, "default"));
    for (const SerializationNode& function : node.getChildNode("Functions").getChildren()) {
        const std::string& name = function.getStringProperty("name");
        force->addTabulatedFunction(name, readTable(function).release());
    }
    const std::size_t numParticles = force->getNumParticlesPerConstraint();
    std::vector<int> particles;
    std::vector<double> parameters(force->getNumPerConstraintParameters());
    for (const SerializationNode& constraint : node.getChildNode("Constraints").getChildren()) {
        if (constraint.getProperties().size() != numParticles + parameters.size())
            throw OpenMMException("Malformed XML: a constraint of this CustomConstraintForce has " +
                                  std::to_string(numParticles) + " particles and " + std::to_string(parameters.size()) +
                                  " parameters, but a node '" + constraint.getName() + "' has " +
                                  std::to_string(constraint.getProperties().size()) + " properties");
        particles.resize(numParticles); // only now, when the file is known to have that many
        for (std::size_t p = 0; p < numParticles; p++)
            particles[p] = readProperty<int>(constraint, numbered("p", p));
        for (std::size_t p = 0; p < parameters.size(); p++)
            parameters[p] = readProperty<double>(constraint, numbered("param", p));
        force->addConstraint(particles, parameters);
    }
    return force.release();
}

} // namespace ConstraintPlugin
