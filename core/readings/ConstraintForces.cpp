// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForces.h"
#include "BodyFit.h"
#include "JoinedRows.h"
#include "SymmetricEigen.h"

namespace ConstraintPlugin {

namespace {

/** Complete the forces of a body, of particles with mass so far, by those of its anchors: together they have neither
 *  resultant nor torque. Of two or more anchors many forces do; these are the smallest, a + b x (x_j - x_mean).
 *  @param x  positions of its particles */
void addReactions(const RigidBody& body, const std::vector<Real3>& x, std::vector<Real3>& forces) {
    const int n = body.size() - body.numMassive;
    if (n == 0)
        return;
    Real3 mean, resultant, torque;
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] == 0)
            mean += (1.0 / n) * x[i];
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0) {
            resultant += forces[i];
            torque += cross(x[i] - mean, forces[i]);
        }
    std::vector<double> S(9); // sum_j (|d_j|^2 - d_j d_j^T), d_j = x_j - x_mean
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] == 0) {
            const Real3 d = x[i] - mean;
            const double r[3] = {d.x, d.y, d.z};
            for (int k = 0; k < 9; k++)
                S[k] += (k % 4 == 0 ? dot(d, d) : 0) - r[k / 3] * r[k % 3];
        }
    const SymmetricEigen axes = solveSymmetricEigen(3, S);
    Real3 b;
    for (int k = 0; k < 3; k++)
        if (axes.values[k] > 1e-8 * axes.values[2]) { // 0 about a line of anchors
            const Real3 axis{axes.vectors[k][0], axes.vectors[k][1], axes.vectors[k][2]};
            b += (-dot(axis, torque) / axes.values[k]) * axis;
        }
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] == 0)
            forces[i] = (-1.0 / n) * resultant + cross(b, x[i] - mean);
}

/** Take out what would move a body with its particles at x: an integrator with several position stages adds up impulses
 *  that were balanced each at other positions. */
void balance(const RigidBody& body, const std::vector<Real3>& x, const BodyFit& fit, std::vector<Real3>& forces) {
    Real3 resultant, torque;
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0) {
            resultant += forces[i];
            torque += cross(x[i] - fit.origin, forces[i]);
        }
    const rigid::BodyConstants& c = body.constants;
    const rigid::BodyAxes& e = fit.axes;
    const Real3 A = c.inverseMass * resultant, alpha = rigid::alongAxes(e, {c.inverseInertia.x * dot(e.e1, torque),
                                                                            c.inverseInertia.y * dot(e.e2, torque),
                                                                            c.inverseInertia.z * dot(e.e3, torque)});
    for (int i = 0; i < body.size(); i++)
        forces[i] += (-body.mass[i]) * (A + cross(alpha, x[i] - fit.origin));
}

/** Take the forces of constraints that join bodies out of the forces on their particles: what is left, the bodies exert
 *  themselves.
 *  @param[in,out] ofBodies  [particles of all bodies in turn] */
void subtractJoining(const ConstraintSet& set, const Jacobian& J, const std::vector<int>& constraints,
                     const std::vector<double>& multipliers, std::vector<Real3>& ofBodies) {
    const JoinedRows* const joined = J.joinedRows();
    if (joined == nullptr)
        return;
    std::vector<int> first; // place of each body
    int next = 0;
    for (const RigidBody& body : set.bodies) {
        first.push_back(next);
        next += body.size();
    }
    for (int row = 0; row < J.numRows(); row++)
        if (J.isJoined(row))
            joined->forEachGradient(
                J.joinedNumber(row), [&](int, const ConstraintSet::Place& of, const Real3& gradient) {
                    if (of.body >= 0)
                        ofBodies[first[of.body] + of.place] += (-multipliers[constraints[row]]) * gradient;
                });
}

/** Constraints with a multiplier. */
std::vector<int> findActing(const ForceMultipliers& multipliers) {
    std::vector<int> acting;
    for (int k = 0; k < (int) multipliers.values.size(); k++)
        if (multipliers.values[k] != 0)
            acting.push_back(k);
    return acting;
}

/** Positions of a body's particles, relative to its reference. */
std::vector<Real3> placesOf(const RigidBody& body, const Real3* positions, const Box& box) {
    std::vector<Real3> x;
    for (int i = 0; i < body.size(); i++)
        x.push_back(fromReference(body, i, positions, box));
    return x;
}

/** @param J  of the constraints that act */
std::vector<Real3> computeForcesOfBodies(const ConstraintSet& set, const ForceMultipliers& multipliers,
                                         const std::vector<int>& acting, const Jacobian& J, const Real3* positions,
                                         const Box& box) {
    std::vector<Real3> ofBodies = multipliers.ofBodies;
    if (ofBodies.empty()) // there was no step
        return ofBodies;
    subtractJoining(set, J, acting, multipliers.values, ofBodies);
    std::vector<char> isRecognized(set.bodies.size());
    for (const RecognizedBody& recognized : set.recognized)
        isRecognized[recognized.body] = 1;
    auto first = ofBodies.begin();
    for (const RigidBody& body : set.bodies) {
        std::vector<Real3> forces(first, first + body.size());
        const std::vector<Real3> x = placesOf(body, positions, box);
        if (isRecognized[&body - set.bodies.data()]) // the forces are those of multipliers
            balance(body, x, fitBody(body, positions, box), forces);
        addReactions(body, x, forces);
        std::copy(forces.begin(), forces.end(), first);
        first += body.size();
    }
    return ofBodies;
}

} // namespace

std::vector<Real3> computeForcesOfBodies(const ConstraintSet& set, const ForceMultipliers& multipliers,
                                         const Real3* positions, const Box& box, double time) {
    const std::vector<int> acting = findActing(multipliers);
    Jacobian J(set, acting);
    J.setStart(positions, box, time);
    return computeForcesOfBodies(set, multipliers, acting, J, positions, box);
}

ConstraintForces computeConstraintForces(const ConstraintSet& set, const ForceMultipliers& multipliers,
                                         const Real3* positions, const Box& box, double time) {
    ConstraintForces result;
    result.forces.resize(set.numParticles());
    const std::vector<int> acting = findActing(multipliers);
    Jacobian J(set, acting);
    J.setStart(positions, box, time);
    for (int row = 0; row < J.numRows(); row++) {
        const double lambda = multipliers.values[acting[row]];
        J.addForce(row, lambda, result.forces.data());
        J.addVirial(row, lambda, result.virial.data());
    }
    const std::vector<Real3> ofBodies = computeForcesOfBodies(set, multipliers, acting, J, positions, box);
    if (ofBodies.empty())
        return result;
    auto force = ofBodies.begin();
    for (const RigidBody& body : set.bodies) {
        const std::vector<Real3> x = placesOf(body, positions, box);
        for (int i = 0; i < body.size(); i++) {
            const Real3& F = *force++;
            result.forces[body.particles[i]] += F;
            const double r[3] = {x[i].x, x[i].y, x[i].z}, f[3] = {F.x, F.y, F.z};
            for (int k = 0; k < 9; k++)
                result.virial[k] += r[k / 3] * f[k % 3];
        }
    }
    return result;
}

} // namespace ConstraintPlugin
