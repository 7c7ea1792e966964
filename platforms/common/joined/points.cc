// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: joinedBodies.cc, rowThreads.cc
// needs if AT_BORDER: borderField.cc
// Points of rows that join rigid bodies: what a coordinate is a function of, particles and places in bodies. Their slots
// begin at firstPointSlot, behind those of the rows' nodes. Gradients are computed by point, then summed up to those of
// nodes, with which solvers work.

DEVICE bool isPoint(const Arguments* a, int slot) {
    return slot >= a->firstPointSlot;
}

/** The node slots, joined body (-1: none) and place of a point. */
DEVICE int4 nodesOfPoint(const Arguments* a, int slot) {
    return a->pointNodes[slot - a->firstPointSlot];
}

DEVICE mixed3 shapeOfPoint(const Arguments* a, int4 nodes) {
    const mixed4 shape = a->bodyShape[nodes.w];
    return make_mixed3(shape.x, shape.y, shape.z);
}

/** From the position of a slot's particle at the start to its place in the body. */
DEVICE mixed3 wayToPoint(const Arguments* a, int slot) {
    const mixed3 none = make_mixed3(0, 0, 0);
    if (!isPoint(a, slot))
        return none;
    const int4 nodes = nodesOfPoint(a, slot);
    if (nodes.z < 0)
        return none;
    const int b = nodes.z;
    const int4 kind = a->bodyKinds[a->firstJoined + bodyOf(a, b)];
    if (kind.z == 0) // the body does not rotate, and has no axes
        return none;
    mixed3 r = positionOf(a, a->slotParticle[slot]) - bodyVector(a, b, BodyVector_At);
    if ((kind.w & 2) != 0)
        r = nearestImage(r, stepStateOf(a, 0));
    return bodyVector(a, b, BodyVector_Origin) + alongAxes(axesOf(a, b), shapeOfPoint(a, nodes)) - r;
}

/** The body, or a subdomain's copy of it, that has a slot's node. */
DEVICE int bodyAt(const Arguments* a, int slot) {
#if IS_SUBDOMAIN
    if (NODE_OF(slot) >= a->firstPlace)
        return a->numJoined + a->placeBodies[NODE_OF(slot) - a->firstPlace];
#endif
    return (a->slotParticle[slot] - a->numParticles) / 2;
}

/** R s_a x G_a of a point of a body, in components along the axes.
 *  @param isDisplaced  whether the bodies have been rotated since the start */
DEVICE mixed3 torqueAt(const Arguments* a, int4 nodes, mixed3 G, bool isDisplaced) {
    mixed3 shape = shapeOfPoint(a, nodes);
    if (isDisplaced)
        shape = rotated(bodyVector(a, nodes.z, BodyVector_Rotation), shape);
    return cross(shape, componentsOf(axesOf(a, nodes.z), G));
}

#if !IS_BORDER
/** Sum up the gradients of a row's points to those of its nodes: of an origin sum_a G_a, of a turn that of the torque
 *  sum_a R s_a x G_a. */
DEVICE void sumGradients(const Arguments* a, int row, bool isDisplaced, GLOBAL mixed* gradients) {
    const int2 points = a->rowPoints[row];
    const int first = a->slotStart[row], last = a->slotStart[row + 1];
    if (points.x == first) // of particles alone: the same slots
        return;
    for (int s = first; s < last; s++)
        store3(gradients, s, make_mixed3(0, 0, 0));
    for (int s = points.x; s < points.y; s++) {
        const int4 nodes = nodesOfPoint(a, s);
        const mixed3 G = load3(gradients, s);
        store3(gradients, nodes.x, load3(gradients, nodes.x) + G);
        if (nodes.z < 0)
            continue;
        store3(gradients, nodes.y, load3(gradients, nodes.y) + torqueAt(a, nodes, G, isDisplaced));
    }
    for (int s = first; s < last; s++) {
        const int i = a->slotParticle[s] - a->numParticles;
        if (i < 0 || i % 2 == 0) // a particle or an origin
            continue;
        mixed3 v = make_mixed3(0, 0, 0);
        if (isDisplaced)
            v = bodyVector(a, bodyAt(a, s), BodyVector_Rotation);
        store3(gradients, s, turnGradient(constantsOf(a, a->firstJoined + i / 2), v, load3(gradients, s)));
    }
}
#else
/** The same by all threads of a bordered row: its points in bodies are in pieces (BorderTables.h). */
DEVICE void sumGradients(const Arguments* a, int row, bool isDisplaced, GLOBAL mixed* gradients) {
    const int2 points = a->rowPoints[row];
    const int4 pieces = a->rowPieces[row - FIRST_BORDERED]; // none of a row of particles alone
    ROW_SYNC // gradients of all points are there
    EACH_SLOT(s, points.x, isPoint(a, points.x) ? points.y : points.x) {
        const int4 nodes = nodesOfPoint(a, s);
        if (nodes.z < 0)
            store3(gradients, nodes.x, load3(gradients, s));
    }
    EACH_SLOT(piece, pieces.x, pieces.y) {
        const int2 range = a->borderPieces[piece];
        mixed3 force = make_mixed3(0, 0, 0), torque = force;
        for (int n = range.x; n < range.y; n++) {
            const int s = a->firstPointSlot + a->borderPoints[n];
            const mixed3 G = load3(gradients, s);
            force = force + G;
            torque = torque + torqueAt(a, nodesOfPoint(a, s), G, isDisplaced);
        }
        store3(a->pieceSums, 2 * piece, force);
        store3(a->pieceSums, 2 * piece + 1, torque);
    }
    ROW_SYNC
    EACH_SLOT(n, pieces.z, pieces.w) {
        const int4 body = a->borderBodies[n];
        const int b = (a->slotParticle[body.x] - a->numParticles) / 2;
        mixed3 force = make_mixed3(0, 0, 0), torque = force, v = force;
        for (int piece = body.z; piece < body.w; piece++) {
            force = force + load3(a->pieceSums, 2 * piece);
            torque = torque + load3(a->pieceSums, 2 * piece + 1);
        }
        if (isDisplaced)
            v = bodyVector(a, b, BodyVector_Rotation);
        store3(gradients, body.x, force);
        store3(gradients, body.y, turnGradient(constantsOf(a, a->firstJoined + b), v, torque));
    }
    ROW_SYNC
}
#endif

/** sum_a g_a . (w x (w x x_a)) over the places of rotating bodies: what the rotation adds to J-dot v of a row. */
DEVICE mixed centripetalOf(const Arguments* a, int row, mixed scale) {
    const int2 points = a->rowPoints[row];
    mixed sum = 0;
    EACH_SLOT(s, points.x, isPoint(a, points.x) ? points.y : points.x) {
        const int4 nodes = nodesOfPoint(a, s);
        if (nodes.z < 0)
            continue;
        const mixed3 w = scale * angularVelocityAt(a, nodes.z);
        const mixed3 g = componentsOf(axesOf(a, nodes.z), load3(a->startGradient, s));
        sum += dot(g, cross(w, cross(w, shapeOfPoint(a, nodes))));
    }
    return sumOfRow(a, sum);
}

/** J v of bodies' nodes alone, for what a kernel put into their displacements. */
DEVICE mixed rateOfBodies(const Arguments* a, int row) {
    mixed sum = 0;
    EACH_SLOT(s, a->slotStart[row], a->slotStart[row + 1])
        if (a->slotParticle[s] >= a->numParticles) {
            const mixed4 d = a->displacement[a->slotParticle[s]];
            sum += dot(load3(a->startGradient, s), make_mixed3(d.x, d.y, d.z));
        }
    return sumOfRow(a, sum);
}

// ---- bodies of a cluster ---------------------------------------------------------------------------------------------

#if IS_SUBDOMAIN
#define EACH_BODY(b)                                                                                                   \
    for (int b = a->numJoined + a->clusterBodyStart[c] + THREAD_IN_GROUP; b < a->numJoined + a->clusterBodyStart[c + 1];   \
         b += THREAD_GROUP_SIZE)
#else
#define EACH_BODY(b)                                                                                                   \
    for (int n = a->clusterBodyStart[c] + THREAD_IN_GROUP, b = 0;                                                      \
         n < a->clusterBodyStart[c + 1] && ((b = a->clusterBody[n]) >= 0); n += THREAD_GROUP_SIZE)
#endif

/** Whether a cluster moves a body, or of a cluster's subdomains this one. */
DEVICE bool ownsBody(const Arguments* a, int b) {
#if IS_SUBDOMAIN
    return a->ownsNode[a->bodyPlace[b - a->numJoined]];
#else
    return true;
#endif
}

/** Displace the bodies of a cluster after impulses on their nodes. */
DEVICE void displaceBodies(const Arguments* a, int c, bool isWanted) {
    EACH_BODY(b) if (isWanted && !displaceBody(a, b) && IS_WHOLE(c)) // subdomains do not decide alone
        reportTurned(a, b);
    THREAD_GROUP_SYNC
}

/** The same for the bodies of one row, by the thread that has it. */
DEVICE void displaceBodiesOf(const Arguments* a, int row) {
    for (int s = a->slotStart[row]; s < a->slotStart[row + 1]; s++) {
        const int i = a->slotParticle[s] - a->numParticles;
        // at its turn, which comes after its origin; rows of a colour may share an immovable body
        const bool isMoved = i >= 0 && i % 2 == 1 && a->slotInverseMass[s - 1] + a->slotInverseMass[s] > 0;
        if (isMoved && !displaceBody(a, i / 2))
            reportTurned(a, i / 2);
    }
}

/** Add an error to a report if a body of the cluster violates the tolerance. */
DEVICE void noteBodies(const Arguments* a, int c, Report* report) {
    EACH_BODY(b) if (isFlagged(a, b))
        note(report, a->rowStart[c], 1, 0);
}

/** Whether a projection moves a cluster's bodies: read in later launches, or by the same thread. */
DEVICE void flagBodies(const Arguments* a, int c, bool isSet) {
    EACH_BODY(b) if (ownsBody(a, b))
        setFlag(a, b, isSet);
}
