// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSolveKernel.h"
#include "CoreExceptions.h"
#include "HostStepKernel.h"
#include "OpenMMVectors.h"
#include "ReferenceData.h"
#include "ReplacingSolver.h"
#include "openmm/OpenMMException.h"
#include "openmm/reference/ReferenceConstraints.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** What ReferenceConstraints calls for all constraints. OpenMM's masses are not used: in Context.applyConstraints()
 * they are infinite. */
class ReplacingAlgorithm : public ReferenceConstraintAlgorithm {
public:
    ReplacingAlgorithm(const ContextImpl& context, shared_ptr<ReplacingSolver> solver)
        : context(context), solver(std::move(solver)) {
    }
    void apply(vector<Vec3>& x, vector<Vec3>& to, vector<double>&, double) override {
        const bool isInStep = &x != &to; // else Context.applyConstraints()
        solveForOpenMM(context.getSystem(), isInStep, [&] {
            if (!isInStep)
                solver->project(asReal3(x));
            else
                solver->solvePositions(asReal3(x), asReal3(to));
        });
    }
    void applyToVelocities(vector<Vec3>& x, vector<Vec3>& v, vector<double>&, double) override {
        solveForOpenMM(context.getSystem(), false, [&] { solver->solveVelocities(asReal3(x), asReal3(v)); });
    }

private:
    const ContextImpl& context;
    const shared_ptr<ReplacingSolver> solver;
};

/** The same where our integrators are the only ones: they take their own steps. */
class OwnAlgorithm : public ReferenceConstraintAlgorithm {
public:
    explicit OwnAlgorithm(ContextImpl& context) : context(context) {
    }
    void apply(vector<Vec3>&, vector<Vec3>&, vector<double>&, double) override {
        applyConstraintsForOpenMM(context);
    }
    void applyToVelocities(vector<Vec3>&, vector<Vec3>& v, vector<double>&, double) override {
        projectVelocitiesForOpenMM(context, v);
    }

private:
    ContextImpl& context;
};

void replace(ContextImpl& context, unique_ptr<ReferenceConstraintAlgorithm> algorithm) {
    // Dynamics classes keep the address of this object, which deletes its members in the end.
    ReferenceConstraints& all = *data(context).constraints;
    delete all.ccma;
    delete all.settle;
    all.ccma = algorithm.release();
    all.settle = nullptr;
}

} // namespace

void ReferenceSolveKernel::initialize(ContextImpl& context, const ConstraintSet& constraints) {
    solver = make_shared<ReplacingSolver>(context, constraints, runner);
    replace(context, make_unique<ReplacingAlgorithm>(context, solver));
}

bool ReferenceSolveKernel::setTargets(const ConstraintSet& constraints) {
    return solver->setTargets(constraints);
}

bool ReferenceSolveKernel::projectStart(ContextImpl& context) {
    bool isMoved = false;
    withOpenMMExceptions(context.getSystem(), "a step",
                         [&] { isMoved = solver->projectStart(asReal3(*data(context).positions)); });
    if (isMoved)
        context.computeVirtualSites();
    return isMoved;
}

void ReferenceSolveKernel::requireNearConstraints(ContextImpl& context) {
    solver->requireNearConstraints(asReal3(*data(context).positions));
}

SolverSummary ReferenceSolveKernel::getSummary() const {
    return solver->getSummary();
}

vector<RankOfGroup> ReferenceSolveKernel::findRanks(ContextImpl& context) {
    vector<RankOfGroup> ranks;
    withOpenMMExceptions(context.getSystem(), "the rank of the constraints", [&] {
        for (auto& [particles, rank] : solver->rankOfGroups(asReal3(*data(context).positions)))
            ranks.push_back({std::move(particles), rank});
    });
    return ranks;
}

void solveByOwnIntegrator(ContextImpl& context) {
    replace(context, make_unique<OwnAlgorithm>(context));
}

} // namespace ConstraintPlugin
