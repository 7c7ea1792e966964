// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Texts of programs, put together from kernel texts by what these say that they need.
#include "ConstraintKernelSources.h"
#include "ProgramText.h"
#include "support/Messages.h"
#include <gtest/gtest.h>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** A program with texts that the test writes. */
ProgramText programOf(const std::vector<std::pair<std::string, std::string>>& texts) {
    ProgramText text;
    for (const auto& [name, its] : texts)
        text.provide(name, its);
    return text;
}

} // namespace

TEST(ProgramText, HasEachTextOnceAfterWhatItNeeds) {
    ProgramText text = programOf(
        {{"roof", "// needs: walls, floor\nroof\n"}, {"walls", "// needs: floor\nwalls\n"}, {"floor", "floor\n"}});
    text.need("roof").need("floor").add("garden\n").define("DOORS", 2);
    EXPECT_EQ(text.str(), "#define DOORS 2\nfloor\n// needs: floor\nwalls\n// needs: walls, floor\nroof\ngarden\n");
}

TEST(ProgramText, NeedsATextWhereItsConditionHolds) {
    const std::pair<std::string, std::string> house{"house", "// A house.\n// needs if HAS_CELLAR: cellar\nhouse\n"};
    for (const auto& [value, count] : {std::pair("0", 0), std::pair("1", 1), std::pair("7", 1)}) {
        ProgramText text = programOf({house, {"cellar", "cellar\n"}});
        text.need("house").define("HAS_CELLAR", value);
        EXPECT_EQ(text.str().find("\ncellar\n") != std::string::npos, count == 1) << value;
    }
    ProgramText text = programOf({house});
    text.need("house");
    EXPECT_EQ(messageOf([&] { text.str(); }),
              "The kernel text house needs something if HAS_CELLAR, which the program does not define");
}

TEST(ProgramText, HasWhatAFilledTextNeedsBeforeIt) {
    ProgramText text = programOf({{"window", "// needs: wall\nwindow to the $SIDE$\n"}, {"wall", "wall\n"}});
    text.add("window", {{"SIDE", "north"}}).add("window", {{"SIDE", "south"}});
    EXPECT_EQ(text.str(), "wall\n// needs: wall\nwindow to the north\n// needs: wall\nwindow to the south\n");
}

TEST(ProgramText, RefusesWhatIsMissingOrNeedsItself) {
    ProgramText missing = programOf({{"roof", "// needs: walls\nroof\n"}});
    EXPECT_EQ(messageOf([&] { missing.need("roof").str(); }), "The kernel text walls is not there, which roof needs");
    ProgramText circular = programOf(
        {{"hen", "// needs: egg\n"}, {"egg", "// needs: nest, hen\n"}, {"nest", "\n"}, {"farm", "// needs: hen\n"}});
    EXPECT_EQ(messageOf([&] { circular.need("farm").str(); }), "Kernel texts need each other: hen needs egg needs hen");
    ProgramText unfilled = programOf({{"window", "to the $SIDE$\n"}});
    EXPECT_EQ(messageOf([&] { unfilled.need("window").str(); }),
              "The kernel text window, which a program needs, has markers: it can only be added, or provided with "
              "their values");
    ProgramText twice;
    EXPECT_EQ(messageOf([&] { twice.define("SIZE", 3).define("SIZE", 3).define("SIZE", 4); }),
              "A program defines SIZE as 3 and as 4");
}

/** Those with conditions, too: all definitions that any text asks for are there. */
TEST(ProgramText, HasEveryFileWithAllThatItNeeds) {
    ASSERT_GT(ConstraintKernelSources::files().size(), 40u);
    for (const char* value : {"0", "1"})
        for (const auto& [name, content] : ConstraintKernelSources::files()) {
            ProgramText text;
            for (const char* condition :
                 {"HAS_JOINTS", "HAS_ROWS", "FACTOR_NUMBERS", "HAS_GLOBAL", "AT_BORDER", "SUBDOMAIN_ANGLES",
                  "SUBDOMAIN_EXPRESSIONS", "SUBDOMAIN_JOINTS", "SUBDOMAIN_GLOBAL_ROWS"})
                text.define(condition, value);
            for (const char* written :
                 {"arguments", "custom", "factorShared", "factorGlobal", "borderSolves", "subdomainExpressions.cc"})
                text.provide(written, "");
            std::string needs; // markers do not count here
            std::istringstream lines(content);
            for (std::string line; std::getline(lines, line) && line.compare(0, 2, "//") == 0;)
                needs += line.compare(0, 8, "// needs") == 0 ? line + "\n" : "";
            const std::string all = text.provide("all that it needs", needs).need("all that it needs").str();
            EXPECT_EQ(all.substr(all.size() - needs.size()), needs) << name;
        }
}
