// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/RattleLangevinIntegrator.h"
#include "KernelHold.h"
#include "LangevinNoise.h"
#include "Settings.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/ContextImpl.h"
#include <cmath>
#include <random>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

static void requireNotNegative(double value, const char* method, const char* quantity) {
    if (!(value >= 0) || isinf(value))
        refuseSetting(string(method) + ": the " + quantity + " that is not negative", value);
}

RattleLangevinIntegrator::RattleLangevinIntegrator(double temperature, double friction, double stepSize)
    : ConstraintIntegrator(stepSize) {
    setTemperature(temperature);
    setFriction(friction);
}

void RattleLangevinIntegrator::setTemperature(double newTemperature) {
    requireNotNegative(newTemperature, "setTemperature", "temperature has to be a number of kelvin");
    temperature = newTemperature;
}

void RattleLangevinIntegrator::setFriction(double newFriction) {
    requireNotNegative(newFriction, "setFriction", "friction has to be a number of inverse picoseconds");
    friction = newFriction;
}

void RattleLangevinIntegrator::setNumGeodesicSteps(int numSteps) {
    if (numSteps < 0 || numSteps > 1000)
        throw OpenMMException("setNumGeodesicSteps: the number of geodesic steps has to be from 0 (LangevinMiddle) to "
                              "1000; got " +
                              to_string(numSteps) + ".");
    numGeodesicSteps = numSteps;
}

double RattleLangevinIntegrator::getHeat() const {
    requireContext(false);
    return reading("getHeat()")->getHeat();
}

string RattleLangevinIntegrator::getStepKernelName() const {
    return numGeodesicSteps > 0 ? "IntegrateGeodesicLangevinStep" : "IntegrateRattleLangevinStep";
}

void RattleLangevinIntegrator::initialize(ContextImpl& context) {
    child = 0;
    if (const auto* compound = dynamic_cast<const CompoundIntegrator*>(&context.getIntegrator()))
        for (int i = 0; i < compound->getNumIntegrators(); i++)
            if (&compound->getIntegrator(i) == this)
                child = i;
    ConstraintIntegrator::initialize(context);
}

NoiseKey makeNoiseKey(const ConstraintIntegrator& integrator) {
    const auto& langevin = dynamic_cast<const RattleLangevinIntegrator&>(integrator);
    if (langevin.randomNumberSeed != 0)
        return {(uint32_t) langevin.randomNumberSeed, (uint32_t) langevin.child};
    random_device unique;
    return {unique(), unique()};
}

} // namespace ConstraintPlugin
