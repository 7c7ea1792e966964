// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/IdealGas.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/Statistics.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace OpenMM;

namespace ConstraintTests {

Simulation expectVolumeOfAnIdealGas(std::unique_ptr<System> molecules, int count, const Vectors& start,
                                    const Setup& setup, int samples, double resolution) {
    const double bar = 0.06022141, kT = BOLTZ * 300; // kJ/mol/nm^3
    const double volume = (count + 1) * kT / (20 * bar), edge = std::cbrt(volume);
    molecules->setDefaultPeriodicBoxVectors({edge, 0, 0}, {0, edge, 0}, {0, 0, edge});
    auto* barostat = new MonteCarloBarostat(20, 300, 1);
    barostat->setRandomNumberSeed(3);
    molecules->addForce(barostat);
    Simulation s(std::move(molecules), makeIntegrator(setup, 0.002, 1e-8), std::get<0>(setup));
    s.context->setPositions(start);
    s.context->setVelocitiesToTemperature(300, 4);
    EXPECT_EQ(s.context->getMolecules().size(), (std::size_t) count);
    s.integrator->step(500);
    std::vector<double> volumes;
    for (int sample = 0; sample < samples; sample++) {
        s.integrator->step(1);
        volumes.push_back(s.context->getState(0).getPeriodicBoxVolume());
    }
    const Mean mean = meanOf(volumes, 20);
    EXPECT_NEAR(mean.value, volume, 6 * mean.error);
    EXPECT_LT(mean.error, resolution * volume);
    return s;
}

} // namespace ConstraintTests
