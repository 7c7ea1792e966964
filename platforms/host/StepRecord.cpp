// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "StepRecord.h"
#include "BodyMultipliers.h"
#include "CheckpointIO.h"
#include "ClusterReport.h"
#include "LeastNorm.h"
#include "WithGlobals.h"
#include "openmm/OpenMMException.h"
#include <cmath>
#include <numeric>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

StepRecord::StepRecord(const StepScheme& scheme, ConstraintSolver& solver, double stepSize)
    : scheme(scheme), solver(solver), stepSize(stepSize) {
    ForceMultipliers& none = reading.velocityMultipliers;
    none.values.assign(solver.getSet().constraints.size(), 0.0);
    for (const RigidBody& body : solver.getSet().bodies)
        none.ofBodies.resize(none.ofBodies.size() + body.size());
    reading.works.assign(none.values.size(), 0.0);
    reading.endPositions.assign(solver.getSet().numParticles(), Real3());
    reading.moments = {{none, reading.endPositions}};
}

void StepReading::takeSums(const StepReading& other, bool areSame) {
    heat = other.heat;
    otherWork = other.otherWork;
    if (areSame)
        works = other.works;
    else { // the present ones did not do it
        otherWork += accumulate(other.works.begin(), other.works.end(), 0.0);
        fill(works.begin(), works.end(), 0.0);
    }
}

// ---- while a step is taken -----------------------------------------------------------------------------------------

void StepRecord::noteStep(double startTime, double endTime, const Box& box) {
    reading.moments[0].time = startTime;
    reading.endTime = endTime;
    reading.box = box;
    reading.globals = solver.getGlobals();
    frozen.reset();
}

void StepRecord::addWork(const Real3* end, double dt) {
    if (!solver.moves())
        return;

    // lambda_k d xi_k0/dt of each constraint, and d sigma/dt = -d xi_k0/dt
    const auto addPower = [&](vector<double>& powers, const ForceMultipliers& multipliers, const Real3* x,
                              double time) {
        solver.setTime(time);
        const vector<double> derivative = solver.timeDerivatives(x, reading.box);
        for (size_t k = 0; k < derivative.size(); k++)
            powers[k] -= multipliers.values[k] * derivative[k];
    };
    const auto powersAtMoments = [&] {
        vector<double> powers(reading.works.size());
        for (const StepMoment& moment : reading.moments)
            addPower(powers, moment.multipliers, moment.positions.data(), moment.time);
        return powers;
    };
    const auto sum = [](const vector<double>& powers) { return accumulate(powers.begin(), powers.end(), 0.0); };
    if (!reading.velocityChanges.empty()) {
        reading.heat += dt * sum(powersAtMoments());
        complete();
        reading.heat -= dt * sum(powersAtMoments());
    }
    vector<double> powers = powersAtMoments();
    if (scheme.hasTwoHalves)
        addPower(powers, reading.velocityMultipliers, end, reading.endTime);
    for (size_t k = 0; k < powers.size(); k++)
        reading.works[k] += (scheme.hasTwoHalves ? 0.5 : 1) * dt * powers[k];
}

void StepRecord::setStepSize(double dt) {
    if (dt == stepSize)
        return;
    if (stepSize > 0)
        solver.rescaleImpulses((dt * dt) / (stepSize * stepSize));
    stepSize = dt;
}

// ---- results that users read ---------------------------------------------------------------------------------------

void StepRecord::requireStep(const char* what) const {
    if (reading.box.a.x == 0) // noteStep() sets it
        throw OpenMMException(string(what) +
                              ": these are of the last step, and none has been taken in this Context. "
                              "Take one, or call computeMultipliers() for those of the present state; in "
                              "Python openmmconstraints.computeConstraintForces(context) and "
                              "computeConstraintVirial(context) are there, too.");
}

/** Add the contribution of a heat bath's change of velocities to the multipliers. Half of the drift has the velocities
 *  v1 before the bath and half v2 after it, so the position stage balances the centripetal term of their mean, and 1/2
 *  |v1|^2 + 1/2 |v2|^2 = |(v1 + v2)/2|^2 + 1/4 |v1 - v2|^2. */
void StepRecord::complete() {
    if (reading.velocityChanges.empty())
        return;
    const WithGlobals then(solver, reading.globals);
    const double part = 1.0 / (double) reading.velocityChanges.size();
    vector<ForceMultipliers> ofSpread;
    for (const vector<Real3>& change : reading.velocityChanges) {
        const StepMoment& moment = reading.moments[ofSpread.size()];
        solver.setTime(moment.time);
        ForceMultipliers& rest = ofSpread.emplace_back();
        const SolveReport report =
            solver.solveVelocitySpread(moment.positions.data(), reading.box, change.data(), rest, 4 * maxIterations);
        // This term is small, so a relative accuracy of 1e-3 is enough; its matrix is that of the velocity stage.
        const bool isClose = report.outcome == Outcome::NotConverged && report.maxError < 1e-3;
        if (report.outcome != Outcome::Converged && !isClose)
            throwSolveError(solver.getSet(), report,
                            {Stage::Velocities, "reading the multipliers of the last step", 1e-12, 1, moment.time,
                             stepSize, describeSolver(solver.getGraph()),
                             isServedIteratively(solver.getGraph(), report.constraint),
                             describeFallbacks(solver.getGraph())});
    }
    for (size_t n = 0; n < ofSpread.size(); n++) { // if all could be solved
        ForceMultipliers& multipliers = reading.moments[n].multipliers;
        for (size_t k = 0; k < ofSpread[n].values.size(); k++)
            multipliers.values[k] += part * ofSpread[n].values[k];
        for (size_t i = 0; i < ofSpread[n].ofBodies.size(); i++)
            multipliers.ofBodies[i] += part * ofSpread[n].ofBodies[i];
    }
    reading.velocityChanges.clear();
}

/** Multipliers of all constraints: of those that depend on others by least norm, of those that hold bodies by what
 * holds these. */
static vector<double> completeMultipliers(ConstraintSolver& solver, const ForceMultipliers& multipliers,
                                          const Real3* positions, const Box& box, int maxIterations) {
    return withBodyMultipliers(solver.getSet(), leastNorm(solver, multipliers, positions, box, maxIterations),
                               positions, box, solver.getTime())
        .values;
}

static vector<double> listed(const ConstraintSet& set, const vector<double>& all) {
    vector<double> result(all.begin(), all.begin() + set.numListed);
    for (size_t k = set.numListed; k < all.size(); k++) // both components of a bend
        if (const int owner = set.constraints[k].owner; owner >= 0)
            result[owner] = sqrt(result[owner] * result[owner] + all[k] * all[k]);
    return result;
}

vector<double> listedMultipliers(ConstraintSolver& solver, const ForceMultipliers& multipliers, const Real3* positions,
                                 const Box& box, int maxIterations) {
    return listed(solver.getSet(), completeMultipliers(solver, multipliers, positions, box, maxIterations));
}

vector<double> StepRecord::multipliers() {
    if (frozen != nullptr)
        return frozen->multipliers;
    complete();
    const WithGlobals then(solver, reading.globals);
    vector<double> sum(solver.getSet().constraints.size());
    for (const StepMoment& moment : reading.moments) {
        solver.setTime(moment.time);
        const vector<double> there =
            completeMultipliers(solver, moment.multipliers, moment.positions.data(), reading.box, maxIterations);
        transform(sum.begin(), sum.end(), there.begin(), sum.begin(), plus<>());
    }
    return listed(solver.getSet(), sum);
}

vector<double> StepRecord::velocityMultipliers() {
    if (frozen != nullptr)
        return frozen->velocityMultipliers;
    const WithGlobals then(solver, reading.globals);
    solver.setTime(reading.endTime);
    return listedMultipliers(solver, reading.velocityMultipliers, reading.endPositions.data(), reading.box,
                             maxIterations);
}

ConstraintForces StepRecord::forces() {
    if (frozen != nullptr)
        return frozen->forces;
    complete();
    const WithGlobals then(solver, reading.globals);
    ConstraintForces sum;
    sum.forces.resize(solver.getSet().numParticles());
    for (const StepMoment& moment : reading.moments)
        sum += computeConstraintForces(solver.getSet(), moment.multipliers, moment.positions.data(), reading.box,
                                       moment.time);
    return sum;
}

bool StepRecord::hasForces() const {
    const auto acts = [](const ForceMultipliers& multipliers) {
        return any_of(multipliers.values.begin(), multipliers.values.end(), [](double x) { return x != 0; }) ||
               any_of(multipliers.ofBodies.begin(), multipliers.ofBodies.end(),
                      [](const Real3& f) { return dot(f, f) != 0; });
    };
    return acts(reading.velocityMultipliers) || any_of(reading.moments.begin(), reading.moments.end(),
                                                       [&](const StepMoment& m) { return acts(m.multipliers); });
}

void StepRecord::freeze() {
    if (frozen == nullptr)
        frozen = make_unique<Frozen>(Frozen{multipliers(), velocityMultipliers(), forces()});
}

// ---- checkpoints ---------------------------------------------------------------------------------------------------

SavedStep StepRecord::save(uint64_t fingerprint) {
    complete();
    return {solver.getImpulses(), stepSize, fingerprint, reading, summary};
}

void StepRecord::restore(SavedStep saved) {
    solver.setImpulses(saved.impulses);
    stepSize = saved.stepSize;
    reading = std::move(saved.reading);
    summary = saved.summary;
    frozen.reset();
}

/** Visit the fields of a saved step in their order, for writing and for reading alike. */
template <class Saved, class Exchange>
static void exchange(Saved& saved, bool hasWorks, const Exchange& field) {
    field(saved.impulses.lambda);
    field(saved.impulses.mu);
    field(saved.stepSize);
    field(saved.fingerprint);
    auto& first = saved.reading.moments[0];
    field(first.multipliers.values);
    field(saved.reading.velocityMultipliers.values);
    field(saved.impulses.lambdaOfBodies);
    field(saved.impulses.muOfBodies);
    field(first.multipliers.ofBodies);
    field(saved.reading.velocityMultipliers.ofBodies);
    field(first.positions);
    field(saved.reading.endPositions);
    field(saved.reading.box);
    field(first.time);
    field(saved.reading.endTime);
    field(saved.reading.otherWork);
    field(saved.reading.heat);
    field(saved.reading.globals);
    field(saved.summary.converged);
    field(saved.summary.iterations);
    field(saved.summary.maxError);
    field(saved.summary.worstConstraint);
    for (size_t n = 1; n < saved.reading.moments.size(); n++) {
        auto& moment = saved.reading.moments[n];
        field(moment.multipliers.values);
        field(moment.multipliers.ofBodies);
        field(moment.positions);
        field(moment.time);
    }
    if (hasWorks)
        field(saved.reading.works);
}

void SavedStep::write(ostream& stream) const {
    exchange(*this, reading.hasWorks(), [&](const auto& field) { ConstraintPlugin::write(stream, field); });
}

SavedStep SavedStep::read(istream& stream, size_t numParticles, const StepSizes& sizes) {
    SavedStep saved;
    const ForceMultipliers multipliers{vector<double>(sizes.constraints), vector<Real3>(sizes.places)};
    saved.impulses = {multipliers.values, multipliers.values, multipliers.ofBodies, multipliers.ofBodies};
    saved.reading.velocityMultipliers = multipliers;
    saved.reading.endPositions.resize(numParticles);
    saved.reading.moments.assign(sizes.moments, {multipliers, saved.reading.endPositions});
    saved.reading.globals.resize(sizes.globals);
    saved.reading.works.resize(sizes.constraints);
    exchange(saved, sizes.hasWorks, [&](auto& field) { ConstraintPlugin::read(stream, field); });
    return saved;
}

uint64_t fingerprintOf(int numParticles, const Real3* x, const Real3* v, const Box& box, double time) {
    uint64_t hash = hashOf(x, numParticles * sizeof(Real3));
    hash = hashOf(v, numParticles * sizeof(Real3), hash);
    hash = hashOf(&box, sizeof(Box), hash);
    hash = hashOf(&time, sizeof(double), hash);
    return hash;
}

} // namespace ConstraintPlugin
