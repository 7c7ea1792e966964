// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Jacobian.h"
#include "coordinates.h"

namespace ConstraintPlugin {

namespace {

/** From G = dq/db of the bond vectors to gradients of the particles: grad_s q = G_s - G_(s-1). */
void scatterToParticles(int size, const Real3* G, Real3* gradient) {
    gradient[0] = G[0];
    for (int s = 1; s < size - 1; s++)
        gradient[s] = G[s] - G[s - 1];
    gradient[size - 1] = -G[size - 2];
}

} // namespace

Jacobian::Jacobian(const ConstraintSet& set, const std::vector<int>& rows) {
    slotStart.push_back(0);
    for (int k : rows) {
        const Constraint& c = set.constraints[k];
        for (int s = 0; s < c.size(); s++) {
            particle.push_back(c.particles[s]);
            inverseMass.push_back(set.inverseMass[c.particles[s]]);
        }
        slotStart.push_back((int) particle.size());
        target.push_back(c.target);
        inverseScale.push_back(1 / c.scale());
        kind.push_back(c.kind);
        periodic.push_back(c.periodic);
    }
    start.resize(particle.size());
    current.resize(particle.size());
    value.resize(rows.size());
    bond.resize(particle.size() - rows.size());
}

int Jacobian::setStart(const Real3* positions, const Box& box) {
    int bad = -1;
    for (int row = 0; row < numRows(); row++) {
        const int first = slotStart[row], size = slotStart[row + 1] - first;
        Real3* b = &bond[first - row];
        const bool useImage = periodic[row] && target[row] <= box.halfWidth();
        for (int s = 0; s < size - 1; s++) {
            b[s] = positions[particle[first + s]] - positions[particle[first + s + 1]];
            if (useImage)
                b[s] = box.minimumImage(b[s]);
        }
        Real3 G[maxParticlesPerConstraint - 1];
        value[row] = coordinate(kind[row], b, G);
        scatterToParticles(size, G, &start[first]);
        if (bad < 0 && !std::isfinite(startDiagonal(row)))
            bad = row;
    }
    return bad;
}

double Jacobian::evaluate(int row, const Real3* displacement) {
    const int first = slotStart[row], size = slotStart[row + 1] - first;
    const Real3* startBond = &bond[first - row];
    Real3 b[maxParticlesPerConstraint - 1], G[maxParticlesPerConstraint - 1];
    for (int s = 0; s < size - 1; s++)
        b[s] = startBond[s] + (displacement[particle[first + s]] - displacement[particle[first + s + 1]]);
    const double q = coordinate(kind[row], b, G);
    scatterToParticles(size, G, &current[first]);
    return q;
}

double Jacobian::rate(int row, const Real3* velocity) const {
    double rate = 0;
    for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
        rate += dot(start[s], velocity[particle[s]]);
    return rate;
}

double Jacobian::diagonal(int row) const {
    double sum = 0;
    for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
        sum += inverseMass[s] * dot(current[s], start[s]);
    return sum;
}

double Jacobian::startDiagonal(int row) const {
    double sum = 0;
    for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
        sum += inverseMass[s] * dot(start[s], start[s]);
    return sum;
}

void Jacobian::addImpulse(int row, double scale, Real3* x) const {
    for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
        x[particle[s]] += (scale * inverseMass[s]) * start[s];
}

} // namespace ConstraintPlugin
