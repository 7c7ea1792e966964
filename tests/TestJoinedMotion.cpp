// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Motion of joined rigid bodies: energy, momenta, reversal in time, temperature, and a double pendulum.
#include "support/BodySystems.h"
#include "support/Pendulum.h"
#include "support/Rings.h"
#include "support/Statistics.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class JoinedMotion : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
    const Precision precision = precisionOf(platform);
};

/** Those on which nothing outside acts. */
std::vector<Assembly> freeOnes() {
    std::vector<Assembly> all = {hingeRing(4, true, 7), cyclohexane(true)};
    for (const Assembly& assembly : someAssemblies())
        if (std::count(assembly.masses.begin(), assembly.masses.end(), 0.0) == 0 && assembly.name != "surface")
            all.push_back(assembly);
    return all;
}

TEST_P(JoinedMotion, KeepsMomentumAndAngularMomentumOfEachMolecule) {
    for (const JoinedSystem& system : systemsOf(freeOnes(), platform)) {
        Simulation s = system.simulate(setup, 0.002, Held::AsBodies, 1e-10, 500);
        const auto momenta = [&](std::size_t part) {
            const int first = system.first[part], n = (int) system.parts[part].masses.size();
            const Arrays x = toArrays(s.positions()), v = toArrays(s.velocities());
            Real3 momentum, angular;
            for (int i = first; i < first + n; i++) {
                momentum += system.masses[i] * v[i];
                angular += system.masses[i] * cross(x[i] - system.start[first], v[i]);
            }
            return std::make_pair(momentum, angular);
        };
        std::vector<std::pair<Real3, Real3>> before;
        for (std::size_t part = 0; part < system.parts.size(); part++)
            before.push_back(momenta(part));
        const int steps = 20;
        s.integrator->step(steps);
        for (std::size_t part = 0; part < system.parts.size(); part++) {
            SCOPED_TRACE(system.parts[part].name);
            const auto [momentum, angular] = momenta(part);
            const double size = std::sqrt(dot(before[part].first, before[part].first));
            EXPECT_GT(size, 1);
            const double rounding =
                1e-12 * steps * size + 1000 * (precision.velocity + precision.position) + 0.1 * precision.force;
            EXPECT_LT(distance(momentum, before[part].first), rounding);
            EXPECT_LT(distance(angular, before[part].second), rounding);
        }
    }
}

TEST_P(JoinedMotion, ReturnsToItsStart) {
    std::vector<Assembly> all = someAssemblies();
    all.push_back(hingeRing(5, true, 8));
    for (const JoinedSystem& system : systemsOf(all, platform)) {
        SCOPED_TRACE(system.parts[0].name);
        Simulation s = system.simulate(setup, 0.002, Held::AsBodies, 1e-13);
        const Vectors x = s.positions();
        const int steps = 30; // side by side, a dihedral meets a straight line at step 38
        s.integrator->step(steps);
        EXPECT_GT(distance(s.positions(), x), 0.02);
        Vectors v = s.velocities();
        for (Vec3& each : v)
            each = each * -1;
        s.context->setVelocities(v);
        s.integrator->step(steps);
        EXPECT_LT(distance(s.positions(), x), 1e-9 + 100 * steps * steps * precision.position);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedMotion, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

/** On the host, where errors are those of the method. */
class JoinedMotionOfTheHost : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
};

TEST_P(JoinedMotionOfTheHost, HasAnErrorOfTheEnergyOfSecondOrder) {
    std::vector<Assembly> all = someAssemblies();
    all.push_back(hingeRing(4, true, 7));
    all.push_back(cyclohexane(true));
    for (const Assembly& assembly : all) {
        SCOPED_TRACE(assembly.name);
        const JoinedSystem system({assembly});
        const auto error = [&](double dt) {
            Simulation s = system.simulate(setup, dt, Held::AsBodies, 1e-14, 1000);
            const double start = s.energy();
            double largest = 0;
            for (int i = 0; i < 20; i++) {
                s.integrator->step((int) std::lround(0.008 / dt));
                largest = std::max(largest, std::abs(s.energy() - start));
            }
            return largest;
        };
        const double coarse = error(0.001), fine = error(0.0005);
        EXPECT_GT(fine, 1e-8);
        EXPECT_NEAR(coarse / fine, 4, 0.4);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedMotionOfTheHost,
                         testing::Values(ConstraintTests::Setup{"Reference", Solver::Automatic, "Rattle"},
                                         ConstraintTests::Setup{"CPU", Solver::Automatic, "Rattle"}),
                         [](const auto& info) { return nameOf(info.param); });

TEST(JoinedPendulum, FollowsNewtonsAndEulersEquationsAtSecondOrder) {
    const Assembly& assembly = findAssembly("double pendulum");
    const JoinedSystem system({assembly});
    const Real3 gravity{3, -20, 5};
    const int anchor = system.bodies[0][0], shared = system.bodies[1][0];
    DoublePendulum::Body bodies[2];
    for (int b = 0; b < 2; b++)
        for (int p : system.bodies[b]) {
            bodies[b].places.push_back(system.start[p]);
            bodies[b].masses.push_back(b == 1 && p == shared ? 0 : system.masses[p]);
        }
    bodies[0].joint = system.start[anchor];
    bodies[1].joint = system.start[shared];
    const Real3 rates[] = {{3, -5, 8}, {-6, 4, 7}};
    const double time = 0.128;
    const DoublePendulum exact(bodies[0], bodies[1], rates[0], rates[1], gravity);
    const auto expected = exact.positionsAfter(time, 500);
    for (std::size_t i = 0; i < bodies[0].places.size(); i++)
        EXPECT_LT(distance(exact.positionsAfter(time, 1000).first[i], expected.first[i]), 1e-10);
    const auto error = [&](int steps) {
        auto opened = system.toOpenMM();
        auto* field = new CustomExternalForce("-m*(3*x-20*y+5*z)");
        field->addPerParticleParameter("m");
        for (int p = 0; p < system.numParticles(); p++)
            field->addParticle(p, {system.masses[p]});
        opened->addForce(field);
        Simulation s(std::move(opened), makeIntegrator({"Reference", Solver::Automatic, "Rattle"}, time / steps, 1e-13),
                     "Reference");
        Arrays v(system.numParticles());
        const Real3 ofJoint = cross(rates[0], system.start[shared] - system.start[anchor]);
        for (int b : {1, 0})
            for (int p : system.bodies[b])
                v[p] = b == 0 ? cross(rates[0], system.start[p] - system.start[anchor])
                              : ofJoint + cross(rates[1], system.start[p] - system.start[shared]);
        s.context->setPositions(toVectors(system.start));
        s.context->setVelocities(toVectors(v));
        s.integrator->step(steps);
        const Arrays x = toArrays(s.positions());
        double largest = 0;
        for (int b = 0; b < 2; b++)
            for (std::size_t i = 0; i < bodies[b].places.size(); i++)
                largest =
                    std::max(largest, distance(x[system.bodies[b][i]], (b == 0 ? expected.first : expected.second)[i]));
        return largest;
    };
    const double coarse = error(64), fine = error(128);
    EXPECT_LT(fine, 1e-3);
    EXPECT_GT(fine, 1e-8);
    EXPECT_NEAR(coarse / fine, 4, 0.2);
}

/** "Ensemble": it draws many samples. */
class JoinedBodyEnsemble : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(JoinedBodyEnsemble, HasTheTemperatureOfItsDegreesOfFreedom) {
    const auto& [platform, solver, integrator] = GetParam();
    const int count = 40, samples = isDevice(platform) ? 60 : 150;
    for (const char* name : {"hinge", "ball joint", "distance"}) {
        SCOPED_TRACE(name);
        const Assembly& assembly = findAssembly(name);
        const JoinedSystem system(std::vector<Assembly>(count, assembly));
        Simulation s(system.toOpenMM(), makeIntegrator(GetParam(), 0.002, 1e-8), platform);
        if (auto* langevin = dynamic_cast<RattleLangevinIntegrator*>(s.integrator.get()))
            langevin->setFriction(50);
        s.context->setPositions(toVectors(system.start));
        s.context->setVelocitiesToTemperature(300, 4);
        s.integrator->step(20);
        const int dof = s.integrator->getNumDegreesOfFreedom(), n = (int) assembly.masses.size();
        EXPECT_EQ(dof, count * assembly.degreesOfFreedom);
        double total = 0;
        for (double mass : assembly.masses)
            total += mass;
        std::vector<double> temperature, translation;
        for (int sample = 0; sample < samples; sample++) {
            s.integrator->step(25);
            temperature.push_back(s.integrator->computeSystemTemperature());
            const Vectors v = s.velocities();
            double ofCentres = 0;
            for (int m = 0; m < count; m++) {
                Vec3 momentum;
                for (int i = 0; i < n; i++)
                    momentum += v[m * n + i] * assembly.masses[i];
                ofCentres += 0.5 * momentum.dot(momentum) / total;
            }
            translation.push_back(ofCentres);
        }
        const double kT = 0.00831446261815324 * 300;
        if (integrator == "RattleNoseHoover") {
            const Mean mean = meanOf(temperature, 10);
            EXPECT_NEAR(mean.value, 300, 6 * mean.error + 1);
            EXPECT_LT(mean.error, 3);
            continue;
        }
        expectMeanOfSquares(temperature, 300, dof, 0.09);
        expectMeanOfSquares(translation, 1.5 * count * kT, 3 * count, 0.12);
        if (isDevice(platform))
            break;
    }
}

INSTANTIATE_TEST_SUITE_P(Integrators, JoinedBodyEnsemble,
                         testing::ValuesIn(bodySetups({"RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"})),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
