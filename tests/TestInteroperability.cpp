// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Changes of the state between steps by others: barostats of every kind, and Monte Carlo moves of users. For
// combinations that throw see TestRefusals.cpp, for CMMotionRemover and AndersenThermostat TestState.cpp, for
// CompoundIntegrator TestCheckpoints.cpp.
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr int numMolecules = 5, numAtoms = 3;

/** Before OpenMM 8.6 only MonteCarloFlexibleBarostat has the choice. @return whether this one has it */
template <class Barostat>
auto setScalesAsRigid(Barostat* barostat, bool rigid, int) -> decltype(barostat->getScaleMoleculesAsRigid()) {
    barostat->setScaleMoleculesAsRigid(rigid);
    return true;
}
template <class Barostat>
bool setScalesAsRigid(Barostat*, bool rigid, long) {
    return rigid;
}

/** @return null if this barostat of this OpenMM always scales molecules as rigid, and shall not */
Force* makeBarostat(const std::string& kind, bool rigid = true) {
    const auto seeded = [&](auto* barostat) -> Force* {
        barostat->setRandomNumberSeed(3);
        if (setScalesAsRigid(barostat, rigid, 0))
            return barostat;
        delete barostat;
        return nullptr;
    };
    if (kind == "isotropic")
        return seeded(new MonteCarloBarostat(1, 300, 1));
    if (kind == "anisotropic")
        return seeded(new MonteCarloAnisotropicBarostat(Vec3(1, 2, 3), 300, true, true, true, 1));
    if (kind == "membrane")
        return seeded(new MonteCarloMembraneBarostat(1, 0, 300, MonteCarloMembraneBarostat::XYAnisotropic,
                                                     MonteCarloMembraneBarostat::ZFree, 1));
    return seeded(new MonteCarloFlexibleBarostat(1, 300, 1));
}

const std::vector<std::string> barostats = {"isotropic", "anisotropic", "membrane", "flexible"};

/** Waters whose atoms are joined only by a ConstraintForce; one of them crosses the boundary of the box. */
struct Waters {
    std::unique_ptr<System> system = std::make_unique<System>();
    Vectors positions;

    explicit Waters(Declared declared = Declared::InForce) {
        const TestSystem& water = findSystem("water");
        auto* constraints = new ConstraintForce();
        auto* nonbonded = new NonbondedForce();
        nonbonded->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
        nonbonded->setCutoffDistance(0.8);
        system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
        for (int m = 0; m < numMolecules; m++) {
            const int first = numAtoms * m;
            for (int i = 0; i < numAtoms; i++) {
                system->addParticle(water.masses[i]);
                nonbonded->addParticle(0, 0.3, i == 0 ? 0.5 : 0);
                positions.push_back(toVectors(water.positions)[i] + Vec3(0.39, 0.5 - 0.2 * (m % 2), 0.1) * m);
            }
            for (const auto& bond : water.bonds) {
                if (declared == Declared::InForce)
                    constraints->addDistance(first + bond.i, first + bond.j, bond.length);
                else
                    system->addConstraint(first + bond.i, first + bond.j, bond.length);
                nonbonded->addException(first + bond.i, first + bond.j, 0, 1, 0);
            }
        }
        constraints->setUsesPeriodicBoundaryConditions(true);
        if (declared == Declared::InForce)
            system->addForce(constraints);
        else
            delete constraints;
        system->addForce(nonbonded);
    }
};

/** Vectors from each molecule's first atom to its others. */
Vectors internalVectors(const Vectors& positions) {
    Vectors result;
    for (int m = 0; m < numMolecules; m++)
        for (int i = 1; i < numAtoms; i++)
            result.push_back(positions[numAtoms * m + i] - positions[numAtoms * m]);
    return result;
}

} // namespace

class Interoperability : public testing::TestWithParam<Setup> {
protected:
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    const Precision precision = precisionOf(platform());
    /** All of them; on devices, where creating a Context takes long, one in each precision. */
    std::vector<std::string> barostatsHere() const {
        if (!isDevice(platform()))
            return barostats;
        return {platform().find("Single") != std::string::npos  ? "anisotropic"
                : platform().find("Mixed") != std::string::npos ? "membrane"
                                                                : "flexible"};
    }
    void expectConstraintsHold(const Vectors& positions, double tolerance) const {
        const TestSystem& water = findSystem("water");
        for (int m = 0; m < numMolecules; m++)
            for (const auto& bond : water.bonds) {
                const Vec3 b = positions[numAtoms * m + bond.i] - positions[numAtoms * m + bond.j];
                EXPECT_NEAR(std::sqrt(b.dot(b)), bond.length, 1.01 * attainable(platform(), tolerance) * bond.length);
            }
    }
};

TEST_P(Interoperability, BarostatsMoveMoleculesOfAConstraintForceAsOne) {
    for (const std::string& kind : barostatsHere()) {
        SCOPED_TRACE(kind);
        Waters waters;
        waters.system->addForce(makeBarostat(kind));
        // With a step of zero, nothing but the barostat moves anything.
        Simulation s(std::move(waters.system), makeIntegrator(GetParam(), 0, 1e-8), platform());
        s.context->setPositions(waters.positions);
        const auto box = [&] {
            Vec3 a, b, c;
            s.context->getState(0).getPeriodicBoxVectors(a, b, c);
            return Vectors{a, b, c};
        };
        const Vectors boxBefore = box(), before = s.positions();
        s.integrator->step(40);
        EXPECT_GT(distance(box(), boxBefore), 0.01) << "hardly any move was accepted";
        EXPECT_GT(distance(s.positions(), before), 1e-3);
        // If atoms were scaled one by one, bonds would be off by a percent and rotated by the projection, except with
        // the isotropic barostat, which keeps shapes. Devices scale in single precision.
        EXPECT_LT(distance(internalVectors(s.positions()), internalVectors(before)),
                  isDevice(platform()) ? 1e-5 : 1e-12);
        expectConstraintsHold(s.positions(), 1e-8);
        s.integrator->setStepSize(0.001);
        s.context->setVelocitiesToTemperature(300, 1);
        s.integrator->step(40);
        expectConstraintsHold(s.positions(), 1e-8);
        EXPECT_LE(s.integrator->getSolverSummary().maxError, std::max(1e-8, precision.constraint));
    }
}

TEST_P(Interoperability, MonteCarloMovesOfUsersAreTakenAndTakenBack) {
    const auto start = [&](const std::string& where) {
        Waters waters;
        Simulation s(std::move(waters.system), makeIntegrator(GetParam(), 0.001, 1e-8), where);
        s.context->setPositions(waters.positions);
        s.context->setVelocities(Vectors(numMolecules * numAtoms, Vec3(0.3, 0.2, 0.1))); // tangent
        return s;
    };
    const auto moved = [](Vectors x) {
        for (int i = 0; i < numAtoms; i++)
            x[i] += Vec3(0.1, 0.2, 0.3);
        return x;
    };
    Simulation s = start(platform()), undisturbed = start(platform());
    s.integrator->step(5);
    undisturbed.integrator->step(5);
    const Vectors x = s.positions();
    const double energy = s.context->getState(State::Energy).getPotentialEnergy();
    s.context->setPositions(moved(x));
    EXPECT_GT(std::abs(s.context->getState(State::Energy).getPotentialEnergy() - energy), 1e-3);
    s.context->setPositions(x); // the move is rejected
    s.integrator->step(5);
    undisturbed.integrator->step(5);
    EXPECT_LT(distance(s.positions(), undisturbed.positions()), 1e-12 + 2 * precision.position);
    s.context->setPositions(moved(s.positions())); // the move is accepted: like a run that begins there
    Simulation fresh = start("Reference");
    fresh.context->setPositions(s.positions());
    fresh.context->setVelocities(s.velocities());
    s.integrator->step(5);
    fresh.integrator->step(5);
    EXPECT_LT(distance(s.positions(), fresh.positions()), 1e-9 + 100 * precision.position + 0.01 * precision.force);
    EXPECT_LT(distance(s.velocities(), fresh.velocities()),
              1e-6 + 100 * precision.velocity + precision.force + precision.position / 0.001);
    expectConstraintsHold(s.positions(), 1e-8);
}

/** Dimers on a lattice that repel each other, three steps on, and the box they are in.
 *  @param seed  of a barostat that tries a move in every step; 0: there is none */
std::pair<Vectors, double> dimersUnderPressure(const ConstraintTests::Setup& setup, int seed) {
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
    auto* bonds = new ConstraintForce();
    auto* nonbonded = new NonbondedForce();
    nonbonded->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    nonbonded->setCutoffDistance(0.9);
    Vectors positions;
    for (int i = 0; i < 64; i++) {
        const int first = system->addParticle(12), second = system->addParticle(16);
        nonbonded->addParticle(0.2, 0.33, 0.6);
        nonbonded->addParticle(-0.2, 0.31, 0.6);
        nonbonded->addException(first, second, 0, 1, 0);
        bonds->addDistance(first, second, 0.113);
        positions.push_back(0.5 * Vec3(i % 4, i / 4 % 4, i / 16));
        positions.push_back(positions.back() + 0.113 * Vec3(i % 3 == 0, i % 3 == 1, i % 3 == 2));
    }
    system->addForce(bonds);
    system->addForce(nonbonded);
    if (seed != 0) {
        auto* barostat = new MonteCarloBarostat(1000, 300, 1);
        barostat->setRandomNumberSeed(seed);
        system->addForce(barostat);
    }
    Simulation s(std::move(system), makeIntegrator(setup, 0.002, 1e-10), std::get<0>(setup));
    s.context->setPositions(positions);
    s.integrator->step(3);
    return {s.positions(), s.context->getState(0).getPeriodicBoxVolume()};
}

TEST_P(Interoperability, AMoveThatABarostatTakesBackLeavesNothing) {
    const auto undisturbed = dimersUnderPressure(GetParam(), 0);
    int rejections = 0;
    for (int seed = 1; seed <= 40 && rejections == 0; seed++) {
        const auto run = dimersUnderPressure(GetParam(), seed);
        if (run.second != undisturbed.second)
            continue; // a move was accepted
        rejections++;
        EXPECT_EQ(distance(run.first, undisturbed.first), 0);
    }
    EXPECT_GT(rejections, 0);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Interoperability, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });

TEST(Barostats, ThatScaleParticlesAreRefusedWhereAConstraintJoinsThem) {
    for (const std::string& kind : barostats)
        for (Declared declared : {Declared::InForce, Declared::InSystem}) {
            Waters waters(declared);
            Force* barostat = makeBarostat(kind, false);
            if (barostat == nullptr)
                continue;
            waters.system->addForce(barostat);
            RattleIntegrator integrator(0.001);
            expectAll(messageOf([&] { makeContext(*waters.system, integrator, "Reference"); }),
                      {barostat->getName(), "setScaleMoleculesAsRigid", "particles 0 and 1"});
        }
    Waters waters;
    waters.system->removeForce(0); // the constraints
    waters.system->addForce(makeBarostat("flexible", false));
    RattleIntegrator integrator(0.001);
    EXPECT_EQ(messageOf([&] { makeContext(*waters.system, integrator, "Reference"); }), "");
}
