// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BROYDEN_H_
#define CONSTRAINTS_CORE_BROYDEN_H_

#include <cmath>
#include <vector>

namespace ConstraintPlugin {

/** Broyden's method for F(x) = 0, of one unknown the secant method: what each step s_k left of F corrects the
 * approximate inverse H of the derivative in the direction of the step. Only steps are kept:
 *
 *      z = -H F,   z += s_(j+1) (s_j . z)/(s_j . s_j) for j = 0 ... n-1,   s_(n+1) = z/(1 - (s_n . z)/(s_n . s_n))
 *
 *  Source: Kelley, Iterative Methods for Linear and Nonlinear Equations, SIAM 1995, chapter 7.3. */
class Broyden {
public:
    /** @param weights  of the inner product */
    explicit Broyden(std::vector<double> weights) : weights(std::move(weights)) {
    }
    /** @param z  in: -H F, out: the next step */
    void correct(std::vector<double>& z) {
        for (std::size_t j = 0; j + 1 < steps.size(); j++)
            add(z, along(steps[j], z), steps[j + 1]);
        if (!steps.empty()) {
            const double rest = 1 - along(steps.back(), z);
            if (std::abs(rest) > smallestRest)
                for (double& component : z)
                    component /= rest;
            else
                steps.clear(); // F hardly changed: the derivative is unknown
        }
        steps.push_back(z);
    }

private:
    static constexpr double smallestRest = 0.05;

    double inner(const std::vector<double>& a, const std::vector<double>& b) const {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); i++)
            sum += weights[i] * a[i] * b[i];
        return sum;
    }
    double along(const std::vector<double>& step, const std::vector<double>& z) const {
        return inner(step, z) / inner(step, step);
    }
    static void add(std::vector<double>& z, double factor, const std::vector<double>& step) {
        for (std::size_t i = 0; i < z.size(); i++)
            z[i] += factor * step[i];
    }
    std::vector<double> weights;
    std::vector<std::vector<double>> steps;
};

} // namespace ConstraintPlugin

#endif
