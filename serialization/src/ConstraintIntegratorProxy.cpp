// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintIntegratorProxy.h"
#include <utility>

using namespace OpenMM;

namespace ConstraintPlugin {

// Solvers are written by name, so that files are readable.
static const std::pair<ConstraintIntegrator::Solver, const char*> SolverNames[] = {
    {ConstraintIntegrator::Automatic, "Automatic"},
    {ConstraintIntegrator::Iterative, "Iterative"},
    {ConstraintIntegrator::MatrixInversion, "MatrixInversion"},
};

void writeShared(const ConstraintIntegrator& integrator, SerializationNode& node) {
    node.setDoubleProperty("stepSize", integrator.getStepSize());
    node.setDoubleProperty("constraintTolerance", integrator.getConstraintTolerance());
    for (const auto& [solver, name] : SolverNames)
        if (solver == integrator.getSolver())
            node.setStringProperty("solver", name);
    node.setIntProperty("maxIterations", integrator.getMaxIterations());
    node.setBoolProperty("warmStart", integrator.getWarmStart());
    node.setDoubleProperty("maxProjection", integrator.getMaxProjection());
    node.setIntProperty("integrationForceGroups", integrator.getIntegrationForceGroups());
}

void readShared(ConstraintIntegrator& integrator, const SerializationNode& node) {
    integrator.setConstraintTolerance(readProperty<double>(node, "constraintTolerance"));
    integrator.setMaxIterations(readProperty<int>(node, "maxIterations"));
    integrator.setWarmStart(readProperty<bool>(node, "warmStart"));
    if (node.hasProperty("maxProjection")) // not in files of version 0.1
        integrator.setMaxProjection(readProperty<double>(node, "maxProjection"));
    integrator.setIntegrationForceGroups(readProperty<int>(node, "integrationForceGroups"));
    const std::string wanted = node.getStringProperty("solver");
    for (const auto& [solver, name] : SolverNames)
        if (wanted == name) {
            integrator.setSolver(solver);
            return;
        }
    throw OpenMMException("Malformed XML: property 'solver' of node '" + node.getName() + "' is \"" + wanted +
                          "\"; expected Automatic, Iterative or MatrixInversion");
}

} // namespace ConstraintPlugin
