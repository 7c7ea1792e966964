// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SHARED_PARTICLES_H_
#define OPENMM_CONSTRAINTS_SHARED_PARTICLES_H_

#include "DeclaredBodies.h"
#include <optional>

namespace ConstraintPlugin {

/** The particles that two bodies share, and their places in both shapes. */
class SharedParticles {
public:
    /** Both bodies have to outlive this. */
    SharedParticles(const CollectedBody& one, const CollectedBody& other);

    /** What contradicts: distances to a few of these particles differ by more than the tolerance times the size of the
     * bodies, or one shape is the mirror image of the other. It is reported of the second body. */
    std::optional<ConstraintProblem> findDisagreement(const ConstraintSet& set, double tolerance) const;
    /** Whether their places in the second shape are the mirror image of those in the first. */
    bool isMirrored() const;
    /** Whether they are on a line, as far as coordinates that are rounded to 0.001 nm can tell. */
    bool areOnALine() const;
    /** Whether they fix the bodies to each other, which are then one body: they are not on a line, or one of the bodies
     *  is linear and shares two, or shares all that it has. Others are a joint or a hinge. */
    bool fixBodies() const;
    /** Both bodies in one, with the name of the first. Of its closed form it has what the functions above need. */
    CollectedBody mergedBody() const;
    /** Where they are on a line: move all but the outermost two onto the line through these, in both shapes, and those
     *  in the second shape along it, so that their distances are those in the first.
     *  @param first, second  the same bodies
     *  @return the largest distance from the line (nm) */
    double alignOnLine(CollectedBody& first, CollectedBody& second) const;

private:
    struct Place {
        int particle, inOne, inOther; // places in CollectedBody::particles
    };
    /** Place of the shared particle s in the shape of the first body (0) or the second (1). */
    const Real3& at(int body, int s) const {
        return body == 0 ? one.positions[places[s].inOne] : other.positions[places[s].inOther];
    }

    const CollectedBody &one, &other;
    std::vector<Place> places;
    std::array<int, 4>
        corners{}; // of a large tetrahedron in the first shape, as far as they span one; the first two are far apart
};

} // namespace ConstraintPlugin

#endif
