// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ShearedContext.h"
#include "HostStepKernel.h"
#include "SystemConstraints.h"
#include "openmm/Platform.h"
#include "openmm/reference/SimTKOpenMMUtilities.h"
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** Returns the random numbers of all Contexts to where they were. */
class KeptRandomNumbers {
public:
    KeptRandomNumbers() {
        SimTKOpenMMUtilities::createCheckpoint(kept);
    }
    KeptRandomNumbers(const KeptRandomNumbers&) = delete;
    KeptRandomNumbers& operator=(const KeptRandomNumbers&) = delete;
    ~KeptRandomNumbers() {
        SimTKOpenMMUtilities::loadCheckpoint(kept);
    }

private:
    stringstream kept;
};

Platform& hostPlatform() {
    for (int i = 0; i < Platform::getNumPlatforms(); i++)
        if (Platform::getPlatform(i).getName() == "CPU")
            return Platform::getPlatform(i);
    return Platform::getPlatform("Reference");
}

} // namespace

ShearedContext::ShearedContext(ContextImpl& other, const Box& box, vector<Vec3> positions)
    : box(box), positions(std::move(positions)) {
    const KeptRandomNumbers kept;
    const System& system = other.getSystem();
    if (isOwnSetupSlow(system)) // an energy needs no constraints
        changed = withoutOwnConstraints(system);
    context = make_unique<Context>(changed == nullptr ? system : *changed, integrator, hostPlatform());
    context->setTime(other.getTime());
    for (const auto& [name, value] : other.getParameters())
        context->setParameter(name, value);
}

double ShearedContext::energy(const Deformation& deformation, int groups) {
    const Box sheared = DeformedBox(deformation, box).box;
    context->setPeriodicBoxVectors(toVec3(sheared.a), toVec3(sheared.b), toVec3(sheared.c));
    vector<Vec3> x;
    for (const Vec3& r : positions)
        x.push_back(toVec3(deformation({r[0], r[1], r[2]})));
    context->setPositions(x);
    context->computeVirtualSites();
    return context->getState(State::Energy, false, groups).getPotentialEnergy();
}

} // namespace ConstraintPlugin
