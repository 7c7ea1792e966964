// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Access of the host to the state on the device.
#include "CommonStepKernel.h"
#include "OpenMMVectors.h"
#include "openmm/common/ContextSelector.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

/** Copy the values that a Context returned. */
static const Real3* keep(vector<Real3>& kept, const vector<Vec3>& returned) {
    kept.resize(returned.size());
    transform(returned.begin(), returned.end(), kept.begin(), [](const Vec3& v) { return toReal3(v); });
    return kept.data();
}

const Real3* CommonStepKernel::positions(ContextImpl& context) const {
    vector<Vec3> x;
    context.getPositions(x);
    return keep(hostPositions, x);
}

const Real3* CommonStepKernel::velocities(ContextImpl& context) const {
    vector<Vec3> v;
    context.getVelocities(v);
    return keep(hostVelocities, v);
}

const Real3* CommonStepKernel::forces(ContextImpl& context, const ConstraintIntegrator& integrator) {
    {
        ContextSelector selector(cc); // which computeForces leaves for a while
        computeForcesToRead(context, integrator);
    }
    vector<Vec3> f;
    context.getForces(f);
    return keep(hostForces, f);
}

void CommonStepKernel::setPositions(ContextImpl& context, const Real3* x) {
    isOwnChange = met->isOwnChange = true;
    context.setPositions(toVectors(x, numParticles()));
    isOwnChange = met->isOwnChange = false;
    forcesAreKept = false;
    onDevice.orderHasChanged = true; // the cells at least
}

void CommonStepKernel::setVelocities(ContextImpl& context, const Real3* v) {
    isOwnChange = met->isOwnChange = true;
    context.setVelocities(toVectors(v, numParticles()));
    isOwnChange = met->isOwnChange = false;
}

string CommonStepKernel::solverDescription() const {
    return onDevice.describeSolvers();
}

double CommonStepKernel::positionEpsilon() const {
    return onDevice.positionEpsilon();
}

double CommonStepKernel::smallestTolerance() const {
    return onDevice.smallestTolerance();
}

uint64_t CommonStepKernel::lastStateFingerprint() const {
    if (stateWasSet)
        return 0;
    const Real3* x = positions(owner);
    return fingerprintOf(numParticles(), x, velocities(owner), box(owner), currentTime(owner));
}

void CommonStepKernel::forgetLastState() {
    stateWasSet = true;
    readingIsStale = false;
    keepSums();
    if (program != nullptr) {
        const ContextSelector selector(cc);
        ComputeArray& heat = program->arguments["heat"];
        heat.upload(vector<long long>(heat.getSize()).data());
        forgetWorks();
        multipliers = {};
    }
}

void CommonStepKernel::forgetWorks() {
    program->arguments.upload("work", vector<double>(2 * 2 * program->tables().movingRows.size()));
}

vector<Real3> CommonStepKernel::keptPositions(const char* posqName, const char* correctionName, const Frame& frame,
                                              int first) const {
    const int n = numParticles();
    vector<Real3> x(n);
    const auto take = [&](const auto& posq, auto correction) {
        for (int i = 0; i < n; i++) {
            const auto& p = posq[first + i];
            const Real3 c = correction(first + i);
            const mm_int4 cell = frame.order->cells[i];
            x[frame.order->atomIndex[i]] = Real3{p.x + c.x, p.y + c.y, p.z + c.z} - (double) cell.x * frame.box.a -
                                           (double) cell.y * frame.box.b - (double) cell.z * frame.box.c;
        }
    };
    ComputeArray& array = program->arguments[posqName];
    if (cc.getUseDoublePrecision()) {
        vector<mm_double4> posq(array.getSize());
        array.download(posq.data());
        take(posq, [](int) { return Real3(); });
    } else {
        vector<mm_float4> posq(array.getSize()), corrections;
        array.download(posq.data());
        if (cc.getUseMixedPrecision()) {
            corrections.resize(array.getSize());
            program->arguments[correctionName].download(corrections.data());
        }
        take(posq, [&](int i) {
            return corrections.empty() ? Real3() : Real3{corrections[i].x, corrections[i].y, corrections[i].z};
        });
    }
    return x;
}

/** Restore the state at the start of a step, bit for bit, whatever the present order of particles on the device. */
template <class Real4, class Mixed4>
void CommonStepKernel::restoreState(const Frame& frame, int buffer) {
    const int n = numParticles();
    vector<int> place(n); // of each particle, then
    for (int i = 0; i < n; i++)
        place[frame.order->atomIndex[i]] = i;
    const auto restore = [&](const char* name, ArrayInterface& array, int firstPlace, auto type) {
        ComputeArray& kept = program->arguments[name];
        vector<decltype(type)> then(kept.getSize()), now(n);
        kept.download(then.data());
        for (int i = 0; i < n; i++)
            now[i] = then[firstPlace + place[cc.getAtomIndex()[i]]];
        array.uploadSubArray(now.data(), 0, n);
    };
    const int start = buffer * program->numMoments() * n; // its first moment
    restore("startPosq", cc.getPosq(), start, Real4());
    if (cc.getUseMixedPrecision())
        restore("startCorrection", cc.getPosqCorrection(), start, Real4());
    restore("startVelm", cc.getVelm(), 0, Mixed4());
    vector<mm_int4>& cells = cc.getPosCellOffsets();
    for (int i = 0; i < n; i++)
        cells[i] = frame.order->cells[place[cc.getAtomIndex()[i]]];
    onDevice.orderHasChanged = true;
}

void CommonStepKernel::restoreState(ContextImpl& context, const Frame& frame, int buffer) {
    // A barostat may have changed the box after a failed step.
    if (!sameBox(deviceBox(), frame.box))
        context.setPeriodicBoxVectors(toVec3(frame.box.a), toVec3(frame.box.b), toVec3(frame.box.c));
    if (cc.getUseDoublePrecision())
        restoreState<mm_double4, mm_double4>(frame, buffer);
    else if (cc.getUseMixedPrecision())
        restoreState<mm_float4, mm_double4>(frame, buffer);
    else
        restoreState<mm_float4, mm_float4>(frame, buffer);
    forcesAreKept = false;
}

} // namespace ConstraintPlugin
