// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CoordinationNumber.h"
#include <algorithm>
#include <cmath>

namespace ConstraintPlugin {

namespace {

// The text that kernels are made of.
using mixed = double;
#define DEVICE inline
#define GLOBAL
#include "coordination.cc"
#undef GLOBAL
#undef DEVICE

} // namespace

CoordinationNumber::CoordinationNumber(int numFirst, int numBoth, int numSecond, bool periodic)
    : groups{numFirst, numFirst + numBoth, numFirst + numBoth + numSecond, periodic} {
    for (int i = 0; i < groups.numParticles; i++) {
        membership.push_back(i < groups.endFirst);
        membership.push_back(i >= groups.beginSecond);
    }
}

double CoordinationNumber::defaultCutoff(double r0, int n, int m) {
    return r0 * std::pow(1e5, 1.0 / (m - n));
}

std::vector<double> CoordinationNumber::parametersOf(double r0, int n, int m, double cutoff) {
    const double end = cutoff > 0 ? cutoff : defaultCutoff(r0, n, m), begin = 0.9 * end, scale = 1 / (r0 * r0);
    double first, second;
    const double shift = quotientOfPowers(n / 2, m / 2, scale * end * end, &first, &second);
    return {n / 2.0, m / 2.0, scale, begin * begin, end * end, shift, 1 / (1 - shift)};
}

double CoordinationNumber::cutoff(const double* parameters) const {
    return std::sqrt(pairFunctionOf(parameters).end);
}

const CoordinateTraits& CoordinationNumber::getTraits() const {
    static const CoordinateTraits traits = {"CoordinationNumber", "coordination number", 0, Range::Number};
    return traits;
}

const std::vector<std::string>& CoordinationNumber::getGlobalNames() const {
    static const std::vector<std::string> none;
    return none;
}

/** visit(i, j, r, what the pair adds, its first two derivatives by r^2), r = x_i - x_j, for pairs within the cutoff. */
template <class Visit>
void CoordinationNumber::forEachPair(const Real3* x, const double* parameters, const Box& box, Visit visit) const {
    const PairFunction f = pairFunctionOf(parameters);
    for (int i = 0; i < groups.endFirst; i++) {
        const Real3 xi = x[i];
        for (int j = groups.beginSecond; j < groups.numParticles; j++) {
            const Real3 between = xi - x[j], r = groups.periodic ? box.minimumImage(between) : between;
            const double R = dot(r, r);
            if (!(R >= f.end) && i != j) { // NaN too
                double first, second;
                const double value = pairNumber(f, R, &first, &second);
                visit(i, j, r, value, first, second);
            }
        }
    }
}

double CoordinationNumber::evaluate(const Real3* x, const double* parameters, const StepState& stepState,
                                    Real3* gradient) {
    double sum = 0;
    std::fill(gradient, gradient + groups.numParticles, Real3());
    forEachPair(x, parameters, stepState.box,
                [&](int i, int j, const Real3& r, double value, double first, double /*second*/) {
                    const Real3 g = (2 * first) * r;
                    sum += value;
                    gradient[i] += g;
                    gradient[j] += -g;
                });
    return sum;
}

double CoordinationNumber::curvature(const Real3* x, const Real3* v, const double* parameters,
                                     const StepState& stepState) {
    double sum = 0;
    forEachPair(x, parameters, stepState.box,
                [&](int i, int j, const Real3& r, double /*value*/, double first, double second) {
                    const Real3 w = v[i] - v[j];
                    const double along = dot(r, w);
                    sum += 4 * second * along * along + 2 * first * dot(w, w);
                });
    return sum;
}

void CoordinationNumber::addInternalVirial(const Real3* x, const double* parameters, const StepState& stepState,
                                           double factor, double* tensor) {
    forEachPair(x, parameters, stepState.box,
                [&](int, int, const Real3& r, double /*value*/, double first, double /*second*/) {
                    const double at[3] = {r.x, r.y, r.z};
                    for (int k = 0; k < 9; k++)
                        tensor[k] += 2 * factor * first * at[k / 3] * at[k % 3];
                });
}

double CoordinationNumber::valueWithImages(const Real3* x, const double* parameters, const Box& box) {
    CoordinationNumber withImages = *this;
    withImages.groups.periodic = true;
    std::vector<Real3> unused(groups.numParticles);
    return withImages.evaluate(x, parameters, {0, box}, unused.data());
}

} // namespace ConstraintPlugin
