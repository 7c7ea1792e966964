// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Simulation.h"
#include "support/DenseOracle.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

std::string nameOf(const Setup& setup) {
    const char* const solvers[] = {"Automatic", "Iterative", "MatrixInversion"};
    return std::get<0>(setup) + "_" + solvers[std::get<1>(setup)] + "_" + std::get<2>(setup);
}

std::vector<Setup> setupsOf(const std::string& integrator) {
    std::vector<Setup> setups;
    for (const std::string& platform : platformsUnderTest())
        for (Solver solver : {ConstraintIntegrator::Iterative, ConstraintIntegrator::MatrixInversion})
            setups.emplace_back(platform, solver, integrator);
    return setups;
}

static std::vector<Setup> setupsOfEach(std::initializer_list<const char*> integrators) {
    std::vector<Setup> setups;
    for (const char* integrator : integrators)
        for (const Setup& setup : setupsOf(integrator))
            setups.push_back(setup);
    return setups;
}

std::vector<Setup> allSetups() {
    return setupsOfEach({"Rattle", "Shake", "RattleLangevin"});
}

std::vector<Setup> constantEnergySetups() {
    return setupsOfEach({"Rattle", "Shake", "FrictionlessLangevin"});
}

IntegratorPointer makeIntegrator(const Setup& setup, double stepSize, double tolerance) {
    IntegratorPointer integrator;
    if (std::get<2>(setup) == "Rattle")
        integrator = std::make_unique<RattleIntegrator>(stepSize);
    else if (std::get<2>(setup) == "Shake")
        integrator = std::make_unique<ShakeIntegrator>(stepSize);
    else if (std::get<2>(setup) == "ConstraintForce")
        integrator = std::make_unique<ConstraintForceIntegrator>(stepSize);
    else {
        const double friction = std::get<2>(setup) == "RattleLangevin" ? 5 : 0;
        auto langevin = std::make_unique<RattleLangevinIntegrator>(300, friction, stepSize);
        langevin->setRandomNumberSeed(11);
        integrator = std::move(langevin);
    }
    integrator->setSolver(std::get<1>(setup));
    integrator->setConstraintTolerance(tolerance);
    integrator->setMaxIterations(5000);
    return integrator;
}

static Vec3 toVec3(const Real3& r) {
    return Vec3(r.x, r.y, r.z);
}

Vectors toVectors(const Arrays& x) {
    Vectors v;
    for (const Real3& r : x)
        v.push_back(toVec3(r));
    return v;
}

Arrays toArrays(const Vectors& x) {
    Arrays a;
    for (const Vec3& v : x)
        a.push_back({v[0], v[1], v[2]});
    return a;
}

std::unique_ptr<System> toOpenMM(const TestSystem& system, Declared declared) {
    auto result = std::make_unique<System>();
    result->setDefaultPeriodicBoxVectors(toVec3(system.box.a), toVec3(system.box.b), toVec3(system.box.c));
    for (double mass : system.masses)
        result->addParticle(mass);
    if (declared == Declared::InSystem)
        for (const auto& bond : system.bonds)
            result->addConstraint(bond.i, bond.j, bond.length);
    else {
        auto* force = new ConstraintForce();
        force->setUsesPeriodicBoundaryConditions(system.periodic);
        for (const auto& bond : system.bonds)
            force->addDistance(bond.i, bond.j, bond.length);
        result->addForce(force);
    }
    return result;
}

void addSprings(System& target, const TestSystem& system, double k) {
    auto* springs = new HarmonicBondForce();
    springs->setUsesPeriodicBoundaryConditions(system.periodic);
    const int n = system.numParticles();
    for (int i = 0; i < n; i++)
        for (int separation : {2, 3}) {
            if (i + separation >= n)
                continue;
            ConstraintSet pair = pattern(n, {{i, i + separation}});
            pair.constraints[0].periodic = system.periodic;
            const Real3 b = Verifier(pair, system.box, system.positions).bond(0, system.positions);
            springs->addBond(i, i + separation, 1.1 * std::sqrt(dot(b, b)), k);
        }
    target.addForce(springs);
}

Vectors tangentVelocities(const TestSystem& system, double size, unsigned seed) {
    Random random(seed);
    Arrays v;
    for (double mass : system.masses)
        v.push_back(mass > 0 ? random.inCube(size) : Real3());
    return toVectors(denseSolveVelocities(toConstraintSet(system), system.box, system.positions, v).x);
}

std::unique_ptr<Context> makeContext(const System& system, Integrator& integrator, const std::string& platform) {
    return std::make_unique<Context>(system, integrator, requirePlatform(platform), propertiesOf(platform));
}

Simulation::Simulation(std::unique_ptr<System> givenSystem, IntegratorPointer givenIntegrator,
                       const std::string& platform)
    : system(std::move(givenSystem)), integrator(std::move(givenIntegrator)),
      context(makeContext(*system, *integrator, platform)) {
}

Vectors Simulation::positions() const {
    return context->getState(State::Positions).getPositions();
}

Vectors Simulation::velocities() const {
    return context->getState(State::Velocities).getVelocities();
}

double Simulation::energy() const {
    const State state = context->getState(State::Energy);
    return state.getKineticEnergy() + state.getPotentialEnergy();
}

Simulation simulate(const TestSystem& system, Declared declared, const Setup& setup, double stepSize,
                    double tolerance) {
    auto target = toOpenMM(system, declared);
    addSprings(*target, system);
    Simulation simulation(std::move(target), makeIntegrator(setup, stepSize, tolerance), std::get<0>(setup));
    simulation.context->setPositions(toVectors(system.positions));
    simulation.context->setVelocities(tangentVelocities(system, 1, 3));
    return simulation;
}

double distance(const Vectors& a, const Vectors& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        const Vec3 d = a[i] - b[i];
        const double length = std::sqrt(d.dot(d));
        if (!(length <= largest))
            largest = length;
    }
    return largest;
}

} // namespace ConstraintTests
