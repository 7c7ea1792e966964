// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/PressedParticles.h"
#include "support/ProbeForce.h"
#include <cmath>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

namespace {

constexpr double toBar = 16.6053906717; // 1 kJ/mol/nm^3

double lengthOf(const Vec3& r) {
    return std::sqrt(r.dot(r));
}

double angleOf(const Vec3& a, const Vec3& b) {
    return std::acos(a.dot(b) / (lengthOf(a) * lengthOf(b)));
}

double dihedralOf(const Vectors& x, int p1, int p2, int p3, int p4) {
    const Vec3 b1 = x[p2] - x[p1], b2 = x[p3] - x[p2], b3 = x[p4] - x[p3], n = b2.cross(b3);
    return std::atan2(lengthOf(b2) * b1.dot(n), b1.cross(b2).dot(n));
}

/** Thermal at 300 K, from a fixed seed. */
Vectors thermalVelocities(const System& system, unsigned seed) {
    Random random(seed);
    Vectors v;
    for (int i = 0; i < system.getNumParticles(); i++) {
        const double mass = system.getParticleMass(i);
        const Real3 u = random.inCube(mass > 0 ? std::sqrt(3 * 2.494 / mass) : 0);
        v.emplace_back(u.x, u.y, u.z);
    }
    return v;
}

Simulation started(std::unique_ptr<System> system, const Setup& setup, double stepSize, const Vectors& start) {
    const Vectors v = thermalVelocities(*system, 5);
    Simulation s(std::move(system), makeIntegrator(setup, stepSize, 1e-11), std::get<0>(setup));
    s.context->setPositions(start);
    s.context->computeVirtualSites();
    s.context->setVelocities(v);
    s.integrator->applyVelocityConstraints();
    return s;
}

/** Places of a drop around the origin, and the constraints that hold there. */
struct Drop {
    std::unique_ptr<System> system = std::make_unique<System>();
    Vectors x;
    ConstraintForce* constraints = new ConstraintForce();
    Random random{7};

    explicit Drop(const Vectors& box) {
        system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
        system->addForce(constraints);
        constraints->setUsesPeriodicBoundaryConditions(true);
        addWater();
        addAngleAndDihedral();
        addExpressions();
        constraints->addCentroidDistance({0, 1, 2}, {3, 4, 5}, centroidDistance());
        auto* layers = new CustomCentroidConstraintForce(2, "x1 - x2 + 2*(y1 - y2) - h");
        layers->addPerConstraintParameter("h");
        layers->addGroup({10, 11});
        layers->addGroup({12, 13, 14});
        const Vec3 apart = (x[10] + x[11]) / 2 - (x[12] + x[13] + x[14]) / 3;
        layers->addConstraint({0, 1}, {apart[0] + 2 * apart[1]});
        system->addForce(layers);
        addBodies();
        addSites();
        addSprings();
    }
    int add(const Vec3& place, double mass) {
        x.push_back(place);
        return system->addParticle(mass);
    }
    void addWater() {
        const Vec3 at(-0.3, 0.1, 0.05);
        for (const Vec3& r : {Vec3(), Vec3(0.0757, 0.0586, 0), Vec3(-0.0757, 0.0586, 0)})
            add(at + r, x.empty() ? 16 : 2);
        for (const auto& [i, j] : std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {1, 2}})
            system->addConstraint(i, j, lengthOf(x[i] - x[j]));
    }
    void addAngleAndDihedral() {
        for (const Vec3& r : {Vec3(0.05, 0.3, 0.1), Vec3(0.16, 0.35, 0.12), Vec3(0.2, 0.24, 0.05)}) // 3 4 5
            add(r, 12);
        constraints->addDistance(3, 4, lengthOf(x[3] - x[4]));
        constraints->addAngle(3, 4, 5, angleOf(x[3] - x[4], x[5] - x[4]));
        for (const Vec3& r : {Vec3(0.3, -0.2, -0.1), Vec3(0.4, -0.1, -0.12), Vec3(0.48, -0.2, -0.05),
                              Vec3(0.5, -0.25, 0.08)}) // 6 7 8 9
            add(r, 14);
        constraints->addDihedral(6, 7, 8, 9, dihedralOf(x, 6, 7, 8, 9));
    }
    void addExpressions() {
        for (const Vec3& r : {Vec3(-0.1, -0.3, 0.2), Vec3(-0.2, -0.25, 0.32)}) // 10 11
            add(r, 20);
        auto* height = new CustomConstraintForce(2, "z1 - z2 - h"); // without a symmetric virial
        height->addPerConstraintParameter("h");
        height->addConstraint({10, 11}, {x[10][2] - x[11][2]});
        system->addForce(height);
        for (const Vec3& r : {Vec3(0.1, -0.4, 0.0), Vec3(0.18, -0.42, 0.1), Vec3(0.1, -0.5, 0.15)}) // 12 13 14
            add(r, 9);
        auto* path = new CustomConstraintForce(3, "distance(p1,p2) + distance(p2,p3) - s");
        path->addPerConstraintParameter("s");
        path->addConstraint({12, 13, 14}, {lengthOf(x[12] - x[13]) + lengthOf(x[13] - x[14])});
        path->setUsesPeriodicBoundaryConditions(true);
        system->addForce(path);
    }
    double centroidDistance() const {
        return lengthOf((x[0] * 16 + x[1] * 2 + x[2] * 2) / 20 - (x[3] + x[4] + x[5]) / 3);
    }
    void addBodies() {
        const Vectors shape = {Vec3(), Vec3(0.15, 0, 0), Vec3(0.05, 0.14, 0.02), Vec3(0.06, 0.05, 0.13)};
        std::vector<int> body, first, second;
        for (const Vec3& r : shape) // 15 to 18
            body.push_back(add(Vec3(-0.4, -0.2, -0.3) + r, 8 + 2.0 * body.size()));
        constraints->addRigidBody(body, shape);
        for (const Vec3& r : shape) // 19 to 22
            first.push_back(add(Vec3(-0.1, 0.05, -0.4) + r, 10));
        second = {first[1]};
        for (const Vec3& r : {Vec3(0.1, 0.05, -0.03), Vec3(0.12, -0.06, 0.05)}) // 23 24
            second.push_back(add(x[first[1]] + r, 11));
        constraints->addRigidBody(first, shape);
        constraints->addRigidBody(second, {x[second[0]], x[second[1]], x[second[2]]});
    }
    void addSites() {
        system->setVirtualSite(add({}, 0), new ThreeParticleAverageSite(0, 1, 2, 0.6, 0.3, 0.1));
        system->setVirtualSite(add({}, 0), new LocalCoordinatesSite(6, 7, 8, {0.2, 0.5, 0.3}, {-1, 0.5, 0.5},
                                                                    {-0.5, -0.5, 1}, {0.05, 0.03, 0.04}));
        x[25] = x[0] * 0.6 + x[1] * 0.3 + x[2] * 0.1;
        x[26] = (x[6] + x[7] + x[8]) / 3; // about
    }
    void addSprings() {
        auto* springs = new CustomBondForce("k*(r - r0)^2 + 0.05*(0.3/r)^7");
        springs->addPerBondParameter("k");
        springs->addPerBondParameter("r0");
        springs->setUsesPeriodicBoundaryConditions(true);
        auto* pairs = new NonbondedForce(); // has devices sort and wrap what it gets
        pairs->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
        pairs->setCutoffDistance(1.3);
        pairs->setUseSwitchingFunction(true);
        pairs->setSwitchingDistance(1.1);
        pairs->setUseDispersionCorrection(false);
        pairs->setForceGroup(1);
        const int n = (int) x.size();
        for (int i = 0; i < n; i++) {
            pairs->addParticle(0, 0.1, 0.1);
            for (int j = i + 1; j < n; j++) {
                const double r = lengthOf(x[i] - x[j]);
                if ((i * 7 + j * 3) % 5 < 2 && r > 0.15)
                    springs->addBond(i, j, {300 + random.uniform(0, 400), r + random.uniform(-0.02, 0.05)});
                if (r < 0.12)
                    pairs->addException(i, j, 0, 1, 0);
            }
        }
        system->addForce(springs);
        system->addForce(pairs);
    }
};

Vectors toMatrix(const Vectors& r, const Vectors& v, const System& system) {
    Vectors sum(3);
    for (int i = 0; i < system.getNumParticles(); i++)
        for (int a = 0; a < 3; a++)
            sum[a] += v[i] * (system.getParticleMass(i) * r[i][a]);
    return sum;
}

} // namespace

std::string nameOf(BoxShape shape) {
    return std::array<const char*, 3>{"Rectangular", "Octahedron", "Dodecahedron"}[(int) shape];
}

Vectors boxVectors(BoxShape shape, double width) {
    Vectors box = {Vec3(1, 0, 0), Vec3(0, 1.1, 0), Vec3(0, 0, 0.9)};
    if (shape == BoxShape::Octahedron)
        box = {Vec3(1, 0, 0), Vec3(1 / 3.0, 2 * std::sqrt(2.0) / 3, 0),
               Vec3(-1 / 3.0, std::sqrt(2.0) / 3, std::sqrt(6.0) / 3)};
    if (shape == BoxShape::Dodecahedron)
        box = {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0.5, 0.5, std::sqrt(2.0) / 2)};
    for (Vec3& v : box)
        v *= width;
    return box;
}

Simulation PressedParticles::simulate(const Setup& setup, double stepSize) const {
    Drop drop(boxVectors(shape, 5));
    if (probe != nullptr)
        drop.system->addForce(new ProbeForce(*probe));
    if (hasBarostat) {
        auto* barostat = new MonteCarloBarostat(1, 300, 2);
        barostat->setRandomNumberSeed(3);
        drop.system->addForce(barostat);
    }
    return started(std::move(drop.system), setup, stepSize, drop.x);
}

Vectors PressedParticles::rateOfPositionsTimesMomenta(const Simulation& now) const {
    Drop drop(boxVectors(shape, 5));
    const Setup setup{"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"};
    const double dt = 2e-5;
    Vectors v = now.velocities();
    const Vectors x = now.positions();
    const System& system = *now.system;
    Simulation s = started(std::move(drop.system), setup, dt, x);
    s.integrator->setConstraintTolerance(1e-13);
    if (dynamic_cast<ShakeIntegrator*>(now.integrator.get()) != nullptr) {
        const Vectors f = s.context->getState(State::Forces).getForces();
        for (int i = 0; i < system.getNumParticles(); i++)
            if (system.getParticleMass(i) > 0)
                v[i] += f[i] * (0.5 * now.integrator->getStepSize() / system.getParticleMass(i));
    }
    Vectors ends[2];
    for (int sign : {-1, 1}) {
        Vectors u = v;
        for (Vec3& each : u)
            each *= sign;
        s.context->setPositions(x);
        s.context->setVelocities(u);
        s.integrator->step(1);
        u = s.velocities();
        for (Vec3& each : u)
            each *= sign;
        ends[sign > 0] = toMatrix(s.positions(), u, system);
    }
    Vec3 a, b, c;
    now.context->getState(State::Positions).getPeriodicBoxVectors(a, b, c);
    Vectors rate(3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rate[i][j] = toBar / (a[0] * b[1] * c[2]) * 0.5 *
                         ((ends[1][i][j] - ends[0][i][j]) + (ends[1][j][i] - ends[0][j][i])) / (2 * dt);
    return rate;
}

SpanningNetwork::SpanningNetwork(BoxShape shape) : box(boxVectors(shape, 2.4)) {
    constexpr int n = 4;
    Random random(9);
    const auto at = [](int i, int j, int k) { return (i % n * n + j % n) * n + k % n; };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                const Real3 jitter = random.inCube(0.08);
                positions.push_back((box[0] * i + box[1] * j + box[2] * k) / n + Vec3(jitter.x, jitter.y, jitter.z));
                bonds.emplace_back(at(i, j, k), at(i + 1, j, k));
                if (i % 2 == 0 && j % 2 == 0)
                    bonds.emplace_back(at(i, j, k), at(i, j + 1, k));
                if (i % 2 == 1 && k % 2 == 0)
                    bonds.emplace_back(at(i, j, k), at(i, j, k + 1));
                if (i == 0 && (j + k) % 3 == 0)
                    angles.push_back({at(i + 3, j, k), at(i, j, k), at(i + 1, j, k)});
            }
}

Vec3 SpanningNetwork::minimumImage(Vec3 r) const {
    for (int d : {2, 1, 0})
        r -= box[d] * std::round(r[d] / box[d][d]);
    return r;
}

Vectors SpanningNetwork::wrapped(Vectors x) const {
    for (Vec3& r : x)
        for (int d : {2, 1, 0})
            r -= box[d] * std::floor(r[d] / box[d][d]);
    return x;
}

Simulation SpanningNetwork::simulate(const Setup& setup, const std::vector<double>& lambda) const {
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
    auto* pairs = new NonbondedForce();
    pairs->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    pairs->setCutoffDistance(0.8);
    pairs->setUseSwitchingFunction(true);
    pairs->setSwitchingDistance(0.6);
    for (std::size_t i = 0; i < positions.size(); i++) {
        system->addParticle(14);
        pairs->addParticle(0, 0.4, 1.5);
    }
    system->addForce(pairs);
    auto* constraints = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    auto* bends = new CustomAngleForce("0.5*k*(theta - theta0)^2"); // where theta0 may be beyond pi
    bends->addPerAngleParameter("k");
    bends->addPerAngleParameter("theta0");
    constraints->setUsesPeriodicBoundaryConditions(true);
    springs->setUsesPeriodicBoundaryConditions(true);
    bends->setUsesPeriodicBoundaryConditions(true);
    const double k = 5000, kOfAngles = 500;
    std::size_t next = 0;
    for (const auto& [i, j] : bonds) {
        const double r = lengthOf(minimumImage(positions[i] - positions[j]));
        if (lambda.empty())
            constraints->addDistance(i, j, r);
        else
            springs->addBond(i, j, r + lambda[next++] / k, k);
    }
    for (const auto& [i, j, l] : angles) {
        const double angle =
            angleOf(minimumImage(positions[i] - positions[j]), minimumImage(positions[l] - positions[j]));
        if (lambda.empty())
            constraints->addAngle(i, j, l, angle);
        else
            bends->addAngle(i, j, l, {kOfAngles, angle + lambda[next++] / kOfAngles});
    }
    system->addForce(constraints);
    system->addForce(springs);
    system->addForce(bends);
    return started(std::move(system), setup, 0.0005, positions);
}

} // namespace ConstraintTests
