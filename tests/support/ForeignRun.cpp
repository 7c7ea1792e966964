// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/ForeignRun.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

static Integrator* makeCustom(double dt, bool isLangevin) {
    auto* custom = new CustomIntegrator(dt);
    custom->addUpdateContextState();
    custom->addPerDofVariable("x1", 0);
    const auto drift = [&](const char* half) {
        custom->addComputePerDof("x", std::string("x+") + half + "*v");
        custom->addComputePerDof("x1", "x");
        custom->addConstrainPositions();
        custom->addComputePerDof("v", std::string("v+(x-x1)/(") + half + ")");
        custom->addConstrainVelocities();
    };
    custom->addComputePerDof("v", "v+0.5*dt*f/m");
    custom->addConstrainVelocities();
    if (isLangevin) {
        drift("0.5*dt");
        custom->addComputePerDof("v", "exp(-dt)*v+sqrt(1-exp(-2*dt))*sqrt(2.494/m)*gaussian");
        custom->addConstrainVelocities();
        drift("0.5*dt");
    } else
        drift("dt");
    custom->addComputePerDof("v", "v+0.5*dt*f/m");
    custom->addConstrainVelocities();
    return custom;
}

std::unique_ptr<Integrator> makeForeign(const std::string& name, double dt, double tolerance) {
    std::unique_ptr<Integrator> made;
    if (name == "Verlet")
        made = std::make_unique<VerletIntegrator>(dt);
    else if (name == "LangevinMiddle")
        made = std::make_unique<LangevinMiddleIntegrator>(300, 1, dt);
    else if (name == "FrictionlessLangevinMiddle")
        made = std::make_unique<LangevinMiddleIntegrator>(0, 0, dt);
    else if (name == "Langevin")
        made = std::make_unique<LangevinIntegrator>(300, 1, dt);
    else if (name == "NoseHoover")
        made = std::make_unique<NoseHooverIntegrator>(300, 20, dt);
    else if (name == "Brownian")
        made = std::make_unique<BrownianIntegrator>(300, 100, dt);
    else if (name == "VariableVerlet")
        made = std::make_unique<VariableVerletIntegrator>(1e-4);
    else if (name == "VariableLangevin")
        made = std::make_unique<VariableLangevinIntegrator>(300, 1, 1e-4);
    else
        made.reset(makeCustom(dt, name == "CustomLangevin"));
    made->setConstraintTolerance(tolerance);
    return made;
}

const std::vector<std::string> foreignIntegrators = {"Verlet",         "LangevinMiddle",   "Langevin",
                                                     "NoseHoover",     "Brownian",         "VariableVerlet",
                                                     "CustomLangevin", "VariableLangevin", "CustomVerlet"};

ConstraintForce* addReplacing(System& system) {
    auto* force = new ConstraintForce();
    force->setReplacesSolver(true);
    system.addForce(force);
    return force;
}

ForeignRun::ForeignRun(std::unique_ptr<System> given, std::unique_ptr<Integrator> made, const std::string& platform)
    : system(std::move(given)), integrator(std::move(made)),
      context(new Context(*system, *integrator, requirePlatform(platform), propertiesOf(platform))) {
}

Vectors ForeignRun::positions() const {
    return context->getState(State::Positions).getPositions();
}

std::string kindOf(const std::function<void()>& function) {
    try {
        function();
    } catch (const ConstraintException& error) {
        return error.getProblem().kind;
    }
    return "";
}

} // namespace ConstraintTests
