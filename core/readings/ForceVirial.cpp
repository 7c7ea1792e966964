// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ForceVirial.h"

namespace ConstraintPlugin {

Derivative differentiate(const std::function<double(double)>& f) {
    const auto difference = [&](double h) { return (f(h) - f(-h)) / (2 * h); };
    constexpr double step = 1e-3;
    const double wide = difference(step), narrow = difference(step / 2);
    return {(4 * narrow - wide) / 3, std::abs(wide - narrow)};
}

static Derivative negative(const Derivative& d) {
    return {-d.value, d.error};
}

Derivative computeForceVirial(const DeformedEnergy& energy) {
    return negative(differentiate([&](double strain) { return energy(Deformation::ofAllLengths(strain)); }));
}

std::array<Derivative, 9> computeForceVirialTensor(const DeformedEnergy& lengths, const DeformedEnergy& shears) {
    const auto along = [](const DeformedEnergy& energy, double Deformation::*component) {
        return negative(differentiate([&](double strain) {
            Deformation deformation;
            deformation.*component = strain;
            return energy(deformation);
        }));
    };
    const Derivative xx = along(lengths, &Deformation::xx), yy = along(lengths, &Deformation::yy),
                     zz = along(lengths, &Deformation::zz), xy = along(shears, &Deformation::xy),
                     xz = along(shears, &Deformation::xz), yz = along(shears, &Deformation::yz);
    return {xx, xy, xz, xy, yy, yz, xz, yz, zz};
}

} // namespace ConstraintPlugin
