// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_H_

#include "SolverSummary.h"
#include "openmm/Context.h"
#include "openmm/Force.h"
#include "openmm/Vec3.h"
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ConstraintPlugin {

/** Holonomic constraints that one of this plugin's integrators solves together with the System's own constraints.
 *
 *  The Force only declares constraints: it contributes no energy and no force to getState(), and force groups do not
 *  disable it. A ConstraintIntegrator (RattleIntegrator, ShakeIntegrator, ...) solves them, and with
 *  setReplacesSolver() any integrator but RPMDIntegrator. Otherwise creating a Context with another integrator throws
 *  an OpenMMException if the Force has a constraint. With a VerletIntegrator its first step throws, because OpenMM's
 *  minimizer makes a Context with one on GPUs.
 *
 *  A massless particle may be constrained; it is an anchor, which does not move. Virtual sites may not be constrained,
 *  except in the groups of a centroid distance, where they have no mass and no effect. Duplicates of a constraint
 *  are accepted if they agree, with a warning (setWarningHandler()). Creating a Context checks all constraints.
 */
class ConstraintForce : public OpenMM::Force {
public:
    ConstraintForce() = default;
    /** Number of Context parameters. */
    int getNumGlobalParameters() const {
        return (int) globalParameters.size();
    }
    /** Add a parameter of the Context, with which constraints may interpolate (setDistanceInterpolation(), ...).
     *  Context.setParameter() changes it at any time, and the next step or applyConstraints() moves the particles.
     *  Until then, energies and forces throw.
     *
     *  @param name          its name in the Context
     *  @param defaultValue  its value in a new Context
     *  @return the index of the parameter
     *  @throws OpenMMException if the Force has a parameter of this name, or the name is empty
     */
    int addGlobalParameter(const std::string& name, double defaultValue);
    /** Get the name of a Context parameter.
     *
     *  @param index  the index of the parameter
     *  @return its name in the Context
     *  @throws OpenMMException if there is no such parameter
     */
    const std::string& getGlobalParameterName(int index) const;
    /** Set the name of a Context parameter. What interpolates with it still does.
     *
     *  @param index  the index of the parameter
     *  @param name   its name in the Context
     *  @throws OpenMMException if there is no such parameter, another one has this name, or the name is empty
     */
    void setGlobalParameterName(int index, const std::string& name);
    /** Get the default value of a Context parameter.
     *
     *  @param index  the index of the parameter
     *  @return its value in a new Context
     *  @throws OpenMMException if there is no such parameter
     */
    double getGlobalParameterDefaultValue(int index) const;
    /** Set the default value of a Context parameter.
     *
     *  @param index         the index of the parameter
     *  @param defaultValue  its value in a new Context
     *  @throws OpenMMException if there is no such parameter
     */
    void setGlobalParameterDefaultValue(int index, double defaultValue);
    /** Number of distance constraints. */
    int getNumDistances() const {
        return (int) distances.size();
    }
    /** Keep two particles at a fixed distance.
     *
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param distance   their distance (nm), positive
     *  @param rate       how fast it changes (nm/ps): at the Context's time t it is
     *                    distance + rate * (t - startTime)
     *  @param startTime  time at which it has the given value (ps): context.getTime() for one added to a run
     *  @return the index of the constraint
     */
    int addDistance(int particle1, int particle2, double distance, double rate = 0, double startTime = 0);
    /** Get the parameters of a distance constraint.
     *
     *  @param index           the index of the constraint
     *  @param[out] particle1  index of the first particle
     *  @param[out] particle2  index of the second particle
     *  @param[out] distance   their distance (nm)
     *  @throws OpenMMException if there is no such constraint
     */
    void getDistanceParameters(int index, int& particle1, int& particle2, double& distance) const;
    /** Set the parameters of a distance constraint. It takes effect when a Context is created, or by
     *  updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle
     *  @param distance   their distance (nm), positive
     *  @throws OpenMMException if there is no such constraint
     */
    void setDistanceParameters(int index, int particle1, int particle2, double distance);
    /** How fast a distance changes.
     *
     *  @param index  the index of the constraint
     *  @return its rate (nm/ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getDistanceRate(int index) const;
    /** Time at which a moving distance has the given value.
     *
     *  @param index  the index of the constraint
     *  @return its start time (ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getDistanceStartTime(int index) const;
    /** Let a distance change in time: at the Context's time t it is distance + rate * (t - startTime). It takes
     *  effect when a Context is created, or by updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param rate       nm/ps
     *  @param startTime  time at which it has the given value (ps): context.getTime() if it begins to move during a run
     *  @throws OpenMMException if there is no such constraint
     */
    void setDistanceRate(int index, double rate, double startTime = 0);
    /** The Context parameter that interpolates a distance.
     *
     *  @param index           the index of the constraint
     *  @param[out] parameter  its name; "" if there is none
     *  @param[out] distance1  the value where the parameter is 1 (nm); 0 if there is none
     *  @throws OpenMMException if there is no such constraint
     */
    void getDistanceInterpolation(int index, std::string& parameter, double& distance1) const;
    /** Let a distance depend on a Context parameter p: it is distance + p * (distance1 - distance), plus the change by
     * its rate. Numbers are taken as they are given. It takes effect when a Context is created, or by
     *  updateParametersInContext(). ConstraintIntegrator::computeParameterDerivatives() returns the derivative of the
     *  free energy.
     *
     *  @param index      the index of the constraint
     *  @param parameter  the name of a parameter that addGlobalParameter() has added; "" for none
     *  @param distance1 the value where p is 1 (nm). At the present p the length has to be positive,
     *                   and with periodic boundary conditions at most half the shortest width of the box
     *  @throws OpenMMException if there is no such constraint or parameter
     */
    void setDistanceInterpolation(int index, const std::string& parameter, double distance1);
    /** Number of angle constraints. */
    int getNumAngles() const {
        return (int) angles.size();
    }
    /** Keep the angle at the second of three particles fixed. The bonds stay free, unless they are constrained too.
     *
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle, the vertex
     *  @param particle3  index of the third particle
     *  @param angle      their angle (rad), greater than 0, up to pi: an angle of pi keeps the vertex on the line
     *                    between the others, which takes two degrees of freedom
     *  @param rate       how fast it changes (rad/ps): at the Context's time t it is
     *                    angle + rate * (t - startTime)
     *  @param startTime  time at which it has the given value (ps): context.getTime() for one added to a run
     *  @return the index of the constraint
     */
    int addAngle(int particle1, int particle2, int particle3, double angle, double rate = 0, double startTime = 0);
    /** Get the parameters of an angle constraint.
     *
     *  @param index           the index of the constraint
     *  @param[out] particle1  index of the first particle
     *  @param[out] particle2  index of the second particle, the vertex
     *  @param[out] particle3  index of the third particle
     *  @param[out] angle      their angle (rad), greater than 0, up to pi
     *  @throws OpenMMException if there is no such constraint
     */
    void getAngleParameters(int index, int& particle1, int& particle2, int& particle3, double& angle) const;
    /** Set the parameters of an angle constraint. It takes effect when a Context is created, or by
     *  updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param particle1  index of the first particle
     *  @param particle2  index of the second particle, the vertex
     *  @param particle3  index of the third particle
     *  @param angle      their angle (rad), greater than 0, up to pi
     *  @throws OpenMMException if there is no such constraint
     */
    void setAngleParameters(int index, int particle1, int particle2, int particle3, double angle);
    /** How fast an angle changes.
     *
     *  @param index  the index of the constraint
     *  @return its rate (rad/ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getAngleRate(int index) const;
    /** Time at which a moving angle has the given value.
     *
     *  @param index  the index of the constraint
     *  @return its start time (ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getAngleStartTime(int index) const;
    /** Let an angle change in time: at the Context's time t it is angle + rate * (t - startTime). It takes
     *  effect when a Context is created, or by updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param rate       rad/ps
     *  @param startTime  time at which it has the given value (ps): context.getTime() if it begins to move during a run
     *  @throws OpenMMException if there is no such constraint
     */
    void setAngleRate(int index, double rate, double startTime = 0);
    /** The Context parameter that interpolates an angle.
     *
     *  @param index           the index of the constraint
     *  @param[out] parameter  its name; "" if there is none
     *  @param[out] angle1     the value where the parameter is 1 (rad); 0 if there is none
     *  @throws OpenMMException if there is no such constraint
     */
    void getAngleInterpolation(int index, std::string& parameter, double& angle1) const;
    /** Let an angle depend on a Context parameter p: it is angle + p * (angle1 - angle), plus the change by its
     *  rate. Numbers are taken as they are given. It takes effect when a Context is created, or by
     *  updateParametersInContext(). ConstraintIntegrator::computeParameterDerivatives() returns the derivative of the
     *  free energy.
     *
     *  @param index      the index of the constraint
     *  @param parameter  the name of a parameter that addGlobalParameter() has added; "" for none
     *  @param angle1    the value where p is 1 (rad). At the present p the angle has to lie between 0
     *                   and pi
     *  @throws OpenMMException if there is no such constraint or parameter
     */
    void setAngleInterpolation(int index, const std::string& parameter, double angle1);
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
     *  @param rate       how fast it changes (rad/ps): at the Context's time t it is
     *                    angle + rate * (t - startTime)
     *  @param startTime  time at which it has the given value (ps): context.getTime() for one added to a run
     *  @return the index of the constraint
     */
    int addDihedral(int particle1, int particle2, int particle3, int particle4, double angle, double rate = 0,
                    double startTime = 0);
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
    /** Set the parameters of a dihedral constraint. It takes effect when a Context is created, or by
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
    /** How fast a dihedral changes.
     *
     *  @param index  the index of the constraint
     *  @return its rate (rad/ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getDihedralRate(int index) const;
    /** Time at which a moving dihedral has the given value.
     *
     *  @param index  the index of the constraint
     *  @return its start time (ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getDihedralStartTime(int index) const;
    /** Let a dihedral change in time: at the Context's time t it is angle + rate * (t - startTime). It takes
     *  effect when a Context is created, or by updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param rate       rad/ps
     *  @param startTime  time at which it has the given value (ps): context.getTime() if it begins to move during a run
     *  @throws OpenMMException if there is no such constraint
     */
    void setDihedralRate(int index, double rate, double startTime = 0);
    /** The Context parameter that interpolates a dihedral.
     *
     *  @param index           the index of the constraint
     *  @param[out] parameter  its name; "" if there is none
     *  @param[out] angle1     the value where the parameter is 1 (rad); 0 if there is none
     *  @throws OpenMMException if there is no such constraint
     */
    void getDihedralInterpolation(int index, std::string& parameter, double& angle1) const;
    /** Let a dihedral depend on a Context parameter p: it is angle + p * (angle1 - angle), plus the change by its
     *  rate. Numbers are taken as they are given. It takes effect when a Context is created, or by
     *  updateParametersInContext(). ConstraintIntegrator::computeParameterDerivatives() returns the derivative of the
     *  free energy.
     *
     *  @param index      the index of the constraint
     *  @param parameter  the name of a parameter that addGlobalParameter() has added; "" for none
     *  @param angle1    the value where p is 1 (rad). From 170 to 190 degrees it turns by 20 degrees
     *  @throws OpenMMException if there is no such constraint or parameter
     */
    void setDihedralInterpolation(int index, const std::string& parameter, double angle1);
    /** Number of constrained distances between centres of mass. */
    int getNumCentroidDistances() const {
        return (int) centroidDistances.size();
    }
    /** Keep the centres of mass of two groups of particles at a fixed distance, e.g. of two domains, or of a ligand and
     *  its pocket. Groups may be of any size. Barostats move each molecule in them by itself, and the next step
     *  projects the centres to their distance. Massless particles and virtual sites in a group have no effect.
     *
     *  @param particles1  indices of the particles of one group, at least one of them with mass
     *  @param particles2  indices of the particles of the other group, likewise
     *  @param distance    the distance of their centres of mass (nm), positive; with periodic boundary conditions it is
     *                     that of the minimum image, while each centre is computed from unwrapped positions
     *  @param rate        how fast it changes (nm/ps): at the Context's time t it is
     *                     distance + rate * (t - startTime)
     *  @param startTime   time at which it has the given value (ps): context.getTime() for one added to a run
     *  @return the index of the constraint
     */
    int addCentroidDistance(const std::vector<int>& particles1, const std::vector<int>& particles2, double distance,
                            double rate = 0, double startTime = 0);
    /** Get the parameters of a distance between centres of mass.
     *
     *  @param index            the index of the constraint
     *  @param[out] particles1  indices of the particles of one group
     *  @param[out] particles2  indices of the particles of the other group
     *  @param[out] distance    the distance of their centres of mass (nm)
     *  @throws OpenMMException if there is no such constraint
     */
    void getCentroidDistanceParameters(int index, std::vector<int>& particles1, std::vector<int>& particles2,
                                       double& distance) const;
    /** Set the parameters of a distance between centres of mass. It takes effect when a Context is created, or by
     *  updateParametersInContext().
     *
     *  @param index       the index of the constraint
     *  @param particles1  indices of the particles of one group
     *  @param particles2  indices of the particles of the other group
     *  @param distance    the distance of their centres of mass (nm), positive
     *  @throws OpenMMException if there is no such constraint
     */
    void setCentroidDistanceParameters(int index, const std::vector<int>& particles1,
                                       const std::vector<int>& particles2, double distance);
    /** How fast a distance between centres of mass changes.
     *
     *  @param index  the index of the constraint
     *  @return its rate (nm/ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getCentroidDistanceRate(int index) const;
    /** Time at which a moving distance between centres of mass has the given value.
     *
     *  @param index  the index of the constraint
     *  @return its start time (ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getCentroidDistanceStartTime(int index) const;
    /** Let a distance between centres of mass change in time: at the Context's time t it is distance + rate * (t -
     * startTime). It takes effect when a Context is created, or by updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param rate       nm/ps
     *  @param startTime  time at which it has the given value (ps): context.getTime() if it begins to move during a run
     *  @throws OpenMMException if there is no such constraint
     */
    void setCentroidDistanceRate(int index, double rate, double startTime = 0);
    /** The Context parameter that interpolates a distance between centres of mass.
     *
     *  @param index           the index of the constraint
     *  @param[out] parameter  its name; "" if there is none
     *  @param[out] distance1  the value where the parameter is 1 (nm); 0 if there is none
     *  @throws OpenMMException if there is no such constraint
     */
    void getCentroidDistanceInterpolation(int index, std::string& parameter, double& distance1) const;
    /** Let a distance between centres of mass depend on a Context parameter p: it is distance + p * (distance1 -
     * distance), plus the change by its rate. Numbers are taken as they are given. It takes effect when a Context is
     * created, or by updateParametersInContext(). ConstraintIntegrator::computeParameterDerivatives() returns the
     * derivative of the free energy.
     *
     *  @param index      the index of the constraint
     *  @param parameter  the name of a parameter that addGlobalParameter() has added; "" for none
     *  @param distance1 the value where p is 1 (nm). At the present p the length has to be positive,
     *                   and with periodic boundary conditions at most half the shortest width of the box
     *  @throws OpenMMException if there is no such constraint or parameter
     */
    void setCentroidDistanceInterpolation(int index, const std::string& parameter, double distance1);
    /** Number of constrained coordination numbers. */
    int getNumCoordinationNumbers() const {
        return (int) coordinationNumbers.size();
    }
    /** Keep the coordination number of two groups of particles fixed: how many particles of one group are near those of
     *  the other one,
     *
     *      s = sum_ij f(|x_i - x_j|),   f(r) = (1 - (r/r0)^n)/(1 - (r/r0)^m),
     *
     *  over particles i of the first group and j of the second, i and j different. A particle may be in both groups;
     * two of these count twice, as i and j and as j and i. f falls from 1 at r = 0 to 0 at the cutoff; at r0 it is
     * about n/m. It is that of COORDINATION in PLUMED (NN, MM, R_0, D_MAX, shifted and stretched to be 1 and 0 at these
     * ends), but in the last tenth before the cutoff it is multiplied by a polynomial that takes it to 0 with two
     * derivatives. There is no force on pairs beyond the cutoff, so that some pair has to be within it.
     *
     *  Time grows with the number of pairs, of which there may be many thousands. Its error, which is compared with the
     *  tolerance, is |s - number|/|grad s| (nm). Particles need no mass, but one of them has to move.
     *
     *  @param particles1  indices of the particles of one group, at least one
     *  @param particles2  indices of the particles of the other group, likewise
     *  @param number      their coordination number, greater than 0 and less than the number of pairs
     *  @param r0          the distance of a pair that counts about half, n/m (nm)
     *  @param n           exponent of the numerator: even, at least 2
     *  @param m           exponent of the denominator: even, greater than n
     *  @param cutoff      distance from which on a pair does not count (nm), greater than r0; with periodic boundary
     *                     conditions at most half the shortest width of the box, as each pair takes the minimum image.
     *                     0: where f is 1e-5, r0 10^(5/(m-n))
     *  @param rate        how fast it changes (1/ps): at the Context's time t it is number + rate * (t - startTime)
     *  @param startTime   time at which it has the given value (ps): context.getTime() for one added to a run
     *  @return the index of the constraint
     */
    int addCoordinationNumber(const std::vector<int>& particles1, const std::vector<int>& particles2, double number,
                              double r0, int n = 6, int m = 12, double cutoff = 0, double rate = 0,
                              double startTime = 0);
    /** Get the parameters of a coordination number.
     *
     *  @param index            the index of the constraint
     *  @param[out] particles1  indices of the particles of one group
     *  @param[out] particles2  indices of the particles of the other group
     *  @param[out] number      their coordination number
     *  @param[out] r0          the distance of a pair that counts about half (nm)
     *  @param[out] n           exponent of the numerator
     *  @param[out] m           exponent of the denominator
     *  @param[out] cutoff      distance from which on a pair does not count (nm); 0: r0 10^(5/(m-n))
     *  @throws OpenMMException if there is no such constraint
     */
    void getCoordinationNumberParameters(int index, std::vector<int>& particles1, std::vector<int>& particles2,
                                         double& number, double& r0, int& n, int& m, double& cutoff) const;
    /** Set the parameters of a coordination number. It takes effect when a Context is created, or, but for the
     *  particles, by updateParametersInContext().
     *
     *  @param index       the index of the constraint
     *  @param particles1  indices of the particles of one group
     *  @param particles2  indices of the particles of the other group
     *  @param number      their coordination number
     *  @param r0          the distance of a pair that counts about half (nm)
     *  @param n           exponent of the numerator: even, at least 2
     *  @param m           exponent of the denominator: even, greater than n
     *  @param cutoff      distance from which on a pair does not count (nm); 0: r0 10^(5/(m-n))
     *  @throws OpenMMException if there is no such constraint
     */
    void setCoordinationNumberParameters(int index, const std::vector<int>& particles1,
                                         const std::vector<int>& particles2, double number, double r0, int n = 6,
                                         int m = 12, double cutoff = 0);
    /** How fast a coordination number changes.
     *
     *  @param index  the index of the constraint
     *  @return its rate (1/ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getCoordinationNumberRate(int index) const;
    /** Time at which a moving coordination number has the given value.
     *
     *  @param index  the index of the constraint
     *  @return its start time (ps)
     *  @throws OpenMMException if there is no such constraint
     */
    double getCoordinationNumberStartTime(int index) const;
    /** Let a coordination number change in time: at the Context's time t it is number + rate * (t - startTime). It
     * takes effect when a Context is created, or by updateParametersInContext().
     *
     *  @param index      the index of the constraint
     *  @param rate       1/ps
     *  @param startTime  time at which it has the given value (ps): context.getTime() if it begins to move during a run
     *  @throws OpenMMException if there is no such constraint
     */
    void setCoordinationNumberRate(int index, double rate, double startTime = 0);
    /** The Context parameter that interpolates a coordination number.
     *
     *  @param index           the index of the constraint
     *  @param[out] parameter  its name; "" if there is none
     *  @param[out] number1    the value where the parameter is 1; 0 if there is none
     *  @throws OpenMMException if there is no such constraint
     */
    void getCoordinationNumberInterpolation(int index, std::string& parameter, double& number1) const;
    /** Let a coordination number depend on a Context parameter p: it is number + p * (number1 - number), plus the
     * change by its rate. It takes effect when a Context is created, or by updateParametersInContext().
     *  ConstraintIntegrator::computeParameterDerivatives() returns the derivative of the free energy.
     *
     *  @param index      the index of the constraint
     *  @param parameter  the name of a parameter that addGlobalParameter() has added; "" for none
     *  @param number1    the value where p is 1. At the present p it has to lie between 0 and the number of pairs
     *  @throws OpenMMException if there is no such constraint or parameter
     */
    void setCoordinationNumberInterpolation(int index, const std::string& parameter, double number1);
    /** Number of rigid bodies. */
    int getNumRigidBodies() const {
        return (int) bodies.size();
    }
    /** Keep a group of particles rigid, in the shape that their positions say, rounded or not.
     *
     *  A body has 6 degrees of freedom. A narrow one whose smallest moment of inertia is below 2.5e-4 Da nm^2 would
     *  spin too fast about that axis for any time step: it is linear, its particles are placed on the line that fits
     *  their positions best, and it has 5. This holds for CO2 with coordinates rounded to 0.001 nm, and for no molecule
     *  with atoms on both sides of a line. Narrow is what this moves by no more than 0.002 nm or 2 % of the body's
     *  size; getSolverSummary().lineShift is the largest shift of a particle.
     *
     *  The body holds distances, angles and dihedrals among its particles, of the System and of Forces: their values
     * may differ from its shape by what a shift of each particle by 1 % of the shortest bond explains (2 % of a
     * distance). They are not solved, and their multipliers are 0. So does it hold expressions and distances of
     * centroids of its particles that no motion of the body changes, if they agree with the shape within the tolerance.
     * Larger differences, and constraints in a body that change in time, raise an exception when a Context is created.
     *
     *  Constraints of any kind may join a body to particles, to other bodies and to places in space. Bodies may also
     *  share particles. One shared particle is a ball joint. Two of them, or several on a line, are the axis of a
     * hinge; those that rounding to 0.001 nm may have moved off the axis are placed on it. Three that are not on a line
     * fix the bodies to each other: they are one body, with the name of the first. So are a linear body and another one
     *  that share two. Distances of shared particles have to agree in both shapes, within the tolerance times the size
     *  of the bodies. Bodies that share particles are all periodic if one of them is.
     *
     *  A body that nothing joins is solved in closed form. In the equations of constraints and joints a body is six
     *  numbers, however many particles it has. Which of these equations depend on others, in a hinge or in a closed
     *  loop, is found at the positions of the Context, so the number of degrees of freedom is right.
     *  Sources: Moser, Veselov, Commun. Math. Phys. 139, 217 (1991), doi 10.1007/BF02352494.
     *
     *  @param particles  indices of one or more particles
     *  @param positions  their positions (nm), in any coordinate frame, not wrapped into a periodic box; only the shape
     *                    matters
     *  @return the index of the body
     */
    int addRigidBody(const std::vector<int>& particles, const std::vector<OpenMM::Vec3>& positions);
    /** Get a rigid body.
     *
     *  @param index           the index of the body
     *  @param[out] particles  indices of its particles
     *  @param[out] positions  their positions (nm) in the body's frame
     *  @throws OpenMMException if there is no such body
     */
    void getRigidBodyParameters(int index, std::vector<int>& particles, std::vector<OpenMM::Vec3>& positions) const;
    /** Set a rigid body. It takes effect when a Context is created; a new shape also by updateParametersInContext().
     *
     *  @param index      the index of the body
     *  @param particles  indices of one or more particles
     *  @param positions  their positions (nm), in any coordinate frame
     *  @throws OpenMMException if there is no such body
     */
    void setRigidBodyParameters(int index, const std::vector<int>& particles,
                                const std::vector<OpenMM::Vec3>& positions);
    /** Names of particles.
     *
     *  @return by particle, as they were set; none by default
     */
    const std::vector<std::string>& getParticleNames() const {
        return particleNames;
    }
    /** Give names to particles. Error messages contain them after the indices: "System constraint 17 (particles 11 and
     *  12: A:LEU3:CA and A:LEU3:HA)". They are used for all constraints of the System. If several Forces have names,
     * those of the first are used. Names take effect when a Context is created. If a ConstraintForce has only names,
     * any integrator accepts it.
     *
     *  @param names  by particle of the System, an empty string for no name; there may be fewer names than particles
     */
    void setParticleNames(const std::vector<std::string>& names) {
        particleNames = names;
    }
    /** Bonds in addition to those of the System's Forces.
     *
     *  @return pairs of particles, as they were set; none by default
     */
    const std::vector<std::pair<int, int>>& getBonds() const {
        return bonds;
    }
    /** Set which particles are bonded, if the System's Forces do not define it.
     * ConstraintIntegrator::applyConstraints() keeps the lengths of bonds and the distances of second neighbours while
     * it projects positions that are far off. Bonds have no other effect. They are used for the whole System and take
     * effect when a Context is created. A ConstraintForce may have only bonds.
     *
     *  @param bonds  pairs of particles of the System; openmmconstraints.setTopology() sets those of a Topology
     */
    void setBonds(const std::vector<std::pair<int, int>>& bonds) {
        this->bonds = bonds;
    }
    /** Positions at which lengths were measured.
     *
     *  @param[out] particles  indices of particles, ascending; none by default
     *  @param[out] positions  their positions (nm)
     */
    void getReferencePositions(std::vector<int>& particles, std::vector<OpenMM::Vec3>& positions) const;
    /** Tell at which positions lengths were measured. Distances and angles that are recognized as a rigid body leave
     * open which of several shapes it has, or agree with a planar one within rounding: if all of them have their
     * values at these positions, to a relative 1e-9, the body has the shape of these positions, and is planar only if
     * no particle is farther than 1e-6 nm from a plane. They have no other effect, serve all constraints of the
     * System, and take effect when a Context is created. constrain(lengths="positions") of the Python package sets
     * them.
     *
     *  @param particles  indices of particles of the System, each once
     *  @param positions  their positions (nm); those of a molecule in one piece, not wrapped into a periodic box
     *  @throws OpenMMException if there are more of one than of the other, or a particle is listed twice
     */
    void setReferencePositions(const std::vector<int>& particles, const std::vector<OpenMM::Vec3>& positions);
    /** Multipliers of this Force's constraints, which its integrator applied in the last step: its part of
     *  ConstraintIntegrator::getMultipliers().
     *
     *  @param context  a Context of the System that this Force belongs to
     *  @return distances, angles, dihedrals, distances of centroids, coordination numbers, each by index (kJ/mol/nm,
     *          kJ/mol/rad, kJ/mol); rigid bodies have no entry
     */
    std::vector<double> getMultipliers(OpenMM::Context& context) const;
    /** Copy the present distances, angles, dihedrals, coordination numbers and shapes into a Context. Their particles
     * and their number may not change, nor which angles are pi and which bodies are linear or planar. The next step
     * projects the positions if necessary.
     *
     *  @param context  a Context of the System that this Force belongs to
     *  @throws OpenMMException if particles or numbers changed, or a value is not allowed; the Context then keeps the
     * old values
     */
    void updateParametersInContext(OpenMM::Context& context);
    /** Whether constraints use the minimum image (default: false). */
    bool usesPeriodicBoundaryConditions() const override {
        return periodic;
    }
    /** Set whether constraints use the minimum image. If so, no length may exceed half the shortest width of the box.
     *
     *  @param yes  true to use the minimum image
     */
    void setUsesPeriodicBoundaryConditions(bool yes) {
        periodic = yes;
    }
    /** Whether all constraints are solved by this library under integrators of OpenMM, too (default: false). */
    bool getReplacesSolver() const {
        return replacesSolver;
    }
    /** Let any integrator of OpenMM, or one derived from them, solve constraints by this library in place of OpenMM's
     *  SETTLE and CCMA: those of the System and of all its Forces. One Force that does so suffices. It works on the
     *  Reference, CPU, OpenCL and CUDA platforms. Targets may not move in time, and multipliers, constraint forces,
     *  work, pressure and checkpoints bit for bit are known to integrators of this library only. The tolerance is the
     *  integrator's setConstraintTolerance().
     *
     *  If a solve fails, a ConstraintException is thrown by the call that needed it; OpenMM's integrators do not
     * restore the state before it. OpenCL and CUDA do not wait for solves in a step: there a later call throws, at the
     * latest one that reads or sets the state. A CustomIntegrator asks for constraints there only if the System itself
     * has one: otherwise creating the Context throws where anything is held.
     *
     *  OpenMM counts degrees of freedom by the System's own constraints: openmmconstraints.replaceSolver() adds such a
     *  Force and declares as many there as it can. The thermostats of a NoseHooverIntegrator are corrected when its
     * first step begins.
     *
     *  @param yes  true to replace OpenMM's algorithms
     */
    void setReplacesSolver(bool yes) {
        replacesSolver = yes;
    }
    /** Pairs of particles between which a System constraint is for counting only (default: none). */
    const std::vector<std::pair<int, int>>& getCountedPairs() const {
        return countedPairs;
    }
    /** Say which System constraints are declared only for OpenMM to count degrees of freedom: other constraints or
     * rigid bodies hold these distances, and the System constraints are neither checked nor solved, so that their
     * lengths need not follow those of the others (updateParametersInContext()). openmmconstraints.replaceSolver()
     * calls this.
     *
     *  @param pairs  indices of both particles of each
     */
    void setCountedPairs(const std::vector<std::pair<int, int>>& pairs) {
        countedPairs = pairs;
    }
    /** Result of the solver in the last call of an integrator of OpenMM where this library replaces its algorithms;
     * with an integrator of this library, of its last step.
     *
     *  @param context  a Context of the System that this Force belongs to
     *  @throws OpenMMException if nobody in this Context solves constraints by this library
     */
    SolverSummary getSolverSummary(OpenMM::Context& context) const;

protected:
    OpenMM::ForceImpl* createImpl() const override;

private:
    /** value(t) = value + rate (t - startTime) */
    struct Motion {
        double rate, startTime;
    };
    /** value + p (value1 - value), p a global parameter */
    struct Interpolation {
        int parameter = -1; // index into globalParameters; -1: none
        double value1 = 0;
    };
    struct GlobalParameter {
        std::string name;
        double defaultValue;
    };
    /** A distance, an angle or a dihedral, of its first two, three or four particles. */
    struct Coordinate {
        std::array<int, 4> particles;
        double value; // nm or rad
        Motion motion;
        Interpolation interpolation = {};
    };
    friend struct ListedCoordinates;
    struct CentroidDistance {
        std::vector<int> particles1, particles2;
        double distance;
        Motion motion;
        Interpolation interpolation = {};
    };
    struct CoordinationNumber {
        std::vector<int> particles1, particles2;
        double number, r0;
        int n, m;
        double cutoff;
        Motion motion;
        Interpolation interpolation = {};
    };
    struct Body {
        std::vector<int> particles;
        std::vector<OpenMM::Vec3> positions;
    };
    void checkNewName(const std::string& name, const char* method) const;
    Interpolation interpolationWith(const std::string& parameter, double value1, const char* method) const;
    void readInterpolation(const Interpolation& given, std::string& parameter, double& value1) const;

    std::vector<GlobalParameter> globalParameters;
    std::vector<Coordinate> distances, angles, dihedrals;
    std::vector<CentroidDistance> centroidDistances;
    std::vector<CoordinationNumber> coordinationNumbers;
    std::vector<Body> bodies;
    std::vector<std::string> particleNames;
    std::vector<std::pair<int, int>> bonds, countedPairs;
    std::map<int, OpenMM::Vec3> referencePositions;
    bool periodic = false, replacesSolver = false;
};

} // namespace ConstraintPlugin

#endif
