// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Trajectories on devices agree with those on Reference, in a heat bath too: every system of the table, integrator and
// solver, in each precision.
#include "support/Simulation.h"
#include <map>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr int steps = 10;
constexpr double tolerance = 1e-12;

struct End {
    Vectors positions, velocities;
};

/** With an explicit constraint force the constraints drift, and a drift beyond the bound throws. */
double stepSizeOf(const ConstraintTests::Setup& setup) {
    return std::get<2>(setup) == "ConstraintForce" ? 0.0005 : 0.002;
}

End run(const std::string& box, const ConstraintTests::Setup& setup) {
    Simulation s = simulate(systemsInTheBoxOf(box), Declared::InForce, setup, stepSizeOf(setup), tolerance);
    s.integrator->step(steps);
    return {s.positions(), s.velocities()};
}

/** What Reference does, whatever the device's precision. */
const End& referenceRun(const std::string& box, ConstraintTests::Setup setup) {
    static std::map<std::pair<std::string, std::string>, End> known;
    std::get<0>(setup) = "Reference";
    const auto key = std::make_pair(box, nameOf(setup));
    if (known.count(key) == 0)
        known[key] = run(box, setup);
    return known[key];
}

/** A setup and a box of systemsInTheBoxOf(). */
class Devices : public testing::TestWithParam<std::tuple<ConstraintTests::Setup, const char*>> {};

TEST_P(Devices, GoWhereReferenceGoes) {
    const auto& [setup, box] = GetParam();
    const Precision precision = precisionOf(std::get<0>(setup));
    // Bond lengths that were rounded are restored within a step, and velocities get that impulse.
    const double dt = stepSizeOf(setup), acceleration = 200, length = 0.15;
    const double lengthError = precision.position + std::max(tolerance, precision.constraint) * length;
    const double velocityError =
        steps * (precision.velocity + dt * acceleration * precision.force) + 2 * lengthError / dt;
    const double positionError = lengthError + steps * dt * velocityError;
    const std::vector<TestSystem> parts = systemsInTheBoxOf(box);
    const End &expected = referenceRun(box, setup), found = run(box, setup);
    for (std::size_t i = 0; i < parts.size(); i++) {
        SCOPED_TRACE(parts[i].name);
        const Vectors x = partOf(parts, i, found.positions), v = partOf(parts, i, found.velocities);
        const double dx = distance(x, partOf(parts, i, expected.positions)),
                     dv = distance(v, partOf(parts, i, expected.velocities));
        EXPECT_LT(dx, positionError);
        EXPECT_LT(dv, velocityError);
        EXPECT_GT(distance(x, toVectors(parts[i].positions)), 1e-3) << "nothing moved";
    }
}

std::vector<ConstraintTests::Setup> deviceSetups() {
    std::vector<ConstraintTests::Setup> setups;
    for (const auto& all : {everySetup(), setupsOf("GeodesicLangevin")})
        for (const ConstraintTests::Setup& setup : all)
            if (isDevice(std::get<0>(setup)))
                setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Devices,
                         testing::Combine(testing::ValuesIn(deviceSetups()),
                                          testing::Values("rectangular", "triclinic")),
                         [](const auto& info) {
                             return nameOf(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

} // namespace
