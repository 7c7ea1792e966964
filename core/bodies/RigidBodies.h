// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_BODIES_H_
#define CONSTRAINTS_CORE_RIGID_BODIES_H_

#include "ConstraintSet.h"
#include <functional>
#include <vector>

namespace ConstraintPlugin {

/** A body whose particles keep their places relative to each other. Its base spans it, and every other particle is an
 *  affine combination of the base: r_a - sum_b C_ab r_b = 0 (Ciccotti, Ferrario, Ryckaert, Mol. Phys. 47, 1253 (1982),
 *  doi 10.1080/00268978200100942). */
struct RigidBody {
    std::vector<int> base;                    ///< particles: 2 of a straight body, 3 of a flat one, 4 of any other
    std::vector<int> others;                  ///< every other particle, ascending
    std::vector<std::vector<double>> weights; ///< [others][base] C_ab, sum_b C_ab = 1
    std::vector<Real3> shape;                 ///< positions of base, then others, in a frame of its own (nm)
    std::vector<int> constraints;             ///< indices of the constraints that the body replaces, ascending

    int size() const {
        return (int) (base.size() + others.size());
    }
};

/** Relative difference up to which lengths count as rounded: a set that is straight or flat within it is so. */
constexpr double flatnessBound = 1e-4;

/** What the choice of a base prefers, besides small weights. */
struct BasePreference {
    std::function<bool(int)> isShared = [](int) { return false; }; ///< by place in the list of particles
    std::function<bool(int, int)> isKnown = [](int, int) {
        return false;
    };                                 ///< a pair of places whose distance is given
    bool holdsForLargeWeights = false; ///< rather than giving way to a base with small weights
};

/** The body that particles at some positions form. Straight or flat within flatnessBound of its size is straight or
 *  flat, and the shape is then that on the line or plane that fits best. Immovable particles come into the base first.
 *
 *  @param particles    at least two, all different
 *  @param positions    of the particles, in the same order (nm)
 *  @param inverseMass  of all particles of the System (1/amu), 0: immovable
 *  @throws std::invalid_argument if there is no such body: the text says why
 */
RigidBody makeRigidBody(const std::vector<int>& particles, const std::vector<Real3>& positions,
                        const std::vector<double>& inverseMass, const BasePreference& preference = {});

/** Find every straight or flat body that distances and angles hold rigid, from the lengths alone. Held by plain
 *  distances such a body is singular: its gradients depend on each other at the very solution.
 *
 *  - A distance is a known length; so is the third side of an angle between two such distances.
 *  - Straight or flat: a fitted shape meets each known length within max(tolerance, flatnessBound), relative, and
 *    each angle within as many radians.
 *  - Rigid: by trilateration (two lengths to a line, three to a plane), or because an equilibrium self-stress in the
 *    plane is positive definite for displacements out of it (Connelly, Whiteley, SIAM J. Discrete Math. 9, 453 (1996),
 *    doi 10.1137/S0895480192229236). The lengths then allow no other shape, in the plane or out of it.
 *  - A flat set that particles outside its plane brace is regular, and no body.
 *
 *  Bodies share at most two particles, or particles on one line.
 *
 *  @param mayReplace  [constraints] whether a constraint may be counted in and replaced; empty: all may
 *  @return bodies in the order of their first particles
 */
std::vector<RigidBody> findSingularBodies(const ConstraintSet& set, double tolerance,
                                          const std::vector<char>& mayReplace = {});

/** The body of particles in a shape of known dimension.
 *  @param dimension  1, 2 or 3: positions lie on a line, in a plane, or neither */
RigidBody chooseBase(const std::vector<int>& particles, const std::vector<Real3>& positions, int dimension,
                     const std::vector<double>& inverseMass, const BasePreference& preference = {});

} // namespace ConstraintPlugin

#endif
