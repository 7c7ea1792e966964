// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_POINT_FUNCTIONS_H_
#define OPENMM_CONSTRAINTS_POINT_FUNCTIONS_H_

#include "ConstraintSet.h"
#include "lepton/CustomFunction.h"
#include <memory>

namespace ConstraintPlugin {

/** pointdistance, pointangle or pointdihedral of expressions: a coordinate of core as a function of the coordinates of
 *  its points, with first and second derivatives. OpenMM's own functions of these names have no second derivatives, and
 *  say 0 where there is no first. */
class PointFunction : public Lepton::CustomFunction {
public:
    /** @param kind  Distance, Angle or Dihedral
     *  @param box   where the minimum image is taken of the points' differences; null: nowhere */
    PointFunction(CoordinateKind kind, const Box* box);
    int getNumArguments() const override {
        return 3 * numParticlesOf(kind);
    }
    double evaluate(const double* arguments) const override;
    /** @param order  by argument; of sum 1 or 2 */
    double evaluateDerivative(const double* arguments, const int* order) const override;
    Lepton::CustomFunction* clone() const override {
        return new PointFunction(*this);
    }

private:
    struct Last;
    Last& at(const double* arguments) const;

    CoordinateKind kind;
    const Box* box;
    std::shared_ptr<Last> last; // shared by the clones in an expression and in its derivatives
};

} // namespace ConstraintPlugin

#endif
