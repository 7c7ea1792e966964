// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What a program for devices is put together from: the markers in kernel texts.
#include "TextMarkers.h"
#include "support/Messages.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

TEST(TextMarkers, AreReplacedWhereverTheyStand) {
    EXPECT_EQ(fillMarkers("test", "solve$SIZE$(BLOCK_SIZE, $SIZE$)$END$", {{"SIZE", "3"}, {"END", "; // $SIZE$"}}),
              "solve3(BLOCK_SIZE, 3); // $SIZE$");
}

TEST(TextMarkers, AreNamedWhereOneIsUnknownOrLeft) {
    const auto message = [](const std::string& text) {
        return messageOf([&] { fillMarkers("factor", text, {{"SIZE", "3"}}); });
    };
    EXPECT_EQ(message("$SIZE$"), "");
    expectAll(message("$SIZE$ $PLACE$"), {"factor", "$PLACE"});
    expectAll(message("$SIZE$ and $SIZE"), {"factor", "$SIZE"});
    expectAll(message("SIZE"), {"factor", "no marker $SIZE$"});
}
