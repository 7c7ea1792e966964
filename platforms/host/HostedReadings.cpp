// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What users read of the constraints: multipliers, forces, virial.
#include "BlueMoon.h"
#include "ClusterReport.h"
#include "ConstraintForces.h"
#include "HostedStepKernel.h"
#include "LeastNorm.h"
#include "WithGlobals.h"
#include "openmm/OpenMMException.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void HostedStepKernel::noteStep(double startTime, double endTime, const Box& box) {
    reading.time = startTime;
    reading.endTime = endTime;
    reading.box = box;
    reading.globals = solver->getGlobals();
    frozen.reset();
}

void HostedStepKernel::completeReading() const {
    refreshReading();
    if (reading.velocityChange.empty())
        return;
    const WithGlobals then(*solver, reading.globals);
    solver->setTime(reading.time);
    ForceMultipliers rest;
    const SolveReport report = solver->solveVelocitySpread(reading.positions.data(), reading.box,
                                                           reading.velocityChange.data(), rest, 4 * maxIterations);
    // a small part of what is read, and the matrix is the velocity stage's: a thousandth of it is enough
    const bool isClose = report.outcome == Outcome::NotConverged && report.maxError < 1e-3;
    if (report.outcome != Outcome::Converged && !isClose)
        throwSolveError(solver->getSet(), report,
                        {Stage::Velocities, "reading the multipliers of the last step", 1e-12, 1, reading.time,
                         lastStepSize, solverDescription(), isServedIteratively(solver->getGraph(), report.constraint),
                         describeFallbacks(solver->getGraph())});
    for (size_t k = 0; k < rest.values.size(); k++)
        reading.multipliers.values[k] += rest.values[k];
    reading.velocityChange.clear();
}

void HostedStepKernel::addWork(const Real3* end, double dt) {
    if (!solver->moves())
        return;

    // lambda_k d xi_k0/dt, and d sigma/dt = -d xi_k0/dt
    auto power = [&](const ForceMultipliers& multipliers, const Real3* x, double time) {
        solver->setTime(time);
        const vector<double> derivative = solver->timeDerivatives(x, reading.box);
        double sum = 0;
        for (size_t k = 0; k < derivative.size(); k++)
            sum -= multipliers.values[k] * derivative[k];
        return sum;
    };
    const auto powerAtStart = [&] { return power(reading.multipliers, reading.positions.data(), reading.time); };
    if (!reading.velocityChange.empty()) {
        reading.heat += dt * powerAtStart();
        completeReading();
        reading.heat -= dt * powerAtStart();
    }
    const double atStart = powerAtStart();
    if (scheme.hasTwoHalves)
        reading.work += 0.5 * dt * (atStart + power(reading.velocityMultipliers, end, reading.endTime));
    else
        reading.work += dt * atStart;
}

vector<double> HostedStepKernel::listed(const ForceMultipliers& multipliers) const {
    const ConstraintSet& set = solver->getSet();
    const vector<double>& all = multipliers.values;
    vector<double> result(all.begin(), all.begin() + set.numListed);
    for (size_t k = set.numListed; k < all.size(); k++) // both components of a bend
        if (set.constraints[k].owner >= 0)
            result[set.constraints[k].owner] = hypot(result[set.constraints[k].owner], all[k]);
    return result;
}

vector<double> HostedStepKernel::getMultipliers() const {
    if (frozen != nullptr)
        return frozen->multipliers;
    completeReading();
    const WithGlobals then(*solver, reading.globals);
    solver->setTime(reading.time);
    return listed(leastNorm(*solver, reading.multipliers, reading.positions.data(), reading.box, maxIterations));
}

vector<double> HostedStepKernel::getVelocityMultipliers() const {
    if (frozen != nullptr)
        return frozen->velocityMultipliers;
    refreshReading();
    const WithGlobals then(*solver, reading.globals);
    solver->setTime(reading.endTime);
    return listed(
        leastNorm(*solver, reading.velocityMultipliers, reading.endPositions.data(), reading.box, maxIterations));
}

void HostedStepKernel::getConstraintForces(vector<Vec3>& forces, vector<Vec3>& virial) const {
    if (frozen != nullptr) {
        forces = frozen->forces;
        virial = frozen->virial;
        return;
    }
    completeReading();
    const WithGlobals then(*solver, reading.globals);
    const ConstraintForces computed = computeConstraintForces(solver->getSet(), reading.multipliers,
                                                              reading.positions.data(), reading.box, reading.time);
    forces.clear();
    for (const Real3& f : computed.forces)
        forces.emplace_back(f.x, f.y, f.z);
    virial.clear();
    for (int i = 0; i < 3; i++)
        virial.emplace_back(computed.virial[3 * i], computed.virial[3 * i + 1], computed.virial[3 * i + 2]);
}

double HostedStepKernel::getConstraintWork() const {
    refreshReading();
    return reading.work;
}

double HostedStepKernel::getHeat() const {
    refreshReading();
    return reading.heat;
}

vector<double> HostedStepKernel::computeMultipliers(ContextImpl& context, const ConstraintIntegrator& integrator) {
    requireProjected(context, integrator);
    beginRequest(context, integrator, "computeMultipliers()");
    const double shift = velocityTimeOffset(integrator);
    const Real3* f = forces(context, integrator);
    vector<Real3> v = copyOf(velocities(context)), a(numParticles());
    for (int i = 0; i < numParticles(); i++) {
        a[i] = inverseMass[i] * f[i];
        v[i] += shift * a[i];
    }
    const Real3* x = positions(context);
    const SolverSummary ofLastStep = summary;
    projectTangent(context, integrator, x, v.data());
    ForceMultipliers multipliers;
    solveAccelerations(context, integrator, x, v.data(), a.data(), multipliers);
    summary = ofLastStep;
    return listed(leastNorm(*solver, multipliers, x, box(context), maxIterations));
}

void HostedStepKernel::computeBlueMoon(ContextImpl& context, const ConstraintIntegrator& integrator,
                                       const vector<int>& coordinates, vector<double>& multipliers,
                                       vector<double>& corrections, double& logZ) {
    if (solver->moves())
        throw OpenMMException("computeBlueMoon: constraints that move in time have no ensemble of their own; set their "
                              "rates to zero.");
    const vector<double> all = computeMultipliers(context, integrator);
    multipliers.clear();
    for (int k : coordinates)
        multipliers.push_back(all[k]);
    const BlueMoon terms = ConstraintPlugin::computeBlueMoon(*solver, coordinates, positions(context), box(context),
                                                             integrator.getMaxIterations());
    corrections = terms.corrections;
    logZ = terms.logZ;
}

} // namespace ConstraintPlugin
