// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "TestHooks.h"
#include "support/Variable.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

TEST(Hooks, AreReadWheneverTheyAreAskedFor) {
    const TestHook hook("OPENMM_CONSTRAINTS_OF_THIS_TEST");
    EXPECT_FALSE(hook.isSet());
    EXPECT_EQ(hook.valueOr(7), 7);
    for (int value : {12, 0, -3}) {
        const Variable variable("OPENMM_CONSTRAINTS_OF_THIS_TEST", std::to_string(value));
        EXPECT_TRUE(hook.isSet());
        EXPECT_EQ(hook.valueOr(7), value);
    }
    EXPECT_FALSE(hook.isSet());
    EXPECT_EQ(hook.valueOr(7.5), 7.5);
}

TEST(Hooks, HaveMoreBytesThanAnIntCounts) {
    const Variable variable("OPENMM_CONSTRAINTS_OF_THIS_TEST", "6000000000");
    EXPECT_EQ(TestHook("OPENMM_CONSTRAINTS_OF_THIS_TEST").valueOr(0LL), 6000000000);
    EXPECT_EQ(TestHook("OPENMM_CONSTRAINTS_OF_THIS_TEST").valueOr(0.0), 6e9);
}
