// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_MOLECULE_SYSTEM_H_
#define CONSTRAINTS_TESTS_MOLECULE_SYSTEM_H_

#include "support/Molecules.h"

namespace ConstraintTests {

enum class DeclaredAs { Listed, SystemListed, Bodies };

/** Molecules side by side, each turned in its own way. */
struct MoleculeSystem {
    std::vector<Molecule> molecules;
    std::vector<int> first; ///< particle of each
    std::vector<double> masses;
    Arrays places; ///< that have the lengths and angles
    Arrays start;  ///< where a simulation starts: the places, unless a test has other ones

    /** @param unit  nm, of the coordinates that the lengths and angles are measured from; 0: exact
     *  @param seed  of the orientations */
    explicit MoleculeSystem(std::vector<Molecule> given, double unit = 0, unsigned seed = 1);
    int numParticles() const {
        return (int) masses.size();
    }
    int degreesOfFreedom() const;
    /** As distances and angles of a ConstraintForce, the distances as constraints of the System, or the pieces as
     *  rigid bodies. */
    std::unique_ptr<OpenMM::System> toOpenMM(DeclaredAs declared = DeclaredAs::Listed, bool periodic = false) const;
    /** With an uneven field, at the start, with velocities on the constraints. */
    Simulation simulate(const Setup& setup, double stepSize, DeclaredAs declared = DeclaredAs::Listed,
                        double tolerance = 1e-13, bool hasField = true) const;
    void begin(Simulation& s, double size = 1) const;
    /** Of each constraint in the order of multipliers: all distances, then all angles. */
    std::vector<std::vector<int>> listed() const;
    /** Largest difference of a distance within a piece between two sets of positions (nm). */
    double deformation(const Vectors& before, const Vectors& after) const;
    /** The same of one molecule. */
    double deformation(const Vectors& before, const Vectors& after, std::size_t molecule) const;
};

void addUnevenField(OpenMM::System& system);
/** The value of a distance or an angle, nm or rad. Rounded coordinates of a linear part give an angle beside pi, which
 * has to be given as pi. */
double valueOf(const std::vector<int>& particles, const Arrays& x);
Real3 roundedTo(double unit, const Real3& r);
Arrays roundedTo(double unit, Arrays x);
/** Rigid bodies, declared or recognized, by the clusters that an integrator reports. */
int countBodies(const Simulation& s);

} // namespace ConstraintTests

#endif
