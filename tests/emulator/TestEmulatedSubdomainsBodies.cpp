// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Joined rigid bodies in subdomains on the emulator: distances, angles and dihedrals of places in them, in shared
// memory alone, or beside expressions of such places, which are evaluated in global memory.
#include "EmulatedSubdomains.h"
#include "support/JoinedBodies.h"
#include "support/Messages.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A protein in a triclinic box, across its boundary. Every second residue has a body with its last hydrogen, bodies
 * with three further particles in turn: free, held at a massless one, linear, or of one particle besides. They have, in
 * turn, an angle with the chain, one of two of their places, a dihedral of two of them, or two distances from the
 * chain, of which one moves. */
InitialState proteinWithBodies(int residues, bool moves, bool hasExpressions, double time = 0) {
    InitialState start = toState(protein(residues));
    start.time = time;
    Random random(11);
    auto* force = new ConstraintForce();
    auto* custom = new CustomConstraintForce(3, "distance(p1, p2) + distance(p2, p3) - q");
    custom->addPerConstraintParameter("q");
    for (int k = 1; k < residues; k += 2) {
        const int C = 1 + 7 * k, B = C + 1, O = C + 4, HO = C + 5, kind = (k / 2) % 4;
        const Vec3 origin = start.positions[HO];
        std::vector<int> body{HO};
        Vectors shape{origin};
        for (int i = 0; i < (kind == 3 ? 1 : 3); i++) {
            const Real3 d = random.inCube(0.1);
            body.push_back(start.system->addParticle(kind == 1 && i == 2 ? 0 : 6 + i));
            shape.push_back(origin + (kind == 2 ? Vec3(0.04, 0.05, -0.06) * (i + 1) : Vec3(d.x, d.y, d.z)));
            start.positions.push_back(shape.back());
            start.velocities.emplace_back();
        }
        force->addRigidBody(body, shape);
        const Vectors& x = start.positions;
        const int X = body[1];
        const auto at = [&](int i) { return Real3{x[i][0], x[i][1], x[i][2]}; };
        const auto distance = [&](int i, int j) { return length(x[i] - x[j]); };
        if (hasExpressions && k % 3 == 0)
            custom->addConstraint({B, X, O}, {distance(B, X) + distance(X, O)});
        else if (kind == 0)
            force->addAngle(B, O, HO, angleOf(at(B), at(O), at(HO)));
        else if (kind == 1)
            force->addAngle(O, HO, X, angleOf(at(O), at(HO), at(X)));
        else if (kind == 2)
            force->addDihedral(B, O, HO, X, dihedralOf(at(B), at(O), at(HO), at(X)), time > 0 ? 4 : 0, time);
        else {
            force->addDistance(B, X, distance(B, X), moves ? 0.5 : 0, time);
            force->addDistance(C, X, distance(C, X));
        }
    }
    start.system->addForce(force);
    if (hasExpressions)
        start.system->addForce(custom);
    else
        delete custom;
    wrapIntoTriclinicBox(start);
    return start;
}

class EmulatedSubdomainsBodies : public Emulated {
protected:
    const Variable multiprocessors{"FAKECUDA_MULTIPROCESSORS", "32"};
    const bool moves = std::get<2>(GetParam()) != "RattleNoseHoover";
};

TEST_P(EmulatedSubdomainsBodies, MoveAsOnReference) {
    expectSubdomainsAsOnReference([this] { return proteinWithBodies(16, moves, false); }, GetParam());
}

TEST_P(EmulatedSubdomainsBodies, MoveAsOnReferenceBesideExpressions) {
    expectSubdomainsAsOnReference([this] { return proteinWithBodies(16, moves, true); }, GetParam());
}

/** Targets have made several turns since the device last made them angles of at most half a turn. */
TEST_F(EmulatedSubdomainsOf, BodiesWhoseDihedralsTurnedForLongMoveAsOnReference) {
    const auto start = [] { return proteinWithBodies(16, true, false, 7.9); };
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40"), onlySubdomains("OPENMM_CONSTRAINTS_ONLY_PARTS", "1");
    const Readings expected = after(3, start(), {"Reference", direct, "Rattle"}, 1e-8);
    expectClose(after(3, start(), {"CUDAMixed", direct, "Rattle"}, 1e-8), expected, "CUDAMixed");
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedSubdomainsBodies, testing::ValuesIn(setups({direct}, true)),
                         [](const auto& info) { return nameOf(info.param); });

/** A protein after a step, in which its first body then gets a spin. */
Simulation spinning(const std::string& platform, double tolerance, const Vec3& velocity) {
    const int residues = 16, first = toState(protein(residues)).system->getNumParticles();
    Simulation s = simulationOf(proteinWithBodies(residues, true, false), platform, 0.002, tolerance);
    s.integrator->step(1);
    Vectors velocities = s.velocities();
    velocities[first] += velocity;
    velocities[first + 1] -= velocity;
    s.context->setVelocities(velocities);
    return s;
}

/** What single precision leaves of a rotation is corrected. */
TEST_F(EmulatedSubdomainsOf, BodiesRotateAsOnReferenceToTheLastDigits) {
    const auto after = [](const std::string& platform) {
        Simulation s = spinning(platform, 1e-12, Vec3(15, -9, 12));
        const Vectors before = s.positions();
        s.integrator->step(2);
        EXPECT_GT(distance(s.positions(), before), 0.02) << "it turns far";
        return s.positions();
    };
    const Vectors expected = after("Reference");
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40"), onlySubdomains("OPENMM_CONSTRAINTS_ONLY_PARTS", "1");
    EXPECT_LT(distance(after("CUDADouble"), expected), 1e-11);
}

/** A body that would turn by more than 90 degrees in a step without constraints fails by name, in whatever form. */
TEST_F(EmulatedSubdomainsOf, BodiesThatTurnTooFarFailByName) {
    const auto message = [&](const std::string& platform) {
        Simulation s = spinning(platform, 1e-8, Vec3(150, -90, 120));
        const Vectors before = s.positions();
        const std::string found = messageOf([&] { s.integrator->step(1); });
        EXPECT_EQ(distance(s.positions(), before), 0) << "the last good step";
        return alike(withoutSolver(found));
    };
    const std::string expected = message("Reference");
    expectAll(expected, {"could not be solved in step"});
    for (const char* subdomains : {"0", "40"})
        for (bool launches : {false, true}) {
            const Variable size("OPENMM_CONSTRAINTS_PARTS", subdomains);
            std::unique_ptr<Variable> many;
            if (launches)
                many = std::make_unique<Variable>("OPENMM_CONSTRAINTS_LAUNCHES", "1");
            EXPECT_EQ(message("CUDADouble"), expected) << subdomains << " " << launches;
        }
}

} // namespace
