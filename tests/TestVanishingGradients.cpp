// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Expressions whose gradient vanishes on their own surface, as that of (z1-h)^2: what is one, and what is said of it.
#include "CollectConstraints.h"
#include "VanishingGradient.h"
#include "support/BodySystems.h"
#include "support/ForeignRun.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Surfaces.h"
#include <numeric>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

// ---- which expressions
// --------------------------------------------------------------------------------------------------

namespace {

struct Sample {
    std::string expression;
    std::vector<Vectors> starts;
};

/** Heights of one particle. */
std::vector<Vectors> heights(const std::vector<double>& z) {
    std::vector<Vectors> starts;
    for (double height : z)
        starts.push_back({Vec3(0.1, -0.2, height)});
    return starts;
}

/** A second particle at such distances from the first, in no special direction. */
std::vector<Vectors> apart(const std::vector<double>& distances) {
    std::vector<Vectors> starts;
    for (double d : distances)
        starts.push_back({Vec3(1, 2, 3), Vec3(1 + 0.48 * d, 2 - 0.6 * d, 3 + 0.64 * d)});
    return starts;
}

/** Three particles with such an angle (rad). */
std::vector<Vectors> bent(const std::vector<double>& angles) {
    std::vector<Vectors> starts;
    for (double angle : angles)
        starts.push_back({Vec3(0.1, 0, 0), Vec3(), Vec3(0.12 * std::cos(angle), 0.12 * std::sin(angle), 0)});
    return starts;
}

/** On the surface, as nearly as rounding lets, off it, and far off. */
const std::vector<double> aroundPlane = {0.3, 0.3 + 1e-12, 0.3 - 1e-8, 0.3 + 1e-6, 0.31, 0.25, 0.6, -3};

const std::vector<Sample>& vanishing() {
    static const std::vector<Sample> list = {
        {"(z1-0.3)^2", heights(aroundPlane)},
        {"500*(z1-0.3)^2", heights(aroundPlane)},
        {"1e-9*(z1-0.3)^2", heights(aroundPlane)},
        {"z1^2-0.6*z1+0.09", heights({0.31, 0.25, 0.6, -3})}, // with the rounding of its terms
        {"(z1-0.3)^3", heights(aroundPlane)},
        {"(z1-0.3)^4", heights(aroundPlane)},
        {"abs(z1-0.3)^1.5", heights({0.31, 0.25, 0.6})},
        {"1-cos(z1-0.3)", heights({0.3, 0.31, 0.25, 0.6})},
        {"max(z1-0.3,0)^2", heights(aroundPlane)}, // a flat bottom
        {"step(z1-0.3)*(z1-0.3)^2", heights({0.2, 0.31})},
        {"x1^2+y1^2+(z1-0.3)^2", {{Vec3(0, 0, 0.3)}, {Vec3(0.01, -0.02, 0.3)}, {Vec3(0.3, 0.2, 0.5)}}},
        {"(x1^2+y1^2-0.25)^2", {{Vec3(0.5, 0, 7)}, {Vec3(0.3, 0.4, 1)}, {Vec3(0.6, 0.1, 0)}, {Vec3(0.1, 0.1, 0)}}},
        {"(distance(p1,p2)-0.15)^2", apart({0.15, 0.15001, 0.12, 0.4})},
        {"(x1-x2)^2+(y1-y2)^2+(z1-z2)^2", apart({0, 1e-9, 0.01, 0.4})},
        {"(angle(p1,p2,p3)-1.9)^2", bent({1.9, 1.93, 1.5})},
        {"cos(angle(p1,p2,p3))+1", bent({3.1, 2.8})}, // straight
    };
    return list;
}

const std::vector<Sample>& proper() {
    static const std::vector<Sample> list = {
        {"z1-0.3", heights(aroundPlane)},
        {"1e9*(z1-0.3)", heights(aroundPlane)},
        {"1e-9*(z1-0.3)", heights(aroundPlane)},
        {"z1^3-0.027", heights({0.3, 0.31, 0.001, 0, -0.4, 20})},
        {"exp(20*(z1-0.3))-1", heights({0.3, 0.31, 2, -0.2})}, // slow at first, far at first
        {"sinh(30*(z1-0.3))", heights({0.3, 0.31, 1, -1})},
        {"tanh(30*(z1-0.3))", heights({0.3, 0.31, 0.5})},
        {"atan(30*(z1-0.3))", heights({0.3, 0.31, 0.5})},
        {"log(z1/0.3)", heights({0.3, 0.31, 0.001, 3})},
        {"(z1-0.3)^2-1e-6", heights({0.3, 0.301, 0.299, 0.31, 0.2})}, // two planes, close to each other
        {"(z1-0.3)*(z1-0.31)", heights({0.3, 0.31, 0.305, 0.4})},
        {"(z1-0.3)^2+0.01", heights({0.3, 0.31, 2})}, // without any zero
        {"1/z1", heights({0.3, 2})},
        {"exp(-z1)", heights({0.3, 2})},
        {"x1^2+y1^2-z1^2", {{Vec3()}, {Vec3(1e-3, 0, 1e-3)}, {Vec3(0.01, 0, 0)}, {Vec3(0.3, 0.4, 0.5)}}}, // a cone
        {"x1^2+y1^2-9*z1^2", {{Vec3()}, {Vec3(0.01, 0, 0)}, {Vec3(0.3, 0.4, 0.5)}}},
        {"x1*y1", {{Vec3()}, {Vec3(0, 0.01, 0)}, {Vec3(1e-3, 1e-3, 0)}}},
        {"sqrt(x1^2+y1^2)-0.5", {{Vec3()}, {Vec3(0.5, 0, 0)}, {Vec3(1e-9, 0, 0)}, {Vec3(3, 0, 0)}}},
        {"x1^2+y1^2+z1^2-1", {{Vec3()}, {Vec3(1e-6, 0, 0)}, {Vec3(1, 0, 0)}, {Vec3(30, 40, 0)}}},
        {"x1^2+y1^2+z1^2-1e-4", {{Vec3(0.01, 0, 0)}, {Vec3(0, 0.0101, 0)}, {Vec3(0.5, 0, 0)}}},
        {"x1^2+y1^2+z1^2-1e-8", {{Vec3(1e-4, 0, 0)}, {Vec3(0, 1.2e-4, 0)}, {Vec3(0.1, 0, 0)}}}, // it bends at once
        {"(x1-x2)^2+(y1-y2)^2+(z1-z2)^2-0.01", apart({0, 1e-4, 0.05, 0.0999, 0.1, 0.1001, 0.3, 5})},
        {"distance(p1,p2)-0.1", apart({0, 1e-6, 0.0999, 0.1, 0.3, 5})},
        {"angle(p1,p2,p3)-3.1", bent({3.1, 3.141, 3.14159, 1, 0.01})},
        {"cos(angle(p1,p2,p3))+0.999", bent({3.1, 3.141, 2, 1})},
    };
    return list;
}

int numParticlesIn(const Sample& sample) {
    return (int) sample.starts[0].size();
}

/** A System with a CustomConstraintForce whose particles have different masses. */
std::unique_ptr<System> systemOf(int numParticles, const std::string& expression) {
    auto system = std::make_unique<System>();
    std::vector<int> particles(numParticles);
    std::iota(particles.begin(), particles.end(), 0);
    for (int p : particles)
        system->addParticle(1 + 11 * p);
    auto* force = new CustomConstraintForce(numParticles, expression);
    force->addConstraint(particles);
    system->addForce(force);
    return system;
}

VanishingGradient lookAt(const System& system, const Vectors& start) {
    const ConstraintSet set = collectConstraints(system, 1e-6, throwProblem);
    std::vector<int> all(set.constraints.size());
    std::iota(all.begin(), all.end(), 0);
    const Arrays x = toArrays(start);
    return findVanishingGradient(set, all, x.data(), x.data(), {}, 0);
}

} // namespace

TEST(VanishingGradient, IsFoundOnTheSurfaceAndOffIt) {
    for (const Sample& sample : vanishing())
        for (const Vectors& start : sample.starts) {
            const VanishingGradient found = lookAt(*systemOf(numParticlesIn(sample), sample.expression), start);
            EXPECT_EQ(found.constraint, 0) << sample.expression << " at " << start.back();
            EXPECT_LE(std::abs(found.near.sigma), 1e-6 * found.near.gradient) << sample.expression;
        }
}

TEST(VanishingGradient, IsNotFoundWhereSurfacesAreProperHoweverFarTheStart) {
    for (const Sample& sample : proper())
        for (const Vectors& start : sample.starts)
            EXPECT_EQ(lookAt(*systemOf(numParticlesIn(sample), sample.expression), start).constraint, -1)
                << sample.expression << " at " << start.back();
    for (const Surface& surface : surfaceTable()) {
        System system;
        system.addParticle(1);
        system.addForce(makeForce(surface, {0}));
        EXPECT_EQ(lookAt(system, {surface.near}).constraint, -1) << surface.name;
    }
}

TEST(VanishingGradient, HasTheValuesOfTheGivenPositions) {
    const VanishingGradient found = lookAt(*systemOf(1, "4*(z1-0.3)^2"), {Vec3(0, 0, 0.32)});
    EXPECT_NEAR(found.given.sigma, 4 * 0.02 * 0.02, 1e-12);
    EXPECT_NEAR(found.given.gradient, 8 * 0.02, 1e-12);
    EXPECT_NEAR(found.near.gradient, 4 * std::sqrt(found.near.sigma), 1e-9);
    const VanishingGradient onIt = lookAt(*systemOf(1, "(z1-0.25)^2"), {Vec3(0, 0, 0.25)});
    EXPECT_EQ(onIt.given.gradient, 0);
    EXPECT_EQ(onIt.near.gradient, 0);
}

TEST(VanishingGradient, IsFoundOfLargeGroupsAndBesideParticlesWithoutMass) {
    for (int size : {1, 2, 3000})
        for (const auto& [expression, isVanishing] : {std::pair("(distance(g1,g2)-1)^2", true),
                                                      {"distance(g1,g2)-1", false},
                                                      {"x1^2+y1^2-9*z1^2", false},
                                                      {"(z1-z2)^2", true},
                                                      {"z1-z2", false}})
            for (double z : {0.0, 1.0, 1.01, 1.4}) {
                System system;
                std::vector<int> groups[2];
                Vectors start;
                for (int i = 0; i < 2 * size; i++) {
                    groups[i % 2].push_back(system.addParticle(i < 2 && size > 1 ? 0 : 12 + i % 3));
                    start.emplace_back(0, 0, i % 2 * z);
                }
                auto* force = new CustomCentroidConstraintForce(2, expression);
                for (const auto& group : groups)
                    force->addGroup(group, std::vector<double>(size, 1));
                force->addConstraint({0, 1});
                system.addForce(force);
                const bool isDefined = z > 0 || std::string(expression).find("distance") == std::string::npos;
                EXPECT_EQ(lookAt(system, start).constraint, isVanishing && isDefined ? 0 : -1)
                    << expression << " of " << size << " at " << z;
            }
}

TEST(VanishingGradient, IsThatOfTheParticlesThatMove) {
    const auto system = systemOf(2, "(z1-0.3)^2+x2-1");
    for (double z : {0.3, 0.31}) {
        system->setParticleMass(1, 0);
        EXPECT_EQ(lookAt(*system, {Vec3(0, 0, z), Vec3(1, 0, 0)}).constraint, 0);
        system->setParticleMass(1, 1);
        EXPECT_EQ(lookAt(*system, {Vec3(0, 0, z), Vec3(1, 0, 0)}).constraint, -1);
    }
}

// ---- what is said ---------------------------------------------------------------------------------------------------

/** The first projection on one platform, by one solver. */
class VanishingGradients : public testing::TestWithParam<Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const std::vector<std::string> parts = {"its gradient vanishes on the surface", "|grad sigma|",
                                            "z1-h instead of (z1-h)^2"};

    /** A particle that (z1-0.25)^2 holds, bonded to another one. */
    std::unique_ptr<System> bonded(const std::string& expression) const {
        auto system = std::make_unique<System>();
        for (double mass : {12.0, 1.0})
            system->addParticle(mass);
        system->addConstraint(0, 1, 0.1);
        auto* names = new ConstraintForce();
        names->setParticleNames({"LIG:C1", "LIG:H1"});
        system->addForce(names);
        auto* force = new CustomConstraintForce(1, expression);
        force->addConstraint({0});
        system->addForce(force);
        auto* field = new CustomExternalForce("3*x-20*z");
        field->addParticle(0);
        system->addForce(field);
        return system;
    }
    /** Expect that what moves a state raises it and changes nothing. */
    void expectFound(Simulation& s, double z, const std::function<void()>& action) const {
        s.context->setPositions({Vec3(0.2, 0, z), Vec3(0.3, 0, z)});
        const Vectors before = s.positions();
        const ConstraintProblem problem = problemThrownBy(action);
        EXPECT_EQ(problem.kind, "no-gradient") << z;
        EXPECT_EQ(problem.constraints, std::vector<int>{1});
        EXPECT_EQ(problem.particles, std::vector<int>{0});
        expectAll(problem.text(), parts);
        expectAll(problem.message,
                  {"constraint 0 of the CustomConstraintForce with index 1, (z1-0.25)^2 = 0, (particle 0: LIG:C1)"});
        EXPECT_EQ(problem.text().find("step size"), std::string::npos) << problem.text();
        EXPECT_LT(problem.value, 1e-5);
        EXPECT_EQ(distance(s.positions(), before), 0);
    }
};

TEST_P(VanishingGradients, AreNamedAtTheFirstProjection) {
    Simulation s(bonded("(z1-0.25)^2"), makeIntegrator(GetParam(), 0.001, 1e-6), platform);
    for (double z : {0.25, 0.25 + 1e-7, 0.27, 0.6}) { // the last one farther than a step may move a particle
        expectFound(s, z, [&] { s.integrator->step(1); });
        expectFound(s, z, [&] { s.integrator->applyConstraints(); });
    }
    expectFound(s, 0.25, [&] { s.integrator->applyVelocityConstraints(); });
}

TEST_P(VanishingGradients, AreNamedWithTheirValues) {
    Simulation s(bonded("(z1-0.25)^2"), makeIntegrator(GetParam(), 0.001, 1e-6), platform);
    s.context->setPositions({Vec3(0.2, 0, 0.27), Vec3(0.3, 0, 0.27)});
    const std::string message = messageOf([&] { s.integrator->applyConstraints(); });
    expectAll(
        message,
        {"In the projection of the positions, sigma is 0.0004 and |grad sigma| 0.04 per nm at the given positions"});
    s.context->setPositions({Vec3(0.2, 0, 0.25), Vec3(0.3, 0, 0.25)});
    expectAll(messageOf([&] { s.integrator->step(1); }),
              {"In the projection before step 1, sigma is 0 and |grad sigma| 0 per nm at the given positions."});
}

TEST_P(VanishingGradients, AreNoneOfSurfacesWithAGradient) {
    // What the message says to do, and a sum of squares that is not zero.
    for (const char* expression : {"z1-0.25", "(x1-0.2)^2+y1^2+(z1-0.22)^2-0.0009"}) {
        Simulation s(bonded(expression), makeIntegrator(GetParam(), 0.001, 1e-6), platform);
        for (double z : {0.25, 0.26, 0.28}) {
            s.context->setPositions({Vec3(0.2, 0, z), Vec3(0.3, 0, z)});
            s.integrator->step(50);
            const Vec3 x = s.positions()[0];
            const double sigma = expression[0] == 'z' ? x[2] - 0.25 : length(x - Vec3(0.2, 0, 0.22)) - 0.03;
            EXPECT_NEAR(sigma, 0, 1e-6 + 4 * precisionOf(platform).position) << expression;
        }
    }
}

TEST_P(VanishingGradients, OfCentroidsAreNamed) {
    System* const system = new System();
    for (double mass : {12.0, 1.0, 16.0, 14.0})
        system->addParticle(mass);
    auto* force = new CustomCentroidConstraintForce(2, "(z1-z2-0.5)^2");
    force->addGroup({0, 1});
    force->addGroup({2, 3});
    force->addConstraint({0, 1});
    system->addForce(force);
    Simulation s(std::unique_ptr<System>(system), makeIntegrator(GetParam(), 0.001, 1e-6), platform);
    for (double z : {0.5, 0.52}) {
        s.context->setPositions({Vec3(0, 0, z), Vec3(0.1, 0, z), Vec3(), Vec3(0.1, 0, 0)});
        expectAll(messageOf([&] { s.integrator->step(1); }),
                  {parts[0], parts[2],
                   "constraint 0 of the CustomCentroidConstraintForce with index 0, (z1-z2-0.5)^2 = 0",
                   "particles 0, 1, 2 and 3"});
    }
}

INSTANTIATE_TEST_SUITE_P(All, VanishingGradients, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

/** Where the solver of OpenMM's integrators is replaced, and in a trial. */
class VanishingGradientsOfOthers : public testing::TestWithParam<std::string> {};

TEST_P(VanishingGradientsOfOthers, AreNamedUnderAReplacedSolver) {
    for (double z : {0.25, 0.26}) {
        auto system = systemOf(1, "(z1-0.25)^2");
        addReplacing(*system);
        ForeignRun run(std::move(system), makeForeign("LangevinMiddle", 0.001, 1e-6), GetParam());
        run.context->setPositions({Vec3(0, 0, z)});
        for (const std::function<void()>& action : std::vector<std::function<void()>>{
                 [&] { run.integrator->step(1); }, [&] { run.context->applyConstraints(1e-6); },
                 [&] { run.context->setVelocitiesToTemperature(300); }})
            expectAll(messageOf(action), {"its gradient vanishes on the surface", "z1-h instead of (z1-h)^2"});
    }
}

TEST_P(VanishingGradientsOfOthers, AreFoundByATrial) {
    const auto system = systemOf(1, "(z1-0.25)^2");
    RattleIntegrator integrator(0.001);
    for (double z : {0.25, 0.26, 0.5}) {
        const Start start{{Vec3(0, 0, z)}, {}, {Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2)}, 0};
        const Trial trial = tryStart(*system, integrator, start, requirePlatform(GetParam()), 3);
        ASSERT_EQ(trial.problems.size(), 1u);
        EXPECT_EQ(trial.problems[0].kind, "no-gradient");
        expectAll(trial.problems[0].text(), {"its gradient vanishes on the surface"});
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, VanishingGradientsOfOthers, testing::ValuesIn(hosts),
                         [](const auto& info) { return info.param; });
