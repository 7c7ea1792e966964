// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Groups.h"
#include <numeric>
#include <set>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

namespace {

std::vector<int> numbersFrom(int begin, int end) {
    std::vector<int> numbers(end - begin);
    std::iota(numbers.begin(), numbers.end(), begin);
    return numbers;
}

class GroupsBuilder {
public:
    GroupsBuilder(Among among, int numWaters, bool periodic) : periodic(periodic), random(3) {
        groups.system = std::make_unique<System>();
        if (periodic)
            groups.system->setDefaultPeriodicBoxVectors(Vec3(4, 0, 0), Vec3(0.7, 4, 0), Vec3(-0.6, 0.9, 4));
        bonds = new ConstraintForce();
        bonds->setUsesPeriodicBoundaryConditions(periodic);
        for (int i = 0; i < numWaters; i++)
            water({0.3 * (i % 7), 0.3 * (i / 7 % 7), 0.3 * (i / 49)});
        if (among != Among::WatersOnly)
            otherSorts(among == Among::AllSorts || among == Among::ManyBodies);
        if (among == Among::ManyBodies)
            manyBodies();
        const std::vector<int> waters = numbersFrom(0, 3 * numWaters),
                               most = numbersFrom(0, 3 * (numWaters - numWaters / 4)),
                               last = numbersFrom(3 * (numWaters / 2), 3 * numWaters);
        height({most, {}}, {last, randomWeights(last)});
        if (among != Among::WatersOnly) {
            height({stars, {}}, {most, {}});
            distance({chain, {}}, {last, {}}); // in another image, if periodic
            distance({{chain[0], chain[1], chain[2]}, {}}, {{chain[6], chain[7]}, {1, 3}});
            if (!body.empty())
                height({{body[0], body[1], free[0]}, randomWeights(numbersFrom(0, 3))}, {stars, {}});
            height({{anchor, free[1], free[2]}, {1, 2, 1}}, {{free[3]}, {}});
            height({{free[4]}, {}}, {{free[5], body.empty() ? free[0] : body[3]}, {}});
            std::vector<int> ions = {free[0], stars[0], chain[2], anchor}, oxygens = {chain[2], stars[3]};
            for (int w = 0; w < numWaters; w++)
                oxygens.push_back(3 * w);
            if (!body.empty()) // an atom of it in both
                for (std::vector<int>* group : {&ions, &oxygens})
                    group->push_back(body[1]);
            coordination(ions, oxygens);
        }
        if (among == Among::ManyBodies) {
            std::vector<int> whole = large, some(large.begin() + 30, large.end());
            whole.push_back(free[1]);
            some.insert(some.end(), {pair[0][0], pair[1][3], free[2]});
            height({whole, {}}, {stars, {}});
            height({some, randomWeights(some)}, {pair[0], {}});
            distance({pair[1], {}}, {last, {}});
        }
        for (int i = 0; i < (int) groups.positions.size() && periodic && among != Among::WatersOnly; i++)
            if (std::find(chain.begin(), chain.end(), i) != chain.end())
                groups.positions[i] += Vec3(-0.6, 0.9, 4);
        groups.system->addForce(bonds);
        for (Check& check : groups.checks)
            check.value = check.q(groups.positions);
    }
    Groups groups;

private:
    using Check = Groups::Check;
    struct Group {
        std::vector<int> particles;
        std::vector<double> weights; // empty: masses
    };

    Vec3 inCube(double size) {
        const Real3 r = random.inCube(size);
        return {r.x, r.y, r.z};
    }
    std::vector<double> randomWeights(const std::vector<int>& particles) {
        std::vector<double> weights;
        for (std::size_t i = 0; i < particles.size(); i++)
            weights.push_back(random.uniform(0.3, 1));
        return weights;
    }
    int atom(double mass, const Vec3& place) {
        groups.positions.push_back(place);
        return groups.system->addParticle(mass);
    }
    void bond(int i, int j, bool ofSystem) {
        const double d = length(groups.positions[i] - groups.positions[j]);
        if (ofSystem && !periodic)
            groups.system->addConstraint(i, j, d);
        else
            bonds->addDistance(i, j, d);
        const auto q = [=, box = boxVectors(), periodic = periodic](const Vectors& x) {
            Vec3 r = x[i] - x[j];
            for (int axis = 2; axis >= 0 && periodic; axis--)
                r -= box[axis] * std::round(r[axis] / box[axis][axis]);
            return length(r);
        };
        groups.checks.push_back({q, 0});
    }
    std::vector<Vec3> boxVectors() const {
        std::vector<Vec3> box(3);
        groups.system->getDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
        return box;
    }
    /** An atom with others about it. */
    std::vector<int> star(const Vec3& centre, int arms) {
        std::vector<int> atoms = {atom(12, centre)};
        for (int i = 0; i < arms; i++) {
            atoms.push_back(atom(1 + i, centre + Vec3(0.1 * std::cos(2 * i), 0.1 * std::sin(2 * i), 0.04 * i - 0.05)));
            bond(atoms[0], atoms.back(), true);
        }
        return atoms;
    }
    void water(const Vec3& place) {
        const Vec3 at = place + inCube(0.02);
        const Vec3 arm = Vec3(0.1, 0, 0) + inCube(0.005), other = Vec3(-0.03, 0.094, 0) + inCube(0.005);
        const int o = atom(16, at), h1 = atom(1, at + arm), h2 = atom(1, at + other);
        bond(o, h1, true);
        bond(o, h2, true);
        bond(h1, h2, true);
    }
    void otherSorts(bool withBody) {
        for (int i = 0; i < 3; i++)
            for (int a : star(Vec3(0.4 * i, 0.1, -0.4), 2 + i))
                stars.push_back(a);
        for (int i = 0; i < 8; i++) {
            chain.push_back(atom(10 + i, Vec3(0.13 * i, 0.08 * (i % 2), -0.8 + 0.02 * i * i)));
            if (i > 0)
                bond(chain[i - 1], chain[i], false);
            if (i > 1) // an angle
                bond(chain[i - 2], chain[i], false);
        }
        for (int i = 0; i < 6; i++)
            free.push_back(atom(5 + i, Vec3(0.3 * i, 1.5, -0.5) + inCube(0.1)));
        anchor = atom(0, Vec3(0.5, 1.7, -0.5));
        if (!withBody)
            return;
        body = rigid({1, 1, -1}, 5, {});
        bond(body[2], free[0], false);
    }
    /** A rigid body of some atoms, and another one if it is to share that. */
    std::vector<int> rigid(const Vec3& place, int atoms, std::vector<int> particles) {
        for (int i = 0; i < atoms; i++)
            particles.push_back(atom(
                4 + i % 5, place + Vec3(0.15 * std::cos(i), 0.15 * std::sin(2 * i), 0.05 * i - 0.04 * (i / 7 * 7))));
        std::vector<Vec3> shape;
        for (int p : particles)
            shape.push_back(groups.positions[p]);
        bonds->addRigidBody(particles, shape);
        return particles;
    }
    void manyBodies() {
        pair[0] = rigid({0.7, 0.6, 0.5}, 6, {});
        pair[1] = rigid({1.1, 0.5, 0.4}, 20, {pair[0][5]});
        large = rigid({0.9, 1.2, 0.1}, 100, {});
        bond(pair[1][2], chain[7], false);
    }
    std::vector<std::pair<int, double>> normalized(const Group& group) const {
        std::vector<std::pair<int, double>> weights;
        double sum = 0;
        for (std::size_t i = 0; i < group.particles.size(); i++) {
            const int p = group.particles[i];
            weights.emplace_back(p, group.weights.empty() ? groups.system->getParticleMass(p) : group.weights[i]);
            sum += weights.back().second;
        }
        for (auto& [p, w] : weights)
            w /= sum;
        return weights;
    }
    void expression(const std::string& text, const Group& a, const Group& b, const std::function<double(Vec3)>& f) {
        const auto q = [f, ofA = normalized(a), ofB = normalized(b)](const Vectors& x) {
            Vec3 r;
            for (const auto& [p, w] : ofA)
                r += x[p] * w;
            for (const auto& [p, w] : ofB)
                r -= x[p] * w;
            return f(r);
        };
        auto* force = new CustomCentroidConstraintForce(2, text + "-q");
        force->setUsesPeriodicBoundaryConditions(periodic);
        force->addPerConstraintParameter("q");
        force->addConstraint({force->addGroup(a.particles, a.weights), force->addGroup(b.particles, b.weights)},
                             {q(groups.positions)});
        groups.system->addForce(force);
        groups.checks.push_back({q, 0});
    }
    void height(const Group& a, const Group& b) {
        expression("z1-z2+0.3*(x1-x2)^2", a, b, [](const Vec3& r) { return r[2] + 0.3 * r[0] * r[0]; });
    }
    void distance(const Group& a, const Group& b) {
        expression("distance(g1,g2)", a, b, [box = boxVectors(), periodic = periodic](Vec3 r) {
            for (int axis = 2; axis >= 0 && periodic; axis--)
                r -= box[axis] * std::round(r[axis] / box[axis][axis]);
            return length(r);
        });
    }

    void coordination(const std::vector<int>& a, const std::vector<int>& b) {
        const double r0 = 0.6, cutoff = 1.6;
        const auto f = [=](double r) { return (1 - std::pow(r / r0, 4)) / (1 - std::pow(r / r0, 10)); };
        const auto q = [=, box = boxVectors(), periodic = periodic](const Vectors& x) {
            double sum = 0;
            for (int i : a)
                for (int j : b) {
                    Vec3 between = x[i] - x[j];
                    for (int axis = 2; axis >= 0 && periodic; axis--)
                        between -= box[axis] * std::round(between[axis] / box[axis][axis]);
                    const double r = length(between), end = cutoff * cutoff,
                                 y = std::max(0.0, (r * r / end - 0.81) / 0.19);
                    if (i != j && r < cutoff)
                        sum += (f(r) - f(cutoff)) / (1 - f(cutoff)) * (1 - y * y * y * (10 - 15 * y + 6 * y * y));
                }
            return sum;
        };
        bonds->addCoordinationNumber(a, b, q(groups.positions), r0, 4, 10, cutoff);
        const double step = 1e-5;
        double squares = 0; // of the gradient, by which its error is a length
        std::set<int> particles(a.begin(), a.end());
        particles.insert(b.begin(), b.end());
        for (int i : particles)
            for (int axis : {0, 1, 2}) {
                Vectors before = groups.positions, after = before;
                before[i][axis] -= step;
                after[i][axis] += step;
                squares += std::pow((q(after) - q(before)) / (2 * step), 2);
            }
        groups.checks.push_back({[=](const Vectors& x) { return q(x) / std::sqrt(squares); }, 0});
    }

    bool periodic;
    Random random;
    ConstraintForce* bonds;
    std::vector<int> stars, chain, free, body, pair[2], large;
    int anchor = -1;
};

} // namespace

double Groups::error(const Vectors& x) const {
    double largest = 0;
    for (const Check& check : checks)
        largest = std::max(largest, std::abs(check.q(x) - check.value));
    return largest;
}

Vectors Groups::random(double size, unsigned seed) const {
    Random numbers(seed);
    Vectors v;
    for (int p = 0; p < system->getNumParticles(); p++) {
        const Real3 r = numbers.inCube(size);
        v.push_back(system->getParticleMass(p) > 0 ? Vec3(r.x, r.y, r.z) : Vec3());
    }
    return v;
}

void Groups::addSprings(double k) {
    auto* springs = new HarmonicBondForce();
    for (int by : {4, 7})
        for (int p = 0; p + by < system->getNumParticles(); p++)
            springs->addBond(p, p + by, 0.9 * length(positions[p + by] - positions[p]), k);
    system->addForce(springs);
}

Groups makeGroups(Among among, int numWaters, bool periodic) {
    return std::move(GroupsBuilder(among, numWaters, periodic).groups);
}

} // namespace ConstraintTests
