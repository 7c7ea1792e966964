// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "StagedProjection.h"
#include "DisjointSets.h"
#include "MatrixInversionSolver.h"
#include <limits>
#include <set>

namespace ConstraintPlugin {

namespace {

/** Whether a constraint is so far off that it needs stages: more than 0.01 nm, |sigma|/|grad sigma|. */
bool isFarOff(const Jacobian& J, int row) {
    double squares = 0;
    for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
        squares += dot(J.start[s], J.start[s]);
    return std::abs(J.residual(row, J.startValue(row))) > 0.01 * std::sqrt(squares);
}

constexpr double firstStage = 0.1, shortestStage = 1e-3; // fractions of the change
constexpr double tolerance = 1e-5;                       // of constraints
/** Tolerance of held distances (nm), and the error from which on a held distance contradicts the constraints. */
constexpr double heldTolerance = 1e-6, contradiction = 1e-4;
/** Iterations after which contradictory held distances are released; largest numbers of iterations and of releases. */
constexpr int patience = 12, maxIterations = 60, maxReleases = 8;
constexpr double longestMove = 0.05; // of a particle in one iteration (nm)
constexpr double epsilon = 1e-6;

} // namespace

/** sigma and tau of some rows at some positions, and Newton's step. */
class StagedProjection::Equations {
public:
    /** @param rows  put into the order of elimination */
    Equations(const ConstraintSet& set, std::vector<Row>& rows)
        : set(set), rows(rows), graph(set, constraintsOf(rows), Method::Automatic, 0), J(set, graph.rows),
          sigma(rows.size()), step(set.numParticles()) {
        std::vector<int> place(set.constraints.size());
        for (int k = 0; k < graph.numRows(); k++)
            place[graph.rows[k]] = k;
        std::vector<Row> ordered(rows);
        for (const Row& row : rows)
            ordered[place[row.constraint]] = row;
        rows = std::move(ordered);
        for (const SymbolicFactor& factor : graph.factors)
            matrices.emplace_back(factor);
    }
    static std::vector<int> constraintsOf(const std::vector<Row>& rows) {
        std::vector<int> constraints;
        for (const Row& row : rows)
            constraints.push_back(row.constraint);
        return constraints;
    }
    /** @return false if a row has no value or no gradient there */
    bool measure(const Real3* x, const Box& box, double time, double fraction) {
        if (J.setStart(x, box, time) >= 0)
            return false;
        for (int k = 0; k < J.numRows(); k++) {
            const CoordinateKind kind = set.constraints[rows[k].constraint].kind;
            sigma[k] = wrapResidual(kind, J.startValue(k) - rows[k].start - fraction * rows[k].change);
        }
        return std::all_of(sigma.begin(), sigma.end(), [](double s) { return std::isfinite(s); });
    }
    /** The largest error of rows of a kind: constraints' in units of the tolerance, others' in nm. */
    double worst(Kind kind) const {
        double largest = 0;
        for (int k = 0; k < J.numRows(); k++)
            if (rows[k].kind == kind)
                largest = std::max(largest, std::abs(sigma[k]) * (kind == Kind::Constraint ? J.inverseScale[k] : 1.0));
        return largest;
    }
    double worstHeld() const {
        return std::max(worst(Kind::Bond), worst(Kind::SecondNeighbours));
    }
    /** @return Newton's step for each particle; null if there is no factor */
    const std::vector<Real3>* solve() {
        std::fill(step.begin(), step.end(), Real3());
        std::vector<double> lambda(J.numRows());
        for (const Cluster& cluster : graph.clusters) {
            if (cluster.kind != ClusterSolverKind::Sparse)
                return nullptr;
            SparseMatrix& matrix = matrices[cluster.factor];
            matrix.setZero();
            assemble(
                graph, cluster, J, J.start.data(),
                [&](int i, double value) {
                    const bool isHeld = rows[cluster.begin + i].kind != Kind::Constraint;
                    matrix.diagonal[i] = (isHeld ? 1 + epsilon : 1) * value;
                },
                [&](const Coupling& c, double element, double) { matrix.lower[c.entry] += element; });
            if (matrix.factorizeLDLT() >= 0)
                return nullptr;
            for (int k = cluster.begin; k < cluster.end; k++)
                lambda[k] = -sigma[k];
            matrix.solve(&lambda[cluster.begin]);
            for (int k = cluster.begin; k < cluster.end; k++)
                J.addImpulse(k, lambda[k], step.data());
        }
        return &step;
    }
    /** The rows without the held distances that have the largest errors: those of second neighbours, or else bonds. */
    std::vector<Row> withoutWorst() const {
        const Kind kind = worst(Kind::SecondNeighbours) > contradiction ? Kind::SecondNeighbours : Kind::Bond;
        const double bound = 0.9 * worst(kind);
        std::vector<Row> kept;
        for (int k = 0; k < J.numRows(); k++)
            if (rows[k].kind != kind || std::abs(sigma[k]) < bound)
                kept.push_back(rows[k]);
        return kept;
    }

private:
    const ConstraintSet& set;
    const std::vector<Row>& rows;
    ConstraintGraph graph;
    Jacobian J;
    std::vector<SparseMatrix> matrices;
    std::vector<double> sigma;
    std::vector<Real3> step;
};

StagedProjection::StagedProjection(const ConstraintSet& given, const std::vector<int>& solved,
                                   const std::vector<HeldPair>& pairs, const Real3* positions, const Box& box,
                                   double time)
    : set(given), box(box), time(time) {
    addHeld(pairs, findMoving(solved, pairs, positions));
    Jacobian J(set, Equations::constraintsOf(rows));
    J.setStart(positions, box, time);
    for (int k = 0; k < J.numRows(); k++) {
        rows[k].start = J.startValue(k);
        if (rows[k].kind == Kind::Constraint && isFarOff(J, k))
            rows[k].change = -J.residual(k, J.startValue(k));
    }
}

std::vector<char> StagedProjection::findMoving(const std::vector<int>& solved, const std::vector<HeldPair>& pairs,
                                               const Real3* x) {
    const auto isMovable = [&](int p) { return set.inverseMass[p] > 0; };
    DisjointSets molecules(set.numParticles());
    std::vector<int> first(solved.size()); // movable particle of each
    for (std::size_t i = 0; i < solved.size(); i++) {
        const std::vector<int>& members = set.constraints[solved[i]].particles;
        first[i] = *std::find_if(members.begin(), members.end(), isMovable);
        for (int p : members)
            if (isMovable(p))
                molecules.join(first[i], p);
    }
    for (const HeldPair& pair : pairs)
        if (isMovable(pair.particle1) && isMovable(pair.particle2))
            molecules.join(pair.particle2, pair.particle1);
    Jacobian J(set, solved);
    J.setStart(x, box, time);
    std::vector<char> isFar(set.numParticles(), 0);
    for (int i = 0; i < J.numRows(); i++)
        if (isFarOff(J, i))
            isFar[molecules.find(first[i])] = 1;
    for (std::size_t i = 0; i < solved.size(); i++)
        if (isFar[molecules.find(first[i])])
            rows.push_back({Kind::Constraint, solved[i]});
    std::vector<char> moves(set.numParticles(), 0);
    for (int p = 0; p < set.numParticles(); p++)
        moves[p] = isMovable(p) && isFar[molecules.find(p)];
    return moves;
}

void StagedProjection::addHeld(const std::vector<HeldPair>& pairs, const std::vector<char>& moves) {
    // A constrained distance is not held, nor is one that a constrained angle changes.
    std::set<std::pair<int, int>> taken;
    for (const Row& row : rows) {
        const Constraint& c = set.constraints[row.constraint];
        if (c.kind == CoordinateKind::Distance || c.kind == CoordinateKind::Angle ||
            c.kind == CoordinateKind::LinearAngle)
            taken.insert(std::minmax(c.particles.front(), c.particles.back()));
    }
    for (bool isBond : {true, false})
        for (const HeldPair& pair : pairs) {
            if (pair.isBond != isBond || !(moves[pair.particle1] || moves[pair.particle2]) ||
                !taken.insert(std::minmax(pair.particle1, pair.particle2)).second)
                continue;
            Constraint c;
            c.particles = {pair.particle1, pair.particle2};
            c.periodic = pair.periodic;
            c.target = 0.1; // nm; not used, but small enough for the minimum image
            rows.push_back({isBond ? Kind::Bond : Kind::SecondNeighbours, (int) set.constraints.size()});
            set.constraints.push_back(std::move(c));
        }
}

bool StagedProjection::run(Real3* x) {
    if (rows.empty())
        return false;
    for (double stage = firstStage; done < 1;) {
        const double next = done + stage > 1 - 1e-9 ? 1 : done + stage;
        if (reach(next, x)) {
            done = next;
            stage = std::min(2 * stage, firstStage);
        } else if ((stage /= 2) < shortestStage)
            return false;
    }
    return true;
}

bool StagedProjection::reach(double fraction, Real3* x) {
    for (int releases = 0; releases <= maxReleases; releases++) {
        std::vector<Real3> now(x, x + set.numParticles());
        Equations equations(set, rows);
        double lastHeld = std::numeric_limits<double>::infinity();
        for (int iteration = 0; iteration < maxIterations; iteration++) {
            if (!equations.measure(now.data(), box, time, fraction))
                return false;
            const double held = equations.worstHeld();
            const bool isSettled = held <= heldTolerance || (held <= contradiction && held > 0.5 * lastHeld);
            if (equations.worst(Kind::Constraint) <= tolerance && isSettled) {
                std::copy(now.begin(), now.end(), x);
                return true;
            }
            if (iteration >= patience && held > contradiction)
                break;
            lastHeld = held;
            const std::vector<Real3>* step = equations.solve();
            if (step == nullptr)
                return false;
            double farthest = 0;
            for (const Real3& s : *step)
                farthest = std::max(farthest, std::sqrt(dot(s, s)));
            const double part = std::min(1.0, longestMove / farthest);
            for (std::size_t p = 0; p < now.size(); p++)
                now[p] += part * (*step)[p];
        }
        if (!(equations.worstHeld() > contradiction))
            return false;
        rows = equations.withoutWorst();
    }
    return false;
}

} // namespace ConstraintPlugin
