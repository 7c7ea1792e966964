// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DistanceSolver.h"
#include "SmallBatch.h"
#include "SparseBatch.h"
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

namespace ConstraintPlugin {

namespace {

/** Equal clusters of up to so many rows share lanes: their working set then fits into the cache. */
constexpr int maxLaneRows = 64;
/** If there are fewer equal clusters, they are solved one by one. */
constexpr int minLaneClusters = 3;
/** Rows of a task, some 5 microseconds of work. */
constexpr int taskRows = 1000;
/** With fewer rows it takes longer to wake another thread. */
constexpr int minSharedRows = 4000;

/** Between free particles. Its length may follow a Context parameter, but not the time. */
bool isServedDistance(const Constraint& c) {
    return c.kind == CoordinateKind::Distance && c.rate == 0 && c.nodes.empty();
}

std::vector<std::vector<int>> neighboursOf(const std::vector<LocalPair>& pairs, const std::vector<char>& movable) {
    std::vector<std::vector<int>> neighbours(pairs.size());
    for (int a = 0; a < (int) pairs.size(); a++)
        for (int b = 0; b < (int) pairs.size(); b++)
            for (int p : {pairs[a].first, pairs[a].second})
                if (a != b && movable[p] && (p == pairs[b].first || p == pairs[b].second))
                    neighbours[a].push_back(b);
    return neighbours;
}

} // namespace

class DistanceSolver::Batches {
public:
    struct Batch {
        std::unique_ptr<DistanceBatch> solver;
        const DistancePattern* pattern;
        std::vector<int> clusters, firstRow; // [clusters] which, and where its rows begin
        BatchReport position{}, velocity{};  ///< of the last stages
        bool isShared = false;   ///< all threads work on it, rather than one thread on it and its task's others
        bool isAtBorder = false; ///< whether its clusters are
        std::vector<DistanceCluster> variable{}; ///< its clusters, if Context parameters change lengths of any
        /** firstRow, but -1 of clusters that a stage has not solved. */
        std::vector<int> solvedRows(const BatchReport& report) const {
            std::vector<int> rows = firstRow;
            for (const BatchReport::Clusters& some : report.unsolved)
                std::fill(rows.begin() + some.begin, rows.begin() + some.end, -1);
            return rows;
        }
    };
    struct Task { // batches begin ... end-1
        int begin, end;
    };

    explicit Batches(const ConstraintGraph& graph) : graph(graph) {
    }
    void takeTargets(const ConstraintSet& set);
    /** The lengths of a cluster's rows. @param[out] lengths  [rows] by position in the pattern */
    void takeLengths(const ConstraintSet& set, int cluster, const DistancePattern& pattern,
                     std::vector<double>& lengths) const {
        const int begin = graph.clusters[cluster].begin;
        for (int k = 0; k < pattern.numRows(); k++)
            lengths[pattern.positionOf[k]] = set.constraints[graph.rows[begin + k]].target;
    }
    void makeTasks(int numThreads);
    /** @param stage  (batch, the thread's workspace) -> BatchReport */
    template <class Stage>
    Report run(TaskRunner& runner, Which which, BatchReport Batch::*report, Stage stage);

    std::deque<DistancePattern> patterns;
    std::vector<Batch> all;
    std::vector<int> notServed; // clusters, ascending

private:
    std::vector<int> worstRows(const Batch& batch, BatchReport::Clusters some) const;

    const ConstraintGraph& graph;
    std::vector<Task> tasks;
    std::vector<ThreadWorkspace> workspaces; // [threads]
};

/** Sorts clusters by their shape. */
class DistanceSolver::Builder {
public:
    Builder(Batches& solver, const ConstraintSet& set, const ConstraintGraph& graph)
        : solver(solver), set(set), graph(graph), localOf(set.numParticles(), -1) {
    }
    void build() {
        for (int c = 0; c < (int) graph.clusters.size(); c++) {
            const Cluster& cluster = graph.clusters[c];
            const Constraint& first = constraintOf(cluster.begin);
            bool isServed = cluster.kind != ClusterSolverKind::Iterative;
            for (int row = cluster.begin; isServed && row < cluster.end; row++)
                isServed = isServedDistance(constraintOf(row)) && constraintOf(row).periodic == first.periodic;
            if (isServed)
                sortIn(c);
            else
                solver.notServed.push_back(c);
        }
        for (int pattern = 0; pattern < (int) members.size(); pattern++)
            addBatches(solver.patterns[pattern], members[pattern]);
    }

private:
    struct Member {
        int cluster;
        DistanceCluster data;
    };
    struct Shape {
        std::vector<int> particles; // [local] -> particle
        std::vector<LocalPair> pairs;
        std::vector<char> movable;
    };

    const Constraint& constraintOf(int row) const {
        return set.constraints[graph.rows[row]];
    }
    /** Number particles by first appearance, except that the particle shared by the first two rows comes first. The
     * first particle of a pair is the one with the smaller number. */
    Shape shapeOf(const Cluster& cluster) {
        Shape shape;
        auto local = [&](int particle) {
            if (localOf[particle] < 0) {
                localOf[particle] = (int) shape.particles.size();
                shape.particles.push_back(particle);
                shape.movable.push_back(set.inverseMass[particle] > 0);
            }
            return localOf[particle];
        };
        auto particlesOf = [&](int row) -> const std::vector<int>& { return constraintOf(row).particles; };
        if (cluster.size() > 1)
            for (int p : particlesOf(cluster.begin))
                for (int q : particlesOf(cluster.begin + 1))
                    if (p == q)
                        local(p);
        for (int row = cluster.begin; row < cluster.end; row++) {
            const std::vector<int>& particles = particlesOf(row);
            const int a = local(particles[0]), b = local(particles[1]);
            shape.pairs.push_back({std::min(a, b), std::max(a, b)});
        }
        for (int p : shape.particles)
            localOf[p] = -1;
        return shape;
    }

    void sortIn(int c) {
        const Cluster& cluster = graph.clusters[c];
        const Shape shape = shapeOf(cluster);
        std::vector<int> key{cluster.size()};
        for (const LocalPair& pair : shape.pairs) {
            key.push_back(pair.first);
            key.push_back(pair.second);
        }
        key.insert(key.end(), shape.movable.begin(), shape.movable.end());
        const bool isPeriodic = constraintOf(cluster.begin).periodic;
        key.push_back(isPeriodic);
        key.push_back(cluster.isAtBorder); // batches are solved as a whole
        const auto [known, isNew] = patternOf.try_emplace(std::move(key), (int) members.size());
        if (isNew) {
            addPattern(cluster, shape);
            solver.patterns.back().isPeriodic = isPeriodic;
            members.emplace_back();
        }
        const DistancePattern& pattern = solver.patterns[known->second];
        const std::size_t numParticles = shape.particles.size();
        DistanceCluster member{std::vector<int>(numParticles), std::vector<double>(numParticles),
                               std::vector<double>(cluster.size())};
        for (std::size_t i = 0; i < numParticles; i++) {
            member.particles[pattern.particleNumber[i]] = shape.particles[i];
            member.inverseMass[pattern.particleNumber[i]] = set.inverseMass[shape.particles[i]];
        }
        solver.takeLengths(set, c, pattern, member.lengths);
        members[known->second].push_back({c, std::move(member)});
    }

    void addPattern(const Cluster& cluster, const Shape& shape) {
        std::vector<int> order(cluster.size());
        if (cluster.factor >= 0) { // rows are in its order
            std::iota(order.begin(), order.end(), 0);
            solver.patterns.emplace_back(shape.pairs, shape.movable, graph.factors[cluster.factor], order);
            return;
        }
        SymbolicFactor factor;
        eliminate(neighboursOf(shape.pairs, shape.movable), factor);
        solver.patterns.emplace_back(shape.pairs, shape.movable, factor, factor.order);
    }

    void addBatches(const DistancePattern& pattern, const std::vector<Member>& all) {
        const bool useLanes = pattern.numRows() <= maxLaneRows && (int) all.size() >= minLaneClusters;
        const bool isSmall = useLanes && hasSmallBatch(pattern);
        const int lanes = isSmall ? lanesOfSmallBatches() : LaneTraits<Lanes>::width;
        std::size_t width = useLanes ? lanes : 1; // clusters of a batch
        if (isSmall)                              // a task
            width *= (taskRows - 1) / (lanes * pattern.numRows()) + 1;
        const DistanceBatch* last = nullptr;
        for (std::size_t begin = 0; begin < all.size(); begin += width) {
            std::vector<const DistanceCluster*> together;
            std::vector<int> clusters, firstRow;
            bool isVariable = false;
            for (std::size_t i = begin; i < std::min(all.size(), begin + width); i++) {
                together.push_back(&all[i].data);
                clusters.push_back(all[i].cluster);
                firstRow.push_back(graph.clusters[all[i].cluster].begin);
                const Cluster& cluster = graph.clusters[all[i].cluster];
                for (int row = cluster.begin; row < cluster.end; row++)
                    isVariable = isVariable || !constraintOf(row).isFixed();
            }
            std::unique_ptr<DistanceBatch> batch = isSmall ? makeSmallBatch(lanes, pattern, together, last)
                                                           : makeSparseBatch(useLanes, pattern, together, last);
            last = batch.get();
            const bool isAtBorder = graph.clusters[clusters[0]].isAtBorder;
            solver.all.push_back({std::move(batch), &pattern, std::move(clusters), std::move(firstRow)});
            solver.all.back().isAtBorder = isAtBorder;
            for (const DistanceCluster* cluster : together)
                if (isVariable)
                    solver.all.back().variable.push_back(*cluster);
        }
    }

    Batches& solver;
    const ConstraintSet& set;
    const ConstraintGraph& graph;
    std::vector<int> localOf; // [all particles] -1: not in this cluster
    std::map<std::vector<int>, int> patternOf;
    std::vector<std::vector<Member>> members; // [patterns][...]
};

void DistanceSolver::Batches::takeTargets(const ConstraintSet& set) {
    const Batch* last = nullptr;
    for (Batch& batch : all)
        if (!batch.variable.empty()) {
            std::vector<const DistanceCluster*> together;
            for (std::size_t i = 0; i < batch.variable.size(); i++) {
                takeLengths(set, batch.clusters[i], *batch.pattern, batch.variable[i].lengths);
                together.push_back(&batch.variable[i]);
            }
            // Batches of a pattern come one after the other.
            const bool isLike = last != nullptr && last->pattern == batch.pattern;
            batch.solver->setLengths(together, isLike ? last->solver.get() : nullptr);
            last = &batch;
        }
}

void DistanceSolver::Batches::makeTasks(int numThreads) {
    const auto rowsOf = [](const Batch& batch) { return batch.pattern->numRows() * (int) batch.clusters.size(); };
    long long sum = 0;
    for (const Batch& batch : all)
        sum += rowsOf(batch);
    // A cluster in parts is a task like others, where other threads have as much to do meanwhile.
    for (Batch& batch : all)
        batch.isShared = batch.pattern->isSplit() && (long long) rowsOf(batch) * numThreads > sum;
    for (const Batch& batch : all)
        sum -= batch.isShared ? rowsOf(batch) : 0;
    int rows = 0;
    for (int i = 0; i < (int) all.size(); i++) {
        if (rows == 0)
            tasks.push_back({i, i});
        rows += all[i].isShared ? 0 : rowsOf(all[i]);
        tasks.back().end = i + 1;
        if (rows >= taskRows && sum >= minSharedRows)
            rows = 0;
    }
}

template <class Stage>
DistanceSolver::Report DistanceSolver::Batches::run(TaskRunner& runner, Which which, BatchReport Batch::*result,
                                                    Stage stage) {
    const auto isAsked = [&](const Batch& batch) { return which == Which::All || batch.isAtBorder; };
    workspaces.resize(runner.numThreads());
    for (Batch& batch : all)
        if (batch.isShared && isAsked(batch)) {
            workspaces[0].runner = &runner;
            batch.*result = stage(*batch.solver, workspaces[0]);
            workspaces[0].runner = nullptr;
        }
    runner.run((int) tasks.size(), [&](int task, int thread) {
        for (int i = tasks[task].begin; i < tasks[task].end; i++)
            if (!all[i].isShared && isAsked(all[i]))
                all[i].*result = stage(*all[i].solver, workspaces[thread]);
    });
    Report report;
    for (int c : notServed)
        if (which == Which::All || graph.clusters[c].isAtBorder)
            report.unsolved.push_back(c);
    const Batch* worst = nullptr;
    for (const Batch& batch : all) {
        const BatchReport& one = batch.*result;
        for (const BatchReport::Clusters& some : one.unsolved)
            if (isAsked(batch))
                report.unsolved.insert(report.unsolved.end(), batch.clusters.begin() + some.begin,
                                       batch.clusters.begin() + some.end);
        if (!one.hasSolved())
            continue;
        report.iterations = std::max(report.iterations, one.iterations);
        if (worst == nullptr || one.maxError > report.maxError) {
            report.maxError = one.maxError;
            worst = &batch;
        }
    }
    if (worst != nullptr)
        report.worst = worstRows(*worst, (worst->*result).worst);
    std::sort(report.unsolved.begin(), report.unsolved.end());
    return report;
}

std::vector<int> DistanceSolver::Batches::worstRows(const Batch& batch, BatchReport::Clusters some) const {
    const int worst = batch.solver->worstRow();
    if (worst >= 0)
        return {graph.clusters[batch.clusters[0]].begin + worst};
    std::vector<int> rows;
    for (int i = some.begin; i < some.end; i++) {
        const Cluster& cluster = graph.clusters[batch.clusters[i]];
        for (int row = cluster.begin; row < cluster.end; row++)
            rows.push_back(row);
    }
    return rows;
}

// ---- the solver
// ------------------------------------------------------------------------------------------------------

DistanceSolver::DistanceSolver(const ConstraintSet& set, const ConstraintGraph& graph,
                               std::shared_ptr<TaskRunner> taskRunner)
    : runner(std::move(taskRunner)), batches(std::make_unique<Batches>(graph)) {
    Builder(*batches, set, graph).build();
    batches->makeTasks(runner->numThreads());
}

DistanceSolver::~DistanceSolver() = default;

void DistanceSolver::takeTargets(const ConstraintSet& set) {
    batches->takeTargets(set);
}

DistanceSolver::Report DistanceSolver::solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance,
                                                      int maxIterations, Real3* velocity, double perTime, Which which) {
    // Batches measure (q^2 - L^2)/(2 L^2), which is less than (L - q)/L by half of its square where a bond is
    // compressed.
    const double ofSquares = tolerance * (1 - 0.5 * std::min(tolerance, 1.0));
    return batches->run(
        *runner, which, &Batches::Batch::position, [&](DistanceBatch& batch, ThreadWorkspace& workspace) {
            return batch.solvePositions(x, box, delta, ofSquares, maxIterations, velocity, perTime, workspace);
        });
}

DistanceSolver::Report DistanceSolver::solveVelocities(const Real3* x, const Box& box, Real3* velocity,
                                                       double timeScale, double tolerance, int maxIterations,
                                                       Which which) {
    return batches->run(
        *runner, which, &Batches::Batch::velocity, [&](DistanceBatch& batch, ThreadWorkspace& workspace) {
            return batch.solveVelocities(x, box, velocity, timeScale, tolerance, maxIterations, workspace);
        });
}

void DistanceSolver::getPositionMultipliers(std::vector<double>& byRow) const {
    for (const Batches::Batch& batch : batches->all)
        if (batch.position.hasSolved())
            batch.solver->getPositionMultipliers(batch.solvedRows(batch.position), byRow);
}

void DistanceSolver::getVelocityMultipliers(std::vector<double>& byRow, Which which) const {
    for (const Batches::Batch& batch : batches->all)
        if (batch.velocity.hasSolved() && (which == Which::All || batch.isAtBorder))
            batch.solver->getVelocityMultipliers(batch.solvedRows(batch.velocity), byRow);
}

} // namespace ConstraintPlugin
