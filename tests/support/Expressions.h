// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_EXPRESSIONS_H_
#define CONSTRAINTS_TESTS_EXPRESSIONS_H_

#include "openmm/TabulatedFunction.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ConstraintTests {

using Named = std::vector<std::pair<std::string, double>>;

/** An expression, its particles and its parameters. */
struct Sigma {
    std::string name;
    int numParticles;
    std::string expression;
    Named parameters = {}, globals = {};
    bool periodic = false;
};
void PrintTo(const Sigma& sigma, std::ostream* out);

/** Expressions of all kinds; with coordinates in (-1, 1) and t in (0.5, 1.5) they have a value and a gradient. */
const std::vector<Sigma>& expressionTable();

/** Tabulated functions with irregular values, for use in expressions. The caller owns them. */
std::vector<std::pair<std::string, OpenMM::TabulatedFunction*>> createTables();
template <class AnyForce>
void addTables(AnyForce& force) {
    for (const auto& [name, table] : createTables())
        force.addTabulatedFunction(name, table);
}

std::unique_ptr<ConstraintPlugin::CustomConstraintForce> makeForce(const Sigma& sigma);
std::vector<double> valuesOf(const Named& parameters);

} // namespace ConstraintTests

#endif
