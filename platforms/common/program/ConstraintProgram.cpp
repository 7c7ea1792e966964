// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintProgram.h"
#include "CustomText.h"
#include "DeviceMemory.h"
#include "FreeBodies.h"
#include "JoinedStages.h"
#include "SharedLaunch.h"
#include "TestHooks.h"
#include "openmm/common/IntegrationUtilities.h"
#include <optional>

using namespace OpenMM;
using std::string;
using std::vector;

namespace ConstraintPlugin {

void takeStages(ArraySizes& sizes, const vector<StageText>& stages, int moments, const ComputeContext& cc) {
    sizes.moments = moments;
    sizes.hasHeatBath = anyHas(stages, "ornsteinUhlenbeck");
    sizes.notesVelocityChanges = anyHas(stages, "noteVelocityChange");
    sizes.hasSlowForces = anyHas(stages, "halfKickOfLevels");
    sizes.hasThermostat = anyHas(stages, "scaleByBath");
    sizes.hasKineticEnergy = anyHas(stages, "noteKineticEnergy");
    sizes.hasAccelerations = anyHas(stages, "solveStartAccelerations");
    sizes.hasCorrections = cc.getUseMixedPrecision();
}

ConstraintProgram::ConstraintProgram(Device& device, const ConstraintSolver& solver, bool smallInRegisters,
                                     const vector<StageText>& stages, int moments, bool sumsStages, bool isCoarse)
    : arguments(device.context()), moments(moments), groupSizes(device, isCoarse),
      constraintTables(solver, smallInRegisters, groupSizes.available()),
      launches(arguments), frame{device,
                                 constraintTables,
                                 arguments,
                                 launches,
                                 {solver.getMethod() == Method::Iterative, isCoarse, sumsStages,
                                  beginsWithVelocities(stages)}},
      small(frame), clusters(frame, groupSizes), subdomains(frame, clusters), border(frame, clusters, solver.moves()) {
    const ConstraintSet& set = solver.getSet();
    addArguments(device, stages);
    countClusters();
    for (const vector<StageText>& together : byNeed(stages)) {
        addClusters(together, false, set);
        FreeBodies(frame).add(together);
    }
    JoinedStages(frame, clusters, subdomains).add(stages, set);
    if (constraintTables.hasBorder()) {
        addClusters(border.takeStages(stages), true, set);
        border.add(set);
    }
    addAfterwards(set);
    if (TestHooks::whole.isSet())
        takeWhole();
    constraintTables.releaseRows();
}

void ConstraintProgram::countClusters() {
    const ConstraintTables& t = constraintTables;
    for (const ConstraintTables::Range& range : t.ranges) {
        sharedFactors += clusters.groupOf(range).sharedFactors;
        for (int c = range.first; c < range.last && range.group == ThreadGroupKind::Subdomain; c++)
            clustersInSubdomains += t.subdomainsOfCluster[c][0] == c && t.subdomainsOfCluster[c][2] != c;
    }
}

void ConstraintProgram::addClusters(const vector<StageText>& stages, bool atBorder, const ConstraintSet& set) {
    std::optional<SharedLaunch> shared;
    if (!atBorder) {
        shared.emplace(frame, small, clusters, subdomains);
        shared->add(stages, set);
    }
    const auto isShared = [&](const ConstraintTables::Range* range) { return shared && shared->has(range); };
    if (!isShared(nullptr))
        small.add(stages, atBorder);
    for (const ConstraintTables::Range& range : constraintTables.ranges)
        if (range.isAtBorder == atBorder && (atBorder || !range.isJoined) && !isShared(&range)) {
            if (range.group == ThreadGroupKind::Subdomain)
                subdomains.add(stages, range, set);
            else
                clusters.add(stages, range, set);
        }
}

void ConstraintProgram::addAfterwards(const ConstraintSet& set) {
    // What a kernel has to begin with, and where nothing is done once a step has failed.
    const string begin = arguments.beginText(), beginIfGood = begin + KernelArguments::hasFailedText;
    const auto add = [&](const string& file, std::map<string, string> markers,
                         std::initializer_list<const char*> names) {
        markers.insert({{"PARAMETERS", arguments.parameters()}, {"BEGIN", beginIfGood}});
        ProgramText text = frame.text();
        text.define("HAS_JOINTS", 0).provide("custom", customText(set, false)).add(file, markers);
        const Program program = frame.programOf(text.str());
        for (const char* name : names)
            afterwards[name] = {program, name};
    };
    add("checks.cc", {}, {"checkPositions", "checkVelocities"});
    add("afterwards.cc", {{"BEGIN_ANYWAY", begin}},
        {"addWork", "addSpreadWork", "addSlowForces", "keepState", "sumForBath", "keepEnd", "sumParticleEnergies"});
}

void ConstraintProgram::addArguments(Device& device, const vector<StageText>& stages) {
    ComputeContext& cc = device.context();
    const ConstraintTables& t = constraintTables;
    arguments.add("posq", "real4", cc.getPosq());
    arguments.add("posqCorrection", "real4", cc.getUseMixedPrecision() ? cc.getPosqCorrection() : cc.getPosq());
    arguments.add("velm", "mixed4", cc.getVelm());
    arguments.add("force", "const mm_long", cc.getLongForceBuffer());
    arguments.add("posDelta", "mixed4", cc.getIntegrationUtilities().getPosDelta());
    arguments.add("atomIndex", "const int", cc.getAtomIndexArray());
    ArraySizes sizes(t);
    takeStages(sizes, stages, moments, cc);
    arguments.add(DeviceArrays(sizes), t, largestArrayOf(device));
    const int nothingFailed[2] = {noFailure, noFailure};
    arguments["failure"].upload(nothingFailed);

    arguments.addNumber("numParticles", t.numParticles);
    arguments.addNumber("paddedNumAtoms", cc.getPaddedNumAtoms());
    arguments.addNumber("numClusters", t.numClusters());
    arguments.addNumber("firstCluster", t.numSmallClusters);
    arguments.addNumber("firstBodyCluster", t.firstBodyCluster());
    arguments.addNumber("numBodyPlaces", t.numBodyPlaces());
    arguments.addNumber("numBodyParts", (int) t.bodyParts.size());
    arguments.addNumber("numRows", t.numRows);
    arguments.addNumber("numMoments", moments);
    arguments.addNumber("numGeneralClusters", t.numGeneralClusters);
    arguments.addNumber("numRedundant", (int) t.redundant.size());
    arguments.addNumber("numMoving", (int) t.movingRows.size());
    arguments.addNumber("firstJoined", t.numFreeBodies); // body
    arguments.addNumber("numJoined", t.numJoinedBodies());
    arguments.addNumber("firstJoinedPlace", t.numJoinedBodies() > 0 ? t.firstJoinedPlace() : 0);
    arguments.addNumber("firstBodyAtBorder", t.firstBodyAtBorder - t.numFreeBodies);
    arguments.addNumber("firstPointSlot", t.firstPointSlot);
    arguments.addNumber("firstPlace", t.numNodes()); // of copies that subdomains have
    for (const char* name : {"launch", "bufferIndex", "firstOfRange", "lastOfRange", "round", "maxIterations",
                             "warmStart", "momentIndex", "turn", "numTurns", "borderItem", "isFirstBath",
                             "hasSlowForces", "noiseKey0", "noiseKey1", "noiseStepLow", "noiseStepHigh"})
        arguments.addNumber(name, 0);
    for (const char* name : {"dt", "driftTime", "referenceTime", "time", "tolerance", "threshold", "innerTolerance",
                             "timeScale", "rounding", "velocityRounding", "farOff", "alpha", "beta", "maxDrift",
                             "velocityScale", "velocityNoise", "lambdaToWork", "muToWork", "forceFactor"})
        arguments.addNumber(name, 0.0);
    for (const char* name : {"boxA", "boxB", "boxC"})
        arguments.addNumber(name, Vec3());
}

void ConstraintProgram::launch(const string& stage, int number) {
    launches.execute(stage, number);
    if (constraintTables.hasBorder())
        border.launch(stage, launchTime, number);
}

void ConstraintProgram::takeShapes(const ConstraintSet& set) {
    constraintTables.takeShapes(set);
    if (constraintTables.numBodyPlaces() > 0)
        arguments.upload("bodyShape", constraintTables.bodyShape);
}

void ConstraintProgram::setTime(double time) {
    arguments.set("time", time);
    launchTime = time;
}

void ConstraintProgram::setMoment(int buffer, int moment) {
    arguments.set("momentIndex", buffer * moments + moment);
}

void ConstraintProgram::launchAfterwards(const string& kernel, int items, int number) {
    if (items == 0)
        return;
    Launch& launch = afterwards.at(kernel);
    launch.threads = items;
    launches.execute(launch, number);
}

} // namespace ConstraintPlugin
