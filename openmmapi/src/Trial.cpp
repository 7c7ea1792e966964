// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SystemChecks.h"
#include "SystemConstraints.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/Context.h"
#include "openmm/serialization/XmlSerializer.h"
#include "openmmconstraints/ConstraintIntegrator.h"
#include "openmmconstraints/Diagnosis.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** What a function raises. */
std::optional<ConstraintProblem> problemOf(const std::function<void()>& function) {
    try {
        function();
    } catch (const ConstraintException& error) {
        return error.getProblem();
    } catch (const std::exception& error) {
        ConstraintProblem problem;
        problem.kind = "raised";
        problem.message = error.what();
        return problem;
    }
    return {};
}

/** A Context that returns to its start. */
class TrialContext {
public:
    TrialContext(const System& system, Integrator& integrator, const Start& start, Platform& platform)
        : start(start), context(system, integrator, platform) {
        for (int i = 0; i < system.getNumParticles(); i++)
            isMassive.push_back(system.getParticleMass(i) > 0);
        context.setPeriodicBoxVectors(start.box[0], start.box[1], start.box[2]);
        returnToStart();
    }
    void returnToStart() {
        context.setTime(start.time);
        context.setPositions(start.positions);
        context.setVelocities(start.velocities.empty() ? std::vector<Vec3>(start.positions.size()) : start.velocities);
    }
    /** @return how far it moves the particle that it moves most (nm) */
    double project(Integrator& integrator) {
        if (auto* ours = dynamic_cast<ConstraintIntegrator*>(&integrator))
            ours->applyConstraints();
        else
            context.applyConstraints(integrator.getConstraintTolerance());
        return farthestMove();
    }
    /** Draw velocities as users do, at 300 K, where none are given: OpenMM's own algorithms fail for some constraints.
     *  Nothing is run with them, since the run may be at another temperature. */
    void drawVelocities() {
        if (!start.velocities.empty())
            return;
        constexpr double kT = 2.494; // kJ/mol
        context.setVelocitiesToTemperature(300, 1);
        const std::vector<Vec3> v = context.getState(State::Velocities).getVelocities();
        for (int i = 0; i < (int) v.size(); i++) {
            const double mass = context.getSystem().getParticleMass(i), speed = std::sqrt(v[i].dot(v[i]));
            if (mass > 0 && !(speed <= 20 * std::sqrt(kT / mass)))
                throw ConstraintException({"not-finite",
                                           {},
                                           {i},
                                           speed,
                                           20 * std::sqrt(kT / mass),
                                           "setVelocitiesToTemperature(300) gave particle " + std::to_string(i) +
                                               " a velocity of " + std::to_string(speed) + " nm/ps.",
                                           "let this library solve System constraints whatever the integrator: "
                                           "openmmconstraints.replaceSolver(system)."});
        }
    }
    /** OpenMM's own integrators go on with NaN. */
    void step(Integrator& integrator, int steps) {
        integrator.step(steps);
        farthestMove();
    }

private:
    double farthestMove() const {
        const std::vector<Vec3> x = context.getState(State::Positions).getPositions();
        double farthest = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            const Vec3 way = x[i] - start.positions[i];
            const double distance = std::sqrt(way.dot(way));
            if (!std::isfinite(distance))
                throw ConstraintException({"not-finite",
                                           {},
                                           {(int) i},
                                           ConstraintProblem::none,
                                           ConstraintProblem::none,
                                           "The position of particle " + std::to_string(i) + " became NaN or infinite.",
                                           "minimize the energy first (openmmconstraints.minimize(context)), or "
                                           "reduce the step size."});
            if (isMassive[i])
                farthest = std::max(farthest, distance);
        }
        return farthest;
    }
    const Start& start;
    Context context;
    std::vector<char> isMassive;
};

/** Try one integrator of a Context. */
void tryIntegrator(TrialContext& context, Integrator& integrator, int steps, Trial& trial) {
    const auto takeSteps = [&] { context.step(integrator, steps); };
    auto raised = problemOf(takeSteps);
    const bool isWrapped = raised && raised->kind == "minimum-image"; // no projection is asked for
    const bool isFarOff = raised && raised->kind == "far-off";        // applyConstraints() goes there in stages
    context.returnToStart();
    std::optional<ConstraintProblem> ofProjection;
    if (!isWrapped)
        ofProjection = problemOf([&] { trial.shift = context.project(integrator); });
    if (ofProjection) // says more than what the step said of the same
        raised = ofProjection;
    if (!raised)
        raised = problemOf([&] { context.drawVelocities(); });
    if (raised)
        trial.problems.push_back(*raised);
    if (isFarOff && !ofProjection)
        if (const auto later = problemOf(takeSteps))
            trial.problems.push_back(*later);
}

} // namespace

Trial tryStart(const System& system, const Integrator& integrator, const Start& start, Platform& platform, int steps) {
    requirePositions(system, start.positions);
    if (steps < 0)
        throw OpenMMException("tryStart: " + std::to_string(steps) + " steps cannot be taken.");
    Trial trial;
    const auto raised = problemOf([&] {
        const std::unique_ptr<Integrator> copy(XmlSerializer::clone<Integrator>(integrator));
        auto* compound = dynamic_cast<CompoundIntegrator*>(copy.get());
        std::vector<Integrator*> integrators = {copy.get()};
        if (compound != nullptr) {
            integrators.clear();
            for (int i = 0; i < compound->getNumIntegrators(); i++)
                integrators.push_back(&compound->getIntegrator(i));
        }
        std::unique_ptr<System> changed; // outlives the Context
        if (areAllOurs(*copy) && isOwnSetupSlow(system))
            changed = withoutOwnConstraints(system);
        TrialContext context(changed == nullptr ? system : *changed, *copy, start, platform);
        for (std::size_t i = 0; i < integrators.size(); i++) {
            if (compound != nullptr)
                compound->setCurrentIntegrator((int) i);
            context.returnToStart();
            tryIntegrator(context, *integrators[i], steps, trial);
        }
    });
    if (raised)
        trial.problems.push_back(*raised);
    else if (trial.problems.empty())
        trial.steps = steps;
    return trial;
}

} // namespace ConstraintPlugin
