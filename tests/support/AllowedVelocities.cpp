// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Dense.h"
#include "support/JoinedBodies.h"

namespace ConstraintTests {

int countedByVelocities(const Assembly& a, const Arrays& x) {
    // Each body has a velocity and an angular velocity, each atom without a body a velocity.
    std::vector<std::vector<int>> bodies = a.bodies;
    std::vector<char> isInBody(x.size());
    for (const auto& body : bodies)
        for (int p : body)
            isInBody[p] = 1;
    for (int p = 0; p < (int) x.size(); p++)
        if (!isInBody[p])
            bodies.push_back({p});
    const int columns = 6 * (int) bodies.size();
    const double unit = 0.1; // nm, so that both kinds of columns are of one size
    const auto add = [&](Matrix& rows, int row, int b, int p, const Real3& direction, double factor) {
        const Real3 turning = (1 / unit) * cross(x[p] - x[bodies[b][0]], direction);
        const double values[] = {direction.x, direction.y, direction.z, turning.x, turning.y, turning.z};
        for (int k = 0; k < 6; k++)
            rows(row, 6 * b + k) += factor * values[k];
    };
    const Real3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int unused = 0; // rotations that move no particle
    for (std::size_t b = 0; b < bodies.size(); b++) {
        Matrix motion = Matrix::Zero(3 * bodies[b].size(), columns);
        for (std::size_t s = 0; s < bodies[b].size(); s++)
            for (int axis = 0; axis < 3; axis++)
                add(motion, 3 * (int) s + axis, (int) b, bodies[b][s], axes[axis], 1);
        const Vector values = singularValues(motion);
        const int rank = (int) (values.array() > 1e-6 * values[0]).count();
        unused += 6 - rank;
    }
    std::vector<std::vector<int>> bodiesOf(x.size());
    for (std::size_t b = 0; b < bodies.size(); b++)
        for (int p : bodies[b])
            bodiesOf[p].push_back((int) b);
    Matrix rows = Matrix::Zero(3 * (int) (6 * x.size()) + (int) a.joins.size(), columns);
    int row = 0;
    for (int p = 0; p < (int) x.size(); p++)
        for (std::size_t k = a.masses[p] > 0 ? 1 : 0; k < bodiesOf[p].size(); k++)
            for (const Real3& axis : axes) {
                add(rows, row, bodiesOf[p][k], p, axis, 1);
                if (a.masses[p] > 0)
                    add(rows, row, bodiesOf[p][0], p, axis, -1);
                row++;
            }
    for (const Join& join : a.joins) {
        EXPECT_TRUE(join.kind == Join::Distance || join.kind == Join::SystemDistance);
        const int i = join.particles[0], j = join.particles[1];
        const Real3 r = x[i] - x[j], direction = (1 / std::sqrt(dot(r, r))) * r;
        add(rows, row, bodiesOf[i][0], i, direction, 1);
        add(rows, row, bodiesOf[j][0], j, direction, -1);
        row++;
    }
    const Vector values = singularValues(rows);
    return columns - unused - (int) (values.array() > 1e-7 * values[0]).count();
}

} // namespace ConstraintTests
