// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_BODY_SYSTEMS_H_
#define CONSTRAINTS_TESTS_BODY_SYSTEMS_H_

#include "support/FreeFlight.h"
#include "support/Simulation.h"

namespace ConstraintTests {

/** Linear, planar and neither, with anchors and of one particle. */
inline const std::vector<RigidShape>& someBodies() {
    static const std::vector<RigidShape> shapes = {
        {"dioxide", {16, 12, 16}, {{-0.116, 0, 0}, {0, 0, 0}, {0.116, 0, 0}}, 5},
        {"water", {16, 1, 1}, {{0, 0, 0}, {0.0757, 0.0586, 0}, {-0.0757, 0.0586, 0}}, 6},
        {"pyramid",
         {10, 12, 14, 16, 5},
         {{0, 0, 0}, {0.2, 0, 0}, {0.05, 0.2, 0}, {0.1, 0.05, 0.2}, {-0.1, 0.02, 0.1}},
         6},
        {"single", {7}, {{0.05, 0, 0}}, 3},
        {"anchored", {10, 0, 14, 16}, {{0, 0, 0}, {0.2, 0, 0}, {0.05, 0.2, 0}, {0.1, 0.05, 0.2}}, 3},
        {"pendulum", {0, 12, 16}, {{0, 0, 0}, {0.1, 0, 0}, {0.2, 0, 0}}, 2},
        {"door", {0, 12, 14, 16, 0}, {{0, 0, 0}, {0.2, 0, 0}, {0.05, 0.2, 0}, {0.1, 0.05, 0.2}, {0, 0.03, 0.3}}, 1},
        {"held", {0, 0, 14, 16, 0}, {{0, 0, 0}, {0.2, 0, 0}, {0.05, 0.2, 0}, {0.1, 0.05, 0.2}, {0, 0.03, 0.3}}, 0}};
    return shapes;
}

/** Bodies side by side, each turned in its own way. */
struct BodySystem {
    std::vector<RigidShape> bodies;
    std::vector<double> masses;
    Vectors start;
    std::vector<int> first; ///< particle of each body

    explicit BodySystem(const std::vector<RigidShape>& given, double apart = 0.35) : bodies(given) {
        for (std::size_t b = 0; b < bodies.size(); b++) {
            first.push_back((int) masses.size());
            masses.insert(masses.end(), bodies[b].masses.begin(), bodies[b].masses.end());
            const Points turned = moved(bodies[b].places, (unsigned) b + 1);
            for (const Real3& r : turned) {
                const Real3 at =
                    r - turned[0] + apart * Real3{(double) (b % 3), (double) (b / 3 % 3), (double) (b / 9)};
                start.emplace_back(at.x, at.y, at.z);
            }
        }
    }
    int numParticles() const {
        return (int) masses.size();
    }
    int degreesOfFreedom() const {
        int sum = 0;
        for (const RigidShape& body : bodies)
            sum += body.degreesOfFreedom;
        return sum;
    }
    std::vector<int> particles(std::size_t b) const {
        return range(first[b], first[b] + (int) bodies[b].masses.size() - 1);
    }
    /** The bodies' shapes are as given, not turned. */
    std::unique_ptr<OpenMM::System> toOpenMM(bool periodic = false) const {
        auto system = std::make_unique<OpenMM::System>();
        auto* force = new ConstraintPlugin::ConstraintForce();
        for (double mass : masses)
            system->addParticle(mass);
        for (std::size_t b = 0; b < bodies.size(); b++)
            force->addRigidBody(particles(b), toVectors(bodies[b].places));
        force->setUsesPeriodicBoundaryConditions(periodic);
        system->addForce(force);
        return system;
    }
    /** Springs from every particle to one of the next body. */
    void addSprings(OpenMM::System& system, double k = 300, bool periodic = false) const {
        auto* springs = new OpenMM::HarmonicBondForce();
        springs->setUsesPeriodicBoundaryConditions(periodic);
        for (std::size_t b = 0; b < bodies.size(); b++) {
            const auto mine = particles(b), others = particles((b + 1) % bodies.size());
            for (std::size_t i = 0; i < mine.size(); i++)
                if (mine[i] != others[i % others.size()])
                    springs->addBond(mine[i], others[i % others.size()], 0.25, k);
        }
        system.addForce(springs);
    }
    Vectors velocities(double size, unsigned seed) const {
        Random random(seed);
        Arrays v;
        for (std::size_t i = 0; i < masses.size(); i++)
            v.push_back(random.inCube(size));
        return toVectors(v);
    }
    Simulation simulate(const Setup& setup, double stepSize, double k = 300) const {
        auto system = toOpenMM();
        if (k > 0)
            addSprings(*system, k);
        Simulation s(std::move(system), makeIntegrator(setup, stepSize, 1e-10), std::get<0>(setup));
        begin(s);
        return s;
    }
    void begin(Simulation& s, double size = 1) const {
        s.context->setPositions(start);
        s.context->setVelocities(velocities(size, 3));
        s.integrator->applyConstraints();
        s.integrator->applyVelocityConstraints();
    }
    /** Largest change of a distance within a body (nm). */
    double deformation(const Vectors& x) const {
        double largest = 0;
        for (std::size_t b = 0; b < bodies.size(); b++)
            for (const auto& [i, j] : allPairs(0, (int) bodies[b].masses.size() - 1)) {
                const OpenMM::Vec3 d = x[first[b] + i] - x[first[b] + j];
                largest = std::max(largest,
                                   std::abs(std::sqrt(d.dot(d)) - distance(bodies[b].places[i], bodies[b].places[j])));
            }
        return largest;
    }
};

/** With each integrator. Solvers play no part. */
inline std::vector<Setup> bodySetups(const std::vector<std::string>& integrators) {
    std::vector<Setup> setups;
    for (const std::string& integrator : integrators)
        for (const Setup& setup : setupsOf(integrator))
            if (isDevice(std::get<0>(setup)) ||
                std::get<1>(setup) == ConstraintPlugin::ConstraintIntegrator::MatrixInversion)
                setups.push_back(setup);
    return setups;
}

/** The record of a ConstraintException that a function throws; its kind is empty if it throws none. */
inline ConstraintPlugin::ConstraintProblem problemThrownBy(const std::function<void()>& function) {
    try {
        function();
    } catch (const ConstraintPlugin::ConstraintException& error) {
        return error.getProblem();
    }
    return {};
}

} // namespace ConstraintTests

#endif
