// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_SURFACES_H_
#define CONSTRAINTS_TESTS_SURFACES_H_

#include "support/Simulation.h"
#include <functional>

namespace ConstraintTests {

/** A surface as an expression and, independently, as a C++ function. */
struct Surface {
    std::string name, expression;
    std::vector<std::pair<std::string, double>> parameters, globals;
    std::function<double(const OpenMM::Vec3&)> sigma;
    OpenMM::Vec3 near; ///< a point near it

    /** grad sigma by differences, to some ten digits. */
    OpenMM::Vec3 gradient(const OpenMM::Vec3& x) const;
    /** |sigma|/|grad sigma|: to first order the distance from the surface (nm). */
    double distance(const OpenMM::Vec3& x) const;
};

void PrintTo(const Surface& surface, std::ostream* out);
const std::vector<Surface>& surfaceTable();
const Surface& findSurface(const std::string& name);

/** A Force that constrains particles to a surface. */
ConstraintPlugin::CustomConstraintForce* makeForce(const Surface& surface, const std::vector<int>& particles);

/** Three particles of different masses on every surface of the table, in an external potential and joined by springs.
 * They are in one System, for which a device compiles kernels once. */
constexpr int particlesPerSurface = 3;
Simulation simulateSurfaces(const Setup& setup, double stepSize, double tolerance = 1e-10);

} // namespace ConstraintTests

#endif
