// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ExpressionChecks.h"
#include "lepton/ExpressionTreeNode.h"
#include "lepton/Operation.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

using namespace OpenMM;
using Lepton::ExpressionTreeNode;
using Lepton::Operation;
using Lepton::ParsedExpression;

namespace ConstraintPlugin {

namespace {

/** Lepton takes seconds for an expression of some hundred symbols, and a time that grows with the square. */
constexpr double maxSymbols = 5'000, maxDerivativeNodes = 50'000;
/** Parentheses inside parentheses. */
constexpr int deepest = 1'000;
/** Largest sum of the powers of ten of constant factors, near the range of a double. */
constexpr double maxDigits = 300;

std::string trimmed(const std::string& text) {
    const char* const spaces = " \t\n\v\f\r";
    const std::size_t first = text.find_first_not_of(spaces);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/** How many symbols a text has, where those that stand for something count as that. */
double countSymbols(const std::string& text, const std::map<std::string, double>& meanings) {
    const auto isOneOf = [&](std::size_t place, const char* characters) {
        return text[place] != 0 && std::strchr(characters, text[place]) != nullptr;
    };
    double count = 0;
    int depth = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t start = i++;
        if (std::isspace((unsigned char) text[start]))
            continue;
        if (text[start] == ')')
            depth--;
        if (isOneOf(start, "+-*/^,)(")) {
            if (text[start] == '(' && ++depth > deepest)
                throw OpenMMException("its parentheses are nested more than " + std::to_string(deepest) + " deep");
            count++;
            continue;
        }
        const bool isNumber = isOneOf(start, ".0123456789");
        while (i < text.size() && (isNumber ? isOneOf(i, ".0123456789eE")
                                            : !isOneOf(i, "+-*/^,)(") && !std::isspace((unsigned char) text[i])))
            i++;
        const auto meaning = meanings.find(text.substr(start, i - start));
        count += meaning == meanings.end() ? 1 : meaning->second;
    }
    return count;
}

std::string textOf(const ExpressionTreeNode& node) {
    std::ostringstream text;
    text << node;
    constexpr std::size_t longest = 200;
    return text.str().size() <= longest ? text.str() : text.str().substr(0, longest) + "...";
}

/** What is known of a part of an expression. */
struct Part {
    std::optional<double> value; ///< if it has no variable and is finite everywhere
    double digits = 0;           ///< of the product of constant factors on the way to its innermost part, at most
};

double digitsOf(double value) {
    return value == 0 ? 0 : std::abs(std::log10(std::abs(value)));
}

/** Examine a tree. What has no variable and is not finite, though its parts are, goes to `found`, and counts as a
 *  variable further on.
 *
 *  optimize() multiplies the constant factors on the way from a part to the whole. Where that overflows, a zero that
 *  it finds later makes it no number: so it is refused here. */
Part examine(const ExpressionTreeNode& node, const std::function<void(const ExpressionTreeNode&)>& found) {
    const Operation& operation = node.getOperation();
    const Operation::Id id = operation.getId();
    Part whole;
    bool hasValue = id != Operation::VARIABLE && id != Operation::CUSTOM;
    double factors = 0;
    std::vector<double> arguments;
    for (const ExpressionTreeNode& child : node.getChildren()) {
        const Part part = examine(child, found);
        whole.digits = std::max(whole.digits, part.digits);
        hasValue = hasValue && part.value.has_value();
        arguments.push_back(part.value.value_or(1));
        if (id == Operation::MULTIPLY || id == Operation::DIVIDE)
            factors += digitsOf(arguments.back());
    }
    if (hasValue) {
        const double value = operation.evaluate(arguments.data(), {});
        if (std::isfinite(value))
            return {value};
        found(node);
        return {};
    }
    if (const auto* product = dynamic_cast<const Operation::MultiplyConstant*>(&operation))
        factors += digitsOf(product->getValue());
    whole.digits += factors;
    if (whole.digits > maxDigits)
        throw OpenMMException("the constant factors in " + textOf(node) +
                              " are too large or too small: their powers of "
                              "ten add up to more than " +
                              std::to_string((int) maxDigits));
    return whole;
}

[[noreturn]] void refuseUndefined(const std::string& text) {
    throw OpenMMException("its part " + text + " is not a finite number");
}

/** A variable that stands for a constant which is not finite: equal to itself, as optimize() expects. With spaces, so
 *  that no expression can mention it. */
const std::string undefined = "not a finite number: ";

ExpressionTreeNode nameUndefined(const ExpressionTreeNode& node, const std::set<const ExpressionTreeNode*>& found) {
    if (found.count(&node) > 0)
        return ExpressionTreeNode(new Operation::Variable(undefined + textOf(node)));
    std::vector<ExpressionTreeNode> children;
    for (const ExpressionTreeNode& child : node.getChildren())
        children.push_back(nameUndefined(child, found));
    return ExpressionTreeNode(node.getOperation().clone(), children);
}

void refuseNamed(const ExpressionTreeNode& node) {
    const std::string& name = node.getOperation().getName();
    if (node.getOperation().getId() == Operation::VARIABLE && name.compare(0, undefined.size(), undefined) == 0)
        refuseUndefined(name.substr(undefined.size()));
    for (const ExpressionTreeNode& child : node.getChildren())
        refuseNamed(child);
}

struct Sizes {
    double own = 1, ofDerivative = 0; ///< in nodes
};

Sizes countNodes(const ExpressionTreeNode& node) {
    Sizes sizes;
    for (const ExpressionTreeNode& child : node.getChildren()) {
        const Sizes part = countNodes(child);
        sizes.own += part.own;
        sizes.ofDerivative += part.ofDerivative;
    }
    const Operation::Id id = node.getOperation().getId();
    const bool isLinear = id == Operation::ADD || id == Operation::SUBTRACT || id == Operation::ADD_CONSTANT ||
                          id == Operation::MULTIPLY_CONSTANT;
    sizes.ofDerivative += isLinear ? 1 : sizes.own * std::max<std::size_t>(1, node.getChildren().size());
    return sizes;
}

} // namespace

void checkLength(const std::string& expression) {
    // From the last definition to sigma: each may use those behind it.
    std::map<std::string, double> meanings;
    for (std::size_t end = expression.size();;) {
        const std::size_t separator = end == 0 ? std::string::npos : expression.find_last_of(';', end - 1);
        const std::size_t start = separator == std::string::npos ? 0 : separator + 1;
        const std::string part = expression.substr(start, end - start);
        const std::size_t equals = start == 0 ? std::string::npos : part.find('=');
        const double count = countSymbols(equals == std::string::npos ? part : part.substr(equals + 1), meanings);
        if (count > maxSymbols)
            throw OpenMMException("it is too long: it has more than " + std::to_string((int) maxSymbols) +
                                  " symbols, where each use of an intermediate value counts as its definition");
        if (start == 0)
            return;
        if (equals != std::string::npos)
            meanings[trimmed(part.substr(0, equals))] = count;
        end = separator;
    }
}

void checkConstants(const ParsedExpression& expression) {
    examine(expression.getRootNode(), [](const ExpressionTreeNode& node) { refuseUndefined(textOf(node)); });
}

void checkDerivative(const ParsedExpression& expression) {
    if (countNodes(expression.getRootNode()).ofDerivative > maxDerivativeNodes)
        throw OpenMMException("it is too deeply nested: its derivative would have more than " +
                              std::to_string((int) maxDerivativeNodes) + " terms");
}

ParsedExpression simplified(const ParsedExpression& derivative) {
    std::set<const ExpressionTreeNode*> found;
    examine(derivative.getRootNode(), [&](const ExpressionTreeNode& node) { found.insert(&node); });
    ParsedExpression result = ParsedExpression(nameUndefined(derivative.getRootNode(), found)).optimize();
    refuseNamed(result.getRootNode());
    return result;
}

} // namespace ConstraintPlugin
