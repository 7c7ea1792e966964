// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Statistics.h"
#include <limits>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

RattleNoseHooverIntegrator& noseHoover(const Simulation& s) {
    return dynamic_cast<RattleNoseHooverIntegrator&>(*s.integrator);
}

double conserved(const Simulation& s) {
    return s.energy() + noseHoover(s).computeHeatBathEnergy();
}

} // namespace

class NoseHoover : public testing::TestWithParam<Setup> {
protected:
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    const Precision precision = precisionOf(platform());
    Simulation start(double dt, double tolerance = 1e-10) const {
        return simulate(findSystem("chain"), Declared::InForce, GetParam(), dt, tolerance);
    }
};

TEST_P(NoseHoover, ConservesTheEnergyOfSystemAndBathToSecondOrder) {
    const double shortStep = precision.position > 1e-8 ? 0.002 : 0.0005, time = 0.3;
    double errors[2], exchanged = 0;
    for (int halved : {0, 1}) {
        const double dt = halved ? shortStep : 2 * shortStep;
        Simulation s = start(dt, 1e-12);
        EXPECT_EQ(noseHoover(s).computeHeatBathEnergy(), 0);
        const double initial = conserved(s);
        errors[halved] = 0;
        for (int i = 0; i < std::lround(time / dt); i++) {
            s.integrator->step(1);
            errors[halved] = std::max(errors[halved], std::abs(conserved(s) - initial));
            exchanged = std::max(exchanged, std::abs(noseHoover(s).computeHeatBathEnergy()));
        }
        const TestSystem& chain = findSystem("chain");
        EXPECT_TRUE(Verifier(toConstraintSet(chain), chain.box, toArrays(s.positions()))
                        .holdsVelocities(toArrays(s.velocities()), dt, 1.01 * attainable(platform(), 1e-9)));
    }
    EXPECT_NEAR(errors[0] / errors[1], 4, 1);
    EXPECT_GT(exchanged, 20 * errors[0]) << "the bath has to take part for this to mean anything";
}

TEST_P(NoseHoover, IsTheSameOnEveryPlatform) {
    Simulation s = start(0.002),
               reference = simulate(findSystem("chain"), Declared::InForce,
                                    {"Reference", ConstraintIntegrator::MatrixInversion, "RattleNoseHoover"}, 0.002);
    s.integrator->step(20);
    reference.integrator->step(20);
    EXPECT_LT(distance(s.positions(), reference.positions()), 1e-8 + 100 * precision.position + 0.01 * precision.force);
    EXPECT_NEAR(noseHoover(s).computeHeatBathEnergy(), noseHoover(reference).computeHeatBathEnergy(),
                1e-5 + 3 * precision.force + 1e4 * precision.velocity);
    EXPECT_GT(std::abs(noseHoover(reference).computeHeatBathEnergy()), 1);
}

TEST_P(NoseHoover, ReturnsItsChainToTheLastGoodStepOfMany) {
    const auto runaway = [&] {
        auto system = toOpenMM(findSystem("chain"), Declared::InForce);
        addSprings(*system, findSystem("chain"));
        auto* slope = new CustomExternalForce("-2000*(x+0.2)^3");
        slope->addParticle(1, {});
        system->addForce(slope);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.004, 1e-8), platform());
        s.context->setPositions(toVectors(findSystem("chain").positions));
        s.context->setVelocities(tangentVelocities(findSystem("chain"), 0.3, 5));
        return s;
    };
    Simulation s = runaway();
    s.integrator->step(1); // so that what steps do in turns begins with the other one
    EXPECT_NE(messageOf([&] { s.integrator->step(1000); }), "");
    const int good = (int) s.context->getStepCount();
    EXPECT_GT(good, 2);
    Simulation until = runaway();
    until.integrator->step(good);
    EXPECT_EQ(noseHoover(s).computeHeatBathEnergy(), noseHoover(until).computeHeatBathEnergy());
    EXPECT_EQ(distance(s.positions(), until.positions()), 0);
    EXPECT_EQ(distance(s.velocities(), until.velocities()), 0);
}

TEST_P(NoseHoover, FollowsABathThatBecomesMuchColder) {
    Simulation s = start(0.002);
    s.context->setVelocitiesToTemperature(379, 3);
    s.integrator->step(20);
    noseHoover(s).setTemperature(0.1);
    noseHoover(s).setCollisionFrequency(50);
    s.integrator->step(100);
    EXPECT_EQ(s.context->getStepCount(), 120);
    EXPECT_LT(s.context->getState(State::Energy).getKineticEnergy(),
              0.1 * 0.5 * BOLTZ * 379 * s.integrator->getNumDegreesOfFreedom());
}

TEST_P(NoseHoover, SaysThatTheBathIsToBlameWhereItCannotFollow) {
    Simulation s = start(0.002);
    noseHoover(s).setTemperature(1e-30);
    noseHoover(s).setCollisionFrequency(1e6);
    const Vectors x = s.positions(), v = s.velocities();
    expectAll(messageOf([&] { s.integrator->step(5); }),
              {"The Nose-Hoover chain cannot follow in step 1", "the heat bath 1e-30 K", "setVelocitiesToTemperature"});
    EXPECT_EQ(s.context->getStepCount(), 0);
    EXPECT_EQ(noseHoover(s).computeHeatBathEnergy(), 0);
    EXPECT_EQ(distance(s.positions(), x), 0);
    EXPECT_EQ(distance(s.velocities(), v), 0);
}

TEST_P(NoseHoover, TakesOtherSettingsBetweenSteps) {
    Simulation s = start(0.002);
    s.integrator->step(3);
    s.integrator->setStepSize(0.001);
    noseHoover(s).setTemperature(1000);
    noseHoover(s).setCollisionFrequency(40);
    const double initial = conserved(s), bath = noseHoover(s).computeHeatBathEnergy();
    s.integrator->step(50);
    EXPECT_LT(noseHoover(s).computeHeatBathEnergy(), bath - 20) << "it heats now";
    EXPECT_NEAR(conserved(s), initial, 1);
}

TEST_P(NoseHoover, ContinuesAStateAndACheckpoint) {
    Simulation original = start(0.002), restored = start(0.002);
    original.integrator->step(5);
    restored.integrator->step(2);
    const State state = original.context->getState(State::Positions | State::Velocities | State::IntegratorParameters);
    restored.context->setState(state);
    EXPECT_EQ(noseHoover(restored).computeHeatBathEnergy(), noseHoover(original).computeHeatBathEnergy());
    original.integrator->step(10);
    restored.integrator->step(10);
    EXPECT_LT(distance(original.positions(), restored.positions()), 1e-9 + precision.position);
    EXPECT_NEAR(noseHoover(restored).computeHeatBathEnergy(), noseHoover(original).computeHeatBathEnergy(),
                1e-6 + 3 * precision.force);
    std::stringstream checkpoint;
    original.context->createCheckpoint(checkpoint);
    original.integrator->step(10);
    restored.context->loadCheckpoint(checkpoint);
    restored.integrator->step(10);
    EXPECT_EQ(distance(original.positions(), restored.positions()), 0);
    EXPECT_EQ(distance(original.velocities(), restored.velocities()), 0);
    EXPECT_EQ(noseHoover(restored).computeHeatBathEnergy(), noseHoover(original).computeHeatBathEnergy());
}

TEST_P(NoseHoover, LeavesASystemWithoutDegreesOfFreedomAtRest) {
    auto system = std::make_unique<System>();
    system->addParticle(12);
    auto* constraints = new ConstraintForce();
    for (int axis = 0; axis < 3; axis++)
        constraints->addDistance(0, system->addParticle(0), 1);
    system->addForce(constraints);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002), platform());
    const Vectors x = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};
    s.context->setPositions(x);
    s.integrator->step(3);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 0);
    EXPECT_EQ(distance(s.positions(), x), 0);
    EXPECT_EQ(noseHoover(s).computeHeatBathEnergy(), 0);
}

TEST_P(NoseHoover, SamplesTheCanonicalEnsembleOfTheDegreesOfFreedomByRank) {
    // Linear rigid molecules of three atoms with three distances have five degrees of freedom.
    const int molecules = 8, dof = 5 * molecules, samples = isDevice(platform()) ? 400 : 1600;
    auto system = std::make_unique<System>();
    auto* bonds = new ConstraintForce();
    auto* well = new CustomExternalForce("800*(x*x+1.3*y*y+0.8*z*z)+200*x*y");
    auto* repulsion = new CustomNonbondedForce("40*exp(-(r/0.12)^2)");
    Vectors x;
    for (int m = 0; m < molecules; m++) {
        const Vec3 centre(0.15 * (m % 2), 0.15 * (m / 2 % 2), 0.15 * (m / 4));
        const int first = system->getNumParticles();
        for (int i = 0; i < 3; i++) {
            well->addParticle(system->addParticle(i == 1 ? 12 : 16), {});
            repulsion->addParticle({});
            x.push_back(centre + Vec3(0.116 * (i - 1), 0, 0));
        }
        bonds->addDistance(first, first + 1, 0.116);
        bonds->addDistance(first + 1, first + 2, 0.116);
        bonds->addDistance(first, first + 2, 0.232);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++)
                repulsion->addExclusion(first + i, first + j);
    }
    for (Force* force : std::vector<Force*>{bonds, well, repulsion})
        system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.004, 1e-6), platform());
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), dof);
    s.context->setPositions(x);
    s.context->setVelocitiesToTemperature(300, 1);
    s.integrator->step(500);
    std::vector<double> temperatures, squares;
    for (int i = 0; i < samples; i++) {
        s.integrator->step(10);
        temperatures.push_back(s.integrator->computeSystemTemperature());
        squares.push_back(std::pow(temperatures.back() - 300, 2));
    }
    const Mean mean = meanOf(temperatures, 40), variance = meanOf(squares, 40);
    const double expected = 300 * 300 * 2.0 / dof;
    // Seven standard errors, which 40 blocks know well enough for a chance of 2e-8.
    EXPECT_NEAR(mean.value, 300, 7 * mean.error);
    EXPECT_NEAR(variance.value, expected, 7 * variance.error);
    EXPECT_LT(7 * mean.error, 0.12 * 300) << "too few samples to tell";
    EXPECT_LT(7 * variance.error, 1.1 * expected) << "too few samples to tell";
}

INSTANTIATE_TEST_SUITE_P(Platforms, NoseHoover, testing::ValuesIn(setupsOf("RattleNoseHoover")),
                         [](const auto& info) { return nameOf(info.param); });

TEST(RattleNoseHooverIntegrator, SaysWhatItWasTold) {
    RattleNoseHooverIntegrator integrator(310, 2, 0.003);
    EXPECT_EQ(integrator.getTemperature(), 310);
    EXPECT_EQ(integrator.getCollisionFrequency(), 2);
    EXPECT_EQ(integrator.getStepSize(), 0.003);
    EXPECT_EQ(integrator.getChainLength(), 3);
    EXPECT_EQ(integrator.getNumMultiTimeSteps(), 3);
    EXPECT_EQ(integrator.getNumYoshidaSuzukiTimeSteps(), 7);
    integrator.setTemperature(100);
    integrator.setCollisionFrequency(30);
    EXPECT_EQ(integrator.getTemperature(), 100);
    EXPECT_EQ(integrator.getCollisionFrequency(), 30);
    expectAll(messageOf([&] { integrator.computeHeatBathEnergy(); }), {"not bound to a context"});
}

TEST(RattleNoseHooverIntegrator, RefusesWhatIsNoHeatBath) {
    RattleNoseHooverIntegrator integrator(310, 2, 0.003);
    for (double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        std::ostringstream got;
        got << "got " << bad;
        expectAll(messageOf([&] { integrator.setTemperature(bad); }), {"temperature", got.str()});
        expectAll(messageOf([&] { integrator.setCollisionFrequency(bad); }), {"collision frequency", got.str()});
        expectAll(messageOf([&] { RattleNoseHooverIntegrator(bad, 1, 0.001); }), {"temperature"});
        expectAll(messageOf([&] { RattleNoseHooverIntegrator(300, bad, 0.001); }), {"collision frequency"});
    }
    expectAll(messageOf([&] { RattleNoseHooverIntegrator(300, 1, -0.001); }), {"step size"});
    for (int wrong : {0, -1, 1001, std::numeric_limits<int>::max()}) {
        const std::string got = "1 to 1000; got " + std::to_string(wrong);
        expectAll(messageOf([&] { RattleNoseHooverIntegrator(300, 1, 0.001, wrong); }), {"chainLength", got});
        expectAll(messageOf([&] { RattleNoseHooverIntegrator(300, 1, 0.001, 3, wrong); }), {"numMTS", got});
    }
    EXPECT_EQ(RattleNoseHooverIntegrator(300, 1, 0.001, 1000, 1000).getChainLength(), 1000);
    expectAll(messageOf([&] { RattleNoseHooverIntegrator(300, 1, 0.001, 3, 3, 4); }), {"numYoshidaSuzuki", "got 4"});
    EXPECT_EQ(integrator.getTemperature(), 310);
    EXPECT_EQ(integrator.getCollisionFrequency(), 2);
}

TEST(RattleNoseHooverIntegrator, RefusesConstraintsThatMove) {
    const auto creating = [&](Force* force, std::unique_ptr<Simulation>& s) {
        auto system = std::make_unique<System>();
        system->addParticle(12);
        system->addParticle(16);
        system->addForce(force);
        return messageOf([&] {
            s = std::make_unique<Simulation>(std::move(system),
                                             std::make_unique<RattleNoseHooverIntegrator>(300, 20, 0.002), "Reference");
        });
    };
    std::unique_ptr<Simulation> s;
    auto* pulled = new ConstraintForce();
    pulled->addDistance(0, 1, 0.1, 0.01);
    expectAll(creating(pulled, s), {"RattleNoseHooverIntegrator", "particles 0 and 1", "moves in time"});
    auto* expression = new CustomConstraintForce(2, "distance(p1, p2) - 0.1 - 0.01*t");
    expression->addConstraint({0, 1});
    expectAll(creating(expression, s), {"distance(p1, p2)", "moves in time"});
    auto* later = new ConstraintForce();
    later->addDistance(0, 1, 0.1);
    EXPECT_EQ(creating(later, s), "");
    later->setDistanceRate(0, 0.01);
    expectAll(messageOf([&] { later->updateParametersInContext(*s->context); }), {"moves in time"});
}

TEST(RattleNoseHooverIntegrator, RefusesAChainOfAnotherLength) {
    const auto make = [](int length) {
        return Simulation(toOpenMM(findSystem("chain"), Declared::InForce),
                          std::make_unique<RattleNoseHooverIntegrator>(300, 20, 0.002, length), "Reference");
    };
    Simulation three = make(3), four = make(4);
    for (Simulation* s : {&three, &four})
        s->context->setPositions(toVectors(findSystem("chain").positions));
    const State state = three.context->getState(State::Positions | State::IntegratorParameters);
    std::stringstream checkpoint;
    three.context->createCheckpoint(checkpoint);
    expectAll(messageOf([&] { four.context->setState(state); }), {"length 3", "length 4"});
    expectAll(messageOf([&] { four.context->loadCheckpoint(checkpoint); }), {"length 3", "length 4"});
}

TEST(RattleNoseHooverIntegrator, TakesAStateOfAnyIntegratorWithItsChainAtRest) {
    const TestSystem& chain = findSystem("chain");
    const auto system = toOpenMM(chain, Declared::InSystem);
    LangevinMiddleIntegrator langevin(300, 1, 0.002);
    NoseHooverIntegrator theirs(300, 20, 0.002);
    CustomIntegrator custom(0.002);
    RattleIntegrator rattle(0.002);
    for (Integrator* other : std::initializer_list<Integrator*>{&langevin, &theirs, &custom, &rattle}) {
        Context context(*system, *other, Platform::getPlatform("Reference"));
        context.setPositions(toVectors(chain.positions));
        context.setVelocitiesToTemperature(300, 1);
        const State state = context.getState(State::Positions | State::Velocities | State::IntegratorParameters);
        Simulation s(toOpenMM(chain, Declared::InForce), std::make_unique<RattleNoseHooverIntegrator>(300, 20, 0.002),
                     "Reference");
        s.context->setPositions(toVectors(chain.positions));
        s.integrator->step(5);
        EXPECT_NE(noseHoover(s).computeHeatBathEnergy(), 0);
        s.context->setState(state);
        EXPECT_EQ(noseHoover(s).computeHeatBathEnergy(), 0);
        EXPECT_EQ(s.velocities(), state.getVelocities());
        s.integrator->step(5);
    }
}
