// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies that share particles or that constraints join, against the same bodies held by distances.
#include "support/BodySystems.h"
#include "support/JoinedBodies.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

double largest(const Vectors& x) {
    return distance(x, Vectors(x.size()));
}

class JoinedBodies : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
    const Precision precision = precisionOf(platform);

    /** As the bodies, but on the Reference platform, where distances are solved to the end. */
    ConstraintTests::Setup exact() const {
        return {isDevice(platform) ? "Reference" : platform, ConstraintIntegrator::MatrixInversion, integrator};
    }
    static std::string nameOf(const JoinedSystem& system) {
        std::string names;
        for (const Assembly& part : system.parts)
            names += part.name + " ";
        return names;
    }
};

/** With integrators whose constraints hold at every step. */
class JoinedBodiesInSteps : public JoinedBodies {};

TEST_P(JoinedBodiesInSteps, MoveAsTheirDistancesDo) {
    for (const JoinedSystem& system : systemsOf(someAssemblies(), platform)) {
        SCOPED_TRACE(nameOf(system));
        const Simulation bodies = system.simulate(setup, 0.001),
                         distances = system.simulate(exact(), 0.001, Held::ByDistances);
        EXPECT_EQ(bodies.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
        EXPECT_EQ(distances.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
        EXPECT_LT(distance(bodies.velocities(), distances.velocities()), 1e-9 + 40 * precision.velocity);
        for (const Simulation* s : {&bodies, &distances})
            s->integrator->step(20);
        const Vectors x = bodies.positions();
        EXPECT_GT(distance(x, toVectors(system.start)), 0.005);
        EXPECT_LT(distance(x, distances.positions()), 1e-10 + 200 * precision.position + 1e-3 * precision.force);
        EXPECT_LT(distance(bodies.velocities(), distances.velocities()),
                  1e-8 + 100 * (precision.velocity + precision.position / 0.001) + 0.1 * precision.force);
        const double energy = distances.context->getState(State::Energy).getKineticEnergy();
        EXPECT_NEAR(bodies.context->getState(State::Energy).getKineticEnergy(), energy,
                    (1e-8 + 400 * precision.velocity + precision.force) * energy);
        EXPECT_LT(system.deformation(x), 1e-12 + 4 * precision.position);
    }
}

TEST_P(JoinedBodiesInSteps, HaveTheMultipliersAndForcesOfTheirDistances) {
    for (const JoinedSystem& system : systemsOf(someAssemblies(), platform)) {
        SCOPED_TRACE(nameOf(system));
        const double dt = 0.002;
        Simulation bodies = system.simulate(setup, dt, Held::AsBodies, 1e-13),
                   distances = system.simulate(exact(), dt, Held::ByDistances, 1e-13);
        for (Simulation* s : {&bodies, &distances})
            s->integrator->step(5);
        const Vectors expected = distances.integrator->getConstraintForces();
        const double force = largest(expected),
                     // of a displacement
            rounding = 20 / (dt * dt) * (1e-13 + precision.position + 0.1 * precision.constraint) +
                       10 * precision.force * force;
        EXPECT_GT(force, 20);
        const std::vector<double> multipliers = bodies.integrator->getMultipliers(),
                                  of = distances.integrator->getMultipliers(),
                                  velocity = bodies.integrator->getVelocityMultipliers(),
                                  ofVelocity = distances.integrator->getVelocityMultipliers();
        ASSERT_LT(multipliers.size(), of.size());
        for (std::size_t k = 0; k < multipliers.size(); k++) {
            EXPECT_NEAR(multipliers[k], of[k], rounding) << k;
            EXPECT_NEAR(velocity[k], ofVelocity[k], rounding) << k;
            EXPECT_NE(multipliers[k], 0);
        }
        // Of several geodesic steps, distances have the sum of multipliers with the gradients of the first.
        if (integrator == "GeodesicLangevin")
            continue;
        EXPECT_LT(distance(bodies.integrator->getConstraintForces(), expected), rounding);
        const Vectors virial = distances.integrator->getConstraintVirial();
        EXPECT_LT(distance(bodies.integrator->getConstraintVirial(), virial), 3 * rounding);
        EXPECT_GT(largest(virial), 1);
    }
}

TEST_P(JoinedBodiesInSteps, HaveTheInstantaneousMultipliersOfTheirDistances) {
    for (const JoinedSystem& system : systemsOf(someAssemblies(), platform)) {
        SCOPED_TRACE(nameOf(system));
        Simulation bodies = system.simulate(setup, 0.001),
                   distances = system.simulate(exact(), 0.001, Held::ByDistances);
        // The very same state
        const Vectors x = bodies.positions(), v = bodies.velocities();
        distances.context->setPositions(x);
        distances.context->setVelocities(v);
        const std::vector<double> multipliers = bodies.integrator->computeMultipliers(),
                                  expected = distances.integrator->computeMultipliers();
        double size = 0;
        for (double each : expected)
            size = std::max(size, std::abs(each));
        for (std::size_t k = 0; k < multipliers.size(); k++)
            EXPECT_NEAR(multipliers[k], expected[k],
                        (1e-9 + 100 * precision.velocity + 100 * precision.position + 10 * precision.force) * size)
                << k;
    }
}

std::string setupName(const testing::TestParamInfo<ConstraintTests::Setup>& info) {
    return nameOf(info.param);
}

std::vector<ConstraintTests::Setup> with(const std::vector<std::string>& integrators) {
    std::vector<ConstraintTests::Setup> setups;
    for (const std::string& integrator : integrators)
        for (const ConstraintTests::Setup& setup : setupsOf(integrator))
            setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(
    Integrators, JoinedBodiesInSteps,
    testing::ValuesIn(with({"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"})), setupName);

/** ConstraintForceIntegrator: constraints drift. */
class JoinedBodiesByForces : public JoinedBodies {};

TEST_P(JoinedBodiesByForces, MoveAsTheirDistancesDo) {
    for (const JoinedSystem& system : systemsOf(someAssemblies(), platform)) {
        SCOPED_TRACE(nameOf(system));
        // Bodies do not drift from their shapes, so the two differ by the drift of distances.
        const auto difference = [&](double dt, bool feedback) {
            // Feedback amplifies errors within the tolerance, and of rounded positions.
            const double bound = (feedback ? 1e-6 : 1e-9) + 100 * precision.position + 10 * precision.force,
                         ofFeedback = feedback ? 20 * std::pow(0.1 / dt, 2) * precision.position : 0;
            Simulation bodies = system.simulate(setup, dt), distances = system.simulate(exact(), dt, Held::ByDistances);
            if (!feedback)
                for (Simulation* s : {&bodies, &distances})
                    dynamic_cast<ConstraintForceIntegrator&>(*s->integrator).setStabilization(0, 0);
            bodies.integrator->step(1);
            distances.integrator->step(1);
            const Vectors expected = distances.integrator->getConstraintForces();
            EXPECT_LT(distance(bodies.integrator->getConstraintForces(), expected),
                      bound * largest(expected) + ofFeedback);
            const auto multipliers = bodies.integrator->getMultipliers(), of = distances.integrator->getMultipliers();
            for (std::size_t k = 0; k < multipliers.size(); k++)
                EXPECT_NEAR(multipliers[k], of[k], bound * largest(expected) + ofFeedback) << k;
            const int steps = (int) std::lround(0.004 / dt);
            bodies.integrator->step(steps);
            distances.integrator->step(steps);
            EXPECT_GT(distance(bodies.positions(), toVectors(system.start)), 1e-3);
            return distance(bodies.positions(), distances.positions());
        };
        for (bool feedback : {false, true})
            EXPECT_LT(difference(0.0002, feedback), 1e-7 + 100 * precision.position + 1e-3 * precision.force);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedBodiesByForces, testing::ValuesIn(with({"ConstraintForce"})), setupName);

/** On the host, where results are those of double precision. */
class JoinedBodiesOfTheHost : public testing::TestWithParam<std::string> {};

TEST_P(JoinedBodiesOfTheHost, MoveTheSameWithEitherSolver) {
    for (const char* platform : {"Reference", "CPU"})
        for (const Assembly& assembly : someAssemblies()) {
            SCOPED_TRACE(assembly.name + " " + platform);
            const JoinedSystem system({assembly});
            std::vector<Simulation> all;
            for (Solver solver : {Solver::Automatic, Solver::Iterative, Solver::MatrixInversion}) {
                all.push_back(system.simulate({platform, solver, GetParam()}, 0.002));
                all.back().integrator->step(20);
            }
            for (const Simulation& other : {std::cref(all[1]), std::cref(all[2])}) {
                EXPECT_LT(distance(all[0].positions(), other.positions()), 1e-10);
                EXPECT_LT(distance(all[0].velocities(), other.velocities()), 1e-8);
            }
        }
}

TEST_P(JoinedBodiesOfTheHost, MoveTheSameSideBySide) {
    const JoinedSystem together(someAssemblies());
    for (const char* platform : {"Reference", "CPU"}) {
        const ConstraintTests::Setup setup(platform, Solver::Automatic, GetParam());
        Simulation bodies = together.simulate(setup, 0.001),
                   distances = together.simulate(setup, 0.001, Held::ByDistances);
        EXPECT_EQ(bodies.integrator->getNumDegreesOfFreedom(), together.degreesOfFreedom());
        bodies.integrator->step(20);
        distances.integrator->step(20);
        EXPECT_LT(distance(bodies.positions(), distances.positions()), 1e-10);
        EXPECT_LT(together.deformation(bodies.positions()), 1e-12);
    }
}

INSTANTIATE_TEST_SUITE_P(Integrators, JoinedBodiesOfTheHost,
                         testing::Values("Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"),
                         [](const auto& info) { return info.param; });

} // namespace
