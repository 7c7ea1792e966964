// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LeptonCoordinate.h"
#include "OpenMM.h"
#include "OpenMMConstraints.h"
#include "support/Messages.h"
#include "support/Xml.h"
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

// ---- the API
// ---------------------------------------------------------------------------------------------------------

static std::unique_ptr<CustomConstraintForce> someForce() {
    auto force = std::make_unique<CustomConstraintForce>(2, "distance(p1,p2) - a*b - g + shape(h) + wall(x1,y1)");
    force->setForceGroup(3);
    force->setName("rods");
    force->setUsesPeriodicBoundaryConditions(true);
    EXPECT_EQ(force->addPerConstraintParameter("a"), 0);
    EXPECT_EQ(force->addPerConstraintParameter("b"), 1);
    EXPECT_EQ(force->addGlobalParameter("g", 1.0 / 3.0), 0); // has no short decimal form
    EXPECT_EQ(force->addGlobalParameter("h", -2e-7), 1);
    EXPECT_EQ(force->addConstraint({4, 2}, {0.1, 2.0 / 7.0}), 0);
    EXPECT_EQ(force->addConstraint({0, 5}, {-3, 1e300}), 1);
    EXPECT_EQ(force->addTabulatedFunction("shape", new Continuous1DFunction({0.5, 1, 2, 0.5}, -1, 2, true)), 0);
    EXPECT_EQ(force->addTabulatedFunction("wall", new Continuous2DFunction(2, 2, {1, 2, 3, 1.0 / 3.0}, 0, 1, 2, 3)), 1);
    return force;
}

static void expectEqual(const CustomConstraintForce& a, const CustomConstraintForce& b) {
    EXPECT_EQ(a.getForceGroup(), b.getForceGroup());
    EXPECT_EQ(a.getName(), b.getName());
    EXPECT_EQ(a.usesPeriodicBoundaryConditions(), b.usesPeriodicBoundaryConditions());
    EXPECT_EQ(a.getNumParticlesPerConstraint(), b.getNumParticlesPerConstraint());
    EXPECT_EQ(a.getExpression(), b.getExpression());
    ASSERT_EQ(a.getNumPerConstraintParameters(), b.getNumPerConstraintParameters());
    for (int i = 0; i < a.getNumPerConstraintParameters(); i++)
        EXPECT_EQ(a.getPerConstraintParameterName(i), b.getPerConstraintParameterName(i));
    ASSERT_EQ(a.getNumGlobalParameters(), b.getNumGlobalParameters());
    for (int i = 0; i < a.getNumGlobalParameters(); i++) {
        EXPECT_EQ(a.getGlobalParameterName(i), b.getGlobalParameterName(i));
        EXPECT_EQ(a.getGlobalParameterDefaultValue(i), b.getGlobalParameterDefaultValue(i)); // every bit
    }
    ASSERT_EQ(a.getNumConstraints(), b.getNumConstraints());
    for (int i = 0; i < a.getNumConstraints(); i++) {
        std::vector<int> particlesA, particlesB;
        std::vector<double> parametersA, parametersB;
        a.getConstraintParameters(i, particlesA, parametersA);
        b.getConstraintParameters(i, particlesB, parametersB);
        EXPECT_EQ(particlesA, particlesB);
        EXPECT_EQ(parametersA, parametersB);
    }
    ASSERT_EQ(a.getNumTabulatedFunctions(), b.getNumTabulatedFunctions());
    for (int i = 0; i < a.getNumTabulatedFunctions(); i++) {
        EXPECT_EQ(a.getTabulatedFunctionName(i), b.getTabulatedFunctionName(i));
        EXPECT_TRUE(a.getTabulatedFunction(i) == b.getTabulatedFunction(i));
    }
}

TEST(CustomConstraintForce, GivesBackWhatItWasGiven) {
    const auto force = someForce();
    EXPECT_EQ(force->getNumParticlesPerConstraint(), 2);
    EXPECT_EQ(force->getExpression(), "distance(p1,p2) - a*b - g + shape(h) + wall(x1,y1)");
    EXPECT_EQ(force->getNumPerConstraintParameters(), 2);
    EXPECT_EQ(force->getPerConstraintParameterName(1), "b");
    EXPECT_EQ(force->getNumGlobalParameters(), 2);
    EXPECT_EQ(force->getGlobalParameterName(1), "h");
    EXPECT_EQ(force->getGlobalParameterDefaultValue(1), -2e-7);
    EXPECT_EQ(force->getNumConstraints(), 2);
    std::vector<int> particles;
    std::vector<double> parameters;
    force->getConstraintParameters(1, particles, parameters);
    EXPECT_EQ(particles, (std::vector<int>{0, 5}));
    EXPECT_EQ(parameters, (std::vector<double>{-3, 1e300}));
    EXPECT_EQ(force->getNumTabulatedFunctions(), 2);
    EXPECT_EQ(force->getTabulatedFunctionName(1), "wall");
    EXPECT_TRUE(force->usesPeriodicBoundaryConditions());
    EXPECT_FALSE(CustomConstraintForce(1, "x1").usesPeriodicBoundaryConditions());
}

TEST(CustomConstraintForce, TakesChanges) {
    const auto force = someForce();
    force->setExpression("x1");
    force->setPerConstraintParameterName(0, "c");
    force->setGlobalParameterName(0, "i");
    force->setGlobalParameterDefaultValue(0, 7);
    force->setConstraintParameters(0, {1, 3}, {5, 6});
    dynamic_cast<Continuous1DFunction&>(force->getTabulatedFunction(0)).setFunctionParameters({1, 2, 3, 1}, 0, 1);
    EXPECT_EQ(force->getExpression(), "x1");
    EXPECT_EQ(force->getPerConstraintParameterName(0), "c");
    EXPECT_EQ(force->getGlobalParameterName(0), "i");
    EXPECT_EQ(force->getGlobalParameterDefaultValue(0), 7);
    std::vector<int> particles;
    std::vector<double> parameters;
    force->getConstraintParameters(0, particles, parameters);
    EXPECT_EQ(particles, (std::vector<int>{1, 3}));
    EXPECT_EQ(parameters, (std::vector<double>{5, 6}));
    EXPECT_TRUE(force->getTabulatedFunction(0) == Continuous1DFunction({1, 2, 3, 1}, 0, 1, true));
}

TEST(CustomConstraintForce, RefusesWrongNumbersAtTheCall) {
    const auto force = someForce();
    const std::string which = "\"" + force->getExpression() + "\"";
    expectAll(messageOf([&] { force->addConstraint({1}, {1, 2}); }), {which, "2 particles", "1 were given"});
    expectAll(messageOf([&] { force->addConstraint({1, 2}, {1}); }), {which, "2 parameters", "1 were given"});
    expectAll(messageOf([&] { force->addConstraint({1, 2}); }), {"2 parameters", "0 were given"});
    expectAll(messageOf([&] { force->setConstraintParameters(0, {1, 2, 3}, {1, 2}); }), {"3 were given"});
    expectAll(messageOf([&] { force->setConstraintParameters(0, {1, 2}, {1, 2, 3}); }), {"3 were given"});
    EXPECT_NE(messageOf([&] { force->addTabulatedFunction("f", nullptr); }), "");
    for (int number : {0, -2})
        expectAll(messageOf([&] { CustomConstraintForce(number, "x1 - 5"); }),
                  {"\"x1 - 5\"", "at least one", std::to_string(number)});
    expectEqual(*force, *someForce());
}

TEST(CustomConstraintForce, RefusesIndicesOutOfRange) {
    const auto force = someForce();
    std::vector<int> particles;
    std::vector<double> parameters;
    for (int bad : {-1, 2}) {
        const std::vector<std::function<void()>> calls = {
            [&] { force->getPerConstraintParameterName(bad); },
            [&] { force->setPerConstraintParameterName(bad, "c"); },
            [&] { force->getGlobalParameterName(bad); },
            [&] { force->setGlobalParameterName(bad, "c"); },
            [&] { force->getGlobalParameterDefaultValue(bad); },
            [&] { force->setGlobalParameterDefaultValue(bad, 0); },
            [&] { force->getConstraintParameters(bad, particles, parameters); },
            [&] {
                force->setConstraintParameters(bad, {0, 1}, {1, 2});
            },
            [&] { force->getTabulatedFunction(bad); },
            [&] { std::as_const(*force).getTabulatedFunction(bad); },
            [&] { force->getTabulatedFunctionName(bad); },
        };
        for (std::size_t i = 0; i < calls.size(); i++)
            EXPECT_NE(messageOf(calls[i]), "") << "call " << i << " with index " << bad;
    }
}

// ---- serialization
// ---------------------------------------------------------------------------------------------------

TEST(CustomConstraintForce, IsSerializedWithEveryField) {
    const auto force = someForce();
    expectEqual(*force, dynamic_cast<CustomConstraintForce&>(*fromXml<Force>(toXml<Force>(*force, "Force"))));
    System system;
    system.addForce(someForce().release());
    const std::unique_ptr<System> copy = fromXml<System>(toXml(system, "System"));
    expectEqual(*force, dynamic_cast<CustomConstraintForce&>(copy->getForce(0)));
}

TEST(CustomConstraintForce, KeepsSpecialCharactersOfAnExpressionAndEveryKindOfTable) {
    CustomConstraintForce force(1, "x1 - a;\n a = \"<&>\" + 'b'");
    const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8};
    force.addTabulatedFunction("a", new Continuous3DFunction(2, 2, 2, values, 0, 1, 0, 2, 0, 3));
    force.addTabulatedFunction("b", new Discrete1DFunction(values));
    force.addTabulatedFunction("c", new Discrete2DFunction(2, 4, values));
    force.addTabulatedFunction("d", new Discrete3DFunction(2, 2, 2, values));
    expectEqual(force, dynamic_cast<CustomConstraintForce&>(*fromXml<Force>(toXml<Force>(force, "Force"))));
}

TEST(CustomConstraintForce, IsNotReadFromMalformedXml) {
    const std::string xml = toXml<Force>(*someForce(), "Force");
    const auto reading = [&](const std::string& from, const std::string& to) {
        std::string changed = xml;
        const std::size_t position = changed.find(from);
        EXPECT_NE(position, std::string::npos) << from << " is not in " << xml;
        if (position != std::string::npos)
            changed.replace(position, from.size(), to);
        return messageOf([&] { fromXml<Force>(changed); });
    };
    EXPECT_EQ(reading("rods", "bars"), "");
    expectAll(reading("version=\"1\"", "version=\"2\""), {"CustomConstraintForce", "version 2", "reads version 1"});
    expectAll(reading("particles=\"2\"", "particles=\"0\""), {"at least one particle"});
    expectAll(reading("particles=\"2\"", "particles=\"two\""), {"'particles'", "two"});
    expectAll(reading("particles=\"2\"", "particles=\"3\""), {"3 particles and 2 parameters", "4 properties"});
    expectAll(reading("expression=", "energy="), {"expression"});
    expectAll(reading("default=\"-2e-07\"", "default=\"low\""), {"'default'", "low"});
    expectAll(reading("p1=\"4\"", "p1=\"4.5\""), {"'p1'", "4.5"});
    expectAll(reading("param1=\"-3\"", "param1=\"\""), {"'param1'"});
    expectAll(reading("param1=\"-3\"", "param3=\"-3\""), {"param1"});
    expectAll(reading("param1=\"-3\"", ""), {"2 parameters", "3 properties"});
}

// ---- what is wrong with an expression
// --------------------------------------------------------------------------------

using Change = std::function<void(CustomConstraintForce&)>;

/** The message of the exception that an expression throws. */
static std::string wrong(int numParticles, const std::string& expression, const Change& change = {}) {
    CustomConstraintForce force(numParticles, expression);
    if (change)
        change(force);
    return messageOf([&] { LeptonCoordinate sigma(force); });
}

static void expectWrong(int numParticles, const std::string& expression, const std::vector<std::string>& parts,
                        const Change& change = {}) {
    const std::string message = wrong(numParticles, expression, change);
    expectAll(message, {"CustomConstraintForce \"" + expression + "\": "});
    expectAll(message, parts);
}

TEST(WrongExpressions, SyntaxErrorsAreNamed) {
    for (const char* incomplete : {"", " ", "x1 +", "x1^", "-", "2*"})
        expectWrong(1, incomplete, {"unexpected end"});
    for (const char* unbalanced : {"(x1", "sqrt(x1", "distance(p1, p2", "((x1)"})
        expectWrong(2, unbalanced, {"unbalanced parentheses"});
    expectWrong(1, "x1)", {"unexpected text", ")"});
    expectWrong(1, "2 x1", {"unexpected text", "x1"});
    expectWrong(1, "x1, y1", {"unexpected text", ","});
    expectWrong(1, "cos x1", {"unexpected text", "x1"});
    expectWrong(1, "sqrt()", {"unexpected token", ")"});
    expectWrong(1, "x1 - r; r", {"subexpression does not specify a name"});
}

TEST(WrongExpressions, AnEquationIsNoExpression) {
    for (const char* equation : {"x1^2 + y1^2 = 1", "x1 == 2"})
        expectWrong(1, equation, {"unexpected text", "Give sigma itself"});
    EXPECT_EQ(wrong(1, "x1 - r; r = 2"), "");
    EXPECT_EQ(wrong(1, "x1 - r +; r = 2").find("Give sigma"), std::string::npos);
}

TEST(WrongExpressions, UnknownNamesAreNamed) {
    expectWrong(1, "z1 - q", {"nknown variable 'q'", "x1, y1, z1, the time t", "no parameters"});
    expectWrong(1, "z1 - z2", {"nknown variable 'z2'"});
    expectWrong(3, "z1 - q", {"'q'", "to x3, y3, z3", "the parameters height, width"}, [](auto& force) {
        force.addPerConstraintParameter("width");
        force.addGlobalParameter("height", 1);
    });
    expectWrong(2, "p1 - 2", {"nknown variable 'p1'"});
    expectWrong(4, "distance(p1, p5)", {"nknown particle 'p5'"});
    expectWrong(4, "dihedral(p1, p2, p3, x4)", {"nknown particle 'x4'"});
    expectWrong(2, "distance(1, 2)", {"nknown particle '1'"});
    expectWrong(1, "sinus(x1)", {"unknown function: sinus"});
}

TEST(WrongExpressions, WrongNumbersOfArgumentsAreNamed) {
    for (const char* call : {"distance(p1)", "distance(p1, p2, p3)", "angle(p1, p2)", "dihedral(p1, p2, p3)",
                             "pointdistance(x1, y1, z1)", "pointangle(p1, p2, p3)", "pointdihedral(x1)", "sqrt(x1, y1)",
                             "atan2(x1)", "max(x1)", "min(x1, y1, z1)", "select(x1, y1)", "table(x1, y1)"}) {
        const std::string name(call, std::string(call).find('('));
        expectWrong(4, call, {"wrong number of arguments to function: " + name}, [](auto& force) {
            force.addTabulatedFunction("table", new Continuous1DFunction({1, 2, 3}, 0, 1));
        });
    }
}

TEST(WrongExpressions, WhatDependsOnNoParticleIsRefused) {
    for (const char* constant : {"3", "t - 1", "a", "x1*0", "x1 - x1", "1 - x1/x1"})
        expectWrong(1, constant, {"the position of no particle"},
                    [](auto& force) { force.addPerConstraintParameter("a"); });
    for (const char* stepwise : {"floor(x1) - 1", "step(y1) - 0.5", "ceil(x1) + delta(z1) + t"})
        expectWrong(1, stepwise, {"vanish everywhere"});
    EXPECT_EQ(wrong(1, "floor(x1) + y1"), "");
}

TEST(WrongExpressions, ParametersNeedNamesOfTheirOwn) {
    for (const char* name : {"t", "x1", "y2", "z2", "p1", "p2"})
        for (bool global : {false, true})
            expectWrong(2, "x1", {std::string("called ") + name}, [&](auto& force) {
                global ? force.addGlobalParameter(name, 1) : force.addPerConstraintParameter(name);
            });
    EXPECT_EQ(wrong(2, "x1 - x3 - p3 - x0",
                    [](auto& force) {
                        for (const char* free : {"x3", "p3", "x0"})
                            force.addPerConstraintParameter(free);
                    }),
              "");
    const Change add[] = {[](auto& force) { force.addGlobalParameter("a", 1); },
                          [](auto& force) { force.addPerConstraintParameter("a"); }};
    for (const Change& first : add)
        for (const Change& second : add)
            expectWrong(1, "x1 - a", {"two parameters are called a"}, [&](auto& force) {
                first(force);
                second(force);
            });
}

TEST(WrongExpressions, TablesThatDoNotServeAreNamed) {
    const auto discrete = [](auto& force) {
        force.addTabulatedFunction("level", new Discrete1DFunction({1, 2, 3}));
        force.addGlobalParameter("k", 1);
    };
    expectWrong(1, "z1 - level(x1)", {"discrete function level", "no derivative"}, discrete);
    expectWrong(1, "z1 - level(k + t)", {"discrete function level", "no derivative"}, discrete);
    EXPECT_EQ(wrong(1, "z1 - level(k)", discrete), "");
    expectWrong(1, "z1 - f(x1)", {"two tabulated functions are called f"}, [](auto& force) {
        for (double max : {1.0, 2.0})
            force.addTabulatedFunction("f", new Continuous1DFunction({1, 2, 3}, 0, max));
    });
    expectWrong(1, "z1 - f(x1)", {"the table of f", "first and last"}, [](auto& force) {
        force.addTabulatedFunction("f", new Continuous1DFunction({1, 2, 3}, 0, 1, true));
    });
}

TEST(WrongExpressions, TablesAreNamedLikeBuiltInFunctionsAsInOpenMM) {
    // A table hides sqrt, and is hidden by distance and pointdistance.
    const auto evaluate = [](int numParticles, const std::string& expression, const std::string& name) {
        CustomConstraintForce force(numParticles, expression);
        force.addTabulatedFunction(name, new Continuous1DFunction({5, 5, 5}, 0, 9));
        const Real3 x[2] = {{4, 0, 0}, {1, 0, 0}};
        Real3 gradient[2];
        return LeptonCoordinate(force).evaluate(x, nullptr, {}, gradient);
    };
    EXPECT_EQ(evaluate(1, "sqrt(x1) + x1", "sqrt"), 9);
    EXPECT_EQ(evaluate(2, "distance(p1, p2)", "distance"), 3);
    EXPECT_EQ(evaluate(2, "pointdistance(x1, y1, z1, 0, 0, 0)", "pointdistance"), 4);
}

// ---- what a coordinate tells besides
// ---------------------------------------------------------------------------------

TEST(LeptonCoordinate, SaysWhichGlobalParametersMatterAndWhetherTheyChanged) {
    CustomConstraintForce force(1, "z1 - a - c*w");
    force.addPerConstraintParameter("w");
    force.addGlobalParameter("a", 1);
    force.addGlobalParameter("unused", 2);
    force.addGlobalParameter("c", 3);
    LeptonCoordinate sigma(force);
    EXPECT_EQ(sigma.getGlobalNames(), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(sigma.numParameters(), 1u);
    EXPECT_EQ(sigma.describe(), "z1 - a - c*w");
    const Real3 x[] = {{0, 0, 20}};
    const double w = 2;
    Real3 gradient[1];
    EXPECT_EQ(sigma.evaluate(x, &w, {}, gradient), 13) << "with the defaults";
    EXPECT_FALSE(sigma.setGlobals({1, 3}));
    EXPECT_TRUE(sigma.setGlobals({1, 4}));
    EXPECT_EQ(sigma.evaluate(x, &w, {}, gradient), 11);
    EXPECT_FALSE(sigma.setGlobals({1, 4}));
}

TEST(LeptonCoordinate, SaysWhetherItDependsOnTime) {
    EXPECT_FALSE(LeptonCoordinate(CustomConstraintForce(1, "x1 + tan(y1)")).dependsOnTime());
    EXPECT_TRUE(LeptonCoordinate(CustomConstraintForce(1, "x1 + tan(t)")).dependsOnTime());
    EXPECT_TRUE(LeptonCoordinate(CustomConstraintForce(1, "x1 - floor(t)")).dependsOnTime()) << "though not smoothly";
    EXPECT_FALSE(LeptonCoordinate(CustomConstraintForce(1, "x1 - 0*t")).dependsOnTime());
}

TEST(LeptonCoordinate, HasNoFiniteGradientWhereThereIsNone) {
    const Real3 x[4] = {};
    Real3 gradient[4];
    for (const char* expression :
         {"sqrt(x1^2 + y1^2) - z1", "distance(p1, p2) - 1", "angle(p1, p2, p3) - 1", "dihedral(p1, p2, p3, p4)"}) {
        LeptonCoordinate sigma(CustomConstraintForce(4, expression));
        sigma.evaluate(x, nullptr, {}, gradient);
        EXPECT_FALSE(std::isfinite(gradient[0].x)) << expression;
    }
}

TEST(LeptonCoordinate, TablesAreZeroOutsideAndPassOnWhatIsNotANumber) {
    CustomConstraintForce force(1, "z1 + f(x1)");
    force.addTabulatedFunction("f", new Continuous1DFunction({1, 2, 5}, -1, 1));
    LeptonCoordinate sigma(force);
    Real3 gradient[1];
    const auto at = [&](double x1) {
        const Real3 x[] = {{x1, 0, 0}};
        return sigma.evaluate(x, nullptr, {}, gradient);
    };
    for (double outside : {-1.001, 1.001, 1e300, -std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(at(outside), 0);
        EXPECT_EQ(gradient[0].x, 0);
    }
    EXPECT_EQ(at(-1), 1);
    EXPECT_EQ(at(1), 5);
    EXPECT_TRUE(std::isnan(at(std::numeric_limits<double>::quiet_NaN())));
}
