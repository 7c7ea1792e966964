// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SplineFunction.h"
#include "openmm/internal/SplineFitter.h"
#include <algorithm>
#include <cmath>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

// The text that kernels are made of.
namespace inDoubles {
using mixed = double;
using std::floor;
using std::pow;
using std::round;
using std::sqrt;
#define DEVICE [[maybe_unused]] inline
#define GLOBAL
#include "functions.cc"
#undef GLOBAL
#undef DEVICE
} // namespace inDoubles

struct Axis {
    int size;
    double low, high;
    std::vector<double> points() const {
        std::vector<double> x(size);
        for (int i = 0; i < size; i++)
            x[i] = low + i * (high - low) / (size - 1);
        return x;
    }
};

} // namespace

std::unique_ptr<Lepton::CustomFunction> SplineFunction::create(const TabulatedFunction& function) {
    Table table;
    Axis axes[3];
    auto& [x, y, z] = axes;
    int numAxes;
    std::vector<double> values;
    std::vector<std::vector<double>> patches;
    if (const auto* line = dynamic_cast<const Continuous1DFunction*>(&function)) {
        line->getFunctionParameters(values, x.low, x.high);
        x.size = (int) values.size();
        numAxes = 1;
        table.periodic = line->getPeriodic();
        std::vector<double> second; // derivatives at the points
        SplineFitter::createSpline(x.points(), values, table.periodic, second);
        const double spacing = (x.high - x.low) / (x.size - 1), h2 = spacing * spacing;
        for (int i = 0; i < x.size - 1; i++)
            patches.push_back({values[i], values[i + 1] - values[i] - h2 / 6 * (2 * second[i] + second[i + 1]),
                               h2 / 2 * second[i], h2 / 6 * (second[i + 1] - second[i])});
    } else if (const auto* plane = dynamic_cast<const Continuous2DFunction*>(&function)) {
        plane->getFunctionParameters(x.size, y.size, values, x.low, x.high, y.low, y.high);
        numAxes = 2;
        table.periodic = plane->getPeriodic();
        SplineFitter::create2DSpline(x.points(), y.points(), values, table.periodic, patches);
        for (std::vector<double>& patch : patches) // the second axis is the fastest there
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < i; j++)
                    std::swap(patch[4 * i + j], patch[4 * j + i]);
    } else if (const auto* space = dynamic_cast<const Continuous3DFunction*>(&function)) {
        space->getFunctionParameters(x.size, y.size, z.size, values, x.low, x.high, y.low, y.high, z.low, z.high);
        numAxes = 3;
        table.periodic = space->getPeriodic();
        SplineFitter::create3DSpline(x.points(), y.points(), z.points(), values, table.periodic, patches);
    } else
        return nullptr;
    for (int a = 0; a < numAxes; a++) {
        table.size.push_back(axes[a].size);
        table.low.push_back(axes[a].low);
        table.high.push_back(axes[a].high);
    }
    for (const std::vector<double>& patch : patches)
        table.patches.insert(table.patches.end(), patch.begin(), patch.end());
    return std::unique_ptr<Lepton::CustomFunction>(new SplineFunction(std::move(table)));
}

double SplineFunction::evaluateDerivative(const double* arguments, const int* order) const {
    return inDoubles::spline(table->patches.data(), getNumArguments(), arguments, order, table->size.data(),
                             table->low.data(), table->high.data(), table->periodic);
}

} // namespace ConstraintPlugin
