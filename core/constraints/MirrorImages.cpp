// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "MirrorImages.h"
#include "BodyFit.h"

namespace ConstraintPlugin {

std::vector<int> findMirrored(const ConstraintSet& set, const Real3* positions, const Box& box) {
    std::vector<int> mirrored;
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (set.bodies[b].mayBeMirrored && fitsBetterMirrored(set.bodies[b], positions, box))
            mirrored.push_back(b);
    return mirrored;
}

void mirror(ConstraintSet& set, const std::vector<int>& bodies) {
    std::vector<char> isMirrored(set.bodies.size());
    for (int b : bodies) {
        mirrorShape(set.bodies[b]);
        isMirrored[b] = 1;
    }
    for (const Constraint& c : set.constraints) // axes of joints are along the first body's
        if (c.joint[0] >= 0 && isMirrored[c.joint[0]])
            set.affine[c.form].axis.z = -set.affine[c.form].axis.z;
}

} // namespace ConstraintPlugin
