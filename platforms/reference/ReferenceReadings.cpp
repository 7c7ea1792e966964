// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What users read of the constraints: multipliers, forces, virial.
#include "ConstraintForces.h"
#include "ReferenceStepKernel.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void ReferenceStepKernel::updateReading(const ConstraintIntegrator& integrator) {
    const auto solved = solver->getMultipliers();
    double position = 0, velocity = 0;
    if (integrator.getStepSize() > 0)
        multiplierFactors(integrator.getStepSize(), position, velocity);
    for (size_t k = 0; k < solved.lambda.size(); k++) {
        reading.multipliers[k] = position * solved.lambda[k];
        reading.velocityMultipliers[k] = 0;
        (solvesVelocitiesFirst() ? reading.multipliers : reading.velocityMultipliers)[k] += velocity * solved.mu[k];
    }
    reading.positions.swap(gradientPositions);
}

void ReferenceStepKernel::getConstraintForces(vector<Vec3>& forces, vector<Vec3>& virial) const {
    const ConstraintForces computed =
        computeConstraintForces(solver->getSet(), reading.multipliers, reading.positions.data(), reading.box);
    forces.clear();
    for (const Real3& f : computed.forces)
        forces.emplace_back(f.x, f.y, f.z);
    virial.clear();
    for (int i = 0; i < 3; i++)
        virial.emplace_back(computed.virial[3 * i], computed.virial[3 * i + 1], computed.virial[3 * i + 2]);
}

vector<double> ReferenceStepKernel::computeMultipliers(ContextImpl& context, const ConstraintIntegrator& integrator) {
    prepare(integrator);
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
    const SolveReport report = solver->solveAccelerations(positions(context), box(context), v.data(), a.data(),
                                                          multipliers, integrator.getMaxIterations());
    // Rounding may keep the error above what was asked for; a singular or non-finite system may not pass.
    if (report.outcome != Outcome::Converged && !(report.outcome == Outcome::NotConverged && report.maxError < 1e-8))
        fail(report, Stage::Velocities, integrator);
    summary = ofLastStep;
    return multipliers;
}

} // namespace ConstraintPlugin
