// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Messages quote at most 200 characters of an expression, its beginning and its end.
#include "ExpressionText.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const std::string term = "+1111";

/** An expression of some 900 characters. */
std::string lengthened(const std::string& expression) {
    std::string text = expression + "+0*x1*(1";
    for (int i = 0; i < 170; i++)
        text += term;
    return text + ")";
}

void expectShortened(const std::string& message, const std::string& beginning) {
    expectAll(message, {beginning + "+0*x1*(1" + term, " ... ", term + ")"});
    int number = 0;
    for (std::size_t i = message.find(term); i != std::string::npos; i = message.find(term, i + 1))
        number++;
    EXPECT_LE(number * term.size(), 200u) << message;
}

/** A particle that an expression constrains. */
std::unique_ptr<System> systemOf(const std::string& expression, const std::vector<std::string>& parameters = {}) {
    auto system = std::make_unique<System>();
    system->addParticle(5);
    auto* force = new CustomConstraintForce(1, lengthened(expression));
    force->addConstraint({0});
    for (const std::string& name : parameters)
        force->addPerConstraintParameter(name);
    system->addForce(force);
    return system;
}

std::string creating(const System& system) {
    RattleIntegrator integrator(0.001);
    return messageOf([&] { makeContext(system, integrator, "Reference"); });
}

} // namespace

TEST(QuotedExpressions, AreShortenedFrom200CharactersOn) {
    const std::string longest(200, 'x');
    EXPECT_EQ(shortened(longest), longest);
    EXPECT_EQ(shortened("z1-h"), "z1-h");
    const std::string longer = "begin" + longest + "end", text = shortened(longer);
    EXPECT_EQ(text.size(), 200u);
    EXPECT_EQ(text.substr(0, 5), "begin");
    EXPECT_EQ(text.substr(197), "end");
    EXPECT_NE(text.find("x ... x"), std::string::npos);
}

TEST(QuotedExpressions, AreShortInWhatIsRefusedOfThem) {
    const double notANumber = std::numeric_limits<double>::quiet_NaN();
    expectShortened(creating(*systemOf("z1-0.3+foo(x1)")), "z1-0.3+foo(x1)");
    expectShortened(creating(*systemOf("z1-nobody")), "z1-nobody");
    expectShortened(creating(*systemOf("z1-a", {"a"})), "z1-a"); // a parameter that its constraint lacks
    auto system = systemOf("z1-a", {"a"});
    dynamic_cast<CustomConstraintForce&>(system->getForce(0)).setConstraintParameters(0, {0}, {notANumber});
    expectShortened(creating(*system), "z1-a");
    expectShortened(messageOf([&] { CustomConstraintForce(0, lengthened("z1")); }), "z1");
    CustomConstraintForce ofOne(1, lengthened("z1"));
    expectShortened(messageOf([&] { ofOne.addConstraint({0, 1}); }), "z1");
    expectShortened(messageOf([&] { ofOne.addConstraint({0}, {1}); }), "z1");
}

TEST(QuotedExpressions, AreShortWhereOtherThingsAreNamedBesideThem) {
    auto system = systemOf("z1-0.3");
    system->addForce(new CMMotionRemover());
    expectShortened(creating(*system), "z1-0.3");
    auto ofGroups = systemOf("z1-0.3");
    ofGroups->removeForce(0);
    auto* force = new CustomCentroidConstraintForce(1, lengthened("z1-0.3"));
    force->addGroup({});
    force->addConstraint({0});
    ofGroups->addForce(force);
    expectShortened(creating(*ofGroups), "z1-0.3");
    auto site = systemOf("z1-0.3");
    site->setParticleMass(0, -1);
    expectShortened(creating(*site), "z1-0.3");
}

class QuotedExpressionsInSteps : public testing::TestWithParam<std::string> {};

TEST_P(QuotedExpressionsInSteps, AreShort) {
    for (const auto& [expression, z] :
         {std::pair("sqrt(z1-0.3)-0.1", 0.0), {"z1^2-0.09", 0.0}, {"(z1-0.3)^2", 0.31}, {"z1-0.3", 2.0}}) {
        const auto system = systemOf(expression);
        RattleIntegrator integrator(0.001);
        const auto context = makeContext(*system, integrator, GetParam());
        context->setPositions({Vec3(0, 0, z)});
        expectShortened(messageOf([&] { integrator.step(1); }), expression);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, QuotedExpressionsInSteps, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });
