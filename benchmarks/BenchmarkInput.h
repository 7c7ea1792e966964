// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_BENCHMARKS_BENCHMARK_INPUT_H_
#define CONSTRAINTS_BENCHMARKS_BENCHMARK_INPUT_H_

#include "Box.h"
#include "openmm/System.h"
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

constexpr double stepSize = 0.002; ///< ps

/** The start of a step: positions on the constraints, and where a step without constraints moves them. */
struct Frame {
    std::vector<OpenMM::Vec3> x;               ///< nm
    std::vector<OpenMM::Vec3> v;               ///< nm/ps, not on the constraints
    std::vector<OpenMM::Vec3> moved;           ///< nm, x + v stepSize
    std::vector<Real3> start, velocity, delta; ///< the same for our solver; delta = v stepSize
};

/** A system with the starts of several successive steps. */
struct BenchmarkInput {
    std::string name;
    std::unique_ptr<OpenMM::System> system; ///< its constraints are System constraints
    std::vector<Frame> frames;

    Box box() const;
    std::vector<double> inverseMasses() const;
    /** Largest |d - d0|/d0. @param x  [numParticles] nm */
    double largestError(const std::vector<OpenMM::Vec3>& x) const;
    /** Largest |r . v| stepSize/d0^2. @param x, v  [numParticles] nm, nm/ps */
    double largestVelocityError(const std::vector<OpenMM::Vec3>& x, const std::vector<OpenMM::Vec3>& v) const;
};

/** Read every case of a folder that `openmm-constraints benchmark --write-input` wrote.
 *  @throws OpenMMException if there is none, or one is not complete */
std::vector<BenchmarkInput> readInputs(const std::string& folder);
/** A chain with bonds of 0.153 nm, angles of 1.95 rad and random dihedrals, at 300 K: for sizes too large for files. */
BenchmarkInput makeChain(int numBeads);

} // namespace ConstraintPlugin

#endif
