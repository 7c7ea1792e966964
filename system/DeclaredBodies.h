// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DECLARED_BODIES_H_
#define OPENMM_CONSTRAINTS_DECLARED_BODIES_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"
#include <array>
#include <map>

namespace ConstraintPlugin {

/** A rigid body that a user declared, or one that was recognized. */
struct CollectedBody {
    int force = -1, index = -1; ///< as Constraint's
    bool periodic = false;
    std::vector<int> particles;
    std::vector<Real3> positions; ///< nm, of the particles, in any frame
    RigidBody closedForm;
    std::vector<std::array<int, 2>> merged; ///< force and index of bodies that are one with it
    double lineShift = 0;                   ///< nm, by which its particles were moved onto a line with others
    int recognized = -1;                    ///< number among the recognized ones; -1: declared
};

/** The rigid bodies of all ConstraintForces of a System. Those that are fixed to each other by particles that they
 * share are one body.
 *  @param set        with masses and names
 *  @param tolerance  relative to the size of bodies: shapes that share particles may differ by no more
 *  @param report     receives each body with invalid particles or shape, or whose shape contradicts that of another
 * body about particles that both have; such bodies are left out */
std::vector<CollectedBody> collectDeclaredBodies(const OpenMM::System& system, const ConstraintSet& set,
                                                 double tolerance, const ProblemReport& report);

/** Its mirror image. */
CollectedBody mirrored(CollectedBody body, const std::vector<double>& inverseMass);

/** "rigid body 0 of the ConstraintForce with index 2", "... (one with rigid body 3 of the ConstraintForce with index
 * 2)"
 */
std::string nameOf(const CollectedBody& body);

/** Which bodies have a particle, and where. */
class BodyMembership {
public:
    BodyMembership(const std::vector<CollectedBody>& bodies, int numParticles);
    struct Entry {
        int body, place;
    };
    const Entry* begin(int particle) const {
        return entries.data() + start[particle];
    }
    const Entry* end(int particle) const {
        return entries.data() + start[particle + 1];
    }
    int count(int particle) const {
        return start[particle + 1] - start[particle];
    }
    /** The place of a particle in a body; -1 if it is not in it. */
    int placeIn(int body, int particle) const;

private:
    std::vector<int> start;
    std::vector<Entry> entries; // of each particle by body
};

/** How many particles two bodies share, by their indices, the smaller one first; only pairs that share any. */
std::map<std::array<int, 2>, int> countShared(const std::vector<CollectedBody>& bodies, int numParticles);

} // namespace ConstraintPlugin

#endif
