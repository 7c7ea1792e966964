// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CUSTOM_COORDINATE_H_
#define CONSTRAINTS_CORE_CUSTOM_COORDINATE_H_

#include "Box.h"
#include "Kinds.h"
#include "Real3.h"
#include <limits>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** A constraint sigma(r, t) = 0 that is not in coordinates.cc, such as a user's expression. The object computes sigma
 * and its derivatives. One object serves many constraints, which differ in their particles and parameters. */
class CustomCoordinate {
public:
    virtual ~CustomCoordinate() = default;

    /** What all constraints of an object share at one time. */
    struct StepState {
        double time = 0; ///< ps
        Box box;         ///< for functions that take the minimum image
    };
    /** sigma and its gradient at x.
     *  @param x           [numParticles] nm, unwrapped
     *  @param parameters  of this constraint
     *  @param[out] gradient  [numParticles] d sigma/dx; not finite where sigma has no gradient */
    virtual double evaluate(const Real3* x, const double* parameters, const StepState& stepState, Real3* gradient) = 0;
    /** d sigma/dt at fixed positions. */
    virtual double timeDerivative(const Real3* x, const double* parameters, const StepState& stepState) = 0;
    /** Second derivative of sigma along x + s v, t + s: v^T H v + 2 (d grad/dt) v + d^2 sigma/dt^2.
     *  @param v  [numParticles] nm/ps */
    virtual double curvature(const Real3* x, const Real3* v, const double* parameters, const StepState& stepState) = 0;
    /** Add factor * sum_i r_i (x) d sigma/dx_i to a tensor (row-major 3x3). sigma must be invariant under translation
     * of all its particles. Separations are minimum images if sigma uses minimum images. */
    virtual void addInternalVirial(const Real3* x, const double* parameters, const StepState& stepState, double factor,
                                   double* tensor) = 0;
    virtual bool dependsOnTime() const = 0;
    /** What there is to know of q, if sigma is one with a target; otherwise of an expression, whose target is 0. */
    virtual const CoordinateTraits& getTraits() const {
        return traitsOf(CoordinateKind::Custom);
    }
    /** Whether its value is a distance with a target, whose error is relative. */
    bool isDistance() const {
        return getTraits().range == Range::Length;
    }
    /** What q cannot reach, if Range::Number is its range. */
    virtual double largestValue() const {
        return std::numeric_limits<double>::infinity();
    }
    /** The longest distance (nm) of which it takes the minimum image; 0: no distance has a bound. */
    virtual double cutoff(const double* /*parameters*/) const {
        return 0;
    }
    /** Weights of particles in groups that sigma is a function of, [particles][groups]; empty: there are no groups.
     *  Particles of the same weights have the same part in sigma. */
    virtual const std::vector<double>& getWeights() const {
        static const std::vector<double> none;
        return none;
    }
    /** q if it took minimum images; NaN if that is not known. */
    virtual double valueWithImages(const Real3* /*x*/, const double* /*parameters*/, const Box& /*box*/) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    /** What multiplies |sigma|/|grad sigma|, the error of what is no distance. */
    virtual double errorFactor() const {
        return 1;
    }
    /** Number of parameters of each constraint. */
    virtual std::size_t numParameters() const = 0;

    /** Names of the Context parameters that sigma depends on. */
    virtual const std::vector<std::string>& getGlobalNames() const = 0;
    /** @param values  in the order of getGlobalNames(), used from now on. @return whether any changed */
    virtual bool setGlobals(const std::vector<double>& values) = 0;
    /** Their present values. */
    virtual std::vector<double> getGlobals() const = 0;
    /** d sigma/dp of these parameters at fixed positions, in the order of getGlobalNames(). */
    virtual std::vector<double> globalDerivatives(const Real3* /*x*/, const double* /*parameters*/,
                                                  const StepState& /*stepState*/) {
        return {};
    }
    /** Its name in error messages: the expression, shortened where it is long. */
    virtual std::string describe() const = 0;
    /** The class of the Force that declares it. */
    virtual const std::string& getForceName() const {
        static const std::string name = "ConstraintForce";
        return name;
    }

    /** The same functions as kernel text that is valid OpenCL C and CUDA C++; empty if they are written by hand.
     *  evaluate() as    mixed NAME(const mixed3* x, GLOBAL const mixed* parameters, GLOBAL const mixed* globals,
     *                              GLOBAL const mixed* tables, StepState stepState, mixed3* gradient)
     *  timeDerivative() as   mixed NAMERate(x, parameters, globals, tables, stepState)
     *  with globals by getGlobals() and tables as below. It stands after platforms/common/stage/stepState.cc,
     *  core/constraints/coordinates.cc and core/constraints/functions.cc. */
    virtual std::string kernelText(const std::string& /*name*/) {
        return "";
    }
    /** curvature() as   mixed NAMECurvature(x, const mixed3* v, parameters, globals, tables, stepState) */
    virtual std::string curvatureKernelText(const std::string& /*name*/) {
        return "";
    }
    /** Numbers that these functions read from tables. */
    virtual std::vector<double> tableData() const {
        return {};
    }
};

} // namespace ConstraintPlugin

#endif
