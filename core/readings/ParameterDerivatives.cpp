// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ParameterDerivatives.h"

namespace ConstraintPlugin {

std::map<std::string, double> parameterDerivatives(const ConstraintSet& set, const std::vector<double>& multipliers,
                                                   const Real3* positions, const Box& box, double time) {
    std::map<std::string, double> derivatives;
    const CustomCoordinate::StepState stepState{time, box};
    for (int k = 0; k < set.numListed; k++) {
        const Constraint& c = set.constraints[k];
        if (c.parameter >= 0)
            derivatives[set.globals[c.parameter].name] += multipliers[k] * (c.target1 - c.target0);
        if (c.kind != CoordinateKind::Custom || set.custom[c.form]->getGlobalNames().empty())
            continue;
        std::vector<Real3> x;
        for (int p : c.particles)
            x.push_back(positions[p]);
        CustomCoordinate& sigma = *set.custom[c.form];
        const std::vector<double> ofSigma =
            sigma.globalDerivatives(x.data(), set.parameters.data() + c.firstParameter, stepState);
        for (std::size_t i = 0; i < ofSigma.size(); i++)
            derivatives[sigma.getGlobalNames()[i]] -= multipliers[k] * ofSigma[i];
    }
    return derivatives;
}

} // namespace ConstraintPlugin
