// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Molecules.h"
#include <stdexcept>

namespace ConstraintTests {

const std::vector<Molecule>& recognizedMolecules() {
    static const std::vector<Molecule> all = [] {
        std::vector<Molecule> some = {byAllDistances(carbonDioxideMolecule()),
                                      byAllDistances(acetylene()),
                                      byAllDistances(acetonitrileMolecule()),
                                      byBondsAndAngles(acetonitrileMolecule()),
                                      byAllDistances(methane()),
                                      byBondsAndAngles(methane()),
                                      byAllDistances(chiralMethane()),
                                      byBondsAndAngles(neopentane()),
                                      byDistancesOverOneAtom(ringOfCarbon()),
                                      byBondsAndAngles(ringOfCarbon(5)),
                                      byAllDistances(benzeneMolecule()),
                                      byDistancesOverOneAtom(benzeneMolecule()),
                                      byBondsAndAngles(benzeneMolecule()),
                                      byAllDistances(naphthaleneMolecule()),
                                      byDistancesOverOneAtom(naphthaleneMolecule()),
                                      byBondsAndAngles(naphthaleneMolecule()),
                                      byAllDistances(toluene()),
                                      byBondsAndAngles(toluene()),
                                      byBondsAndAngles(biphenyl()),
                                      byBondsAndAngles(phenylalanine()),
                                      byBondsAndAngles(alanineDipeptide()),
                                      byDistancesOverOneAtom(alanineDipeptide()),
                                      byBondsAndAngles(cyclohexaneMolecule(false)),
                                      byBondsAndAngles(cyclohexaneMolecule(true)),
                                      byDistancesBelow(0.45, buckminsterfullerene()),
                                      byDistancesOverOneAtom(buckminsterfullerene()),
                                      byBondsAndAngles(buckminsterfullerene()),
                                      byDistancesBelow(0.45, barrel()),
                                      byAllDistances(randomCloud(32))};
        for (Molecule& molecule : some)
            if (molecule.name == "toluene by all distances")
                molecule.degreesOfFreedom = 6;
        return some;
    }();
    return all;
}

const Molecule& findMolecule(const std::string& name) {
    for (const Molecule& molecule : recognizedMolecules())
        if (molecule.name == name)
            return molecule;
    throw std::out_of_range("no molecule " + name);
}

} // namespace ConstraintTests
