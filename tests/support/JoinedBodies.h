// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_JOINED_BODIES_H_
#define CONSTRAINTS_TESTS_JOINED_BODIES_H_

#include "support/Bodies.h"
#include "support/Simulation.h"

namespace ConstraintTests {

/** A constraint between bodies and atoms, with the value that it has at the start. */
struct Join {
    enum Kind { SystemDistance, Distance, Angle, Dihedral, Centroids, Surface } kind;
    std::vector<int> particles; ///< Surface: one, on a sphere about a point near by
    int firstGroup = 0;         ///< Centroids: so many of the particles are the first group
};

/** Rigid bodies that share particles or that constraints join, with further atoms: particles are numbered from 0. */
struct Assembly {
    std::string name;
    std::vector<double> masses;
    Points places;
    std::vector<std::vector<int>> bodies; ///< no three of the first four particles of a body are on a line
    std::vector<Join> joins;
    int degreesOfFreedom = 0;

    /** Add an atom. @return its number */
    int atom(const Real3& place, double mass = 12);
    /** Add a body of so many new particles about a centre, and of some that exist; drawn by chance, neither narrow nor
     *  flat. @return the numbers of the new ones */
    std::vector<int> body(int count, const Real3& centre, Random& random, std::vector<int> shared = {});
};

/** Two to four bodies, joined in every way. All are regular as distances, too. */
const std::vector<Assembly>& someAssemblies();
/** @throws std::out_of_range if there is none of that name */
const Assembly& findAssembly(const std::string& name);

/** How bodies are declared: by addRigidBody, or by as many distances as hold them. */
enum class Held { AsBodies, ByDistances };

/** Assemblies side by side, each turned in its own way. */
class JoinedSystem {
public:
    explicit JoinedSystem(std::vector<Assembly> parts);
    /** A ConstraintForce of joins, if there are any, one for each surface, and then one that holds the bodies. Shapes
     *  are given in other orientations than the bodies have at the start. */
    std::unique_ptr<OpenMM::System> toOpenMM(Held held = Held::AsBodies, bool periodic = false) const;
    /** Springs between particles of one assembly, some at rest and some not. */
    void addSprings(OpenMM::System& system, double k = 300, bool periodic = false) const;
    Vectors velocities(double size, unsigned seed) const;
    /** With springs (k > 0), at the start with velocities. */
    Simulation simulate(const Setup& setup, double stepSize, Held held = Held::AsBodies, double tolerance = 1e-13,
                        double k = 300) const;
    void begin(Simulation& s, double size = 1) const;
    /** Largest change of a distance within a body since the start (nm). */
    double deformation(const Vectors& x) const;
    int degreesOfFreedom() const;
    int numParticles() const {
        return (int) masses.size();
    }

    std::vector<Assembly> parts;
    std::vector<int> first; ///< particle of each part
    std::vector<double> masses;
    Arrays start;
    std::vector<std::vector<int>> bodies; ///< of all parts, particles of the System
};

/** Count the velocities that bodies and atoms can have: what bodies share has one velocity, distances do not change. By
 *  singular values. */
int countedByVelocities(const Assembly& assembly, const Arrays& x);

/** Each by itself, or all in one System on a device, where Contexts take long. */
std::vector<JoinedSystem> systemsOf(const std::vector<Assembly>& assemblies, const std::string& platform);

/** Places of particles in a body's own frame: as they are, rotated by something. */
Points rotatedShape(const Points& places, unsigned seed);

double angleOf(const Real3& a, const Real3& vertex, const Real3& b);
/** As PeriodicTorsionForce. */
double dihedralOf(const Real3& a, const Real3& b, const Real3& c, const Real3& d);

} // namespace ConstraintTests

#endif
