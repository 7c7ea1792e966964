// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LeptonCoordinate.h"
#include "ExpressionChecks.h"
#include "ExpressionText.h"
#include "Motion.h"
#include "PointFunctions.h"
#include "SplineFunction.h"
#include "lepton/CustomFunction.h"
#include "lepton/ExpressionTreeNode.h"
#include "lepton/Parser.h"
#include "openmm/CustomCentroidBondForce.h"
#include "openmm/CustomCompoundBondForce.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/CustomCentroidBondForceImpl.h"
#include "openmm/internal/CustomCompoundBondForceImpl.h"
#include "openmm/reference/ReferenceTabulatedFunction.h"
#include <deque>
#include <functional>
#include <set>

using namespace OpenMM;
using Lepton::ExpressionTreeNode;
using Lepton::Operation;
using Lepton::ParsedExpression;

namespace ConstraintPlugin {

namespace {

using Functions = std::map<std::string, std::unique_ptr<Lepton::CustomFunction>>;

/** "x1", "y1", "z1", "x2", ... */
std::vector<std::string> coordinateNames(int numParticles) {
    std::vector<std::string> names;
    for (int p = 1; p <= numParticles; p++)
        for (const char* axis : {"x", "y", "z"})
            names.push_back(axis + std::to_string(p));
    return names;
}

/** The velocity of a coordinate, as a variable. With a space, so that no expression can mention it. */
std::string rateName(const std::string& coordinate) {
    return "rate of " + coordinate;
}

void visit(const ExpressionTreeNode& node, const std::function<void(const Operation&)>& visitor) {
    visitor(node.getOperation());
    for (const ExpressionTreeNode& child : node.getChildren())
        visit(child, visitor);
}

/** Whether a variable or a function of one of these names does. */
bool occurs(const ParsedExpression& expression, Operation::Id id, const std::set<std::string>& names) {
    bool found = false;
    visit(expression.getRootNode(), [&](const Operation& operation) {
        found = found || (operation.getId() == id && names.count(operation.getName()) > 0);
    });
    return found;
}

bool hasVariable(const ParsedExpression& expression, const std::set<std::string>& names) {
    return occurs(expression, Operation::VARIABLE, names);
}

/** Tabulated functions by name; the discrete ones' names besides. */
Functions createFunctions(const ExpressionConstraintForce& force, const Box& box, std::set<std::string>& discrete) {
    Functions functions;
    for (int i = 0; i < force.getNumTabulatedFunctions(); i++) {
        const std::string& name = force.getTabulatedFunctionName(i);
        const TabulatedFunction& table = force.getTabulatedFunction(i);
        try {
            functions[name] = SplineFunction::create(table);
            if (functions[name] == nullptr) {
                functions[name].reset(createReferenceTabulatedFunction(table));
                discrete.insert(name);
            }
        } catch (const OpenMMException& error) {
            throw OpenMMException("the table of " + name + ": " + error.what());
        }
    }
    // As in OpenMM, these functions take precedence over a table of the same name.
    const Box* const images = force.usesPeriodicBoundaryConditions() ? &box : nullptr;
    for (CoordinateKind kind : listedKinds) {
        const PointFunction::Meaning meaning{kind, PointFunction::Result::Value};
        const std::string name = PointFunction::nameOf(meaning);
        functions[name] = std::make_unique<PointFunction>(meaning, images);
        discrete.erase(name);
    }
    return functions;
}

/** OpenMM's own Force with the same parameters, for its parser. */
template <class Model>
Model withParameters(Model model, const ExpressionConstraintForce& force) {
    model.addGlobalParameter("t", 0);
    for (int i = 0; i < force.getNumPerConstraintParameters(); i++)
        model.addPerBondParameter(force.getPerConstraintParameterName(i));
    for (int i = 0; i < force.getNumGlobalParameters(); i++)
        model.addGlobalParameter(force.getGlobalParameterName(i), 0);
    return model;
}

/** Before OpenMM parses and optimizes it: see ExpressionChecks.h. */
void checkExpression(const std::string& expression, std::map<std::string, Lepton::CustomFunction*> functions) {
    checkLength(expression);
    std::deque<Lepton::PlaceholderFunction> ofParticles; // not of points
    for (CoordinateKind kind : listedKinds)
        functions[traitsOf(kind).name] = &ofParticles.emplace_back(numParticlesOf(kind));
    const ParsedExpression parsed = Lepton::Parser::parse(expression, functions);
    checkConstants(parsed);
    checkDerivative(parsed);
}

} // namespace

LeptonCoordinate::LeptonCoordinate(const ExpressionConstraintForce& force)
    : expression(force.getExpression()), forceName(force.getClassName()), points(force.getPoints()),
      numParticles(points.number), numPerConstraint(force.getNumPerConstraintParameters()),
      takesImages(force.usesPeriodicBoundaryConditions()) {
    constexpr int maxParticles = 10'000;
    if (numParticles > maxParticles)
        refuse("a constraint has " + std::to_string(numParticles) + " " + points.noun + "s, but at most " +
               std::to_string(maxParticles) + " are possible");
    nameVariables(force);
    parse(force);
    for (int i = 0; i < force.getNumGlobalParameters(); i++) {
        const std::string& name = force.getGlobalParameterName(i);
        const int place = variables.at(name);
        values[place] = force.getGlobalParameterDefaultValue(i);
        if (hasVariable(parsed, {name})) {
            globalNames.push_back(name);
            globalPlaces.push_back(place);
        }
    }
}

void LeptonCoordinate::refuse(const std::string& why) const {
    throw OpenMMException(forceName + " \"" + shortened(expression) + "\": " + why);
}

std::string LeptonCoordinate::describe() const {
    return shortened(expression);
}

std::string LeptonCoordinate::knownVariables() const {
    const std::string last = std::to_string(numParticles);
    std::string text = "the coordinates x1, y1, z1" +
                       (numParticles > 1 ? " to x" + last + ", y" + last + ", z" + last : std::string()) +
                       ", the time t and ";
    const std::string coordinatesAndTime = text;
    for (const auto& [name, place] : variables)
        if (place >= parameterPlace && place < ratePlace)
            text += (text == coordinatesAndTime ? "the parameters " : ", ") + name;
    return text == coordinatesAndTime ? text + "no parameters" : text;
}

void LeptonCoordinate::nameVariables(const ExpressionConstraintForce& force) {
    const std::vector<std::string> coordinates = coordinateNames(numParticles);
    for (const std::string& name : coordinates)
        variables.emplace(name, (int) variables.size());
    timePlace = (int) variables.size();
    variables.emplace("t", timePlace);
    parameterPlace = timePlace + 1;
    std::set<std::string> particles;
    for (int p = 1; p <= numParticles; p++)
        particles.insert(points.sign + std::to_string(p));
    auto add = [&](const std::string& name) {
        if (particles.count(name) > 0)
            refuse("a parameter cannot be called " + name + ", which is a " + points.noun);
        if (variables.count(name) > 0)
            refuse(variables[name] < parameterPlace ? "a parameter cannot be called " + name + ", which is a variable"
                                                    : "two parameters are called " + name);
        variables.emplace(name, (int) variables.size());
    };
    for (int i = 0; i < force.getNumPerConstraintParameters(); i++)
        add(force.getPerConstraintParameterName(i));
    for (int i = 0; i < force.getNumGlobalParameters(); i++)
        add(force.getGlobalParameterName(i));
    ratePlace = (int) variables.size();
    for (std::size_t i = 0; i < coordinates.size(); i++)
        variables[rateName(coordinates[i])] = ratePlace + (int) i;
    values.resize(ratePlace + coordinates.size());
    results.resize(1 + coordinates.size());
    std::set<std::string> tables;
    for (int i = 0; i < force.getNumTabulatedFunctions(); i++)
        if (!tables.insert(force.getTabulatedFunctionName(i)).second)
            refuse("two tabulated functions are called " + force.getTabulatedFunctionName(i));
}

void LeptonCoordinate::parse(const ExpressionConstraintForce& force) {
    try {
        const Functions owned = createFunctions(force, box, discrete);
        std::map<std::string, Lepton::CustomFunction*> functions;
        for (const auto& function : owned)
            functions[function.first] = function.second.get();
        checkExpression(expression, functions);
        // OpenMM's own parser for expressions in particles makes distance(p1, p2) pointdistance(x1, y1, ...).
        if (points.sign == "g")
            parsed = CustomCentroidBondForceImpl::prepareExpression(
                withParameters(CustomCentroidBondForce(numParticles, expression), force), functions);
        else
            parsed = CustomCompoundBondForceImpl::prepareExpression(
                withParameters(CustomCompoundBondForce(numParticles, expression), force), functions);
        for (int i = 0; i < force.getNumTabulatedFunctions(); i++) {
            const std::string& name = force.getTabulatedFunctionName(i);
            if (occurs(parsed, Operation::CUSTOM, {name}) && !PointFunction::find(name))
                tables.add(name, force.getTabulatedFunction(i), *functions[name]);
        }
    } catch (const std::exception& error) {
        std::string why = error.what();
        const std::string prefixes[] = {"CustomCompoundBondForce: ", "CustomCentroidBondForce: ",
                                        "Parse error in expression \"" + expression + "\": "};
        for (const std::string& prefix : prefixes)
            if (why.compare(0, prefix.size(), prefix) == 0)
                why.erase(0, prefix.size());
        if (why.compare(0, 16, "Unknown variable") == 0)
            why += ". There are " + knownVariables();
        const std::string sigma = expression.substr(0, expression.find(';'));
        if (sigma.find('=') != std::string::npos)
            why += ". Give sigma itself; that it equals zero is understood";
        refuse(why);
    }
    const std::vector<std::string> coordinates = coordinateNames(numParticles);
    if (!hasVariable(parsed, {coordinates.begin(), coordinates.end()}))
        refuse("it depends on the position of no " + points.noun);
    std::vector<ParsedExpression> joint = {parsed};
    bool isConstant = true;
    for (const std::string& name : coordinates) {
        joint.push_back(differentiate(name));
        isConstant = isConstant && isZero(joint.back().getRootNode());
    }
    if (isConstant)
        refuse("its derivatives with respect to all coordinates vanish everywhere, so that no force can keep it");
    timeOccurs = hasVariable(parsed, {"t"});
    const ParsedExpression inTime = differentiate("t");
    joint.push_back(inTime);
    for (const ParsedExpression& derivative : joint)
        refuseDiscrete(derivative, "; its arguments may depend on parameters only");
    joint.pop_back();
    sigmaAndGradient = std::make_unique<JointExpression>(joint, variables);
    rate = std::make_unique<JointExpression>(std::vector<ParsedExpression>{inTime}, variables);
}

ParsedExpression LeptonCoordinate::differentiate(const std::string& name) const {
    try {
        return simplified(parsed.differentiate(name));
    } catch (const OpenMMException& error) {
        refuse("in its derivative with respect to " + name + ", " + error.what());
    }
}

void LeptonCoordinate::refuseDiscrete(const ParsedExpression& derivative, const char* remedy) const {
    visit(derivative.getRootNode(), [&](const Operation& operation) {
        const auto* function = dynamic_cast<const Operation::Custom*>(&operation);
        if (function == nullptr || discrete.count(function->getName()) == 0)
            return;
        for (int order : function->getDerivOrder())
            if (order > 0)
                refuse("the discrete function " + function->getName() + " has no derivative" + remedy);
    });
}

void LeptonCoordinate::setValues(const Real3* x, const double* parameters, const StepState& stepState) {
    for (int p = 0; p < numParticles; p++) {
        values[3 * p] = x[p].x;
        values[3 * p + 1] = x[p].y;
        values[3 * p + 2] = x[p].z;
    }
    values[timePlace] = stepState.time;
    std::copy(parameters, parameters + numPerConstraint, values.begin() + parameterPlace);
    box = stepState.box;
}

double LeptonCoordinate::evaluate(const Real3* x, const double* parameters, const StepState& stepState,
                                  Real3* gradient) {
    setValues(x, parameters, stepState);
    sigmaAndGradient->evaluate(values.data(), results.data());
    for (int p = 0; p < numParticles; p++)
        gradient[p] = {results[3 * p + 1], results[3 * p + 2], results[3 * p + 3]};
    return results[0];
}

double LeptonCoordinate::timeDerivative(const Real3* x, const double* parameters, const StepState& stepState) {
    setValues(x, parameters, stepState);
    double result;
    rate->evaluate(values.data(), &result);
    return result;
}

std::vector<double> LeptonCoordinate::globalDerivatives(const Real3* x, const double* parameters,
                                                        const StepState& stepState) {
    if (byGlobals == nullptr) { // few ask for it
        std::vector<ParsedExpression> derivatives;
        for (const std::string& name : globalNames) {
            derivatives.push_back(differentiate(name));
            refuseDiscrete(derivatives.back(), (", so neither has the free energy with respect to " + name).c_str());
        }
        byGlobals = std::make_unique<JointExpression>(derivatives, variables);
    }
    setValues(x, parameters, stepState);
    std::vector<double> derivatives(globalNames.size());
    byGlobals->evaluate(values.data(), derivatives.data());
    return derivatives;
}

const JointExpression& LeptonCoordinate::secondDerivative() {
    if (second == nullptr) { // few ask for it
        std::map<std::string, ExpressionTreeNode> rates;
        for (const std::string& name : coordinateNames(numParticles))
            rates.emplace(name, ExpressionTreeNode(new Operation::Variable(rateName(name))));
        rates.emplace("t", ExpressionTreeNode(new Operation::Constant(1)));
        const Motion motion(std::move(rates), takesImages ? &box : nullptr);
        try {
            second = std::make_unique<JointExpression>(
                std::vector<ParsedExpression>{motion.rateOf(motion.rateOf(parsed))}, variables);
        } catch (const OpenMMException& error) {
            refuse(std::string("in its second derivative, ") + error.what());
        }
    }
    return *second;
}

double LeptonCoordinate::curvature(const Real3* x, const Real3* v, const double* parameters,
                                   const StepState& stepState) {
    secondDerivative();
    setValues(x, parameters, stepState);
    for (int p = 0; p < numParticles; p++) {
        values[ratePlace + 3 * p] = v[p].x;
        values[ratePlace + 3 * p + 1] = v[p].y;
        values[ratePlace + 3 * p + 2] = v[p].z;
    }
    double result;
    second->evaluate(values.data(), &result);
    return result;
}

void LeptonCoordinate::addInternalVirial(const Real3* x, const double* parameters, const StepState& stepState,
                                         double factor, double* tensor) {
    std::vector<Real3> separations, gradient(numParticles);
    for (int p = 0; p < numParticles; p++)
        separations.push_back(x[p] - x[0]);
    auto component = [](auto& v, int axis) -> auto& {
        return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
    };
    if (!takesImages) {
        evaluate(separations.data(), parameters, stepState, gradient.data());
        for (int p = 0; p < numParticles; p++)
            for (int i = 0; i < 9; i++)
                tensor[i] += factor * component(separations[p], i / 3) * component(gradient[p], i % 3);
        return;
    }
    // Only the functions in the expression know which images they use. If positions and box are strained together, the
    // images stay the same, so d sigma/d strain is computed by a finite difference of fourth order.
    for (int i = 0; i < 9; i++) {
        auto atStrain = [&](double strain) {
            auto strained = [&](Real3 v) {
                component(v, i % 3) += strain * component(v, i / 3);
                return v;
            };
            std::vector<Real3> moved;
            for (const Real3& r : separations)
                moved.push_back(strained(r));
            const Box& box = stepState.box;
            return evaluate(moved.data(), parameters,
                            {stepState.time, {strained(box.a), strained(box.b), strained(box.c)}}, gradient.data());
        };
        constexpr double h = 1e-4;
        tensor[i] += factor * (8 * (atStrain(h) - atStrain(-h)) - (atStrain(2 * h) - atStrain(-2 * h))) / (12 * h);
    }
}

std::vector<double> LeptonCoordinate::getGlobals() const {
    std::vector<double> result;
    for (int place : globalPlaces)
        result.push_back(values[place]);
    return result;
}

bool LeptonCoordinate::setGlobals(const std::vector<double>& given) {
    bool changed = false;
    for (std::size_t i = 0; i < globalPlaces.size(); i++) {
        double& value = values[globalPlaces[i]];
        changed = changed || value != given[i];
        value = given[i];
    }
    return changed;
}

std::string LeptonCoordinate::body(const JointExpression& derivatives, std::vector<std::string>& results) const {
    std::vector<std::string> names(values.size());
    const auto element = [](const char* array, std::size_t i) { return array + ("[" + std::to_string(i) + "]"); };
    for (int i = 0; i < 3 * numParticles; i++) {
        const std::string axis = {'.', "xyz"[i % 3]};
        names[i] = element("x", i / 3) + axis;
        names[ratePlace + i] = element("v", i / 3) + axis;
    }
    names[timePlace] = "stepState.time";
    for (std::size_t i = 0; i < numPerConstraint; i++)
        names[parameterPlace + i] = element("parameters", i);
    for (std::size_t i = 0; i < globalPlaces.size(); i++)
        names[globalPlaces[i]] = element("globals", i);
    return writeKernelText(derivatives, names, tables, takesImages, results);
}

static const char* const sharedArguments =
    "GLOBAL const mixed* parameters, GLOBAL const mixed* globals, GLOBAL const mixed* tables, StepState stepState";

std::string LeptonCoordinate::kernelText(const std::string& name) {
    std::vector<std::string> results;
    std::string text = "DEVICE mixed " + name + "(const mixed3* x, " + sharedArguments + ", mixed3* gradient) {\n";
    text += body(*sigmaAndGradient, results);
    for (int i = 0; i < 3 * numParticles; i++)
        text += "    gradient[" + std::to_string(i / 3) + "]." + "xyz"[i % 3] + " = " + results[1 + i] + ";\n";
    text += "    return " + results[0] + ";\n}\n\n";
    text += "DEVICE mixed " + name + "Rate(const mixed3* x, " + sharedArguments + ") {\n";
    text += body(*rate, results);
    return text + "    return " + results[0] + ";\n}\n\n";
}

std::string LeptonCoordinate::curvatureKernelText(const std::string& name) {
    std::vector<std::string> results;
    std::string text =
        "DEVICE mixed " + name + "Curvature(const mixed3* x, const mixed3* v, " + sharedArguments + ") {\n";
    text += body(secondDerivative(), results);
    return text + "    return " + results[0] + ";\n}\n\n";
}

} // namespace ConstraintPlugin
