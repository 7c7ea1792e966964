// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BLUE_MOON_H_
#define CONSTRAINTS_CORE_BLUE_MOON_H_

#include "ConstraintSolver.h"
#include <stdexcept>
#include <string>

namespace ConstraintPlugin {

/** A constraint that cannot be a reaction coordinate. */
struct NoCoordinate : std::runtime_error {
    explicit NoCoordinate(int constraint)
        : std::runtime_error("constraint " + std::to_string(constraint) + " cannot be a reaction coordinate"),
          constraint(constraint) {
    }
    int constraint;
};

/** Quantities of the blue moon ensemble at one configuration, for constraints that hold reaction coordinates xi. */
struct BlueMoon {
    std::vector<double> corrections; ///< [coordinates] G_k = (1/2) b_k . grad ln(|Z|/|Z_rest|), per kJ/mol of kT
    double logZ = 0;                 ///< ln(|Z|/|Z_rest|); the weight of the configuration is exp(-logZ/2)
};

/** Z = J M^-1 J^T over all constraints, Z_rest over those that are no reaction coordinate, b_k = M^-1 J^T (Z^-1)_.k.
 *
 *  It needs no determinant of a large matrix. Let Y be the columns of Z^-1 that belong to the coordinates, and C their
 * rows: |Z|/|Z_rest| = 1/|C|, and along b  d ln(|Z|/|Z_rest|) = tr(C^-1 Y^T dZ Y), where (Y^T dZ Y)_ij = sum_r Y_ri
 * b_j^T H_r b + Y_rj b_i^T H_r b, H_r the Hessian of row r. This takes one solve per coordinate. For a single
 *  constraint G = (1/Z^2) sum_ij grad_i xi . grad_i grad_j xi . grad_j xi / (m_i m_j).
 *  Source: Carter, Ciccotti, Hynes, Kapral, Chem. Phys. Lett. 156, 472 (1989), doi 10.1016/S0009-2614(89)87314-2;
 *  Sprik, Ciccotti, J. Chem. Phys. 109, 7737 (1998), doi 10.1063/1.477419.
 *
 *  @param coordinates  constraint indices, each independent of all others
 *  @throws NoCoordinate if one is not, or is not solved as a single row */
BlueMoon computeBlueMoon(ConstraintSolver& solver, const std::vector<int>& coordinates, const Real3* positions,
                         const Box& box, int maxIterations);

} // namespace ConstraintPlugin

#endif
