// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForces.h"
#include "BodyFit.h"
#include "Jacobian.h"

namespace ConstraintPlugin {

ConstraintForces computeConstraintForces(const ConstraintSet& set, const ForceMultipliers& multipliers,
                                         const Real3* positions, const Box& box, double time) {
    ConstraintForces result;
    result.forces.resize(set.numParticles());
    std::vector<int> acting;
    for (int k = 0; k < (int) multipliers.values.size(); k++)
        if (multipliers.values[k] != 0)
            acting.push_back(k);
    Jacobian J(set, acting);
    J.setStart(positions, box, time);
    for (int row = 0; row < J.numRows(); row++) {
        const double lambda = multipliers.values[acting[row]];
        J.addForce(row, lambda, result.forces.data());
        J.addVirial(row, lambda, result.virial.data());
    }
    auto force = multipliers.ofBodies.begin();
    for (const FreeBody& body : set.bodies)
        for (int i = 0; i < body.size() && force != multipliers.ofBodies.end(); i++) {
            const Real3 f = *force++, x = fromReference(body, i, positions, box);
            result.forces[body.particles[i]] += f;
            const double r[3] = {x.x, x.y, x.z}, components[3] = {f.x, f.y, f.z};
            for (int k = 0; k < 9; k++)
                result.virial[k] += r[k / 3] * components[k % 3];
        }
    return result;
}

} // namespace ConstraintPlugin
