// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/LargeSystems.h"

namespace ConstraintTests {

TestSystem longChain(int bonds, double along) {
    Builder b("chain");
    int last = b.particle(12, {0, 0, 0});
    for (int k = 0; k < bonds; k++)
        last = b.grow(last, 12, along);
    return b.build();
}

TestSystem protein(int residues) {
    Builder b("protein");
    int last = b.particle(14, {0, 0, 0});
    for (int k = 0; k < residues; k++) {
        last = b.grow(last, 12.011);
        const int branch = b.grow(last, 12.011);
        b.grow(last, 1.008);
        b.grow(branch, 1.008);
        b.grow(b.grow(branch, 15.999), 1.008);
        last = b.grow(last, 14.007);
    }
    return b.build();
}

TestSystem mesh(int edge) {
    Builder b("mesh");
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < edge; j++) {
            const int p = b.particle(12, Real3{0.15 * i, 0.15 * j, 0} + 0.03 * b.random.direction());
            if (i > 0)
                b.bond(p - edge, p);
            if (j > 0)
                b.bond(p - 1, p);
        }
    return b.build();
}

} // namespace ConstraintTests
