// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SPLINE_FUNCTION_H_
#define OPENMM_CONSTRAINTS_SPLINE_FUNCTION_H_

#include "lepton/CustomFunction.h"
#include "openmm/TabulatedFunction.h"
#include <memory>
#include <vector>

namespace ConstraintPlugin {

/** A continuous tabulated function of one to three arguments: the same spline as OpenMM's, with derivatives of any
 * order (OpenMM's has first derivatives only). It is zero outside the table, unless the table is periodic. */
class SplineFunction : public Lepton::CustomFunction {
public:
    /** @return null if the function is none of OpenMM's continuous ones */
    static std::unique_ptr<Lepton::CustomFunction> create(const OpenMM::TabulatedFunction& function);
    int getNumArguments() const override {
        return (int) table->size.size();
    }
    double evaluate(const double* arguments) const override {
        const int none[3] = {};
        return evaluateDerivative(arguments, none);
    }
    double evaluateDerivative(const double* arguments, const int* order) const override;
    Lepton::CustomFunction* clone() const override {
        return new SplineFunction(*this);
    }

    /** Data that kernels need too. */
    struct Table {
        std::vector<int> size; ///< by axis
        std::vector<double> low, high;
        bool periodic;
        std::vector<double> patches; ///< as spline() in core/constraints/functions.cc takes them
    };
    const std::shared_ptr<const Table>& getTable() const {
        return table;
    }

private:
    explicit SplineFunction(Table table) : table(std::make_shared<const Table>(std::move(table))) {
    }
    std::shared_ptr<const Table> table; // shared by clones
};

} // namespace ConstraintPlugin

#endif
