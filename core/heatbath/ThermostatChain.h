// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_THERMOSTAT_CHAIN_H_
#define CONSTRAINTS_CORE_THERMOSTAT_CHAIN_H_

#include <vector>

namespace ConstraintPlugin {

/** The state of a Nose-Hoover chain. */
struct ThermostatChain {
    std::vector<double> positions, velocities; ///< [length] without unit, and 1/ps
    explicit ThermostatChain(int length) : positions(length), velocities(length) {
    }
};

/** Parameters of a Nose-Hoover chain: the heat bath, the degrees of freedom, and the integration scheme. */
struct HeatBath {
    double kT;                   ///< kJ/mol
    double frequency;            ///< 1/ps: masses are N kT/frequency^2 and kT/frequency^2
    int degreesOfFreedom;        ///< N
    int numSubsteps;             ///< each of which is divided by the Yoshida-Suzuki `weights`
    std::vector<double> weights; ///< yoshidaSuzukiWeights()
};

/** Weights of sum 1 of a product of symmetric substeps that is accurate to order 2, 4, 4 or 6.
 *  Source: Suzuki, Phys. Lett. A 146, 319 (1990), doi 10.1016/0375-9601(90)90962-N; Yoshida, Phys. Lett. A 150, 262
 *  (1990), doi 10.1016/0375-9601(90)90092-3, solution A.
 *  @param number  of substeps: 1, 3, 5 or 7
 *  @throws std::invalid_argument if it is another */
std::vector<double> yoshidaSuzukiWeights(int number);

/** Propagate a chain by a time (ps).
 *  Source: Martyna, Tuckerman, Tobias, Klein, Mol. Phys. 87, 1117 (1996), doi 10.1080/00268979600100761.
 *  @param twiceKineticEnergy  at the beginning (kJ/mol)
 *  @return the factor for all velocities; 1 without degrees of freedom */
double propagate(ThermostatChain& chain, const HeatBath& bath, double twiceKineticEnergy, double time);

/** The chain's part of the conserved energy (kJ/mol): sum_j Q_j v_j^2/2 + N kT eta_1 + kT sum_(j>1) eta_j. */
double energyOf(const ThermostatChain& chain, const HeatBath& bath);

} // namespace ConstraintPlugin

#endif
