// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JoinedRows.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

std::vector<int> firstNumbers(std::size_t count) {
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

} // namespace

/** The same constraints, each with particles of its own. */
ConstraintSet JoinedRows::onOwnParticles(const ConstraintSet& set, const std::vector<int>& rows) {
    ConstraintSet own;
    for (int k : rows) {
        Constraint c = set.constraints[k];
        c.nodes.clear();
        c.joint = {-1, -1};
        if (c.kind == CoordinateKind::AffinePosition) {
            own.affine.push_back(set.affine[c.form]);
            c.form = (int) own.affine.size() - 1;
        }
        if (c.kind == CoordinateKind::Custom) {
            own.custom.push_back(set.custom[c.form]);
            c.form = (int) own.custom.size() - 1;
            const auto first = set.parameters.begin() + c.firstParameter;
            c.firstParameter = (int) own.parameters.size();
            own.parameters.insert(own.parameters.end(), first,
                                  first + (std::ptrdiff_t) own.custom.back()->numParameters());
        }
        for (int& p : c.particles) {
            own.inverseMass.push_back(set.inverseMass[p]);
            p = (int) own.inverseMass.size() - 1;
        }
        own.constraints.push_back(std::move(c));
    }
    return own;
}

JoinedRows::JoinedRows(const ConstraintSet& set, const std::vector<int>& rows)
    : onParticles(onOwnParticles(set, rows), firstNumbers(rows.size())), bodies(set, rows), set(set), constraint(rows) {
    for (int k : rows) {
        const Constraint& c = set.constraints[k];
        for (int s = 0; s < c.size(); s++) {
            const ConstraintSet::Place of = set.placeOf(c, s);
            const int node = of.body < 0 ? c.particles[s] : set.originNodeOf(of.body);
            const auto found = std::find(c.nodes.begin(), c.nodes.end(), node);
            parts.push_back({c.particles[s], of, (int) (found - c.nodes.begin())});
        }
    }
    field.resize(parts.size());
}

void JoinedRows::setStart(const Real3* positions, const Box& box, double time) {
    bodies.setStart(positions, box);
    for (std::size_t s = 0; s < parts.size(); s++) {
        field[s] = positions[parts[s].particle];
        if (parts[s].of.body >= 0)
            field[s] += bodies.wayToPlace(parts[s].of, positions, box);
    }
    for (int row = 0; row < onParticles.numRows(); row++)
        if (const Constraint& c = set.constraints[constraint[row]];
            c.joint[0] >= 0 && set.bodies[c.joint[0]].constants.rotations > 0)
            onParticles.setDirection(row, rigid::alongAxes(bodies.axesOf(c.joint[0]), set.affine[c.form].axis));
    onParticles.setStart(field.data(), box, time);
}

double JoinedRows::evaluate(int row, const Real3* nodes, Real3* gradient) {
    for (int s = onParticles.slotStart[row]; s < onParticles.slotStart[row + 1]; s++) {
        const Part& part = parts[s];
        field[s] = part.of.body < 0
                       ? nodes[part.particle]
                       : rigid::motionOf(bodies.displaced(part.of.body, nodes).motion, bodies.shapeOf(part.of));
    }
    const double q = onParticles.evaluate(row, field.data());
    fold(row, onParticles.current.data(), nodes, gradient);
    return q;
}

void JoinedRows::fold(int row, const Real3* gradients, const Real3* nodes, Real3* folded) const {
    const std::vector<int>& of = set.constraints[constraint[row]].nodes;
    std::fill(folded, folded + of.size(), Real3());
    const auto rotationOf = [&](int body) { return nodes == nullptr ? Real3() : bodies.rotationOf(body); };
    for (int s = onParticles.slotStart[row]; s < onParticles.slotStart[row + 1]; s++) {
        const Part& part = parts[s];
        const Real3& G = gradients[s];
        folded[part.node] += G;
        if (part.of.body < 0)
            continue;
        folded[part.node + 1] += cross(rigid::rotated(rotationOf(part.of.body), bodies.shapeOf(part.of)),
                                       rigid::componentsOf(bodies.axesOf(part.of.body), G)); // a torque so far
    }
    for (std::size_t n = 0; n < of.size(); n++)
        if (const int body = (of[n] - set.numParticles()) / 2;
            of[n] >= set.numParticles() && of[n] == set.turnNodeOf(body))
            folded[n] = rigid::turnGradient(set.bodies[body].constants, rotationOf(body), folded[n]);
}

double JoinedRows::curvature(int row, const Real3* nodes, double scale) const {
    double centripetal = 0;
    for (int s = onParticles.slotStart[row]; s < onParticles.slotStart[row + 1]; s++) {
        const Part& part = parts[s];
        const int body = part.of.body;
        if (body < 0) {
            field[s] = nodes[part.particle];
            continue;
        }
        const Real3& shape = bodies.shapeOf(part.of);
        field[s] = rigid::motionOf(bodies.velocityOf(body, nodes), shape);
        const Real3 w = bodies.angularVelocityOf(body, nodes),
                    a = rigid::alongAxes(bodies.axesOf(body), cross(w, cross(w, shape)));
        centripetal += dot(onParticles.start[s], a);
    }
    return onParticles.curvature(row, field.data(), scale) + scale * scale * centripetal;
}

} // namespace ConstraintPlugin
