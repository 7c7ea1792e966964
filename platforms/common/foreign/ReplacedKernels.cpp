// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReplacedKernels.h"
#include "OpenMMSeries.h"
#include "openmm/OpenMMException.h"
#include "openmm/Platform.h"
#include "openmm/common/ContextSelector.h"
#include "openmm/common/IntegrationUtilities.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <cstring>
#include <type_traits>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

using Link = ReplacedKernels::Link;

// ---- IntegrationUtilities -------------------------------------------------------------------------------------------

/** Its protected members: a pointer to member that is formed in a derived class serves any object. */
struct Utilities : IntegrationUtilities {
    static constexpr auto settlePositions = &Utilities::settlePosKernel;
    static constexpr auto settleVelocities = &Utilities::settleVelKernel;
    static constexpr auto shakePositions = &Utilities::shakePosKernel;
    static constexpr auto shakeVelocities = &Utilities::shakeVelKernel;
    static constexpr auto ccma = &Utilities::ccmaFullKernel;
    static constexpr auto ccmaAtoms = &Utilities::ccmaConstraintAtoms;
};

template <class Member, class... Members>
constexpr bool areAll = (is_same_v<Members, Member IntegrationUtilities::*const> && ...);
static_assert(
    areAll<ComputeKernel, decltype(Utilities::settlePositions), decltype(Utilities::settleVelocities),
           decltype(Utilities::shakePositions), decltype(Utilities::shakeVelocities), decltype(Utilities::ccma)> &&
        areAll<ComputeArray, decltype(Utilities::ccmaAtoms)>,
    "IntegrationUtilities of this version of OpenMM is another one");

/** In the place of a kernel of OpenMM: does nothing. */
class EmptyKernel : public ComputeKernelImpl {
public:
    string getName() const override {
        return "replaced";
    }
    int getMaxBlockSize() const override {
        return 1;
    }
    void execute(int, int) override {
    }

protected:
    void addArrayArg(ArrayInterface&) override {
    }
    void addPrimitiveArg(const void*, int) override {
    }
    void addEmptyArg() override {
    }
    void setArrayArg(int, ArrayInterface&) override {
    }
    void setPrimitiveArg(int, const void*, int) override {
    }
};

/** In the place of CCMA in one launch, whose first argument says whether it solves for velocities. */
class SolvingKernel : public EmptyKernel {
public:
    explicit SolvingKernel(shared_ptr<Link> link) : link(std::move(link)) {
    }
    void execute(int, int) override {
        if (link->solver == nullptr)
            return;
        if (ofVelocities == 1)
            link->solver->solveVelocities();
        else if (ofVelocities == 0)
            link->solver->solvePositions();
        ofVelocities = -1;
    }

protected:
    void setPrimitiveArg(int index, const void* value, int size) override {
        if (index == 0 && size == sizeof(int))
            memcpy(&ofVelocities, value, size);
    }

private:
    shared_ptr<Link> link;
    int ofVelocities = -1; // not told
};

// ---- ContextImpl ----------------------------------------------------------------------------------------------------

/** Names of private members, which an explicit instantiation may use. */
template <class Name, Kernel ContextImpl::*member>
struct Opened {
    friend constexpr Kernel ContextImpl::*memberOf(Name) {
        return member;
    }
};
struct StateKernel {
    friend constexpr Kernel ContextImpl::*memberOf(StateKernel);
};
struct ConstraintsKernel {
    friend constexpr Kernel ContextImpl::*memberOf(ConstraintsKernel);
};
template struct Opened<StateKernel, &ContextImpl::updateStateDataKernel>;
template struct Opened<ConstraintsKernel, &ContextImpl::applyConstraintsKernel>;

/** OpenMM's kernel of the state, of whose calls the solver hears.
 *  @tparam Options  of getPositions(): none in OpenMM 8.4, whether it may choose periodic images since 8.5 */
template <class... Options>
class HeardState : public UpdateStateDataKernel {
public:
    HeardState(const Kernel& kernel, const Platform& platform, shared_ptr<Link> link)
        : UpdateStateDataKernel(Name(), platform), kernel(kernel), link(std::move(link)) {
    }
    void initialize(const System& system) override {
        state().initialize(system);
    }
    double getTime(const ContextImpl& context) const override {
        return state().getTime(context);
    }
    void setTime(ContextImpl& context, double time) override {
        state().setTime(context, time);
    }
    long long getStepCount(const ContextImpl& context) const override {
        return state().getStepCount(context);
    }
    void setStepCount(const ContextImpl& context, long long count) override {
        state().setStepCount(context, count);
    }
    void getPositions(ContextImpl& context, vector<Vec3>& positions, Options... options) override {
        hear();
        state().getPositions(context, positions, options...);
    }
    void setPositions(ContextImpl& context, const vector<Vec3>& positions) override {
        hear();
        state().setPositions(context, positions);
        noteNewPositions();
    }
    void getVelocities(ContextImpl& context, vector<Vec3>& velocities) override {
        hear();
        state().getVelocities(context, velocities);
    }
    void setVelocities(ContextImpl& context, const vector<Vec3>& velocities) override {
        hear();
        state().setVelocities(context, velocities);
    }
    void computeShiftedVelocities(ContextImpl& context, double timeShift, vector<Vec3>& velocities) override {
        hear();
        state().computeShiftedVelocities(context, timeShift, velocities);
    }
    void getForces(ContextImpl& context, vector<Vec3>& forces) override {
        hear();
        state().getForces(context, forces);
    }
    void getEnergyParameterDerivatives(ContextImpl& context, map<string, double>& derivatives) override {
        state().getEnergyParameterDerivatives(context, derivatives);
    }
    void getPeriodicBoxVectors(ContextImpl& context, Vec3& a, Vec3& b, Vec3& c) const override {
        state().getPeriodicBoxVectors(context, a, b, c);
    }
    void setPeriodicBoxVectors(ContextImpl& context, const Vec3& a, const Vec3& b, const Vec3& c) override {
        state().setPeriodicBoxVectors(context, a, b, c);
        if (link->solver != nullptr)
            link->solver->afterBox();
    }
    void createCheckpoint(ContextImpl& context, ostream& stream) override {
        hear();
        state().createCheckpoint(context, stream);
    }
    void loadCheckpoint(ContextImpl& context, istream& stream) override {
        hear();
        state().loadCheckpoint(context, stream);
        noteNewPositions();
    }

private:
    void hear() const {
        if (link->solver != nullptr)
            link->solver->beforeState();
    }
    void noteNewPositions() const {
        if (link->solver != nullptr)
            link->solver->afterPositions();
    }
    UpdateStateDataKernel& state() {
        return kernel.getAs<UpdateStateDataKernel>();
    }
    const UpdateStateDataKernel& state() const {
        return kernel.getAs<const UpdateStateDataKernel>();
    }
    Kernel kernel;
    shared_ptr<Link> link;
};

/** @param getPositions  tells its options */
template <class... Options>
Kernel heard(void (UpdateStateDataKernel::* /*getPositions*/)(ContextImpl&, vector<Vec3>&, Options...),
             const Kernel& kernel, const Platform& platform, const shared_ptr<Link>& link) {
    return Kernel(new HeardState<Options...>(kernel, platform, link));
}

/** In the place of OpenMM's kernel for Context.applyConstraints(). */
class SolvedConstraints : public ApplyConstraintsKernel {
public:
    SolvedConstraints(const Platform& platform, shared_ptr<Link> link)
        : ApplyConstraintsKernel(Name(), platform), link(std::move(link)) {
    }
    void initialize(const System&) override {
    }
    void apply(ContextImpl&, double) override {
        if (link->solver != nullptr)
            link->solver->project();
    }
    void applyToVelocities(ContextImpl&, double) override {
        if (link->solver != nullptr)
            link->solver->solveVelocities();
    }

private:
    shared_ptr<Link> link;
};

/** The same where our integrators are the only ones. */
class OwnConstraints : public ApplyConstraintsKernel {
public:
    explicit OwnConstraints(const Platform& platform) : ApplyConstraintsKernel(Name(), platform) {
    }
    void initialize(const System&) override {
    }
    void apply(ContextImpl& context, double) override {
        applyConstraintsForOpenMM(context);
    }
    void applyToVelocities(ContextImpl& context, double) override {
        vector<Vec3> velocities;
        context.getVelocities(velocities);
        projectVelocitiesForOpenMM(context, velocities);
        context.setVelocities(velocities);
    }
};

// ---- whether OpenMM calls what was installed ------------------------------------------------------------------------

struct Counts : SolverCalls {
    struct Heard {};
    void solvePositions() override {
        positions++;
    }
    void solveVelocities() override {
        velocities++;
    }
    void project() override {
    }
    void beforeState() override {
        throw Heard(); // before OpenMM's kernel is called, which is not ready
    }
    void afterPositions() override {
    }
    void afterBox() override {
    }
    int positions = 0, velocities = 0;
};

void requireCalled(ContextImpl& context, IntegrationUtilities& utilities, Link& link) {
    Counts counts;
    link.solver = &counts;
    utilities.applyConstraints(1);
    const bool isOfPositions = counts.positions == 1 && counts.velocities == 0;
    utilities.applyVelocityConstraints(1);
    const bool areSolved = isOfPositions && counts.positions == 1 && counts.velocities == 1;
    bool isHeard = false;
    try {
        vector<Vec3> velocities;
        context.getVelocities(velocities);
    } catch (const Counts::Heard&) {
        isHeard = true;
    }
    link.solver = nullptr;
    if (!areSolved || !isHeard)
        throw OpenMMException("setReplacesSolver(True): OpenMM " + Platform::getOpenMMVersion() +
                              " does not call the solver that was put in the place of its own. This build of "
                              "openmm-constraints is for OpenMM " +
                              string(openMMSeries()) + ".");
}

} // namespace

ReplacedKernels::ReplacedKernels(ContextImpl& context, ComputeContext& cc, SolverCalls& solver)
    : link(make_shared<Link>()), stateOfOpenMM(context.*memberOf(StateKernel())) {
    const ContextSelector selector(cc);
    IntegrationUtilities& utilities = cc.getIntegrationUtilities();
    for (auto member : {Utilities::settlePositions, Utilities::settleVelocities, Utilities::shakePositions,
                        Utilities::shakeVelocities})
        utilities.*member = make_shared<EmptyKernel>();
    utilities.*Utilities::ccma = make_shared<SolvingKernel>(link);
    // OpenMM launches CCMA where there are constraints for it, in one launch where these are few.
    ComputeArray& atoms = utilities.*Utilities::ccmaAtoms;
    if (!atoms.isInitialized())
        atoms.initialize<mm_int2>(cc, 1, "ccmaConstraintAtoms");
    else
        atoms.resize(1);
    const Platform& platform = context.getPlatform();
    context.*memberOf(StateKernel()) = heard(&UpdateStateDataKernel::getPositions, stateOfOpenMM, platform, link);
    context.*memberOf(ConstraintsKernel()) = Kernel(new SolvedConstraints(platform, link));
    requireCalled(context, utilities, *link);
    link->solver = &solver;
}

void solveByOwnIntegrator(ContextImpl& context) {
    context.*memberOf(ConstraintsKernel()) = Kernel(new OwnConstraints(context.getPlatform()));
}

ReplacedKernels::~ReplacedKernels() {
    link->solver = nullptr;
}

} // namespace ConstraintPlugin
