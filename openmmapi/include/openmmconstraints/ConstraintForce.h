// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_H_

#include "openmm/Force.h"
#include <vector>

namespace ConstraintPlugin {

/** Holonomic constraints that one of this plugin's integrators solves, jointly with the System's own constraints.
 *
 *  The Force is a declaration: it has no energy and no force in getState(), and force groups never switch it off.
 *  Only a ConstraintIntegrator (RattleIntegrator, ShakeIntegrator, ...) can honour it; a Context with any other
 *  integrator is refused with an OpenMMException.
 *
 *  A massless particle may take part as a fixed anchor. Virtual sites may not. Duplicates of a constraint are
 *  accepted when they agree. Everything is validated when the Context is created.
 */
class ConstraintForce : public OpenMM::Force {
public:
    ConstraintForce() = default;
    /** Number of distance constraints. */
    int getNumDistances() const {
        return (int) distances.size();
    }
    /** Keep two particles at a fixed distance.
     *
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param distance   their distance (nm), positive
     *  @return the index of the constraint
     */
    int addDistance(int particle1, int particle2, double distance);
    /** Get the parameters of a distance constraint.
     *
     *  @param index           the index of the constraint
     *  @param[out] particle1  index of the first particle
     *  @param[out] particle2  index of the second particle
     *  @param[out] distance   their distance (nm)
     *  @throws OpenMMException if there is no such constraint
     */
    void getDistanceParameters(int index, int& particle1, int& particle2, double& distance) const;
    /** Set the parameters of a distance constraint. A Context takes notice when it is created or reinitialized.
     *
     *  @param index      the index of the constraint
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param distance   their distance (nm), positive
     *  @throws OpenMMException if there is no such constraint
     */
    void setDistanceParameters(int index, int particle1, int particle2, double distance);
    /** Whether constraints reach across periodic boundaries by the minimum image (default: false). */
    bool usesPeriodicBoundaryConditions() const override {
        return periodic;
    }
    /** Set whether constraints reach across periodic boundaries by the minimum image. If so, no length may exceed
     *  half the shortest width of the box.
     *
     *  @param yes  true to use the minimum image
     */
    void setUsesPeriodicBoundaryConditions(bool yes) {
        periodic = yes;
    }

protected:
    OpenMM::ForceImpl* createImpl() const override;

private:
    struct Distance {
        int particle1, particle2;
        double distance;
    };
    std::vector<Distance> distances;
    bool periodic = false;
};

} // namespace ConstraintPlugin

#endif
