// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_LEPTON_COORDINATE_H_
#define OPENMM_CONSTRAINTS_LEPTON_COORDINATE_H_

#include "CustomCoordinate.h"
#include "JointExpression.h"
#include "KernelText.h"
#include "openmmconstraints/ExpressionConstraintForce.h"
#include <map>
#include <memory>
#include <set>

namespace ConstraintPlugin {

/** sigma of a CustomConstraintForce, or as a function of the centroids of a CustomCentroidConstraintForce, with
 * symbolic derivatives: Lepton differentiates the expression, coordinates.cc has those of distances, angles and
 * dihedrals, and splines those of tables. It is not thread-safe. */
class LeptonCoordinate : public CustomCoordinate {
public:
    /** Global parameters have their defaults until setGlobals() is called.
     *  @throws OpenMMException with the expression and what is wrong with it */
    explicit LeptonCoordinate(const ExpressionConstraintForce& force);
    LeptonCoordinate(const LeptonCoordinate&) = delete; // functions point to its box
    LeptonCoordinate& operator=(const LeptonCoordinate&) = delete;

    double evaluate(const Real3* x, const double* parameters, const StepState& stepState, Real3* gradient) override;
    double timeDerivative(const Real3* x, const double* parameters, const StepState& stepState) override;
    double curvature(const Real3* x, const Real3* v, const double* parameters, const StepState& stepState) override;
    void addInternalVirial(const Real3* x, const double* parameters, const StepState& stepState, double factor,
                           double* tensor) override;
    bool dependsOnTime() const override {
        return timeOccurs;
    }
    std::size_t numParameters() const override {
        return numPerConstraint;
    }
    const std::vector<std::string>& getGlobalNames() const override {
        return globalNames;
    }
    bool setGlobals(const std::vector<double>& values) override;
    std::vector<double> getGlobals() const override;
    /** @throws OpenMMException if sigma depends on one by a discrete function, which has no derivative */
    std::vector<double> globalDerivatives(const Real3* x, const double* parameters,
                                          const StepState& stepState) override;
    std::string describe() const override;
    const std::string& getForceName() const override {
        return forceName;
    }
    std::string kernelText(const std::string& name) override;
    std::string curvatureKernelText(const std::string& name) override;
    std::vector<double> tableData() const override {
        return tables.data();
    }

private:
    [[noreturn]] void refuse(const std::string& why) const;
    std::string knownVariables() const;
    void nameVariables(const ExpressionConstraintForce& force);
    void parse(const ExpressionConstraintForce& force);
    Lepton::ParsedExpression differentiate(const std::string& name) const;
    void refuseDiscrete(const Lepton::ParsedExpression& derivative, const char* remedy) const;
    void setValues(const Real3* x, const double* parameters, const StepState& stepState);
    const JointExpression& secondDerivative();
    std::string body(const JointExpression& derivatives, std::vector<std::string>& results) const;

    std::string expression, forceName;
    ExpressionConstraintForce::Points points;
    int numParticles; // or groups: points.number
    std::size_t numPerConstraint;
    std::vector<std::string> globalNames; // of those that occur
    std::vector<int> globalPlaces;        // in `values`
    bool timeOccurs = false, takesImages = false;

    // values: 3 numParticles coordinates, time, per-constraint and global parameters, 3 numParticles velocities
    std::vector<double> values;
    std::map<std::string, int> variables; // where each is in `values`
    int timePlace, parameterPlace, ratePlace;
    Box box; // for functions that use minimum images

    Lepton::ParsedExpression parsed;
    KernelTables tables;            // those that the expression uses
    std::set<std::string> discrete; // functions
    std::unique_ptr<JointExpression> sigmaAndGradient, rate, second, byGlobals;
    std::vector<double> results;
};

} // namespace ConstraintPlugin

#endif
