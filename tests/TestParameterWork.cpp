// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The work of constraints that a Context parameter moves: the energy that the projection adds, of every integrator.
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/BentChain.h"
#include "support/Messages.h"
#include "support/ProbeForce.h"
#include <gtest/gtest.h>
#include <numeric>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

using Numbers = std::vector<double>;

/** What should be conserved, besides the energy. */
double heatOf(const ConstraintIntegrator& integrator) {
    if (const auto* langevin = dynamic_cast<const RattleLangevinIntegrator*>(&integrator))
        return langevin->getHeat();
    if (const auto* chain = dynamic_cast<const RattleNoseHooverIntegrator*>(&integrator))
        return -const_cast<RattleNoseHooverIntegrator*>(chain)->computeHeatBathEnergy();
    return 0;
}

/** A bead on a rod of length 0.2 + 0.1 lambda that turns about a fixed point, in a uniform field. */
struct Pendulum {
    static constexpr double field = 40; // kJ/mol/nm
    std::unique_ptr<Simulation> simulation;

    explicit Pendulum(const ConstraintTests::Setup& setup) {
        auto system = std::make_unique<System>();
        auto* rod = new ConstraintForce();
        rod->addGlobalParameter("lambda", 0);
        system->addParticle(0);
        system->addParticle(16);
        rod->addDistance(0, 1, 0.2);
        rod->setDistanceInterpolation(0, "lambda", 0.3);
        auto* other = new ConstraintForce();
        other->addDistance(system->addParticle(5), system->addParticle(5), 0.1);
        auto* gravity = new CustomExternalForce("g*z");
        gravity->addGlobalParameter("g", field);
        gravity->addParticle(1, {});
        for (Force* one : std::initializer_list<Force*>{rod, other, gravity})
            system->addForce(one);
        simulation =
            std::make_unique<Simulation>(std::move(system), makeIntegrator(setup, 0.0005, 1e-9), std::get<0>(setup));
        integrator().setMaxProjection(0.2);
        simulation->context->setPositions({Vec3(), Vec3(0.12, 0, 0.16), Vec3(1, 0, 0), Vec3(1.1, 0, 0)});
    }
    ConstraintIntegrator& integrator() const {
        return *simulation->integrator;
    }
    Context& context() const {
        return *simulation->context;
    }
    double height() const {
        return simulation->positions()[1][2];
    }
};

/** The bent chain with everything that follows "lambda", or by itself "height". */
struct Switched {
    static constexpr int several = 5; // constraints of "lambda"
    std::unique_ptr<Simulation> simulation;

    explicit Switched(const ConstraintTests::Setup& setup, double stepSize = 0.0005, Probe* probe = nullptr) {
        auto system = makeBentChain();
        auto* force = new ConstraintForce();
        force->addGlobalParameter("lambda", 0);
        for (CoordinateKind kind : {CoordinateKind::Distance, CoordinateKind::Dihedral, CoordinateKind::Custom}) {
            const double start = valueInBentChain(kind, bentChainPositions);
            constrainBentChain(*force, kind, start);
            interpolate(*force, kind, 0, "lambda", start + (kind == CoordinateKind::Dihedral ? 0.2 : 0.02));
        }
        force->addDistance(1, 2, std::sqrt(0.05 * 0.05 + 0.14 * 0.14));
        // Nose and Hoover's chain holds nothing that moves in time.
        const bool moves = std::get<2>(setup) != "RattleNoseHoover";
        auto* height = new CustomConstraintForce(1, std::string("z1 - h - height") + (moves ? " - 0.1*t" : ""));
        height->addPerConstraintParameter("h");
        height->addGlobalParameter("height", 0);
        height->addConstraint({3}, {bentChainPositions[3][2]});
        auto* ratio = new CustomConstraintForce(2, "distance(p1, p2) - 0.2*(1 + 0.1*lambda^2)");
        ratio->addGlobalParameter("lambda", 0);
        ratio->addConstraint({system->addParticle(5), system->addParticle(7)});
        auto* spring = new HarmonicBondForce();
        spring->addBond(4, 5, 0.17, 5000);
        for (Force* one : std::initializer_list<Force*>{force, height, ratio, spring})
            system->addForce(one);
        if (probe != nullptr)
            system->addForce(new ProbeForce(*probe));
        simulation =
            std::make_unique<Simulation>(std::move(system), makeIntegrator(setup, stepSize, 1e-9), std::get<0>(setup));
        integrator().setMaxProjection(0.2);
        Vectors x = bentChainPositions, v = bentChainVelocities;
        x.insert(x.end(), {Vec3(1, 0, 0), Vec3(1.2, 0, 0)});
        v.insert(v.end(), {Vec3(0.3, 0.5, 0), Vec3(-0.2, -0.5, 0.1)});
        simulation->context->setPositions(x);
        simulation->context->setVelocities(v);
        integrator().applyConstraints();
        integrator().applyVelocityConstraints();
    }
    ConstraintIntegrator& integrator() const {
        return *simulation->integrator;
    }
    Context& context() const {
        return *simulation->context;
    }
    double conserved() const {
        return simulation->energy() - heatOf(integrator()) - integrator().getConstraintWork();
    }
};

class ParameterWorks : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam()), name = std::get<2>(GetParam());
    const Precision precision = precisionOf(platform);
};

TEST_P(ParameterWorks, AreTheAnalyticEnergyOfASwitchedBond) {
    // The bead moves along the rod, which changes its potential energy only: g (l1 - l0) cos(theta).
    Pendulum pendulum(GetParam());
    pendulum.integrator().step(20);
    EXPECT_EQ(pendulum.integrator().getConstraintWork(), 0);
    double length = 0.2, expected = 0;
    for (double lambda : {0.4, 1.0, -0.3, 0.0}) {
        const double cosine = pendulum.height() / length;
        expected += Pendulum::field * (0.2 + 0.1 * lambda - length) * cosine;
        length = 0.2 + 0.1 * lambda;
        pendulum.context().setParameter("lambda", lambda);
        EXPECT_NE(pendulum.integrator().getConstraintWork(), expected);
        pendulum.integrator().step(1); // projects
        EXPECT_NEAR(pendulum.integrator().getConstraintWork(), expected, 1e-6 + 100 * precision.force) << lambda;
        pendulum.integrator().step(10);
        EXPECT_NEAR(pendulum.integrator().getConstraintWork(), expected, 1e-6 + 100 * precision.force) << lambda;
        const Numbers works = pendulum.integrator().getConstraintWorks();
        EXPECT_EQ(works[0], pendulum.integrator().getConstraintWork()); // of the only one that has moved
        EXPECT_EQ(works[1], 0);
    }
}

TEST_P(ParameterWorks, ConserveTheEnergyLessHeatAndWork) {
    // With changes every few steps, and without.
    double spread[2], work = 0;
    for (bool changes : {false, true}) {
        Switched run(GetParam());
        run.integrator().step(1);
        run.context().setPositions(run.simulation->positions()); // what is set is known again after a step
        run.context().setVelocities(run.simulation->velocities());
        run.integrator().step(1);
        double smallest = run.conserved(), largest = smallest, last = run.integrator().getConstraintWork();
        for (int i = 1; i <= 60; i++) {
            if (changes)
                run.context().setParameter(i % 3 == 0 ? "height" : "lambda",
                                           i % 3 == 0 ? 0.002 * (i % 4) : 0.2 * (i % 5));
            run.integrator().step(3);
            const double now = run.conserved(), total = run.integrator().getConstraintWork();
            smallest = std::min(smallest, now);
            largest = std::max(largest, now);
            if (changes)
                work += std::abs(total - last);
            last = total;
        }
        spread[changes] = largest - smallest;
    }
    EXPECT_GT(work, 20);
    EXPECT_LT(spread[1], 0.001 * work + 2 * spread[0] + 3000 * precision.force);
}

INSTANTIATE_TEST_SUITE_P(All, ParameterWorks, testing::ValuesIn(everyIntegrator()),
                         [](const auto& info) { return nameOf(info.param); });

/** What integrators have in common, by those whose velocities, and reported kinetic energies, are of different kinds.
 */
class ParameterWork : public ParameterWorks {};

TEST_P(ParameterWork, IsTheChangeOfTheReportedEnergyWhoeverProjects) {
    Switched run(GetParam());
    run.integrator().step(3);
    const double start = run.integrator().getConstraintWork();
    const auto expectChange = [&](double before) {
        const double work = run.integrator().getConstraintWork() - start;
        EXPECT_NEAR(work, run.simulation->energy() - before, 1e-7 + 300 * precision.force);
        return work;
    };
    const double before = run.simulation->energy();
    run.context().setParameter("lambda", 0.5);
    run.integrator().applyConstraints();
    run.integrator().applyVelocityConstraints();
    const double first = expectChange(before);
    EXPECT_GT(std::abs(first), 0.1);
    run.integrator().applyConstraints(); // has nothing to do
    run.integrator().applyVelocityConstraints();
    EXPECT_EQ(run.integrator().getConstraintWork() - start, first);
    run.context().setParameter("lambda", 0.2);
    run.context().setParameter("height", 0.003);
    if (isDevice(platform)) { // where what is asked of the Context sets velocities, whose work is nobody's
        run.integrator().applyConstraints();
        run.integrator().applyVelocityConstraints();
    } else {
        run.context().applyConstraints(1e-9);
        run.context().applyVelocityConstraints(1e-9);
    }
    expectChange(before);
    run.context().setParameter("lambda", 0.9);
    for (int i = 0; i < 2; i++) { // velocities once more where positions have moved
        run.integrator().applyVelocityConstraints();
        run.integrator().applyConstraints();
    }
    run.integrator().applyVelocityConstraints();
    expectChange(before);
}

TEST_P(ParameterWork, IsThatOfTheConstraintThatMoved) {
    Switched run(GetParam());
    const int height = 4;            // behind those of the ConstraintForce
    run.integrator().setStepSize(0); // only projections are left
    run.integrator().step(1);
    const auto works = [&] { return run.integrator().getConstraintWorks(); };
    run.context().setParameter("height", 0.004);
    run.integrator().step(1);
    Numbers expected(6);
    expected[height] = run.integrator().getConstraintWork();
    EXPECT_GT(std::abs(expected[height]), 0.01);
    EXPECT_EQ(works(), expected);
    run.context().setParameter("lambda", 0.5); // moves several: nobody knows the part of each
    run.integrator().step(1);
    EXPECT_EQ(works(), expected);
    EXPECT_GT(std::abs(run.integrator().getConstraintWork() - expected[height]), 0.1);
    std::stringstream checkpoint;
    run.context().createCheckpoint(checkpoint);
    const double work = run.integrator().getConstraintWork();
    run.context().setParameter("height", 0.002);
    run.integrator().step(1);
    run.context().loadCheckpoint(checkpoint);
    EXPECT_EQ(works(), expected);
    EXPECT_EQ(run.integrator().getConstraintWork(), work);
    // The state of a checkpoint met the constraints with its parameters.
    const double before = run.simulation->energy();
    run.context().setParameter("height", 0.002);
    run.integrator().step(1);
    EXPECT_NEAR(run.integrator().getConstraintWork() - work, run.simulation->energy() - before,
                1e-7 + 300 * precision.force);
    EXPECT_NE(run.integrator().getConstraintWork(), work);
}

TEST_P(ParameterWork, IsNotOfWhatUsersSet) {
    Switched run(GetParam());
    run.integrator().setStepSize(0);
    const auto work = [&] { return run.integrator().getConstraintWork(); };
    run.integrator().step(1);
    const Vectors x = run.simulation->positions();
    const auto expectNone = [&](const std::function<void()>& change) {
        const double before = work();
        change();
        run.integrator().step(1);
        EXPECT_EQ(work(), before);
        run.context().setParameter("height", run.context().getParameter("height") + 0.001);
        run.integrator().step(1);
        EXPECT_NE(work(), before); // from then on, again
    };
    expectNone([&] {
        run.context().setPositions(x);
        run.context().setParameter("lambda", 0.1);
    });
    expectNone([&] {
        run.context().setParameter("lambda", 0.2);
        run.context().setPositions(x);
    });
    expectNone([&] { // a change that moves nothing
        run.context().setParameter("lambda", 0.3);
        run.context().setParameter("lambda", 0.2);
    });
    expectNone([&] {
        auto& force = dynamic_cast<ConstraintForce&>(run.simulation->system->getForce(3));
        force.setDistanceParameters(0, 0, 1, 0.151);
        force.setDistanceInterpolation(0, "lambda", 0.17);
        force.updateParametersInContext(run.context());
        run.context().setParameter("lambda", 0.25);
    });
    const State state = run.context().getState(State::Positions | State::Velocities | State::Parameters);
    expectNone([&] { run.context().setState(state); });
    // Of velocities that are set after a change, the potential energy alone.
    const double before = work(), energy = run.context().getState(State::Energy).getPotentialEnergy();
    run.context().setParameter("height", 0.006);
    run.context().setVelocitiesToTemperature(300, 1);
    run.integrator().step(1);
    EXPECT_NEAR(work() - before, run.context().getState(State::Energy).getPotentialEnergy() - energy,
                1e-7 + 300 * precision.force);
}

TEST_P(ParameterWork, OfAStepThatFailsIsTakenBack) {
    // A force that is not finite where the bead has been moved to.
    Switched expected(GetParam());
    Probe probe;
    Switched failing(GetParam(), 0.0005, &probe);
    for (Switched* one : {&expected, &failing}) {
        one->integrator().step(2);
        one->context().setParameter("height", 0.004);
    }
    const double before = failing.integrator().getConstraintWork();
    const Numbers works = failing.integrator().getConstraintWorks();
    const Vectors x = failing.simulation->positions();
    for (int attempt = 0; attempt < 2; attempt++) {
        probe.throwAtEvaluation = probe.forceEvaluations + (name == "Shake" ? 2 : 0);
        expectAll(messageOf([&] { failing.integrator().step(1); }), {"the probe fails"});
        EXPECT_EQ(failing.integrator().getConstraintWork(), before);
        EXPECT_EQ(failing.integrator().getConstraintWorks(), works);
        EXPECT_EQ(distance(failing.simulation->positions(), x), 0);
    }
    probe.throwAtEvaluation = -1;
    for (int energy = 0; energy < 2; energy++) { // before and after
        probe.throwAtEnergy = probe.energyEvaluations + energy;
        expectAll(messageOf([&] { failing.integrator().step(1); }), {"the probe fails"});
        EXPECT_EQ(failing.integrator().getConstraintWork(), before);
        EXPECT_EQ(distance(failing.simulation->positions(), x), 0);
    }
    probe.throwAtEnergy = -1;
    for (Switched* one : {&expected, &failing})
        one->integrator().step(1);
    EXPECT_NEAR(failing.integrator().getConstraintWork(), expected.integrator().getConstraintWork(),
                1e-7 + 300 * precision.force);
    EXPECT_GT(std::abs(failing.integrator().getConstraintWork() - before), 0.01);
}

TEST_P(ParameterWork, CostsTwoEnergiesWhereConstraintsMoveAndElseNone) {
    Probe probe;
    Switched run(GetParam(), 0.0005, &probe);
    run.integrator().step(2);
    const int none = probe.energyEvaluations;
    run.context().setParameter("height", run.context().getParameter("height"));
    run.integrator().step(2);
    EXPECT_EQ(probe.energyEvaluations, none);
    run.context().setParameter("height", 0.001);
    EXPECT_EQ(probe.energyEvaluations, none);
    run.integrator().step(2);
    EXPECT_EQ(probe.energyEvaluations, none + 2);
}

TEST_P(ParameterWork, AddsUpOverTheChildrenOfACompoundIntegrator) {
    // Each of them may be the one that steps after a change, while the others know an older value.
    auto system = std::make_unique<System>();
    auto* rod = new ConstraintForce();
    rod->addGlobalParameter("length", 0.2);
    system->addParticle(0);
    system->addParticle(16);
    rod->addDistance(0, 1, 1e-9);
    rod->setDistanceInterpolation(0, "length", 1);
    auto* gravity = new CustomExternalForce("40*z");
    gravity->addParticle(1, {});
    system->addForce(rod);
    system->addForce(gravity);
    CompoundIntegrator compound;
    for (int i = 0; i < 3; i++)
        compound.addIntegrator(makeIntegrator(GetParam(), 0, 1e-9).release());
    const auto context = makeContext(*system, compound, platform);
    context->setPositions({Vec3(), Vec3(0.12, 0, 0.16)});
    compound.step(1);
    double length = 0.2, works[3] = {};
    for (int child : {1, 0, 0, 2, 1, 0}) {
        compound.setCurrentIntegrator(child);
        const double next = length == 0.2 ? 0.22 : length == 0.22 ? 0.21 : 0.2;
        context->setParameter("length", next);
        compound.step(1);
        works[child] += 40 * 0.8 * (next - length);
        length = next;
        for (int i = 0; i < 3; i++)
            EXPECT_NEAR(dynamic_cast<ConstraintIntegrator&>(compound.getIntegrator(i)).getConstraintWork(), works[i],
                        1e-6 + 100 * precision.force);
    }
}

TEST_P(ParameterWork, IsOfTheForceGroupsThatAreIntegrated) {
    Pendulum pendulum(GetParam());
    pendulum.simulation->system->getForce(2).setForceGroup(3);
    pendulum.context().reinitialize(true);
    pendulum.integrator().setIntegrationForceGroups(~(1 << 3));
    pendulum.integrator().step(1);
    pendulum.context().setParameter("lambda", 1);
    pendulum.integrator().step(1);
    EXPECT_NEAR(pendulum.integrator().getConstraintWork(), 0, 1e-9 + 10 * precision.force);
}

/** exp(-W/kT) over directions in the field that are drawn before the switch is the ratio of the integrals over
 *  directions, sinh(a)/a with a = g l/kT: Jarzynski's equality for a jump, with the measure of directions. */
TEST_P(ParameterWork, HasTheExponentialAverageOfTheFreeEnergyDifference) {
    const double kT = BOLTZ * 300, a0 = Pendulum::field * 0.2 / kT, a1 = Pendulum::field * 0.3 / kT;
    Pendulum pendulum(GetParam());
    pendulum.integrator().setStepSize(0);
    const int nodes = 64; // Gauss and Chebyshev's rule would need fewer; midpoints are accurate to 1e-4
    double sum = 0, weights = 0;
    for (int i = 0; i < nodes; i++) {
        const double cosine = (2 * i + 1.0) / nodes - 1, weight = std::exp(-a0 * cosine);
        pendulum.context().setParameter("lambda", 0);
        pendulum.context().setPositions(
            {Vec3(), Vec3(std::sqrt(1 - cosine * cosine), 0, cosine) * 0.2, Vec3(1, 0, 0), Vec3(1.1, 0, 0)});
        pendulum.integrator().step(1);
        const double before = pendulum.integrator().getConstraintWork();
        pendulum.context().setParameter("lambda", 1);
        pendulum.integrator().step(1);
        sum += weight * std::exp(-(pendulum.integrator().getConstraintWork() - before) / kT);
        weights += weight;
    }
    const double expected = std::sinh(a1) / a1 / (std::sinh(a0) / a0);
    EXPECT_NEAR(sum / weights, expected, 1e-3 * expected);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ParameterWork, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
