// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What a checkpoint holds of an integrator, besides OpenMM's own.
#include "CheckpointIO.h"
#include "HostedStepKernel.h"
#include "openmm/OpenMMException.h"
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

/** The fields of a record in their order, for writing and for reading alike. */
template <class Exchange>
void HostedStepKernel::CheckpointRecord::exchange(const Exchange& field) {
    field(impulses.lambda);
    field(impulses.mu);
    field(stepSize);
    field(fingerprint);
    field(reading.multipliers.values);
    field(reading.velocityMultipliers.values);
    field(reading.positions);
    field(reading.endPositions);
    field(reading.box);
    field(reading.time);
    field(reading.endTime);
    field(reading.work);
    field(reading.heat);
    field(reading.globals);
    field(summary.converged);
    field(summary.iterations);
    field(summary.maxError);
    field(summary.worstConstraint);
}

uint64_t HostedStepKernel::fingerprintOf(const Real3* x, const Real3* v, const Box& box, double time) const {
    uint64_t hash = hashOf(x, numParticles() * sizeof(Real3));
    hash = hashOf(v, numParticles() * sizeof(Real3), hash);
    hash = hashOf(&box, sizeof(Box), hash);
    hash = hashOf(&time, sizeof(double), hash);
    return hash;
}

void HostedStepKernel::createCheckpoint(ostream& stream) const {
    completeReading();
    CheckpointRecord record{solver->getImpulses(), lastStepSize, lastStateFingerprint(), reading, summary};
    ostringstream bytes;
    writeText(bytes, getName());
    write(bytes, record.impulses.lambda.size());
    write(bytes, reading.globals.size());
    record.exchange([&](const auto& field) { write(bytes, field); });
    ostringstream own;
    writeOwn(own);
    writeSealed(stream, own.str().empty() ? checkpointVersion : checkpointVersionWithOwn, bytes.str() + own.str());
}

void HostedStepKernel::loadCheckpoint(istream& stream, bool systemMayDiffer) {
    invalidateForces(true); // OpenMM has read its own part, even if this one fails
    int version = 0;
    istringstream bytes(readSealed(stream, version));
    const bool isOtherStep = readText(bytes) != getName();
    size_t numConstraints, numGlobals;
    read(bytes, numConstraints);
    read(bytes, numGlobals);
    if (isOtherStep && !systemMayDiffer)
        throw OpenMMException(string("loadCheckpoint: the checkpoint was written by another integrator") +
                              checkpointRemedy);
    const bool differs = numConstraints != solver->getSet().constraints.size();
    if (differs && !systemMayDiffer)
        throw OpenMMException("loadCheckpoint: the checkpoint was written for another System: it has " +
                              to_string(numConstraints) + " constraints, this one has " +
                              to_string(solver->getSet().constraints.size()) + ".");
    const vector<double> none(numConstraints);
    CheckpointRecord record{{none, none}, 0, 0, reading, {}}; // its sizes are what is read
    record.reading.multipliers = record.reading.velocityMultipliers = {none};
    record.reading.globals.resize(numGlobals);
    record.reading.velocityChange.clear();
    record.exchange([&](auto& field) { read(bytes, field); });
    if (version == checkpointVersion)
        readUnsealedOwn(stream);
    else if (!isOtherStep)
        readOwn(bytes);
    if (differs || isOtherStep) { // nothing that was solved then applies now
        reading.work = record.reading.work;
        reading.heat = record.reading.heat;
        forgetLastState();
        return;
    }
    solver->setImpulses(record.impulses);
    lastStepSize = record.stepSize;
    loadedFingerprint = record.fingerprint;
    reading = std::move(record.reading);
    frozen.reset();
    summary = record.summary;
    forgetLastState();
}

} // namespace ConstraintPlugin
