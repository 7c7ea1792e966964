// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Damaged input of all kinds, from a fixed seed: it is refused with an OpenMMException, or is usable. What was found
// this way and mended stands in tests of its own, below and elsewhere.
#include "CheckpointIO.h"
#include "OpenMMConstraints.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "support/Expressions.h"
#include "support/FuzzTargets.h"
#include "support/Messages.h"
#include "support/SystemTable.h"
#include "support/Xml.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
    return from[random.below((int) from.size())];
}

int anyPlace(Random& random, const std::string& text) {
    return random.below((int) text.size());
}

const std::vector<std::string> extremes = {"1e308", "-1e308", "1e400",      "nan",        "inf", "-inf", "-1", "0",
                                           "",      "7e-320", "2147483647", "2147483648", "3",   "x",    "%",  "\xff"};

// ---- mutations ------------------------------------------------------------------------------------------------------

std::string withDamagedBytes(Random& random, std::string text) {
    for (int n = 1 + random.below(3); n > 0 && !text.empty(); n--) {
        const int place = anyPlace(random, text);
        switch (random.below(4)) {
        case 0:
            text[place] = (char) random.below(256);
            break;
        case 1:
            text.erase(place, 1 + random.below(5));
            break;
        case 2:
            text.insert(place, text, anyPlace(random, text), 1 + random.below(10));
            break;
        default:
            text.resize(place);
        }
    }
    return text;
}

struct Range {
    std::size_t start, length;
};

/** The values of attributes, but for those of `type`: OpenMM takes it for granted that a System is a System. */
std::vector<Range> valuesIn(const std::string& xml) {
    std::vector<Range> values;
    for (std::size_t at = xml.find("=\"", xml.find('\n')); at != std::string::npos; at = xml.find("=\"", at)) {
        const bool isType = at >= 5 && xml.compare(at - 5, 5, " type") == 0;
        const std::size_t start = at + 2, end = std::min(xml.find('"', start), xml.size());
        if (!isType)
            values.push_back({start, end - start});
        at = end;
    }
    return values;
}

/** Lines, which are tags; without the one that says what the whole is. */
std::vector<Range> linesIn(const std::string& xml) {
    std::vector<Range> lines;
    for (std::size_t start = xml.find('\n') + 1; start < xml.size();) {
        const std::size_t end = std::min(xml.find('\n', start), xml.size() - 1) + 1;
        if (xml.substr(start, end - start).find(" type=\"") == std::string::npos)
            lines.push_back({start, end - start});
        start = end;
    }
    return lines;
}

/** Damage within the limits of what is XML: on anything else, OpenMM's own parser may read past the end. */
std::string withDamagedXml(Random& random, std::string xml) {
    for (int n = 1 + random.below(3); n > 0; n--) {
        const std::vector<Range> values = valuesIn(xml), lines = linesIn(xml);
        if (values.empty())
            return xml;
        const Range value = pick(random, values), other = pick(random, values);
        const Range line = lines.empty() ? Range{xml.size(), 0} : pick(random, lines);
        const Range place = lines.empty() ? line : pick(random, lines);
        const auto replace = [&](std::string by) {
            by.erase(std::remove_if(by.begin(), by.end(), [](char c) { return std::strchr("\"<>&", c) != nullptr; }),
                     by.end());
            xml.replace(value.start, value.length, by);
        };
        switch (random.below(8)) {
        case 0:
        case 1:
            replace(pick(random, extremes));
            break;
        case 2:
            replace(xml.substr(other.start, other.length));
            break;
        case 3:
            replace(withDamagedBytes(random, xml.substr(value.start, value.length)));
            break;
        case 4: { // the whole attribute
            const std::size_t name = xml.rfind(' ', value.start);
            xml.erase(name, value.start + value.length + 1 - name);
            break;
        }
        case 5:
            xml.erase(line.start, line.length);
            break;
        case 6:
            xml.insert(line.start, xml.substr(line.start, line.length));
            break;
        default:
            xml.insert(place.start, xml.substr(line.start, line.length));
        }
    }
    return xml;
}

// ---- what is damaged ------------------------------------------------------------------------------------------------

std::unique_ptr<ConstraintForce> everyKind() {
    auto force = std::make_unique<ConstraintForce>();
    force->addDistance(0, 1, 0.1, 0.01);
    force->addAngle(0, 1, 2, 1.7);
    force->addDihedral(0, 1, 2, 3, 0.5);
    force->addCentroidDistance({0, 1}, {4, 5}, 0.3);
    force->addRigidBody({3, 4, 5}, {Vec3(0, 0, 0), Vec3(0.3, 0, 0), Vec3(0.1, 0.2, 0)});
    force->setParticleNames({"A:1:C", "", "N", "O", "H", "%"});
    return force;
}

std::unique_ptr<CustomConstraintForce> customForce(const std::string& expression) {
    auto force = makeForce({"", 2, expression, {{"a", 0.3}}, {{"g", 0.2}}});
    force->addConstraint({0, 1}, {0.3});
    force->addConstraint({2, 3}, {0.1});
    return force;
}

const std::string ordinary = "distance(p1, p2) - a + g*profile(x1) + 0.1*height(y1, z1)*radius(0)";

std::vector<std::string> someForces() {
    return {toXml<Force>(*everyKind(), "Force"), toXml<Force>(*customForce(ordinary), "Force")};
}

std::vector<std::string> someIntegrators() {
    RattleLangevinIntegrator langevin(300, 1, 0.001);
    langevin.setNumGeodesicSteps(3);
    langevin.setRandomNumberSeed(7);
    ConstraintForceIntegrator explicitForce(0.001);
    explicitForce.setStabilization(10, 20);
    return {toXml<Integrator>(RattleIntegrator(0.001), "Integrator"),
            toXml<Integrator>(ShakeIntegrator(0.001), "Integrator"), toXml<Integrator>(langevin, "Integrator"),
            toXml<Integrator>(explicitForce, "Integrator")};
}

std::string someSystem() {
    System system;
    for (int i = 0; i < 6; i++)
        system.addParticle(1 + i);
    system.addConstraint(1, 4, 0.2);
    system.addForce(everyKind().release());
    system.addForce(customForce(ordinary).release());
    return toXml(system, "System");
}

/** An expression, mostly one that parses. */
std::string anyExpression(Random& random, int depth) {
    const auto part = [&] { return anyExpression(random, depth - 1); };
    const auto list = [&](int n) {
        std::string text;
        for (int i = 0; i < n; i++)
            text += (i == 0 ? "" : ", ") + part();
        return text;
    };
    switch (depth > 0 ? random.below(10) : random.below(3)) {
    case 0:
        return pick<std::string>(random, {"0", "1", "-1", "2", "3", "0.5", "1e308", "1e200", "1e-200", "1e400",
                                          "1e-320", "1e", ".", "-2.5", "12345678901"});
    case 1:
    case 2:
        return pick<std::string>(random, {"x1", "y1", "z1", "x2", "y2", "z2", "t", "a", "g", "w", "x1", "y1", "z1",
                                          "x2", "y2", "z2", random.below(20) == 0 ? "q" : "x1"});
    case 3:
        return "(" + part() + ")";
    case 4:
        return "-" + part();
    case 5: {
        const auto name = pick<std::string>(
            random, {"sqrt", "exp",  "log",   "sin",  "cos",   "sec",     "csc",    "tan",        "cot",   "asin",
                     "acos", "atan", "sinh",  "cosh", "tanh",  "erf",     "erfc",   "step",       "delta", "square",
                     "cube", "abs",  "recip", "ceil", "floor", "profile", "radius", "corrugation"});
        return name + "(" + list(random.below(30) == 0 ? 2 : 1) + ")";
    }
    case 6: {
        const std::vector<std::pair<std::string, int>> functions = {
            {"min", 2},   {"max", 2},  {"atan2", 2},   {"select", 3},        {"height", 2},     {"grid", 2},
            {"field", 3}, {"rack", 3}, {"nothing", 1}, {"pointdistance", 6}, {"pointangle", 9}, {"pointdihedral", 12}};
        const auto& [name, n] = pick(random, functions);
        return name + "(" + list(random.below(30) == 0 ? n - 1 : n) + ")";
    }
    case 7:
        return pick<std::string>(random, {"distance(p1, p2)", "distance(p1, p1)", "distance(p1, p3)",
                                          "angle(p1, p2, p1)", "distance(x1, p1)", "dihedral(p1, p2, p1, p2)"});
    default:
        return part() + pick<std::string>(random, {"+", "-", "*", "/", "^"}) + part();
    }
}

std::string withDefinition(Random& random) {
    std::string text = anyExpression(random, 3);
    if (text.find('w') != std::string::npos)
        text += "; w = " + anyExpression(random, 2);
    return text;
}

/** Run a target on many inputs. Some must be refused and some accepted, or the inputs are of no use. They are always
 * the same, but for CONSTRAINTS_FUZZ_ROUND (scripts/check.sh --fuzz). */
template <class Target, class Make>
void fuzz(unsigned seed, int count, double leastAccepted, Target target, Make make) {
    const char* const round = std::getenv("CONSTRAINTS_FUZZ_ROUND");
    Random random(seed + (round == nullptr ? 0 : 100 * std::atoi(round)));
    int accepted = 0;
    constexpr double longest = 20; // seconds of processor time; a sanitizer's build takes much of it
    for (int i = 0; i < count; i++) {
        const std::string input = make(random);
        SCOPED_TRACE("input " + std::to_string(i) + ":\n" + input);
        bool isAccepted = false;
        const std::clock_t start = std::clock();
        ASSERT_NO_THROW(isAccepted = target(input));
        EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC, longest);
        accepted += isAccepted;
    }
    EXPECT_GE(accepted, leastAccepted * count);
    EXPECT_LE(accepted, 0.9 * count);
}

} // namespace

TEST(Fuzz, ForcesFromDamagedXmlAreRefusedOrUsable) {
    const std::vector<std::string> forces = someForces();
    for (const std::string& xml : forces)
        ASSERT_TRUE(tryForce(xml));
    fuzz(1, 500, 0.05, tryForce, [&](Random& random) { return withDamagedXml(random, pick(random, forces)); });
}

TEST(Fuzz, SystemsFromDamagedXmlAreRefusedOrUsable) {
    const std::string system = someSystem();
    ASSERT_TRUE(trySystem(system));
    fuzz(2, 200, 0.05, trySystem, [&](Random& random) { return withDamagedXml(random, system); });
}

TEST(Fuzz, IntegratorsFromDamagedXmlAreRefusedOrUsable) {
    const std::vector<std::string> integrators = someIntegrators();
    for (const std::string& xml : integrators)
        ASSERT_TRUE(tryIntegrator(xml));
    fuzz(3, 2000, 0.05, tryIntegrator,
         [&](Random& random) { return withDamagedXml(random, pick(random, integrators)); });
}

TEST(Fuzz, RandomExpressionsAreRefusedOrUsable) {
    fuzz(4, 500, 0.01, tryExpression, withDefinition);
}

TEST(Fuzz, DamagedExpressionsAreRefusedOrUsable) {
    fuzz(5, 250, 0.01, tryExpression,
         [&](Random& random) { return withDamagedBytes(random, pick(random, expressionTable()).expression); });
}

TEST(Fuzz, DamagedCheckpointsAreRefusedAndTheContextIsUsableAfterwards) {
    const std::string whole = makeCheckpoint();
    ASSERT_TRUE(tryCheckpoint(whole));
    // What OpenMM writes before it, OpenMM reads; its own random numbers and states have no mark of where they end.
    std::ostringstream mark;
    write(mark, checkpointVersionWithOwn);
    const std::size_t start = whole.find(mark.str());
    ASSERT_NE(start, std::string::npos);
    Random random(6);
    for (int i = 0; i < 300; i++) {
        std::string bytes = whole;
        const std::size_t place = start + random.below((int) (whole.size() - start));
        if (i % 3 == 0)
            bytes.resize(place);
        else
            bytes[place] = (char) (bytes[place] ^ (1 << random.below(8)));
        SCOPED_TRACE("damage " + std::to_string(i) + " at byte " + std::to_string(place - start));
        ASSERT_NO_THROW(EXPECT_FALSE(tryCheckpoint(bytes)));
    }
    EXPECT_TRUE(tryCheckpoint(whole));
}

static std::string refusalOf(const std::string& expression) {
    RattleIntegrator integrator(0.001);
    System system;
    system.addParticle(1);
    auto* force = new CustomConstraintForce(1, expression);
    force->addConstraint({0});
    system.addForce(force);
    return messageOf([&] { integrator.getClusters(system); });
}

static std::string times(int n, const std::string& text) {
    std::string all;
    for (int i = 0; i < n; i++)
        all += text;
    return all;
}

TEST(HostileExpressions, ConstantsThatAreNotFiniteAreNamed) {
    for (const char* sigma : {"sqrt(-1)", "z1 + sqrt(-1)", "z1*sqrt(-(1))", "0*sqrt(-1) + z1"})
        expectAll(refusalOf(sigma), {sigma, "sqrt(", "not a finite number"});
    expectAll(refusalOf("log(-1)"), {"log(-1", "not a finite number"});
    expectAll(refusalOf("0/0*z1"), {"(0)/(0)"});
    expectAll(refusalOf("z1 - 1/0"), {"(1)/(0)"});
    expectAll(refusalOf("z1 - b; b = exp(1000)"), {"exp(1000)"});
    EXPECT_EQ(refusalOf("z1 - exp(7)/cos(3)^2"), "");
}

TEST(HostileExpressions, ConstantsOfADerivativeThatAreNotFiniteAreNamed) {
    expectAll(refusalOf("(-1)^z1"), {"derivative with respect to z1", "log("});
    EXPECT_EQ(refusalOf("z1 - (-2)^floor(3*y1)"), ""); // log(-2) times the derivative of a step
}

TEST(HostileExpressions, FactorsWhoseProductOverflowsAreRefused) {
    expectAll(refusalOf("z1 + 1e200*(1e200*(x1 + (-x1)))"), {"constant factors", "300"});
    EXPECT_EQ(refusalOf("z1 + 1e100*(1e-100*(1e50*x1)) + 1e200*y1"), "");
}

TEST(HostileExpressions, DeepOrLongOnesAreRefusedBeforeTheyExhaustAnything) {
    for (const auto& [start, end] : std::vector<std::pair<std::string, std::string>>{
             {"(", ")"}, {"sin(", ")"}, {"-", ""}, {"2^", ""}, {"z1/", ""}, {"1+", ""}, {"min(1,", ")"}}) {
        const std::string sigma = times(10'000, start) + "z1" + times(10'000, end);
        EXPECT_FALSE(refusalOf(sigma).empty()) << start;
        EXPECT_FALSE(refusalOf(times(100'000, start)).empty()) << start;
        EXPECT_EQ(refusalOf(times(20, start) + "z1" + times(20, end)), "") << start;
    }
    expectAll(refusalOf(times(10'000, "(") + "z1" + times(10'000, ")")), {"nested", "1000"});
    expectAll(refusalOf(times(500, "sin(") + "z1" + times(500, ")")), {"derivative"});
    std::string doubling = "a0"; // 2^60 terms
    for (int i = 0; i < 60; i++)
        doubling += "; a" + std::to_string(i) + " = a" + std::to_string(i + 1) + " + a" + std::to_string(i + 1);
    expectAll(refusalOf(doubling + "; a60 = z1"), {"too long", "definition"});
}

TEST(HostileExpressions, MoreParticlesThanAnyoneHasAreRefused) {
    System system;
    system.addForce(new CustomConstraintForce(2147483647, "z1"));
    RattleIntegrator integrator(0.001);
    expectAll(messageOf([&] { integrator.getClusters(system); }), {"2147483647", "10000"});
}

TEST(Serialization, TablesOfAConstraintAreTables) {
    std::string xml = someForces()[1];
    const std::string right = "type=\"Continuous1DFunction\"", wrong = "type=\"VerletIntegrator\"";
    ASSERT_NE(xml.find(right), std::string::npos);
    xml.replace(xml.find(right), right.size(), wrong);
    expectAll(messageOf([&] { fromXml<Force>(xml); }), {"VerletIntegrator", "tabulated functions"});
}
