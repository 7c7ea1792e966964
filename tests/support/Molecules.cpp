// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Molecules.h"
#include "support/FreeFlight.h"
#include "support/Rings.h"

namespace ConstraintTests {

namespace {

Real3 unitVector(const Real3& v) {
    return (1 / std::sqrt(dot(v, v))) * v;
}

const Points tetrahedral{unitVector({1, 1, 1}), unitVector({1, -1, -1}), unitVector({-1, 1, -1}),
                         unitVector({-1, -1, 1})};

/** Six carbon atoms around a place, the first at 0.139 nm along -x from it, turned about x; hydrogen atoms on the
 *  others. @return the first carbon atom */
int addPhenyl(Molecule& m, const Real3& centre, double turn) {
    const int first = (int) m.places.size();
    const auto at = [&](int i, double radius) {
        const double angle = pi / 3 * i, y = radius * std::sin(angle);
        return centre + Real3{-radius * std::cos(angle), y * std::cos(turn), y * std::sin(turn)};
    };
    for (int i = 0; i < 6; i++)
        m.atom(carbon, at(i, 0.139), i > 0 ? first + i - 1 : -1);
    m.bonds.push_back({first, first + 5});
    for (int i = 1; i < 6; i++)
        m.atom(hydrogen, at(i, 0.247), first + i);
    return first;
}

Molecule rename(const std::string& how, Molecule molecule) {
    molecule.name += how;
    return molecule;
}

Pairs inOrder(Pairs pairs) {
    for (auto& [i, j] : pairs)
        if (i > j)
            std::swap(i, j);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

} // namespace

// ---- atoms, bonds and what holds them

int Molecule::atom(double mass, const Real3& place, int bondedTo) {
    const int number = (int) places.size();
    masses.push_back(mass);
    places.push_back(place);
    if (bondedTo >= 0)
        bonds.push_back({bondedTo, number});
    return number;
}

int Molecule::atom(double mass, int a, int b, int c, double length, double angle, double dihedral) {
    const double theta = angle * pi / 180, phi = dihedral * pi / 180;
    const Real3 along = unitVector(places[c] - places[b]), normal = unitVector(cross(places[b] - places[a], along)),
                across = cross(normal, along),
                beside = std::sin(theta) * (std::cos(phi) * across + std::sin(phi) * normal);
    return atom(mass, places[c] + length * (beside - std::cos(theta) * along), c);
}

Triples Molecule::bondAngles() const {
    std::vector<std::vector<int>> neighbours(places.size());
    for (const auto& [i, j] : bonds) {
        neighbours[i].push_back(j);
        neighbours[j].push_back(i);
    }
    Triples triples;
    for (int middle = 0; middle < (int) places.size(); middle++)
        for (std::size_t a = 0; a < neighbours[middle].size(); a++)
            for (std::size_t b = 0; b < a; b++)
                triples.push_back({neighbours[middle][b], middle, neighbours[middle][a]});
    return triples;
}

void Molecule::findPieces() {
    pieces.clear();
    for (int p = 0; p < (int) places.size(); p++) {
        std::vector<int> piece{p};
        for (const auto& [i, j] : bonds)
            if (i == p || j == p)
                piece.push_back(i == p ? j : i);
        if (piece.size() > 2)
            pieces.push_back(piece);
    }
}

Assembly Molecule::assembly() const {
    Assembly result;
    result.name = name;
    result.masses = masses;
    result.places = places;
    result.bodies = pieces;
    result.degreesOfFreedom = degreesOfFreedom;
    return result;
}

Molecule byAllDistances(Molecule molecule) {
    molecule.distances = allPairs(0, (int) molecule.places.size() - 1);
    molecule.pieces = {range(0, (int) molecule.places.size() - 1)};
    return rename(" by all distances", molecule);
}

Molecule byDistancesOverOneAtom(Molecule molecule) {
    std::set<std::pair<int, int>> pairs;
    for (const auto& pair : inOrder(molecule.bonds))
        pairs.insert(pair);
    for (const auto& [i, middle, j] : molecule.bondAngles())
        pairs.insert(std::minmax(i, j));
    molecule.distances = Pairs(pairs.begin(), pairs.end());
    return rename(" by distances over one atom", molecule);
}

Molecule byDistancesBelow(double cutoff, Molecule molecule) {
    molecule.distances = within(molecule.places, cutoff);
    return rename(" by short distances", molecule);
}

Molecule byBondsAndAngles(Molecule molecule) {
    molecule.distances = inOrder(molecule.bonds);
    molecule.angles = molecule.bondAngles();
    return rename(" by bonds and angles", molecule);
}

// ---- molecules

Molecule carbonDioxideMolecule() {
    Molecule m{"carbon dioxide"};
    m.atom(carbon, {0, 0, 0});
    m.atom(oxygen, {0.1163, 0, 0}, 0);
    m.atom(oxygen, {-0.1163, 0, 0}, 0);
    m.pieces = {{0, 1, 2}};
    m.degreesOfFreedom = 5;
    return m;
}

Molecule acetylene() {
    Molecule m{"acetylene"};
    m.atom(hydrogen, {0, 0, 0});
    m.atom(carbon, {0.106, 0, 0}, 0);
    m.atom(carbon, {0.226, 0, 0}, 1);
    m.atom(hydrogen, {0.332, 0, 0}, 2);
    m.pieces = {range(0, 3)};
    m.degreesOfFreedom = 5;
    return m;
}

Molecule acetonitrileMolecule() {
    Molecule m{"acetonitrile"};
    m.atom(carbon, {0, 0, 0});
    m.atom(carbon, {0.1458, 0, 0}, 0);
    m.atom(nitrogen, {0.2615, 0, 0}, 1);
    for (int i = 0; i < 3; i++)
        m.atom(hydrogen, {-0.0371, 0.1024 * std::cos(2 * pi * i / 3), 0.1024 * std::sin(2 * pi * i / 3)}, 0);
    m.pieces = {range(0, 5)};
    return m;
}

Molecule methane() {
    Molecule m{"methane"};
    m.atom(carbon, {0, 0, 0});
    for (const Real3& direction : tetrahedral)
        m.atom(hydrogen, 0.109 * direction, 0);
    m.pieces = {range(0, 4)};
    return m;
}

Molecule chiralMethane() {
    Molecule m{"bromochlorofluoromethane"};
    m.atom(carbon, {0, 0, 0});
    m.atom(hydrogen, 0.109 * tetrahedral[0] + Real3{0.004, -0.003, 0}, 0);
    m.atom(18.998, 0.136 * tetrahedral[1], 0);
    m.atom(35.45, 0.177 * tetrahedral[2] + Real3{0, 0.005, 0.002}, 0);
    m.atom(79.904, 0.194 * tetrahedral[3], 0);
    m.pieces = {range(0, 4)};
    return m;
}

Molecule neopentane() {
    Molecule m{"neopentane"};
    m.atom(carbon, {0, 0, 0});
    for (const Real3& direction : tetrahedral)
        m.atom(carbon, 0.154 * direction, 0);
    for (int c = 1; c < 5; c++)
        for (double dihedral : {60.0, 180.0, 300.0})
            m.atom(hydrogen, c % 4 + 1, 0, c, 0.109, 110.5, dihedral);
    m.findPieces();
    m.degreesOfFreedom = 10;
    return m;
}

Molecule ringOfCarbon(int n) {
    Molecule m{"ring of " + std::to_string(n)};
    for (const Real3& r : ring(n, {0.0695 / std::sin(pi / n)}))
        m.atom(carbon, r, (int) m.places.size() - 1);
    m.bonds.push_back({0, n - 1});
    m.pieces = {range(0, n - 1)};
    return m;
}

Molecule benzeneMolecule() {
    Molecule m = ringOfCarbon();
    m.name = "benzene";
    for (int i = 0; i < 6; i++)
        m.atom(hydrogen, (0.247 / 0.139) * m.places[i], i);
    m.pieces = {range(0, 11)};
    return m;
}

Molecule naphthaleneMolecule() {
    Molecule m{"naphthalene"};
    for (const Real3& r : naphthalene())
        m.atom(carbon, r);
    for (const auto& [i, j] : within(m.places, 0.15))
        m.bonds.push_back({i, j});
    for (int c = 2; c < 10; c++) { // away from the neighbours
        Real3 away;
        for (const auto& [i, j] : Pairs(m.bonds))
            if (j < 10 && (i == c || j == c))
                away += m.places[c] - m.places[i + j - c];
        m.atom(hydrogen, m.places[c] + 0.108 * unitVector(away), c);
    }
    m.pieces = {range(0, 17)};
    return m;
}

Molecule toluene() {
    Molecule m{"toluene"};
    const int first = addPhenyl(m, {0, 0, 0}, 0), methyl = m.atom(carbon, {-0.29, 0, 0}, first);
    for (double dihedral : {75.0, 195.0, 315.0})
        m.atom(hydrogen, first + 1, first, methyl, 0.109, 110.5, dihedral);
    m.pieces = {range(0, methyl), {methyl, first, methyl + 1, methyl + 2, methyl + 3}};
    m.degreesOfFreedom = 7;
    return m;
}

Molecule biphenyl() {
    Molecule m{"biphenyl"};
    const double centre = -0.427;
    const int first = addPhenyl(m, {0, 0, 0}, 0), second = addPhenyl(m, {centre, 0, 0}, 0.78);
    for (int i = second; i < (int) m.places.size(); i++)
        m.places[i].x = 2 * centre - m.places[i].x; // faces the other
    m.bonds.push_back({first, second});
    m.pieces = {range(first, second - 1), range(second, 2 * second - 1)};
    m.pieces[0].push_back(second);
    m.pieces[1].push_back(first);
    m.degreesOfFreedom = 7;
    return m;
}

Molecule phenylalanine() {
    Molecule m{"phenylalanine"};
    const int cg = addPhenyl(m, {0, 0, 0}, 0), cb = m.atom(carbon, {-0.29, 0, 0}, cg),
              ca = m.atom(carbon, cg + 1, cg, cb, 0.153, 113.8, 80), c = m.atom(carbon, cg, cb, ca, 0.1525, 110.1, 175),
              n = m.atom(nitrogen, cg, cb, ca, 0.149, 110.5, -62);
    m.atom(hydrogen, cg, cb, ca, 0.109, 108.5, 56);
    for (double dihedral : {-42.0, 202.0})
        m.atom(hydrogen, cg + 1, cg, cb, 0.109, 109.0, dihedral);
    for (double dihedral : {60.0, 180.0, 300.0})
        m.atom(hydrogen, cb, ca, n, 0.102, 109.5, dihedral);
    m.atom(oxygen, cb, ca, c, 0.125, 117, 40);
    m.atom(oxygen, cb, ca, c, 0.125, 117, 220);
    m.findPieces();
    std::vector<std::vector<int>> others;
    for (const std::vector<int>& piece : m.pieces)
        if (piece[0] > 5)
            others.push_back(piece);
    m.pieces = others; // and the ring with what is bonded to it
    m.pieces.push_back(range(0, cb));
    m.degreesOfFreedom = 10;
    return m;
}

Molecule alanineDipeptide() {
    Molecule m{"alanine dipeptide"};
    const int ch3 = m.atom(carbon, {0, 0, 0}), c1 = m.atom(carbon, {0.1522, 0, 0}, ch3),
              o1 = m.atom(oxygen, {0.2146, 0.106, 0}, c1), n1 = m.atom(nitrogen, o1, ch3, c1, 0.1335, 116.6, 180),
              ca = m.atom(carbon, ch3, c1, n1, 0.1449, 121.9, 180);
    m.atom(hydrogen, ch3, c1, n1, 0.101, 119.8, 0);
    const int c2 = m.atom(carbon, c1, n1, ca, 0.1522, 111.1, -80), cb = m.atom(carbon, c1, n1, ca, 0.1526, 109.7, 160),
              n2 = m.atom(nitrogen, n1, ca, c2, 0.1335, 116.6, 75),
              last = m.atom(carbon, ca, c2, n2, 0.1449, 121.9, 180);
    m.atom(oxygen, n1, ca, c2, 0.1229, 120.5, 75 - 180);
    m.atom(hydrogen, ca, c2, n2, 0.101, 119.8, 0);
    m.atom(hydrogen, c1, n1, ca, 0.109, 108.5, 40);
    for (double dihedral : {60.0, 180.0, 300.0}) {
        m.atom(hydrogen, n1, ca, cb, 0.109, 109.5, dihedral);
        m.atom(hydrogen, n1, c1, ch3, 0.109, 109.5, dihedral);
        m.atom(hydrogen, c2, n2, last, 0.109, 109.5, dihedral);
    }
    m.findPieces();
    m.degreesOfFreedom = 13;
    return m;
}

Molecule cyclohexaneMolecule(bool boat) {
    const Assembly assembly = cyclohexane(boat);
    Molecule m{"cyclohexane, " + assembly.name};
    m.masses = assembly.masses;
    m.places = assembly.places;
    for (int i = 0; i < 6; i++)
        for (int other : {(i + 1) % 6, 2 * i + 6, 2 * i + 7})
            m.bonds.push_back({i, other});
    m.pieces = assembly.bodies;
    m.degreesOfFreedom = assembly.degreesOfFreedom;
    return m;
}

Molecule buckminsterfullerene() {
    Molecule m{"C60"};
    const double golden = (1 + std::sqrt(5)) / 2, unit = 0.0715;
    const Real3 kinds[] = {{0, 1, 3 * golden}, {1, 2 + golden, 2 * golden}, {golden, 2, 2 * golden + 1}};
    for (const Real3& kind : kinds)
        for (int turn = 0; turn < 3; turn++)
            for (int signs = 0; signs < 8; signs++) {
                const double values[] = {kind.x, kind.y, kind.z};
                double r[3];
                for (int axis = 0; axis < 3; axis++)
                    r[(axis + turn) % 3] = unit * (signs >> axis & 1 ? -1 : 1) * values[axis];
                if (kind.x != 0 || !(signs & 1))
                    m.atom(carbon, {r[0], r[1], r[2]});
            }
    m.bonds = within(m.places, 0.15);
    m.pieces = {range(0, 59)};
    return m;
}

Molecule randomCloud(int n, unsigned seed) {
    Molecule m{std::to_string(n) + " particles"};
    Random random(seed);
    while ((int) m.places.size() < n) {
        const Real3 r = random.inCube(0.4);
        if (std::all_of(m.places.begin(), m.places.end(), [&](const Real3& other) { return distance(r, other) > 0.1; }))
            m.atom(random.uniform(1, 40), r);
    }
    m.pieces = {range(0, n - 1)};
    return m;
}

Molecule barrel() {
    Molecule m{"barrel"};
    Random random(9);
    for (int column = 0; column < 14; column++)
        for (int row = 0; row < 5; row++) {
            const double angle = pi / 7 * column;
            m.atom(random.uniform(1, 16),
                   Real3{0.5 * std::cos(angle), 0.5 * std::sin(angle), 0.2 * row} + random.inCube(0.02));
        }
    m.pieces = {range(0, 69)};
    return m;
}

} // namespace ConstraintTests
