// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// sigma of a CustomConstraintForce and its derivatives. They are compared with OpenMM's CustomCompoundBondForce (value
// and gradient) and with finite differences of those (time derivative and curvature).
#include "LeptonCoordinate.h"
#include "OpenMM.h"
#include "support/Expressions.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

using StepState = CustomCoordinate::StepState;
using Places = std::vector<Real3>;

namespace {

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
double reference(const Sigma& sigma, const Places& x, const StepState& stepState, Places& gradient) {
    System system;
    auto* force = new CustomCompoundBondForce(sigma.numParticles, sigma.expression);
    std::vector<int> particles;
    for (int i = 0; i < sigma.numParticles; i++)
        particles.push_back(system.addParticle(1));
    for (const auto& parameter : sigma.parameters)
        force->addPerBondParameter(parameter.first);
    for (const auto& [name, value] : sigma.globals)
        force->addGlobalParameter(name, value);
    force->addGlobalParameter("t", stepState.time);
    force->setUsesPeriodicBoundaryConditions(sigma.periodic);
    addTables(*force);
    force->addBond(particles, valuesOf(sigma.parameters));
    system.addForce(force);
    const auto toVec3 = [](const Real3& r) { return Vec3(r.x, r.y, r.z); };
    system.setDefaultPeriodicBoxVectors(toVec3(stepState.box.a), toVec3(stepState.box.b), toVec3(stepState.box.c));
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
    /** Call with the coordinate, random positions and velocities, and a stepState, several times. */
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
            StepState stepState;
            stepState.time = 1 + 0.5 * uniform(random);
            // Positions differ by up to 2 nm.
            stepState.box = {{1.3, 0, 0}, {0.2, 1.4, 0}, {-0.3, 0.4, 1.5}};
            const Places x = someVectors(), v = someVectors();
            check(coordinate, x, v, stepState);
        }
    }
    std::vector<double> parameters = valuesOf(GetParam().parameters);
};

} // namespace

TEST_P(Expressions, HaveTheValueAndGradientOfACustomCompoundBondForce) {
    atRandomPoints([&](LeptonCoordinate& sigma, const Places& x, const Places&, const StepState& stepState) {
        Places gradient(x.size()), expected(x.size());
        const double value = sigma.evaluate(x.data(), parameters.data(), stepState, gradient.data());
        const double expectedValue = reference(GetParam(), x, stepState, expected);
        EXPECT_NEAR(value, expectedValue, 1e-12 * (1 + std::abs(value)));
        const Places difference = gradient + -1.0 * expected;
        EXPECT_LT(std::sqrt(dot(difference, difference)), 1e-11 * (1 + std::sqrt(dot(expected, expected))));
        EXPECT_GT(dot(expected, expected), 1e-6);
    });
}

TEST_P(Expressions, HaveATimeDerivativeAndACurvatureAsDifferencesSay) {
    double largestCurvature = 0, largestRate = 0;
    atRandomPoints([&](LeptonCoordinate& sigma, const Places& x, const Places& v, const StepState& stepState) {
        Places gradient(x.size());
        const auto at = [&](double s, double inTime) {
            StepState then = stepState;
            then.time += inTime;
            return sigma.evaluate((x + s * v).data(), parameters.data(), then, gradient.data());
        };
        const double h = 1e-5;
        const double rate = sigma.timeDerivative(x.data(), parameters.data(), stepState);
        EXPECT_NEAR(rate, (at(0, h) - at(0, -h)) / (2 * h), 1e-8 * (1 + std::abs(rate)));
        // d sigma/ds along x + s v, t + s; its derivative is the curvature.
        const auto slope = [&](double s) {
            StepState then = stepState;
            then.time += s;
            at(s, s);
            return dot(gradient, v) + sigma.timeDerivative((x + s * v).data(), parameters.data(), then);
        };
        const double curvature = sigma.curvature(x.data(), v.data(), parameters.data(), stepState);
        EXPECT_NEAR(curvature, (slope(h) - slope(-h)) / (2 * h), 3e-7 * (1 + std::abs(curvature)));
        largestRate = std::max(largestRate, std::abs(rate));
        largestCurvature = std::max(largestCurvature, std::abs(curvature));
        EXPECT_EQ(sigma.dependsOnTime(), at(0, 0.5) != at(0, 0));
    });
    EXPECT_EQ(largestCurvature > 1e-3, GetParam().name != "Plane") << "otherwise this says little";
}

TEST_P(Expressions, ArePureFunctions) {
    // A buffer that is not updated would show if points are evaluated in another order.
    std::vector<double> first, again;
    const auto collect = [&](std::vector<double>& to, bool twice) {
        atRandomPoints([&](LeptonCoordinate& sigma, const Places& x, const Places& v, const StepState& stepState) {
            Places gradient(x.size());
            if (twice) {
                const Places other = x + 0.125 * v;
                StepState then = stepState;
                then.time += 1;
                then.box.a.x += 0.1;
                sigma.curvature(other.data(), x.data(), parameters.data(), then);
                sigma.evaluate(other.data(), parameters.data(), then, gradient.data());
            }
            to.push_back(sigma.curvature(x.data(), v.data(), parameters.data(), stepState));
            to.push_back(sigma.evaluate(x.data(), parameters.data(), stepState, gradient.data()));
            for (const Real3& g : gradient)
                to.insert(to.end(), {g.x, g.y, g.z});
        });
    };
    collect(first, false);
    collect(again, true);
    EXPECT_EQ(first, again);
}

INSTANTIATE_TEST_SUITE_P(Sigma, Expressions, testing::ValuesIn(expressionTable()),
                         [](const auto& info) { return info.param.name; });
