// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Expressions.h"
#include <cmath>
#include <ostream>

using namespace OpenMM;

namespace ConstraintTests {

void PrintTo(const Sigma& sigma, std::ostream* out) {
    *out << sigma.expression;
}

const std::vector<Sigma>& expressionTable() {
    static const std::vector<Sigma> table = {
        {"Sphere", 1, "x1^2 + y1^2 + z1^2 - r^2", {{"r", 0.7}}},
        {"Plane", 1, "a*x1 + b*y1 + c*z1 - d", {{"a", 0.3}, {"b", -0.5}, {"c", 0.8}, {"d", 0.1}}},
        {"Cylinder", 1, "sqrt(x1^2 + y1^2) - r", {{"r", 0.4}}},
        {"Paraboloid", 1, "z1 - a*(x1^2+y1^2)", {{"a", 1.5}}},
        {"Ellipsoid", 1, "(x1/a)^2 + (y1/b)^2 + (z1/c)^2 - 1", {{"a", 0.7}, {"b", 0.9}}, {{"c", 1.3}}},
        {"Torus", 1, "(sqrt(x1^2 + y1^2) - R)^2 + z1^2 - r^2", {}, {{"R", 0.8}, {"r", 0.3}}},
        {"Gyroid", 1, "sin(k*x1)*cos(k*y1) + sin(k*y1)*cos(k*z1) + sin(k*z1)*cos(k*x1) - c", {{"k", 6.3}, {"c", 0.1}}},
        {"Hyperboloid", 1, "x1^2 + y1^2 - (c*z1)^2 - a^2", {{"a", 0.5}}, {{"c", 0.6}}},
        {"Distance", 2, "distance(p1, p2) - d", {{"d", 0.6}}},
        {"RatioOfDistances", 3, "distance(p1, p2)/distance(p3, p2) - ratio", {}, {{"ratio", 2}}},
        {"Angle", 3, "angle(p1, p2, p3) - 1.2"},
        {"Dihedral", 4, "dihedral(p1, p2, p3, p4) - phi", {{"phi", -1.1}}},
        {"CoupledBondAngleDihedral",
         4,
         "distance(p4, p1)*cos(angle(p3, p1, p2)) + a*sin(dihedral(p2, p1, p4, p3) - phi)*x3",
         {{"a", 0.8}, {"phi", 0.3}}},
        {"PointDistance", 3, "pointdistance(x1, y1, z1, (x2+x3)/2, (y2+y3)/2, (z2+z3)/2) - d", {{"d", 0.5}}},
        {"PointAngle", 2, "pointangle(x1, y1, z1, 0, 0, 0, x2*y1, y2, z2) - 1"},
        {"PointDihedral", 2, "pointdihedral(1, 0, 0, x1, y1, z1, x2, y2, z2, 0, z1, t) - 1"},
        {"NestedPointFunctions", 3, "pointdistance(x1, y1, z1, angle(p1, p2, p3), distance(p2, p3), t^2) - 1"},
        {"GrowingSphere", 1, "sqrt(x1^2 + y1^2 + z1^2) - r0 - v*t", {{"r0", 0.5}}, {{"v", 0.3}}},
        {"TravellingWave", 1, "z1 - a*sin(k*x1 - w*t)", {{"a", 0.2}, {"k", 4}}, {{"w", 2.5}}},
        {"StretchingBond", 2, "distance(p1, p2)^2*(1 + exp(-t)) - 1"},
        {"Powers", 1, "abs(x1)^n + (y1^2 + 1)^1.5 + (1 + z1^2)^(-2) + 1/(2 + x1) - m^z1", {{"n", 2.5}, {"m", 1.7}}},
        {"ManyFunctions", 1,
         "erf(x1) + erfc(y1*z1) + atan2(2 + x1, y1) + tanh(z1) + sinh(x1)*cosh(y1) + asin(x1/2) + acos(y1/3) + "
         "atan(z1) + "
         "log(2 + z1) + exp(x1*y1) + tan(x1) + sec(y1/2) + csc(2 + z1/3) + cot(2 + x1/3)"},
        {"Piecewise", 1, "min(x1 + y1, z1^2) + max(2*x1, y1*z1) + select(step(z1), z1^3, x1*z1) + abs(y1)*floor(3*z1)"},
        {"Subexpressions", 2, "r^2*w - 1; w = 1 + r*x1; r = sqrt(dx^2 + y2^2); dx = x2 - x1"},
        {"Table1D", 2, "z1 - a*profile(x1 + z2)", {{"a", 0.7}}},
        {"PeriodicTable1D", 1, "z1 - corrugation(3*x1)*corrugation(y1)"},
        {"Table2D", 1, "z1 - height(x1, y1)"},
        {"PeriodicTable2D", 1, "z1 - eggs(2*x1, 2*y1)"},
        {"Table3D", 1, "field(x1, y1*t, z1) + x1"},
        {"DiscreteTable", 1, "x1^2 + y1^2 - radius(kind)", {{"kind", 2}}},
        {"DiscreteTables2D3D",
         1,
         "x1^2*grid(kind, 2.4) + y1*rack(1.5, kind - 9, shelf) - grid(kind + 7, shelf)",
         {{"kind", 1.7}},
         {{"shelf", 3}}},
        {"PeriodicDistance", 2, "distance(p1, p2) + 0.1*x1*x2 - d", {{"d", 0.6}}, {}, true},
        {"PeriodicAngle", 3, "angle(p1, p2, p3) - pointangle(x1, y1, z1, x2, y3, z2, x3, y3, z1)", {}, {}, true},
        {"PeriodicDihedral", 4, "dihedral(p1, p2, p3, p4) + distance(p1, p4)", {}, {}, true},
    };
    return table;
}

template <class Function>
static std::vector<double> tabulate(int nx, int ny, int nz, Function f) {
    std::vector<double> values;
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                values.push_back(
                    f(double(i) / (nx - 1), ny > 1 ? double(j) / (ny - 1) : 0, nz > 1 ? double(k) / (nz - 1) : 0));
    return values;
}

std::vector<std::pair<std::string, TabulatedFunction*>> createTables() {
    const auto irregular = [](double x, double y, double z) { return sin(5 * x + 3 * y * y - 4 * x * z) + y * z; };
    const auto circular = [](double x, double y, double) {
        const double u = 2 * M_PI * (x - floor(x)), v = 2 * M_PI * (y - floor(y)); // the same bits at both ends
        return cos(u) + 0.3 * sin(2 * u) * cos(v);
    };
    return {
        {"profile", new Continuous1DFunction(tabulate(11, 1, 1, irregular), -2.5, 2.5)},
        {"corrugation", new Continuous1DFunction(tabulate(9, 1, 1, circular), -0.2, 0.9, true)},
        {"height", new Continuous2DFunction(7, 9, tabulate(7, 9, 1, irregular), -1.5, 1.5, -1.6, 1.4)},
        {"eggs", new Continuous2DFunction(8, 6, tabulate(8, 6, 1, circular), 0, 1.1, -0.3, 0.9, true)},
        {"field", new Continuous3DFunction(5, 6, 7, tabulate(5, 6, 7, irregular), -1.3, 1.2, -1.4, 1.3, -1.2, 1.5)},
        {"radius", new Discrete1DFunction({0.1, 0.2, 0.3, 0.4})},
        {"grid", new Discrete2DFunction(3, 4, tabulate(3, 4, 1, irregular))},
        {"rack", new Discrete3DFunction(3, 4, 5, tabulate(3, 4, 5, irregular))},
    };
}

std::unique_ptr<ConstraintPlugin::CustomConstraintForce> makeForce(const Sigma& sigma) {
    auto force = std::make_unique<ConstraintPlugin::CustomConstraintForce>(sigma.numParticles, sigma.expression);
    for (const auto& parameter : sigma.parameters)
        force->addPerConstraintParameter(parameter.first);
    for (const auto& [name, value] : sigma.globals)
        force->addGlobalParameter(name, value);
    force->setUsesPeriodicBoundaryConditions(sigma.periodic);
    addTables(*force);
    return force;
}

std::vector<double> valuesOf(const Named& parameters) {
    std::vector<double> values;
    for (const auto& parameter : parameters)
        values.push_back(parameter.second);
    return values;
}

} // namespace ConstraintTests
