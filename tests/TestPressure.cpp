// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The pressure by scaling atoms, against the motion itself: as long as nothing interacts across the box,
//     V P_ab = sum_i m_i v_a v_b + sum_i r_a G_b = d/dt sum_i m_i r_a v_b,   symmetrized,
// with G the sum of all forces, those of the constraints too. Short steps of RATTLE forth and back give this
// derivative.
#include "ForceVirial.h"
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/PressedParticles.h"
#include "support/ProbeForce.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

using Tensor = Vectors;

/** Elements of a tensor and of what has to equal it: how far they are apart, at most, beyond some times the error of
 * each. */
double excess(const Tensor& found, const Tensor& wanted, const Tensor& errors, double times) {
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            worst = std::max(worst, std::abs(found[i][j] - wanted[i][j]) - times * errors[i][j]);
    return worst;
}

double largest(const Tensor& tensor) {
    double result = 0;
    for (const Vec3& row : tensor)
        for (int j = 0; j < 3; j++)
            result = std::max(result, std::abs(row[j]));
    return result;
}

/** Bound of relative errors, beyond those that are returned. The short steps err by 3e-6. */
double relativeBound(const std::string& platform) {
    return 1e-5 + 100 * precisionOf(platform).force;
}

class Pressures : public testing::TestWithParam<std::tuple<ConstraintTests::Setup, BoxShape>> {
protected:
    const ConstraintTests::Setup setup = std::get<0>(GetParam());
    const std::string platform = std::get<0>(setup);
    PressedParticles particles{std::get<1>(GetParam())};

    Simulation start(double stepSize = 0.0005) {
        return particles.simulate(setup, stepSize);
    }
};

} // namespace

TEST(Differences, AreExtrapolatedAndOverstateTheirError) {
    const Derivative repulsion = differentiate([](double e) { return std::pow(1 + e, -12); });
    EXPECT_NEAR(repulsion.value, -12, 2e-8); // plain differences over 5e-4 err by 9e-5
    EXPECT_GT(repulsion.error, 100 * std::abs(repulsion.value + 12));
    EXPECT_LT(repulsion.error, 1e-3);
    const Derivative jump = differentiate([](double e) { return e > 0 ? 1.0 : 0.0; });
    EXPECT_GT(jump.error, 400);
}

TEST_P(Pressures, AreTheRateOfChangeOfPositionsTimesMomenta) {
    Simulation s = start();
    s.integrator->step(4);
    Tensor errors;
    const Tensor tensor = s.integrator->computePressureTensor(errors);
    double error = 0;
    const double pressure = s.integrator->computePressure(error);
    const Tensor expected = particles.rateOfPositionsTimesMomenta(s);
    const double size = largest(expected);
    EXPECT_GT(size, 30);
    EXPECT_LT(largest(errors), 0.03 * size);
    EXPECT_LT(excess(tensor, expected, errors, 1), relativeBound(platform) * size);
    EXPECT_NEAR(pressure, (expected[0][0] + expected[1][1] + expected[2][2]) / 3,
                error + relativeBound(platform) * size);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            EXPECT_EQ(tensor[i][j], tensor[j][i]);
}

/** Every integrator on the host; devices have different ones in each precision. */
static std::vector<Setup> setupsOfMost() {
    std::vector<Setup> setups;
    for (const char* integrator : {"RattleMTSLangevin", "Shake", "Rattle", "RattleLangevin", "GeodesicLangevin",
                                   "RattleNoseHoover", "RattleMTS"})
        for (const Setup& setup : setupsOf(integrator))
            if (std::get<1>(setup) == ConstraintIntegrator::MatrixInversion || isDevice(std::get<0>(setup)))
                setups.push_back(setup);
    return oneSetupOfEach(setups);
}

static std::string nameOfCase(const testing::TestParamInfo<Pressures::ParamType>& info) {
    return nameOf(std::get<0>(info.param)) + "_" + nameOf(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Integrators, Pressures,
                         testing::Combine(testing::ValuesIn(setupsOfMost()), testing::Values(BoxShape::Dodecahedron)),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Boxes, Pressures,
                         testing::Combine(testing::ValuesIn(oneSetupOfEach(setupsOf("Rattle"))),
                                          testing::Values(BoxShape::Rectangular, BoxShape::Octahedron)),
                         nameOfCase);

namespace {

class UndisturbedRuns : public testing::TestWithParam<std::tuple<ConstraintTests::Setup, BoxShape>> {
protected:
    const ConstraintTests::Setup setup = std::get<0>(GetParam());
    PressedParticles particles{std::get<1>(GetParam())};
};

struct EndOfRun {
    Vectors positions, velocities, box{3};
    std::vector<double> multipliers;
    double time;
    long long steps;
    std::map<std::string, double> parameters;
};

EndOfRun endOf(Simulation& s) {
    EndOfRun o;
    const State state = s.context->getState(State::Positions | State::Velocities | State::Parameters);
    o.positions = state.getPositions();
    o.velocities = state.getVelocities();
    state.getPeriodicBoxVectors(o.box[0], o.box[1], o.box[2]);
    o.multipliers = s.integrator->getMultipliers();
    o.time = state.getTime();
    o.steps = s.context->getStepCount();
    o.parameters = state.getParameters();
    return o;
}

void expectSame(const EndOfRun& a, const EndOfRun& b) {
    EXPECT_EQ(distance(a.positions, b.positions), 0);
    EXPECT_EQ(distance(a.velocities, b.velocities), 0);
    EXPECT_EQ(distance(a.box, b.box), 0);
    EXPECT_EQ(a.multipliers, b.multipliers);
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.parameters, b.parameters);
}

} // namespace

TEST_P(UndisturbedRuns, RepeatBitForBitWhateverPressuresAreComputedInBetween) {
    EndOfRun ends[2];
    int evaluations[2];
    for (int measured : {0, 1}) {
        Probe probe;
        PressedParticles some = particles;
        some.probe = &probe;
        some.hasBarostat = true;
        Simulation s = some.simulate(setup, 0.0005);
        s.integrator->setWarmStart(true);
        s.integrator->step(3);
        const int before = probe.forceEvaluations;
        for (int i = 0; i < 3; i++) {
            if (measured) {
                Tensor errors;
                double error;
                s.integrator->computePressure(error);
                const EndOfRun then = endOf(s);
                s.integrator->computePressureTensor(errors);
                expectSame(then, endOf(s));
            }
            s.integrator->step(2);
        }
        ends[measured] = endOf(s);
        evaluations[measured] = probe.forceEvaluations - before;
    }
    expectSame(ends[0], ends[1]);
    // Those of Rattle and its like keep forces from step to step, which serve the pressure, too.
    const std::string name = std::get<2>(setup);
    const bool keepsForces = name == "Rattle" || name == "RattleNoseHoover" || name == "GeodesicLangevin";
    // An energy of a sheared box, which another Context computes for a device, is computed with its forces.
    const int elsewhere = isDevice(std::get<0>(setup)) ? 3 * 12 : 0;
    EXPECT_EQ(evaluations[1], evaluations[0] + (keepsForces ? 0 : 6) + elsewhere);
}

TEST_P(UndisturbedRuns, GoOnAfterAnEnergyThatThrows) {
    EndOfRun ends[2];
    for (int fails : {0, 1}) {
        Probe probe;
        PressedParticles some = particles;
        some.probe = &probe;
        Simulation s = some.simulate(setup, 0.0005);
        s.integrator->step(3);
        if (fails)
            for (int evaluation : {0, 2}) {
                const EndOfRun then = endOf(s);
                probe.throwAtEnergy = probe.energyEvaluations + evaluation;
                double error;
                Tensor errors;
                expectAll(messageOf([&] { s.integrator->computePressure(error); }), {"the probe fails"});
                probe.throwAtEnergy = probe.energyEvaluations + evaluation;
                expectAll(messageOf([&] { s.integrator->computePressureTensor(errors); }), {"the probe fails"});
                probe.throwAtEnergy = -1;
                expectSame(then, endOf(s));
            }
        s.integrator->step(3);
        ends[fails] = endOf(s);
    }
    expectSame(ends[0], ends[1]);
}

/** Forces of OpenMM's CPU platform need not repeat. */
static std::vector<Setup> repeatingSetups() {
    std::vector<Setup> setups;
    for (const Setup& setup : setupsOfMost())
        if (std::get<0>(setup) != "CPU")
            setups.push_back(setup);
    for (const Setup& setup : setupsOf("Rattle")) // with warm starts
        if (std::get<0>(setup) == "Reference" && std::get<1>(setup) == ConstraintIntegrator::Iterative)
            setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Pressures, UndisturbedRuns,
                         testing::Combine(testing::ValuesIn(repeatingSetups()), testing::Values(BoxShape::Rectangular)),
                         nameOfCase);

namespace {

class Networks : public testing::TestWithParam<std::tuple<std::string, BoxShape>> {};

} // namespace

/** Springs whose forces are those of the constraints at this moment, instead of the constraints: the virial of a
 * network that has no ends is that of its links. */
TEST_P(Networks, PressAsSpringsWithTheSameForces) {
    const auto [platform, shape] = GetParam();
    const SpanningNetwork network(shape);
    const ConstraintTests::Setup setup{platform, ConstraintIntegrator::MatrixInversion, "Rattle"};
    Simulation held = network.simulate(setup, {});
    held.integrator->step(5);
    const std::vector<double> lambda = held.integrator->computeMultipliers();
    Simulation sprung = network.simulate(setup, lambda);
    sprung.context->setPositions(held.positions());
    sprung.context->setVelocities(held.velocities());
    Tensor errors, ofSprings;
    const Tensor tensor = held.integrator->computePressureTensor(errors),
                 expected = sprung.integrator->computePressureTensor(ofSprings);
    const double size = largest(expected);
    EXPECT_GT(size, 100);
    EXPECT_LT(excess(tensor, expected, ofSprings, 1), relativeBound(platform) * size);
    double error;
    const double pressure = held.integrator->computePressure(error), other = sprung.integrator->computePressure(error);
    EXPECT_NEAR(pressure, other, error + relativeBound(platform) * size);
    // What constraints add is much.
    const Tensor W = held.integrator->getConstraintVirial();
    EXPECT_GT(std::abs(W[0][0] + W[1][1] + W[2][2]) * 16.6 / (3 * network.volume()), 0.1 * size);
}

TEST_P(Networks, HaveTheSamePressureInEveryImage) {
    const auto [platform, shape] = GetParam();
    const SpanningNetwork network(shape);
    const ConstraintTests::Setup setup{platform, ConstraintIntegrator::MatrixInversion, "Rattle"};
    Simulation s = network.simulate(setup, {});
    s.integrator->step(5);
    double error;
    const double pressure = s.integrator->computePressure(error);
    Tensor errors;
    const Tensor tensor = s.integrator->computePressureTensor(errors);
    const Vectors v = s.velocities();
    s.context->setPositions(network.wrapped(s.positions()));
    s.context->setVelocities(v);
    const double bound = relativeBound(platform) * largest(tensor);
    double errorThere;
    EXPECT_NEAR(s.integrator->computePressure(errorThere), pressure, error + errorThere + bound);
    EXPECT_LT(excess(s.integrator->computePressureTensor(errors), tensor, errors, 2), bound);
}

/** The CPU platform of OpenMM 8.4 and 8.5 leaves out pairs of particles in a small rhombic dodecahedron. */
static std::vector<std::tuple<std::string, BoxShape>> networks() {
    const std::string series = Platform::getOpenMMVersion().substr(0, 3);
    std::vector<std::tuple<std::string, BoxShape>> all;
    for (const std::string& platform : platformsUnderTest())
        for (BoxShape shape : {BoxShape::Rectangular, BoxShape::Octahedron, BoxShape::Dodecahedron})
            if (platform != "CPU" || shape != BoxShape::Dodecahedron || (series != "8.4" && series != "8.5"))
                all.emplace_back(platform, shape);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Pressures, Networks, testing::ValuesIn(networks()), [](const auto& info) {
    return std::get<0>(info.param) + "_" + nameOf(std::get<1>(info.param));
});

namespace {

class PressureRefusals : public testing::TestWithParam<std::string> {
protected:
    std::unique_ptr<System> system;
    ConstraintForce* force = nullptr;
    std::vector<int> particles; // of the last refusal
    void SetUp() override {
        system = std::make_unique<System>();
        force = new ConstraintForce();
        for (int i = 0; i < 4; i++)
            system->addParticle(12);
        system->addForce(force);
        force->addDistance(0, 1, 0.15);
        force->setUsesPeriodicBoundaryConditions(true);
        system->setDefaultPeriodicBoxVectors({2, 0, 0}, {0, 2, 0}, {0, 0, 2});
    }
    std::string refusal(int groups = -1) {
        auto integrator = makeIntegrator({GetParam(), ConstraintIntegrator::MatrixInversion, "Rattle"}, 0.001);
        integrator->setIntegrationForceGroups(groups);
        Simulation s(std::move(system), std::move(integrator), GetParam());
        s.context->setPositions({Vec3(), Vec3(0.15, 0, 0), Vec3(0, 0.5, 0), Vec3(0.5, 0, 0)});
        double error;
        const std::string message = messageOf([&] { s.integrator->computePressure(error); });
        particles = problemThrownBy([&] { s.integrator->computePressure(error); }).particles;
        Tensor errors;
        EXPECT_EQ(messageOf([&] { s.integrator->computePressureTensor(errors); }), message);
        return message;
    }
};

} // namespace

TEST_P(PressureRefusals, NameWhatHasNoBox) {
    force->setUsesPeriodicBoundaryConditions(false);
    expectAll(refusal(), {"periodic", "setUsesPeriodicBoundaryConditions"});
}

TEST_P(PressureRefusals, NameMasslessParticlesButVirtualSites) {
    system->setParticleMass(3, 0);
    system->setVirtualSite(3, new TwoParticleAverageSite(0, 1, 0.5, 0.5));
    system->setParticleMass(2, 0);
    expectAll(refusal(), {"particle 2", "no mass", "setParticleMass(2"});
    EXPECT_EQ(particles, std::vector<int>{2});
}

TEST_P(PressureRefusals, NameSurfacesAndNoDifferences) {
    auto* custom = new CustomConstraintForce(2, "z1 - z2 + r; r = 0.1*(x1 - x2)");
    custom->addConstraint({2, 3}, {});
    system->addForce(custom);
    auto* surface = new CustomConstraintForce(1, "x1^2 + y1^2 - 0.25");
    surface->addConstraint({3}, {});
    system->addForce(surface);
    expectAll(refusal(), {"x1^2 + y1^2 - 0.25", "particle 3", "along x", "getConstraintVirial"});
}

TEST_P(PressureRefusals, NameExternalForcesThatAreIntegrated) {
    for (bool isIntegrated : {false, true}) {
        SetUp();
        auto* external = new CustomExternalForce("z^2");
        external->addParticle(2);
        external->setForceGroup(3);
        system->addForce(external);
        const std::string message = refusal(isIntegrated ? -1 : ~(1 << 3));
        if (isIntegrated)
            expectAll(message, {"CustomExternalForce", "Force 1", "removeForce(1)"});
        else
            EXPECT_EQ(message, "");
    }
}

TEST_P(PressureRefusals, NameEnergiesThatAreNotFinite) {
    auto* bond = new CustomBondForce("sqrt(0.5 - r)"); // not a number where it is longer
    bond->addBond(2, 3, {});
    bond->setUsesPeriodicBoundaryConditions(true);
    system->addForce(bond);
    auto integrator = makeIntegrator({GetParam(), ConstraintIntegrator::MatrixInversion, "Rattle"}, 0.001);
    Simulation s(std::move(system), std::move(integrator), GetParam());
    s.context->setPositions({Vec3(), Vec3(0.15, 0, 0), Vec3(0, 0, 0.4999), Vec3(0, 0, 0)});
    double error;
    expectAll(messageOf([&] { s.integrator->computePressure(error); }), {"not finite", "minimize"});
}

INSTANTIATE_TEST_SUITE_P(Platforms, PressureRefusals, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });
