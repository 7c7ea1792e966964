// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_COORDINATION_NUMBER_H_
#define CONSTRAINTS_CORE_COORDINATION_NUMBER_H_

#include "CustomCoordinate.h"

namespace ConstraintPlugin {

/** How many particles of one group are near those of another one: q = sum_ij f(|x_i - x_j|) over i in the first group
 * and j in the second, i and j different particles, with f of coordination.cc. Its particles are those of the first
 * group alone, those of both, and those of the second group alone. Time grows with the number of pairs. */
class CoordinationNumber : public CustomCoordinate {
public:
    /** @param periodic  whether each pair takes the minimum image */
    CoordinationNumber(int numFirst, int numBoth, int numSecond, bool periodic);
    /** Parameters of a constraint.
     *  @param r0      nm;  @param n, m  even, n less than m
     *  @param cutoff  nm, more than r0; 0: of defaultCutoff() */
    static std::vector<double> parametersOf(double r0, int n, int m, double cutoff);
    /** Where f is 1e-5 (nm), approximately. */
    static double defaultCutoff(double r0, int n, int m);

    struct Groups {
        int beginSecond, endFirst, numParticles; ///< where the second group begins, and the first one ends
        bool periodic;
    };
    const Groups& getGroups() const {
        return groups;
    }
    /** The number of pairs, each of which adds less than 1. */
    double largestValue() const override {
        const double inFirst = groups.endFirst, inSecond = groups.numParticles - groups.beginSecond;
        return inFirst * inSecond - (groups.endFirst - groups.beginSecond);
    }
    double cutoff(const double* parameters) const override;
    const CoordinateTraits& getTraits() const override;
    /** 1 or 0: whether a particle is in the first group, and in the second. */
    const std::vector<double>& getWeights() const override {
        return membership;
    }
    double evaluate(const Real3* x, const double* parameters, const StepState& stepState, Real3* gradient) override;
    double timeDerivative(const Real3*, const double*, const StepState&) override {
        return 0.0;
    }
    double curvature(const Real3* x, const Real3* v, const double* parameters, const StepState& stepState) override;
    void addInternalVirial(const Real3* x, const double* parameters, const StepState& stepState, double factor,
                           double* tensor) override;
    double valueWithImages(const Real3* x, const double* parameters, const Box& box) override;
    bool dependsOnTime() const override {
        return false;
    }
    std::size_t numParameters() const override {
        return 7;
    }
    const std::vector<std::string>& getGlobalNames() const override;
    bool setGlobals(const std::vector<double>&) override {
        return false;
    }
    std::vector<double> getGlobals() const override {
        return {};
    }
    std::string describe() const override {
        return "a coordination number";
    }

private:
    template <class Visit>
    void forEachPair(const Real3* x, const double* parameters, const Box& box, Visit visit) const;

    Groups groups;
    std::vector<double> membership;
};

} // namespace ConstraintPlugin

#endif
