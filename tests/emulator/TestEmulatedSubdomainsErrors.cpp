// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Errors of large clusters in overlapping subdomains, whose residuals are in single precision where the tolerance is
// coarse.
#include "Emulated.h"
#include "support/LargeSystems.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class EmulatedSubdomainsErrors : public testing::TestWithParam<std::tuple<const char*, double>> {
protected:
    const Variable multiprocessors{"FAKECUDA_MULTIPROCESSORS", "32"};
};

double largestError(const TestSystem& system, const Vectors& x) {
    double largest = 0;
    for (const auto& bond : system.bonds) {
        const Vec3 b = x[bond.i] - x[bond.j];
        largest = std::max(largest, std::fabs(std::sqrt(b.dot(b)) - bond.length) / bond.length);
    }
    return largest;
}

Simulation simulationOf(const TestSystem& system, const char* platform, double tolerance, double scale) {
    Simulation s(toOpenMM(system, Declared::InForce),
                 makeIntegrator({platform, ConstraintIntegrator::MatrixInversion, "Rattle"}, 0.002, tolerance),
                 platform);
    s.context->setPositions(toVectors(system.positions));
    Vectors velocities = toVectors(thermalVelocities(system, 1));
    for (Vec3& v : velocities)
        v *= scale;
    s.context->setVelocities(velocities);
    return s;
}

/** At 300 K a step without constraints changes lengths by some percent, at ten times the velocity by tens of percents.
 */
TEST_P(EmulatedSubdomainsErrors, AreWithinTheToleranceAndWhatIsReported) {
    const auto& [platform, tolerance] = GetParam();
    const bool isCoarse = tolerance == 1e-5;
    const Variable size("OPENMM_CONSTRAINTS_PARTS", isCoarse ? "300" : "40"); // more than a block's threads, or less
    const TestSystem system = protein(isCoarse ? 60 : 30);
    const double rounding = std::string(platform) == "CUDADouble" ? 1e-14 : 3e-12;
    for (const double scale : {1., 5., 10.}) {
        Simulation s = simulationOf(system, platform, tolerance, scale);
        for (int step = 0; step < 3; step++) {
            s.integrator->step(1);
            const double error = largestError(system, s.context->getState(State::Positions).getPositions());
            const SolverSummary summary = s.integrator->getSolverSummary();
            EXPECT_LE(error, tolerance + rounding) << "scale " << scale << ", step " << step;
            EXPECT_LE(error, summary.maxError + rounding) << "scale " << scale << ", step " << step;
            EXPECT_LE(summary.maxError, tolerance);
        }
        EXPECT_NE(s.integrator->getSolverSummary().solver.find("in overlapping subdomains"), std::string::npos);
    }
}

/** Expect that some steps, and what they report, are the same with an environment variable. */
void expectTheSameWith(const char* variable, const char* platform, double tolerance) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40");
    const auto statesOf = [&] {
        Simulation s = simulationOf(protein(30), platform, tolerance, 5);
        s.integrator->step(3);
        const State state = s.context->getState(State::Positions | State::Velocities);
        return std::tuple(state.getPositions(), state.getVelocities(), s.integrator->getSolverSummary().maxError);
    };
    const auto usual = statesOf();
    const Variable other(variable, "1");
    const auto found = statesOf();
    const double difference = differenceOfPrograms(platform, tolerance);
    EXPECT_LE(distance(std::get<0>(found), std::get<0>(usual)), difference);
    EXPECT_LE(distance(std::get<1>(found), std::get<1>(usual)), difference / 0.002);
    EXPECT_NEAR(std::get<2>(found), std::get<2>(usual), programsRoundAlike() ? 0 : tolerance);
}

TEST_P(EmulatedSubdomainsErrors, AreTheSameInOneLaunchAndInMany) {
    const Variable factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
    expectTheSameWith("OPENMM_CONSTRAINTS_LAUNCHES", std::get<0>(GetParam()), std::get<1>(GetParam()));
}

TEST_P(EmulatedSubdomainsErrors, AreFoundInARoundThatWasTakenForTheLast) {
    expectTheSameWith("OPENMM_CONSTRAINTS_LAST", std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedSubdomainsErrors,
                         testing::Combine(testing::Values("CUDAMixed", "CUDADouble"),
                                          testing::Values(1e-3, 1e-5, 1e-6, 1e-7, 9e-8, 1e-10)),
                         [](const auto& info) {
                             std::ostringstream name;
                             name << std::get<0>(info.param) << "_" << int(1e10 * std::get<1>(info.param));
                             return name.str();
                         });

} // namespace
