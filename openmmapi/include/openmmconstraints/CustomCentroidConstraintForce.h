// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUSTOM_CENTROID_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_CUSTOM_CENTROID_CONSTRAINT_FORCE_H_

#include "ExpressionConstraintForce.h"

namespace ConstraintPlugin {

/** Constraints sigma = 0 given by an algebraic expression of the centroids of groups of particles, as
 *  CustomCentroidBondForce has energies: "z1-z2-h" keeps a molecule at a height above a membrane, "angle(g1,g2,g3)-a"
 *  an angle of three domains. The integrators of this plugin solve them together with all other constraints.
 *
 *  First define groups by addGroup(), then constraints of getNumGroupsPerConstraint() of them each. The centroid of a
 *  group is sum_i w_i r_i / sum_i w_i, of the positions that getState() returns, which are not wrapped into a periodic
 *  box. The weights w_i are the masses unless they are given. Groups may share particles, and particles may have other
 * constraints or be in rigid bodies.
 *
 *  The expression is sigma itself, as in CustomConstraintForce, which describes parameters, the time t, tables and
 *  functions. It may depend on
 *
 *  - x1, y1, z1, x2, ...: coordinates of the centroids of a constraint's groups g1, g2, ... (nm). They never take the
 *    minimum image: "z1-z2-h" is the difference of unwrapped centroids.
 *  - distance(g1, g2) (nm), angle(g1, g2, g3) (rad, g2 is the vertex), dihedral(g1, g2, g3, g4) (rad, from -pi to pi)
 *    of centroids, and pointdistance(), pointangle(), pointdihedral() of any points. They take the minimum image after
 *    setUsesPeriodicBoundaryConditions(True).
 *
 *  A constraint counts as satisfied if |sigma| / sqrt(sum over its particles of |grad sigma|^2) / sqrt(N) is within the
 *  integrator's constraint tolerance (nm), where N = (sum_i w_i)^2 / sum_i w_i^2 is the effective number of particles
 * of that of its groups where it is smallest: about the distance by which this centroid alone would have to move.
 *
 *  The multiplier lambda of a constraint is in kJ/mol per unit of sigma: the force on the centroid of group k is
 *  lambda * grad_k sigma, and each of its particles has the part w_i / sum w of it.
 *
 *  Particles of a group do not count as bonded: a barostat scales the molecules of a group each by itself, and accepts
 *  the move before the next step projects the groups back. An expression that is fixed in space ("z1-h") cannot be
 *  combined with a CMMotionRemover, nor with a barostat that scales that axis.
 *
 *  A massless particle with a given weight counts in its centroid and does not move; one weighted by its mass does not
 *  count, and nor does a virtual site, which may not have a weight other than zero.
 *  Creating a Context throws if a group is empty, has a particle twice or a virtual site with a weight, if the weights
 *  of a group sum to zero, or if a constraint has a group twice or one that does not exist.
 */
class CustomCentroidConstraintForce : public ExpressionConstraintForce {
public:
    /** Create a CustomCentroidConstraintForce.
     *
     *  @param numGroups   number of groups of every constraint, at least one
     *  @param expression  sigma, as a function of the positions of centroids, time and parameters
     *  @throws OpenMMException if numGroups is not positive
     */
    CustomCentroidConstraintForce(int numGroups, const std::string& expression)
        : ExpressionConstraintForce("CustomCentroidConstraintForce", {numGroups, "group", "g"}, expression) {
    }
    /** Number of groups of every constraint. */
    int getNumGroupsPerConstraint() const {
        return getPoints().number;
    }
    /** Number of groups that are defined. */
    int getNumGroups() const {
        return (int) groups.size();
    }
    /** Define a group of particles.
     *
     *  @param particles  indices of its particles, each once
     *  @param weights    [particles] their weights in the centroid, of any scale; empty: their masses
     *  @return the index of the group
     *  @throws OpenMMException if there is another number of weights, but not none
     */
    int addGroup(const std::vector<int>& particles, const std::vector<double>& weights = std::vector<double>());
    /** Get the particles and weights of a group.
     *
     *  @param index           the index of the group
     *  @param[out] particles  indices of its particles
     *  @param[out] weights    [particles] their weights as they were given; empty: their masses
     *  @throws OpenMMException if there is no such group
     */
    void getGroupParameters(int index, std::vector<int>& particles, std::vector<double>& weights) const;
    /** Set the particles and weights of a group. It takes effect when a Context is created; updateParametersInContext()
     *  throws if groups have changed.
     *
     *  @param index      the index of the group
     *  @param particles  indices of its particles, each once
     *  @param weights    [particles] their weights in the centroid, of any scale; empty: their masses
     *  @throws OpenMMException if there is no such group, or another number of weights, but not none
     */
    void setGroupParameters(int index, const std::vector<int>& particles,
                            const std::vector<double>& weights = std::vector<double>());
    /** Add a constraint.
     *
     *  @param groups      [getNumGroupsPerConstraint()] indices of the groups g1, g2, ..., each once
     *  @param parameters  [getNumPerConstraintParameters()] values of the per-constraint parameters
     *  @return the index of the constraint
     *  @throws OpenMMException if one of the two has another length
     */
    int addConstraint(const std::vector<int>& groups, const std::vector<double>& parameters = std::vector<double>()) {
        return addPoints(groups, parameters);
    }
    /** Get the groups and parameters of a constraint.
     *
     *  @param index            the index of the constraint
     *  @param[out] groups      indices of the groups g1, g2, ...
     *  @param[out] parameters  values of the per-constraint parameters
     *  @throws OpenMMException if there is no such constraint
     */
    void getConstraintParameters(int index, std::vector<int>& groups, std::vector<double>& parameters) const {
        groups = getConstraint(index).points;
        parameters = getConstraint(index).parameters;
    }
    /** Set the groups and parameters of a constraint. It takes effect when a Context is created, or by
     *  updateParametersInContext().
     *
     *  @param index       the index of the constraint
     *  @param groups      [getNumGroupsPerConstraint()] indices of the groups g1, g2, ..., each once
     *  @param parameters  [getNumPerConstraintParameters()] values of the per-constraint parameters
     *  @throws OpenMMException if there is no such constraint, or an argument has another length
     */
    void setConstraintParameters(int index, const std::vector<int>& groups,
                                 const std::vector<double>& parameters = std::vector<double>()) {
        setPoints(index, groups, parameters);
    }

private:
    struct Group {
        std::vector<int> particles;
        std::vector<double> weights; // empty: masses
    };
    std::vector<Group> groups;
};

} // namespace ConstraintPlugin

#endif
