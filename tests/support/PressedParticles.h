// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_PRESSED_PARTICLES_H_
#define CONSTRAINTS_TESTS_PRESSED_PARTICLES_H_

#include "support/Simulation.h"

namespace ConstraintTests {

struct Probe;

enum class BoxShape { Rectangular, Octahedron, Dodecahedron };
std::string nameOf(BoxShape shape);
/** Box vectors of a width (nm): a truncated octahedron or a rhombic dodecahedron lies on bounds of the reduced form. */
Vectors boxVectors(BoxShape shape, double width);

/** A drop of particles that crosses the faces of a wide box: constraints of every kind, rigid bodies, free and joined,
 *  and virtual sites, with anharmonic springs between all of them. Nothing interacts with an image. */
struct PressedParticles {
    BoxShape shape;
    Probe* probe = nullptr; ///< not null: a ProbeForce
    bool hasBarostat = false;

    /** After a few steps' time it is somewhere else. */
    Simulation simulate(const Setup& setup, double stepSize) const;
    /** d/dt sum_i m_i r_a v_b (bar times the volume), symmetrized, by short steps on Reference from a Context's present
     *  state, with velocities at the time of the positions and tangent to the constraints. */
    Vectors rateOfPositionsTimesMomenta(const Simulation& now) const;
};

/** Chains across a periodic box that have no ends, with links between them and some fixed angles. */
struct SpanningNetwork {
    Vectors box;
    Vectors positions;
    std::vector<std::pair<int, int>> bonds;
    std::vector<std::array<int, 3>> angles;

    explicit SpanningNetwork(BoxShape shape);
    double volume() const {
        return box[0][0] * box[1][1] * box[2][2];
    }
    /** @param lambda  empty: bonds and angles are constraints. Else they are springs that exert these forces, of bonds
     * and then of angles, at the positions of the constraints */
    Simulation simulate(const Setup& setup, const std::vector<double>& lambda) const;
    /** Each particle in the box by itself. */
    Vectors wrapped(Vectors x) const;

private:
    OpenMM::Vec3 minimumImage(OpenMM::Vec3 r) const;
};

} // namespace ConstraintTests

#endif
