// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonStepKernel.h"
#include "openmm/common/ContextSelector.h"
#include <tuple>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

using Bytes = vector<char>;

Bytes download(ArrayInterface& array) {
    Bytes bytes(array.getSize() * array.getElementSize());
    array.download(bytes.data());
    return bytes;
}

/** The copy of the box that a particle is in, counted in vectors that were reduced. */
mm_int4 inReduced(const mm_int4& cell, const Reduction& times) {
    return mm_int4(cell.x + (int) times.aInB * cell.y + (int) times.aInC * cell.z, cell.y + (int) times.bInC * cell.z,
                   cell.z, cell.w);
}

/** Deform what the device has as a position and, in mixed precision, its correction. */
template <class Real4>
void deformPositions(const Deformation& deformation, Bytes& positions, Bytes* corrections) {
    using Real = decltype(Real4::x);
    auto* const x = reinterpret_cast<Real4*>(positions.data());
    auto* const low = corrections == nullptr ? nullptr : reinterpret_cast<Real4*>(corrections->data());
    const size_t n = positions.size() / sizeof(Real4);
    for (size_t i = 0; i < n; i++) {
        const Real3 rest = low == nullptr ? Real3() : Real3{low[i].x, low[i].y, low[i].z};
        const Real3 r = deformation(Real3{x[i].x, x[i].y, x[i].z} + rest);
        x[i].x = (Real) r.x; // x[i].w may be the charge
        x[i].y = (Real) r.y;
        x[i].z = (Real) r.z;
        if (low != nullptr) {
            low[i].x = (Real) (r.x - x[i].x);
            low[i].y = (Real) (r.y - x[i].y);
            low[i].z = (Real) (r.z - x[i].z);
        }
    }
}

} // namespace

/** What the device has is written directly: OpenMM's functions for positions and boxes may reorder atoms, and wrap them
 * into the box. */
class CommonStepKernel::Kept : public KeptState {
public:
    Kept(CommonStepKernel& kernel, ContextImpl& context)
        : kernel(kernel), context(context), cc(kernel.cc), box(kernel.deviceBox()), order(cc.getAtomIndex()),
          cells(cc.getPosCellOffsets()), contextCount(cc.getComputeForceCount()),
          contextGroups(context.getLastForceGroups()), ofForces(aboutForces()) {
        const ContextSelector selector(cc);
        positions = download(cc.getPosq());
        if (cc.getUseMixedPrecision())
            corrections = download(cc.getPosqCorrection());
        velocities = download(cc.getVelm());
        forces = download(cc.getLongForceBuffer());
    }
    void deform(const Deformation& deformation) override {
        const ContextSelector selector(cc);
        const DeformedBox deformed(deformation, box);
        setBox(deformed.box);
        setCells(deformed.reduction);
        Bytes x = positions, low = corrections;
        if (cc.getUseDoublePrecision())
            deformPositions<mm_double4>(deformation, x, nullptr);
        else
            deformPositions<mm_float4>(deformation, x, low.empty() ? nullptr : &low);
        uploadPositions(x, low);
    }
    void restore() override {
        const ContextSelector selector(cc);
        setBox(box);
        setCells({});
        uploadPositions(positions, corrections);
        upload(cc.getVelm(), velocities);
        context.getLastForceGroups() = contextGroups;
        if (!hasSameOrder()) // listeners have noted it
            return;
        cc.getLongForceBuffer().upload(forces.data());
        cc.setComputeForceCount(contextCount);
        aboutForces() = ofForces;
    }

private:
    /** What the kernel knows of the forces that it keeps. */
    auto aboutForces() const -> tuple<bool&, bool&, int&, int&, double&, Box&> {
        return {kernel.forcesAreKept, kernel.mayHaveMoved, kernel.forceCount,
                kernel.forceGroups,   kernel.forceTime,    kernel.forceBox};
    }
    void setBox(const Box& to) {
        for (ComputeContext* each : cc.getAllContexts())
            each->setPeriodicBoxVectors(toVec3(to.a), toVec3(to.b), toVec3(to.c));
    }
    void setCells(const Reduction& reduction) {
        const vector<int> places = placesInOrder();
        for (size_t i = 0; i < places.size(); i++)
            cc.getPosCellOffsets()[i] = inReduced(cells[places[i]], reduction);
    }
    void uploadPositions(const Bytes& x, const Bytes& low) {
        upload(cc.getPosq(), x);
        if (!low.empty())
            upload(cc.getPosqCorrection(), low);
    }
    /** Upload values of particles in their present order, should a Force have reordered them. */
    void upload(ArrayInterface& array, const Bytes& kept) {
        const vector<int> places = placesInOrder();
        const size_t size = array.getElementSize();
        Bytes now = kept;
        for (size_t i = 0; i < places.size(); i++)
            copy_n(kept.begin() + places[i] * size, size, now.begin() + i * size);
        array.upload(now.data());
    }
    /** Where each particle was in the kept arrays, in the present order. */
    vector<int> placesInOrder() const {
        vector<int> place(order.size()), result(order.size());
        for (size_t i = 0; i < order.size(); i++)
            place[order[i]] = (int) i;
        for (size_t i = 0; i < order.size(); i++)
            result[i] = place[cc.getAtomIndex()[i]];
        return result;
    }
    bool hasSameOrder() const {
        return cc.getAtomIndex() == order;
    }
    CommonStepKernel& kernel;
    ContextImpl& context;
    ComputeContext& cc;
    const Box box;
    const vector<int> order;
    const vector<mm_int4> cells;
    const int contextCount, contextGroups;
    const tuple<bool, bool, int, int, double, Box> ofForces;
    Bytes positions, corrections, velocities, forces;
};

unique_ptr<KeptState> CommonStepKernel::keepState(ContextImpl& context) {
    return make_unique<Kept>(*this, context);
}

bool CommonStepKernel::canShearBox() const {
    return cc.getBoxIsTriclinic();
}

} // namespace ConstraintPlugin
