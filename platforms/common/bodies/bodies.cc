// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: bodySums.cc
// Rigid bodies in closed form (rigidMotion.cc), and the frames of those that constraints join (joinedStages.cc).
//
// A solve is three functions: take_<solve>() adds a particle to the body's sums, prepare_<solve>() finds the body's
// motion, and apply_<solve>() sets the change c of a particle. The host generates the loops over particles, with the
// operations on each particle between them (steps.cc). A projection is two of them: the first finds the motion, the
// second counts the particles that violate the tolerance; a body without any is left as it is.
//
// The host defines SUMS_STAGES: whether what users read are impulses of all stages of a step together; VELOCITIES_FIRST:
// whether a velocity stage is the first; READS_VELOCITY_STAGE: whether they read those of a velocity stage that ends a step.

DEVICE mixed3 fromReference(const Arguments* a, const Body* body, int i) {
    const mixed3 r = positionOf(a, i) - body->at;
    return body->isPeriodic ? nearestImage(r, stepStateOf(a, 0)) : r;
}

DEVICE mixed3 shapeOf(const Arguments* a, int place) {
    const mixed4 shape = a->bodyShape[place];
    return make_mixed3(shape.x, shape.y, shape.z);
}

DEVICE void addMoments(Moments* sum, mixed mass, mixed3 s, mixed3 y) {
    const mixed3 my = mass * y;
    sum->total = sum->total + my;
    sum->first = sum->first + s.x * my;
    sum->second = sum->second + s.y * my;
    sum->third = sum->third + s.z * my;
}

/** Add a particle to the sums of its body. @param s  its shape  @param r  its position, from the reference particle */
DEVICE void addPlace(mixed mass, mixed3 s, mixed3 r, mixed3 field, BodySums* sums) {
    const mixed3 mu = mass * r;
    sums->place = sums->place + mu;
    sums->first = sums->first + s.x * mu;
    sums->second = sums->second + s.y * mu;
#if HAS_ACCELERATIONS
    sums->third = sums->third + s.z * mu;
#endif
    addMoments(&sums->field, mass, s, field);
}

/** Add a particle's position and a field to the sums of its body. */
DEVICE void addParticle(const Arguments* a, const Body* body, int place, int i, mixed3 field, BodySums* sums) {
    addPlace(a->bodyShape[place].w, shapeOf(a, place), fromReference(a, body, i), field, sums);
}

/** Set the axes and the origin. A body that does not rotate has none: its particles are immovable, or it has only one.
 */
DEVICE void prepareFrame(const Arguments* a, Body* body, const BodySums* sums) {
    body->origin = make_mixed3(0, 0, 0);
    body->axes.e1 = body->axes.e2 = body->axes.e3 = body->origin;
    body->motion = turning(body->axes, body->origin);
    if (body->constants.rotations == 0)
        return;
    body->origin = body->constants.inverseMass * sums->place;
    const mixed3 first = body->axisAnchor < 0 ? sums->first : fromReference(a, body, body->axisAnchor);
    body->axes = bodyAxes(first, sums->second, body->isLinear);
}

/** From a particle's position to its place in the body. */
DEVICE mixed3 wayToPlace(const Arguments* a, const Body* body, int i, mixed3 s) {
    if (body->constants.rotations == 0)
        return make_mixed3(0, 0, 0);
    return body->origin + alongAxes(body->axes, s) - fromReference(a, body, i);
}

/** Add to the change of a particle's velocity by its body's forces in this step, from which these are computed. */
DEVICE void noteImpulse(const Arguments* a, int place, mixed3 change, bool isFirst) {
    const int n = a->momentIndex * a->numBodyPlaces + place;
    store3(a->bodyImpulse, n, isFirst ? change : load3(a->bodyImpulse, n) + change);
}

/** The same of a stage at the end of the step, behind those of both buffers. */
DEVICE void noteEndImpulse(const Arguments* a, int place, mixed3 change) {
#if READS_VELOCITY_STAGE
    store3(a->bodyImpulse, (2 + a->bufferIndex) * a->numBodyPlaces + place, change);
#endif
}

DEVICE void failBody(const Arguments* a, const Body* body, int solve, int outcome, mixed error) {
    Report report = newReport();
    report.outcome = outcome;
    report.error = error;
    if (BODY_LANE == 0 && body->part == body->firstPart)
        writeReport(a, solve, a->firstBodyCluster + body->number, report);
}

// ---- positions -------------------------------------------------------------------------------------------------------

DEVICE void take_solvePositions(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                BodySums* sums) {
    addParticle(a, body, place, i, p->d, sums);
}

DEVICE void prepare_solvePositions(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    RigidMotion motion;
    if (displace(body->constants, body->axes, sums->field, &motion)) {
        body->motion = motion;
        return;
    }
    const mixed3 turn = scaledBy(angularMoment(body->axes, sums->field), body->constants.inverseInertia);
    const mixed angle = sqrt(dot(turn, turn));
    failBody(a, body, StepSolve_Positions, angle < INFINITE_ERROR ? Outcome_NotConverged : Outcome_NotFinite, angle);
}

/** What rounding of positions moved a particle from its place is corrected by its displacement: it is no impulse. */
DEVICE void apply_solvePositions(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    const mixed3 s = shapeOf(a, place);
    p->c = motionOf(body->motion, s) - p->d;
    p->d = p->d + wayToPlace(a, body, i, s);
    noteImpulse(a, place, (a->driftTime > 0 ? 1 / a->driftTime : 0) * p->c,
                !VELOCITIES_FIRST && momentOf(a) == 0);
}

DEVICE void take_measurePositions(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                  BodySums* sums) {
    addParticle(a, body, place, i, make_mixed3(0, 0, 0), sums);
}

DEVICE void prepare_measurePositions(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
}

DEVICE void apply_measurePositions(const Arguments* a, const Body* body, int place, int i, Particle* p) {
}

/** The host projects bodies that are far off, which are left as they are: their violations add up to less than none. */
DEVICE void take_projectPositions(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                  BodySums* sums) {
    take_measurePositions(a, body, place, i, p, sums);
    const mixed3 way = wayToPlace(a, body, i, shapeOf(a, place));
    const mixed inverseScale = body->radius > 0 ? 1 / body->radius : 0;
    const mixed error = sqrt(dot(way, way)) * inverseScale;
    if (!(error <= a->farOff)) { // or NaN
        sums->violations = -INFINITE_ERROR;
        fail(a, a->firstBodyCluster + body->number);
    } else if (error > a->threshold + roundingOf(a, largestComponent(positionOf(a, i)), inverseScale))
        sums->violations += 1;
}

DEVICE void prepare_projectPositions(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    body->isViolated = sums->violations > 0;
}

DEVICE void apply_projectPositions(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    if (body->isViolated)
        p->c = wayToPlace(a, body, i, shapeOf(a, place));
}

// ---- velocities ------------------------------------------------------------------------------------------------------

DEVICE void take_solveVelocities(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                 BodySums* sums) {
    addParticle(a, body, place, i, p->v, sums);
}

DEVICE void prepare_solveVelocities(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    body->motion = rigidVelocity(body->constants, body->axes, sums->field);
}

DEVICE void apply_solveVelocities(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    p->c = motionOf(body->motion, shapeOf(a, place)) - p->v;
#if SUMS_STAGES
    noteImpulse(a, place, p->c, VELOCITIES_FIRST || momentOf(a) > 0);
#else
    noteEndImpulse(a, place, p->c);
#endif
}

#define take_solveHeatedVelocities take_solveVelocities
#define prepare_solveHeatedVelocities prepare_solveVelocities
#define take_measureVelocities take_solveVelocities
#define prepare_measureVelocities prepare_solveVelocities
#define apply_measureVelocities apply_measurePositions

/** Without friction the velocities are those of the first solve. */
DEVICE void apply_solveHeatedVelocities(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    p->c = motionOf(body->motion, shapeOf(a, place)) - p->v;
    if (a->velocityScale == 1)
        p->c = make_mixed3(0, 0, 0);
}

DEVICE void take_projectVelocities(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                   BodySums* sums) {
    take_measureVelocities(a, body, place, i, p, sums);
    const mixed3 change = motionOf(body->motion, shapeOf(a, place)) - p->v;
    if (!(sqrt(dot(change, change)) * a->timeScale <= a->tolerance * body->radius))
        sums->violations += 1;
}

DEVICE void prepare_projectVelocities(const Arguments* a, Body* body, const BodySums* sums) {
    prepare_measureVelocities(a, body, sums);
    body->isViolated = sums->violations > 0;
}

DEVICE void apply_projectVelocities(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    if (body->isViolated)
        p->c = motionOf(body->motion, shapeOf(a, place)) - p->v;
}

// ---- accelerations ---------------------------------------------------------------------------------------------------

#if HAS_ACCELERATIONS
DEVICE void take_solveStartAccelerations(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                         BodySums* sums) {
    addParticle(a, body, place, i, p->d, sums);
    addMoments(&sums->rate, a->bodyShape[place].w, shapeOf(a, place), p->v);
}

/** Set axes with which feedback exerts no torque, and the origin. */
DEVICE void prepareFittedFrame(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    if (body->constants.rotations > 0) {
        Moments places;
        places.first = sums->first;
        places.second = sums->second;
        places.third = sums->third;
        const mixed3 turn = angularVelocity(body->constants, body->axes, places);
        body->axes = fittedAxes(body->axes, turn, body->isLinear);
    }
}

DEVICE void prepare_solveStartAccelerations(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFittedFrame(a, body, sums);
    const mixed3 w = angularVelocity(body->constants, body->axes, sums->rate);
    body->rate = rigidVelocity(body->constants, body->axes, sums->rate);
    body->motion = rigidAcceleration(body->constants, body->axes, sums->field, w);
}

/** Accelerations of the body, with feedback on what the particle deviates from its velocity and place. */
DEVICE mixed3 accelerationChange(const Arguments* a, const Body* body, int place, int i, const Particle* p,
                                 mixed3 way) {
    const mixed3 s = shapeOf(a, place);
    return motionOf(body->motion, s) - p->d - 2 * a->alpha * (p->v - motionOf(body->rate, s)) + a->beta * a->beta * way;
}

DEVICE void apply_solveStartAccelerations(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    p->c = accelerationChange(a, body, place, i, p, wayToPlace(a, body, i, shapeOf(a, place)));
    noteImpulse(a, place, p->c, true);
}

#define take_solveEndAccelerations take_solveStartAccelerations
#define prepare_solveEndAccelerations prepare_solveStartAccelerations

DEVICE void apply_solveEndAccelerations(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    const mixed3 way = wayToPlace(a, body, i, shapeOf(a, place));
    p->c = accelerationChange(a, body, place, i, p, way);
    noteEndImpulse(a, place, p->c);
    const mixed error = body->radius > 0 ? sqrt(dot(way, way)) / body->radius : 0;
    a->bodyError[place] = error;
    if (!(error <= a->maxDrift))
        fail(a, a->firstBodyCluster + body->number);
}
#endif
