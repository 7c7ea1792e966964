// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_KEPT_STATE_H_
#define OPENMM_CONSTRAINTS_KEPT_STATE_H_

#include "Deformation.h"

namespace ConstraintPlugin {

/** Copies of a Context's state as its platform stores it. Energies of other states can be computed in between. Neither
 *  the integrator nor Forces are notified, because to them nothing has changed. */
class KeptState {
public:
    KeptState() = default;
    KeptState(const KeptState&) = delete;
    KeptState& operator=(const KeptState&) = delete;
    virtual ~KeptState() = default;
    /** Give the Context the kept positions and box, deformed. Particles stay in their images of the box. Virtual sites
     * are to be computed afterwards. */
    virtual void deform(const Deformation& deformation) = 0;
    /** Give the Context back its positions, velocities, box, order of particles, and the forces for the next step, bit
     *  for bit. */
    virtual void restore() = 0;
};

} // namespace ConstraintPlugin

#endif
