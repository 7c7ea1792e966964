// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "KernelText.h"
#include "PointFunctions.h"
#include "openmm/OpenMMException.h"
#include <cmath>
#include <locale>
#include <sstream>

using namespace OpenMM;
using Lepton::Operation;

namespace ConstraintPlugin {

void KernelTables::add(const std::string& name, const TabulatedFunction& table,
                       const Lepton::CustomFunction& function) {
    Table entry;
    entry.offset = total;
    if (const auto* spline = dynamic_cast<const SplineFunction*>(&function)) {
        entry.spline = spline->getTable();
        total += (int) entry.spline->patches.size();
    } else {
        int size[3] = {};
        if (const auto* line = dynamic_cast<const Discrete1DFunction*>(&table)) {
            line->getFunctionParameters(entry.values);
            size[0] = (int) entry.values.size();
        } else if (const auto* plane = dynamic_cast<const Discrete2DFunction*>(&table))
            plane->getFunctionParameters(size[0], size[1], entry.values);
        else if (const auto* space = dynamic_cast<const Discrete3DFunction*>(&table))
            space->getFunctionParameters(size[0], size[1], size[2], entry.values);
        else
            throw OpenMMException("the table of " + name + " is of an unknown kind");
        entry.size.assign(size, size + function.getNumArguments());
        total += (int) entry.values.size();
    }
    order.push_back(name);
    tables[name] = std::move(entry);
}

std::vector<double> KernelTables::data() const {
    std::vector<double> all;
    for (const std::string& name : order) {
        const Table& table = tables.at(name);
        const std::vector<double>& values = table.spline == nullptr ? table.values : table.spline->patches;
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

namespace {

std::string number(double value) {
    if (std::isnan(value))
        return "((mixed) 0 / (mixed) 0)";
    if (std::isinf(value))
        return value > 0 ? "(1 / (mixed) 0)" : "(-1 / (mixed) 0)";
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(17);
    text << value;
    const bool isInteger = text.str().find_first_of(".e") == std::string::npos;
    return "(mixed) " + text.str() + (isInteger && std::abs(value) > 1e9 ? ".0" : ""); // an int holds no more
}

/** "{a, b, c}" */
template <class T, class Write>
std::string list(const std::vector<T>& items, Write write) {
    std::string text;
    for (const T& item : items)
        text += (text.empty() ? "{" : ", ") + write(item);
    return text + "}";
}

/** "custom" in "custom(a, b)" and the like: operations whose text is their name and arguments. */
const char* callOf(Operation::Id id) {
    switch (id) {
    case Operation::SQRT:
        return "sqrt";
    case Operation::EXP:
        return "exp";
    case Operation::LOG:
        return "log";
    case Operation::SIN:
        return "sin";
    case Operation::COS:
        return "cos";
    case Operation::TAN:
        return "tan";
    case Operation::ASIN:
        return "asin";
    case Operation::ACOS:
        return "acos";
    case Operation::ATAN:
        return "atan";
    case Operation::ATAN2:
        return "atan2";
    case Operation::SINH:
        return "sinh";
    case Operation::COSH:
        return "cosh";
    case Operation::TANH:
        return "tanh";
    case Operation::ERF:
        return "erf";
    case Operation::ERFC:
        return "erfc";
    case Operation::ABS:
        return "fabs";
    case Operation::FLOOR:
        return "floor";
    case Operation::CEIL:
        return "ceil";
    case Operation::POWER:
        return "power";
    default:
        return nullptr;
    }
}

class Writer {
public:
    Writer(const std::vector<std::string>& variables, const KernelTables& tables, bool takesImages)
        : names(variables), tables(tables), takesImages(takesImages) {
    }
    void write(const JointExpression::Step& step) {
        std::vector<std::string> arguments;
        for (int place : step.arguments)
            arguments.push_back(names[place]);
        const std::string name = "t" + std::to_string(step.result);
        const std::string value = step.operation->getId() == Operation::CUSTOM
                                      ? function(static_cast<const Operation::Custom&>(*step.operation), arguments)
                                      : formula(*step.operation, arguments);
        line("const mixed " + name + " = " + value);
        names.push_back(name);
    }
    const std::string& nameOf(int place) const {
        return names[place];
    }
    std::string text;

private:
    void line(const std::string& statement) {
        text += "    " + statement + ";\n";
    }
    std::string newName(const std::string& letter) {
        return letter + std::to_string(numNames++);
    }
    std::string formula(const Operation& operation, const std::vector<std::string>& arguments) const;
    std::string function(const Operation::Custom& operation, const std::vector<std::string>& arguments);
    std::string pointFunction(const PointFunction::Meaning& meaning, const std::vector<int>& order,
                              const std::vector<std::string>& arguments);
    std::string vectorOf(const std::string* components);
    std::string differences(const std::string& letter, const std::vector<std::string>& points, bool images);

    std::vector<std::string> names; // by place
    const KernelTables& tables;
    bool takesImages;
    int numNames = 0;
    std::map<std::vector<std::string>, std::string> known; // arrays and vectors, by what they are made of
};

/** As Lepton's Operation::evaluate() of each. */
std::string Writer::formula(const Operation& operation, const std::vector<std::string>& arguments) const {
    const Operation::Id id = operation.getId();
    const std::string a = arguments.empty() ? "" : arguments[0], b = arguments.size() > 1 ? arguments[1] : "";
    if (const char* call = callOf(id))
        return std::string(call) + "(" + a + (b.empty() ? "" : ", " + b) + ")";
    switch (id) {
    case Operation::CONSTANT:
        return number(dynamic_cast<const Operation::Constant&>(operation).getValue());
    case Operation::ADD:
        return a + " + " + b;
    case Operation::SUBTRACT:
        return a + " - " + b;
    case Operation::MULTIPLY:
        return a + " * " + b;
    case Operation::DIVIDE:
        return a + " / " + b;
    case Operation::NEGATE:
        return "-" + a;
    case Operation::SEC:
        return "1 / cos(" + a + ")";
    case Operation::CSC:
        return "1 / sin(" + a + ")";
    case Operation::COT:
        return "1 / tan(" + a + ")";
    case Operation::STEP:
        return a + " >= 0 ? 1 : 0";
    case Operation::DELTA:
        return a + " == 0 ? 1 : 0";
    case Operation::SQUARE:
        return a + " * " + a;
    case Operation::CUBE:
        return a + " * " + a + " * " + a;
    case Operation::RECIPROCAL:
        return "1 / " + a;
    case Operation::ADD_CONSTANT:
        return a + " + " + number(dynamic_cast<const Operation::AddConstant&>(operation).getValue());
    case Operation::MULTIPLY_CONSTANT:
        return a + " * " + number(dynamic_cast<const Operation::MultiplyConstant&>(operation).getValue());
    case Operation::POWER_CONSTANT: {
        const double exponent = dynamic_cast<const Operation::PowerConstant&>(operation).getValue();
        if (std::abs(exponent) < 1e9 && exponent == std::floor(exponent))
            return "integerPower(" + a + ", " + std::to_string((int) exponent) + ")";
        return "power(" + a + ", " + number(exponent) + ")";
    }
    case Operation::MIN: // of std::min and std::max, also where an argument is not a number
        return b + " < " + a + " ? " + b + " : " + a;
    case Operation::MAX:
        return a + " < " + b + " ? " + b + " : " + a;
    case Operation::SELECT:
        return a + " != 0 ? " + b + " : " + arguments[2];
    default:
        throw OpenMMException("no kernel text for the operation " + operation.getName());
    }
}

std::string Writer::function(const Operation::Custom& operation, const std::vector<std::string>& arguments) {
    const std::string name = operation.getName();
    if (const auto meaning = PointFunction::find(name))
        return pointFunction(*meaning, operation.getDerivOrder(), arguments);
    const KernelTables::Table& table = tables.get(name);
    const std::string start = "tables + " + std::to_string(table.offset);
    const auto ofInt = [](int i) { return std::to_string(i); };
    const auto asItIs = [](const std::string& text) { return text; };
    if (table.spline == nullptr) {
        std::string place; // first axis fastest
        for (int axis = (int) table.size.size() - 1; axis >= 0; axis--) {
            const std::string size = ofInt(table.size[axis]), own = "discretePlace(" + arguments[axis] + ", " + size;
            place = place.empty() ? own + ")" : own + ") + " + size + " * (" + place + ")";
        }
        return "tables[" + ofInt(table.offset) + " + " + place + "]";
    }
    const SplineFunction::Table& spline = *table.spline;
    const std::string n = ofInt((int) spline.size.size()), at = newName("at"), own = at.substr(2);
    line("const mixed " + at + "[] = " + list(arguments, asItIs) + ", low" + own + "[] = " + list(spline.low, number) +
         ", high" + own + "[] = " + list(spline.high, number));
    line("const int order" + own + "[] = " + list(operation.getDerivOrder(), ofInt) + ", size" + own +
         "[] = " + list(spline.size, ofInt));
    return "spline(" + start + ", " + n + ", " + at + ", order" + own + ", size" + own + ", low" + own + ", high" +
           own + ", " + ofInt(spline.periodic) + ")";
}

/** The vector of three components. */
std::string Writer::vectorOf(const std::string* components) {
    const std::string& first = components[0];
    std::string vector = first.substr(0, first.find_last_of('.'));
    if (first == vector + ".x" && components[1] == vector + ".y" && components[2] == vector + ".z")
        return vector;
    std::string& name = known[{"vector", first, components[1], components[2]}];
    if (name.empty()) {
        name = newName("p");
        line("mixed3 " + name);
        for (int axis = 0; axis < 3; axis++)
            line(name + "." + "xyz"[axis] + " = " + components[axis]);
    }
    return name;
}

/** An array of the differences of successive points: bond vectors or their rates. */
std::string Writer::differences(const std::string& letter, const std::vector<std::string>& points, bool images) {
    std::vector<std::string> key = points;
    key.push_back(letter);
    if (known.count(key) > 0)
        return known[key];
    std::vector<std::string> vectors, bonds;
    for (std::size_t i = 0; i < points.size(); i += 3)
        vectors.push_back(vectorOf(&points[i]));
    for (std::size_t s = 0; s + 1 < vectors.size(); s++) {
        const std::string difference = vectors[s] + " - " + vectors[s + 1];
        bonds.push_back(images ? "nearestImage(" + difference + ", stepState)" : difference);
    }
    const std::string name = newName(letter);
    line("const mixed3 " + name + "[] = " + list(bonds, [](const std::string& bond) { return bond; }));
    return known[key] = name;
}

std::string Writer::pointFunction(const PointFunction::Meaning& meaning, const std::vector<int>& order,
                                  const std::vector<std::string>& arguments) {
    const std::string kind = traitsOf(meaning.kind).name;
    const int numPoints = numParticlesOf(meaning.kind), numBonds = numPoints - 1;
    const std::vector<std::string> points(arguments.begin(), arguments.begin() + 3 * numPoints);
    const std::string bonds = differences("b", points, takesImages);
    std::string rates;
    if (meaning.result != PointFunction::Result::Value)
        rates = differences("V", {arguments.begin() + 3 * numPoints, arguments.end()}, false);
    if (meaning.result == PointFunction::Result::Curvature)
        return kind + "Curvature(" + bonds + ", " + rates + ")";

    std::string& q = known[{kind, bonds}]; // and its gradient, of a like name
    if (q.empty()) {
        q = newName("q");
        line("mixed3 G" + q + "[" + std::to_string(numBonds) + "]");
        line("const mixed " + q + " = " + kind + "Coordinate(" + bonds + ", G" + q + ")");
    }
    const auto G = [&](int s) { return "G" + q + "[" + std::to_string(s) + "]"; };
    if (meaning.result == PointFunction::Result::Rate) {
        std::string sum;
        for (int s = 0; s < numBonds; s++)
            sum += (s > 0 ? " + dot(" : "dot(") + G(s) + ", " + rates + "[" + std::to_string(s) + "])";
        return sum;
    }
    for (int i = 0; i < (int) order.size(); i++)
        if (order[i] > 0) { // d/dx_s = d/db_s - d/db_(s-1)
            const int s = i / 3;
            const std::string axis = {'.', "xyz"[i % 3]};
            const std::string own = s < numBonds ? G(s) + axis : "";
            return s == 0 ? own : own + (own.empty() ? "-" : " - ") + G(s - 1) + axis;
        }
    return q;
}

} // namespace

std::string writeKernelText(const JointExpression& expression, const std::vector<std::string>& variables,
                            const KernelTables& tables, bool takesImages, std::vector<std::string>& results) {
    Writer writer(variables, tables, takesImages);
    for (const JointExpression::Step& step : expression.getSteps())
        writer.write(step);
    results.clear();
    for (int place : expression.getOutputs())
        results.push_back(writer.nameOf(place));
    return writer.text;
}

} // namespace ConstraintPlugin
