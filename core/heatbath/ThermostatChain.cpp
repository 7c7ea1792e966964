// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ThermostatChain.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace ConstraintPlugin {

namespace {

using mixed = double;
using std::ceil;
using std::exp;
using std::fabs;
using std::max;
using std::min;
using std::sqrt;
#define DEVICE
#define GLOBAL
#include "thermostatChain.cc"
#undef GLOBAL
#undef DEVICE

} // namespace

std::vector<double> yoshidaSuzukiWeights(int number) {
    switch (number) {
    case 1:
        return {1};
    case 3: {
        const double w = 1 / (2 - std::cbrt(2.0));
        return {w, 1 - 2 * w, w};
    }
    case 5: {
        const double w = 1 / (4 - std::cbrt(4.0));
        return {w, w, 1 - 4 * w, w, w};
    }
    case 7: {
        const double a = 0.784513610477560, b = 0.235573213359357, c = -1.17767998417887;
        return {a, b, c, 1 - 2 * (a + b + c), c, b, a};
    }
    default:
        throw std::invalid_argument("there are Yoshida-Suzuki products of 1, 3, 5 and 7 substeps; got " +
                                    std::to_string(number));
    }
}

double propagate(ThermostatChain& chain, const HeatBath& bath, double twiceKineticEnergy, double time) {
    if (bath.degreesOfFreedom == 0)
        return 1;
    return propagateChain(chain.positions.data(), chain.velocities.data(), (int) chain.positions.size(),
                          twiceKineticEnergy / (bath.degreesOfFreedom * bath.kT), bath.degreesOfFreedom, bath.frequency,
                          time, bath.numSubsteps, bath.weights.data(), (int) bath.weights.size());
}

double energyOf(const ThermostatChain& chain, const HeatBath& bath) {
    double sum = 0; // in units of kT
    for (std::size_t j = 0; j < chain.positions.size(); j++) {
        const double u = chain.velocities[j] / bath.frequency;
        sum += (j == 0 ? bath.degreesOfFreedom : 1) * (0.5 * u * u + chain.positions[j]);
    }
    return bath.kT * sum;
}

} // namespace ConstraintPlugin
