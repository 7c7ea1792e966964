// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What a checkpoint holds of an integrator, besides OpenMM's own.
#include "openmm/OpenMMException.h"
#include "openmmconstraints/internal/CheckpointIO.h"
#include "openmmconstraints/internal/HostedStepKernel.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

/** The fields of a record in their order, for writing and for reading alike. */
template <class Exchange>
void HostedStepKernel::CheckpointRecord::exchange(const Exchange& field) {
    field(multipliers.lambda);
    field(multipliers.mu);
    field(stepSize);
    field(fingerprint);
    field(reading.multipliers);
    field(reading.velocityMultipliers);
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
    uint64_t hash = 14695981039346656037u;
    auto take = [&](const void* data, size_t bytes) {
        for (size_t i = 0; i < bytes; i++)
            hash = (hash ^ ((const unsigned char*) data)[i]) * 1099511628211u;
    };
    take(x, numParticles() * sizeof(Real3));
    take(v, numParticles() * sizeof(Real3));
    take(&box, sizeof(Box));
    take(&time, sizeof(double));
    return hash;
}

void HostedStepKernel::createCheckpoint(ostream& stream) const {
    refreshReading();
    CheckpointRecord record{solver->getMultipliers(), lastStepSize, lastStateFingerprint(), reading, summary};
    writeHeader(stream, getName(), (int) record.multipliers.lambda.size());
    write(stream, (int) reading.globals.size());
    record.exchange([&](const auto& field) { write(stream, field); });
}

void HostedStepKernel::loadCheckpoint(istream& stream, bool systemMayDiffer) {
    const CheckpointHeader header = readHeader(stream);
    const size_t numConstraints = header.numConstraints;
    const bool isOtherStep = header.kernel != getName();
    if (isOtherStep && !systemMayDiffer)
        throw OpenMMException(string("loadCheckpoint: the checkpoint was written by another integrator") +
                              checkpointRemedy);
    const bool differs = numConstraints != solver->getSet().constraints.size();
    if (differs && !systemMayDiffer)
        throw OpenMMException("loadCheckpoint: the checkpoint was written for another System: it has " +
                              to_string(numConstraints) + " constraints, this one has " +
                              to_string(solver->getSet().constraints.size()) + ".");
    int numGlobals = 0;
    read(stream, numGlobals);
    constexpr int mostGlobals = 1'000'000;
    if (numGlobals < 0 || numGlobals > mostGlobals)
        throw OpenMMException("loadCheckpoint: the checkpoint is damaged");
    const vector<double> none(numConstraints);
    CheckpointRecord record{{none, none}, 0, 0, reading, {}}; // its sizes are what is read
    record.reading.multipliers = record.reading.velocityMultipliers = none;
    record.reading.globals.resize(numGlobals);
    record.exchange([&](auto& field) { read(stream, field); });
    invalidateForces(true);
    if (differs || isOtherStep) { // nothing that was solved then applies now
        reading.work = record.reading.work;
        reading.heat = record.reading.heat;
        forgetLastState();
        return;
    }
    solver->setMultipliers(record.multipliers);
    lastStepSize = record.stepSize;
    loadedFingerprint = record.fingerprint;
    reading = std::move(record.reading);
    frozen.reset();
    summary = record.summary;
    forgetLastState();
}

} // namespace ConstraintPlugin
