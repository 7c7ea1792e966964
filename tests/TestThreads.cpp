// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// While one thread calls step(), another one uses the Context: it gets correct values or an exception.
#include "support/Messages.h"
#include "support/ProbeForce.h"
#include "support/Simulation.h"
#include <thread>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A chain with springs, and a Force that calls the test's function in each evaluation. */
Simulation withProbe(Probe& probe, const ConstraintTests::Setup& setup) {
    const TestSystem& chain = findSystem("chain");
    auto system = toOpenMM(chain, Declared::InForce);
    addSprings(*system, chain);
    system->addForce(new ProbeForce(probe));
    Simulation s(std::move(system), makeIntegrator(setup, 0.001, 1e-6), std::get<0>(setup));
    s.context->setPositions(toVectors(chain.positions));
    s.context->setVelocities(tangentVelocities(chain, 0.3, 5));
    return s;
}

/** Everything that needs the Context's kernels. */
std::vector<std::function<void()>> readings(Simulation& s) {
    ConstraintIntegrator& integrator = *s.integrator;
    const auto& force = dynamic_cast<const ConstraintForce&>(s.system->getForce(0));
    return {[&] { integrator.getMultipliers(); },
            [&] { integrator.getVelocityMultipliers(); },
            [&] { integrator.getConstraintForces(); },
            [&] { integrator.getConstraintVirial(); },
            [&] { integrator.getConstraintWork(); },
            [&] { integrator.getConstraintWorks(); },
            [&] { integrator.getSolverSummary(); },
            [&] { integrator.getNumDegreesOfFreedom(); },
            [&] { force.getMultipliers(*s.context); },
            [&] {
                std::stringstream stream;
                s.context->createCheckpoint(stream);
            }};
}

const std::string isRunning = "step() is running in another thread";

} // namespace

class Threads : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(Threads, OthersAreRefusedWhileOneSteps) {
    Probe probe;
    Simulation s = withProbe(probe, GetParam());
    s.integrator->step(1);
    std::vector<std::function<void()>> asked = readings(s);
    for (const std::function<void()>& work : std::vector<std::function<void()>>{
             [&] { s.integrator->step(1); }, [&] { s.integrator->applyConstraints(); },
             [&] { s.integrator->applyVelocityConstraints(); }, [&] { s.integrator->computeMultipliers(); },
             [&] { s.integrator->computeSystemTemperature(); }})
        asked.push_back(work);
    std::vector<std::string> messages, ofTheSameThread;
    probe.atEvaluation = [&] {
        std::thread other([&] {
            for (const auto& ask : asked)
                messages.push_back(messageOf(ask));
        });
        other.join();
        for (const auto& read : readings(s)) // as a Force's callback or a reporter may
            ofTheSameThread.push_back(messageOf(read));
        probe.atEvaluation = {};
    };
    s.integrator->step(1);
    ASSERT_EQ(messages.size(), asked.size());
    for (const std::string& message : messages)
        expectAll(message, {isRunning, "Wait until it has returned"});
    EXPECT_EQ(ofTheSameThread, std::vector<std::string>(readings(s).size()));
    for (const auto& ask : asked)
        EXPECT_EQ(messageOf(ask), "") << "afterwards";
    EXPECT_EQ(s.context->getStepCount(), 3);
}

TEST_P(Threads, AStepWaitsForTheQuestionsOfOthers) {
    Probe probe;
    Simulation s = withProbe(probe, GetParam());
    s.integrator->step(1);
    s.context->setPositions(s.positions()); // so that forces have to be computed
    std::thread stepping;
    std::string message = "did not step";
    bool isAsked = false;
    probe.atEvaluation = [&] {
        if (std::exchange(isAsked, true))
            return;
        stepping = std::thread([&] { message = messageOf([&] { s.integrator->step(1); }); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    s.integrator->computeMultipliers();
    stepping.join();
    EXPECT_EQ(message, "");
    EXPECT_EQ(s.context->getStepCount(), 2);
}

TEST_P(Threads, AFailedStepLetsOthersIn) {
    Probe probe;
    Simulation s = withProbe(probe, GetParam());
    s.integrator->step(1);
    probe.throwAtEvaluation = probe.forceEvaluations;
    expectAll(messageOf([&] { s.integrator->step(1); }), {"the probe fails"});
    std::string message = "not asked";
    std::thread([&] { message = messageOf([&] { s.integrator->getMultipliers(); }); }).join();
    EXPECT_EQ(message, "");
}

TEST_P(Threads, WhatOthersGetMeanwhileIsRight) {
    Probe probe;
    Simulation s = withProbe(probe, GetParam());
    s.integrator->step(1);
    const int numSteps = isDevice(std::get<0>(GetParam())) ? 30 : 1000;
    std::atomic<bool> isOver{false};
    std::thread stepping([&] {
        for (int i = 0; i < numSteps; i++)
            s.integrator->step(1);
        isOver = true;
    });
    const std::size_t numConstraints = findSystem("chain").bonds.size(), numParticles = s.system->getNumParticles();
    while (!isOver) {
        const std::string message = messageOf([&] {
            EXPECT_EQ(s.integrator->getMultipliers().size(), numConstraints);
            Vec3 sum;
            for (const Vec3& f : s.integrator->getConstraintForces())
                sum += f;
            EXPECT_LT(std::sqrt(sum.dot(sum)), 1); // of many forces of hundreds of kJ/mol/nm that cancel
            EXPECT_TRUE(s.integrator->getSolverSummary().converged);
        });
        if (!message.empty())
            expectAll(message, {isRunning});
    }
    stepping.join();
    EXPECT_EQ(s.context->getStepCount(), 1 + numSteps);
    EXPECT_EQ(s.integrator->getConstraintForces().size(), numParticles);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Threads, testing::ValuesIn(oneSetupOfEach(allSetups())),
                         [](const auto& info) { return nameOf(info.param); });

TEST(ThreadsOfACompoundIntegrator, ShareOneContext) {
    Probe probe;
    auto system = toOpenMM(findSystem("water"), Declared::InForce);
    system->addForce(new ProbeForce(probe));
    CompoundIntegrator compound;
    compound.addIntegrator(new RattleIntegrator(0.001));
    auto* second = new ShakeIntegrator(0.001);
    compound.addIntegrator(second);
    const auto context = makeContext(*system, compound, "Reference");
    context->setPositions(toVectors(findSystem("water").positions));
    std::string message;
    probe.atEvaluation = [&] { std::thread([&] { message = messageOf([&] { second->getMultipliers(); }); }).join(); };
    compound.step(1);
    expectAll(message, {isRunning});
    compound.setCurrentIntegrator(1);
    compound.step(1);
    EXPECT_EQ(messageOf([&] { second->getMultipliers(); }), "");
}
