// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: arguments, kinds.cc, failureCodes.cc, numbers.cc, stepState.cc
// Definitions for all kernels: the data of a particle during a stage, and the record of failures. `Arguments` has all
// arrays and numbers that are arguments of kernels; the host generates its definition (KernelArguments.h).

/** Corrections of a linear problem: the second refines the first, the third is for ill-conditioned matrices. */
#define LINEAR_ITERATIONS 3

/** The quantity that a solve changes. Responses: accelerations by constraint forces alone. Given velocities: as
 *  they were before a solve for accelerations, whose impulses are not added to them. */
enum { POSITIONS, VELOCITIES, ACCELERATIONS, RESPONSES, GIVEN_VELOCITIES };

// Where what a solve changes is: a subdomain of a cluster has its own copies of nodes (ConstraintTables::slotNode). Texts
// without clusters do not define IS_SUBDOMAIN.
#if IS_SUBDOMAIN
#define NODE_OF(slot) a->slotNode[slot]
#define IS_WHOLE(c) (a->subdomainsOfCluster[c].z == (c))
#else
#define NODE_OF(slot) a->slotParticle[slot]
#define IS_WHOLE(c) true
#endif

/** Data of a particle during a stage. It is loaded once, before a solve and after one that stores it; solvers set c. */
typedef struct {
    real4 posq, correction; // as in memory
    mixed4 velm;            // likewise: an immovable particle may have a velocity there
    mixed3 f; // kJ/mol/nm
    mixed3 v; // nm/ps
    mixed3 d; // nm, displacement in this step as if there were no constraints; explicit force: acceleration, nm/ps^2
    mixed3 c; // change of v or d by constraints
    mixed w;  // 1/amu, 0 for an immovable particle
} Particle;

#define KIND(Name, name, numParticles, range) RowKind_##Name,
enum { ROW_KINDS(KIND) };
#undef KIND
#define ENUMERATOR(name) Range_##name,
enum { RANGES(ENUMERATOR) };
#undef ENUMERATOR
#define ENUMERATOR(name) Outcome_##name,
enum { DEVICE_OUTCOMES(ENUMERATOR) };
#undef ENUMERATOR
#define ENUMERATOR(name) StepSolve_##name,
enum { STEP_SOLVES(ENUMERATOR) numStepSolves };
#undef ENUMERATOR

/** How the solve of one cluster ended. */
typedef struct {
    int outcome, iterations;
    int row;            // the worst or the failing one
    mixed error, value; // of that row: in units of the tolerance; q or dq/dt
} Report;

DEVICE Report newReport() {
    Report report;
    report.outcome = Outcome_Converged;
    report.iterations = 0;
    report.row = -1;
    report.error = 0;
    report.value = 0;
    return report;
}

/** Add the error of a row to a report, which has the largest error, or the first that is not finite. */
DEVICE void note(Report* report, int row, mixed error, mixed value) {
    const bool isFinite = error < INFINITE_ERROR; // false for NaN
    if (report->outcome == Outcome_NotFinite || (report->row >= 0 && isFinite && error <= report->error))
        return;
    if (!isFinite)
        report->outcome = Outcome_NotFinite;
    report->row = row;
    report->error = error;
    report->value = value;
}

// ---- solves in numbers ----------------------------------------------------------------------------------------------

/** The row with the largest error after some corrections, or the first whose error is not finite. */
typedef struct {
    int row;
    number error, value; // as in Report
    float largest;       // error, also of rows that are not its own
} Worst;

DEVICE Worst newWorst() {
    Worst worst;
    worst.row = -1;
    worst.error = worst.value = 0;
    worst.largest = 0;
    return worst;
}

DEVICE void noteWorst(Worst* worst, int row, number error, number value) {
    if (worst->row < 0 || (worst->error < INFINITE_ERROR && !(error <= worst->error))) {
        worst->row = row;
        worst->error = error;
        worst->value = value;
    }
}

DEVICE void atomicMinimum(GLOBAL int* place, int value) {
#ifdef __OPENCL_VERSION__
    atomic_min(place, value);
#else
    atomicMin(place, value);
#endif
}

/** Record a failure in the present launch. Launches are numbered: later ones return at once. Threads of this one
 *  continue, so that the lowest code of all failures is kept. */
DEVICE void fail(const Arguments* a, int code) {
    if (a->launch == NO_FAILURE)
        return;
    atomicMinimum(&a->failure[0], a->launch);
    atomicMinimum(&a->failure[1], code);
}

// In turns with a border (border.cc) clusters are solved again, which adds to their multipliers. Otherwise there is one.
#if AT_BORDER
#define LATER_TURN (a->turn > 0)
#else
#define LATER_TURN false
#endif

/** Whether an earlier launch has failed. Threads of this one may write while others read, but only numbers from this
 *  launch's on, so that what is read does not matter: a volatile read suffices, and all threads return or none. An atomic
 *  one would be a read-modify-write by every thread. */
DEVICE bool hasFailed(const Arguments* a) {
    volatile GLOBAL const int* failure = a->failure;
#if AT_BORDER
    if (a->turn >= 0 && a->borderState[0] != 0) // a turn, and an earlier one was the last of this solve
        return true;
#endif
    return failure[0] < a->launch;
}

/** Store the result of a cluster's solve for the host.
 *  @param solve  a StepSolve */
DEVICE void writeReport(const Arguments* a, int solve, int cluster, Report report) {
    const int place = (a->bufferIndex * numStepSolves + solve) * a->numClusters + cluster;
    mixed2 errorAndValue;
    errorAndValue.x = report.error;
    errorAndValue.y = report.value;
    a->reportErrors[place] = errorAndValue;
    a->reportRows[place] = make_int4(report.outcome, report.iterations, report.row, 0);
    if (report.outcome != Outcome_Converged)
        fail(a, cluster);
}

// Results of a step that users read have two buffers, which steps write alternately, so that a failed step does not
// overwrite the last good one. A step whose stages have gradients at several positions has as many parts of a buffer
// (StepMoment): a->momentIndex is the present one of all.

DEVICE GLOBAL mixed* lambdaOf(const Arguments* a) {
    return a->lambda + a->momentIndex * a->numRows;
}

DEVICE GLOBAL mixed* muOf(const Arguments* a) {
    return a->mu + a->momentIndex * a->numRows;
}

/** Whether a solve adds its multipliers to those of earlier turns, rather than those of a projection or a response. */
DEVICE bool addsUp(const Arguments* a, GLOBAL const mixed* multipliers) {
    return LATER_TURN && (multipliers == lambdaOf(a) || multipliers == muOf(a));
}

/** Of the step: 0, 1, ... */
DEVICE int momentOf(const Arguments* a) {
    return a->momentIndex - a->bufferIndex * a->numMoments;
}

/** Of the present moment, by stage (positions, velocities) and row: d sigma/dt of constraints that move. */
DEVICE GLOBAL mixed* workRatesOf(const Arguments* a) {
    return a->workRate + 2 * momentOf(a) * a->numRows;
}

DEVICE mixed3 positionIn(real4 posq, real4 correction) {
#ifdef USE_MIXED_PRECISION
    return make_mixed3(posq.x + (mixed) correction.x, posq.y + (mixed) correction.y, posq.z + (mixed) correction.z);
#else
    return make_mixed3(posq.x, posq.y, posq.z);
#endif
}

DEVICE real4 correctionOf(const Arguments* a, int i) {
#ifdef USE_MIXED_PRECISION
    return a->posqCorrection[i];
#else
    return make_real4(0, 0, 0, 0);
#endif
}

DEVICE mixed3 positionOf(const Arguments* a, int i) {
    return positionIn(a->posq[i], correctionOf(a, i));
}

DEVICE void setPosition(const Arguments* a, int i, Particle* p, mixed3 x) {
    p->posq = make_real4((real) x.x, (real) x.y, (real) x.z, p->posq.w);
    a->posq[i] = p->posq;
#ifdef USE_MIXED_PRECISION
    p->correction =
        make_real4((real) (x.x - p->posq.x), (real) (x.y - p->posq.y), (real) (x.z - p->posq.z), 0);
    a->posqCorrection[i] = p->correction;
#endif
}

/** Largest component of a finite vector; max() ignores NaN. */
DEVICE mixed largestComponent(mixed3 x) {
    return max(fabs(x.x), max(fabs(x.y), fabs(x.z)));
}

/** Whether no coordinate is NaN or infinite. A sum, unlike a maximum, propagates NaN. */
DEVICE bool areFinite(mixed3 x) {
    return fabs(x.x) + fabs(x.y) + fabs(x.z) < INFINITE_ERROR;
}

DEVICE void requireFinite(const Arguments* a, int i, mixed3 x) {
    if (!areFinite(x))
        fail(a, codeOfParticle(i, a->numClusters));
}

/** A force from OpenMM's fixed-point numbers, whose range ends at 2^31 kJ/mol/nm. NaN and infinity become one of the
 *  ends, and other forces are added to it. So a force beyond half of the range is replaced by a number that makes the
 *  step of a movable particle fail. */
DEVICE mixed forceOf(mm_long fixed) {
    const mixed force = fixed / (mixed) 0x100000000;
    return fabs(force) < 1073741824.0f ? force : (mixed) 3e38f;
}

DEVICE mixed3 forceOn(const Arguments* a, int i) {
    const int n = a->paddedNumAtoms;
    return make_mixed3(forceOf(a->force[i]), forceOf(a->force[i + n]), forceOf(a->force[i + 2 * n]));
}

DEVICE StepState stepStateOf(const Arguments* a, mixed time) {
    StepState stepState;
    stepState.time = a->referenceTime + time;
    stepState.a = make_mixed3(a->boxA.x, a->boxA.y, a->boxA.z);
    stepState.b = make_mixed3(a->boxB.x, a->boxB.y, a->boxB.z);
    stepState.c = make_mixed3(a->boxC.x, a->boxC.y, a->boxC.z);
    return stepState;
}

/** Error that rounding of stored positions may add. */
DEVICE mixed roundingOf(const Arguments* a, mixed largestCoordinate, mixed inverseScale) {
    return a->rounding * largestCoordinate * inverseScale;
}

DEVICE mixed3 load3(GLOBAL const mixed* x, int i) {
    return make_mixed3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}

DEVICE void store3(GLOBAL mixed* x, int i, mixed3 value) {
    x[3 * i] = value.x;
    x[3 * i + 1] = value.y;
    x[3 * i + 2] = value.z;
}

/** By value, so that neither needs an address. */
DEVICE mixed3 choose(bool isFirst, mixed3 first, mixed3 second) {
    return make_mixed3(isFirst ? first.x : second.x, isFirst ? first.y : second.y, isFirst ? first.z : second.z);
}

/** What a stage does not change until it ends: operations may use it. */
DEVICE void loadStart(const Arguments* a, int i, Particle* p) {
    p->posq = a->posq[i];
    p->correction = correctionOf(a, i);
    p->velm = a->velm[i];
    p->f = forceOn(a, i);
}

/** A particle at the start of a stage. */
DEVICE Particle startParticle(const Arguments* a, int i) {
    Particle p;
    loadStart(a, i, &p);
    p.w = p.velm.w;
    p.v = p.w > 0 ? make_mixed3(p.velm.x, p.velm.y, p.velm.z) : make_mixed3(0, 0, 0);
    p.d = p.c = make_mixed3(0, 0, 0);
    return p;
}

/** The same with what an earlier part of the stage has found. */
DEVICE Particle loadParticle(const Arguments* a, int i) {
    Particle p = startParticle(a, i);
    const mixed4 d = a->displacement[i];
    p.d = make_mixed3(d.x, d.y, d.z);
    p.c = load3(a->impulse, i);
    return p;
}

DEVICE mixed4 withFourth(mixed3 v, mixed fourth) {
    mixed4 all;
    all.x = v.x;
    all.y = v.y;
    all.z = v.z;
    all.w = fourth;
    return all;
}

/** Immovable particles are not written back. */
DEVICE void storeVelocity(const Arguments* a, int i, const Particle* p) {
    if (p->w > 0)
        a->velm[i] = withFourth(p->v, p->w);
}

DEVICE void storeDisplacement(const Arguments* a, int node, mixed3 value) {
    a->displacement[node] = withFourth(value, 0);
}

DEVICE void storeParticle(const Arguments* a, int i, const Particle* p) {
    storeDisplacement(a, i, p->d);
    storeVelocity(a, i, p);
}
