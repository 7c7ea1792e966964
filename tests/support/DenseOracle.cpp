// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/DenseOracle.h"
#include "support/Dense.h"
#include <stdexcept>

namespace ConstraintTests {

namespace {

Vector flatten(const Arrays& x) {
    Vector flat(3 * x.size());
    for (std::size_t i = 0; i < x.size(); i++)
        flat.segment<3>(3 * i) << x[i].x, x[i].y, x[i].z;
    return flat;
}

Arrays unflatten(const Vector& flat) {
    Arrays x(flat.size() / 3);
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = {flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]};
    return x;
}

/** Bond vectors at the start, with the minimum image; sigma and its Jacobian after a displacement from there. */
class Dense {
public:
    Dense(const ConstraintSet& set, const Box& box, const Arrays& start) : set(set) {
        const Verifier verifier(set, box, start);
        for (int k = 0; k < (int) set.constraints.size(); k++) {
            const Real3 b = verifier.bond(k, start);
            bonds.push_back({b.x, b.y, b.z});
        }
        inverseMass = Vector::Zero(3 * set.numParticles());
        for (int i = 0; i < set.numParticles(); i++)
            inverseMass.segment<3>(3 * i).setConstant(set.inverseMass[i]);
    }
    Eigen::Vector3d bond(int k, const Vector& displacement) const {
        const auto& c = set.constraints[k];
        return bonds[k] + displacement.segment<3>(3 * c.particles[0]) - displacement.segment<3>(3 * c.particles[1]);
    }
    Vector sigma(const Vector& displacement) const {
        Vector s(bonds.size());
        for (int k = 0; k < s.size(); k++)
            s[k] = bond(k, displacement).norm() - set.constraints[k].target;
        return s;
    }
    Matrix jacobian(const Vector& displacement) const {
        Matrix J = Matrix::Zero(bonds.size(), inverseMass.size());
        for (int k = 0; k < J.rows(); k++) {
            const Eigen::Vector3d unit = bond(k, displacement).normalized();
            J.block<1, 3>(k, 3 * set.constraints[k].particles[0]) = unit.transpose();
            J.block<1, 3>(k, 3 * set.constraints[k].particles[1]) = -unit.transpose();
        }
        return J;
    }
    Vector inverseMass;

private:
    const ConstraintSet& set;
    std::vector<Eigen::Vector3d> bonds;
};

OracleSolution toSolution(const Vector& x, const Vector& multiplier) {
    return {unflatten(x), std::vector<double>(multiplier.data(), multiplier.data() + multiplier.size())};
}

} // namespace

OracleSolution denseSolvePositions(const ConstraintSet& set, const Box& box, const Arrays& start, const Arrays& delta) {
    if (set.constraints.empty())
        return {delta, {}};
    const Dense dense(set, box, start);
    const Vector unconstrained = flatten(delta);
    // M^-1 J(0)^T: the displacement by a unit of each multiplier.
    const Matrix response = dense.inverseMass.asDiagonal() * dense.jacobian(0 * unconstrained).transpose();
    Vector lambda = Vector::Zero(response.cols());
    for (int iteration = 0; iteration < 50; iteration++) {
        const Vector x = unconstrained + apply(response, lambda), sigma = dense.sigma(x);
        double error = 0;
        for (int k = 0; k < sigma.size(); k++)
            error = std::max(error, std::abs(sigma[k]) / set.constraints[k].target);
        if (error < 1e-14)
            return toSolution(x, lambda);
        lambda -= leastSquares(product(dense.jacobian(x), response), sigma);
    }
    throw std::runtime_error("the dense oracle did not converge");
}

OracleSolution denseSolveVelocities(const ConstraintSet& set, const Box& box, const Arrays& start,
                                    const Arrays& velocity) {
    if (set.constraints.empty())
        return {velocity, {}};
    const Dense dense(set, box, start);
    const Vector v = flatten(velocity);
    const Matrix J = dense.jacobian(0 * v);
    const Matrix response = dense.inverseMass.asDiagonal() * J.transpose();
    const Vector mu = -leastSquares(product(J, response), apply(J, v));
    return toSolution(v + apply(response, mu), mu);
}

} // namespace ConstraintTests
