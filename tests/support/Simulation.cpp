// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Simulation.h"
#include "support/DenseOracle.h"
#include <algorithm>
#include <map>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

std::string nameOf(const Setup& setup) {
    const char* const solvers[] = {"Automatic", "Iterative", "MatrixInversion"};
    return std::get<0>(setup) + "_" + solvers[std::get<1>(setup)] + "_" + std::get<2>(setup);
}

std::vector<Setup> setupsOf(const std::string& integrator) {
    // On a device, each integrator has one of the two solvers in a precision, and both solvers occur in each precision.
    // All combinations would double the time, most of which is spent on compiling kernels.
    static const std::vector<std::string> integrators = {"Rattle",           "Shake",
                                                         "RattleLangevin",   "FrictionlessLangevin",
                                                         "ConstraintForce",  "GeodesicLangevin",
                                                         "RattleNoseHoover", "RattleMTS",
                                                         "RattleMTSLangevin"};
    const auto place = std::find(integrators.begin(), integrators.end(), integrator) - integrators.begin();
    const Solver solvers[] = {ConstraintIntegrator::Iterative, ConstraintIntegrator::MatrixInversion};
    std::vector<Setup> setups;
    for (const std::string& platform : platformsUnderTest())
        if (isDevice(platform))
            setups.emplace_back(platform, solvers[(place + (platform.find("Mixed") == std::string::npos)) % 2],
                                integrator);
        else
            for (Solver solver : solvers)
                setups.emplace_back(platform, solver, integrator);
    return setups;
}

std::vector<Setup> everySetup() {
    std::vector<Setup> setups;
    for (const std::string& platform : platformsUnderTest())
        for (Solver solver : {ConstraintIntegrator::Iterative, ConstraintIntegrator::MatrixInversion})
            for (const char* integrator : {"Rattle", "Shake", "RattleLangevin", "ConstraintForce"})
                setups.emplace_back(platform, solver, integrator);
    return setups;
}

std::vector<Setup> oneSetupOfEach(const std::vector<Setup>& all) {
    std::vector<Setup> setups;
    std::map<std::string, std::vector<Setup>> ofDevices;
    for (const Setup& setup : all)
        if (isDevice(std::get<0>(setup)))
            ofDevices[std::get<0>(setup)].push_back(setup);
        else
            setups.push_back(setup);
    int turn = 0;
    for (const auto& [device, some] : ofDevices) {
        Setup setup = some[turn % some.size()];
        std::get<1>(setup) = turn % 2 == 0 ? ConstraintIntegrator::MatrixInversion : ConstraintIntegrator::Iterative;
        setups.push_back(setup);
        turn++;
    }
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

std::vector<Setup> mostlyRattleSetups() {
    std::vector<Setup> setups = oneSetupOfEach(constantEnergySetups());
    for (const Setup& setup : setupsOf("Rattle"))
        if (std::find(setups.begin(), setups.end(), setup) == setups.end())
            setups.push_back(setup);
    return setups;
}

std::vector<Setup> everyIntegrator() {
    std::vector<Setup> setups;
    std::size_t turn = 0;
    for (const char* name : {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "ConstraintForce",
                             "RattleNoseHoover", "RattleMTS", "RattleMTSLangevin"}) {
        std::map<std::string, std::vector<std::string>> precisions; // by device
        for (const std::string& platform : platformsUnderTest())
            if (isDevice(platform))
                precisions[platform.substr(0, platform.find_first_of("SMD", 1))].push_back(platform);
            else
                setups.emplace_back(platform, ConstraintIntegrator::Automatic, name);
        for (const auto& [device, all] : precisions)
            setups.emplace_back(all[turn % all.size()], ConstraintIntegrator::Automatic, name);
        turn++;
    }
    return setups;
}

/** The springs of addSprings() have the group with two substeps. */
static const MultipleTimeSteps::Groups groupsOfMTS = {{1, 1}, {0, 2}, {2, 4}};

IntegratorPointer makeIntegrator(const Setup& setup, double stepSize, double tolerance) {
    IntegratorPointer integrator;
    if (std::get<2>(setup) == "Rattle")
        integrator = std::make_unique<RattleIntegrator>(stepSize);
    else if (std::get<2>(setup) == "Shake")
        integrator = std::make_unique<ShakeIntegrator>(stepSize);
    else if (std::get<2>(setup) == "ConstraintForce")
        integrator = std::make_unique<ConstraintForceIntegrator>(stepSize);
    else if (std::get<2>(setup) == "RattleNoseHoover")
        integrator = std::make_unique<RattleNoseHooverIntegrator>(300, 20, stepSize);
    else if (std::get<2>(setup) == "RattleMTS")
        integrator = std::make_unique<RattleMTSIntegrator>(stepSize, groupsOfMTS);
    else {
        const double friction = std::get<2>(setup) == "FrictionlessLangevin" ? 0 : 5;
        auto langevin = std::get<2>(setup) == "RattleMTSLangevin"
                            ? std::make_unique<RattleMTSLangevinIntegrator>(300, friction, stepSize, groupsOfMTS)
                            : std::make_unique<RattleLangevinIntegrator>(300, friction, stepSize);
        if (std::get<2>(setup) == "GeodesicLangevin")
            langevin->setNumGeodesicSteps(2);
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
    return toOpenMM(std::vector<TestSystem>{system}, declared);
}

/** The periodic part, if there is one: its box is that of the System. */
static const TestSystem& partWithBox(const std::vector<TestSystem>& parts) {
    const auto periodic =
        std::find_if(parts.begin(), parts.end(), [](const TestSystem& part) { return part.periodic; });
    return periodic == parts.end() ? parts.front() : *periodic;
}

/** Call a function for parts that are not periodic, then for those that are, with the number of their first particle.
 */
template <class Function>
static void forEach(const std::vector<TestSystem>& parts, bool periodic, Function function) {
    int first = 0;
    for (const TestSystem& part : parts) {
        if (part.periodic == periodic)
            function(part, first);
        first += part.numParticles();
    }
}

static bool anyIs(const std::vector<TestSystem>& parts, bool periodic) {
    return std::any_of(parts.begin(), parts.end(), [&](const TestSystem& part) { return part.periodic == periodic; });
}

std::unique_ptr<System> toOpenMM(const std::vector<TestSystem>& parts, Declared declared) {
    auto result = std::make_unique<System>();
    const Box& box = partWithBox(parts).box;
    result->setDefaultPeriodicBoxVectors(toVec3(box.a), toVec3(box.b), toVec3(box.c));
    for (const TestSystem& part : parts)
        for (double mass : part.masses)
            result->addParticle(mass);
    for (bool periodic : {false, true}) {
        if (!anyIs(parts, periodic))
            continue;
        auto force = std::make_unique<ConstraintForce>();
        force->setUsesPeriodicBoundaryConditions(periodic);
        forEach(parts, periodic, [&](const TestSystem& part, int first) {
            for (const auto& bond : part.bonds)
                if (declared == Declared::InSystem)
                    result->addConstraint(first + bond.i, first + bond.j, bond.length);
                else
                    force->addDistance(first + bond.i, first + bond.j, bond.length);
        });
        if (declared == Declared::InForce)
            result->addForce(force.release());
    }
    return result;
}

void addSprings(System& target, const TestSystem& system, double k) {
    addSprings(target, std::vector<TestSystem>{system}, k);
}

void addSprings(System& target, const std::vector<TestSystem>& parts, double k) {
    for (bool periodic : {false, true}) {
        if (!anyIs(parts, periodic))
            continue;
        auto* springs = new HarmonicBondForce();
        springs->setUsesPeriodicBoundaryConditions(periodic);
        forEach(parts, periodic, [&](const TestSystem& part, int first) {
            const int n = part.numParticles();
            for (int i = 0; i < n; i++)
                for (int separation : {2, 3}) {
                    if (i + separation >= n)
                        continue;
                    ConstraintSet pair = pattern(n, {{i, i + separation}});
                    pair.constraints[0].periodic = periodic;
                    const Real3 b = Verifier(pair, part.box, part.positions).bond(0, part.positions);
                    const float length = (float) (1.1 * std::sqrt(dot(b, b))); // as devices store it
                    springs->addBond(first + i, first + i + separation, length, k);
                }
        });
        target.addForce(springs);
    }
}

std::vector<TestSystem> systemsInTheBoxOf(const std::string& name) {
    std::vector<TestSystem> parts;
    for (const TestSystem& system : systemTable())
        if (!system.periodic || system.name == name)
            parts.push_back(system);
    return parts;
}

Vectors partOf(const std::vector<TestSystem>& parts, std::size_t index, const Vectors& all) {
    int first = 0;
    for (std::size_t i = 0; i < index; i++)
        first += parts[i].numParticles();
    return Vectors(all.begin() + first, all.begin() + first + parts[index].numParticles());
}

Vectors positionsOf(const std::vector<TestSystem>& parts) {
    Vectors all;
    for (const TestSystem& part : parts)
        for (const Real3& r : part.positions)
            all.push_back(toVec3(r));
    return all;
}

Vectors tangentVelocities(const std::vector<TestSystem>& parts, double size, unsigned seed) {
    Vectors all;
    for (const TestSystem& part : parts) {
        const Vectors some = tangentVelocities(part, size, seed);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
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
    return simulate(std::vector<TestSystem>{system}, declared, setup, stepSize, tolerance);
}

Simulation simulate(const std::vector<TestSystem>& parts, Declared declared, const Setup& setup, double stepSize,
                    double tolerance) {
    auto target = toOpenMM(parts, declared);
    addSprings(*target, parts);
    Simulation simulation(std::move(target), makeIntegrator(setup, stepSize, tolerance), std::get<0>(setup));
    simulation.context->setPositions(positionsOf(parts));
    simulation.context->setVelocities(tangentVelocities(parts, 1, 3));
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
