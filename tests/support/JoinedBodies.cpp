// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/JoinedBodies.h"
#include "support/FreeFlight.h"
#include <stdexcept>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

namespace {

double lengthOf(const Real3& r) {
    return std::sqrt(dot(r, r));
}

/** Whether the last of some points is apart from the others, and from lines and planes of the first three. */
bool isWellPlaced(const Points& points) {
    const int n = (int) points.size();
    const Real3& last = points[n - 1];
    for (int i = 0; i + 1 < n; i++)
        if (lengthOf(last - points[i]) < 0.09)
            return false;
    if (n < 3)
        return true;
    const Real3 edge = points[1] - points[0], normal = cross(edge, points[2] - points[0]);
    return n == 3 ? lengthOf(normal) > 0.09 * lengthOf(edge)
                  : std::abs(dot(normal, last - points[0])) > 0.07 * lengthOf(normal);
}

} // namespace

double angleOf(const Real3& a, const Real3& vertex, const Real3& b) {
    return std::atan2(lengthOf(cross(a - vertex, b - vertex)), dot(a - vertex, b - vertex));
}

double dihedralOf(const Real3& r1, const Real3& r2, const Real3& r3, const Real3& r4) {
    const Real3 a = r1 - r2, b = r2 - r3, c = r3 - r4, m = cross(a, b), n = cross(b, c);
    return -std::atan2(lengthOf(b) * dot(a, n), dot(m, n));
}

Points rotatedShape(const Points& places, unsigned seed) {
    return moved(places, seed);
}

int Assembly::atom(const Real3& place, double mass) {
    places.push_back(place);
    masses.push_back(mass);
    return (int) places.size() - 1;
}

std::vector<int> Assembly::body(int count, const Real3& centre, Random& random, std::vector<int> shared) {
    Points points;
    for (int p : shared)
        points.push_back(places[p]);
    std::vector<int> added;
    while ((int) added.size() < count) {
        points.push_back(centre + random.inCube(0.17));
        if (!isWellPlaced(points)) {
            points.pop_back();
            continue;
        }
        added.push_back(atom(points.back(), random.uniform(2, 20)));
    }
    shared.insert(shared.end(), added.begin(), added.end());
    bodies.push_back(shared);
    return added;
}

static std::vector<Assembly> makeAssemblies() {
    std::vector<Assembly> all;
    Random random(3);
    const Real3 here{0, 0, 0}, there{0.4, 0.1, 0}, beyond{0.75, -0.15, 0.1};
    const auto make = [&](const std::string& name, int degreesOfFreedom) -> Assembly& {
        Assembly assembly;
        assembly.name = name;
        assembly.degreesOfFreedom = degreesOfFreedom;
        all.push_back(assembly);
        return all.back();
    };
    const auto two = [&](const std::string& name, int degreesOfFreedom) -> Assembly& {
        Assembly& a = make(name, degreesOfFreedom);
        a.body(4, here, random);
        a.body(5, there, random);
        return a;
    };

    // ---- bodies that share particles
    {
        Assembly& a = make("ball joint", 9);
        const auto body = a.body(5, here, random);
        a.body(4, there, random, {body[4]});
    }
    {
        Assembly& a = make("hinge", 7);
        const int p = a.atom({0.2, 0, 0}, 14), q = a.atom({0.2, 0.1, 0.05}, 3);
        a.body(3, here, random, {p, q});
        a.body(4, there, random, {q, p});
    }
    {
        Assembly& a = make("three at one particle", 12);
        const int p = a.atom({0.25, 0.1, 0}, 16);
        a.body(3, here, random, {p});
        a.body(4, there, random, {p});
        a.body(3, {0.2, 0.4, 0.1}, random, {p});
    }
    {
        Assembly& a = make("rod between two", 11); // all particles of the rod are shared
        const auto one = a.body(4, here, random), other = a.body(4, there, random);
        a.bodies.push_back({one[0], other[3]});
    }
    {
        Assembly& a = make("linear body at a joint", 8);
        const auto body = a.body(5, here, random);
        a.bodies.push_back({body[1], a.atom(a.places[body[1]] + Real3{0.1, 0.03, 0.02}, 7)});
    }
    {
        Assembly& a = make("triangle at a hinge", 7);
        const auto body = a.body(4, here, random);
        a.body(1, there, random, {body[0], body[2]});
    }
    {
        Assembly& a = make("chain of hinges", 9);
        const auto one = a.body(4, here, random);
        const auto second = a.body(3, {0.25, 0.15, 0}, random, {one[1], one[3]});
        const auto third = a.body(3, {0.5, 0, 0.1}, random, {second[0], second[2]});
        a.body(3, {0.75, 0, 0.1}, random, {third[1], third[2]});
    }

    // ---- bodies that constraints join
    two("distance", 11).joins = {{Join::Distance, {1, 6}}};
    two("System constraint", 11).joins = {{Join::SystemDistance, {7, 2}}};
    two("two distances at one atom", 10).joins = {{Join::Distance, {1, 6}}, {Join::Distance, {1, 8}}};
    {
        Assembly& a = two("angle of two bodies and an atom", 14);
        a.joins = {{Join::Angle, {2, 5, a.atom({0.5, 0.4, 0.1})}}};
    }
    {
        Assembly& a = two("angle about an atom", 14);
        a.joins = {{Join::Angle, {0, a.atom({0.2, 0.3, 0.1}), 8}}};
    }
    two("angle within two bodies", 11).joins = {{Join::Angle, {0, 3, 5}}};
    two("dihedral of two bodies", 11).joins = {{Join::Dihedral, {0, 3, 5, 8}}};
    {
        Assembly& a = two("dihedral with atoms", 17);
        const int p = a.atom({-0.2, 0.3, 0.1}), q = a.atom({0.7, 0.3, -0.1});
        a.joins = {{Join::Dihedral, {p, 2, 6, q}}};
    }
    two("centroids", 11).joins = {{Join::Centroids, {0, 1, 2, 5, 7}, 3}};
    {
        Assembly& a = two("centroids with atoms", 14);
        a.joins = {{Join::Centroids, {0, 1, 4, a.atom({0.3, 0.4, 0.2})}, 2}};
    }
    two("surface", 11).joins = {{Join::Surface, {6}}};
    {
        Assembly& a = make("one particle at a distance", 8);
        a.body(4, here, random);
        a.bodies.push_back({a.atom(there, 5)});
        a.joins = {{Join::Distance, {2, 4}}};
    }
    {
        Assembly& a = make("chain", 15); // body, joint, body, atom, body
        const auto one = a.body(4, here, random);
        const auto second = a.body(4, {0.3, 0.1, 0}, random, {one[2]});
        const int p = a.atom({0.55, 0.1, 0.15}, 16);
        const auto third = a.body(5, beyond, random);
        a.joins = {{Join::Distance, {second[1], p}},
                   {Join::SystemDistance, {p, third[0]}},
                   {Join::Angle, {second[1], p, third[0]}}};
    }

    // ---- with massless particles
    {
        Assembly& a = make("double pendulum", 6);
        const int anchor = a.atom({0, 0.3, 0}, 0);
        const auto one = a.body(4, here, random, {anchor});
        a.body(4, there, random, {one[2]});
    }
    {
        Assembly& a = make("hinge with an anchor", 4);
        const int anchor = a.atom({0, 0.3, 0}, 0);
        const auto one = a.body(4, here, random, {anchor});
        a.body(3, there, random, {one[1], one[3]});
    }
    {
        Assembly& a = make("two at one anchor and a distance", 5);
        const int anchor = a.atom({0.2, 0.3, 0}, 0);
        a.body(4, here, random, {anchor});
        a.body(4, there, random, {anchor});
        a.joins = {{Join::Distance, {2, 6}}};
    }
    {
        Assembly& a = make("distance to an anchor", 8);
        const auto one = a.body(4, here, random);
        const int anchor = a.atom({0.1, 0.5, 0}, 0);
        a.body(3, there, random, {one[3]});
        a.joins = {{Join::Distance, {one[0], anchor}}};
    }
    return all;
}

const std::vector<Assembly>& someAssemblies() {
    static const std::vector<Assembly> all = makeAssemblies();
    return all;
}

const Assembly& findAssembly(const std::string& name) {
    for (const Assembly& assembly : someAssemblies())
        if (assembly.name == name)
            return assembly;
    throw std::out_of_range("no assembly " + name);
}

JoinedSystem::JoinedSystem(std::vector<Assembly> given) : parts(std::move(given)) {
    for (std::size_t k = 0; k < parts.size(); k++) {
        const int f = (int) masses.size();
        first.push_back(f);
        masses.insert(masses.end(), parts[k].masses.begin(), parts[k].masses.end());
        const Points turned = moved(parts[k].places, (unsigned) k + 1);
        const Real3 cell = 1.4 * Real3{(double) (k % 3), (double) (k / 3 % 3), (double) (k / 9)};
        for (const Real3& r : turned)
            start.push_back(r - turned[0] + cell);
        for (std::vector<int> body : parts[k].bodies) {
            for (int& p : body)
                p += f;
            bodies.push_back(body);
        }
    }
}

int JoinedSystem::degreesOfFreedom() const {
    int sum = 0;
    for (const Assembly& part : parts)
        sum += part.degreesOfFreedom;
    return sum;
}

std::unique_ptr<System> JoinedSystem::toOpenMM(Held held, bool periodic) const {
    auto system = std::make_unique<System>();
    for (double mass : masses)
        system->addParticle(mass);
    auto* joining = new ConstraintForce();
    joining->setUsesPeriodicBoundaryConditions(periodic);
    system->addForce(joining);
    for (std::size_t k = 0; k < parts.size(); k++)
        for (const Join& join : parts[k].joins) {
            std::vector<int> p = join.particles;
            for (int& each : p)
                each += first[k];
            const auto at = [&](int s) { return start[p[s]]; };
            if (join.kind == Join::SystemDistance)
                system->addConstraint(p[0], p[1], lengthOf(at(0) - at(1)));
            else if (join.kind == Join::Distance)
                joining->addDistance(p[0], p[1], lengthOf(at(0) - at(1)));
            else if (join.kind == Join::Angle)
                joining->addAngle(p[0], p[1], p[2], angleOf(at(0), at(1), at(2)));
            else if (join.kind == Join::Dihedral)
                joining->addDihedral(p[0], p[1], p[2], p[3], dihedralOf(at(0), at(1), at(2), at(3)));
            else if (join.kind == Join::Centroids) {
                Real3 centre[2];
                double mass[2] = {0, 0};
                for (int s = 0; s < (int) p.size(); s++) {
                    const int group = s < join.firstGroup ? 0 : 1;
                    centre[group] += masses[p[s]] * at(s);
                    mass[group] += masses[p[s]];
                }
                joining->addCentroidDistance(std::vector<int>(p.begin(), p.begin() + join.firstGroup),
                                             std::vector<int>(p.begin() + join.firstGroup, p.end()),
                                             lengthOf((1 / mass[0]) * centre[0] - (1 / mass[1]) * centre[1]));
            } else {
                auto* sphere = new CustomConstraintForce(1, "sqrt((x1-a)^2+(y1-b)^2+(z1-c)^2)-d");
                for (const char* name : {"a", "b", "c", "d"})
                    sphere->addPerConstraintParameter(name);
                const Real3 centre = at(0) - Real3{0.1, 0.2, 0.25};
                sphere->addConstraint(p, {centre.x, centre.y, centre.z, lengthOf(at(0) - centre)});
                system->addForce(sphere);
            }
        }
    auto* holding = new ConstraintForce();
    holding->setUsesPeriodicBoundaryConditions(periodic);
    std::set<std::pair<int, int>> pairs; // two bodies at a hinge have one distance in common
    unsigned seed = 20;
    for (const std::vector<int>& body : bodies) {
        Points shape;
        for (int p : body)
            shape.push_back(start[p]);
        if (held == Held::AsBodies)
            holding->addRigidBody(body, toVectors(rotatedShape(shape, seed++)));
        for (std::size_t j = 1; j < body.size(); j++)
            for (std::size_t i = 0; i < std::min<std::size_t>(j, 3); i++)
                if (masses[body[i]] > 0 || masses[body[j]] > 0)
                    pairs.insert(std::minmax(body[i], body[j]));
    }
    if (held == Held::ByDistances)
        for (const auto& [i, j] : pairs)
            holding->addDistance(i, j, lengthOf(start[i] - start[j]));
    system->addForce(holding);
    return system;
}

void JoinedSystem::addSprings(System& system, double k, bool periodic) const {
    auto* springs = new HarmonicBondForce();
    springs->setUsesPeriodicBoundaryConditions(periodic);
    for (std::size_t part = 0; part < parts.size(); part++) {
        const int n = (int) parts[part].masses.size();
        for (int i = 0; i < n; i++)
            for (int separation : {1, 3, 5})
                if (i + separation < n) {
                    const int p = first[part] + i, q = p + separation;
                    const float rest = (float) ((separation == 3 ? 1.2 : 1) * lengthOf(start[p] - start[q]));
                    springs->addBond(p, q, rest, k);
                }
    }
    system.addForce(springs);
}

Vectors JoinedSystem::velocities(double size, unsigned seed) const {
    Random random(seed);
    Arrays v;
    for (double mass : masses)
        v.push_back(mass > 0 ? random.inCube(size) : Real3());
    return toVectors(v);
}

void JoinedSystem::begin(Simulation& s, double size) const {
    s.context->setPositions(toVectors(start));
    s.context->setVelocities(velocities(size, 3));
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
}

Simulation JoinedSystem::simulate(const Setup& setup, double stepSize, Held held, double tolerance, double k) const {
    auto system = toOpenMM(held);
    if (k > 0)
        addSprings(*system, k);
    Simulation s(std::move(system), makeIntegrator(setup, stepSize, tolerance), std::get<0>(setup));
    begin(s);
    return s;
}

double JoinedSystem::deformation(const Vectors& x) const {
    double largest = 0;
    for (const std::vector<int>& body : bodies)
        for (std::size_t i = 0; i < body.size(); i++)
            for (std::size_t j = 0; j < i; j++) {
                const Vec3 d = x[body[i]] - x[body[j]];
                const double change = std::abs(std::sqrt(d.dot(d)) - lengthOf(start[body[i]] - start[body[j]]));
                if (!(change <= largest)) // or it is not a number
                    largest = change;
            }
    return largest;
}

std::vector<JoinedSystem> systemsOf(const std::vector<Assembly>& assemblies, const std::string& platform) {
    if (isDevice(platform))
        return {JoinedSystem(assemblies)};
    std::vector<JoinedSystem> systems;
    for (const Assembly& assembly : assemblies)
        systems.emplace_back(std::vector<Assembly>{assembly});
    return systems;
}

} // namespace ConstraintTests
