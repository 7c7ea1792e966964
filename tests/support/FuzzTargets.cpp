// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/FuzzTargets.h"
#include "LeptonCoordinate.h"
#include "openmm/OpenMMException.h"
#include "support/Expressions.h"
#include "support/Simulation.h"
#include "support/Xml.h"
#include <cmath>
#include <sstream>
#include <stdexcept>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

namespace {

const std::vector<Vec3> positions = {{0, 0, 0},       {0.1, 0, 0},     {0.11, 0.1, 0.01},
                                     {0, 0.09, 0.12}, {0.3, 0.2, 0.1}, {0.25, 0.31, 0.17}};

template <class Function>
bool isAccepted(Function function) {
    try {
        function();
        return true;
    } catch (const OpenMMException&) {
        return false;
    }
}

void requireFinite(double value, const char* what) {
    if (!std::isfinite(value))
        throw std::logic_error(std::string(what) + " without an exception is not finite");
}

void stepOnce(Context& context, ConstraintIntegrator& integrator) {
    context.setPositions(positions);
    integrator.step(1);
    const State state = context.getState(State::Positions);
    for (const Vec3& x : state.getPositions())
        for (int axis = 0; axis < 3; axis++)
            requireFinite(x[axis], "a position after a step");
    for (double lambda : integrator.computeMultipliers())
        requireFinite(lambda, "a multiplier");
}

/** A System of particles at `positions` with this Force. */
void tryInSystem(std::unique_ptr<Force> force) {
    System system;
    for (std::size_t i = 0; i < positions.size(); i++)
        system.addParticle(1.0 + (double) i);
    system.addForce(force.release());
    RattleIntegrator integrator(0.001);
    integrator.setMaxProjection(100); // the surface of an expression may be far off
    const auto context = makeContext(system, integrator, "Reference");
    stepOnce(*context, integrator);
}

Simulation checkpointed() {
    const Setup setup{"Reference", ConstraintIntegrator::Automatic, "FrictionlessLangevin"};
    Simulation s = simulate(findSystem("chain"), Declared::InForce, setup, 0.001, 1e-8);
    s.integrator->setWarmStart(true);
    return s;
}

} // namespace

bool tryForce(const std::string& xml) {
    std::unique_ptr<Force> force;
    if (!isAccepted([&] { force = fromXml<Force>(xml); }))
        return false;
    const std::string written = toXml<Force>(*force, "Force");
    if (toXml<Force>(*fromXml<Force>(written), "Force") != written)
        throw std::logic_error("a Force is changed by writing and reading it");
    isAccepted([&] { tryInSystem(std::move(force)); });
    return true;
}

bool trySystem(const std::string& xml) {
    std::unique_ptr<System> system;
    if (!isAccepted([&] { system = fromXml<System>(xml); }))
        return false;
    toXml(*system, "System");
    RattleIntegrator integrator(0.001);
    isAccepted([&] { makeContext(*system, integrator, "Reference"); });
    return true;
}

bool tryIntegrator(const std::string& xml) {
    std::unique_ptr<Integrator> integrator;
    if (!isAccepted([&] { integrator = fromXml<Integrator>(xml); }))
        return false;
    toXml<Integrator>(*integrator, "Integrator");
    return true;
}

bool tryExpression(const std::string& expression) {
    auto force = makeForce({"", 2, expression, {{"a", 0.3}}, {{"g", 0.2}}});
    force->addConstraint({0, 1}, {0.3});
    const bool hasText = isAccepted([&] {
        LeptonCoordinate coordinate(*force);
        coordinate.kernelText("sigma");
        coordinate.curvatureKernelText("sigma");
    });
    return isAccepted([&] { tryInSystem(std::move(force)); }) && hasText;
}

std::string makeCheckpoint() {
    Simulation s = checkpointed();
    s.integrator->step(2);
    std::ostringstream stream;
    s.context->createCheckpoint(stream);
    return stream.str();
}

bool tryCheckpoint(const std::string& bytes) {
    static Simulation s = checkpointed(); // one Context for all of them
    std::istringstream stream(bytes);
    const bool accepted = isAccepted([&] { s.context->loadCheckpoint(stream); });
    const TestSystem& chain = findSystem("chain");
    s.integrator->getSolverSummary().str();
    s.context->setTime(0);
    s.context->setPositions(toVectors(chain.positions));
    s.context->setVelocities(tangentVelocities(chain, 1, 3));
    s.integrator->step(1);
    if (!s.integrator->getSolverSummary().converged)
        throw std::logic_error("a step after a damaged checkpoint did not converge");
    return accepted;
}

} // namespace ConstraintTests
