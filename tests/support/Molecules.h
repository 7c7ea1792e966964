// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_MOLECULES_H_
#define CONSTRAINTS_TESTS_MOLECULES_H_

#include "support/JoinedBodies.h"
#include <array>

namespace ConstraintTests {

using Triples = std::vector<std::array<int, 3>>;

/** A molecule, the distances and angles that hold it, and what these leave. */
struct Molecule {
    std::string name;
    std::vector<double> masses;
    Points places;
    Pairs bonds;
    std::vector<std::vector<int>> pieces; ///< that are rigid, the particles of each
    int degreesOfFreedom = 6;
    Pairs distances;
    Triples angles;

    explicit Molecule(std::string name) : name(std::move(name)) {
    }
    /** Add an atom. @return its number */
    int atom(double mass, const Real3& place, int bondedTo = -1);
    /** Add an atom bonded to c, with an angle (degrees) at c to b, and a dihedral about b-c to a. */
    int atom(double mass, int a, int b, int c, double length, double angle, double dihedral);
    /** Every two bonds of one atom: the middle atom is the second. */
    Triples bondAngles() const;
    /** A piece for every atom with several bonds: it and what it is bonded to. */
    void findPieces();
    /** The pieces as rigid bodies, for countedByVelocities(). */
    Assembly assembly() const;
};

const double carbon = 12.011, nitrogen = 14.007, oxygen = 15.999, hydrogen = 1.008;

// Each held by what its name says; "Molecule byX" takes the atoms and bonds of another one.
Molecule byAllDistances(Molecule molecule);
/** Bonds, and distances over one atom. */
Molecule byDistancesOverOneAtom(Molecule molecule);
Molecule byDistancesBelow(double cutoff, Molecule molecule);
Molecule byBondsAndAngles(Molecule molecule);

Molecule carbonDioxideMolecule();
Molecule acetylene();
Molecule acetonitrileMolecule();
Molecule methane();
/** CHFClBr, with the hand of the order of its atoms. */
Molecule chiralMethane();
Molecule neopentane();
Molecule ringOfCarbon(int n = 6);
Molecule benzeneMolecule();
Molecule naphthaleneMolecule();
Molecule toluene();
Molecule biphenyl();
/** As a zwitterion. */
Molecule phenylalanine();
/** Acetyl-alanine-methylamide. */
Molecule alanineDipeptide();
Molecule cyclohexaneMolecule(bool boat);
Molecule buckminsterfullerene();
Molecule randomCloud(int n, unsigned seed = 3);
/** Atoms on the wall of a cylinder, a little out of order. */
Molecule barrel();

/** Those that become bodies as a whole, or piece by piece, each held in one way. */
const std::vector<Molecule>& recognizedMolecules();
/** @throws std::out_of_range if there is none of that name */
const Molecule& findMolecule(const std::string& name);

} // namespace ConstraintTests

#endif
