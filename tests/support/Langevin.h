// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_LANGEVIN_H_
#define CONSTRAINTS_TESTS_LANGEVIN_H_

#include "openmm/reference/SimTKOpenMMRealType.h"
#include "support/Simulation.h"
#include <limits>
#include <numeric>

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
    /** Free dimers of length d along y, each with a spring whose rest length is shorter by `stretch`, at 0 K after one
     *  step, in which the constraint force of every dimer balances its spring. */
    Simulation stretchedDimers(int n, double d, double stretch, double k, double dt) const {
        using namespace OpenMM;
        auto system = std::make_unique<System>();
        auto* bonds = new ConstraintPlugin::ConstraintForce();
        auto* springs = new HarmonicBondForce();
        Vectors r;
        for (int i = 0; i < n; i++) {
            const int p0 = system->addParticle(16), p1 = system->addParticle(2);
            bonds->addDistance(p0, p1, d);
            springs->addBond(p0, p1, d - stretch, k);
            r.insert(r.end(), {Vec3(0, 0, i), Vec3(0, d, i)});
        }
        system->addForce(bonds);
        system->addForce(springs);
        Simulation s(std::move(system), makeIntegrator(GetParam(), dt, 1e-9), platform());
        s.context->setPositions(r);
        langevin(s).setTemperature(0);
        s.integrator->step(1);
        // The position stage answers |r|^2 - d^2 within a step. Here r has one component, which rounds as d does, so
        // what is left is the rounding of both squares, each by half an epsilon: of the length by half an epsilon of d.
        const double epsilon = precision.position > 1e-10 ? std::numeric_limits<float>::epsilon() : 0,
                     reducedMass = 16. * 2 / 18, bound = 1e-3 + reducedMass / (dt * dt) * 0.5 * epsilon * d;
        for (double multiplier : s.integrator->getMultipliers())
            EXPECT_NEAR(multiplier, k * stretch, bound);
        return s;
    }
    /** In three blocks of steps positions stay on the constraints, velocities tangent to them, and all parts move. */
    void expectTangentMotion(Simulation& s, const std::vector<TestSystem>& parts, int steps) const {
        const double bound = std::max(2e-8, 10 * precision.constraint), dt = s.integrator->getStepSize();
        for (int block = 0; block < 3; block++) {
            s.integrator->step(steps);
            for (std::size_t i = 0; i < parts.size(); i++) {
                SCOPED_TRACE(parts[i].name);
                const ConstraintPlugin::ConstraintSet set = toConstraintSet(parts[i]);
                const Arrays x = toArrays(partOf(parts, i, s.positions()));
                const Verifier verifier(set, parts[i].box, x);
                EXPECT_TRUE(verifier.holdsLengths(x, bound));
                EXPECT_TRUE(verifier.holdsVelocities(toArrays(partOf(parts, i, s.velocities())), dt, bound));
                EXPECT_GT(distance(toVectors(x), toVectors(parts[i].positions)), 1e-3);
            }
        }
        EXPECT_TRUE(s.integrator->getSolverSummary().converged);
    }
    /** By how much less than the pull of its springs the bond of a dimer reads, the mean of all dimers, in samples that
     *  are so many steps apart. */
    std::vector<double> centripetalForces(Simulation& s, double pull, int samples, int steps) const {
        std::vector<double> forces;
        for (int i = 0; i < samples; i++) {
            s.integrator->step(steps);
            const std::vector<double> all = s.integrator->getMultipliers();
            forces.push_back(pull - std::accumulate(all.begin(), all.end(), 0.0) / (double) all.size());
        }
        return forces;
    }
    /** The ends of springs of length d are pulled apart from rest: the work is the energy of the springs. */
    void expectWorkOfPull(Simulation& s, double d, double rate, double k, int steps) const {
        const double dt = s.integrator->getStepSize();
        s.context->setPositions({OpenMM::Vec3(), OpenMM::Vec3(d, 0, 0)});
        s.integrator->step(1); // which sets the ends in motion
        const double before = s.energy(), start = s.integrator->getConstraintWork();
        s.integrator->step(steps);
        const OpenMM::Vec3 r = s.positions()[1] - s.positions()[0];
        const int last = steps + 1;
        EXPECT_NEAR(std::sqrt(r.dot(r)), d + rate * last * dt, 1e-8 + precision.position);
        const double gained = s.energy() - before;
        EXPECT_NEAR(gained, 0.5 * k * rate * rate * dt * dt * (last * last - 1), 0.01 * gained);
        EXPECT_NEAR(s.integrator->getConstraintWork() - start, gained, 0.02 * gained);
    }
    /** Kinetic and potential energies of n harmonic oscillators with omega dt = 1, with friction and noise. */
    struct Energies {
        std::vector<double> kinetic, potential;
    };
    Energies sampleOscillators(int n) const {
        using namespace OpenMM;
        const double mass = 4, dt = 0.005, k = mass / (dt * dt);
        auto system = std::make_unique<System>();
        auto* well = new CustomExternalForce("0.5*" + std::to_string(k) + "*(x*x+y*y+z*z)");
        for (int i = 0; i < n; i++)
            well->addParticle(system->addParticle(mass), {});
        system->addForce(well);
        Simulation s(std::move(system), makeIntegrator(GetParam(), dt), platform());
        langevin(s).setFriction(100);
        s.context->setPositions(Vectors(n));
        s.integrator->step(50);
        Energies energies;
        for (int i = 0; i < 25; i++) {
            s.integrator->step(10);
            const State state = s.context->getState(State::Energy);
            energies.kinetic.push_back(state.getKineticEnergy());
            energies.potential.push_back(state.getPotentialEnergy());
        }
        return energies;
    }
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    const Precision precision = precisionOf(platform());
};

} // namespace ConstraintTests

#endif
