// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/LargeGroups.h"
#include "support/LargeSystems.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

LargeGroups::LargeGroups(Place place, bool moves)
    : system(std::make_unique<System>()), distances(new ConstraintForce()),
      heights(new CustomCentroidConstraintForce(2, std::string("z1-z2-h-change*lambda+0.3*(x1-x2)^2") +
                                                       (moves ? "-rate*t" : ""))),
      isPeriodic(place != Place::NoBox), box{Vec3(9, 0, 0), Vec3(0, 8, 0), Vec3(0, 0, 8)} {
    if (place == Place::Triclinic)
        box = {Vec3(9, 0, 0), Vec3(1.7, 8, 0), Vec3(-1.6, 2.9, 8)};
    if (isPeriodic)
        system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
    for (Force* force : std::initializer_list<Force*>{distances, heights})
        system->addForce(force);
    distances->setUsesPeriodicBoundaryConditions(isPeriodic);
    distances->addGlobalParameter("lambda", 0);
    heights->addGlobalParameter("lambda", 0);
    for (const char* name : {"h", "change", "rate"}) // the last only if any moves
        if (moves || std::string(name) != "rate")
            heights->addPerConstraintParameter(name);

    addMolecules(findSystem("water"), 36, waters);
    addMolecules(bentChain(170, 111), 1, chain);
    addMolecules(ConstraintTests::protein(24), 1, protein);
    TestSystem atom;
    atom.masses = {9};
    atom.positions = {{0, 0, 0}};
    addMolecules(atom, 6, free);
    springs = new HarmonicBondForce();
    springs->setUsesPeriodicBoundaryConditions(isPeriodic);
    for (int by : {4, 7})
        for (int p = 0; p + by < system->getNumParticles(); p++) {
            const double now = length(minimumImage(positions[p + by] - positions[p]));
            springs->addBond(p, p + by, (float) (0.9 * now), 500); // as devices store it
        }
    system->addForce(springs);
    for (Vec3& x : positions)
        for (int axis = 2; axis >= 0 && place == Place::Triclinic; axis--)
            x -= box[axis] * std::floor(x[axis] / box[axis][axis]);

    const auto some = [](const std::vector<int>& of, int first, int end) {
        return std::vector<int>(of.begin() + first, of.begin() + end);
    };
    std::vector<int> mixed = some(free, 0, 2);
    mixed.insert(mixed.end(), chain.begin() + 90, chain.begin() + 96);
    addDistance(some(waters, 0, 60), protein);
    ends[0] = some(chain, 0, 60);
    ends[1] = some(chain, 110, 171);
    addDistance(ends[0], ends[1]);
    addDistance(some(waters, 30, 108), some(chain, 60, 110), moves ? 0.4 : 0);
    addDistance(mixed, some(protein, 20, 23), 0, 0.03);
    addDistance(some(free, 2, 4), some(free, 4, 6));
    addHeight(some(waters, 0, 54), some(waters, 54, 108), 0, 0.02);
    addHeight(some(protein, 0, 80), some(protein, 80, (int) protein.size()), moves ? -0.2 : 0, 0);
}

/** On a grid, each with its first particle at a point of it. */
void LargeGroups::addMolecules(const TestSystem& molecule, int count, std::vector<int>& to) {
    const Vectors places = toVectors(molecule.positions);
    for (int i = 0; i < count; i++) {
        const int first = (int) positions.size();
        const Vec3 origin(0.3 * (i % 4) + 0.01 * first, 0.35 * (i / 4 % 4), 0.3 * (i / 16));
        for (int p = 0; p < molecule.numParticles(); p++) {
            to.push_back(system->addParticle(molecule.masses[p]));
            positions.push_back(origin + places[p]);
        }
        for (const TestSystem::Bond& bond : molecule.bonds)
            distances->addDistance(first + bond.i, first + bond.j, bond.length);
    }
}

void LargeGroups::addBodies() {
    const std::vector<int> first = addBody({}, 5, {0.6, 1.5, 0.2}), second = addBody({first[4]}, 24, {0.9, 1.5, 0.3});
    large = addBody({}, 90, {1.4, 1.7, 0.5});
    const int single = system->addParticle(9);
    positions.push_back(positions[first[2]] + Vec3(0.1, 0.05, -0.1));
    addBond(first[2], single);
    addBond(second[9], chain[100]);
    std::vector<int> whole = large, some(waters.begin() + 6, waters.begin() + 24);
    whole.insert(whole.end(), {free[0], free[5]});
    some.insert(some.end(), {first[0], first[3], single});
    some.insert(some.end(), large.begin() + firstShared, large.end());
    addDistance(some, chain);
    addDistance(whole, std::vector<int>(second.begin() + 5, second.end()), 0, 0.03);
    addHeight(first, std::vector<int>(protein.begin(), protein.begin() + 30), 0, 0);
}

void LargeGroups::removeSprings() {
    for (int i = system->getNumForces() - 1; i >= 0; i--)
        if (&system->getForce(i) == springs)
            system->removeForce(i);
    springs = nullptr;
}

/** Springs bind its new particles to others. */
std::vector<int> LargeGroups::addBody(std::vector<int> particles, int count, const Vec3& place) {
    for (int i = 0; i < count; i++) {
        const int p = system->addParticle(4 + i % 6);
        particles.push_back(p);
        positions.push_back(place + Vec3(0.3 * std::cos(i), 0.3 * std::sin(2 * i), 0.05 * (i % 7)));
        const double now = length(minimumImage(positions[p] - positions[p - 150]));
        springs->addBond(p - 150, p, (float) (0.9 * now), 500);
    }
    Vectors shape;
    for (int p : particles)
        shape.push_back(positions[p]);
    distances->addRigidBody(particles, shape);
    return particles;
}

void LargeGroups::addBond(int i, int j) {
    distances->addDistance(i, j, length(minimumImage(positions[j] - positions[i])));
}

void LargeGroups::addDistance(const std::vector<int>& group1, const std::vector<int>& group2, double rate,
                              double change) {
    Centroids of{{}, 0, rate, change, false};
    for (int g : {0, 1}) {
        double mass = 0;
        for (int p : g == 0 ? group1 : group2) {
            of.particles[g].emplace_back(p, system->getParticleMass(p));
            mass += system->getParticleMass(p);
        }
        for (auto& [p, weight] : of.particles[g])
            weight /= mass;
    }
    of.start = valueOf(of, positions);
    const int index = distances->addCentroidDistance(group1, group2, of.start, rate);
    if (change != 0)
        distances->setCentroidDistanceInterpolation(index, "lambda", of.start + change);
    centroids.push_back(of);
}

/** The weights of both groups are random. */
void LargeGroups::addHeight(const std::vector<int>& group1, const std::vector<int>& group2, double rate,
                            double change) {
    Centroids of{{}, 0, rate, change, true};
    Random numbers((unsigned) group1.size());
    std::vector<int> groups;
    for (const std::vector<int>& group : {group1, group2}) {
        std::vector<double> weights;
        double sum = 0;
        for (std::size_t i = 0; i < group.size(); i++) {
            weights.push_back(numbers.uniform(0.3, 1));
            sum += weights.back();
        }
        for (std::size_t i = 0; i < group.size(); i++)
            of.particles[groups.size()].emplace_back(group[i], weights[i] / sum);
        groups.push_back(heights->addGroup(group, weights));
    }
    of.start = valueOf(of, positions);
    std::vector<double> parameters = {of.start, change, rate};
    parameters.resize(heights->getNumPerConstraintParameters());
    heights->addConstraint(groups, parameters);
    centroids.push_back(of);
}

double LargeGroups::valueOf(const Centroids& of, const Vectors& x) const {
    Vec3 r;
    for (int g : {0, 1})
        for (const auto& [p, weight] : of.particles[g])
            r += x[p] * (g == 0 ? weight : -weight);
    if (of.isHeight)
        return r[2] + 0.3 * r[0] * r[0];
    return length(minimumImage(r));
}

Vec3 LargeGroups::minimumImage(Vec3 r) const {
    for (int axis = 2; axis >= 0 && isPeriodic; axis--)
        r -= box[axis] * std::round(r[axis] / box[axis][axis]);
    return r;
}

double LargeGroups::error(const Vectors& x, double time, double lambda) const {
    double largest = 0;
    for (const Centroids& of : centroids)
        largest = std::max(largest, std::abs(valueOf(of, x) - of.start - of.rate * time - of.change * lambda));
    return largest;
}

Vectors LargeGroups::random(double size, unsigned seed) const {
    Random numbers(seed);
    Vectors v;
    for (std::size_t p = 0; p < positions.size(); p++) {
        const Real3 r = numbers.inCube(size);
        v.emplace_back(r.x, r.y, r.z);
    }
    return v;
}

} // namespace ConstraintTests
