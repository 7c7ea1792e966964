// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ExpressionConstraintForce.h"
#include "ConstraintForceImpl.h"
#include "ExpressionText.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/AssertionUtilities.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

ExpressionConstraintForce::ExpressionConstraintForce(string className, Points points, string expression)
    : className(std::move(className)), points(std::move(points)), expression(std::move(expression)) {
    if (this->points.number < 1)
        throw OpenMMException(this->className + " \"" + shortened(this->expression) +
                              "\": a constraint needs at least one " + this->points.noun + ", not " +
                              to_string(this->points.number));
}

int ExpressionConstraintForce::addPerConstraintParameter(const string& name) {
    perConstraintParameters.push_back(name);
    return getNumPerConstraintParameters() - 1;
}

const string& ExpressionConstraintForce::getPerConstraintParameterName(int index) const {
    ASSERT_VALID_INDEX(index, perConstraintParameters);
    return perConstraintParameters[index];
}

void ExpressionConstraintForce::setPerConstraintParameterName(int index, const string& name) {
    ASSERT_VALID_INDEX(index, perConstraintParameters);
    perConstraintParameters[index] = name;
}

int ExpressionConstraintForce::addGlobalParameter(const string& name, double defaultValue) {
    globalParameters.push_back({name, defaultValue});
    return getNumGlobalParameters() - 1;
}

const string& ExpressionConstraintForce::getGlobalParameterName(int index) const {
    ASSERT_VALID_INDEX(index, globalParameters);
    return globalParameters[index].name;
}

void ExpressionConstraintForce::setGlobalParameterName(int index, const string& name) {
    ASSERT_VALID_INDEX(index, globalParameters);
    globalParameters[index].name = name;
}

double ExpressionConstraintForce::getGlobalParameterDefaultValue(int index) const {
    ASSERT_VALID_INDEX(index, globalParameters);
    return globalParameters[index].defaultValue;
}

void ExpressionConstraintForce::setGlobalParameterDefaultValue(int index, double defaultValue) {
    ASSERT_VALID_INDEX(index, globalParameters);
    globalParameters[index].defaultValue = defaultValue;
}

void ExpressionConstraintForce::checkSizes(const vector<int>& given, const vector<double>& parameters) const {
    const string has = className + " \"" + shortened(expression) + "\": a constraint has ";
    if ((int) given.size() != points.number)
        throw OpenMMException(has + to_string(points.number) + " " + points.noun + "s, but " + to_string(given.size()) +
                              " were given");
    if ((int) parameters.size() != getNumPerConstraintParameters())
        throw OpenMMException(has + to_string(getNumPerConstraintParameters()) + " parameters, but " +
                              to_string(parameters.size()) + " were given (addPerConstraintParameter() comes first)");
}

int ExpressionConstraintForce::addPoints(const vector<int>& given, const vector<double>& parameters) {
    checkSizes(given, parameters);
    constraints.push_back({given, parameters});
    return getNumConstraints() - 1;
}

const ExpressionConstraintForce::ConstraintInfo& ExpressionConstraintForce::getConstraint(int index) const {
    ASSERT_VALID_INDEX(index, constraints);
    return constraints[index];
}

void ExpressionConstraintForce::setPoints(int index, const vector<int>& given, const vector<double>& parameters) {
    ASSERT_VALID_INDEX(index, constraints);
    checkSizes(given, parameters);
    constraints[index] = {given, parameters};
}

int ExpressionConstraintForce::addTabulatedFunction(const string& name, TabulatedFunction* function) {
    if (function == nullptr)
        throw OpenMMException(className + ": the tabulated function \"" + name + "\" is a null pointer");
    functions.push_back({name, unique_ptr<TabulatedFunction>(function)});
    return getNumTabulatedFunctions() - 1;
}

const TabulatedFunction& ExpressionConstraintForce::getTabulatedFunction(int index) const {
    ASSERT_VALID_INDEX(index, functions);
    return *functions[index].function;
}

TabulatedFunction& ExpressionConstraintForce::getTabulatedFunction(int index) {
    ASSERT_VALID_INDEX(index, functions);
    return *functions[index].function;
}

const string& ExpressionConstraintForce::getTabulatedFunctionName(int index) const {
    ASSERT_VALID_INDEX(index, functions);
    return functions[index].name;
}

vector<double> ExpressionConstraintForce::getMultipliers(Context& context) const {
    return dynamic_cast<const ConstraintForceImpl&>(getImplInContext(context)).getMultipliers(getContextImpl(context));
}

void ExpressionConstraintForce::updateParametersInContext(Context& context) {
    dynamic_cast<ConstraintForceImpl&>(getImplInContext(context)).updateParametersInContext(getContextImpl(context));
}

ForceImpl* ExpressionConstraintForce::createImpl() const {
    map<string, double> defaults;
    for (const GlobalParameter& parameter : globalParameters)
        defaults[parameter.name] = parameter.defaultValue;
    return new ConstraintForceImpl(*this, defaults);
}

} // namespace ConstraintPlugin
