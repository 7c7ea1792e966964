// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What users read of the constraints: multipliers, forces, virial.
#include "BlueMoon.h"
#include "ConstraintForces.h"
#include "LeastNorm.h"
#include "ReferenceStepKernel.h"
#include "openmm/OpenMMException.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

class ReferenceStepKernel::AsInLastStep {
public:
    AsInLastStep(ConstraintSolver& solver, const Reading& reading) : solver(solver), now(solver.getGlobals()) {
        if (reading.globals.size() == now.size())
            solver.setGlobals(reading.globals);
    }
    ~AsInLastStep() {
        solver.setGlobals(now);
    }
    AsInLastStep(const AsInLastStep&) = delete;
    AsInLastStep& operator=(const AsInLastStep&) = delete;

private:
    ConstraintSolver& solver;
    std::vector<double> now;
};

ReferenceStepKernel::StepMultipliers
ReferenceStepKernel::getStepMultipliers(const ConstraintIntegrator& integrator) const {
    auto [start, end] = solver->getMultipliers();
    double position = 0, velocity = 0;
    if (integrator.getStepSize() > 0)
        multiplierFactors(integrator.getStepSize(), position, velocity);
    for (size_t k = 0; k < start.size(); k++) {
        start[k] *= position;
        end[k] *= velocity;
        if (solvesVelocitiesFirst()) {
            start[k] += end[k];
            end[k] = 0;
        }
    }
    return {start, end};
}

void ReferenceStepKernel::updateReading(ContextImpl& context, const ConstraintIntegrator& integrator) {
    StepMultipliers step = getStepMultipliers(integrator);
    reading.multipliers.swap(step.start);
    reading.velocityMultipliers.swap(step.end);
    reading.positions.swap(gradientPositions);
    reading.endTime = lastGood.time;
    reading.globals = solver->getGlobals();
    frozen.reset();
    if (!solver->moves())
        return;

    // lambda_k d xi_k0/dt, and d sigma/dt = -d xi_k0/dt
    auto power = [&](const vector<double>& multipliers, const Real3* x, double time) {
        solver->setTime(time);
        const vector<double> derivative = solver->timeDerivatives(x, reading.box);
        double sum = 0;
        for (size_t k = 0; k < multipliers.size(); k++)
            sum -= multipliers[k] * derivative[k];
        return sum;
    };
    const double dt = integrator.getStepSize(),
                 atStart = power(reading.multipliers, reading.positions.data(), reading.time);
    if (hasTwoHalves())
        reading.work += 0.5 * dt * (atStart + power(reading.velocityMultipliers, positions(context), lastGood.time));
    else
        reading.work += dt * atStart;
}

vector<double> ReferenceStepKernel::listed(const vector<double>& multipliers) const {
    const ConstraintSet& set = solver->getSet();
    vector<double> result(multipliers.begin(), multipliers.begin() + set.numListed);
    for (size_t k = set.numListed; k < multipliers.size(); k++) // both components of a bend
        if (set.constraints[k].owner >= 0)
            result[set.constraints[k].owner] = hypot(result[set.constraints[k].owner], multipliers[k]);
    return result;
}

vector<double> ReferenceStepKernel::getMultipliers() const {
    if (frozen != nullptr)
        return frozen->multipliers;
    const AsInLastStep then(*solver, reading);
    solver->setTime(reading.time);
    return listed(leastNorm(*solver, reading.multipliers, reading.positions.data(), reading.box, maxIterations));
}

vector<double> ReferenceStepKernel::getVelocityMultipliers() const {
    if (frozen != nullptr)
        return frozen->velocityMultipliers;
    const AsInLastStep then(*solver, reading);
    const vector<Real3>& end = lastGood.positions.empty() ? reading.endPositions : lastGood.positions;
    solver->setTime(reading.endTime);
    return listed(leastNorm(*solver, reading.velocityMultipliers, end.data(), reading.box, maxIterations));
}

void ReferenceStepKernel::getConstraintForces(vector<Vec3>& forces, vector<Vec3>& virial) const {
    if (frozen != nullptr) {
        forces = frozen->forces;
        virial = frozen->virial;
        return;
    }
    const AsInLastStep then(*solver, reading);
    const ConstraintForces computed = computeConstraintForces(solver->getSet(), reading.multipliers,
                                                              reading.positions.data(), reading.box, reading.time);
    forces.clear();
    for (const Real3& f : computed.forces)
        forces.emplace_back(f.x, f.y, f.z);
    virial.clear();
    for (int i = 0; i < 3; i++)
        virial.emplace_back(computed.virial[3 * i], computed.virial[3 * i + 1], computed.virial[3 * i + 2]);
}

vector<double> ReferenceStepKernel::computeMultipliers(ContextImpl& context, const ConstraintIntegrator& integrator) {
    prepare(context, integrator);
    activity = "computeMultipliers()";
    const double shift = velocityTimeOffset(integrator);
    const Real3* f = forces(context, integrator);
    vector<Real3> v(velocities(context), velocities(context) + numParticles()), a(numParticles());
    for (int i = 0; i < numParticles(); i++) {
        a[i] = inverseMass[i] * f[i];
        v[i] += shift * a[i];
    }
    const SolverSummary ofLastStep = summary;
    projectTangent(context, integrator, positions(context), v.data());
    vector<double> multipliers;
    solveAccelerations(context, integrator, v.data(), a.data(), multipliers);
    summary = ofLastStep;
    return listed(leastNorm(*solver, multipliers, positions(context), box(context), maxIterations));
}

void ReferenceStepKernel::computeBlueMoon(ContextImpl& context, const ConstraintIntegrator& integrator,
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
