// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_TEMPLATES_H_
#define CONSTRAINTS_TESTS_TEMPLATES_H_

#include "support/Simulation.h"
#include <map>
#include <string>
#include <vector>

/** Templates that most tests use. They are compiled once, in Templates.cpp, and not again in each file. */
#define COMMON_TEMPLATES(TEMPLATE)                                                                                     \
    TEMPLATE(std::vector<int>)                                                                                         \
    TEMPLATE(std::vector<double>)                                                                                      \
    TEMPLATE(std::vector<std::string>)                                                                                 \
    TEMPLATE(std::vector<std::pair<int, int>>)                                                                         \
    TEMPLATE(std::vector<std::vector<int>>)                                                                            \
    TEMPLATE(std::vector<OpenMM::Force*>)                                                                              \
    TEMPLATE(std::vector<OpenMM::Vec3>)                                                                                \
    TEMPLATE(std::vector<ConstraintTests::Vectors>)                                                                    \
    TEMPLATE(std::vector<ConstraintTests::Setup>)                                                                      \
    TEMPLATE(std::vector<ConstraintPlugin::Real3>)                                                                     \
    TEMPLATE(std::map<std::string, std::string>)                                                                       \
    TEMPLATE(std::map<std::string, double>)

#define DECLARE(...) extern template class __VA_ARGS__;
COMMON_TEMPLATES(DECLARE)
#undef DECLARE

#endif
