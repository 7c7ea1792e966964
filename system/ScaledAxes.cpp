// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ScaledAxes.h"
#include "openmm/MonteCarloAnisotropicBarostat.h"
#include "openmm/MonteCarloBarostat.h"
#include "openmm/MonteCarloFlexibleBarostat.h"
#include "openmm/MonteCarloMembraneBarostat.h"

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

Axes axesOf(const MonteCarloBarostat&) {
    return {true, true, true};
}
Axes axesOf(const MonteCarloFlexibleBarostat&) {
    return {true, true, true};
}
Axes axesOf(const MonteCarloAnisotropicBarostat& barostat) {
    return {barostat.getScaleX(), barostat.getScaleY(), barostat.getScaleZ()};
}
Axes axesOf(const MonteCarloMembraneBarostat& barostat) {
    return {true, true, barostat.getZMode() != MonteCarloMembraneBarostat::ZFixed};
}

template <class Barostat>
void addAxes(const Force& force, Axes& axes) {
    if (const auto* barostat = dynamic_cast<const Barostat*>(&force);
        barostat != nullptr && barostat->getFrequency() > 0)
        axes = axesOf(*barostat);
}

} // namespace

Axes scaledBy(const Force& force) {
    Axes axes{};
    addAxes<MonteCarloBarostat>(force, axes);
    addAxes<MonteCarloFlexibleBarostat>(force, axes);
    addAxes<MonteCarloAnisotropicBarostat>(force, axes);
    addAxes<MonteCarloMembraneBarostat>(force, axes);
    return axes;
}

} // namespace ConstraintPlugin
