// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Jacobian.h"

namespace ConstraintPlugin {

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
        const int first = slotStart[row];
        Real3* b = &bond[first - row];
        const bool isLong = kind[row] == CoordinateKind::Distance && target[row] > box.halfWidth();
        const bool useImage = periodic[row] && !isLong;
        value[row] = forSize(row, [&](auto size) {
            for (int s = 0; s < size() - 1; s++) {
                b[s] = positions[particle[first + s]] - positions[particle[first + s + 1]];
                if (useImage)
                    b[s] = box.minimumImage(b[s]);
            }
            return evaluateAt<size()>(row, b, &start[first]);
        });
        if (bad < 0 && !std::isfinite(diagonal(row, start.data())))
            bad = row;
    }
    return bad;
}

} // namespace ConstraintPlugin
