// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of ConstraintSolver other than the stages: what clusters with joined bodies solve for, positions of
// particles and motions of bodies, as the nodes of the graph.
#include "ConstraintSolver.h"

namespace ConstraintPlugin {

void ConstraintSolver::findNodes() {
    isOnNodes.assign(graph->clusters.size(), 0);
    solvedParticles.clear();
    for (std::size_t c = 0; c < graph->clusters.size() && hasJoined(); c++) {
        const Cluster& cluster = graph->clusters[c];
        for (int row = cluster.begin; row < cluster.end; row++)
            isOnNodes[c] |= jacobian->isJoined(row);
        for (int s = jacobian->slotStart[cluster.begin]; isOnNodes[c] && s < jacobian->slotStart[cluster.end]; s++)
            if (jacobian->particle[s] < set.numParticles())
                solvedParticles.push_back(jacobian->particle[s]);
    }
    nodeParticles = solvedParticles;
    const auto addParticles = [&](const Jacobian& J, int row) {
        for (int s = J.slotStart[row]; J.isJoined(row) && s < J.slotStart[row + 1]; s++)
            if (J.particle[s] < set.numParticles())
                nodeParticles.push_back(J.particle[s]);
    };
    for (int row = graph->borderBegin(); row < graph->numRows(); row++)
        addParticles(*jacobian, row);
    for (int row = 0; row < (int) checked.size(); row++)
        addParticles(*checks, row);
    for (std::vector<int>* particles : {&solvedParticles, &nodeParticles}) {
        std::sort(particles->begin(), particles->end());
        particles->erase(std::unique(particles->begin(), particles->end()), particles->end());
    }
    nodes.assign(hasJoined() || checks->joinedRows() != nullptr ? set.numNodes() : 0, Real3());
}

void ConstraintSolver::gather(const Real3* x) {
    refreshNodes(x);
    for (const Jacobian* J : {jacobian.get(), checks.get()})
        if (J->joinedRows() != nullptr)
            J->joinedRows()->bodies.gather(x, nodes.data());
}

void ConstraintSolver::scatter(Real3* x) {
    for (int p : solvedParticles)
        x[p] = nodes[p];
    refreshNodes(x);
}

void ConstraintSolver::addImpulse(const Jacobian& J, int row, double scale, Real3* x) {
    for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
        (J.particle[s] < set.numParticles() ? x[J.particle[s]] : nodes[J.particle[s]]) +=
            (scale * J.inverseMass[s]) * J.start[s];
}

JoinedMotions ConstraintSolver::motions(const std::function<rigid::RigidMotion(int body)>& motionOf) const {
    JoinedMotions result;
    if (!hasJoined())
        return result;
    result.number.assign(set.bodies.size(), -1);
    for (int b : joinedBodies().getBodies()) {
        result.number[b] = (int) result.motions.size();
        result.motions.push_back({joinedBodies().frameOf(b), motionOf(b)});
    }
    return result;
}

void ConstraintSolver::setBodies(const Real3* positions, const Box& box, Real3* x) {
    if (set.bodies.empty())
        return;
    std::vector<Real3> unused;
    bodies.solveVelocities(positions, box, x, unused,
                           motions([&](int b) { return joinedBodies().velocityOf(b, nodes.data()); }));
}

} // namespace ConstraintPlugin
