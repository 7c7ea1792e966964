// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc, coordinates.cc, rowThreads.cc, custom
// needs if HAS_JOINTS: points.cc
// sigma and grad sigma of constraints of any kind, on arrays in global memory. A row has one slot per particle, as in
// core/constraints/Jacobian.h: start and current gradients are stored by slot, as are bond vectors at the start (the
// last one of a row is not used). The host generates evaluateCustom(), with a case for every expression.
//
// Where rows join rigid bodies (HAS_JOINTS), a row has a slot per node, and the particles and places that its coordinate
// is a function of are points, with slots of their own (points.cc). Otherwise its points are its particles.

// If all rows that a program solves are distances, kinds and slots are known when it is compiled. Only one of the two
// opposite gradients is stored, which halves the memory traffic.
#if ONLY_DISTANCES
#define KIND_OF(row) RowKind_Distance
#define FIRST_SLOT(row) (2 * (row) + SLOT_SHIFT)
#define ROW_OF(slot) (((slot) - SLOT_SHIFT) >> 1)
#define STORED_AT(slot) (ROW_OF(slot) + STORE_SHIFT)
#else
#define KIND_OF(row) a->rowKind[row]
#define FIRST_SLOT(row) a->slotStart[row]
#define ROW_OF(slot) a->slotRow[slot]
#define STORED_AT(slot) (slot)
#endif

#if HAS_JOINTS
#define FIRST_POINT(row) a->rowPoints[row].x
#define END_OF_POINTS(row) a->rowPoints[row].y
#else
#define FIRST_POINT(row) FIRST_SLOT(row)
#define END_OF_POINTS(row) FIRST_SLOT((row) + 1)
#endif

DEVICE mixed3 gradientAt(GLOBAL const mixed* gradients, int slot) {
    const mixed3 gradient = load3(gradients, STORED_AT(slot));
#if ONLY_DISTANCES
    if (slot != FIRST_SLOT(ROW_OF(slot)))
        return make_mixed3(0, 0, 0) - gradient;
#endif
    return gradient;
}

/** What a solve has changed at a node. Between solves of a turn that of a particle is already in displacements and
 *  velocities. */
DEVICE mixed3 impulseOf(const Arguments* a, int node) {
#if IS_BORDER
    if (node < a->numParticles)
        return make_mixed3(0, 0, 0);
#endif
    return load3(a->impulse, node);
}

/** Displacement of a slot's particle since the start: that without constraints plus that by constraints. */
DEVICE mixed3 displacementOf(const Arguments* a, int slot) {
#if HAS_JOINTS
    if (isPoint(a, slot)) {
        const int4 nodes = nodesOfPoint(a, slot);
        if (nodes.z >= 0)
            return motionOf(motionOfBody(a, nodes.z), shapeOfPoint(a, nodes));
        slot = nodes.x;
    }
#endif
    const int i = NODE_OF(slot);
    const mixed4 d = a->displacement[i];
    return make_mixed3(d.x, d.y, d.z) + impulseOf(a, i);
}

/** A position without OpenMM's wrapping into the periodic box, by which it has moved by a cell's vectors. */
DEVICE mixed3 outOfCell(int4 cell, mixed3 position, StepState box) {
    if ((cell.x | cell.y | cell.z) == 0) // most are
        return position;
    return position - ((mixed) cell.x) * box.a - ((mixed) cell.y) * box.b - ((mixed) cell.z) * box.c;
}

DEVICE mixed3 unwrapped(const Arguments* a, int i, mixed3 position, StepState box) {
    return outOfCell(a->cellOffsets[i], position, box);
}

DEVICE mixed3 unwrappedPosition(const Arguments* a, int slot, StepState box) {
    const int i = a->slotParticle[slot];
    const mixed3 x = unwrapped(a, i, positionOf(a, i), box);
#if HAS_JOINTS
    return x + wayToPoint(a, slot);
#else
    return x;
#endif
}

DEVICE mixed3 velocityOf(const Arguments* a, int slot) {
#if HAS_JOINTS
    if (isPoint(a, slot)) {
        const int4 nodes = nodesOfPoint(a, slot);
        if (nodes.z >= 0)
            return motionOf(velocityOfBody(a, nodes.z), shapeOfPoint(a, nodes));
        slot = nodes.x;
    } else if (a->slotParticle[slot] >= a->numParticles)
        return velocityOfNode(a, a->slotParticle[slot]);
#endif
#if IS_SUBDOMAIN
    const int place = NODE_OF(slot) - a->firstPlace;
    if (place < 0) // immovable
        return make_mixed3(0, 0, 0);
    const mixed4 v = a->placeVelocity[place];
#else
    const mixed4 v = a->velm[a->slotParticle[slot]];
#endif
    return v.w > 0 ? make_mixed3(v.x, v.y, v.z) : make_mixed3(0, 0, 0);
}

DEVICE mixed inverseMassOf(const Arguments* a, int slot) {
    return a->slotInverseMass[slot];
}

/** One of two unit vectors perpendicular to a vector and to each other. */
DEVICE mixed3 perpendicular(mixed3 r, int component) {
    const mixed x = fabs(r.x), y = fabs(r.y), z = fabs(r.z);
    const mixed3 farthest = x <= y && x <= z ? make_mixed3(1, 0, 0) : y <= z ? make_mixed3(0, 1, 0) : make_mixed3(0, 0, 1);
    const mixed3 first = cross(r, farthest);
    const mixed3 chosen = component == 0 ? first : cross(r, first);
    return (1 / sqrt(dot(chosen, chosen))) * chosen;
}

DEVICE mixed targetAt(const Arguments* a, int row, mixed time) {
    return a->rowTarget[row] + a->rowRate[row] * time;
}

/** sigma from q - target: in [-pi, pi] for kinds that are periodic in 2 pi. */
DEVICE mixed wrapResidual(int kind, mixed difference) {
#define IS_FULL_TURN(Name, name, numParticles, range) || (kind == RowKind_##Name && Range_##range == Range_FullTurn)
    const bool isFullTurn = false LISTED_COORDINATES(IS_FULL_TURN);
#undef IS_FULL_TURN
    return isFullTurn ? difference - TWO_PI * rint(difference / TWO_PI) : difference;
}

DEVICE mixed residualOf(const Arguments* a, int row, mixed q, mixed time) {
    return wrapResidual(KIND_OF(row), q - targetAt(a, row, time));
}

/** Inverse of the scale to which errors of a row are relative. */
DEVICE mixed inverseScaleOf(const Arguments* a, int row, mixed time) {
    const int kind = KIND_OF(row);
    return kind == RowKind_Distance || kind == RowKind_Centroid ? 1 / targetAt(a, row, time) : a->rowInverseScale[row];
}

DEVICE mixed sumOfSquares(const Arguments* a, int row, GLOBAL const mixed* gradients) {
    mixed sum = 0;
    EACH_SLOT(s, FIRST_POINT(row), END_OF_POINTS(row))
        sum += dot(gradientAt(gradients, s), gradientAt(gradients, s));
    return sumOfRow(a, sum);
}

/** sum_i (1/m_i) g_i . grad_i sigma(0): a diagonal element of A. */
DEVICE mixed diagonalOf(const Arguments* a, int row, GLOBAL const mixed* gradients) {
    mixed sum = 0;
    EACH_SLOT(s, FIRST_SLOT(row), FIRST_SLOT(row + 1))
        sum += inverseMassOf(a, s) * dot(gradientAt(gradients, s), gradientAt(a->startGradient, s));
    return sumOfRow(a, sum);
}

/** Error, in units of the tolerance, of a row whose gradients are given. */
DEVICE mixed errorOf(const Arguments* a, int row, mixed sigma, mixed time, GLOBAL const mixed* gradients) {
    const mixed norm = KIND_OF(row) == RowKind_Expression ? sqrt(sumOfSquares(a, row, gradients)) : 1;
    return fabs(sigma) * inverseScaleOf(a, row, time) / norm;
}

/** grad_s q = G_s - G_(s-1) */
DEVICE void storeGradients(GLOBAL mixed* gradients, int first, int size, const mixed3* G) {
    store3(gradients, STORED_AT(first), G[0]);
#if !ONLY_DISTANCES
    for (int s = 1; s < size - 1; s++)
        store3(gradients, first + s, G[s] - G[s - 1]);
    store3(gradients, first + size - 1, make_mixed3(0, 0, 0) - G[size - 2]);
#endif
}

/** q of a row, and its gradients by point.
 *  @param isDisplaced  whether to add displacements since the start */
DEVICE mixed evaluatePoints(const Arguments* a, int row, bool isDisplaced, mixed time, GLOBAL mixed* gradients) {
    const int kind = KIND_OF(row), first = FIRST_POINT(row), size = END_OF_POINTS(row) - first;
    if (kind == RowKind_Expression)
        return evaluateCustom(a, row, isDisplaced, stepStateOf(a, time), gradients);
    if (kind == RowKind_Centroid || kind == RowKind_AffinePosition) {
        // sum_s w_s b_s, with the weights of bond vectors: b_s = x_s - x_(s+1)
        mixed3 sum = make_mixed3(0, 0, 0);
        EACH_SLOT(s, first, first + size - 1) {
            mixed3 b = load3(a->startBond, s);
            if (isDisplaced)
                b = b + (displacementOf(a, s) - displacementOf(a, s + 1));
            sum = sum + a->slotWeight[s] * b;
        }
        sum = sumOfThreads(a, sum);
        mixed3 along;
        mixed q;
        if (kind == RowKind_AffinePosition) {
            along = load3(a->rowDirection, row);
#if HAS_JOINTS
            if (a->rowForm[row] >= 0) // of a joint: along the axes of this body
                along = alongAxes(axesOf(a, a->rowForm[row]), along);
#endif
            q = dot(along, sum);
        } else {
            if (a->rowPeriodic[row])
                sum = minimumImage(sum, stepStateOf(a, time));
            q = sqrt(dot(sum, sum));
            along = (1 / q) * sum;
        }
        EACH_SLOT(s, first, first + size) {
            const mixed before = s > first ? a->slotWeight[s - 1] : 0;
            const mixed here = s < first + size - 1 ? a->slotWeight[s] : 0;
            store3(gradients, s, (here - before) * along);
        }
        return q;
    }
    mixed3 b[3], G[3];
    for (int s = 0; s < size - 1; s++) {
        b[s] = load3(a->startBond, STORED_AT(first + s));
        if (isDisplaced)
            b[s] = b[s] + (displacementOf(a, first + s) - displacementOf(a, first + s + 1));
    }
    mixed q;
#define LISTED(Name, name, numParticles, range)                                                                        \
    if (kind == RowKind_##Name)                                                                                        \
        q = name##Coordinate(b, G);                                                                                    \
    else
    LISTED_COORDINATES(LISTED) {
#undef LISTED
        if (!isDisplaced)
            store3(a->rowDirection, row, perpendicular(b[0] + b[1], a->rowForm[row]));
        q = linearAngleCoordinate(b, load3(a->rowDirection, row), G);
        a->rowFolded[row] = !(dot(b[0], b[1]) > 0);
    }
    storeGradients(gradients, first, size, G);
    return q;
}

/** q of a row, and its gradients by slot. */
DEVICE mixed evaluateRow(const Arguments* a, int row, bool isDisplaced, mixed time, GLOBAL mixed* gradients) {
    const mixed q = evaluatePoints(a, row, isDisplaced, time, gradients);
#if HAS_JOINTS
    sumGradients(a, row, isDisplaced, gradients);
#endif
    return q;
}

/** Take the present positions as the start: bond vectors, q, gradients and d sigma/dt.
 *  @return whether the row has a gradient there */
DEVICE bool startRow(const Arguments* a, int row, mixed time) {
    const int kind = KIND_OF(row), first = FIRST_POINT(row), last = END_OF_POINTS(row) - 1;
    const StepState stepState = stepStateOf(a, time);
    if (kind != RowKind_Expression)
        EACH_SLOT(s, first, last) {
            mixed3 b = positionOf(a, a->slotParticle[s]) - positionOf(a, a->slotParticle[s + 1]);
            if (a->rowPeriodic[row] && kind != RowKind_Centroid)
                b = minimumImage(b, stepState);
#if HAS_JOINTS
            b = b + (wayToPoint(a, s) - wayToPoint(a, s + 1));
#endif
            if (kind == RowKind_Centroid)
                b = unwrappedPosition(a, s, stepState) - unwrappedPosition(a, s + 1, stepState);
            store3(a->startBond, STORED_AT(s), b);
        }
    const mixed q = evaluateRow(a, row, false, time, a->startGradient);
    const mixed rate = (kind == RowKind_Expression ? customRate(a, row, stepState) : 0) - a->rowRate[row];
    if (ROW_THREAD == 0) {
        a->rowValue[row] = q;
        a->rowRateOffset[row] = rate;
    }
    const mixed size = diagonalOf(a, row, a->startGradient);
    return fabs(size + q) < INFINITE_ERROR && (size > 0 || kind != RowKind_Expression);
}

/** J v of a row at the start, where v is the quantity that a solve changes, including the part by constraints. */
DEVICE mixed rateOf(const Arguments* a, int row, int what) {
    mixed sum = 0;
    EACH_SLOT(s, FIRST_SLOT(row), FIRST_SLOT(row + 1))
        if (inverseMassOf(a, s) > 0) {
            mixed3 change = impulseOf(a, NODE_OF(s));
#if IS_BORDER
            if (what == RESPONSES && NODE_OF(s) < a->numParticles)
                change = load3(a->borderField, a->borderPlace[NODE_OF(s)]);
#endif
            if (what == ACCELERATIONS)
                change = displacementOf(a, s);
            else if (what == VELOCITIES)
                change = velocityOf(a, s) + change;
            else if (what == GIVEN_VELOCITIES)
                change = velocityOf(a, s);
            sum += dot(gradientAt(a->startGradient, s), change);
        }
    return sumOfRow(a, sum);
}

/** J-dot v of a row at the start as a function of its points, for velocities times a scale. */
DEVICE mixed curvatureOfPoints(const Arguments* a, int row, mixed scale) {
    const int kind = KIND_OF(row), first = FIRST_POINT(row), size = END_OF_POINTS(row) - first;
    if (kind == RowKind_AffinePosition)
        return 0;
    if (kind == RowKind_Expression)
        return customCurvature(a, row, scale, stepStateOf(a, a->time));
    mixed3 b[3], V[3];
    if (kind == RowKind_Centroid) {
        b[0] = V[0] = make_mixed3(0, 0, 0);
        EACH_SLOT(s, first, first + size - 1) {
            b[0] = b[0] + a->slotWeight[s] * load3(a->startBond, s);
            V[0] = V[0] + (scale * a->slotWeight[s]) * (velocityOf(a, s) - velocityOf(a, s + 1));
        }
        b[0] = sumOfThreads(a, b[0]);
        V[0] = sumOfThreads(a, V[0]);
        if (a->rowPeriodic[row])
            b[0] = minimumImage(b[0], stepStateOf(a, a->time));
        return distanceCurvature(b, V);
    }
    for (int s = 0; s < size - 1; s++) {
        b[s] = load3(a->startBond, STORED_AT(first + s));
        V[s] = scale * (velocityOf(a, first + s) - velocityOf(a, first + s + 1));
    }
#define LISTED(Name, name, numParticles, range)                                                                        \
    if (kind == RowKind_##Name)                                                                                        \
        return name##Curvature(b, V);
    LISTED_COORDINATES(LISTED)
#undef LISTED
    return linearAngleCurvature(b, V, load3(a->rowDirection, row));
}

/** J-dot v of a row at the start, for velocities times a scale. */
DEVICE mixed curvatureOf(const Arguments* a, int row, mixed scale) {
    const mixed curvature = curvatureOfPoints(a, row, scale);
#if HAS_JOINTS
    return curvature + centripetalOf(a, row, scale);
#else
    return curvature;
#endif
}

/** v^T H v alone: the part that is even in v, minus the part that is independent of v. */
DEVICE mixed quadraticCurvatureOf(const Arguments* a, int row) {
    return 0.5f * (curvatureOf(a, row, 1) + curvatureOf(a, row, -1)) - curvatureOf(a, row, 0);
}

/** Whether a gradient has turned by 90 degrees or more since the start: the solution may then be a wrong root. */
DEVICE bool hasTurned(const Arguments* a, int row) {
    const int kind = KIND_OF(row);
    if (kind == RowKind_Distance || kind == RowKind_Centroid || kind == RowKind_Expression)
        return !(diagonalOf(a, row, a->gradient) > PIVOT_THRESHOLD * diagonalOf(a, row, a->startGradient));
    return kind == RowKind_LinearAngle && a->rowFolded[row];
}
