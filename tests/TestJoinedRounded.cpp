// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Molecules whose bonds and angles are all held, as bodies on hinges, from coordinates that are rounded as in files.
#include "support/FreeFlight.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Bodies are what is declared: for each its particles. */
struct Molecule {
    std::string name;
    std::vector<double> masses;
    Points places;
    std::vector<std::vector<int>> bodies;
    int degreesOfFreedom;
};

Real3 unit(const Real3& v) {
    return (1 / std::sqrt(dot(v, v))) * v;
}

/** A place at a distance from c, with an angle (degrees) at c to b, and a dihedral about b-c to a. */
Real3 placed(const Real3& a, const Real3& b, const Real3& c, double length, double angle, double dihedral) {
    const double theta = angle * pi / 180, phi = dihedral * pi / 180;
    const Real3 along = unit(c - b), normal = unit(cross(b - a, along)), across = cross(normal, along);
    return c +
           length * (-std::cos(theta) * along + std::sin(theta) * (std::cos(phi) * across + std::sin(phi) * normal));
}

/** Two rings, one turned, that share the bond between them. */
Molecule biphenyl() {
    Molecule m{"Biphenyl", {}, {}, {{}, {}}, 7};
    const int size = 11;
    for (int ring = 0; ring < 2; ring++) {
        m.bodies[ring] = range(size * ring, size * ring + size - 1);
        m.bodies[ring].push_back(size * (1 - ring)); // the other's first carbon atom
        for (double radius : {0.1397, 0.2481})
            for (int i = radius < 0.2 ? 0 : 1; i < 6; i++) {
                const double angle = pi / 3 * i, x = 0.1397 - radius * std::cos(angle), y = radius * std::sin(angle);
                m.places.push_back(ring == 0 ? Real3{x, y, 0}
                                             : Real3{-0.1487 - x, y * std::cos(0.78), y * std::sin(0.78)});
                m.masses.push_back(radius < 0.2 ? 12.011 : 1.008);
            }
    }
    return m;
}

/** Acetyl-alanine-methylamide: a body for each atom with several bonds, of it and what it is bonded to. */
Molecule dipeptide() {
    Molecule m{"AlanineDipeptide", {}, {}, {}, 13};
    std::vector<std::pair<int, int>> bonds;
    const auto add = [&](double mass, const Real3& place, int bondedTo) {
        m.masses.push_back(mass);
        m.places.push_back(place);
        if (bondedTo >= 0)
            bonds.emplace_back(bondedTo, (int) m.places.size() - 1);
        return (int) m.places.size() - 1;
    };
    const double C = 12.011, N = 14.007, O = 15.999, H = 1.008;
    const auto after = [&](double mass, int a, int b, int c, double length, double angle, double dihedral) {
        return add(mass, placed(m.places[a], m.places[b], m.places[c], length, angle, dihedral), c);
    };
    const int ch3 = add(C, {0, 0, 0}, -1), c1 = add(C, {0.1522, 0, 0}, ch3), o1 = add(O, {0.2146, 0.106, 0}, c1);
    const int n1 = after(N, o1, ch3, c1, 0.1335, 116.6, 180), ca = after(C, ch3, c1, n1, 0.1449, 121.9, 180),
              h1 = after(H, ch3, c1, n1, 0.101, 119.8, 0), c2 = after(C, c1, n1, ca, 0.1522, 111.1, -80),
              cb = after(C, c1, n1, ca, 0.1526, 109.7, 160), n2 = after(N, n1, ca, c2, 0.1335, 116.6, 75),
              ch3b = after(C, ca, c2, n2, 0.1449, 121.9, 180);
    after(O, n1, ca, c2, 0.1229, 120.5, 75 - 180);
    after(H, ca, c2, n2, 0.101, 119.8, 0);
    after(H, c1, n1, ca, 0.109, 108.5, 40);
    for (double dihedral : {60.0, 180.0, 300.0}) {
        after(H, n1, ca, cb, 0.109, 109.5, dihedral);
        after(H, n1, c1, ch3, 0.109, 109.5, dihedral);
        after(H, c2, n2, ch3b, 0.109, 109.5, dihedral);
    }
    EXPECT_EQ(h1, 5);
    for (int p = 0; p < (int) m.places.size(); p++) {
        std::vector<int> body{p};
        for (const auto& [i, j] : bonds)
            if (i == p || j == p)
                body.push_back(i == p ? j : i);
        if (body.size() > 2)
            m.bodies.push_back(body);
    }
    EXPECT_EQ(m.bodies.size(), 8u);
    return m;
}

const std::vector<Molecule>& molecules() {
    static const std::vector<Molecule> all = {biphenyl(), dipeptide()};
    return all;
}

constexpr int numOrientations = 60;

/** The molecule in orientations at random, coordinates in units of a file (nm). */
Vectors rounded(const Molecule& molecule, double unit) {
    Arrays all;
    for (unsigned m = 0; m < numOrientations; m++)
        for (Real3 r : moved(molecule.places, m + 1))
            all.push_back(
                {unit * std::round(r.x / unit), unit * std::round(r.y / unit), unit * std::round(r.z / unit)});
    return toVectors(all);
}

using Case = std::tuple<int, double, std::string>; // molecule, unit (nm), integrator

class JoinedRounded : public testing::TestWithParam<Case> {};

TEST_P(JoinedRounded, MoleculesKeepBondsAndAngles) {
    const auto& [index, unit, name] = GetParam();
    const Molecule& molecule = molecules()[index];
    const int n = (int) molecule.places.size();
    const Vectors start = rounded(molecule, unit);
    System system;
    auto* force = new ConstraintForce();
    auto* field = new CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
    for (int m = 0; m < numOrientations; m++) {
        for (double mass : molecule.masses)
            field->addParticle(system.addParticle(mass));
        for (std::vector<int> body : molecule.bodies) {
            Vectors shape;
            for (int& p : body) {
                p += m * n;
                shape.push_back(start[p]);
            }
            force->addRigidBody(body, shape);
        }
    }
    system.addForce(force);
    system.addForce(field);
    const bool drifts = name == "ConstraintForce";
    const IntegratorPointer integrator =
        makeIntegrator({"Reference", Solver::Automatic, name}, drifts ? 0.00025 : 0.001, 1e-13);
    auto context = makeContext(system, *integrator, "Reference");
    context->setPositions(start);
    EXPECT_LT(integrator->applyConstraints(), 1e-13);
    context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom * numOrientations);
    integrator->step(20);
    EXPECT_EQ(integrator->getNumDegreesOfFreedom(), molecule.degreesOfFreedom * numOrientations);
    const Vectors x = context->getState(State::Positions).getPositions();
    double largest = 0, smallestMove = 1;
    for (int m = 0; m < numOrientations; m++)
        for (const std::vector<int>& body : molecule.bodies) {
            for (std::size_t i = 0; i < body.size(); i++)
                for (std::size_t j = 0; j < i; j++) {
                    const int p = m * n + body[i], q = m * n + body[j];
                    const Vec3 before = start[p] - start[q], after = x[p] - x[q];
                    largest = std::max(largest, std::abs(std::sqrt(after.dot(after)) - std::sqrt(before.dot(before))));
                }
            const Vec3 move = x[m * n + body[0]] - start[m * n + body[0]];
            smallestMove = std::min(smallestMove, std::sqrt(move.dot(move)));
        }
    EXPECT_LT(largest, drifts ? 1e-5 : 1e-12);
    EXPECT_GT(smallestMove, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Files, JoinedRounded,
                         testing::Combine(testing::Range(0, (int) molecules().size()), testing::Values(1e-3, 1e-4),
                                          testing::Values("Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                          "RattleNoseHoover", "ConstraintForce")),
                         [](const auto& info) {
                             return molecules()[std::get<0>(info.param)].name +
                                    (std::get<1>(info.param) == 1e-3 ? "Gro" : "Pdb") + std::get<2>(info.param);
                         });

} // namespace
