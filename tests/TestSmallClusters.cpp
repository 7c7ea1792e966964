// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Devices serve clusters of distances by text for each shape of up to eight, larger ones by one text for all.
#include "support/LargeSystems.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class SmallClusters : public testing::TestWithParam<Setup> {
protected:
    static constexpr double dt = 0.001;
    const Precision precision = precisionOf(std::get<0>(GetParam()));

    /** Stars and rings of every size, side by side: they differ in masses, and share a launch. There are no forces,
     * which OpenMM would compute from rounded parameters. */
    static Simulation start(const ConstraintTests::Setup& setup) {
        std::vector<TestSystem> parts;
        for (const char* name : {"OH", "CH2", "CH3", "water", "ring", "rings", "star", "stars"})
            parts.push_back(findSystem(name));
        Simulation s(toOpenMM(parts, Declared::InForce), makeIntegrator(setup, dt, 1e-13), std::get<0>(setup));
        s.context->setPositions(positionsOf(parts));
        s.context->setVelocities(tangentVelocities(parts, 1, 3));
        return s;
    }
    static ConstraintTests::Setup onReference(ConstraintTests::Setup setup) {
        std::get<0>(setup) = "Reference";
        return setup;
    }
};

/** Those that do not drift. */
class SolvedSmallClusters : public SmallClusters {};

TEST_P(SmallClusters, GoWhereTheyGoOnReference) {
    Simulation s = start(GetParam()), reference = start(onReference(GetParam()));
    const Vectors before = s.positions();
    s.integrator->step(20);
    reference.integrator->step(20);
    EXPECT_LT(distance(s.positions(), reference.positions()), 1e-9 + 10 * precision.position);
    EXPECT_LT(distance(s.velocities(), reference.velocities()), 1e-6 + 1000 * precision.velocity);
    EXPECT_GT(distance(s.positions(), before), 1e-2);
    const std::vector<double> found = s.integrator->getMultipliers(), expected = reference.integrator->getMultipliers();
    ASSERT_EQ(found.size(), expected.size());
    double error = 0, largest = 0;
    for (std::size_t k = 0; k < found.size(); k++) {
        error = std::max(error, std::abs(found[k] - expected[k]));
        largest = std::max(largest, std::abs(expected[k]));
    }
    // What moves 10 amu by the rounding of a position in one step.
    EXPECT_LT(error, 1e-8 * largest + 10 * precision.position / (dt * dt));
}

TEST_P(SmallClusters, RepeatBitForBit) {
    Simulation first = start(GetParam()), second = start(GetParam());
    first.integrator->step(20);
    second.integrator->step(20);
    EXPECT_EQ(distance(first.positions(), second.positions()), 0);
    EXPECT_EQ(distance(first.velocities(), second.velocities()), 0);
}

TEST_P(SolvedSmallClusters, AreProjectedOnTheDeviceWhereSomeoneElseMayHaveMovedThem) {
    Simulation s = start(GetParam()), reference = start(onReference(GetParam()));
    s.integrator->setStepSize(40 * dt);
    s.integrator->setConstraintTolerance(0.2);
    const int maxIterations = s.integrator->getMaxIterations();
    s.integrator->setMaxIterations(1);
    s.integrator->step(1);
    s.integrator->setMaxIterations(maxIterations);
    for (Simulation* each : {&s, &reference}) {
        each->integrator->setStepSize(dt);
        each->integrator->setConstraintTolerance(1e-10);
    }
    s.context->getState(State::Forces); // which the integrator did not ask for
    const Vectors before = s.positions();
    reference.context->setPositions(before);
    reference.context->setVelocities(s.velocities());
    reference.integrator->applyConstraints();
    EXPECT_GT(distance(reference.positions(), before), 1e-8) << "there was nothing to project";
    if (std::get<2>(GetParam()) == "Rattle")
        reference.integrator->applyVelocityConstraints();
    for (Simulation* each : {&s, &reference})
        each->integrator->step(1);
    EXPECT_LT(distance(s.positions(), reference.positions()), 1e-9 + 10 * precision.position);
    EXPECT_LT(distance(s.velocities(), reference.velocities()), 1e-6 + 1000 * precision.velocity);
}

/** Dimers at rest whose lengths are wrong by the rounding of their positions only: Newton's method, which corrects once
 *  more than the iterative solver, must not answer the rounding of a squared length twice. */
TEST_P(SolvedSmallClusters, AnswerTheRoundingOfALengthOnce) {
    const double d = 0.1, masses[] = {16, 2}, mu = 16. * 2 / 18;
    const auto solve = [&](ConstraintIntegrator::Solver solver) {
        ConstraintTests::Setup setup = GetParam();
        std::get<1>(setup) = solver;
        auto system = std::make_unique<System>();
        auto* bonds = new ConstraintForce();
        Vectors r;
        Random random(7);
        for (int i = 0; i < 100; i++) {
            const int first = system->addParticle(masses[0]), second = system->addParticle(masses[1]);
            bonds->addDistance(first, second, d);
            const Real3 at = random.inCube(0.05), direction = random.inCube(1);
            const Vec3 start(at.x, at.y, at.z), u(direction.x, direction.y, direction.z);
            r.insert(r.end(), {start, start + u * (d / std::sqrt(u.dot(u)))});
        }
        system->addForce(bonds);
        Simulation s(std::move(system), makeIntegrator(setup, dt, 1e-9), std::get<0>(setup));
        s.context->setPositions(r);
        s.integrator->step(1);
        return s.integrator->getMultipliers();
    };
    const std::vector<double> newton = solve(ConstraintIntegrator::MatrixInversion),
                              iterative = solve(ConstraintIntegrator::Iterative);
    const double ofOneRounding = mu / (dt * dt) * 0.5 * std::numeric_limits<float>::epsilon() * d;
    for (std::size_t k = 0; k < newton.size(); k++)
        EXPECT_NEAR(newton[k], iterative[k], 0.05 * ofOneRounding);
    if (precision.position > 1e-10) { // there is something to answer
        EXPECT_GT(*std::max_element(newton.begin(), newton.end()), ofOneRounding);
    }
}

/** "(particles 0 and 8)" in the message of a step with one iteration, which is not enough; the state is left as it was.
 */
std::string worstBond(const char* system, const Setup& setup) {
    Simulation s = simulate(findSystem(system), Declared::InForce, setup, 0.004, 1e-6);
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each *= 5;
    s.context->setVelocities(v);
    s.integrator->setMaxIterations(1);
    if (auto* explicitForce = dynamic_cast<ConstraintForceIntegrator*>(s.integrator.get()))
        explicitForce->setMaxDrift(1e-5);
    const Vectors before = s.positions();
    const std::string message = messageOf([&] { s.integrator->step(1); });
    EXPECT_EQ(distance(s.positions(), before), 0) << message;
    const std::size_t begin = std::min(message.find("(particles"), message.size());
    return message.substr(begin, message.find(')', begin) - begin);
}

TEST_P(SmallClusters, NameTheBondThatIsWorstOnReference) {
    for (const char* name : {"CH3", "ring", "star"})
        EXPECT_EQ(worstBond(name, GetParam()), worstBond(name, onReference(GetParam()))) << name;
}

/** Of a singular matrix it has the value that it found: a bond that has turned by more than 90 degrees. */
TEST_P(SolvedSmallClusters, SayHowLongABondIsThatHasTurned) {
    for (const char* name : {"OH", "CH3", "water"}) {
        Simulation s = simulate(findSystem(name), Declared::InForce, GetParam(), 0.004, 1e-6);
        Vectors v = s.velocities();
        for (Vec3& each : v)
            each *= 300;
        s.context->setVelocities(v);
        const std::string message = messageOf([&] { s.integrator->step(1); });
        EXPECT_NE(message.find("value "), std::string::npos) << message;
        EXPECT_EQ(message.find("value 0 nm"), std::string::npos) << message;
    }
}

// ---- tolerances that floats can meet
// ----------------------------------------------------------------------------------

/** Stars, rings and triangles of every size, whose bonds a strong tension shortens or stretches: by up to a share of
 * their lengths, were there no constraints, in the first step. */
struct Strained {
    std::vector<TestSystem> parts;
    Simulation simulation;

    Strained(const ConstraintTests::Setup& setup, double tolerance, double share, const std::string& platform,
             std::vector<TestSystem> given = systems())
        : parts(std::move(given)), simulation(make(parts, setup, tolerance, share, platform)) {
    }
    static std::vector<TestSystem> systems() {
        std::vector<TestSystem> all;
        for (const char* name : {"OH", "CH2", "CH3", "water", "triangle", "ring", "rings", "star", "stars"})
            all.push_back(findSystem(name));
        for (int size = 1; size <= 8; size++) {
            Builder star("star of " + std::to_string(size));
            const int centre = star.particle(12, {0, 0, 0});
            for (int i = 0; i < size; i++)
                star.grow(centre, 1 + i);
            all.push_back(star.build());
        }
        return all;
    }
    /** Of any masses, one of them perhaps immovable, and lengths. */
    static std::vector<TestSystem> triangles() {
        std::vector<TestSystem> all;
        Random random(3);
        for (int n = 0; n < 200; n++) {
            Builder triangle("triangle " + std::to_string(n));
            const Real3 at{0.5 * (n % 8), 0.5 * (n / 8 % 5), 0.5 * (n / 40)};
            const double angle = 1.6 + 1.4 * random.inCube(1).x; // 11 to 172 degrees
            const auto mass = [&] { return std::pow(10, 1 + random.inCube(1).x); };
            const int first = triangle.particle(n % 7 == 3 ? 0 : mass(), at);
            const int second = triangle.particle(mass(), at + Real3{0.1 + 0.05 * random.inCube(1).x, 0, 0});
            const int third = triangle.particle(mass(), at + Real3{0.12 * std::cos(angle), 0.12 * std::sin(angle), 0});
            triangle.bond(third, second);
            triangle.bond(first, second);
            triangle.bond(third, first);
            all.push_back(triangle.build());
        }
        return all;
    }
    static constexpr double dt = 0.001;
    static Simulation make(const std::vector<TestSystem>& parts, const ConstraintTests::Setup& setup, double tolerance,
                           double share, const std::string& platform) {
        auto system = toOpenMM(parts, Declared::InForce);
        auto* tension = new CustomBondForce("f*r");
        tension->addPerBondParameter("f");
        const double kicks = std::get<2>(setup) == "Shake" ? 1 : 2; // of half a step
        Random random(5);
        int first = 0;
        for (const TestSystem& part : parts) {
            for (const auto& bond : part.bonds) {
                const double inverseMass = 1 / part.masses[bond.i] + 1 / part.masses[bond.j];
                const double move = share * bond.length * random.inCube(2).x / (int) part.bonds.size();
                tension->addBond(first + bond.i, first + bond.j, {kicks * move / (dt * dt * inverseMass)});
            }
            first += part.numParticles();
        }
        system->addForce(tension);
        Simulation s(std::move(system), makeIntegrator(setup, dt, tolerance), platform);
        s.context->setPositions(positionsOf(parts));
        s.context->setVelocities(tangentVelocities(parts, 1, 3));
        return s;
    }
    /** Relative errors of all lengths: their mean. */
    double meanError() const {
        const Vectors x = simulation.positions();
        double sum = 0;
        int first = 0, count = 0;
        for (const TestSystem& part : parts) {
            for (const auto& bond : part.bonds) {
                const Vec3 d = x[first + bond.i] - x[first + bond.j];
                sum += std::sqrt(d.dot(d)) / bond.length - 1;
                count++;
            }
            first += part.numParticles();
        }
        return sum / count;
    }
    /** Largest relative error of a length; of a rate, times the step size. */
    std::pair<double, double> errors() const {
        const Vectors x = simulation.positions(), v = simulation.velocities();
        double ofLengths = 0, ofRates = 0;
        int first = 0;
        for (const TestSystem& part : parts) {
            for (const auto& bond : part.bonds) {
                const Vec3 d = x[first + bond.i] - x[first + bond.j], u = v[first + bond.i] - v[first + bond.j];
                const double q = std::sqrt(d.dot(d));
                ofLengths = std::max(ofLengths, std::abs(q - bond.length) / bond.length);
                ofRates = std::max(ofRates, std::abs(d.dot(u)) / q * dt / bond.length);
            }
            first += part.numParticles();
        }
        return {ofLengths, ofRates};
    }
};

class CoarseSmallClusters : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const Precision precision = precisionOf(platform);
};

TEST_P(CoarseSmallClusters, MeetTheToleranceHoweverFarTheyHaveCome) {
    for (double share : {0.01, 0.1, 0.5, 0.6, 0.7}) {
        Strained strained(GetParam(), 1e-4, share, platform);
        for (double tolerance : {1e-4, 1e-5, 1e-6, 1e-7}) {
            strained.simulation.integrator->setConstraintTolerance(tolerance);
            for (int i = 0; i < 3; i++) {
                strained.simulation.integrator->step(1);
                const auto [ofLengths, ofRates] = strained.errors();
                // Lengths and rates are those of stored positions and velocities.
                EXPECT_LE(ofLengths, attainable(platform, tolerance, 0.05)) << share << ", " << tolerance;
                if (std::get<2>(GetParam()) == "Rattle") {
                    EXPECT_LE(ofRates, attainable(platform, tolerance, 0.05)) << share << ", " << tolerance;
                }
                const double reported = strained.simulation.integrator->getSolverSummary().maxError;
                EXPECT_LE(reported, std::max(tolerance, precision.constraint));
                EXPECT_GE(reported * (1 + 1e-6), ofLengths - precision.position / 0.05);
            }
        }
    }
}

/** Newton's method leaves lengths that are too large, floats some that are too small: an energy drifts by them. */
TEST_P(CoarseSmallClusters, HaveNoErrorsOfOneSign) {
    if (std::get<1>(GetParam()) == ConstraintIntegrator::Iterative || precision.position > 1e-10)
        return; // which has the rounding of its sweeps, or of stored positions
    for (double tolerance : {1e-5, 1e-7})
        for (double share : {0.003, 0.03}) {
            Strained strained(GetParam(), tolerance, share, platform, Strained::triangles());
            strained.simulation.integrator->step(1);
            EXPECT_LT(std::abs(strained.meanError()), 1e-10) << tolerance << ", " << share;
            Strained others(GetParam(), tolerance, share, platform);
            others.simulation.integrator->step(1);
            EXPECT_LT(std::abs(others.meanError()), 1e-10) << tolerance << ", " << share;
        }
}

TEST_P(CoarseSmallClusters, CloseTrianglesOfAnyMassesAndLengths) {
    for (double share : {0.01, 0.1, 0.3}) { // beyond these some turn by 90 degrees
        Strained strained(GetParam(), 1e-7, share, platform, Strained::triangles()),
            reference(GetParam(), 1e-12, share, "Reference", Strained::triangles());
        for (Simulation* each : {&strained.simulation, &reference.simulation})
            each->integrator->step(1);
        // OpenMM computes the tension from rounded parameters, and tolerances add up in thin triangles.
        EXPECT_LT(distance(strained.simulation.positions(), reference.simulation.positions()),
                  1e-6 + 10 * precision.position);
        EXPECT_LE(strained.errors().first, attainable(platform, 1e-7, 0.02)) << share;
    }
}

/** The largest difference, relative to the largest number. */
double relativeError(const std::vector<double>& found, const std::vector<double>& expected) {
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < expected.size(); k++) {
        largest = std::max(largest, std::abs(expected[k]));
        difference = std::max(difference, std::abs(found[k] - expected[k]));
    }
    return difference == 0 ? 0 : difference / largest;
}

std::vector<double> numbersOf(const Vectors& vectors) {
    std::vector<double> numbers;
    for (const Vec3& each : vectors)
        numbers.insert(numbers.end(), {each[0], each[1], each[2]});
    return numbers;
}

TEST_P(CoarseSmallClusters, HaveForcesOfSixDigitsInDoublePrecision) {
    if (platform.find("Double") == std::string::npos || std::get<1>(GetParam()) == ConstraintIntegrator::Iterative)
        return;
    for (double tolerance : {1e-5, 1e-6, 1e-7}) {
        Strained strained(GetParam(), tolerance, 0.01, platform), reference(GetParam(), 1e-13, 0.01, "Reference");
        for (Simulation* each : {&strained.simulation, &reference.simulation})
            each->integrator->step(1);
        const ConstraintIntegrator &found = *strained.simulation.integrator, &exact = *reference.simulation.integrator;
        const auto partsOf = [&](const std::vector<double>& all, std::size_t part) {
            std::size_t first = 0;
            for (std::size_t p = 0; p < part; p++)
                first += strained.parts[p].bonds.size();
            return std::vector<double>(all.begin() + first, all.begin() + first + strained.parts[part].bonds.size());
        };
        for (std::size_t p = 0; p < strained.parts.size(); p++) {
            EXPECT_LT(relativeError(partsOf(found.getMultipliers(), p), partsOf(exact.getMultipliers(), p)), 1e-6);
            EXPECT_LT(
                relativeError(partsOf(found.getVelocityMultipliers(), p), partsOf(exact.getVelocityMultipliers(), p)),
                1e-6);
            EXPECT_LT(relativeError(numbersOf(partOf(strained.parts, p, found.getConstraintForces())),
                                    numbersOf(partOf(strained.parts, p, exact.getConstraintForces()))),
                      1e-6);
        }
        EXPECT_LT(relativeError(numbersOf(found.getConstraintVirial()), numbersOf(exact.getConstraintVirial())), 1e-6);
    }
}

std::vector<Setup> setups(std::vector<const char*> integrators) {
    std::vector<Setup> all;
    for (const std::string& platform : platformsUnderTest())
        if (isDevice(platform)) {
            for (const char* integrator : integrators)
                all.emplace_back(platform, ConstraintIntegrator::MatrixInversion, integrator);
            all.emplace_back(platform, ConstraintIntegrator::Iterative, "Rattle");
        }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Devices, SmallClusters,
                         testing::ValuesIn(setups({"Rattle", "Shake", "FrictionlessLangevin", "ConstraintForce"})),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Devices, SolvedSmallClusters,
                         testing::ValuesIn(setups({"Rattle", "Shake", "FrictionlessLangevin"})),
                         [](const auto& info) { return nameOf(info.param); });

INSTANTIATE_TEST_SUITE_P(Devices, CoarseSmallClusters, testing::ValuesIn(setups({"Rattle", "Shake"})),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
