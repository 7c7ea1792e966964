// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_SYSTEM_TABLE_H_
#define CONSTRAINTS_TESTS_SYSTEM_TABLE_H_

#include "ConstraintSet.h"
#include <random>
#include <string>
#include <vector>

namespace ConstraintTests {

using ConstraintPlugin::Box;
using ConstraintPlugin::ConstraintSet;
using ConstraintPlugin::Real3;

/** A small system with constraints, as plain data. Its positions satisfy the lengths to rounding. */
struct TestSystem {
    struct Bond {
        int i, j;
        double length; ///< nm
    };
    std::string name;
    std::vector<double> masses;   ///< amu; 0: immovable
    std::vector<Real3> positions; ///< nm
    std::vector<Bond> bonds;
    int rank = 0; ///< of the constraints' gradients: all of them, unless some depend on others
    bool periodic = false;
    Box box{{50, 0, 0}, {0, 50, 0}, {0, 0, 50}}; ///< nm

    int numParticles() const {
        return (int) masses.size();
    }
    bool hasImmovable() const;
    bool isRegular() const {
        return rank == (int) bonds.size();
    }
};

/** Every named system. */
const std::vector<TestSystem>& systemTable();
std::vector<std::string> systemNames();
/** @throws std::out_of_range if there is none of that name */
const TestSystem& findSystem(const std::string& name);

/** The system's constraints as core sees them. */
ConstraintSet toConstraintSet(const TestSystem& system);
/** All constraint indices. */
std::vector<int> allConstraints(const ConstraintSet& set);
/** The system with masses of 1 to 40 amu drawn anew; immovable particles stay immovable. */
TestSystem withRandomMasses(TestSystem system, unsigned seed);
/** Plain distances, all of the same length, for tests of structure only. */
ConstraintSet pattern(int numParticles, const std::vector<std::pair<int, int>>& bonds);

/** Random numbers that are the same with every standard library. */
class Random {
public:
    explicit Random(unsigned seed) : engine(seed) {
    }
    /** Uniform in [low, high). */
    double uniform(double low, double high) {
        return low + (high - low) * (engine() / 4294967296.0);
    }
    int below(int n) {
        return (int) uniform(0, n);
    }
    Real3 inCube(double halfEdge);
    Real3 direction();

private:
    std::mt19937 engine;
};

} // namespace ConstraintTests

#endif
