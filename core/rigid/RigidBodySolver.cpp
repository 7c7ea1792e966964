// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidBodySolver.h"
#include <algorithm>
#include <limits>

namespace ConstraintPlugin {

using rigid::BodyAxes;
using rigid::Moments;
using rigid::RigidMotion;

namespace {

/** Particles of a task. A body of more has its sums in several parts. */
constexpr int partSize = 2048;

void add(Moments& sum, const Moments& other) {
    sum.total += other.total;
    sum.first += other.first;
    sum.second += other.second;
    sum.third += other.third;
}

bool isFinite(const RigidMotion& motion) {
    return isFinite(motion.t) && isFinite(motion.p1) && isFinite(motion.p2) && isFinite(motion.p3);
}

/** Whether positions determine the place of a body's particles, rather than all of them being immovable, or alone. */
bool hasPlaces(const RigidBody& body) {
    return body.constants.rotations > 0;
}

const Real3& referenceOf(const RigidBody& body, const Real3* positions) {
    return positions[body.particles[body.reference]];
}

/** Of a body that shares particles; one that is held has none given. */
const JoinedMotions::Motion& motionOf(const JoinedMotions& joined, int body) {
    static const JoinedMotions::Motion none;
    const JoinedMotions::Motion* const given = joined.of(body);
    return given == nullptr ? none : *given;
}

const Box& boxOf(const RigidBody& body, const Box& box) {
    static const Box none;
    return body.periodic ? box : none;
}

} // namespace

Real3 wayToPlace(const RigidBody& body, int i, const bodyLoops::Frame& frame, const Real3* positions, const Box& box) {
    if (!hasPlaces(body))
        return {};
    return frame.origin + rigid::alongAxes(frame.axes, body.shape[i]) - fromReference(body, i, positions, box);
}

RigidBodySolver::RigidBodySolver(const std::vector<RigidBody>& bodies) : bodies(bodies), firstPlace{0} {
    int inTask = partSize;
    for (int b = 0; b < (int) bodies.size(); b++) {
        const int n = bodies[b].size();
        firstPlace.push_back(firstPlace.back() + n);
        if (n > partSize) {
            for (int first = 0; first < n; first += partSize)
                tasks.push_back({b, b + 1, first, std::min(first + partSize, n)});
            inTask = partSize;
            continue;
        }
        if (inTask + n > partSize) {
            tasks.push_back({b, b, 0, 0});
            inTask = 0;
        }
        tasks.back().lastBody = b + 1;
        inTask += n;
    }
    takeShapes();
}

void RigidBodySolver::takeShapes() {
    places.clear();
    places.reserve(numPlaces());
    copies.clear();
    for (int b = 0; b < (int) bodies.size(); b++)
        for (int i = 0; i < bodies[b].size(); i++) {
            places.push_back({bodies[b].shape[i], bodies[b].mass[i]});
            if (!bodies[b].sharers.empty() && bodies[b].sharers[i] > 1 && bodies[b].mass[i] > 0)
                copies.push_back({bodies[b].particles[i], b, i});
        }
    std::stable_sort(copies.begin(), copies.end(),
                     [](const Copy& one, const Copy& other) { return one.particle < other.particle; });
    moving.clear();
    if (!copies.empty())
        moving = places;
    for (const Copy& copy : copies)
        moving[firstPlace[copy.body] + copy.placeInBody].mass = 0;
}

template <class ValueOf>
void RigidBodySolver::averageShared(Real3* field, ValueOf valueOf) const {
    for (std::size_t first = 0, last = 0; first < copies.size(); first = last) {
        Real3 sum;
        for (; last < copies.size() && copies[last].particle == copies[first].particle; last++) {
            const Copy& copy = copies[last];
            sum += valueOf(copy.body, copy.placeInBody, firstPlace[copy.body] + copy.placeInBody);
        }
        field[copies[first].particle] = (1.0 / (double) (last - first)) * sum; // they have equal masses
    }
}

void RigidBodySolver::Sums::add(const Sums& other) {
    ConstraintPlugin::add(place, other.place);
    ConstraintPlugin::add(field, other.field);
}

RigidBodySolver::Sums RigidBodySolver::sumOf(int body, int first, int last, const Real3* positions, const Box& box,
                                             const Real3* field) const {
    Sums sums;
    const RigidBody& b = bodies[body];
    bodyLoops::findMoments(rangeOf(body, first, last, places), positions, referenceOf(b, positions), boxOf(b, box),
                           field, sums.place, sums.field);
    return sums;
}

bodyLoops::Frame frameOf(const RigidBody& body, const Moments& place, const Real3* positions, const Box& box) {
    if (!hasPlaces(body))
        return {};
    const Real3 first = body.axisAnchor < 0 ? place.first : fromReference(body, body.axisAnchor, positions, box);
    return {body.constants.inverseMass * place.total, rigid::bodyAxes(first, place.second, body.isLinear)};
}

template <class Move>
auto RigidBodySolver::eachOf(const std::vector<BodyPlace>& some, Move move) const {
    return [this, &some, move](int b, int first, int last, const Frame& frame, const RigidMotion& motion) {
        for (int i = first; i < last; i++)
            if (some[firstPlace[b] + i].mass > 0)
                move(bodies[b], i, firstPlace[b] + i, frame, motion);
    };
}

template <class Solve, class Move>
BodyReport RigidBodySolver::solveEach(const Real3* positions, const Box& box, const Real3* field,
                                      const JoinedMotions& joined, Solve solve, Move move, bool isFitted) {
    struct Part {
        Sums sums;
        Frame frame;
        RigidMotion motion;
        int failed = -1;
    };
    std::vector<Part> parts(tasks.size());
    const auto needsSums = [&](int b) { return isFitted || joined.of(b) == nullptr; };
    const auto solveBody = [&](int b, Part& part) {
        const RigidBody& body = bodies[b];
        const JoinedMotions::Motion* const given = joined.of(b);
        if (given != nullptr)
            part.motion = given->motion;
        if (!needsSums(b)) {
            part.frame = given->frame;
            return true;
        }
        part.frame = frameOf(body, part.sums.place, positions, box);
        BodyAxes& axes = part.frame.axes;
        if (isFitted && hasPlaces(body)) {
            const Real3 turn = rigid::angularVelocity(body.constants, axes, part.sums.place);
            axes = rigid::fittedAxes(axes, turn, body.isLinear);
        }
        if (given != nullptr || solve(b, part.frame, part.sums.field, part.motion))
            return true;
        part.failed = b;
        return false;
    };
    const auto forEachTask = [&](const std::function<void(int, int)>& task) {
        if (runner != nullptr)
            runner->run((int) tasks.size(), task);
        else
            TaskRunner().run((int) tasks.size(), task);
    };
    const auto isPart = [](const Task& task) { return task.last > 0; };
    bool hasParts = false;
    for (const Task& task : tasks)
        hasParts |= isPart(task);

    forEachTask([&](int t, int) {
        const Task& task = tasks[t];
        Part& part = parts[t];
        if (isPart(task)) {
            if (needsSums(task.firstBody))
                part.sums = sumOf(task.firstBody, task.first, task.last, positions, box, field);
            return;
        }
        for (int b = task.firstBody; b < task.lastBody; b++) {
            if (needsSums(b))
                part.sums = sumOf(b, 0, bodies[b].size(), positions, box, field);
            if (!solveBody(b, part))
                return;
            move(b, 0, bodies[b].size(), part.frame, part.motion);
        }
    });
    if (hasParts) {
        for (std::size_t first = 0, t = 0; t < tasks.size(); t++) {
            if (!isPart(tasks[t]))
                continue;
            if (tasks[t].first == 0)
                first = t;
            else
                parts[first].sums.add(parts[t].sums);
            if (tasks[t].last == bodies[tasks[t].firstBody].size()) {
                solveBody(tasks[t].firstBody, parts[first]);
                for (std::size_t other = first + 1; other <= t; other++) {
                    parts[other].frame = parts[first].frame;
                    parts[other].motion = parts[first].motion;
                    parts[other].failed = parts[first].failed;
                }
            }
        }
        forEachTask([&](int t, int) {
            if (isPart(tasks[t]) && parts[t].failed < 0)
                move(tasks[t].firstBody, tasks[t].first, tasks[t].last, parts[t].frame, parts[t].motion);
        });
    }
    BodyReport report;
    for (const Part& part : parts)
        if (part.failed >= 0) {
            report.body = part.failed;
            report.isSolved = false;
            const RigidBody& body = bodies[part.failed];
            const Real3 turn = rigid::angularVelocity(body.constants, part.frame.axes, part.sums.field);
            report.rotation = isFinite(part.motion) ? norm(turn) : std::numeric_limits<double>::quiet_NaN();
            report.particle = body.particles[body.reference];
            break;
        }
    return report;
}

BodyReport RigidBodySolver::solvePositions(const Real3* positions, const Box& box, Real3* delta, double perTime,
                                           Real3* velocity, std::vector<Real3>& impulses, const JoinedMotions& joined) {
    impulses.resize(numPlaces());
    const BodyReport report = solveEach(
        positions, box, delta, joined,
        [&](int b, const Frame& frame, const Moments& displacement, RigidMotion& motion) {
            return rigid::displace(bodies[b].constants, frame.axes, displacement, &motion);
        },
        [&](int b, int first, int last, const Frame& frame, const RigidMotion& motion) {
            const RigidBody& body = bodies[b];
            bodyLoops::displace(movingRangeOf(b, first, last), motion, hasPlaces(body) ? &frame : nullptr, positions,
                                referenceOf(body, positions), boxOf(body, box), delta, perTime, velocity,
                                &impulses[firstPlace[b] + first]);
        });
    averageShared(delta, [&](int b, int i, int place) {
        const RigidBody& body = bodies[b];
        const JoinedMotions::Motion& given = motionOf(joined, b);
        const int p = body.particles[i];
        const Real3 displacement = rigid::motionOf(given.motion, body.shape[i]), change = displacement - delta[p];
        impulses[place] = body.mass[i] * change;
        if (velocity != nullptr)
            velocity[p] += (perTime / body.sharers[i]) * change;
        return displacement + wayToPlace(body, i, given.frame, positions, box);
    });
    return report;
}

BodyReport RigidBodySolver::solveVelocities(const Real3* positions, const Box& box, Real3* velocity,
                                            std::vector<Real3>& impulses, const JoinedMotions& joined) {
    impulses.resize(numPlaces());
    const BodyReport report = solveEach(
        positions, box, velocity, joined,
        [&](int b, const Frame& frame, const Moments& moments, RigidMotion& motion) {
            motion = rigid::rigidVelocity(bodies[b].constants, frame.axes, moments);
            return isFinite(motion);
        },
        [&](int b, int first, int last, const Frame&, const RigidMotion& motion) {
            bodyLoops::setVelocities(movingRangeOf(b, first, last), motion, velocity, &impulses[firstPlace[b] + first]);
        });
    averageShared(velocity, [&](int b, int i, int place) {
        const Real3 v = rigid::motionOf(motionOf(joined, b).motion, bodies[b].shape[i]);
        impulses[place] = bodies[b].mass[i] * (v - velocity[bodies[b].particles[i]]);
        return v;
    });
    return report;
}

BodyReport RigidBodySolver::solveAccelerations(const Real3* positions, const Box& box, const Real3* velocity,
                                               Real3* acceleration, const Stabilization& feedback,
                                               std::vector<Real3>& forces, const JoinedMotions& joined) {
    // b_i = -2 alpha (v_i - its rigid velocity), and the angular velocities
    std::vector<Real3> damping(numPlaces()), angular(bodies.size());
    solveEach(
        positions, box, velocity, {},
        [&](int b, const Frame& frame, const Moments& moments, RigidMotion& motion) {
            motion = rigid::rigidVelocity(bodies[b].constants, frame.axes, moments);
            angular[b] = rigid::angularVelocity(bodies[b].constants, frame.axes, moments);
            return true;
        },
        eachParticle([&](const RigidBody& body, int i, int place, const Frame&, const RigidMotion& motion) {
            damping[place] =
                (-2 * feedback.alpha) * (velocity[body.particles[i]] - rigid::motionOf(motion, body.shape[i]));
        }),
        true);
    forces.resize(numPlaces());
    const auto constrained = [&](const RigidBody& body, int i, int place, const Frame& frame,
                                 const RigidMotion& motion) {
        const Real3 a = rigid::motionOf(motion, body.shape[i]) + damping[place] +
                        (feedback.beta * feedback.beta) * wayToPlace(body, i, frame, positions, box);
        forces[place] = body.mass[i] * (a - acceleration[body.particles[i]]);
        return a;
    };
    const BodyReport report = solveEach(
        positions, box, acceleration, joined,
        [&](int b, const Frame& frame, const Moments& moments, RigidMotion& motion) {
            motion = rigid::rigidAcceleration(bodies[b].constants, frame.axes, moments, angular[b]);
            return isFinite(motion);
        },
        eachMoving([&](const RigidBody& body, int i, int place, const Frame& frame, const RigidMotion& motion) {
            acceleration[body.particles[i]] = constrained(body, i, place, frame, motion);
        }),
        true);
    averageShared(acceleration, [&](int b, int i, int place) {
        const JoinedMotions::Motion& given = motionOf(joined, b);
        return constrained(bodies[b], i, place, given.frame, given.motion);
    });
    return report;
}

void RigidBodySolver::solveVelocitySpread(const Real3* positions, const Box& box, const Real3* w,
                                          std::vector<Real3>& forces, const JoinedMotions& joined) {
    forces.resize(numPlaces());
    solveEach(
        positions, box, w, joined,
        [&](int b, const Frame& frame, const Moments& moments, RigidMotion& motion) {
            const rigid::BodyConstants& constants = bodies[b].constants;
            const Real3 half = 0.5 * rigid::angularVelocity(constants, frame.axes, moments);
            motion = rigid::rigidAcceleration(constants, frame.axes, Moments(), half);
            return true;
        },
        eachParticle([&](const RigidBody& body, int i, int place, const Frame&, const RigidMotion& motion) {
            forces[place] = body.mass[i] * rigid::motionOf(motion, body.shape[i]);
        }));
}

BodyReport RigidBodySolver::measurePositions(const Real3* positions, const Box& box) const {
    BodyReport report;
    for (int b = 0; b < (int) bodies.size(); b++) {
        const BodyFit fit = fitBody(bodies[b], positions, box);
        const double error = bodies[b].radius > 0 ? fit.deviation / bodies[b].radius : 0 * fit.deviation; // NaN of NaN
        if (report.body < 0 || !(error <= report.error)) {                                                // NaN, too
            report.body = b;
            report.error = error;
            report.particle = fit.particle;
        }
        if (std::isnan(error))
            break;
    }
    return report;
}

BodyReport RigidBodySolver::measureVelocities(const Real3* positions, const Box& box, const Real3* velocity,
                                              double timeScale) {
    std::vector<double> error(numPlaces());
    solveEach(
        positions, box, velocity, {},
        [&](int b, const Frame& frame, const Moments& moments, RigidMotion& motion) {
            motion = rigid::rigidVelocity(bodies[b].constants, frame.axes, moments);
            return true;
        },
        eachParticle([&](const RigidBody& body, int i, int place, const Frame&, const RigidMotion& motion) {
            const double difference = norm(velocity[body.particles[i]] - rigid::motionOf(motion, body.shape[i]));
            error[place] = body.radius > 0 ? difference * timeScale / body.radius : 0;
        }));
    BodyReport report;
    for (int b = 0; b < (int) bodies.size(); b++)
        for (int place = firstPlace[b]; place < firstPlace[b + 1]; place++)
            if (report.body < 0 || (!std::isnan(report.error) && !(error[place] <= report.error))) {
                report.body = b;
                report.error = error[place];
                report.particle = bodies[b].particles[place - firstPlace[b]];
            }
    return report;
}

} // namespace ConstraintPlugin
