// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// sigma of a CustomConstraintForce and its derivatives. The referees: OpenMM's CustomCompoundBondForce for the value
// and the gradient, differences of those for the time derivative and the curvature.
#include "OpenMM.h"
#include "openmmconstraints/internal/LeptonCoordinate.h"
#include "support/Messages.h"
#include "support/Platforms.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

using Moment = CustomCoordinate::Moment;
using Places = std::vector<Real3>;
using Named = std::vector<std::pair<std::string, double>>;

namespace {

struct Sigma {
    std::string name;
    int numParticles;
    std::string expression;
    Named parameters = {}, globals = {};
    bool periodic = false;
};

const std::vector<Sigma> table = {
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
     "erf(x1) + erfc(y1*z1) + atan2(2 + x1, y1) + tanh(z1) + sinh(x1)*cosh(y1) + asin(x1/2) + acos(y1/3) + atan(z1) + "
     "log(2 + z1) + exp(x1*y1) + tan(x1) + sec(y1/2) + csc(2 + z1/3) + cot(2 + x1/3)"},
    {"Piecewise", 1, "min(x1 + y1, z1^2) + max(2*x1, y1*z1) + select(step(z1), z1^3, x1*z1) + abs(y1)*floor(3*z1)"},
    {"Subexpressions", 2, "r^2*w - 1; w = 1 + r*x1; r = sqrt(dx^2 + y2^2); dx = x2 - x1"},
    {"Table1D", 2, "z1 - a*profile(x1 + z2)", {{"a", 0.7}}},
    {"PeriodicTable1D", 1, "z1 - corrugation(3*x1)*corrugation(y1)"},
    {"Table2D", 1, "z1 - height(x1, y1)"},
    {"PeriodicTable2D", 1, "z1 - eggs(2*x1, 2*y1)"},
    {"Table3D", 1, "field(x1, y1*t, z1) + x1"},
    {"DiscreteTable", 1, "x1^2 + y1^2 - radius(kind)", {{"kind", 2}}},
    {"PeriodicDistance", 2, "distance(p1, p2) + 0.1*x1*x2 - d", {{"d", 0.6}}, {}, true},
    {"PeriodicAngle", 3, "angle(p1, p2, p3) - pointangle(x1, y1, z1, x2, y3, z2, x3, y3, z1)", {}, {}, true},
    {"PeriodicDihedral", 4, "dihedral(p1, p2, p3, p4) + distance(p1, p4)", {}, {}, true},
};

void PrintTo(const Sigma& sigma, std::ostream* out) {
    *out << sigma.expression;
}

template <class Function>
std::vector<double> tabulate(int nx, int ny, int nz, Function f) {
    std::vector<double> values;
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                values.push_back(
                    f(double(i) / (nx - 1), ny > 1 ? double(j) / (ny - 1) : 0, nz > 1 ? double(k) / (nz - 1) : 0));
    return values;
}

/** The tables that expressions may use, of irregular values. */
template <class AnyForce>
void addTables(AnyForce& force) {
    const auto wild = [](double x, double y, double z) { return sin(5 * x + 3 * y * y - 4 * x * z) + y * z; };
    const auto circular = [](double x, double y, double) {
        const double u = 2 * M_PI * (x - floor(x)), v = 2 * M_PI * (y - floor(y)); // the same bits at both ends
        return cos(u) + 0.3 * sin(2 * u) * cos(v);
    };
    force.addTabulatedFunction("profile", new Continuous1DFunction(tabulate(11, 1, 1, wild), -2.5, 2.5));
    force.addTabulatedFunction("corrugation", new Continuous1DFunction(tabulate(9, 1, 1, circular), -0.2, 0.9, true));
    force.addTabulatedFunction("height", new Continuous2DFunction(7, 9, tabulate(7, 9, 1, wild), -1.5, 1.5, -1.6, 1.4));
    force.addTabulatedFunction("eggs",
                               new Continuous2DFunction(8, 6, tabulate(8, 6, 1, circular), 0, 1.1, -0.3, 0.9, true));
    force.addTabulatedFunction(
        "field", new Continuous3DFunction(5, 6, 7, tabulate(5, 6, 7, wild), -1.3, 1.2, -1.4, 1.3, -1.2, 1.5));
    force.addTabulatedFunction("radius", new Discrete1DFunction({0.1, 0.2, 0.3, 0.4}));
}

std::unique_ptr<CustomConstraintForce> makeForce(const Sigma& sigma) {
    auto force = std::make_unique<CustomConstraintForce>(sigma.numParticles, sigma.expression);
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

Places operator+(Places a, const Places& b) {
    for (std::size_t i = 0; i < a.size(); i++)
        a[i] += b[i];
    return a;
}
Places operator*(double s, Places a) {
    for (Real3& x : a)
        x = s * x;
    return a;
}
double dot(const Places& a, const Places& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        sum += ConstraintPlugin::dot(a[i], b[i]);
    return sum;
}

/** What OpenMM makes of an expression as an energy: minus its forces are the gradient. */
double referee(const Sigma& sigma, const Places& x, const Moment& moment, Places& gradient) {
    System system;
    auto* force = new CustomCompoundBondForce(sigma.numParticles, sigma.expression);
    std::vector<int> particles;
    for (int i = 0; i < sigma.numParticles; i++)
        particles.push_back(system.addParticle(1));
    for (const auto& parameter : sigma.parameters)
        force->addPerBondParameter(parameter.first);
    for (const auto& [name, value] : sigma.globals)
        force->addGlobalParameter(name, value);
    force->addGlobalParameter("t", moment.time);
    force->setUsesPeriodicBoundaryConditions(sigma.periodic);
    addTables(*force);
    force->addBond(particles, valuesOf(sigma.parameters));
    system.addForce(force);
    const auto toVec3 = [](const Real3& r) { return Vec3(r.x, r.y, r.z); };
    system.setDefaultPeriodicBoxVectors(toVec3(moment.box.a), toVec3(moment.box.b), toVec3(moment.box.c));
    VerletIntegrator integrator(0.001);
    Context context(system, integrator, Platform::getPlatform("Reference"));
    std::vector<Vec3> positions;
    for (const Real3& place : x)
        positions.push_back(toVec3(place));
    context.setPositions(positions);
    const State state = context.getState(State::Energy | State::Forces);
    for (int i = 0; i < sigma.numParticles; i++) {
        const Vec3 f = state.getForces()[i];
        gradient[i] = {-f[0], -f[1], -f[2]};
    }
    return state.getPotentialEnergy();
}

class Expressions : public testing::TestWithParam<Sigma> {
protected:
    /** Call with the coordinate, random positions and velocities, and a moment, several times. */
    template <class Check>
    void atRandomPoints(Check check) {
        const Sigma& sigma = GetParam();
        LeptonCoordinate coordinate(*makeForce(sigma));
        std::mt19937 random(20260101);
        std::uniform_real_distribution<double> uniform(-1, 1);
        const auto someVectors = [&] {
            Places v(sigma.numParticles);
            for (Real3& r : v)
                r = {uniform(random), uniform(random), uniform(random)};
            return v;
        };
        for (int i = 0; i < 10; i++) {
            Moment moment;
            moment.time = 1 + 0.5 * uniform(random);
            // Positions differ by up to 2 nm.
            moment.box = {{1.3, 0, 0}, {0.2, 1.4, 0}, {-0.3, 0.4, 1.5}};
            const Places x = someVectors(), v = someVectors();
            check(coordinate, x, v, moment);
        }
    }
    std::vector<double> parameters = valuesOf(GetParam().parameters);
};

} // namespace

TEST_P(Expressions, HaveTheValueAndGradientOfACustomCompoundBondForce) {
    atRandomPoints([&](LeptonCoordinate& sigma, const Places& x, const Places&, const Moment& moment) {
        Places gradient(x.size()), expected(x.size());
        const double value = sigma.evaluate(x.data(), parameters.data(), moment, gradient.data());
        const double expectedValue = referee(GetParam(), x, moment, expected);
        EXPECT_NEAR(value, expectedValue, 1e-12 * (1 + std::abs(value)));
        const Places difference = gradient + -1.0 * expected;
        EXPECT_LT(std::sqrt(dot(difference, difference)), 1e-11 * (1 + std::sqrt(dot(expected, expected))));
        EXPECT_GT(dot(expected, expected), 1e-6);
    });
}

TEST_P(Expressions, HaveATimeDerivativeAndACurvatureAsDifferencesSay) {
    double largestCurvature = 0, largestRate = 0;
    atRandomPoints([&](LeptonCoordinate& sigma, const Places& x, const Places& v, const Moment& moment) {
        Places gradient(x.size());
        const auto at = [&](double s, double inTime) {
            Moment then = moment;
            then.time += inTime;
            return sigma.evaluate((x + s * v).data(), parameters.data(), then, gradient.data());
        };
        const double h = 1e-5;
        const double rate = sigma.timeDerivative(x.data(), parameters.data(), moment);
        EXPECT_NEAR(rate, (at(0, h) - at(0, -h)) / (2 * h), 1e-8 * (1 + std::abs(rate)));
        // d sigma/ds along x + s v, t + s; its derivative is the curvature.
        const auto slope = [&](double s) {
            Moment then = moment;
            then.time += s;
            at(s, s);
            return dot(gradient, v) + sigma.timeDerivative((x + s * v).data(), parameters.data(), then);
        };
        const double curvature = sigma.curvature(x.data(), v.data(), parameters.data(), moment);
        EXPECT_NEAR(curvature, (slope(h) - slope(-h)) / (2 * h), 3e-7 * (1 + std::abs(curvature)));
        largestRate = std::max(largestRate, std::abs(rate));
        largestCurvature = std::max(largestCurvature, std::abs(curvature));
        EXPECT_EQ(sigma.dependsOnTime(), at(0, 0.5) != at(0, 0));
    });
    EXPECT_EQ(largestCurvature > 1e-3, GetParam().name != "Plane") << "otherwise this says little";
}

TEST_P(Expressions, ArePureFunctions) {
    // A buffer that is not renewed would show when points are visited in another order.
    std::vector<double> first, again;
    const auto collect = [&](std::vector<double>& to, bool twice) {
        atRandomPoints([&](LeptonCoordinate& sigma, const Places& x, const Places& v, const Moment& moment) {
            Places gradient(x.size());
            if (twice) {
                const Places other = x + 0.125 * v;
                Moment then = moment;
                then.time += 1;
                then.box.a.x += 0.1;
                sigma.curvature(other.data(), x.data(), parameters.data(), then);
                sigma.evaluate(other.data(), parameters.data(), then, gradient.data());
            }
            to.push_back(sigma.curvature(x.data(), v.data(), parameters.data(), moment));
            to.push_back(sigma.evaluate(x.data(), parameters.data(), moment, gradient.data()));
            for (const Real3& g : gradient)
                to.insert(to.end(), {g.x, g.y, g.z});
        });
    };
    collect(first, false);
    collect(again, true);
    EXPECT_EQ(first, again);
}

INSTANTIATE_TEST_SUITE_P(Sigma, Expressions, testing::ValuesIn(table),
                         [](const auto& info) { return info.param.name; });
