// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BodyTables.h"
#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace ConstraintPlugin {

namespace {

/** Places of a part, and up to which a body is not split. */
struct PartSize {
    int part, most;
};

PartSize partSize(int largestBlock) {
    if (const char* given = std::getenv("OPENMM_CONSTRAINTS_BODY_PART")) // for tests of small bodies
        return {std::atoi(given), std::atoi(given)};
    return largestBlock > 1 ? PartSize{1024, 4096} : PartSize{1024, 2048};
}

/** Of the block that has a body, or a part of it. */
int blockSizeFor(int places, int largestBlock) {
    return places <= maxThreadBody || largestBlock < 64 ? 1 : places <= 256 || largestBlock < 128 ? 64 : 128;
}

} // namespace

void BodyTables::addBodies(const std::vector<FreeBody>& bodies, int largestBlock) {
    const PartSize size = partSize(largestBlock);
    bodyPartSize = size.part;
    std::vector<std::tuple<bool, int, int>> order; // split ones last; threads, place in the list
    for (int b = 0; b < (int) bodies.size(); b++) {
        const int places = bodies[b].numMassive;
        const bool isSplit = places > size.most;
        if (places > 0)
            order.emplace_back(isSplit, blockSizeFor(isSplit ? size.part : places, largestBlock), b);
    }
    std::sort(order.begin(), order.end());
    bodyStart = {0};
    for (const auto& [isSplit, blockSize, b] : order) {
        const FreeBody& body = bodies[b];
        for (int i = 0; i < body.size(); i++)
            if (body.mass[i] > 0) {
                const Real3& s = body.shape[i];
                bodyParticle.push_back(body.particles[i]);
                bodyShape.insert(bodyShape.end(), {s.x, s.y, s.z, body.mass[i]});
            }
        const rigid::BodyConstants& c = body.constants;
        const auto particle = [&](int place) { return place < 0 ? -1 : body.particles[place]; };
        bodyKinds.push_back({particle(body.reference), particle(body.axisAnchor), c.rotations,
                             (body.isLinear ? 1 : 0) + (body.periodic ? 2 : 0)});
        bodyNumbers.insert(bodyNumbers.end(), {c.inertia.x, c.inertia.y, c.inertia.z, c.inverseInertia.x,
                                               c.inverseInertia.y, c.inverseInertia.z, c.inverseMass, body.radius, 0});
        const int firstPart = (int) bodyParts.size(), first = bodyStart.back(), last = numBodyPlaces();
        for (int place = first; isSplit && place < last; place += size.part)
            bodyParts.push_back({numBodies, place, std::min(place + size.part, last), firstPart});
        if (bodyRanges.empty() || bodyRanges.back().isSplit != isSplit || bodyRanges.back().blockSize != blockSize)
            bodyRanges.push_back({blockSize, isSplit, isSplit ? 0 : numBodies, 0});
        bodyRanges.back().last = isSplit ? (int) bodyParts.size() : numBodies + 1;
        bodyStart.push_back(last);
        numBodies++;
    }
}

} // namespace ConstraintPlugin
