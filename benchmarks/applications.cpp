// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// ONE application of constraints, timed: OpenMM's own algorithms (CCMA, and SETTLE for water), as the Reference
// platform calls them, against this plugin's core. The positions of several steps are used in turn, so that no solver
// finds the step that it has just solved. Benchmarks are named stage/case/tolerance/algorithm:
//
//   position   the displacement of a leapfrog step          velocity   velocities at the same positions
//   rattle     position, after velocity at the same positions, as in RATTLE
//   step       both, as a step of velocity Verlet does: positions, then velocities at the new positions
//   set-up     what is made once for a System
//
//   openmm-constraints benchmark --systems dhfr-protein --write-input inputs
//   applications --inputs=inputs --benchmark_filter=position/ --benchmark_repetitions=9
//       --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
//
// --chains=1000,10000    chains of so many beads, in addition to inputs or instead
// --tolerances=1e-5,...  default: 1e-5, 1e-8, 1e-12
// --threads=N            of ours; default 1
// --passes=N             exactly N applications of each, which are all that is counted under
//                        valgrind --tool=callgrind --collect-atstart=no

#include "BenchmarkInput.h"
#include "CollectConstraints.h"
#include "ConstraintSolver.h"
#include "PoolRunner.h"
#include "openmm/OpenMMException.h"
#include "openmm/reference/ReferenceConstraints.h"
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT
#endif

using namespace ConstraintPlugin;
using namespace OpenMM;
using namespace std;

namespace {

struct Options {
    string inputs;
    vector<int> chains;
    vector<string> tolerances = {"1e-5", "1e-8", "1e-12"};
    int threads = 1;
    int passes = 0;
} options;

constexpr int maxIterations = 500;

/** The solver of the CPU platform for a System; "Reference": that of the Reference platform, by the same method. */
unique_ptr<ConstraintSolver> makeSolver(const System& system, const string& name, double tolerance,
                                        shared_ptr<TaskRunner> runner = make_shared<PoolRunner>(options.threads)) {
    const Method method = name == "Iterative" ? Method::Iterative : Method::MatrixInversion;
    auto solver = make_unique<ConstraintSolver>(collectConstraints(system, tolerance), method);
    if (name != "Reference")
        solver->setTaskRunner(std::move(runner));
    return solver;
}

// ---- algorithms -----------------------------------------------------------------------------------------------------

/** Applies constraints to a copy of a frame that load() makes; only position() and velocity() are timed. */
class Algorithm {
public:
    virtual ~Algorithm() = default;
    virtual void load(const Frame& frame) = 0;
    virtual void position(const Frame& frame) = 0;
    /** @param at  the frame whose positions are used */
    virtual void velocity(const Frame& at) = 0;
    /** Results, as absolute positions (nm) and velocities (nm/ps). */
    virtual vector<Vec3> positions(const Frame& frame) const = 0;
    virtual vector<Vec3> velocities() const = 0;
    virtual int iterations() const {
        return 0;
    }
};

class BuiltIn : public Algorithm {
public:
    BuiltIn(ReferenceConstraints& constraints, vector<double> inverseMasses, double tolerance)
        : constraints(constraints), inverseMasses(move(inverseMasses)), tolerance(tolerance) {
    }
    void load(const Frame& frame) override {
        start = frame.x;
        x = frame.moved;
        v = frame.v;
    }
    void position(const Frame&) override {
        constraints.apply(start, x, inverseMasses, tolerance);
    }
    void velocity(const Frame& at) override {
        constraints.applyToVelocities(const_cast<vector<Vec3>&>(at.x), v, inverseMasses, tolerance); // does not write x
    }
    vector<Vec3> positions(const Frame&) const override {
        return x;
    }
    vector<Vec3> velocities() const override {
        return v;
    }

private:
    ReferenceConstraints& constraints;
    vector<double> inverseMasses;
    double tolerance;
    vector<Vec3> start, x, v;
};

class Ours : public Algorithm {
public:
    Ours(const BenchmarkInput& input, const string& name, double tolerance)
        : runner(make_shared<PoolRunner>(options.threads)), solver(makeSolver(*input.system, name, tolerance, runner)),
          box(input.box()), tolerance(tolerance) {
        solver->chooseIndependent(input.frames[0].start.data(), box);
    }
    void load(const Frame& frame) override { // on all threads, as the loop of a step that is before the stage
        delta.resize(frame.delta.size());
        v.resize(frame.velocity.size());
        forEach(runner.get(), (int) delta.size(), [&](int i) {
            delta[i] = frame.delta[i];
            v[i] = frame.velocity[i];
        });
    }
    void position(const Frame& frame) override {
        check(solver->solvePositions(frame.start.data(), box, delta.data(), tolerance, maxIterations));
    }
    void velocity(const Frame& at) override {
        check(solver->solveVelocities(at.start.data(), box, v.data(), stepSize, tolerance, maxIterations));
    }
    vector<Vec3> positions(const Frame& frame) const override {
        vector<Vec3> result;
        for (size_t i = 0; i < delta.size(); i++)
            result.push_back(frame.x[i] + Vec3(delta[i].x, delta[i].y, delta[i].z));
        return result;
    }
    vector<Vec3> velocities() const override {
        vector<Vec3> result;
        for (const Real3& r : v)
            result.emplace_back(r.x, r.y, r.z);
        return result;
    }
    int iterations() const override {
        return mostIterations;
    }

private:
    void check(const SolveReport& report) {
        if (report.outcome != Outcome::Converged)
            throw OpenMMException("constraint " + to_string(report.constraint) + " is not solved");
        mostIterations = max(mostIterations, report.iterations);
    }
    shared_ptr<TaskRunner> runner;
    unique_ptr<ConstraintSolver> solver;
    Box box;
    double tolerance;
    vector<Real3> delta, v;
    int mostIterations = 0;
};

/** OpenMM's set-up of a case is made once: it may take seconds. */
ReferenceConstraints& builtInOf(const BenchmarkInput& input) {
    static map<string, unique_ptr<ReferenceConstraints>> made;
    unique_ptr<ReferenceConstraints>& mine = made[input.name];
    if (!mine)
        mine = make_unique<ReferenceConstraints>(*input.system);
    return *mine;
}

unique_ptr<Algorithm> makeAlgorithm(const BenchmarkInput& input, const string& name, double tolerance) {
    if (name == "built-in")
        return make_unique<BuiltIn>(builtInOf(input), input.inverseMasses(), tolerance);
    return make_unique<Ours>(input, name, tolerance);
}

// ---- benchmarks -----------------------------------------------------------------------------------------------------

/** Rattle: the position stage after a velocity stage at the same positions, as in RATTLE. */
enum class Stage { Position, Rattle, Velocity, Step };
const map<Stage, string> stageNames = {
    {Stage::Position, "position"}, {Stage::Rattle, "rattle"}, {Stage::Velocity, "velocity"}, {Stage::Step, "step"}};

/** Applies once, and returns the seconds that it took. @param n  counts applications */
double apply(Algorithm& algorithm, Stage stage, const vector<Frame>& frames, int n) {
    const Frame& frame = frames[n % frames.size()];
    const Frame& next = frames[(n + 1) % frames.size()];
    algorithm.load(frame);
    if (stage == Stage::Rattle)
        algorithm.velocity(frame);
    const auto start = chrono::steady_clock::now();
    CALLGRIND_TOGGLE_COLLECT;
    if (stage != Stage::Velocity)
        algorithm.position(frame);
    if (stage == Stage::Velocity || stage == Stage::Step)
        algorithm.velocity(stage == Stage::Step ? next : frame);
    CALLGRIND_TOGGLE_COLLECT;
    return chrono::duration<double>(chrono::steady_clock::now() - start).count();
}

/** The largest error that an algorithm leaves in any frame. */
double reachedError(Algorithm& algorithm, Stage stage, const BenchmarkInput& input) {
    double largest = 0;
    for (const Frame& frame : input.frames) {
        algorithm.load(frame);
        double error;
        if (stage == Stage::Position || stage == Stage::Rattle) {
            algorithm.position(frame);
            error = input.largestError(algorithm.positions(frame));
        } else {
            algorithm.velocity(frame);
            error = input.largestVelocityError(frame.x, algorithm.velocities());
        }
        largest = error <= largest ? largest : error; // NaN stays
    }
    return largest;
}

void runApplications(benchmark::State& state, const BenchmarkInput& input, Stage stage, const string& name,
                     double tolerance) {
    try {
        const unique_ptr<Algorithm> algorithm = makeAlgorithm(input, name, tolerance);
        // Errors first: this also warms up, and shows whether there is anything to time.
        const double error = reachedError(*algorithm, stage, input);
        if (std::isnan(error)) {
            state.SkipWithError("NaN");
            return;
        }
        int n = 0;
        for (auto _ : state)
            state.SetIterationTime(apply(*algorithm, stage, input.frames, n++));
        state.counters["error"] = error;
        state.counters["constraints"] = input.system->getNumConstraints();
        state.counters["solver_iterations"] = algorithm->iterations();
    } catch (const exception& failure) {
        state.SkipWithError(failure.what());
    }
}

void runSetup(benchmark::State& state, const BenchmarkInput& input, const string& name) {
    try {
        for (auto _ : state) {
            CALLGRIND_TOGGLE_COLLECT;
            if (name == "built-in")
                benchmark::DoNotOptimize(make_unique<ReferenceConstraints>(*input.system));
            else
                benchmark::DoNotOptimize(makeSolver(*input.system, name, 1e-5));
            CALLGRIND_TOGGLE_COLLECT;
        }
        state.counters["constraints"] = input.system->getNumConstraints();
    } catch (const exception& failure) {
        state.SkipWithError(failure.what());
    }
}

void registerCase(const BenchmarkInput& input) {
    for (const auto& [stage, stageName] : stageNames)
        for (const string& tolerance : options.tolerances)
            for (const char* algorithm : {"built-in", "Iterative", "MatrixInversion", "Reference"}) {
                const string name = stageName + "/" + input.name + "/" + tolerance + "/" + algorithm;
                auto* one = benchmark::RegisterBenchmark(
                    name.c_str(), [&input, stage = stage, algorithm, t = stod(tolerance)](benchmark::State& state) {
                        runApplications(state, input, stage, algorithm, t);
                    });
                one->UseManualTime()->Unit(benchmark::kMicrosecond);
                if (options.passes > 0)
                    one->Iterations(options.passes);
            }
    for (const char* algorithm : {"built-in", "MatrixInversion"}) {
        const string name = "set-up/" + input.name + "/" + algorithm;
        auto* one = benchmark::RegisterBenchmark(
            name.c_str(), [&input, algorithm](benchmark::State& state) { runSetup(state, input, algorithm); });
        one->Unit(benchmark::kMillisecond)->UseRealTime();
        if (options.passes > 0 || string(algorithm) == "built-in") // may take seconds
            one->Iterations(max(1, options.passes));
    }
}

// ---- the command line -----------------------------------------------------------------------------------------------

vector<string> split(const string& list) {
    vector<string> words;
    stringstream stream(list);
    for (string word; getline(stream, word, ',');)
        words.push_back(word);
    return words;
}

/** Take our options out of argv; the rest is Google Benchmark's. @throws invalid_argument if a value is no number */
void takeOptions(int& argc, char** argv) {
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        const string word = argv[i];
        auto value = [&](const string& name) { return word.rfind(name, 0) == 0 ? word.substr(name.size()) : ""; };
        if (const string folder = value("--inputs="); !folder.empty())
            options.inputs = folder;
        else if (const string sizes = value("--chains="); !sizes.empty())
            for (const string& size : split(sizes))
                options.chains.push_back(stoi(size));
        else if (const string tolerances = value("--tolerances="); !tolerances.empty())
            options.tolerances = split(tolerances);
        else if (const string threads = value("--threads="); !threads.empty())
            options.threads = stoi(threads);
        else if (const string passes = value("--passes="); !passes.empty())
            options.passes = stoi(passes);
        else
            argv[kept++] = argv[i];
    }
    argc = kept;
    for (const string& tolerance : options.tolerances)
        stod(tolerance);
}

} // namespace

int main(int argc, char** argv) {
    vector<BenchmarkInput> cases;
    try {
        takeOptions(argc, argv);
        if (!options.inputs.empty())
            cases = readInputs(options.inputs);
        for (int size : options.chains)
            cases.push_back(makeChain(size));
        if (cases.empty())
            throw OpenMMException("give --inputs=FOLDER, --chains=SIZES, or both");
    } catch (const invalid_argument&) {
        cerr << argv[0] << ": the value of an option is wrong: a number is expected\n";
        return 2;
    } catch (const exception& failure) {
        cerr << argv[0] << ": " << failure.what() << '\n';
        return 2;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    for (const BenchmarkInput& input : cases)
        registerCase(input);
    benchmark::RunSpecifiedBenchmarks();
}
