// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CORE_EXCEPTIONS_H_
#define OPENMM_CONSTRAINTS_CORE_EXCEPTIONS_H_

#include "ConstraintGraph.h"
#include "OutOfMemory.h"
#include "ProblemReport.h"
#include "openmm/System.h"
#include <new>

namespace ConstraintPlugin {

ConstraintProblem problemOf(const FactorTooLarge& error);

/** @param activity    during which memory was exhausted
 *  @param what        what was to be allocated
 *  @param isOfSolver  whether only MatrixInversion needs it */
ConstraintProblem outOfMemory(const char* activity, const std::string& what, bool isOfSolver);

/** "12 constraints among 34 particles" */
std::string describeSize(const OpenMM::System& system);

/** Convert exceptions of core, which does not use OpenMM, to OpenMMExceptions. */
template <class Function>
auto withOpenMMExceptions(const OpenMM::System& system, const char* activity, Function function)
    -> decltype(function()) {
    try {
        return function();
    } catch (const FactorTooLarge& e) {
        throwProblem(problemOf(e));
    } catch (const OutOfMemory& e) {
        throwProblem(outOfMemory(activity, e.what(), e.isOfSolver));
    } catch (const std::bad_alloc&) {
        throwProblem(outOfMemory(activity, describeSize(system), false));
    } catch (const std::runtime_error& e) {
        throw OpenMM::OpenMMException(e.what());
    }
}

} // namespace ConstraintPlugin

#endif
