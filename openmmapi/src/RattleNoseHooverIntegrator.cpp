// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/RattleNoseHooverIntegrator.h"
#include "ConstraintErrors.h"
#include "HeatBathKernel.h"
#include "KernelHold.h"
#include "Settings.h"
#include "openmm/OpenMMException.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmm/serialization/SerializationNode.h"
#include <cmath>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

static void requirePositive(double value, const char* method, const char* quantity) {
    if (!(value > 0) || isinf(value))
        refuseSetting(string(method) + ": the " + quantity + " that is positive", value);
}

/** Larger numbers are no setting that anyone wants: chains of 3 to 10 serve, and 1000 substeps divide half a step more
 *  finely than any frequency asks for that the step itself can follow. They would take memory and time without bound.
 */
static void requireInRange(int value, const string& quantity) {
    const int largest = 1000;
    if (value < 1 || value > largest)
        throw OpenMMException("RattleNoseHooverIntegrator: " + quantity + " has to be 1 to " + to_string(largest) +
                              "; got " + to_string(value) + ".");
}

RattleNoseHooverIntegrator::RattleNoseHooverIntegrator(double temperature, double collisionFrequency, double stepSize,
                                                       int chainLength, int numMTS, int numYoshidaSuzuki)
    : ConstraintIntegrator(stepSize), chainLength(chainLength), numMTS(numMTS), numYoshidaSuzuki(numYoshidaSuzuki) {
    setTemperature(temperature);
    setCollisionFrequency(collisionFrequency);
    requireInRange(chainLength, "chainLength");
    requireInRange(numMTS, "numMTS");
    try {
        yoshidaSuzukiWeights(numYoshidaSuzuki);
    } catch (const invalid_argument& error) {
        throw OpenMMException(string("RattleNoseHooverIntegrator: numYoshidaSuzuki: ") + error.what() + ".");
    }
}

void RattleNoseHooverIntegrator::setTemperature(double newTemperature) {
    requirePositive(newTemperature, "setTemperature", "temperature has to be a number of kelvin");
    temperature = newTemperature;
}

void RattleNoseHooverIntegrator::setCollisionFrequency(double newFrequency) {
    requirePositive(newFrequency, "setCollisionFrequency",
                    "collision frequency has to be a number of inverse picoseconds");
    collisionFrequency = newFrequency;
}

string RattleNoseHooverIntegrator::getStepKernelName() const {
    return "IntegrateRattleNoseHooverStep";
}

void RattleNoseHooverIntegrator::checkSupported(const ConstraintSet& constraints, const ProblemReport& report) const {
    for (size_t k = 0; k < constraints.constraints.size(); k++)
        if (const Constraint& c = constraints.constraints[k]; constraints.isMoving(c))
            report(problemOf(constraints, "integrator", {(int) k},
                             "RattleNoseHooverIntegrator cannot hold " + describeConstraint(constraints, (int) k) +
                                 ", which moves in time: scaling the velocities would change its rate.",
                             "Use RattleLangevinIntegrator, or set its rate to zero.", c.rate, 0));
}

static const RattleNoseHooverIntegrator& asNoseHoover(const ConstraintIntegrator& integrator) {
    return dynamic_cast<const RattleNoseHooverIntegrator&>(integrator);
}

HeatBath heatBathOf(const ConstraintIntegrator& integrator) {
    const RattleNoseHooverIntegrator& given = asNoseHoover(integrator);
    return {BOLTZ * given.getTemperature(), given.getCollisionFrequency(), given.getNumDegreesOfFreedom(),
            given.getNumMultiTimeSteps(), yoshidaSuzukiWeights(given.getNumYoshidaSuzukiTimeSteps())};
}

int chainLengthOf(const ConstraintIntegrator& integrator) {
    return asNoseHoover(integrator).getChainLength();
}

static HeatBathKernel& asHeatBath(IntegrateConstraintsStepKernel& kernel) {
    return dynamic_cast<HeatBathKernel&>(kernel);
}

double RattleNoseHooverIntegrator::computeHeatBathEnergy() const {
    requireContext(false);
    return energyOf(asHeatBath(*reading("computeHeatBathEnergy()")).getChain(), heatBathOf(*this));
}

void RattleNoseHooverIntegrator::serializeParameters(SerializationNode& node) const {
    node.setIntProperty("version", 1);
    const ThermostatChain chain = asHeatBath(*reading("getState()")).getChain();
    for (int j = 0; j < chainLength; j++)
        node.createChildNode("Thermostat")
            .setDoubleProperty("position", chain.positions[j])
            .setDoubleProperty("velocity", chain.velocities[j]);
}

void RattleNoseHooverIntegrator::deserializeParameters(const SerializationNode& node) {
    const vector<SerializationNode>& thermostats = node.getChildren();
    ThermostatChain chain(chainLength);
    if (thermostats.empty() || thermostats[0].getName() != "Thermostat") { // of another integrator: a chain at rest
        asHeatBath(*working("setState()")).setChain(chain);
        return;
    }
    if (node.getIntProperty("version") != 1)
        throw OpenMMException("RattleNoseHooverIntegrator: unsupported version of integrator parameters");
    if ((int) thermostats.size() != chainLength)
        throw OpenMMException("RattleNoseHooverIntegrator: the State has a Nose-Hoover chain of length " +
                              to_string(thermostats.size()) + ", this integrator one of length " +
                              to_string(chainLength) + ".");
    for (int j = 0; j < chainLength; j++) {
        chain.positions[j] = thermostats[j].getDoubleProperty("position");
        chain.velocities[j] = thermostats[j].getDoubleProperty("velocity");
    }
    asHeatBath(*working("setState()")).setChain(chain);
}

} // namespace ConstraintPlugin
