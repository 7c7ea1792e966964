// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_BODY_TABLES_H_
#define OPENMM_CONSTRAINTS_BODY_TABLES_H_

#include "ConstraintSet.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** Particles with mass up to which one thread has a body, if there are thread blocks. */
constexpr int maxThreadBody = 16;

/** Rigid bodies as the flat arrays that kernels read (bodies.cc): first free ones, then those that constraints
 *  join.
 *
 *  A place is that of a particle with mass: those of each body in turn. Small bodies have a thread each, larger ones a
 *  block, and very large free ones several thread groups, each of which has a part. */
struct BodyTables {
    /** @param largestBlock  threads; 1: there are only single threads
     *  @param atBorder      [bodies of the set] whether a bordered row reaches a body; empty: none */
    void addBodies(const ConstraintSet& set, int largestBlock, const std::vector<char>& atBorder = {});

    /** Take the shapes of a set that is otherwise equal. */
    void takeShapes(const ConstraintSet& set);

    /** Bodies first ... last-1, or parts of split ones, which one kernel solves. */
    struct BodyRange {
        int blockSize; ///< 1: single threads
        bool isSplit;
        int first, last;
        bool isAtBorder = false; ///< bordered rows reach these bodies, and no others
    };
    int numBodies = 0, numFreeBodies = 0;
    int bodyPartSize = 0; ///< places of a part of a split body
    std::vector<BodyRange> bodyRanges, joinedRanges;
    std::vector<int> numberOfBody;             ///< [bodies of the set] -1: all its particles are massless
    std::vector<int> bodyOfNumber;             ///< [bodies] in the set
    std::vector<int> bodyStart;                ///< [bodies + 1] first places
    std::vector<int> bodyParticle;             ///< [places]
    std::vector<double> bodyShape;             ///< [places][4] shape (nm) and mass (amu)
    std::vector<std::array<int, 4>> bodyKinds; ///< reference and second anchor, rotations, 1: linear, 2: periodic
    /** [bodies][12] inertia, inverse inertia, radii of gyration, inverse mass, radius, mass */
    std::vector<double> bodyNumbers;
    std::vector<std::array<int, 4>> bodyParts; ///< of split bodies: body, first and last place, its first part

    // Joined bodies. Several may share a particle, which has a place in each; the first body of the set owns it.
    std::vector<int> placeBody; ///< [places of joined bodies] the body's number
    std::vector<int> nextCopy;  ///< [places of joined bodies] the same particle's place in another body, -1: no other
    /** Places of particles in the bodies that own them, first those of which no place is in a body at the border. */
    std::vector<int> ownedPlaces;
    int firstOwnedAtBorder = 0; ///< in ownedPlaces
    int firstBodyAtBorder = 0;  ///< number: bodies at the border are the last joined ones

    int numBodyPlaces() const {
        return (int) bodyParticle.size();
    }
    int numJoinedBodies() const {
        return numBodies - numFreeBodies;
    }
    int numBodiesAtBorder() const {
        return numBodies - firstBodyAtBorder;
    }
    int firstJoinedPlace() const {
        return bodyStart[numFreeBodies];
    }

private:
    void addBody(const ConstraintSet& set, int b);
    void addShape(const RigidBody& body);
    void addJoinedBodies(const ConstraintSet& set, int largestBlock, const std::vector<char>& atBorder);
};

} // namespace ConstraintPlugin

#endif
