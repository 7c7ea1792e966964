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

/** pointdistance, pointangle or pointdihedral of expressions: a coordinate q of core as a function of the coordinates
 *  x of its points. OpenMM's own functions of these names say 0 where there is no derivative, and have no second ones.
 *
 *  Second derivatives are only ever needed along a motion x(t), so they come as functions of x and its rates x', which
 *  stand behind x in the arguments: q' = G.x' and the curvature C = x'.H.x', of which q'' = C + G.x''. */
class PointFunction : public Lepton::CustomFunction {
public:
    enum class Result { Value, Rate, Curvature };
    /** What stands in an expression, and what derivatives of it are called. */
    struct Meaning {
        CoordinateKind kind; ///< Distance, Angle or Dihedral
        Result result;
    };
    static std::string nameOf(const Meaning& meaning);
    /** Nothing if a name is none of these functions'. */
    static std::optional<Meaning> find(const std::string& name);

    /** @param box  where the minimum image is taken of the points' differences; null: nowhere */
    PointFunction(const Meaning& meaning, const Box* box);
    int getNumArguments() const override;
    double evaluate(const double* arguments) const override;
    /** @param order  by argument; of sum 1, and of a Value only */
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
