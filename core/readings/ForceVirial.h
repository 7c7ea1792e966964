// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_FORCE_VIRIAL_H_
#define CONSTRAINTS_CORE_FORCE_VIRIAL_H_

#include "Deformation.h"
#include <array>
#include <functional>

namespace ConstraintPlugin {

/** A derivative that was computed by finite differences. */
struct Derivative {
    double value = 0;
    double error = 0; ///< an estimate, not negative
};

/** f'(0) by Richardson's extrapolation of central differences D over h = 1e-3 and h/2: (4 D(h/2) - D(h))/3, whose
 *  error is of order h^4. The estimate of its error is |D(h) - D(h/2)|. For smooth functions this is of order h^2 and
 *  much larger than the error; where f has rounding errors, both are of the size of these over h. */
Derivative differentiate(const std::function<double(double)>& f);

/** Potential energy (kJ/mol) of a System whose positions and box are deformed. */
using DeformedEnergy = std::function<double(const Deformation&)>;

/** Virial of the forces, sum_i F_i.r_i = -dU/de with all lengths scaled by 1 + e: kJ/mol. */
Derivative computeForceVirial(const DeformedEnergy& energy);

/** The same by pairs of directions, sum_i F_i,a r_i,b = -dU/de_ab with r_a -> r_a + e_ab r_b, for a <= b. A potential
 *  that does not change if the whole System is rotated has a symmetric tensor, so the rest are mirrored.
 *  @param lengths  for the diagonal
 *  @param shears   for the off-diagonal elements
 *  @return 3x3, row by row */
std::array<Derivative, 9> computeForceVirialTensor(const DeformedEnergy& lengths, const DeformedEnergy& shears);

} // namespace ConstraintPlugin

#endif
