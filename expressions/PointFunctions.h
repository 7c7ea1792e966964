// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_POINT_FUNCTIONS_H_
#define OPENMM_CONSTRAINTS_POINT_FUNCTIONS_H_

#include "ConstraintSet.h"
#include "lepton/CustomFunction.h"
#include <memory>
#include <optional>
#include <string>

namespace ConstraintPlugin {

/** pointdistance, pointangle or pointdihedral in expressions: a coordinate q of coordinates.cc as a function of the
 *  coordinates x of its points. OpenMM's own functions of these names return 0 if a derivative does not exist, and have
 * no second derivatives.
 *
 *  Second derivatives are only needed along a motion x(t). So there are functions of x and its rates x', which follow x
 * in the arguments: q' = G.x' and the curvature C = x'.H.x', with which q'' = C + G.x''. */
class PointFunction : public Lepton::CustomFunction {
public:
    enum class Result { Value, Rate, Curvature };
    /** Which function, and which derivative of it. */
    struct Meaning {
        CoordinateKind kind; ///< Distance, Angle or Dihedral
        Result result;
    };
    static std::string nameOf(const Meaning& meaning);
    /** Nothing if it is not the name of one of these functions. */
    static std::optional<Meaning> find(const std::string& name);

    /** @param box  for minimum images of the points' differences; null: they are not used */
    PointFunction(const Meaning& meaning, const Box* box);
    int getNumArguments() const override;
    double evaluate(const double* arguments) const override;
    /** @param order  by argument, with sum 1; for Result::Value only */
    double evaluateDerivative(const double* arguments, const int* order) const override;
    Lepton::CustomFunction* clone() const override {
        return new PointFunction(*this);
    }

private:
    struct Last;
    Last& at(const double* arguments) const;

    Meaning meaning;
    const Box* box;
    std::shared_ptr<Last> last; // shared by the clones in an expression and in its derivatives
};

} // namespace ConstraintPlugin

#endif
