// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_OUT_OF_MEMORY_H_
#define CONSTRAINTS_CORE_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>
#include <string>

namespace ConstraintPlugin {

/** Lack of memory. Unlike std::bad_alloc, it contains what was to be allocated and its size. */
class OutOfMemory : public std::runtime_error {
public:
    /** @param what        "a factor of ... (0.6 GB)"
     *  @param isOfSolver  whether only MatrixInversion needs it, so that the Iterative solver can be used instead */
    OutOfMemory(const std::string& what, bool isOfSolver) : std::runtime_error(what), isOfSolver(isOfSolver) {
    }
    const bool isOfSolver;
};

/** Call a function that allocates.
 *  @param describe  () -> what is allocated
 *  @throws OutOfMemory in place of std::bad_alloc */
template <class Function, class Describe>
auto allocating(Describe describe, bool isOfSolver, Function function) -> decltype(function()) {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(describe(), isOfSolver);
    }
}

} // namespace ConstraintPlugin

#endif
