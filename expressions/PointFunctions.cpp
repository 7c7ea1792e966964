// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PointFunctions.h"
#include "coordinates.h"
#include <algorithm>
#include <limits>

namespace ConstraintPlugin {

namespace {

constexpr int maxPoints = 4, maxBonds = maxPoints - 1;

double component(const Real3& v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/** b_s = x_s - x_(s+1) */
void toBonds(int numBonds, const double* x, Real3* bonds) {
    for (int s = 0; s < numBonds; s++, x += 3)
        bonds[s] = {x[0] - x[3], x[1] - x[4], x[2] - x[5]};
}

} // namespace

std::string PointFunction::nameOf(const Meaning& meaning) {
    const std::string name = std::string("point") + traitsOf(meaning.kind).name;
    // With a space, so that no expression can mention it.
    return (meaning.result == Result::Value  ? ""
            : meaning.result == Result::Rate ? "rate of "
                                             : "curvature of ") +
           name;
}

std::optional<PointFunction::Meaning> PointFunction::find(const std::string& name) {
    for (CoordinateKind kind : listedKinds)
        for (Result result : {Result::Value, Result::Rate, Result::Curvature})
            if (name == nameOf({kind, result}))
                return Meaning{kind, result};
    return {};
}

/** What was computed last, and where. An expression's derivatives ask for every component in turn. */
struct PointFunction::Last {
    Real3 bonds[maxBonds], gradient[maxBonds];
    double value = 0;
    bool isValid = false;
};

PointFunction::PointFunction(const Meaning& meaning, const Box* box)
    : meaning(meaning), box(box), last(std::make_shared<Last>()) {
}

int PointFunction::getNumArguments() const {
    return 3 * numParticlesOf(meaning.kind) * (meaning.result == Result::Value ? 1 : 2);
}

PointFunction::Last& PointFunction::at(const double* x) const {
    const int numBonds = numParticlesOf(meaning.kind) - 1;
    bool isLast = last->isValid;
    Real3 bonds[maxBonds];
    toBonds(numBonds, x, bonds);
    for (int s = 0; s < numBonds; s++) {
        if (box != nullptr)
            bonds[s] = box->minimumImage(bonds[s]);
        isLast = isLast && bonds[s] == last->bonds[s];
    }
    if (!isLast) {
        last->value = coordinate(meaning.kind, bonds, last->gradient);
        std::copy(bonds, bonds + maxBonds, last->bonds);
        last->isValid = true;
    }
    return *last;
}

double PointFunction::evaluate(const double* arguments) const {
    const Last& here = at(arguments);
    if (meaning.result == Result::Value)
        return here.value;
    const int numBonds = numParticlesOf(meaning.kind) - 1;
    Real3 rates[maxBonds];
    toBonds(numBonds, arguments + getNumArguments() / 2, rates);
    if (meaning.result == Result::Curvature)
        return coordinateCurvature(meaning.kind, here.bonds, rates);
    double sum = 0;
    for (int s = 0; s < numBonds; s++)
        sum += dot(here.gradient[s], rates[s]);
    return sum;
}

double PointFunction::evaluateDerivative(const double* arguments, const int* order) const {
    const int numArguments = getNumArguments(), numBonds = numParticlesOf(meaning.kind) - 1;
    const int wanted = (int) (std::find(order, order + numArguments, 1) - order);
    if (meaning.result != Result::Value || std::count(order, order + numArguments, 0) != numArguments - 1)
        return std::numeric_limits<double>::quiet_NaN(); // these are never used
    const int s = wanted / 3, axis = wanted % 3;         // d/dx_s = d/db_s - d/db_(s-1)
    const Real3* const G = at(arguments).gradient;
    return (s < numBonds ? component(G[s], axis) : 0.0) - (s > 0 ? component(G[s - 1], axis) : 0.0);
}

} // namespace ConstraintPlugin
