// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CENTROID_DISTANCE_H_
#define CONSTRAINTS_CORE_CENTROID_DISTANCE_H_

#include "CustomCoordinate.h"

namespace ConstraintPlugin {

/** Distance between the centres of mass of two groups, of any size: q = |R|, R = sum_i w_i x_i with w_i = m_i/M_1 in
 * one group and -m_i/M_2 in the other. */
class CentroidDistance : public CustomCoordinate {
public:
    /** @param weights   [particles] w_i
     *  @param periodic  whether R takes the minimum image; each group's centre is of its unwrapped positions */
    CentroidDistance(std::vector<double> weights, bool periodic) : weights(std::move(weights)), periodic(periodic) {
    }
    const std::vector<double>& getWeights() const override {
        return weights;
    }
    double evaluate(const Real3* x, const double*, const StepState& stepState, Real3* gradient) override {
        const Real3 R = separation(x, stepState);
        const double q = std::sqrt(dot(R, R));
        for (std::size_t i = 0; i < weights.size(); i++)
            gradient[i] = (weights[i] / q) * R;
        return q;
    }
    double timeDerivative(const Real3*, const double*, const StepState&) override {
        return 0.0;
    }
    double curvature(const Real3* x, const Real3* v, const double*, const StepState& stepState) override {
        const Real3 R = separation(x, stepState), V = sum(v);
        const double q2 = dot(R, R), along = dot(R, V);
        return (dot(V, V) - along * along / q2) / std::sqrt(q2);
    }
    void addInternalVirial(const Real3* x, const double*, const StepState& stepState, double factor,
                           double* tensor) override {
        const Real3 R = separation(x, stepState);
        const double r[3] = {R.x, R.y, R.z}, scale = factor / std::sqrt(dot(R, R));
        for (int i = 0; i < 9; i++)
            tensor[i] += scale * r[i / 3] * r[i % 3];
    }
    bool dependsOnTime() const override {
        return false;
    }
    const CoordinateTraits& getTraits() const override {
        static const CoordinateTraits traits = {"CentroidDistance", "centroid distance", 0, Range::Length};
        return traits;
    }
    double valueWithImages(const Real3* x, const double*, const Box& box) override {
        const Real3 image = box.minimumImage(sum(x));
        return std::sqrt(dot(image, image));
    }
    std::size_t numParameters() const override {
        return 0;
    }
    const std::vector<std::string>& getGlobalNames() const override {
        return none;
    }
    bool setGlobals(const std::vector<double>&) override {
        return false;
    }
    std::vector<double> getGlobals() const override {
        return {};
    }
    std::string describe() const override {
        return "the distance of two centroids";
    }

private:
    Real3 sum(const Real3* x) const {
        Real3 total;
        for (std::size_t i = 0; i < weights.size(); i++)
            total += weights[i] * x[i];
        return total;
    }
    Real3 separation(const Real3* x, const StepState& stepState) const {
        const Real3 R = sum(x);
        return periodic ? stepState.box.minimumImage(R) : R;
    }
    std::vector<double> weights;
    bool periodic;
    std::vector<std::string> none;
};

} // namespace ConstraintPlugin

#endif
