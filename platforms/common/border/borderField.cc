// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc
// Particles that bordered rows reach (border.cc), between the launches of a solve. What a solve changes, a displacement
// (or an acceleration) or a velocity, is in `displacement` or `velm` then, with all corrections so far. Fields of
// responses have a place for each of these particles, and behind them for nodes of joined bodies (borderBodies.cc).

#define NUM_BORDER_PLACES a->borderCounts[0]
#define NUM_BORDER_FIELDS a->borderCounts[1]
#define NUM_BORDERED a->borderCounts[2]
#define NUM_ROWS_AT_BORDER a->borderCounts[3]
#define FIRST_BORDERED a->borderCounts[4] // row
#define BORDER_CLUSTER a->borderCounts[5] // among the general ones
#define NUM_BORDER_PARTICLES a->borderCounts[6]

/** Where the response of a field is at a place. */
DEVICE int responseAt(const Arguments* a, int field, int place) {
    return field * NUM_BORDER_PLACES + place;
}

/** What the last corrections of the bordered rows add at a node. */
DEVICE mixed3 borderChangeAt(const Arguments* a, int i) {
    mixed3 sum = make_mixed3(0, 0, 0);
    for (int f = 0; LATER_TURN && f < NUM_BORDER_FIELDS; f++) {
        const int n = responseAt(a, f, a->borderPlace[i]), b = a->fieldRow[n];
        if (b >= 0)
            sum = sum + a->borderChange[b] * load3(a->responses, n);
    }
    return sum;
}

DEVICE mixed3 displacementAt(const Arguments* a, int i) {
    const mixed4 d = a->displacement[i];
    return make_mixed3(d.x, d.y, d.z);
}

// ---- before and after a solve of clusters in a turn ------------------------------------------------------------------

DEVICE void takeDisplacement(const Arguments* a, int i, Particle* p) {
    p->d = displacementAt(a, i) + borderChangeAt(a, i);
}

DEVICE void giveDisplacement(const Arguments* a, int i, Particle* p) {
    p->d = p->d + p->c;
    storeDisplacement(a, i, p->d);
}

DEVICE void takeVelocity(const Arguments* a, int i, Particle* p) {
    p->v = p->v + borderChangeAt(a, i);
}

DEVICE void giveVelocity(const Arguments* a, int i, Particle* p) {
    p->v = p->v + p->c;
}

/** What the change of velocities in a heat bath makes of clusters. */
DEVICE void keepSpread(const Arguments* a, int i, Particle* p) {
    store3(a->borderField, a->borderPlace[i], p->c);
}

/** M^-1 G^T of the row whose response is found in the present field. Positions stay while responses are, and no stage
 *  has begun, so displacements are free. */
DEVICE void takeGradient(const Arguments* a, int i, Particle* p) {
    const int slot = a->fieldSlot[responseAt(a, a->borderItem, a->borderPlace[i])];
    p->d = make_mixed3(0, 0, 0);
    if (slot >= 0)
        p->d = p->w * load3(a->startGradient, slot);
}

DEVICE void keepResponse(const Arguments* a, int i, Particle* p) {
    store3(a->responses, responseAt(a, a->borderItem, a->borderPlace[i]), p->d + p->c);
}

// ---- before and after a solve with its turns ---------------------------------------------------------------------------

DEVICE void beginPositions(const Arguments* a, int n, int i, Particle* p) {
    store3(a->borderField, n, p->d);
}

DEVICE void beginVelocities(const Arguments* a, int n, int i, Particle* p) {
    store3(a->borderField, n, p->v);
}

/** What all constraints changed. */
DEVICE void endPositions(const Arguments* a, int n, int i, Particle* p) {
    p->c = p->d - load3(a->borderField, n);
    p->d = load3(a->borderField, n);
}

DEVICE void endVelocities(const Arguments* a, int n, int i, Particle* p) {
    p->c = p->v - load3(a->borderField, n);
    p->v = load3(a->borderField, n);
}

/** Add what the bordered rows' multipliers make of those of clusters, and set their own. */
DEVICE void addBorderMultipliers(const Arguments* a, GLOBAL mixed* multipliers) {
    for (int n = GLOBAL_ID; n < NUM_ROWS_AT_BORDER; n += GLOBAL_SIZE) {
        const int2 row = a->rowsAtBorder[n]; // and the place of one of its nodes
        mixed sum = 0;
        for (int f = 0; f < NUM_BORDER_FIELDS; f++) {
            const int b = a->fieldRow[responseAt(a, f, row.y)];
            if (b >= 0)
                sum += a->borderSum[b] * a->rowResponses[f * a->numRows + row.x];
        }
        multipliers[row.x] += sum;
    }
    for (int b = GLOBAL_ID; b < NUM_BORDERED; b += GLOBAL_SIZE)
        multipliers[FIRST_BORDERED + b] = a->borderSum[b];
}
