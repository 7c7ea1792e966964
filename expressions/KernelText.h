// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_KERNEL_TEXT_H_
#define OPENMM_CONSTRAINTS_KERNEL_TEXT_H_

#include "JointExpression.h"
#include "SplineFunction.h"
#include "openmm/TabulatedFunction.h"

namespace ConstraintPlugin {

/** The tabulated functions of an expression, and their numbers as one array for kernels. */
class KernelTables {
public:
    struct Table {
        std::shared_ptr<const SplineFunction::Table> spline; ///< of a continuous function
        std::vector<int> size;                               ///< of a discrete one, by axis
        std::vector<double> values;
        int offset; ///< in data()
    };
    /** @param function  the function as expressions evaluate it, which has the spline */
    void add(const std::string& name, const OpenMM::TabulatedFunction& table, const Lepton::CustomFunction& function);
    const Table& get(const std::string& name) const {
        return tables.at(name);
    }
    std::vector<double> data() const;

private:
    std::map<std::string, Table> tables;
    std::vector<std::string> order;
    int total = 0;
};

/** Write expressions as kernel text, one statement per step, so that common subexpressions are computed once.
 *
 *  The text is valid OpenCL C and CUDA C++. It stands after platforms/common/stage/stepState.cc,
 * core/constraints/coordinates.cc and core/constraints/functions.cc, in a function with the arguments `stepState` and
 * `tables`. Every constant is cast to `mixed`, so that there is no double in single precision.
 *  @param variables        name of each variable, by its place in the expression; three consecutive ones with the names
 *                          v.x, v.y, v.z are the vector v
 *  @param takesImages      whether point functions use minimum images
 *  @param[out] results     names of the results
 *  @throws OpenMMException if an operation is not known */
std::string writeKernelText(const JointExpression& expression, const std::vector<std::string>& variables,
                            const KernelTables& tables, bool takesImages, std::vector<std::string>& results);

} // namespace ConstraintPlugin

#endif
