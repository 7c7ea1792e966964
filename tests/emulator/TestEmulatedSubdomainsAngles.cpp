// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rows of other kinds among the bonds of clusters in subdomains, which keep them in shared memory: angles and
// dihedrals, several that share particles, so that rows have two or three particles in common, moving ones, and one at
// half a turn; expressions; and rows that are evaluated in global memory.
#include "EmulatedSubdomains.h"
#include "support/JoinedBodies.h"
#include "support/LargeSystems.h"
#include <cmath>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr auto direct = ConstraintIntegrator::MatrixInversion;

/** A protein of which residues hold an angle, a dihedral, or two of each that overlap; some move. Four more particles
 * at its end are a zigzag in a plane, whose dihedral is at half a turn. In a triclinic box, every particle wrapped into
 * it.
 *  @param moves    whether targets have rates
 *  @param hasMore  whether other residues have a distance of centroids, or an expression: of two, three or four
 * particles, of places in space, with a Context parameter and a table, or one that moves on its own */
InitialState proteinWithAngles(int residues, bool moves, bool hasMore) {
    TestSystem system = protein(residues);
    const int last = system.numParticles() - 1, first = system.numParticles();
    const Real3 end = system.positions[last];
    for (int i = 0; i < 4; i++) {
        system.masses.push_back(12 + i);
        system.positions.push_back(end + Real3{0.15, 0.13 * i, i % 2 == 1 ? 0.08 : 0});
        const int before = i == 0 ? last : first + i - 1;
        const Real3 d = system.positions[first + i] - system.positions[before];
        system.bonds.push_back({before, first + i, std::sqrt(dot(d, d))});
    }
    InitialState start{toOpenMM(system, Declared::InForce), toVectors(system.positions),
                       toVectors(thermalVelocities(system, 1))};
    addSprings(*start.system, system);
    const Vectors& x = start.positions;
    const std::vector<Real3>& p = system.positions;
    auto* force = new ConstraintForce();
    const auto angle = [&](int i, int j, int k, double rate) {
        const Vec3 u = x[i] - x[j], w = x[k] - x[j];
        force->addAngle(i, j, k, std::acos(u.dot(w) / (length(u) * length(w))), rate);
    };
    const auto centroid = [&](const std::vector<int>& group) { return centroidOf(*start.system, x, group); };
    const auto dihedral = [&](int i, int j, int k, int l, double rate) {
        force->addDihedral(i, j, k, l, dihedralOf(p[i], p[j], p[k], p[l]), rate);
    };
    auto* custom = new CustomConstraintForce(3, std::string(bentPath) + (moves ? " - rate*t" : " - rate"));
    custom->addPerConstraintParameter("q");
    custom->addPerConstraintParameter("rate");
    auto* ofTable = new CustomConstraintForce(4, "table(distance(p1, p4)) + turn*angle(p1, p2, p3) - q");
    const double turn = 0.2;
    ofTable->addPerConstraintParameter("q");
    ofTable->addGlobalParameter("turn", turn);
    ofTable->addTabulatedFunction("table", new Continuous1DFunction({0, 0.5, 1, 1.5, 2}, 0, 1)); // twice its argument
    auto* ofPlaces = new CustomConstraintForce(2, "x1 + 0.5*y2 - q");
    ofPlaces->addPerConstraintParameter("q");
    for (int k = 0; k < residues; k++) {
        // carbon, carbon of the branch, a hydrogen of each, oxygen, its hydrogen, nitrogen
        const int C = 1 + 7 * k, B = C + 1, H = C + 2, HB = C + 3, O = C + 4, HO = C + 5, N = C + 6;
        const double rate = moves ? 20 * ((k + 1) % 3) : 0; // rad/ps
        if (k % 4 == 0)
            angle(H, C, B, rate);
        else if (k % 4 == 1)
            dihedral(N, C, B, O, rate);
        else if (k % 4 == 2) {
            angle(N, C, B, 0);
            angle(H, C, N, rate);
            dihedral(H, C, B, HB, 0);
            dihedral(N, C, B, O, rate);
        } else if (hasMore && k % 16 == 11)
            ofTable->addConstraint({H, C, B, O}, {2 * length(x[H] - x[O]) + turn * angleOf(p[H], p[C], p[B])});
        else if (hasMore && k % 8 == 3)
            custom->addConstraint({H, HB, O}, {valueOfBentPath(x[H], x[HB], x[O]), rate / 50});
        else if (hasMore)
            force->addCentroidDistance({C, H}, {O, HO, HB}, length(centroid({C, H}) - centroid({O, HO, HB})));
    }
    dihedral(first, first + 1, first + 2, first + 3, 0);
    start.system->addForce(force);
    for (CustomConstraintForce* expressions : {custom, ofTable, ofPlaces})
        if (hasMore)
            start.system->addForce(expressions);
        else
            delete expressions;

    wrapIntoTriclinicBox(start);
    const int H = 3, HO = 13; // of the first two residues
    if (hasMore)
        ofPlaces->addConstraint({H, HO}, {x[H][0] + 0.5 * x[HO][1]});
    return start;
}

class EmulatedSubdomainsAngles : public Emulated {
protected:
    const Variable multiprocessors{"FAKECUDA_MULTIPROCESSORS", "32"};
    const bool moves = std::get<2>(GetParam()) != "RattleNoseHoover";
    void expectAsOnReference(bool hasMore) {
        expectSubdomainsAsOnReference([=] { return proteinWithAngles(16, moves, hasMore); }, GetParam());
    }
};

TEST_P(EmulatedSubdomainsAngles, MoveAsOnReference) {
    expectAsOnReference(false);
}

TEST_P(EmulatedSubdomainsAngles, MoveAsOnReferenceBesideGlobalRows) {
    expectAsOnReference(true);
}

/** Four chains, each with a particle of one dihedral: a pivot of each is subtracted from its row at the same level. Its
 * target rests, or has made several turns since the device last made it an angle of at most half a turn. */
TEST(EmulatedSubdomainsAnglesOf, FourChainsMoveAsOnReference) {
    double rate = 0, time = 0;
    const auto start = [&] {
        Builder b("four chains");
        std::vector<int> ends;
        for (const Real3& x : {Real3{0, 1, 0.3}, Real3{0, 0, 0}, Real3{1, 0, 0}, Real3{1, 0.4, 1}}) {
            ends.push_back(b.particle(14, x));
            for (int k = 0, last = ends.back(); k < 12; k++)
                last = b.grow(last, 12, 1);
        }
        const TestSystem system = b.build();
        InitialState state{toOpenMM(system, Declared::InForce), toVectors(system.positions),
                           toVectors(thermalVelocities(system, 1))};
        const std::vector<Real3>& p = system.positions;
        auto* force = new ConstraintForce();
        force->addDihedral(ends[0], ends[1], ends[2], ends[3],
                           dihedralOf(p[ends[0]], p[ends[1]], p[ends[2]], p[ends[3]]), rate, time);
        state.system->addForce(force);
        state.time = time;
        return state;
    };
    const Variable onlySubdomains("OPENMM_CONSTRAINTS_ONLY_PARTS", "1");
    for (const bool moves : {false, true}) {
        SCOPED_TRACE(moves);
        rate = moves ? 4 : 0;
        time = moves ? 7.9 : 0;
        const Readings expected = after(3, start(), {"Reference", direct, "Rattle"});
        for (const char* platform : {"CUDAMixed", "CUDASingle"}) {
            const Readings found = after(3, start(), {platform, direct, "Rattle"});
            expectClose(found, expected, platform);
            EXPECT_LE(found.summary.iterations, expected.summary.iterations);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedSubdomainsAngles, testing::ValuesIn(setups({direct}, true)),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
