// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/SystemTable.h"
#include "support/Verifier.h"
#include <limits>

using namespace ConstraintTests;

/** A bond of 0.1 nm along x between masses 2 and 3. */
struct OneBond {
    ConstraintSet set;
    Box box{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}};
    Arrays start{{0, 0, 0}, {0.1, 0, 0}};
    OneBond() {
        set = pattern(2, {{0, 1}});
        set.inverseMass = {1 / 2.0, 1 / 3.0};
    }
    testing::AssertionResult accepts(const Arrays& positions) const {
        return Verifier(set, box, start).accepts(positions, 1e-6);
    }
};

TEST(Verifier, AcceptsEverySystemOfTheTableAtItsStart) {
    for (const TestSystem& system : systemTable()) {
        const ConstraintSet set = toConstraintSet(system);
        const Verifier verifier(set, system.box, system.positions);
        EXPECT_TRUE(verifier.accepts(system.positions, 1e-13)) << system.name;
    }
}

TEST(Verifier, RejectsStretchedBond) {
    EXPECT_TRUE(OneBond().accepts({{0, 0, 0}, {0.1 * (1 + 0.9e-6), 0, 0}}));
    EXPECT_FALSE(OneBond().accepts({{0, 0, 0}, {0.1 * (1 + 1.1e-6), 0, 0}}));
}

TEST(Verifier, RejectsCompressedBond) {
    EXPECT_TRUE(OneBond().accepts({{0, 0, 0}, {0.1 * (1 - 0.9e-6), 0, 0}}));
    EXPECT_FALSE(OneBond().accepts({{0, 0, 0}, {0.1 * (1 - 1.1e-6), 0, 0}}));
}

TEST(Verifier, RejectsWrongRoot) {
    const Arrays flipped{{0, 0, 0}, {-0.1, 0, 0}};
    const OneBond bond;
    EXPECT_TRUE(Verifier(bond.set, bond.box, bond.start).holdsLengths(flipped, 1e-6)) << "lengths alone cannot tell";
    EXPECT_FALSE(OneBond().accepts(flipped));
}

TEST(Verifier, RejectsNaN) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const OneBond bond;
    const Verifier verifier(bond.set, bond.box, bond.start);
    EXPECT_FALSE(verifier.holdsLengths({{nan, 0, 0}, {0.1, 0, 0}}, 1e-6));
    EXPECT_FALSE(verifier.isOnRightRoot({{nan, 0, 0}, {0.1, 0, 0}}));
    EXPECT_FALSE(verifier.holdsVelocities({{nan, 0, 0}, {0, 0, 0}}, 1, 1e-6));
    EXPECT_FALSE(verifier.isConstraintImpulse(bond.start, {{nan, 0, 0}, {0, 0, 0}}, 1));
}

TEST(Verifier, RejectsRelativeVelocityAlongTheBond) {
    const OneBond bond;
    const Verifier verifier(bond.set, bond.box, bond.start);
    EXPECT_TRUE(verifier.holdsVelocities({{1, 2, 3}, {1, -2, 7}}, 0.001, 1e-9));
    EXPECT_FALSE(verifier.holdsVelocities({{1, 2, 3}, {1.001, -2, 7}}, 0.001, 1e-9));
    EXPECT_FALSE(verifier.holdsVelocities({{1, 2, 3}, {0.999, -2, 7}}, 0.001, 1e-9));
}

TEST(Verifier, AcceptsTheImpulseOfAConstraint) {
    const OneBond bond;
    const Arrays before{{0.01, 0.02, 0}, {0, -0.01, 0.005}};
    const Arrays after{before[0] + Real3{0.3 / 2, 0, 0}, before[1] - Real3{0.3 / 3, 0, 0}};
    EXPECT_TRUE(Verifier(bond.set, bond.box, bond.start).isConstraintImpulse(before, after, 1e-12));
}

TEST(Verifier, RejectsMovedCentreOfMass) {
    const OneBond bond;
    // Equal and opposite, though the masses differ: right for the geometric centre only.
    const auto verdict = Verifier(bond.set, bond.box, bond.start)
                             .isConstraintImpulse({{}, {}}, {Real3{0.1, 0, 0}, Real3{-0.1, 0, 0}}, 1e-3);
    EXPECT_FALSE(verdict);
    EXPECT_NE(std::string(verdict.message()).find("centre of mass"), std::string::npos);
}

TEST(Verifier, RejectsTorque) {
    const OneBond bond;
    const auto verdict = Verifier(bond.set, bond.box, bond.start)
                             .isConstraintImpulse({{}, {}}, {Real3{0, 0.3, 0}, Real3{0, -0.2, 0}}, 1e-3);
    EXPECT_FALSE(verdict);
    EXPECT_NE(std::string(verdict.message()).find("angular momentum"), std::string::npos);
}

TEST(Verifier, RejectsCorrectionAlongTheSurface) {
    // An anchored particle that slides: neither the centre of mass nor the angular momentum detects it.
    OneBond bond;
    bond.set.inverseMass[0] = 0;
    const Verifier verifier(bond.set, bond.box, bond.start);
    EXPECT_TRUE(verifier.isConstraintImpulse({{}, {}}, {{}, Real3{0.1, 0, 0}}, 1e-9));
    EXPECT_FALSE(verifier.isConstraintImpulse({{}, {}}, {{}, Real3{0.1, 0.01, 0}}, 1e-3));
}

TEST(Verifier, RejectsMovedAnchorAndMovedBystander) {
    OneBond bond;
    bond.set.inverseMass = {0, 1 / 3.0, 1};
    bond.start.push_back({1, 1, 1});
    const Verifier verifier(bond.set, bond.box, bond.start);
    EXPECT_FALSE(verifier.isConstraintImpulse({{}, {}, {}}, {Real3{1e-9, 0, 0}, Real3{0.1, 0, 0}, {}}, 0.1));
    EXPECT_FALSE(verifier.isConstraintImpulse({{}, {}, {}}, {{}, Real3{0.1, 0, 0}, Real3{1e-9, 0, 0}}, 0.1));
}

TEST(Verifier, SeesBondsAcrossThePeriodicBoundary) {
    for (const char* name : {"rectangular", "triclinic"}) {
        const TestSystem& system = findSystem(name);
        ConstraintSet set = toConstraintSet(system);
        EXPECT_TRUE(Verifier(set, system.box, system.positions).holdsLengths(system.positions, 1e-12));
        for (auto& c : set.constraints)
            c.periodic = false;
        EXPECT_FALSE(Verifier(set, system.box, system.positions).holdsLengths(system.positions, 1e-2))
            << "the system does not test the minimum image";
    }
}
