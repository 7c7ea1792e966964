// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Angle and dihedral constraints: their coordinates against finite differences, and dynamics with them.
#include "coordinates.h"
#include "support/Dual.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using OpenMM::State;
using OpenMM::Vec3;

namespace {

namespace differentiated {
using mixed = Dual;
using mixed3 = Vector3<Dual>;
#define DEVICE [[maybe_unused]] inline
#include "coordinates.cc"
#undef DEVICE
} // namespace differentiated

constexpr CoordinateKind allKinds[] = {CoordinateKind::Distance, CoordinateKind::Angle, CoordinateKind::Dihedral};
constexpr int maxBonds = 3;

class Coordinate : public testing::TestWithParam<CoordinateKind> {
protected:
    const CoordinateKind kind = GetParam();
    const int numBonds = numParticlesOf(kind) - 1;
    Random random{11};
    void drawBonds(Real3* b) {
        for (int s = 0; s < numBonds; s++)
            b[s] = random.uniform(0.1, 0.3) * random.direction();
    }
};

TEST_P(Coordinate, GradientAgreesWithFiniteDifferences) {
    for (int trial = 0; trial < 50; trial++) {
        Real3 b[maxBonds], G[maxBonds], unused[maxBonds];
        drawBonds(b);
        coordinate(kind, b, G);
        for (int s = 0; s < numBonds; s++)
            for (double Real3::*axis : {&Real3::x, &Real3::y, &Real3::z}) {
                const double h = 1e-7, middle = b[s].*axis;
                b[s].*axis = middle + h;
                const double up = coordinate(kind, b, unused);
                b[s].*axis = middle - h;
                const double down = coordinate(kind, b, unused);
                b[s].*axis = middle;
                EXPECT_NEAR(G[s].*axis, wrapResidual(kind, up - down) / (2 * h), 1e-6 * (1 + std::abs(G[s].*axis)));
            }
    }
}

/** Reference for curvatures: sum_s G_s'.V_s, with the gradient's rates of change from dual numbers. */
template <class Gradient>
double curvatureByDuals(int numBonds, const Real3* b, const Real3* V, Gradient gradient) {
    Vector3<Dual> moving[maxBonds], G[maxBonds];
    for (int s = 0; s < numBonds; s++)
        moving[s] = {{b[s].x, V[s].x}, {b[s].y, V[s].y}, {b[s].z, V[s].z}};
    gradient(moving, G);
    double sum = 0;
    for (int s = 0; s < numBonds; s++)
        sum += G[s].x.rate * V[s].x + G[s].y.rate * V[s].y + G[s].z.rate * V[s].z;
    return sum;
}

TEST_P(Coordinate, CurvatureIsTheRateOfTheGradientAlongTheRates) {
    for (int trial = 0; trial < 200; trial++) {
        Real3 b[maxBonds], V[maxBonds];
        drawBonds(b);
        drawBonds(V);
        const double expected = curvatureByDuals(numBonds, b, V, [&](Vector3<Dual>* moving, Vector3<Dual>* G) {
            if (kind == CoordinateKind::Distance)
                differentiated::distanceCoordinate(moving, G);
            else if (kind == CoordinateKind::Angle)
                differentiated::angleCoordinate(moving, G);
            else
                differentiated::dihedralCoordinate(moving, G);
        });
        EXPECT_NEAR(coordinateCurvature(kind, b, V), expected, 1e-10 * (1 + std::abs(expected)));
    }
}

TEST(LinearAngleCoordinate, CurvatureIsTheRateOfTheGradientAlongTheRates) {
    Random random{12};
    for (int trial = 0; trial < 200; trial++) {
        Real3 b[2], V[2];
        for (int s = 0; s < 2; s++) {
            b[s] = random.uniform(0.1, 0.3) * random.direction();
            V[s] = random.direction();
        }
        const Real3 e = random.direction();
        const double expected = curvatureByDuals(2, b, V, [&](Vector3<Dual>* moving, Vector3<Dual>* G) {
            differentiated::linearAngleCoordinate(moving, {e.x, e.y, e.z}, G);
        });
        EXPECT_NEAR(plain::linearAngleCurvature(b, V, e), expected, 1e-10 * (1 + std::abs(expected)));
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Coordinate, testing::ValuesIn(allKinds));

/** Bent chains of four particles with bond and angle springs, so that no three of them come to lie on a line. */
struct Chains {
    std::unique_ptr<OpenMM::System> system = std::make_unique<OpenMM::System>();
    ConstraintForce* constraints = new ConstraintForce();
    Vectors positions;

    explicit Chains(int copies = 1) {
        auto* bonds = new OpenMM::HarmonicBondForce();
        auto* angles = new OpenMM::HarmonicAngleForce();
        auto* torsions = new OpenMM::PeriodicTorsionForce();
        for (int first = 0; first < 4 * copies; first += 4) {
            for (double mass : {12.0, 14.0, 1.0, 16.0})
                system->addParticle(mass);
            for (int i = first; i < first + 3; i++)
                bonds->addBond(i, i + 1, 0.15, 20000);
            for (int i = first; i < first + 2; i++)
                angles->addAngle(i, i + 1, i + 2, 1.9, 300);
            torsions->addTorsion(first, first + 1, first + 2, first + 3, 1, 0.5, 10);
            positions.insert(positions.end(), {{0, 0, 0}, {0.15, 0, 0}, {0.2, 0.14, 0}, {0.33, 0.16, 0.09}});
        }
        for (OpenMM::Force* force : std::initializer_list<OpenMM::Force*>{bonds, angles, torsions, constraints})
            system->addForce(force);
    }
    static double value(CoordinateKind kind, const Vectors& x, int copy = 0) {
        Real3 b[maxBonds], G[maxBonds];
        for (int s = 0; s < maxBonds; s++) {
            const Vec3 bond = x[4 * copy + s] - x[4 * copy + s + 1];
            b[s] = {bond[0], bond[1], bond[2]};
        }
        return coordinate(kind, b, G);
    }
    double value(CoordinateKind kind) const {
        return value(kind, positions);
    }
};

/** Error of an angle between stored positions: two bonds of 0.15 nm have one each. */
double angleError(const std::string& platform, double tolerance) {
    return 1.1 * (std::max(tolerance, precisionOf(platform).constraint) + 2 * precisionOf(platform).position / 0.15);
}

enum class Which { Angle, Dihedral, All };

class Angles : public testing::TestWithParam<std::tuple<ConstraintTests::Setup, Which>> {};

TEST_P(Angles, HoldAndConserveEnergyAndMomenta) {
    const auto& [setup, which] = GetParam();
    const std::string platform = std::get<0>(setup);
    Chains chain;
    const double angle = chain.value(CoordinateKind::Angle), dihedral = chain.value(CoordinateKind::Dihedral);
    if (which != Which::Dihedral)
        chain.constraints->addAngle(0, 1, 2, angle);
    if (which != Which::Angle)
        chain.constraints->addDihedral(0, 1, 2, 3, dihedral + 2 * M_PI); // another turn is the same dihedral
    if (which == Which::All)
        for (int i = 0; i < 3; i++) {
            const Vec3 b = chain.positions[i] - chain.positions[i + 1];
            chain.constraints->addDistance(i, i + 1, std::sqrt(b.dot(b)));
        }
    Simulation s(std::move(chain.system), makeIntegrator(setup, 0.0005, 1e-9), platform);
    s.context->setPositions(chain.positions);
    s.context->setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), which == Which::All ? 7 : 11);
    auto momentum = [&](const State& state) {
        Vec3 p;
        for (int i = 0; i < 4; i++)
            p += state.getVelocities()[i] * s.system->getParticleMass(i);
        return p;
    };
    const int everything = State::Positions | State::Velocities | State::Energy;
    const State before = s.context->getState(everything);
    const double energy = before.getKineticEnergy() + before.getPotentialEnergy();
    const double bound = angleError(platform, 1e-9);
    for (int block = 1; block <= 10; block++) {
        s.integrator->step(100);
        const State state = s.context->getState(everything);
        EXPECT_NEAR(state.getKineticEnergy() + state.getPotentialEnergy(), energy, 2e-3 * before.getKineticEnergy());
        EXPECT_LT(distance({momentum(state)}, {momentum(before)}), 1e-5 + 100 * block * precisionOf(platform).velocity);
        if (which != Which::Dihedral) {
            EXPECT_NEAR(Chains::value(CoordinateKind::Angle, state.getPositions()), angle, bound);
        }
        if (which != Which::Angle) {
            EXPECT_NEAR(Chains::value(CoordinateKind::Dihedral, state.getPositions()), dihedral, bound);
        }
    }
}

std::string nameOfCase(const testing::TestParamInfo<Angles::ParamType>& info) {
    const char* const names[] = {"Angle", "Dihedral", "All"};
    return nameOf(std::get<0>(info.param)) + "_" + names[(int) std::get<1>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(All, Angles,
                         testing::Combine(testing::ValuesIn(setupsOf("Rattle")),
                                          testing::Values(Which::Angle, Which::Dihedral, Which::All)),
                         nameOfCase);

class AnglesOn : public testing::TestWithParam<std::string> {
protected:
    const Precision precision = precisionOf(GetParam());
};

TEST_P(AnglesOn, RigidWaterByAnAngleMovesAsByAThirdDistance) {
    Vectors ends[2];
    for (bool byAngle : {false, true}) {
        OpenMM::System system;
        for (double mass : {16.0, 1.0, 2.0})
            system.addParticle(mass);
        auto* constraints = new ConstraintForce();
        constraints->addDistance(0, 1, 0.1);
        constraints->addDistance(0, 2, 0.11);
        const double angle = 1.85;
        if (byAngle)
            constraints->addAngle(1, 0, 2, angle);
        else
            constraints->addDistance(1, 2, std::sqrt(0.01 + 0.0121 - 2 * 0.011 * std::cos(angle)));
        system.addForce(constraints);
        ShakeIntegrator integrator(0.002);
        integrator.setConstraintTolerance(1e-13);
        const auto context = makeContext(system, integrator, GetParam());
        const Vectors start = {{0, 0, 0}, {0.1, 0, 0}, {0.11 * std::cos(angle), 0.11 * std::sin(angle), 0}};
        context->setPositions(start);
        context->setVelocities({{0.1, 0, 0.2}, {-1, 2, 0.5}, {0.7, 0.1, -1}});
        integrator.step(200);
        ends[byAngle] = context->getState(State::Positions).getPositions();
        EXPECT_GT(distance(ends[byAngle], start), 0.05);
    }
    EXPECT_LT(distance(ends[0], ends[1]), 1e-8 + 20 * precision.position);
}

TEST_P(AnglesOn, AStartThatIsFarOffIsProjected) {
    // The gradients at the start do not suffice: they have to be recomputed at every iteration.
    std::vector<std::pair<double, double>> targets;
    for (double angle : {0.5, 1.2, 2.0, 2.9})
        for (double dihedral : {-3.0, -1.0, 0.2, 2.0, 3.1})
            targets.emplace_back(angle, dihedral);
    const int copies = (int) targets.size();
    Chains chains(copies);
    for (int copy = 0; copy < copies; copy++) {
        const int first = 4 * copy;
        chains.constraints->addAngle(first, first + 1, first + 2, targets[copy].first);
        chains.constraints->addDihedral(first, first + 1, first + 2, first + 3, targets[copy].second);
        chains.constraints->addDistance(first, first + 1, 0.16);
    }
    RattleIntegrator integrator(0.0001);
    integrator.setConstraintTolerance(1e-9);
    const auto context = makeContext(*chains.system, integrator, GetParam());
    context->setPositions(chains.positions);
    integrator.applyConstraints();
    const Vectors x = context->getState(State::Positions).getPositions();
    for (int copy = 0; copy < copies; copy++) {
        const auto& [angle, dihedral] = targets[copy];
        SCOPED_TRACE(std::to_string(angle) + " " + std::to_string(dihedral));
        EXPECT_NEAR(Chains::value(CoordinateKind::Angle, x, copy), angle, angleError(GetParam(), 2e-9));
        EXPECT_NEAR(Chains::value(CoordinateKind::Dihedral, x, copy), dihedral, angleError(GetParam(), 2e-9));
    }
    integrator.step(1);
}

TEST_P(AnglesOn, NamesTheNeighboursOfADihedralThatBecomeStraight) {
    for (bool bondsAreHeld : {true, false})
        for (double dt : {0.0005, 0.002}) {
            OpenMM::System system;
            auto* constraints = new ConstraintForce();
            auto* bonds = new OpenMM::HarmonicBondForce();
            auto* angles = new OpenMM::HarmonicAngleForce();
            for (int i = 0; i < 4; i++)
                system.addParticle(12);
            for (int i = 0; i < 3; i++)
                if (bondsAreHeld)
                    constraints->addDistance(i, i + 1, 0.15);
                else
                    bonds->addBond(i, i + 1, 0.15, 1e5);
            constraints->addDihedral(0, 1, 2, 3, 1);
            angles->addAngle(0, 1, 2, M_PI, 1000);
            angles->addAngle(1, 2, 3, 2, 500);
            for (OpenMM::Force* force : std::vector<OpenMM::Force*>{constraints, bonds, angles})
                system.addForce(force);
            RattleIntegrator integrator(dt);
            const auto context = makeContext(system, integrator, GetParam());
            const double b = 0.15, c = b * std::cos(2.0), s = b * std::sin(2.0);
            context->setPositions({{c, s, 0}, {0, 0, 0}, {b, 0, 0}, {b - c, s * std::cos(1.0), s * std::sin(1.0)}});
            const std::string message = messageOf([&] { integrator.step(1000); });
            expectAll(message, {"the angle of particles 0, 1 and 2 is 180 degrees", "at the start of the step",
                                "dihedral 0", "particles 0, 1, 2 and 3", "addAngle"});
            EXPECT_EQ(message.find("NaN"), std::string::npos) << message;
            EXPECT_EQ(message.find("e+"), std::string::npos) << message;
        }
}

TEST_P(AnglesOn, DihedralHasTheSignOfPeriodicTorsionForce) {
    const Chains chain;
    OpenMM::System system;
    for (int i = 0; i < 4; i++)
        system.addParticle(1);
    auto* torsion = new OpenMM::PeriodicTorsionForce();
    torsion->addTorsion(0, 1, 2, 3, 1, 0.75, 1);
    system.addForce(torsion);
    OpenMM::VerletIntegrator integrator(0.001);
    const auto context = makeContext(system, integrator, GetParam());
    context->setPositions(chain.positions);
    EXPECT_NEAR(context->getState(State::Energy).getPotentialEnergy(),
                1 + std::cos(chain.value(CoordinateKind::Dihedral) - 0.75), 1e-12 + precision.force);
}

TEST_P(AnglesOn, RefuseWhatHasNoGradient) {
    for (double angle : {0.0, M_PI - 5e-4, -1.0, 4.0, (double) NAN}) {
        Chains chain;
        chain.constraints->addAngle(0, 1, 2, angle);
        RattleIntegrator integrator(0.001);
        expectAll(messageOf([&] { makeContext(*chain.system, integrator, GetParam()); }),
                  {"angle 0 of the ConstraintForce", "particles 0, 1 and 2"});
    }
    Chains chain;
    chain.constraints->addDihedral(0, 1, 2, 3, INFINITY);
    RattleIntegrator integrator(0.001);
    EXPECT_THROW(makeContext(*chain.system, integrator, GetParam()), OpenMM::OpenMMException);
}

INSTANTIATE_TEST_SUITE_P(Platforms, AnglesOn, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
