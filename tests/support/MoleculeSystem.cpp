// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/MoleculeSystem.h"
#include "support/Dense.h"
#include "support/FreeFlight.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

Real3 roundedTo(double unit, const Real3& r) {
    return unit > 0 ? Real3{unit * std::round(r.x / unit), unit * std::round(r.y / unit), unit * std::round(r.z / unit)}
                    : r;
}

Arrays roundedTo(double unit, Arrays x) {
    for (Real3& r : x)
        r = roundedTo(unit, r);
    return x;
}

double valueOf(const std::vector<int>& p, const Arrays& x) {
    if (p.size() == 2)
        return distance(x[p[0]], x[p[1]]);
    const double angle = angleOf(x[p[0]], x[p[1]], x[p[2]]);
    return angle > pi - 0.03 ? pi : angle;
}

int countBodies(const Simulation& s) {
    int sum = 0;
    for (const ClusterInfo& cluster : s.integrator->getClusters(*s.system))
        sum += cluster.count * cluster.rigidBodies;
    return sum;
}

MoleculeSystem::MoleculeSystem(std::vector<Molecule> given, double unit, unsigned seed) : molecules(std::move(given)) {
    for (std::size_t m = 0; m < molecules.size(); m++) {
        first.push_back(numParticles());
        masses.insert(masses.end(), molecules[m].masses.begin(), molecules[m].masses.end());
        const Points turned = moved(molecules[m].places, seed + (unsigned) m);
        const Real3 cell = 1.6 * Real3{(double) (m % 3), (double) (m / 3 % 3), (double) (m / 9)};
        for (const Real3& r : turned)
            places.push_back(roundedTo(unit, r - turned[0] + cell + Real3{0.03004, 0.05003, 0.04001}));
    }
    start = places;
}

int MoleculeSystem::degreesOfFreedom() const {
    int sum = 0;
    for (const Molecule& molecule : molecules)
        sum += molecule.degreesOfFreedom;
    return sum;
}

std::vector<std::vector<int>> MoleculeSystem::listed() const {
    std::vector<std::vector<int>> all;
    for (std::size_t m = 0; m < molecules.size(); m++)
        for (const auto& [i, j] : molecules[m].distances)
            all.push_back({first[m] + i, first[m] + j});
    for (std::size_t m = 0; m < molecules.size(); m++)
        for (const auto& [i, middle, j] : molecules[m].angles)
            all.push_back({first[m] + i, first[m] + middle, first[m] + j});
    return all;
}

std::unique_ptr<System> MoleculeSystem::toOpenMM(DeclaredAs declared, bool periodic) const {
    auto system = std::make_unique<System>();
    for (double mass : masses)
        system->addParticle(mass);
    auto* force = new ConstraintForce();
    force->setUsesPeriodicBoundaryConditions(periodic);
    system->addForce(force);
    if (declared != DeclaredAs::Bodies) {
        for (const std::vector<int>& p : listed())
            if (p.size() == 3)
                force->addAngle(p[0], p[1], p[2], valueOf(p, places));
            else if (declared == DeclaredAs::SystemListed)
                system->addConstraint(p[0], p[1], valueOf(p, places));
            else
                force->addDistance(p[0], p[1], valueOf(p, places));
        return system;
    }
    for (std::size_t m = 0; m < molecules.size(); m++)
        for (std::vector<int> piece : molecules[m].pieces) {
            Points shape;
            for (int& p : piece)
                shape.push_back(places[p += first[m]]);
            force->addRigidBody(piece, toVectors(shape));
        }
    return system;
}

void addUnevenField(System& system) {
    auto* field = new CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
    for (int i = 0; i < system.getNumParticles(); i++)
        field->addParticle(i);
    system.addForce(field);
}

void MoleculeSystem::begin(Simulation& s, double size) const {
    s.context->setPositions(toVectors(start));
    Random random(3);
    Arrays v;
    for (double mass : masses)
        v.push_back(mass > 0 ? random.inCube(size) : Real3());
    s.context->setVelocities(toVectors(v));
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
}

Simulation MoleculeSystem::simulate(const Setup& setup, double stepSize, DeclaredAs declared, double tolerance,
                                    bool hasField) const {
    auto system = toOpenMM(declared);
    if (hasField)
        addUnevenField(*system);
    Simulation s(std::move(system), makeIntegrator(setup, stepSize, tolerance), std::get<0>(setup));
    begin(s);
    return s;
}

double MoleculeSystem::deformation(const Vectors& before, const Vectors& after, std::size_t m) const {
    const auto length = [&](const Vectors& x, int i, int j) {
        const Vec3 d = x[first[m] + i] - x[first[m] + j];
        return std::sqrt(d.dot(d));
    };
    double largest = 0;
    for (const std::vector<int>& piece : molecules[m].pieces)
        for (std::size_t i = 0; i < piece.size(); i++)
            for (std::size_t j = 0; j < i; j++) {
                const double change = std::abs(length(after, piece[i], piece[j]) - length(before, piece[i], piece[j]));
                if (!(change <= largest)) // or it is not a number
                    largest = change;
            }
    return largest;
}

double MoleculeSystem::deformation(const Vectors& before, const Vectors& after) const {
    double largest = 0;
    for (std::size_t m = 0; m < molecules.size(); m++) {
        const double one = deformation(before, after, m);
        if (!(one <= largest))
            largest = one;
    }
    return largest;
}

} // namespace ConstraintTests
