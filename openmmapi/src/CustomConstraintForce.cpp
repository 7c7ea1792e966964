// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/CustomConstraintForce.h"
#include "ConstraintForceImpl.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/AssertionUtilities.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

CustomConstraintForce::CustomConstraintForce(int particlesPerConstraint, const string& expression)
    : particlesPerConstraint(particlesPerConstraint), expression(expression) {
    if (particlesPerConstraint < 1)
        throw OpenMMException("CustomConstraintForce \"" + expression +
                              "\": a constraint needs at least one particle, not " + to_string(particlesPerConstraint));
}

int CustomConstraintForce::addPerConstraintParameter(const string& name) {
    perConstraintParameters.push_back(name);
    return getNumPerConstraintParameters() - 1;
}

const string& CustomConstraintForce::getPerConstraintParameterName(int index) const {
    ASSERT_VALID_INDEX(index, perConstraintParameters);
    return perConstraintParameters[index];
}

void CustomConstraintForce::setPerConstraintParameterName(int index, const string& name) {
    ASSERT_VALID_INDEX(index, perConstraintParameters);
    perConstraintParameters[index] = name;
}

int CustomConstraintForce::addGlobalParameter(const string& name, double defaultValue) {
    globalParameters.push_back({name, defaultValue});
    return getNumGlobalParameters() - 1;
}

const string& CustomConstraintForce::getGlobalParameterName(int index) const {
    ASSERT_VALID_INDEX(index, globalParameters);
    return globalParameters[index].name;
}

void CustomConstraintForce::setGlobalParameterName(int index, const string& name) {
    ASSERT_VALID_INDEX(index, globalParameters);
    globalParameters[index].name = name;
}

double CustomConstraintForce::getGlobalParameterDefaultValue(int index) const {
    ASSERT_VALID_INDEX(index, globalParameters);
    return globalParameters[index].defaultValue;
}

void CustomConstraintForce::setGlobalParameterDefaultValue(int index, double defaultValue) {
    ASSERT_VALID_INDEX(index, globalParameters);
    globalParameters[index].defaultValue = defaultValue;
}

void CustomConstraintForce::checkSizes(const vector<int>& particles, const vector<double>& parameters) const {
    if ((int) particles.size() != particlesPerConstraint)
        throw OpenMMException("CustomConstraintForce \"" + expression + "\": a constraint has " +
                              to_string(particlesPerConstraint) + " particles, but " + to_string(particles.size()) +
                              " were given");
    if ((int) parameters.size() != getNumPerConstraintParameters())
        throw OpenMMException("CustomConstraintForce \"" + expression + "\": a constraint has " +
                              to_string(getNumPerConstraintParameters()) + " parameters, but " +
                              to_string(parameters.size()) + " were given (addPerConstraintParameter() comes first)");
}

int CustomConstraintForce::addConstraint(const vector<int>& particles, const vector<double>& parameters) {
    checkSizes(particles, parameters);
    constraints.push_back({particles, parameters});
    return getNumConstraints() - 1;
}

void CustomConstraintForce::getConstraintParameters(int index, vector<int>& particles,
                                                    vector<double>& parameters) const {
    ASSERT_VALID_INDEX(index, constraints);
    particles = constraints[index].particles;
    parameters = constraints[index].parameters;
}

void CustomConstraintForce::setConstraintParameters(int index, const vector<int>& particles,
                                                    const vector<double>& parameters) {
    ASSERT_VALID_INDEX(index, constraints);
    checkSizes(particles, parameters);
    constraints[index] = {particles, parameters};
}

int CustomConstraintForce::addTabulatedFunction(const string& name, TabulatedFunction* function) {
    if (function == nullptr)
        throw OpenMMException("CustomConstraintForce: the tabulated function \"" + name + "\" is a null pointer");
    functions.push_back({name, unique_ptr<TabulatedFunction>(function)});
    return getNumTabulatedFunctions() - 1;
}

const TabulatedFunction& CustomConstraintForce::getTabulatedFunction(int index) const {
    ASSERT_VALID_INDEX(index, functions);
    return *functions[index].function;
}

TabulatedFunction& CustomConstraintForce::getTabulatedFunction(int index) {
    ASSERT_VALID_INDEX(index, functions);
    return *functions[index].function;
}

const string& CustomConstraintForce::getTabulatedFunctionName(int index) const {
    ASSERT_VALID_INDEX(index, functions);
    return functions[index].name;
}

vector<double> CustomConstraintForce::getMultipliers(Context& context) const {
    return dynamic_cast<const ConstraintForceImpl&>(getImplInContext(context)).getMultipliers(getContextImpl(context));
}

void CustomConstraintForce::updateParametersInContext(Context& context) {
    dynamic_cast<ConstraintForceImpl&>(getImplInContext(context)).updateParametersInContext(getContextImpl(context));
}

ForceImpl* CustomConstraintForce::createImpl() const {
    map<string, double> defaults;
    for (const GlobalParameter& parameter : globalParameters)
        defaults[parameter.name] = parameter.defaultValue;
    return new ConstraintForceImpl(*this, defaults);
}

} // namespace ConstraintPlugin
