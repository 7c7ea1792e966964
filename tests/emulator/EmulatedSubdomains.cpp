// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "EmulatedSubdomains.h"
#include "support/Messages.h"
#include <numeric>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

InitialState toState(const TestSystem& system, bool hasSprings) {
    InitialState start{toOpenMM(system, Declared::InForce), toVectors(system.positions), {}};
    if (hasSprings)
        addSprings(*start.system, system);
    start.velocities = toVectors(thermalVelocities(system, 1));
    return start;
}

InitialState sideBySide(const std::vector<TestSystem>& systems) {
    TestSystem all;
    for (const TestSystem& one : systems) {
        const int first = all.numParticles();
        all.masses.insert(all.masses.end(), one.masses.begin(), one.masses.end());
        for (const Real3& x : one.positions)
            all.positions.push_back(x + Real3{0, 0.01 * first, 0});
        for (const auto& bond : one.bonds)
            all.bonds.push_back({first + bond.i, first + bond.j, bond.length});
    }
    return toState(all);
}

InitialState lipids() {
    std::vector<TestSystem> some{protein(30), longChain(40, 1e4)};
    std::vector<int> thirds;
    for (int n = 9; n <= 64; n += 5) {
        if (n % 3 == 0)
            thirds.push_back(std::accumulate(some.begin(), some.end(), 0,
                                             [](int sum, const TestSystem& one) { return sum + one.numParticles(); }));
        some.push_back(bentChain(n, 111 + n % 3));
    }
    InitialState start = sideBySide(some);
    auto* custom = new CustomConstraintForce(3, bentPath);
    custom->addPerConstraintParameter("q");
    const Vectors& x = start.positions;
    for (int i : thirds)
        custom->addConstraint({i, i + 3, i + 5}, {valueOfBentPath(x[i], x[i + 3], x[i + 5])});
    start.system->addForce(custom);
    return start;
}

Simulation simulationOf(InitialState start, const std::string& platform, double stepSize, double tolerance,
                        const std::string& integrator) {
    Simulation s(std::move(start.system), makeIntegrator({platform, direct, integrator}, stepSize, tolerance),
                 platform);
    s.context->setPositions(start.positions);
    s.context->setVelocities(start.velocities);
    return s;
}

void expectInSubdomains(const Simulation& s, const std::string& count) {
    const std::string solver = s.integrator->getSolverSummary().solver;
    EXPECT_NE(solver.find(", " + count + " in overlapping subdomains"), std::string::npos) << solver;
}

void wrapIntoTriclinicBox(InitialState& start) {
    const Vec3 box[3] = {Vec3(2.5, 0, 0), Vec3(0.7, 2.4, 0), Vec3(-0.5, 0.6, 2.6)};
    start.system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
    for (int i = 0; i < start.system->getNumForces(); i++) {
        if (auto* constraints = dynamic_cast<ConstraintForce*>(&start.system->getForce(i)))
            constraints->setUsesPeriodicBoundaryConditions(true);
        if (auto* expressions = dynamic_cast<CustomConstraintForce*>(&start.system->getForce(i)))
            expressions->setUsesPeriodicBoundaryConditions(true);
        if (auto* springs = dynamic_cast<HarmonicBondForce*>(&start.system->getForce(i)))
            springs->setUsesPeriodicBoundaryConditions(true);
    }
    for (Vec3& position : start.positions)
        for (int i = 2; i >= 0; i--)
            position -= box[i] * std::floor(position[i] / box[i][i]);
}

void expectSubdomainsAsOnReference(const std::function<InitialState()>& start, const Setup& onDevice) {
    Setup onReference = onDevice;
    std::get<0>(onReference) = "Reference";
    for (double tolerance : {1e-5, 1e-9}) {
        SCOPED_TRACE(tolerance);
        const auto found = [&](const Setup& setup) { return after(3, start(), setup, tolerance); };
        const Readings expected = found(onReference);
        const auto expectIt = [&](const Readings& readings) {
            const Precision precision = precisionOf(std::get<0>(onDevice));
            const double ofPositions = 20 * (0.15 * std::max(tolerance, precision.constraint) + precision.position);
            EXPECT_LT(distance(readings.positions, expected.positions), ofPositions);
            if (tolerance < 1e-5)
                expectClose(readings, expected, std::get<0>(onDevice));
        };
        expectIt(found(onDevice)); // one subdomain
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40");
        expectIt(found(onDevice));
        const Variable factors("OPENMM_CONSTRAINTS_LAUNCHES", "0"); // in each round, as many launches do
        const Readings inSubdomains = [&] {
            const Variable onlySubdomains("OPENMM_CONSTRAINTS_ONLY_PARTS", "1");
            Readings readings = found(onDevice);
            setConditions(1, 0xff); // threads in another order, and memory that holds NaN
            expectSame(found(onDevice), readings);
            setConditions(0, 0);
            return readings;
        }();
        EXPECT_NE(inSubdomains.summary.solver.find("1 in overlapping subdomains"), std::string::npos)
            << inSubdomains.summary.solver;
        expectIt(inSubdomains);
        {
            const Variable hops("OPENMM_CONSTRAINTS_HOPS", "0"), corrections("OPENMM_CONSTRAINTS_CORRECTIONS", "80");
            expectIt(found(onDevice));
        }
        const auto ofAWhole = [&] {
            const Variable corrections("OPENMM_CONSTRAINTS_CORRECTIONS", "1");
            return found(onDevice);
        };
        const Readings whole = ofAWhole();
        expectIt(whole);
        const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
        expectAlike(found(onDevice), inSubdomains, std::get<0>(onDevice), tolerance);
        expectAlike(ofAWhole(), whole, std::get<0>(onDevice), tolerance);
    }
}

std::string withoutSolver(const std::string& message) {
    return replaced(message, ", \\d+ (in shared memory|in overlapping subdomains)");
}

} // namespace ConstraintTests
