// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: border.cc
// Joined bodies that bordered rows reach (border.cc), between the launches of a solve. Their nodes are at the border as
// particles are. What clusters changed of nodes in a turn is in `impulse`, until the next turn begins.

/** Begin a turn: add to the nodes of a body what clusters and bordered rows changed in the last one. */
DEVICE void takeBody(const Arguments* a, int b) {
    const int what = borderSolveOf(a).what;
    for (int node = originNode(a, b); node < originNode(a, b) + 2; node++) {
        mixed3 change = load3(a->impulse, node);
        if (a->borderPlace[node] >= 0)
            change = change + borderChangeAt(a, node);
        store3(a->impulse, node, make_mixed3(0, 0, 0));
        if (what == VELOCITIES)
            store3(a->nodeVelocity, node - a->numParticles, velocityOfNode(a, node) + change);
        else
            storeDisplacement(a, node, displacementOfNode(a, node) + change);
    }
    if (what == POSITIONS && !displaceBody(a, b))
        reportTurned(a, b);
    setFlag(a, b, true); // also where a projection measured no violation
}

/** Keep what clusters made of the last field of responses at a body, and set M^-1 G^T of the next field's rows there:
 *  what takeGradient() and keepResponse() do at particles. */
DEVICE void takeNextResponse(const Arguments* a, int b) {
    const int next = a->borderItem;
    for (int node = originNode(a, b); node < originNode(a, b) + 2; node++) {
        const int place = a->borderPlace[node];
        if (place < 0)
            continue;
        if (next > 0)
            store3(a->responses, responseAt(a, next - 1, place), displacementOfNode(a, node));
        const int slot = next < NUM_BORDER_FIELDS ? a->fieldSlot[responseAt(a, next, place)] : -1;
        mixed3 d = make_mixed3(0, 0, 0);
        if (slot >= 0)
            d = inverseMassOf(a, slot) * load3(a->startGradient, slot);
        storeDisplacement(a, node, d);
        store3(a->impulse, node, make_mixed3(0, 0, 0));
    }
}
