// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_VARIABLE_H_
#define CONSTRAINTS_TESTS_VARIABLE_H_

#include <cstdlib>
#include <string>

namespace ConstraintTests {

/** A variable of the environment for as long as this lives; then what it was before. */
class Variable {
public:
    Variable(const char* name, const std::string& value) : name(name) {
        if (const char* before = std::getenv(name)) {
            wasSet = true;
            old = before;
        }
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (wasSet)
            setenv(name, old.c_str(), 1);
        else
            unsetenv(name);
    }
    Variable(const Variable&) = delete;

private:
    const char* name;
    bool wasSet = false;
    std::string old;
};

} // namespace ConstraintTests

#endif
