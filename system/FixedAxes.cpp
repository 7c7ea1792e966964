// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "FixedAxes.h"
#include <random>

namespace ConstraintPlugin {

Axes fixedBy(const ConstraintSet& set, const Constraint& c, bool masslessToo) {
    Axes fixed = {};
    CustomCoordinate& sigma = *set.custom[c.form];
    const std::vector<double> defaults = sigma.getGlobals();
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Real3> x(c.size()), gradient(c.size());
    for (int sample = 0; sample < 50; sample++) {
        const double scale = std::array<double, 5>{1, 3, 10, 30, 100}[sample % 5];
        for (Real3& place : x)
            place = {scale * uniform(random), scale * uniform(random), scale * uniform(random)};
        std::vector<double> globals = defaults;
        for (double& value : globals)
            value += sample % 2 * uniform(random);
        sigma.setGlobals(globals);
        sigma.evaluate(x.data(), set.parameters.data() + c.firstParameter, {}, gradient.data());
        Real3 sum;
        double squares = 0;
        for (int s = 0; s < c.size(); s++) {
            if (masslessToo || set.inverseMass[c.particles[s]] > 0)
                sum += gradient[s];
            squares += dot(gradient[s], gradient[s]);
        }
        const double components[3] = {sum.x, sum.y, sum.z};
        for (int axis = 0; axis < 3; axis++) // false where there is no gradient
            fixed[axis] = fixed[axis] || std::abs(components[axis]) > 1e-8 * std::sqrt(squares);
    }
    sigma.setGlobals(defaults);
    return fixed;
}

} // namespace ConstraintPlugin
