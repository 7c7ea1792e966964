// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_LANGEVIN_H_
#define CONSTRAINTS_TESTS_LANGEVIN_H_

#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/Simulation.h"

namespace ConstraintTests {

const double kT = BOLTZ * 300; // kJ/mol

inline ConstraintPlugin::RattleLangevinIntegrator& langevin(Simulation& s) {
    return dynamic_cast<ConstraintPlugin::RattleLangevinIntegrator&>(*s.integrator);
}

/** Tests of RattleLangevinIntegrator on every platform with every solver. */
class Langevin : public testing::TestWithParam<Setup> {
protected:
    Simulation start(const std::string& name, double dt, double friction, double tolerance = 1e-8,
                     Declared declared = Declared::InForce) const {
        Simulation s = simulate(findSystem(name), declared, GetParam(), dt, tolerance);
        langevin(s).setFriction(friction);
        return s;
    }
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    const Precision precision = precisionOf(platform());
};

} // namespace ConstraintTests

#endif
