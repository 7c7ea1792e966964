// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ImageCycles.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** From a particle to the image of another one that is joined to it. */
struct Link {
    int to;
    Real3 shift; // nm, of the image
    int constraint, body;
};

using Links = std::vector<std::vector<Link>>; // by particle

void join(Links& links, int i, int j, const Real3* x, const Box& box, int constraint, int body) {
    const Real3 d = x[j] - x[i], shift = box.minimumImage(d) - d;
    links[i].push_back({j, shift, constraint, body});
    links[j].push_back({i, -1.0 * shift, constraint, body});
}

Links linksOf(const ConstraintSet& set, const Real3* x, const Box& box) {
    Links links(set.numParticles());
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        const bool joinsNeighbours = c.kind != CoordinateKind::Custom && c.kind != CoordinateKind::AffinePosition;
        if (!c.periodic || !joinsNeighbours || c.joint[0] >= 0)
            continue;
        for (int s = 1; s < c.size(); s++)
            join(links, c.particles[s - 1], c.particles[s], x, box, k, -1);
    }
    for (int b = 0; b < (int) set.bodies.size(); b++) {
        const RigidBody& body = set.bodies[b];
        for (int s = 1; body.periodic && s < body.size(); s++)
            join(links, body.particles[body.reference], body.particles[s], x, box, -1, b);
    }
    return links;
}

/** What is left of a vector outside of the space of others, which is extended by it.
 *  @param[in,out] basis  orthonormal */
bool extend(std::vector<Real3>& basis, const Real3& vector) {
    const double size = std::sqrt(dot(vector, vector));
    Real3 rest = vector;
    for (const Real3& e : basis)
        rest += (-dot(e, rest)) * e;
    const double left = std::sqrt(dot(rest, rest));
    if (!(left > 1e-6 * size))
        return false;
    basis.push_back((1 / left) * rest);
    return true;
}

} // namespace

std::vector<ImageCycle> findImageCycles(const ConstraintSet& set, const Real3* positions, const Box& box) {
    std::vector<ImageCycle> cycles;
    if (box.isEmpty())
        return cycles;
    const Links links = linksOf(set, positions, box);
    const double smallest = 1e-3 * box.halfWidth(); // of a shift that is not a difference of rounded numbers
    std::vector<char> isReached(links.size());
    std::vector<Real3> shiftOf(links.size()); // of the image in which a network reaches a particle
    for (int start = 0; start < (int) links.size(); start++) {
        if (isReached[start] || links[start].empty())
            continue;
        const std::size_t firstCycle = cycles.size();
        std::vector<Real3> basis;
        std::vector<int> network = {start};
        isReached[start] = 1;
        for (std::size_t n = 0; n < network.size(); n++)
            for (const Link& link : links[network[n]]) {
                const Real3 shift = shiftOf[network[n]] + link.shift;
                if (!isReached[link.to]) {
                    isReached[link.to] = 1;
                    shiftOf[link.to] = shift;
                    network.push_back(link.to);
                    continue;
                }
                const Real3 closing = shift - shiftOf[link.to];
                if (dot(closing, closing) > smallest * smallest && extend(basis, closing))
                    cycles.push_back({link.constraint, link.body, closing, {}});
            }
        std::sort(network.begin(), network.end());
        for (std::size_t c = firstCycle; c < cycles.size(); c++)
            cycles[c].particles = network;
    }
    return cycles;
}

} // namespace ConstraintPlugin
