// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in closed form in a heat bath and under a barostat.
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/BodySystems.h"
#include "support/IdealGas.h"
#include "support/Statistics.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const double kT = BOLTZ * 300;

double trace(const Vectors& tensor) {
    return tensor[0][0] + tensor[1][1] + tensor[2][2];
}

/** With a heat bath. */
class FreeBodiesInABath : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
    const Precision precision = precisionOf(platform);

    /** Some bodies, none of which feels another. */
    Simulation gas(const RigidShape& shape, int count, double dt, double friction) const {
        const BodySystem bodies(std::vector<RigidShape>(count, shape), 0);
        Simulation s(bodies.toOpenMM(), makeIntegrator(setup, dt, 1e-8), platform);
        if (auto* langevin = dynamic_cast<RattleLangevinIntegrator*>(s.integrator.get()))
            langevin->setFriction(friction);
        s.context->setPositions(bodies.start);
        s.context->setVelocitiesToTemperature(300, 4);
        s.integrator->step(20);
        return s;
    }
};

TEST_P(FreeBodiesInABath, HaveTheEnergyOfSixOrFiveDegreesOfFreedom) {
    const int count = 60, samples = isDevice(platform) ? 40 : 150;
    for (int kind : {0, 2}) {
        const RigidShape& shape = someBodies()[kind];
        SCOPED_TRACE(shape.name);
        Simulation s = gas(shape, count, 0.002, 50);
        const int dof = s.integrator->getNumDegreesOfFreedom(), n = (int) shape.masses.size();
        EXPECT_EQ(dof, count * shape.degreesOfFreedom);
        const double total = std::accumulate(shape.masses.begin(), shape.masses.end(), 0.0);
        std::vector<double> temperature, translation, virial;
        for (int sample = 0; sample < samples; sample++) {
            s.integrator->step(25);
            temperature.push_back(s.integrator->computeSystemTemperature());
            virial.push_back(-trace(s.integrator->getConstraintVirial()));
            const Vectors v = s.velocities();
            double ofCentres = 0;
            for (int b = 0; b < count; b++) {
                Vec3 momentum;
                for (int i = 0; i < n; i++)
                    momentum += v[b * n + i] * shape.masses[i];
                ofCentres += 0.5 * momentum.dot(momentum) / total;
            }
            translation.push_back(ofCentres);
        }
        if (integrator == "RattleNoseHoover") { // what chains give each degree of freedom depends on the start
            const Mean mean = meanOf(temperature, 10);
            EXPECT_NEAR(mean.value, 300, 6 * mean.error + 1);
            EXPECT_LT(mean.error, 3);
            continue;
        }
        expectMeanOfSquares(temperature, 300, dof, 0.09);
        expectMeanOfSquares(translation, 1.5 * count * kT, 3 * count, 0.12);
        // Without forces the trace of the virial is -2 times the energy of rotation, whose mean is kT/2 for each axis.
        expectMeanOfSquares(virial, (dof - 3 * count) * kT, dof - 3 * count, 0.15);
    }
}

INSTANTIATE_TEST_SUITE_P(Integrators, FreeBodiesInABath,
                         testing::ValuesIn(bodySetups({"RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"})),
                         [](const auto& info) { return nameOf(info.param); });

/** "Ensemble": it draws many samples. */
class FreeBodyEnsemble : public FreeBodiesInABath {};

TEST_P(FreeBodyEnsemble, HasTheVolumeOfAnIdealGas) {
    const int count = 12, samples = isDevice(platform) ? 1500 : 20000;
    const BodySystem bodies(std::vector<RigidShape>(count, someBodies()[2]), 1);
    const Simulation s = expectVolumeOfAnIdealGas(bodies.toOpenMM(true), count, bodies.start, setup, samples, 0.06);
    const Vectors x = s.positions();
    EXPECT_LT(bodies.deformation(x), 1e-11 + 40 * precision.position);
    EXPECT_GT(distance(x, bodies.start), 0.3);
}

INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodyEnsemble,
                         testing::ValuesIn(oneSetupOfEach(bodySetups({"GeodesicLangevin"}))),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
