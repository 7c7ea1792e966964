// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/SplineFunction.h"
#include "openmm/internal/SplineFitter.h"
#include <algorithm>
#include <cmath>

using namespace OpenMM;

namespace ConstraintPlugin {

std::vector<double> SplineFunction::Axis::points() const {
    std::vector<double> x(size);
    for (int i = 0; i < size; i++)
        x[i] = min + i * (max - min) / (size - 1);
    return x;
}

std::unique_ptr<Lepton::CustomFunction> SplineFunction::create(const TabulatedFunction& function) {
    Table table;
    std::vector<double> values;
    Axis x, y, z;
    if (const auto* line = dynamic_cast<const Continuous1DFunction*>(&function)) {
        line->getFunctionParameters(values, x.min, x.max);
        x.size = (int) values.size();
        table = {{x}, line->getPeriodic(), {}};
        std::vector<double> second; // derivatives at the points
        SplineFitter::createSpline(x.points(), values, table.periodic, second);
        const double h2 = x.spacing() * x.spacing();
        for (int i = 0; i < x.size - 1; i++)
            table.patches.push_back({values[i], values[i + 1] - values[i] - h2 / 6 * (2 * second[i] + second[i + 1]),
                                     h2 / 2 * second[i], h2 / 6 * (second[i + 1] - second[i])});
    } else if (const auto* plane = dynamic_cast<const Continuous2DFunction*>(&function)) {
        plane->getFunctionParameters(x.size, y.size, values, x.min, x.max, y.min, y.max);
        table = {{x, y}, plane->getPeriodic(), {}};
        SplineFitter::create2DSpline(x.points(), y.points(), values, table.periodic, table.patches);
        for (std::vector<double>& patch : table.patches) // the second axis is the fastest there
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < i; j++)
                    std::swap(patch[4 * i + j], patch[4 * j + i]);
    } else if (const auto* space = dynamic_cast<const Continuous3DFunction*>(&function)) {
        space->getFunctionParameters(x.size, y.size, z.size, values, x.min, x.max, y.min, y.max, z.min, z.max);
        table = {{x, y, z}, space->getPeriodic(), {}};
        SplineFitter::create3DSpline(x.points(), y.points(), z.points(), values, table.periodic, table.patches);
    } else
        return nullptr;
    return std::unique_ptr<Lepton::CustomFunction>(new SplineFunction(std::move(table)));
}

double SplineFunction::evaluateDerivative(const double* arguments, const int* order) const {
    double powers[maxArguments][4]; // of the place in the patch, differentiated
    int patch = 0, stride = 1;
    const int numAxes = getNumArguments();
    for (int a = 0; a < numAxes; a++) {
        const Axis& axis = table->axes[a];
        double u = (arguments[a] - axis.min) / (axis.max - axis.min);
        if (table->periodic)
            u -= std::floor(u);
        if (std::isnan(u))
            return u;
        if (u < 0 || u > 1)
            return 0.0;
        const double place = u * (axis.size - 1);
        const int interval = std::min((int) place, axis.size - 2);
        patch += stride * interval;
        stride *= axis.size - 1;
        for (int k = 0; k < 4; k++) {
            double factor = 1;
            for (int n = 0; n < order[a]; n++)
                factor *= (k - n) / axis.spacing();
            powers[a][k] = k < order[a] ? 0.0 : factor * std::pow(place - interval, k - order[a]);
        }
    }
    const std::vector<double>& c = table->patches[patch];
    double sum = 0;
    for (std::size_t i = 0; i < c.size(); i++) {
        double term = c[i];
        for (int a = 0; a < numAxes; a++)
            term *= powers[a][(i >> (2 * a)) & 3];
        sum += term;
    }
    return sum;
}

} // namespace ConstraintPlugin
