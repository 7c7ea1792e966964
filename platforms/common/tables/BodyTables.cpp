// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BodyTables.h"
#include "TestHooks.h"
#include <algorithm>
#include <tuple>

namespace ConstraintPlugin {

namespace {

/** Places of a part, and up to which a body is not split. */
struct PartSize {
    int part, most;
};

PartSize partSize(int largestBlock) {
    if (const int given = TestHooks::bodyPart.valueOr(0))
        return {given, given};
    return largestBlock > 1 ? PartSize{1024, 4096} : PartSize{1024, 2048};
}

/** Of the block that has a body, or a part of it. */
int blockSizeFor(int places, int largestBlock) {
    return places <= maxThreadBody || largestBlock < 64 ? 1 : places <= 256 || largestBlock < 128 ? 64 : 128;
}

} // namespace

void BodyTables::addBodies(const ConstraintSet& set, int largestBlock, const std::vector<char>& atBorder) {
    const std::vector<RigidBody>& bodies = set.bodies;
    const PartSize size = partSize(largestBlock);
    bodyPartSize = size.part;
    numberOfBody.assign(bodies.size(), -1);
    std::vector<std::tuple<bool, int, int>> order; // split ones last; threads, place in the list
    for (int b = 0; b < (int) bodies.size(); b++) {
        const int places = bodies[b].numMassive;
        const bool isSplit = places > size.most;
        if (places > 0 && !bodies[b].isJoined)
            order.emplace_back(isSplit, blockSizeFor(isSplit ? size.part : places, largestBlock), b);
    }
    std::sort(order.begin(), order.end());
    bodyStart = {0};
    for (const auto& [isSplit, blockSize, b] : order) {
        const int number = numBodies;
        addBody(set, b);
        const int firstPart = (int) bodyParts.size(), first = bodyStart[number], last = numBodyPlaces();
        for (int place = first; isSplit && place < last; place += size.part)
            bodyParts.push_back({number, place, std::min(place + size.part, last), firstPart});
        if (bodyRanges.empty() || bodyRanges.back().isSplit != isSplit || bodyRanges.back().blockSize != blockSize)
            bodyRanges.push_back({blockSize, isSplit, isSplit ? 0 : number, 0});
        bodyRanges.back().last = isSplit ? (int) bodyParts.size() : numBodies;
    }
    numFreeBodies = numBodies;
    addJoinedBodies(set, largestBlock, atBorder);
}

void BodyTables::addBody(const ConstraintSet& set, int b) {
    const RigidBody& body = set.bodies[b];
    numberOfBody[b] = numBodies;
    bodyOfNumber.push_back(b);
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0)
            bodyParticle.push_back(body.particles[i]);
    addShape(body);
    const rigid::BodyConstants& c = body.constants;
    const auto particle = [&](int place) { return place < 0 ? -1 : body.particles[place]; };
    bodyKinds.push_back({particle(body.reference), particle(body.axisAnchor), c.rotations,
                         (body.isLinear ? 1 : 0) + (body.periodic ? 2 : 0)});
    bodyNumbers.insert(bodyNumbers.end(),
                       {c.inertia.x, c.inertia.y, c.inertia.z, c.inverseInertia.x, c.inverseInertia.y,
                        c.inverseInertia.z, c.radii.x, c.radii.y, c.radii.z, c.inverseMass, body.radius, c.mass});
    bodyStart.push_back(numBodyPlaces());
    numBodies++;
}

void BodyTables::addShape(const RigidBody& body) {
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0) {
            const Real3& s = body.shape[i];
            bodyShape.insert(bodyShape.end(), {s.x, s.y, s.z, body.mass[i]});
        }
}

void BodyTables::takeShapes(const ConstraintSet& set) {
    bodyShape.clear();
    for (int b : bodyOfNumber)
        addShape(set.bodies[b]);
}

void BodyTables::addJoinedBodies(const ConstraintSet& set, int largestBlock, const std::vector<char>& atBorder) {
    std::vector<std::tuple<bool, int, int>> order; // at the border; threads, place in the list
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (set.bodies[b].isJoined)
            order.emplace_back(!atBorder.empty() && atBorder[b], blockSizeFor(set.bodies[b].numMassive, largestBlock),
                               b);
    firstBodyAtBorder = numBodies + (int) std::count_if(order.begin(), order.end(),
                                                        [](const auto& body) { return !std::get<0>(body); });
    if (order.empty())
        return;
    std::sort(order.begin(), order.end());
    std::vector<int> owned(set.numParticles(), -1); // by particle
    for (const auto& [isAtBorder, blockSize, b] : order) {
        const int number = numBodies, first = numBodyPlaces();
        addBody(set, b);
        placeBody.resize(placeBody.size() + (numBodyPlaces() - first), number);
        if (joinedRanges.empty() || joinedRanges.back().blockSize != blockSize ||
            joinedRanges.back().isAtBorder != isAtBorder)
            joinedRanges.push_back({blockSize, false, number, 0, isAtBorder});
        joinedRanges.back().last = numBodies;
        for (int place = first; place < numBodyPlaces(); place++)
            if (set.joinedPlaces[bodyParticle[place]].body == b) {
                owned[bodyParticle[place]] = place;
                ownedPlaces.push_back(place);
            }
    }
    const int firstPlace = firstJoinedPlace();
    nextCopy.assign(placeBody.size(), -1);
    for (int place = firstPlace; place < numBodyPlaces(); place++) {
        const int first = owned[bodyParticle[place]];
        if (place != first) {
            nextCopy[place - firstPlace] = nextCopy[first - firstPlace];
            nextCopy[first - firstPlace] = place;
        }
    }
    const auto isAlone = [&](int owner) { // particles that share a place with a body at the border move with it
        for (int place = owner; place >= 0; place = nextCopy[place - firstPlace])
            if (placeBody[place - firstPlace] >= firstBodyAtBorder)
                return false;
        return true;
    };
    firstOwnedAtBorder =
        (int) (std::stable_partition(ownedPlaces.begin(), ownedPlaces.end(), isAlone) - ownedPlaces.begin());
}

} // namespace ConstraintPlugin
