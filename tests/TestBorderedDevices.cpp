// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Constraints of centroids of large groups on devices, beside what Reference does with the same System.
#include "support/LargeGroups.h"
#include "support/Variable.h"
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr double tolerance = 1e-11, length = 4; // nm, half of the box: no constraint is longer

double stepSizeOf(const ConstraintTests::Setup& setup) {
    return std::get<2>(setup) == "ConstraintForce" ? 0.0005 : 0.001;
}

std::vector<ConstraintTests::Setup> onDevices(const std::vector<ConstraintTests::Setup>& all) {
    std::vector<ConstraintTests::Setup> setups;
    for (const ConstraintTests::Setup& setup : all)
        if (isDevice(std::get<0>(setup)))
            setups.push_back(setup);
    return setups;
}

ConstraintTests::Setup onReference(ConstraintTests::Setup setup) {
    std::get<0>(setup) = "Reference";
    return setup;
}

/** A Context of LargeGroups that has velocities on the constraints. */
struct Running {
    LargeGroups groups;
    Simulation s;

    explicit Running(const ConstraintTests::Setup& setup, LargeGroups::Place place = LargeGroups::Place::NoBox,
                     const std::function<void(LargeGroups&)>& change = {})
        : groups(place, std::get<2>(setup) != "RattleNoseHoover"), s(simulate(groups, setup, change)) {
        s.integrator->setMaxIterations(20000);
        s.context->setPositions(groups.positions);
        s.context->setVelocities(groups.random(0.7, 5));
        s.integrator->applyVelocityConstraints();
    }
    void step(int steps) {
        s.integrator->step(steps);
    }
    double error() const {
        const State state = s.context->getState(State::Positions | State::Parameters);
        return groups.error(state.getPositions(), state.getTime(), state.getParameters().at("lambda"));
    }

private:
    static Simulation simulate(LargeGroups& groups, const ConstraintTests::Setup& setup,
                               const std::function<void(LargeGroups&)>& change) {
        if (change)
            change(groups);
        return {std::move(groups.system), makeIntegrator(setup, stepSizeOf(setup), tolerance), std::get<0>(setup)};
    }
};

/** What users read of a state. */
struct Readings {
    Vectors positions, velocities, forces, virial;
    std::vector<double> multipliers;
    double work, derivative, kinetic;

    explicit Readings(Running& r)
        : positions(r.s.positions()), velocities(r.s.velocities()), forces(r.s.integrator->getConstraintForces()),
          virial(r.s.integrator->getConstraintVirial()), multipliers(r.s.integrator->getMultipliers()),
          work(r.s.integrator->getConstraintWork()),
          derivative(r.s.integrator->computeParameterDerivatives().at("lambda")),
          kinetic(r.s.context->getState(State::Energy).getKineticEnergy()) {
    }
};

double largestOf(const std::vector<double>& values) {
    double largest = 0;
    for (double value : values)
        largest = std::max(largest, std::abs(value));
    return largest;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

/** What rounding, of lengths and of forces, makes of a state after some steps. */
struct Bounds {
    double constraint, position, velocity, multiplier;

    Bounds(const ConstraintTests::Setup& setup, int steps) {
        // Lengths that were rounded are restored within a step, and velocities get that impulse: of a group, its mass.
        const Precision precision = precisionOf(std::get<0>(setup));
        const double dt = stepSizeOf(setup), acceleration = 200, mass = 400;
        constraint = precision.position + std::max(tolerance, precision.constraint) * length;
        velocity = steps * (precision.velocity + dt * acceleration * precision.force) + 2 * constraint / dt;
        position = constraint + steps * dt * velocity;
        multiplier = mass * (acceleration * precision.force + 2 * constraint / (dt * dt));
    }
};

void addBodies(LargeGroups& groups) {
    groups.addBodies();
}

void expectNear(Running& device, Running& reference, const ConstraintTests::Setup& setup, int steps) {
    const Bounds bounds(setup, steps);
    const Readings found(device), expected(reference);
    const double forces = precisionOf(std::get<0>(setup)).force;
    EXPECT_LT(device.error(), reference.error() + 4 * bounds.constraint);
    EXPECT_LT(distance(found.positions, expected.positions), bounds.position);
    EXPECT_LT(distance(found.velocities, expected.velocities), bounds.velocity);
    EXPECT_LT(apart(found.multipliers, expected.multipliers), bounds.multiplier);
    EXPECT_LT(distance(found.forces, expected.forces), bounds.multiplier);
    EXPECT_LT(distance(found.virial, expected.virial), 8 * bounds.multiplier); // times coordinates
    EXPECT_NEAR(found.work, expected.work, steps * stepSizeOf(setup) * bounds.multiplier);
    EXPECT_NEAR(found.derivative, expected.derivative, 100 * (forces + bounds.position));
    EXPECT_NEAR(found.kinetic, expected.kinetic, 3 * expected.kinetic * bounds.velocity);
    // Nothing of this is by chance.
    EXPECT_GT(largestOf(expected.multipliers), 300);
    EXPECT_GT(std::abs(expected.derivative), 0.01);
    EXPECT_GT(distance(found.positions, device.groups.positions), 1e-3);
}

} // namespace

// ---- every integrator

class BorderedDevices : public testing::TestWithParam<ConstraintTests::Setup> {
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"}; // where the device is a CPU, groups would merge clusters
};

TEST_P(BorderedDevices, GoWhereReferenceGoes) {
    for (LargeGroups::Place place : {LargeGroups::Place::NoBox, LargeGroups::Place::Triclinic}) {
        std::function<void(LargeGroups&)> change;
        if (place == LargeGroups::Place::NoBox)
            change = addBodies;
        Running device(GetParam(), place, change), reference(onReference(GetParam()), place, change);
        for (double lambda : {0.0, 0.5}) {
            for (Running* one : {&device, &reference}) {
                one->s.context->setParameter("lambda", lambda);
                one->step(4);
            }
            expectNear(device, reference, GetParam(), 8);
        }
    }
}

/** Two in all precisions, others in turn: OpenCL on a CPU compiles for half a minute each time. */
static std::vector<ConstraintTests::Setup> everyIntegrator() {
    const std::pair<const char*, const char*> integrators[] = {{"Rattle", ""},
                                                               {"Shake", "Single"},
                                                               {"RattleLangevin", ""},
                                                               {"ConstraintForce", "Double"},
                                                               {"RattleNoseHoover", "Single"},
                                                               {"GeodesicLangevin", "Mixed"},
                                                               {"RattleMTS", "Mixed"},
                                                               {"RattleMTSLangevin", "Double"}};
    std::vector<ConstraintTests::Setup> setups;
    for (const auto& [integrator, precision] : integrators)
        for (const ConstraintTests::Setup& setup : onDevices(setupsOf(integrator)))
            if (std::get<0>(setup).find(precision) != std::string::npos)
                setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Integrators, BorderedDevices, testing::ValuesIn(everyIntegrator()),
                         [](const auto& info) { return nameOf(info.param); });

// ---- what users do besides

class BorderedDeviceStates : public testing::TestWithParam<std::string> {
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"};

protected:
    const ConstraintTests::Setup setup = {GetParam(), ConstraintIntegrator::MatrixInversion, "Rattle"};
};

TEST_P(BorderedDeviceStates, AreProjectedAsOnReference) {
    Running device(setup, LargeGroups::Place::NoBox, addBodies),
        reference(onReference(setup), LargeGroups::Place::NoBox, addBodies);
    for (Running* one : {&device, &reference}) {
        one->s.integrator->setMaxProjection(1);
        Vectors x = one->groups.positions;
        const Vectors by = one->groups.random(0.004, 2);
        for (std::size_t p = 0; p < x.size(); p++)
            x[p] += by[p];
        one->s.context->setPositions(x);
        one->s.context->setVelocities(one->groups.random(0.7, 3));
        one->s.context->setParameter("lambda", 0.3);
        one->s.context->setTime(0.02);
        EXPECT_GT(one->s.integrator->applyConstraints(), 0.005);
        one->s.integrator->applyVelocityConstraints();
    }
    const Bounds bounds(setup, 1);
    EXPECT_LT(device.error(), 4 * bounds.constraint);
    EXPECT_LT(distance(device.s.positions(), reference.s.positions()), bounds.position);
    EXPECT_LT(distance(device.s.velocities(), reference.s.velocities()), bounds.velocity);
    for (Running* one : {&device, &reference}) { // by the step
        one->s.context->setPositions(one->groups.positions);
        one->s.context->setVelocities(one->groups.random(0.7, 4));
        one->step(4);
    }
    expectNear(device, reference, setup, 4);
}

TEST_P(BorderedDeviceStates, FollowABarostat) {
    const auto run = [](const ConstraintTests::Setup& where) {
        Running one(where, LargeGroups::Place::Box, [](LargeGroups& groups) {
            groups.addBodies();
            groups.removeSprings(); // which would make one molecule of all, and scaling it would violate nothing
            auto* barostat = new MonteCarloBarostat(1, 300, 1);
            barostat->setRandomNumberSeed(6);
            groups.system->addForce(barostat);
        });
        one.s.integrator->setMaxProjection(1);
        one.step(10);
        return one;
    };
    // One after the other: all Contexts have the same generator of random numbers.
    Running device = run(setup), reference = run(onReference(setup));
    const double volume = reference.s.context->getState(0).getPeriodicBoxVolume();
    EXPECT_GT(std::abs(volume - 9 * 8 * 8), 0.1);
    EXPECT_NEAR(device.s.context->getState(0).getPeriodicBoxVolume(), volume, 1e-6 * volume);
    const Bounds bounds(setup, 10);
    const double scaling = 1e-5; // nm, in ten moves: devices scale coordinates in single precision
    EXPECT_LT(device.error(), 4 * bounds.constraint);
    EXPECT_LT(distance(device.s.positions(), reference.s.positions()), bounds.position + scaling);
    EXPECT_LT(distance(device.s.velocities(), reference.s.velocities()), bounds.velocity + scaling / stepSizeOf(setup));
}

TEST_P(BorderedDeviceStates, ContinueFromACheckpointBitForBitBesideAnotherContext) {
    Running whole(setup, LargeGroups::Place::NoBox, addBodies), first(setup, LargeGroups::Place::NoBox, addBodies),
        second(setup, LargeGroups::Place::NoBox, addBodies), beside(setup);
    beside.s.context->setVelocities(beside.groups.random(0.5, 8));
    beside.s.context->setParameter("lambda", -0.4);
    whole.s.context->setParameter("lambda", 0.2);
    first.s.context->setParameter("lambda", 0.2);
    whole.step(6);
    for (int i = 0; i < 3; i++) {
        first.step(1);
        beside.step(1);
    }
    std::stringstream checkpoint;
    first.s.context->createCheckpoint(checkpoint);
    second.step(2); // it has something to forget
    second.s.context->loadCheckpoint(checkpoint);
    for (int i = 0; i < 3; i++) {
        beside.step(1);
        second.step(1);
    }
    const Readings found(second), expected(whole);
    EXPECT_EQ(distance(found.positions, expected.positions), 0);
    EXPECT_EQ(distance(found.velocities, expected.velocities), 0);
    EXPECT_EQ(found.multipliers, expected.multipliers);
    EXPECT_DOUBLE_EQ(found.work, expected.work); // a sum of two parts, and of one
    EXPECT_LT(beside.error(), 4 * Bounds(setup, 1).constraint);
}

TEST_P(BorderedDeviceStates, StartWarm) {
    const ConstraintTests::Setup iterative = {GetParam(), ConstraintIntegrator::Iterative, "Rattle"};
    Running device(iterative, LargeGroups::Place::NoBox, addBodies),
        reference(onReference(iterative), LargeGroups::Place::NoBox, addBodies);
    for (Running* one : {&device, &reference}) {
        one->s.integrator->setWarmStart(true);
        one->step(3);
        one->s.context->setParameter("lambda", 0.2);
        one->step(3);
        one->s.integrator->setStepSize(0.5 * stepSizeOf(iterative));
        one->step(2);
        one->s.integrator->setStepSize(stepSizeOf(iterative));
        one->step(1);
    }
    expectNear(device, reference, iterative, 9);
}

// ---- what stops a step

namespace {

/** What steps throw. The state is then that before, and steps go on once the cause is undone. */
ConstraintProblem problemOf(Running& one, const std::function<void(Running&)>& cause,
                            const std::function<void(Running&)>& undo) {
    cause(one);
    const State before = one.s.context->getState(State::Positions | State::Velocities);
    const long long steps = one.s.context->getStepCount();
    ConstraintProblem problem;
    try {
        one.step(1);
    } catch (const ConstraintException& exception) {
        problem = exception.getProblem();
    }
    const State after = one.s.context->getState(State::Positions | State::Velocities);
    EXPECT_EQ(distance(after.getPositions(), before.getPositions()), 0);
    EXPECT_EQ(distance(after.getVelocities(), before.getVelocities()), 0);
    EXPECT_EQ(one.s.context->getStepCount(), steps);
    undo(one);
    one.step(2);
    EXPECT_EQ(one.s.context->getStepCount(), steps + 2);
    return problem;
}

void pullEnds(Running& one, double rate) {
    const double now = one.s.context->getState(0).getTime();
    one.groups.distances->setCentroidDistanceRate(LargeGroups::endToEnd, rate, now);
    one.groups.distances->updateParametersInContext(*one.s.context);
}

} // namespace

TEST_P(BorderedDeviceStates, StopWhereGroupsArePulledFartherThanMoleculesAllow) {
    Running device(setup), reference(onReference(setup));
    for (Running* one : {&device, &reference}) {
        one->step(2);
        one->s.integrator->setMaxIterations(200);
        const Vectors v = one->s.velocities();
        const ConstraintProblem problem = problemOf(
            *one,
            [](Running& r) {
                pullEnds(r, 300);
                r.s.integrator->applyVelocityConstraints();
            },
            [&](Running& r) {
                pullEnds(r, 0);
                r.s.context->setVelocities(v);
            });
        const std::set<std::string> kinds = {"not-converged", "singular", "too-fast"};
        EXPECT_EQ(kinds.count(problem.kind), 1u) << problem.kind;
        EXPECT_EQ(problem.constraints.size(), 1u);
    }
}

TEST_P(BorderedDeviceStates, NameATargetThatLeavesItsRange) {
    ConstraintProblem problems[2];
    Running device(setup), reference(onReference(setup));
    for (Running* one : {&device, &reference}) {
        one->step(2);
        const Vectors v = one->s.velocities();
        problems[one == &reference] = problemOf(
            *one, [](Running& r) { pullEnds(r, -1e4); },
            [&](Running& r) {
                pullEnds(r, 0);
                r.s.context->setVelocities(v);
            });
    }
    EXPECT_EQ(problems[0].kind, "moving");
    EXPECT_EQ(problems[0].kind, problems[1].kind);
    EXPECT_EQ(problems[0].constraints, problems[1].constraints);
    EXPECT_EQ(problems[0].message, problems[1].message);
}

TEST_P(BorderedDeviceStates, NameAConstraintThatContradictsAnother) {
    // The same groups again, at a distance that leaves the other one between the second and the third step.
    const auto addSecond = [](LargeGroups& groups) {
        auto* second = new CustomCentroidConstraintForce(2, "distance(g1,g2)-h-1e5*max(0,t-0.0025)^2");
        second->addPerConstraintParameter("h");
        std::vector<int> unused;
        double h;
        groups.distances->getCentroidDistanceParameters(LargeGroups::endToEnd, unused, unused, h);
        second->addConstraint({second->addGroup(groups.ends[0]), second->addGroup(groups.ends[1])}, {h});
        groups.system->addForce(second);
    };
    ConstraintProblem problems[2];
    Running device(setup, LargeGroups::Place::NoBox, addSecond),
        reference(onReference(setup), LargeGroups::Place::NoBox, addSecond);
    for (Running* one : {&device, &reference}) {
        try {
            one->step(5);
        } catch (const ConstraintException& exception) {
            problems[one == &reference] = exception.getProblem();
        }
        EXPECT_EQ(one->s.context->getStepCount(), 2);
    }
    EXPECT_EQ(problems[0].kind, "inconsistent");
    EXPECT_EQ(problems[0].kind, problems[1].kind);
    EXPECT_EQ(problems[0].constraints, problems[1].constraints);
    EXPECT_NEAR(problems[0].value, problems[1].value, 1e-5);
    EXPECT_LT(distance(device.s.positions(), reference.s.positions()), Bounds(setup, 2).position);
}

TEST_P(BorderedDeviceStates, StopWhereForcesAreNotFinite) {
    for (int sort : {0, 1, 2}) { // of a water, of the chain, and of a body
        Running device(setup, LargeGroups::Place::NoBox, addBodies),
            reference(onReference(setup), LargeGroups::Place::NoBox, addBodies);
        for (Running* one : {&device, &reference}) {
            const int spring = sort == 0 ? 40 : sort == 1 ? 250 : one->groups.springs->getNumBonds() - 20;
            int ends[2];
            const auto setLength = [&](Running& r, double length) {
                double unused, k;
                r.groups.springs->getBondParameters(spring, ends[0], ends[1], unused, k);
                r.groups.springs->setBondParameters(spring, ends[0], ends[1], length, k);
                r.groups.springs->updateParametersInContext(*r.s.context);
            };
            one->step(2);
            const ConstraintProblem problem = problemOf(
                *one, [&](Running& r) { setLength(r, std::numeric_limits<double>::quiet_NaN()); },
                [&](Running& r) { setLength(r, 0.3); });
            EXPECT_EQ(problem.kind, "not-finite") << problem.text();
            const std::vector<int>& named = problem.particles; // both ends of the spring have this force
            EXPECT_TRUE(std::any_of(named.begin(), named.end(), [&](int p) { return p == ends[0] || p == ends[1]; }))
                << problem.text();
        }
    }
}

/** Its nodes cannot move, so it is not at the border, but atoms of a group are at places in it. */
TEST_P(BorderedDeviceStates, FollowAGroupThatHasABodyHeldByAnchors) {
    const auto addHeld = [](LargeGroups& groups) {
        std::vector<int> body;
        Vectors shape;
        for (int i = 0; i < 6; i++) {
            body.push_back(groups.system->addParticle(i < 3 ? 0 : 5 + i)); // three anchors that are not on a line
            shape.emplace_back(1.1 + 0.1 * (i % 3), 0.9 + 0.06 * i, 0.4 + 0.1 * (i % 2));
            groups.positions.push_back(shape.back());
        }
        groups.distances->addRigidBody(body, shape);
        std::vector<int> group(groups.waters.begin(), groups.waters.begin() + 60);
        group.insert(group.end(), body.begin() + 3, body.end());
        const auto centroid = [&](const std::vector<int>& of) {
            return centroidOf(*groups.system, groups.positions, of);
        };
        const Vec3 r = centroid(group) - centroid(groups.chain);
        groups.distances->addCentroidDistance(group, groups.chain, std::sqrt(r.dot(r)));
    };
    Running device(setup, LargeGroups::Place::NoBox, addHeld),
        reference(onReference(setup), LargeGroups::Place::NoBox, addHeld);
    for (Running* one : {&device, &reference})
        one->step(3);
    expectNear(device, reference, setup, 3);
}

/** A body in no cluster, about an axis through the centroids of both groups that have its particles: its velocities
 *  are on the constraints. */
TEST_P(BorderedDeviceStates, StopWhereABodyTurnsTooFar) {
    const auto turn = [this](Running& r) {
        const Vectors x = r.s.positions();
        Vectors v = r.s.velocities();
        const std::vector<int>& body = r.groups.large;
        const auto centroid = [&](int first) {
            return centroidOf(r.s.context->getSystem(), x, {body.begin() + first, body.end()});
        };
        const Vec3 centre = centroid(0), axis = centroid(LargeGroups::firstShared) - centre;
        for (int p : body)
            v[p] += (axis / std::sqrt(axis.dot(axis)) * (2 / stepSizeOf(setup))).cross(x[p] - centre);
        r.s.context->setVelocities(v);
    };
    for (bool isWarm : {false, true}) {
        ConstraintTests::Setup where = setup;
        if (isWarm)
            std::get<1>(where) = ConstraintIntegrator::Iterative;
        ConstraintProblem problems[2];
        Running device(where, LargeGroups::Place::NoBox, addBodies),
            reference(onReference(where), LargeGroups::Place::NoBox, addBodies);
        for (Running* one : {&device, &reference}) {
            one->s.integrator->setWarmStart(isWarm);
            one->step(2);
            const Vectors v = one->s.velocities();
            problems[one == &reference] = problemOf(*one, turn, [&](Running& r) { r.s.context->setVelocities(v); });
        }
        EXPECT_EQ(problems[1].particles, reference.groups.large);
        EXPECT_EQ(problems[0].kind, problems[1].kind);
        EXPECT_EQ(problems[0].particles, problems[1].particles);
        EXPECT_NEAR(problems[0].value, problems[1].value, 1e-3);
    }
}

static std::vector<std::string> devices() {
    std::vector<std::string> names;
    for (const std::string& platform : platformsUnderTest())
        if (isDevice(platform))
            names.push_back(platform);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Platforms, BorderedDeviceStates, testing::ValuesIn(devices()),
                         [](const auto& info) { return info.param; });
