// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BenchmarkInput.h"
#include "openmm/HarmonicAngleForce.h"
#include "openmm/OpenMMException.h"
#include "openmm/State.h"
#include "openmm/serialization/XmlSerializer.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

using namespace OpenMM;
using namespace std;
namespace fs = std::filesystem;

namespace ConstraintPlugin {

static Real3 real3(const Vec3& v) {
    return {v[0], v[1], v[2]};
}

static Frame makeFrame(vector<Vec3> x, vector<Vec3> v) {
    Frame frame;
    for (size_t i = 0; i < x.size(); i++) {
        frame.moved.push_back(x[i] + v[i] * stepSize);
        frame.start.push_back(real3(x[i]));
        frame.velocity.push_back(real3(v[i]));
        frame.delta.push_back(real3(v[i] * stepSize));
    }
    frame.x = move(x);
    frame.v = move(v);
    return frame;
}

Box BenchmarkInput::box() const {
    Vec3 a, b, c;
    system->getDefaultPeriodicBoxVectors(a, b, c);
    return {real3(a), real3(b), real3(c)};
}

vector<double> BenchmarkInput::inverseMasses() const {
    vector<double> result;
    for (int i = 0; i < system->getNumParticles(); i++) {
        const double mass = system->getParticleMass(i);
        result.push_back(mass > 0 ? 1 / mass : 0);
    }
    return result;
}

/** The largest error of all constraints; NaN if one is NaN. @param error  of (bond vector, i, j, d0) */
template <class Error>
static double largest(const System& system, const vector<Vec3>& x, Error error) {
    double result = 0;
    for (int k = 0; k < system.getNumConstraints(); k++) {
        int i, j;
        double d0;
        system.getConstraintParameters(k, i, j, d0);
        const double e = abs(error(x[j] - x[i], i, j, d0));
        if (!(e <= result))
            result = e;
        if (isnan(e))
            return e;
    }
    return result;
}

double BenchmarkInput::largestError(const vector<Vec3>& x) const {
    return largest(*system, x, [](const Vec3& r, int, int, double d0) { return sqrt(r.dot(r)) / d0 - 1; });
}

double BenchmarkInput::largestVelocityError(const vector<Vec3>& x, const vector<Vec3>& v) const {
    return largest(*system, x,
                   [&](const Vec3& r, int i, int j, double d0) { return r.dot(v[j] - v[i]) * stepSize / (d0 * d0); });
}

template <class T>
static unique_ptr<T> read(const fs::path& path) {
    ifstream file(path);
    if (!file)
        throw OpenMMException("cannot read " + path.string());
    return unique_ptr<T>(XmlSerializer::deserialize<T>(file));
}

vector<BenchmarkInput> readInputs(const string& folder) {
    static const string ending = ".system.xml";
    if (!fs::is_directory(folder))
        throw OpenMMException("there is no folder '" + folder + "'");
    vector<BenchmarkInput> inputs;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const string file = entry.path().filename().string();
        if (file.size() <= ending.size() || file.compare(file.size() - ending.size(), ending.size(), ending) != 0)
            continue;
        BenchmarkInput input;
        input.name = file.substr(0, file.size() - ending.size());
        input.system = read<System>(entry.path());
        auto path = [&](int n) { return fs::path(folder) / (input.name + "." + to_string(n) + ".state.xml"); };
        for (int n = 0; n == 0 || fs::exists(path(n)); n++) {
            const unique_ptr<State> state = read<State>(path(n));
            input.frames.push_back(makeFrame(state->getPositions(), state->getVelocities()));
        }
        inputs.push_back(move(input));
    }
    if (inputs.empty())
        throw OpenMMException("there is no *" + ending + " in '" + folder +
                              "': let openmm-constraints benchmark --write-input make some");
    sort(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return inputs;
}

BenchmarkInput makeChain(int numBeads) {
    constexpr double mass = 14, bond = 0.153, speed = 0.42; // Da, nm, nm/ps: sqrt(kT/m)
    const double angle = 1.95;
    BenchmarkInput input;
    input.name = "chain_" + to_string(numBeads) + "-made";
    input.system = make_unique<System>();
    auto angles = make_unique<HarmonicAngleForce>();
    for (int i = 0; i < numBeads; i++) {
        input.system->addParticle(mass);
        if (i > 0)
            input.system->addConstraint(i - 1, i, bond);
        if (i > 1)
            angles->addAngle(i - 2, i - 1, i, angle, 1);
    }
    input.system->addForce(angles.release());
    mt19937 random(1);
    normal_distribution<double> normal;
    for (int n = 0; n < 2; n++) {
        vector<Vec3> x(numBeads), v(numBeads);
        Vec3 along(1, 0, 0);
        for (int i = 0; i < numBeads; i++) {
            v[i] = Vec3(normal(random), normal(random), normal(random)) * speed;
            if (i == 0)
                continue;
            Vec3 across = along.cross(Vec3(normal(random), normal(random), normal(random)));
            across /= sqrt(across.dot(across));
            along = along * -cos(angle) + across * sin(angle);
            along /= sqrt(along.dot(along));
            x[i] = x[i - 1] + along * bond;
        }
        input.frames.push_back(makeFrame(move(x), move(v)));
    }
    return input;
}

} // namespace ConstraintPlugin
