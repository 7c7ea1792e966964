// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CENTROID_COORDINATE_H_
#define CONSTRAINTS_CORE_CENTROID_COORDINATE_H_

#include "CustomCoordinate.h"
#include <algorithm>
#include <cmath>
#include <memory>

namespace ConstraintPlugin {

/** sigma(X_1, ..., X_n) of the centroids X_g = sum_i w_ig x_i of n groups, where sigma is another CustomCoordinate, of
 *  n points. Several constraints with different weights may share that. */
class CentroidCoordinate : public CustomCoordinate {
public:
    /** @param weights  [particles][groups] w_ig, of each group of sum 1; 0 where a particle is not in it */
    CentroidCoordinate(std::shared_ptr<CustomCoordinate> ofCentroids, int numGroups, std::vector<double> weights)
        : ofCentroids(std::move(ofCentroids)), weights(std::move(weights)), places(numGroups), field(numGroups) {
        for (int g = 0; g < numGroups; g++) {
            double sum = 0;
            for (std::size_t i = g; i < this->weights.size(); i += numGroups)
                sum += this->weights[i] * this->weights[i];
            largest = std::max(largest, sum);
        }
    }
    int numGroups() const {
        return (int) places.size();
    }
    const std::vector<double>& getWeights() const override {
        return weights;
    }
    /** sigma as a function of n points. */
    CustomCoordinate& getOfCentroids() const {
        return *ofCentroids;
    }
    double evaluate(const Real3* x, const double* parameters, const StepState& stepState, Real3* gradient) override {
        const double sigma = ofCentroids->evaluate(takeCentroids(x, places), parameters, stepState, field.data());
        const double* w = weights.data();
        for (std::size_t i = 0; i < numParticles(); i++) {
            Real3 sum; // a local variable stays in registers
            for (const Real3& G : field)
                sum += *w++ * G;
            gradient[i] = sum;
        }
        return sigma;
    }
    double timeDerivative(const Real3* x, const double* parameters, const StepState& stepState) override {
        return ofCentroids->timeDerivative(takeCentroids(x, places), parameters, stepState);
    }
    double curvature(const Real3* x, const Real3* v, const double* parameters, const StepState& stepState) override {
        return ofCentroids->curvature(takeCentroids(x, places), takeCentroids(v, field), parameters, stepState);
    }
    void addInternalVirial(const Real3* x, const double* parameters, const StepState& stepState, double factor,
                           double* tensor) override {
        ofCentroids->addInternalVirial(takeCentroids(x, places), parameters, stepState, factor, tensor);
    }
    bool dependsOnTime() const override {
        return ofCentroids->dependsOnTime();
    }
    /** Of the smallest group: |sigma|/|grad sigma| times this is about how far its centroid would have to move. */
    double errorFactor() const override {
        return std::sqrt(largest);
    }
    std::size_t numParameters() const override {
        return ofCentroids->numParameters();
    }
    const std::vector<std::string>& getGlobalNames() const override {
        return ofCentroids->getGlobalNames();
    }
    bool setGlobals(const std::vector<double>& values) override {
        return ofCentroids->setGlobals(values);
    }
    std::vector<double> getGlobals() const override {
        return ofCentroids->getGlobals();
    }
    std::vector<double> globalDerivatives(const Real3* x, const double* parameters,
                                          const StepState& stepState) override {
        return ofCentroids->globalDerivatives(takeCentroids(x, places), parameters, stepState);
    }
    std::string describe() const override {
        return ofCentroids->describe();
    }
    const std::string& getForceName() const override {
        return ofCentroids->getForceName();
    }
    /** Those of sigma, as a function of n points, which several of these have in common. */
    std::string kernelText(const std::string& name) override {
        return ofCentroids->kernelText(name);
    }
    std::string curvatureKernelText(const std::string& name) override {
        return ofCentroids->curvatureKernelText(name);
    }
    /** Tables of sigma, then the weights. */
    std::vector<double> tableData() const override {
        std::vector<double> data = ofCentroids->tableData();
        data.insert(data.end(), weights.begin(), weights.end());
        return data;
    }

private:
    std::size_t numParticles() const {
        return weights.size() / places.size();
    }
    const Real3* takeCentroids(const Real3* x, std::vector<Real3>& centroids) const {
        const std::size_t numGroups = centroids.size(), n = numParticles();
        for (std::size_t g = 0; g < numGroups; g++) {
            Real3 sum;
            for (std::size_t i = 0; i < n; i++)
                sum += weights[i * numGroups + g] * x[i];
            centroids[g] = sum;
        }
        return centroids.data();
    }
    std::shared_ptr<CustomCoordinate> ofCentroids;
    std::vector<double> weights;
    std::vector<Real3> places, field; // by group
    double largest = 0;               // sum_i w_ig^2
};

} // namespace ConstraintPlugin

#endif
