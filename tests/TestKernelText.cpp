// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Expressions as kernel text, compiled and run by OpenMM's OpenCL platform and compared with LeptonCoordinate.
#include "CentroidDistance.h"
#include "LeptonCoordinate.h"
#include "TextMarkers.h"
#include "lepton/Exception.h"
#include "lepton/ExpressionTreeNode.h"
#include "lepton/Parser.h"
#include "support/DeviceContext.h"
#include "support/Expressions.h"
#include "support/Messages.h"
#include "support/Platforms.h"
#include <cmath>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

using StepState = CustomCoordinate::StepState;
using Places = std::vector<Real3>;

namespace {

/** Where functions have corners, jumps, no value, or an unusual argument. */
const std::vector<Sigma> corners = {
    {"NegativeBases", 1, "x1^3 + (x1 - 2)^(-3) + (x1 - 2)^n + (y1 - 2)^m*z1", {{"n", 3}}, {{"m", -2}}},
    {"BasesOfAnySign", 1, "x1^n + y1^m + (x1 - x1)^k", {{"n", 1.5}, {"m", 0}}, {{"k", 0}}},
    {"NegativeToAnExponentThatVaries", 1, "x1 + (-2)^floor(3*y1) + (-1.5)^ceil(3*z1) + n^z1", {{"n", 2}}},
    {"StepsAtZero", 1,
     "x1*step(floor(x1)) + y1*delta(floor(y1)) + z1*delta(ceil(z1)) + recip(2 + x1) + cube(y1) + square(z1) + "
     "ceil(2*z1)*x1 - delta(x1)"},
    {"OutsideOfTables", 1, "x1 + profile(5*x1) + height(3*x1, y1)*z1 + field(4*x1, y1, z1)"},
    {"EndsOfTables", 1,
     "x1 + profile(2.5*(2*step(y1) - 1)) + corrugation(0.9*step(z1))*y1 + height(1.5, 1.4*step(x1))"},
    {"PartlyUndefined", 1, "sqrt(x1) + log(y1)*z1 + asin(2*z1) + acos(2*y1) + profile(sqrt(z1))"},
    {"Minima", 1, "min(x1, sqrt(y1)) + max(sqrt(z1), y1) + min(z1, 1e308) + max(x1, -1e308)"},
    {"ConstantsOfAnySize", 1, "x1*12345678901 - -3*y1 + z1*3e9 - 1e-7*x1^2 - 4e10*(-0.25)"},
    {"SelectByNumber", 1, "select(floor(2*x1), x1, y1^2) + select(z1 - z1, x1, z1)"},
    {"PointsOfOneAxis", 2, "pointangle(x1, 0, 0, 0, y1, 0, 0, 0, z2) + pointdistance(x1, x1, x1, 1, t, x2)"},
    {"MovingDihedral", 3, "cos(pointdihedral(x1, y1, z1, t, t^2, sin(t), x2, y2, z2, x3, y3, z3))*t", {}, {}, true},
    {"SharedPoints",
     4,
     "distance(p1, p2)*distance(p2, p1) + angle(p1, p2, p3)^2 + angle(p1, p2, p4)*dihedral(p1, p2, "
     "p3, p4) + distance(p1, p2)",
     {},
     {},
     true},
    {"Far", 2, "distance(p1, p2) + sin(30*x1) + tan(7*y1)/50 + exp(5*z1)/200 + sinh(4*x2)/30 + cosh(4*y2)/30"},
};

std::vector<Sigma> everything() {
    std::vector<Sigma> all = expressionTable();
    all.insert(all.end(), corners.begin(), corners.end());
    return all;
}

std::string readText(const std::string& path) {
    std::ifstream file(std::string(SOURCE_DIR) + "/" + path);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << path;
    return text.str();
}

/** Calls the functions of a coordinate at all points. */
const char* const checkText = R"(
KERNEL void check$NAME$(GLOBAL const mixed* x, GLOBAL const mixed* v, GLOBAL const mixed* parameters,
                      GLOBAL const mixed* globals, GLOBAL const mixed* tables, GLOBAL const mixed* moments,
                      GLOBAL mixed* results, int numPoints) {
    for (int point = GLOBAL_ID; point < numPoints; point += GLOBAL_SIZE) {
        mixed3 ownX[$SIZE$], ownV[$SIZE$], gradient[$SIZE$];
        for (int p = 0; p < $SIZE$; p++) {
            const int first = 3 * ($SIZE$ * point + p);
            ownX[p] = make_mixed3(x[first], x[first + 1], x[first + 2]);
            ownV[p] = make_mixed3(v[first], v[first + 1], v[first + 2]);
        }
        GLOBAL const mixed* m = moments + 10 * point;
        StepState stepState;
        stepState.time = m[0];
        stepState.a = make_mixed3(m[1], m[2], m[3]);
        stepState.b = make_mixed3(m[4], m[5], m[6]);
        stepState.c = make_mixed3(m[7], m[8], m[9]);
        GLOBAL mixed* own = results + (3 + 3 * $SIZE$) * point;
        own[0] = $NAME$(ownX, parameters, globals, tables, stepState, gradient);
        own[1] = $NAME$Rate(ownX, parameters, globals, tables, stepState);
        own[2] = $NAME$Curvature(ownX, ownV, parameters, globals, tables, stepState);
        for (int p = 0; p < $SIZE$; p++) {
            own[3 + 3 * p] = gradient[p].x;
            own[4 + 3 * p] = gradient[p].y;
            own[5 + 3 * p] = gradient[p].z;
        }
    }
}
)";

struct Case {
    Sigma sigma;
    std::unique_ptr<LeptonCoordinate> coordinate;
    std::string name; ///< in the text
};

std::vector<Case> allCases() {
    std::vector<Case> cases;
    for (const Sigma& sigma : everything())
        cases.push_back(
            {sigma, std::make_unique<LeptonCoordinate>(*makeForce(sigma)), "custom" + std::to_string(cases.size())});
    return cases;
}

std::string programOf(const std::vector<Case>& cases) {
    std::string text = readText("platforms/common/stage/stepState.cc") + readText("core/constraints/coordinates.cc") +
                       readText("core/constraints/functions.cc");
    for (const Case& c : cases) {
        text += c.coordinate->kernelText(c.name) + c.coordinate->curvatureKernelText(c.name);
        text += fillMarkers("check", checkText, {{"NAME", c.name}, {"SIZE", std::to_string(c.sigma.numParticles)}});
    }
    return text;
}

/** What kernels get and LeptonCoordinate too: rounded to the device's numbers. */
class Inputs {
public:
    Inputs(int numParticles, bool isSingle) : isSingle(isSingle) {
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (int point = 0; point < numPoints; point++) {
            for (int i = 0; i < 3 * numParticles; i++) {
                x.push_back(rounded(uniform(random)));
                v.push_back(rounded(uniform(random)));
            }
            // No box at some points.
            const double side = point % 4 == 0 ? 0 : 1;
            for (double m : {1 + 0.5 * uniform(random), 1.3 * side, 0., 0., 0.2 * side, 1.4 * side, 0., -0.3 * side,
                             0.4 * side, 1.5 * side})
                moments.push_back(rounded(m));
        }
    }
    double rounded(double value) const {
        return isSingle ? (double) (float) value : value;
    }
    std::vector<double> rounded(std::vector<double> values) const {
        for (double& value : values)
            value = rounded(value);
        return values;
    }
    StepState stepState(int point) const {
        const double* m = &moments[10 * point];
        return {m[0], {{m[1], m[2], m[3]}, {m[4], m[5], m[6]}, {m[7], m[8], m[9]}}};
    }
    static constexpr int numPoints = 20;
    std::vector<double> x, v, moments;

private:
    bool isSingle;
    std::mt19937 random{20260202};
};

class KernelTextOnDevices : public testing::TestWithParam<std::string> {};

TEST_P(KernelTextOnDevices, ComputesWhatLeptonCoordinateDoes) {
    const std::string precision = propertiesOf(GetParam()).at("Precision");
    const bool isSingle = precision == "single";
    DeviceContext device(precision);
    std::vector<Case> cases = allCases();
    OpenMM::ComputeProgram program = device.compute().compileProgram(programOf(cases));
    for (Case& c : cases) {
        SCOPED_TRACE(c.sigma.name + ": " + c.sigma.expression);
        const int n = c.sigma.numParticles, numResults = 3 + 3 * n;
        const Inputs inputs(n, isSingle);
        const std::vector<double> parameters = inputs.rounded(valuesOf(c.sigma.parameters));
        c.coordinate->setGlobals(inputs.rounded(c.coordinate->getGlobals()));
        std::vector<std::unique_ptr<OpenMM::ArrayInterface>> arrays;
        OpenMM::ComputeKernel kernel = program->createKernel("check" + c.name);
        for (const std::vector<double>& values :
             {inputs.x, inputs.v, parameters, c.coordinate->getGlobals(), c.coordinate->tableData(), inputs.moments,
              std::vector<double>(Inputs::numPoints * numResults)}) {
            arrays.push_back(device.upload(values));
            kernel->addArg(*arrays.back());
        }
        kernel->addArg(Inputs::numPoints);
        kernel->execute(Inputs::numPoints);
        const std::vector<double> results = device.download(*arrays.back());

        int numNumbers = 0;
        for (int point = 0; point < Inputs::numPoints; point++) {
            const StepState stepState = inputs.stepState(point);
            const auto* x = reinterpret_cast<const Real3*>(&inputs.x[3 * n * point]);
            const auto* v = reinterpret_cast<const Real3*>(&inputs.v[3 * n * point]);
            Places gradient(n);
            const double value = c.coordinate->evaluate(x, parameters.data(), stepState, gradient.data());
            std::vector<double> expected = {value, c.coordinate->timeDerivative(x, parameters.data(), stepState),
                                            c.coordinate->curvature(x, v, parameters.data(), stepState)};
            for (const Real3& g : gradient)
                expected.insert(expected.end(), {g.x, g.y, g.z});
            for (int i = 0; i < numResults; i++) {
                const double result = results[numResults * point + i];
                if (!std::isfinite(expected[i])) {
                    EXPECT_EQ(std::isnan(result), std::isnan(expected[i])) << "point " << point << ", result " << i;
                    EXPECT_FALSE(std::isfinite(result)) << "point " << point << ", result " << i;
                    continue;
                }
                numNumbers++;
                const double error = std::abs(result - expected[i]) / (1 + std::abs(expected[i]));
                EXPECT_LT(error, isSingle ? 5e-5 : 1e-13)
                    << "point " << point << ", result " << i << ": " << result << " is not " << expected[i];
            }
        }
        EXPECT_GT(numNumbers, Inputs::numPoints / 4) << "otherwise this says little";
    }
}

// For the text, double precision does not differ from mixed.
INSTANTIATE_TEST_SUITE_P(Precisions, KernelTextOnDevices, testing::Values("OpenCLSingle", "OpenCLMixed"),
                         [](const auto& info) { return info.param; });

/** Literals of a program that have double precision because they are not cast. */
std::vector<std::string> doublesIn(const std::string& program) {
    const std::string floatingPoint = "\\b[0-9]+(?:\\.[0-9]*(?:e[+-]?[0-9]+)?|e[+-]?[0-9]+)",
                      code = replaced(program, "/\\*[^]*?\\*/|//[^\n]*");
    return matchesOf(replaced(code, "\\(mixed\\) -?" + floatingPoint), floatingPoint);
}

TEST(KernelText, HasNoDoublePrecisionOfItsOwn) {
    // On devices of single precision these are errors or warnings, and slow on others.
    EXPECT_EQ(doublesIn(programOf(allCases())), std::vector<std::string>());
    EXPECT_EQ(doublesIn("x2 + 0.5 * (mixed) 0.25 - y[1].x // 2.5\n + (mixed) -1e-07 - 1e5").size(), 2u);
}

TEST(KernelText, IsTestedForEveryOperation) {
    std::set<int> missing;
    for (int id = Lepton::Operation::CONSTANT; id <= Lepton::Operation::SELECT; id++)
        missing.insert(id);
    missing.erase(Lepton::Operation::CUSTOM);
    const std::function<void(const Lepton::ExpressionTreeNode&)> visit = [&](const auto& node) {
        missing.erase(node.getOperation().getId());
        for (const auto& child : node.getChildren())
            visit(child);
    };
    for (const Sigma& sigma : everything())
        try {
            const auto parsed = Lepton::Parser::parse(sigma.expression);
            visit(parsed.getRootNode());
            visit(parsed.optimize().getRootNode());
        } catch (const Lepton::Exception&) { // functions that are not Lepton's
        }
    EXPECT_EQ(missing, std::set<int>());
}

TEST(KernelText, OfTablesHasThoseThatOccur) {
    const auto dataOf = [](const std::string& expression) {
        return LeptonCoordinate(*makeForce({"", 1, expression})).tableData();
    };
    EXPECT_EQ(dataOf("x1^2 - 1").size(), 0u);
    EXPECT_EQ(dataOf("x1 - radius(2)"), (std::vector<double>{0.1, 0.2, 0.3, 0.4}));
    EXPECT_EQ(dataOf("x1 - radius(2)*profile(y1) + profile(z1)").size(), 4 + 10 * 4u);
    EXPECT_EQ(dataOf("field(x1, y1, z1)").size(), 4 * 5 * 6 * 64u);
}

TEST(KernelText, IsWrittenByHandForCentroids) {
    CentroidDistance distance({1, -1}, false);
    EXPECT_EQ(distance.kernelText("q") + distance.curvatureKernelText("q"), "");
}

} // namespace
