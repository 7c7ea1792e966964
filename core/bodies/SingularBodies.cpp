// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PlateFinder.h"
#include "RigidBodies.h"
#include <set>

namespace ConstraintPlugin {

namespace {

/** Particles in a fixed shape. */
using PlacedParticles = PlacedNodes;

PlacedParticles toParticles(const LengthGraph& graph, PlacedNodes body) {
    for (int& node : body.nodes)
        node = graph.particle[node];
    return body;
}

/** Lengths of the graph and those between any two nodes of a line. */
LengthGraph completeLines(const LengthGraph& graph, const std::vector<PlacedNodes>& lines) {
    constexpr int longestComplete = 30; // of longer rods every node is joined to so many others
    std::vector<KnownLength> lengths = graph.lengths();
    for (const PlacedNodes& line : lines)
        for (int i = 0; i < line.size(); i++)
            for (int j = 0; j < std::min(i, longestComplete); j++)
                lengths.push_back({line.nodes[j], line.nodes[i], std::abs(line.points[i].x - line.points[j].x)});
    return LengthGraph(graph.particle, lengths);
}

/** Plates of a graph, cluster by cluster. Those held regular in space are left out. */
std::vector<PlacedParticles> findPlates(const LengthGraph& graph, const std::vector<PlacedParticles>& lines,
                                        double tolerance) {
    const std::vector<std::vector<int>> components = graph.components();
    std::vector<std::vector<PlacedNodes>> linesIn(components.size());
    std::vector<int> component(graph.size()), place(graph.size());
    for (int c = 0; c < (int) components.size(); c++)
        for (int k = 0; k < (int) components[c].size(); k++) {
            component[components[c][k]] = c;
            place[components[c][k]] = k;
        }
    for (const PlacedParticles& line : lines) {
        PlacedNodes left;
        int where = -1;
        for (int k = 0; k < line.size(); k++) {
            const auto it = std::lower_bound(graph.particle.begin(), graph.particle.end(), line.nodes[k]);
            if (it == graph.particle.end() || *it != line.nodes[k])
                continue;
            const int node = (int) (it - graph.particle.begin());
            where = component[node];
            left.insert(place[node], line.points[k]);
        }
        if (left.size() >= 2)
            linesIn[where].push_back(left);
    }
    std::vector<PlacedParticles> plates;
    for (std::size_t c = 0; c < components.size(); c++) {
        const LengthGraph part = graph.part(components[c]);
        PlateFinder finder(part, linesIn[c], tolerance);
        finder.run();
        for (const PlacedNodes& plate : finder.plates)
            if (plate.size() > 0 && !PlateFinder::contains(finder.spatialBodies, finder.spatialOf, plate.nodes))
                plates.push_back(toParticles(part, plate));
    }
    return plates;
}

/** Bring the rest of a line that shares two particles into the plate. @return whether there was any */
bool absorb(PlacedParticles& plate, const PlacedParticles& line) {
    int first = -1, last = -1;
    for (int k = 0; k < line.size(); k++)
        if (plate.find(line.nodes[k]) >= 0) {
            if (first < 0 || line.points[k].x < line.points[first].x)
                first = k;
            if (last < 0 || line.points[k].x > line.points[last].x)
                last = k;
        }
    if (first == last)
        return false;
    bool grown = false;
    const Real3 a = plate.points[plate.find(line.nodes[first])], b = plate.points[plate.find(line.nodes[last])];
    for (int k = 0; k < line.size(); k++)
        if (plate.find(line.nodes[k]) < 0) {
            const double w = (line.points[k].x - line.points[first].x) / (line.points[last].x - line.points[first].x);
            plate.insert(line.nodes[k], (1 - w) * a + w * b);
            grown = true;
        }
    return grown;
}

/** Distances and angles are what gives a body its shape. Any other constraint of its particles stays: an expression may
 *  hold the body in space, and a dihedral or a centroid distance within it has to be checked. */
bool isReplaceable(const Constraint& c) {
    return c.kind == CoordinateKind::Distance || c.kind == CoordinateKind::Angle;
}

/** The replaceable constraints whose particles are all in a body. @return false if it does not meet one of them */
bool takeConstraints(const ConstraintSet& set, const std::vector<int>& candidates, const PlacedParticles& placed,
                     double tolerance, std::vector<int>& constraints) {
    for (int k : candidates) {
        const Constraint& c = set.constraints[k];
        Real3 r[3]; // of a distance or an angle
        bool isInside = true;
        for (int s = 0; s < c.size() && isInside; s++) {
            const int at = placed.find(c.particles[s]);
            isInside = at >= 0;
            if (isInside)
                r[s] = placed.points[at];
        }
        if (!isInside)
            continue;
        double q;
        if (c.kind == CoordinateKind::Distance) {
            q = std::sqrt(dot(r[0] - r[1], r[0] - r[1]));
        } else {
            const Real3 u = r[0] - r[1], v = r[2] - r[1], n = cross(u, v);
            q = std::atan2(std::sqrt(dot(n, n)), dot(u, v));
        }
        if (!(std::abs(q - c.target) <= tolerance * set.scale(c)))
            return false;
        constraints.push_back(k);
    }
    return true;
}

} // namespace

std::vector<RigidBody> findSingularBodies(const ConstraintSet& set, double tolerance,
                                          const std::vector<char>& mayReplace) {
    tolerance = std::max(tolerance, flatnessBound);
    const LengthGraph graph = makeLengthGraph(set, mayReplace, tolerance);
    if (graph.size() == 0)
        return {};
    const std::vector<PlacedNodes> lineNodes = findLines(graph, tolerance);
    std::vector<PlacedParticles> lines, plates;
    for (const PlacedNodes& line : lineNodes)
        lines.push_back(toParticles(graph, line));

    for (PlacedParticles& plate :
         findPlates(lines.empty() ? graph.core(3) : completeLines(graph, lineNodes).core(3), lines, tolerance))
        plates.push_back(std::move(plate));
    for (bool grown = true; grown && !plates.empty();) { // lines may hang on lines
        grown = false;
        for (PlacedParticles& plate : plates)
            for (const PlacedParticles& line : lines)
                grown = absorb(plate, line) || grown;
    }

    std::vector<PlacedParticles> placed = plates;
    std::vector<std::vector<int>> bodiesOf(set.numParticles()); // plates, then lines
    auto enlist = [&](int body) {
        for (int particle : placed[body].nodes)
            bodiesOf[particle].push_back(body);
    };
    for (int body = 0; body < (int) plates.size(); body++)
        enlist(body);
    for (const PlacedParticles& line : lines)
        if (!PlateFinder::contains(placed, bodiesOf, line.nodes)) {
            placed.push_back(line);
            enlist((int) placed.size() - 1);
        }
    std::vector<std::vector<int>> candidates(placed.size());
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if ((!mayReplace.empty() && !mayReplace[k]) || !isReplaceable(c))
            continue;
        const int rarest = *std::min_element(c.particles.begin(), c.particles.begin() + c.size(),
                                             [&](int p, int q) { return bodiesOf[p].size() < bodiesOf[q].size(); });
        for (int body : bodiesOf[rarest])
            candidates[body].push_back(k);
    }
    std::vector<RigidBody> bodies;
    for (std::size_t b = 0; b < placed.size(); b++) {
        const PlacedParticles& p = placed[b];
        std::vector<int> constraints;
        if (std::all_of(p.nodes.begin(), p.nodes.end(), [&](int i) { return set.inverseMass[i] == 0; }) ||
            !takeConstraints(set, candidates[b], p, tolerance, constraints))
            continue;
        std::set<std::pair<int, int>> given;
        for (int k : constraints)
            if (set.constraints[k].kind == CoordinateKind::Distance)
                given.insert(std::minmax(set.constraints[k].particles[0], set.constraints[k].particles[1]));
        BasePreference preference;
        preference.isShared = [&](int i) { return bodiesOf[p.nodes[i]].size() > 1; };
        preference.isKnown = [&](int i, int j) { return given.count(std::minmax(p.nodes[i], p.nodes[j])) > 0; };
        bodies.push_back(chooseBase(p.nodes, p.points, b < plates.size() ? 2 : 1, set.inverseMass, preference));
        bodies.back().constraints = constraints;
    }
    auto first = [](const RigidBody& body) {
        std::vector<int> particles = body.base;
        particles.insert(particles.end(), body.others.begin(), body.others.end());
        std::sort(particles.begin(), particles.end());
        return particles;
    };
    std::sort(bodies.begin(), bodies.end(),
              [&](const RigidBody& a, const RigidBody& b) { return first(a) < first(b); });
    return bodies;
}

} // namespace ConstraintPlugin
