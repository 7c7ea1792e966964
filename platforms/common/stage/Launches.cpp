// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Launches.h"
#include <algorithm>

using std::string;
using std::vector;

namespace ConstraintPlugin {

void Launches::add(const Program& program, const string& prefix, const vector<StageText>& stages, int threads,
                   int blockSize, int first, int last) {
    for (const StageText& stage : stages)
        of(stage.name).push_back({program, prefix + "_" + stage.name, threads, blockSize, first, last});
}

void Launches::execute(Launch& launch, int number) {
    if (launch.kernel == nullptr) {
        launch.kernel = launch.program->createKernel(launch.name);
        arguments.bind(launch.kernel);
    }
    arguments.set("launch", number);
    arguments.set("firstOfRange", launch.first);
    arguments.set("lastOfRange", launch.last);
    arguments.set("round", launch.round);
    arguments.update(launch.kernel);
    launch.kernel->execute(launch.threads, launch.blockSize);
}

void Launches::execute(const string& stage, int number) {
    for (Launch& launch : of(stage))
        execute(launch, number);
}

Program Launches::addWithoutWhole(const Program& program, const string& textWithWhole) {
    arguments.requireKnownIn(textWithWhole);
    textsWithWhole[program] = textWithWhole;
    return program;
}

bool Launches::takeWhole() {
    if (hasWhole)
        return false;
    hasWhole = true;
    for (const auto& [program, text] : textsWithWhole)
        program->replace(text);
    for (auto& [stage, launches] : ofStages)
        for (Launch& launch : launches)
            if (textsWithWhole.count(launch.program) > 0)
                launch.kernel = nullptr;
    textsWithWhole.clear();
    return true;
}

} // namespace ConstraintPlugin
