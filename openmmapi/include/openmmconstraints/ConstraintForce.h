// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_H_

#include "openmm/Context.h"
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
    /** Set the parameters of a distance constraint. A Context takes notice when it is created, or by
     *  updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param distance   their distance (nm), positive
     *  @throws OpenMMException if there is no such constraint
     */
    void setDistanceParameters(int index, int particle1, int particle2, double distance);
    /** Number of angle constraints. */
    int getNumAngles() const {
        return (int) angles.size();
    }
    /** Keep the angle at the second of three particles fixed. The bonds stay free, unless they are constrained too.
     *
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle, the vertex
     *  @param particle3  index of the third particle
     *  @param angle      their angle (rad), between 0 and pi, both excluded
     *  @return the index of the constraint
     */
    int addAngle(int particle1, int particle2, int particle3, double angle);
    /** Get the parameters of an angle constraint.
     *
     *  @param index           the index of the constraint
     *  @param[out] particle1  index of the first particle
     *  @param[out] particle2  index of the second particle, the vertex
     *  @param[out] particle3  index of the third particle
     *  @param[out] angle      their angle (rad), between 0 and pi, both excluded
     *  @throws OpenMMException if there is no such constraint
     */
    void getAngleParameters(int index, int& particle1, int& particle2, int& particle3, double& angle) const;
    /** Set the parameters of an angle constraint. A Context takes notice when it is created, or by
     *  updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle, the vertex
     *  @param particle3  index of the third particle
     *  @param angle      their angle (rad), between 0 and pi, both excluded
     *  @throws OpenMMException if there is no such constraint
     */
    void setAngleParameters(int index, int particle1, int particle2, int particle3, double angle);
    /** Number of dihedral constraints. */
    int getNumDihedrals() const {
        return (int) dihedrals.size();
    }
    /** Keep the dihedral of four particles about the axis of the middle two fixed, with the sign of
     * PeriodicTorsionForce.
     *
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param particle3  index of the third particle
     *  @param particle4  index of the fourth particle
     *  @param angle      their dihedral (rad); any multiple of 2 pi may be added
     *  @return the index of the constraint
     */
    int addDihedral(int particle1, int particle2, int particle3, int particle4, double angle);
    /** Get the parameters of a dihedral constraint.
     *
     *  @param index           the index of the constraint
     *  @param[out] particle1  index of the first particle
     *  @param[out] particle2  index of the second particle
     *  @param[out] particle3  index of the third particle
     *  @param[out] particle4  index of the fourth particle
     *  @param[out] angle      their dihedral (rad); any multiple of 2 pi may be added
     *  @throws OpenMMException if there is no such constraint
     */
    void getDihedralParameters(int index, int& particle1, int& particle2, int& particle3, int& particle4,
                               double& angle) const;
    /** Set the parameters of a dihedral constraint. A Context takes notice when it is created, or by
     *  updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param particle3  index of the third particle
     *  @param particle4  index of the fourth particle
     *  @param angle      their dihedral (rad); any multiple of 2 pi may be added
     *  @throws OpenMMException if there is no such constraint
     */
    void setDihedralParameters(int index, int particle1, int particle2, int particle3, int particle4, double angle);
    /** Take the present distances, angles and dihedrals over into a Context. Their particles may not change, nor their
     *  number. Positions that do not fit them are projected at the next step.
     *
     *  @param context  a Context of the System that this Force belongs to
     *  @throws OpenMMException if particles or numbers changed, or a value is not allowed; the Context then keeps the
     * old
     */
    void updateParametersInContext(OpenMM::Context& context);
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
    struct Angle {
        int particle1, particle2, particle3;
        double angle;
    };
    struct Dihedral {
        int particle1, particle2, particle3, particle4;
        double angle;
    };
    std::vector<Distance> distances;
    std::vector<Angle> angles;
    std::vector<Dihedral> dihedrals;
    bool periodic = false;
};

} // namespace ConstraintPlugin

#endif
