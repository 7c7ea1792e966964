// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The pressure by scaling atoms: kinetic energy, virial of the constraints, and virial of the forces as a derivative of
// the energy, for which the Context's box and positions are changed for a while.
#include "ForceVirial.h"
#include "HostStepKernel.h"
#include "KeptState.h"
#include "PressureChecks.h"
#include "ShearedContext.h"
#include "openmm/OpenMMException.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

constexpr double toBar = 16.6053906717; // 1 kJ/mol/nm^3

double volumeOf(const Box& box) {
    return box.a.x * box.b.y * box.c.z;
}

/** @throws ConstraintException if an energy is not finite */
double finite(double energy) {
    if (!isfinite(energy))
        throwProblem(
            {"not-finite",
             {},
             {},
             energy,
             ConstraintProblem::none,
             "computePressure: the potential energy is not finite where positions and box are changed by 0.1 %, "
             "to differentiate it.",
             "minimize the energy first (openmmconstraints.minimize(context))."});
    return energy;
}

/** Call a function that changes a Context's state, and restore that in any case. */
template <class Function>
void restoring(KeptState& state, Function function) {
    try {
        function();
    } catch (...) {
        state.restore();
        throw;
    }
    state.restore();
}

} // namespace

array<double, 9> HostStepKernel::computeMotionAndConstraints(ContextImpl& context,
                                                             const ConstraintIntegrator& integrator) {
    vector<Vec3> v = reportedVelocities(context, integrator);
    const Real3* f = forces(context, integrator);
    const Real3* x = positions(context);
    vector<Real3> a(numParticles());
    for (int i = 0; i < numParticles(); i++)
        a[i] = inverseMass[i] * f[i];
    ForceMultipliers multipliers;
    solveAccelerations(context, integrator, x, asReal3(v), a.data(), multipliers);
    array<double, 9> sum =
        computeConstraintForces(solver->getSet(), multipliers, x, box(context), currentTime(context)).virial;
    for (int i = 0; i < numParticles(); i++)
        for (int k = 0; k < 9 && inverseMass[i] > 0; k++)
            sum[k] += v[i][k / 3] * v[i][k % 3] / inverseMass[i];
    return sum;
}

void HostStepKernel::computePressure(ContextImpl& context, const ConstraintIntegrator& integrator, bool ofTensor,
                                     vector<double>& pressure, vector<double>& errors) {
    const int groups = integrator.getIntegrationForceGroups();
    checkPressure(context.getSystem(), solver->getSet(), groups, throwProblem);
    if (!mayHavePressure)
        checkPressureOfSurfaces(solver->getSet(), throwProblem);
    mayHavePressure = true;
    requireProjected(context, integrator);
    beginRequest(context, integrator, "computePressure()");
    const Box start = box(context);
    const unique_ptr<KeptState> state = keepState(context);
    array<double, 9> others;
    array<Derivative, 9> virials;
    restoring(*state, [&] {
        others = computeMotionAndConstraints(context, integrator);
        unique_ptr<ShearedContext> elsewhere;
        if (const Real3* x = positions(context); ofTensor && !canShearBox())
            elsewhere = make_unique<ShearedContext>(context, start, toVectors(x, numParticles()));
        const auto energyHere = [&](const Deformation& deformation) {
            state->deform(deformation);
            context.computeVirtualSites();
            return finite(context.calcForcesAndEnergy(false, true, groups));
        };
        const auto energyElsewhere = [&](const Deformation& deformation) {
            return finite(elsewhere->energy(deformation, groups));
        };
        if (!ofTensor)
            virials[0] = computeForceVirial(energyHere);
        else if (elsewhere == nullptr)
            virials = computeForceVirialTensor(energyHere, energyHere);
        else
            virials = computeForceVirialTensor(energyHere, energyElsewhere);
    });
    const int size = ofTensor ? 9 : 1;
    const double factor = toBar / (ofTensor ? volumeOf(start) : 3 * volumeOf(start));
    pressure.resize(size);
    errors.resize(size);
    for (int k = 0; k < size; k++) {
        const int mirrored = 3 * (k % 3) + k / 3;
        const double other = ofTensor ? 0.5 * (others[k] + others[mirrored]) : others[0] + others[4] + others[8];
        pressure[k] = factor * (other + virials[k].value);
        errors[k] = factor * virials[k].error;
    }
}

} // namespace ConstraintPlugin
