// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/PointFunctions.h"
#include "coordinates.h"
#include <limits>

namespace ConstraintPlugin {

namespace {

constexpr int maxPoints = 4, maxBonds = maxPoints - 1, maxArguments = 3 * maxPoints;

double& component(Real3& v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

} // namespace

/** What was computed last, and where. An expression's derivatives ask for every component in turn. */
struct PointFunction::Last {
    Real3 bonds[maxBonds];
    double value = 0, gradient[maxArguments];
    bool isValid = false;
    double hessian[maxArguments][maxArguments];
    bool hasRow[maxArguments] = {};
};

PointFunction::PointFunction(CoordinateKind kind, const Box* box)
    : kind(kind), box(box), last(std::make_shared<Last>()) {
}

/** From bond vectors b_s = x_s - x_(s+1) to points: d/dx_s = d/db_s - d/db_(s-1). */
template <class Component>
static void toPoints(int numPoints, Component ofBond, double* ofPoint) {
    for (int s = 0; s < numPoints; s++)
        for (int axis = 0; axis < 3; axis++)
            ofPoint[3 * s + axis] = (s < numPoints - 1 ? ofBond(s, axis) : 0.0) - (s > 0 ? ofBond(s - 1, axis) : 0.0);
}

PointFunction::Last& PointFunction::at(const double* x) const {
    const int numPoints = numParticlesOf(kind);
    bool isLast = last->isValid;
    Real3 bonds[maxBonds];
    for (int s = 0; s < numPoints - 1; s++) {
        const double* const p = x + 3 * s;
        bonds[s] = {p[0] - p[3], p[1] - p[4], p[2] - p[5]};
        if (box != nullptr && box->a.x > 0) // an empty box is none
            bonds[s] = box->minimumImage(bonds[s]);
        isLast = isLast && bonds[s].x == last->bonds[s].x && bonds[s].y == last->bonds[s].y &&
                 bonds[s].z == last->bonds[s].z;
    }
    if (!isLast) {
        Real3 G[maxBonds];
        last->value = coordinate(kind, bonds, G);
        toPoints(
            numPoints, [&](int s, int axis) { return component(G[s], axis); }, last->gradient);
        std::copy(bonds, bonds + maxBonds, last->bonds);
        std::fill(last->hasRow, last->hasRow + maxArguments, false);
        last->isValid = true;
    }
    return *last;
}

double PointFunction::evaluate(const double* arguments) const {
    return at(arguments).value;
}

double PointFunction::evaluateDerivative(const double* arguments, const int* order) const {
    int wanted[2], count = 0;
    for (int i = 0; i < getNumArguments(); i++)
        for (int k = 0; k < order[i]; k++) {
            if (count == 2)
                return std::numeric_limits<double>::quiet_NaN(); // nobody differentiates three times
            wanted[count++] = i;
        }
    Last& here = at(arguments);
    if (count == 1)
        return here.gradient[wanted[0]];
    const int row = wanted[0];
    if (!here.hasRow[row]) { // let one argument change at unit rate: the rates of the gradient are a row
        const int numPoints = numParticlesOf(kind), moving = row / 3, axis = row % 3;
        Vector3<Dual> bonds[maxBonds], G[maxBonds];
        for (int s = 0; s < numPoints - 1; s++) {
            Real3 rate;
            component(rate, axis) = s == moving ? 1 : s == moving - 1 ? -1 : 0;
            const Real3& b = here.bonds[s];
            bonds[s] = {{b.x, rate.x}, {b.y, rate.y}, {b.z, rate.z}};
        }
        coordinate(kind, bonds, G);
        auto rateOf = [&](int s, int a) { return a == 0 ? G[s].x.rate : a == 1 ? G[s].y.rate : G[s].z.rate; };
        toPoints(numPoints, rateOf, here.hessian[row]);
        here.hasRow[row] = true;
    }
    return here.hessian[row][wanted[1]];
}

} // namespace ConstraintPlugin
