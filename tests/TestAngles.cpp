// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Angle and dihedral constraints: their coordinates against finite differences, and dynamics with them.
#include "OpenMM.h"
#include "OpenMMConstraints.h"
#include "coordinates.h"
#include "support/Dual.h"
#include "support/Platforms.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>
#include <memory>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using OpenMM::Context;
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

/** The referee of curvatures: sum_s G_s'.V_s, with the gradient's rates of change from numbers that carry theirs. */
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

TEST(StraightCoordinate, CurvatureIsTheRateOfTheGradientAlongTheRates) {
    Random random{12};
    for (int trial = 0; trial < 200; trial++) {
        Real3 b[2], V[2];
        for (int s = 0; s < 2; s++) {
            b[s] = random.uniform(0.1, 0.3) * random.direction();
            V[s] = random.direction();
        }
        const Real3 e = random.direction();
        const double expected = curvatureByDuals(2, b, V, [&](Vector3<Dual>* moving, Vector3<Dual>* G) {
            differentiated::straightCoordinate(moving, {e.x, e.y, e.z}, G);
        });
        EXPECT_NEAR(plain::straightCurvature(b, V, e), expected, 1e-10 * (1 + std::abs(expected)));
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Coordinate, testing::ValuesIn(allKinds));

/** A bent chain of four particles with bond and angle springs, so that no three of them come to lie on a line. */
struct Chain {
    OpenMM::System system;
    std::vector<Vec3> positions{{0, 0, 0}, {0.15, 0, 0}, {0.2, 0.14, 0}, {0.33, 0.16, 0.09}};
    ConstraintForce* constraints = new ConstraintForce();

    Chain() {
        auto* bonds = new OpenMM::HarmonicBondForce();
        auto* angles = new OpenMM::HarmonicAngleForce();
        auto* torsions = new OpenMM::PeriodicTorsionForce();
        for (double mass : {12.0, 14.0, 1.0, 16.0})
            system.addParticle(mass);
        for (int i = 0; i < 3; i++)
            bonds->addBond(i, i + 1, 0.15, 20000);
        for (int i = 0; i < 2; i++)
            angles->addAngle(i, i + 1, i + 2, 1.9, 300);
        torsions->addTorsion(0, 1, 2, 3, 1, 0.5, 10);
        for (OpenMM::Force* force : std::initializer_list<OpenMM::Force*>{bonds, angles, torsions, constraints})
            system.addForce(force);
    }
    Real3 at(int i) const {
        return {positions[i][0], positions[i][1], positions[i][2]};
    }
    double value(CoordinateKind kind, const std::vector<Vec3>& x) const {
        Real3 b[maxBonds], G[maxBonds];
        for (int s = 0; s < maxBonds; s++)
            b[s] = {x[s][0] - x[s + 1][0], x[s][1] - x[s + 1][1], x[s][2] - x[s + 1][2]};
        return coordinate(kind, b, G);
    }
};

enum class Which { Angle, Dihedral, All };
using Setup = std::tuple<const char*, ConstraintIntegrator::Solver, Which>;

class Angles : public testing::TestWithParam<Setup> {};

TEST_P(Angles, HoldAndConserveEnergyAndMomenta) {
    const auto [platform, solver, which] = GetParam();
    Chain chain;
    const double angle = chain.value(CoordinateKind::Angle, chain.positions);
    const double dihedral = chain.value(CoordinateKind::Dihedral, chain.positions);
    if (which != Which::Dihedral)
        chain.constraints->addAngle(0, 1, 2, angle);
    if (which != Which::Angle)
        chain.constraints->addDihedral(0, 1, 2, 3, dihedral + 2 * M_PI); // another turn is the same dihedral
    if (which == Which::All)
        for (int i = 0; i < 3; i++) {
            const Vec3 b = chain.positions[i] - chain.positions[i + 1];
            chain.constraints->addDistance(i, i + 1, std::sqrt(b.dot(b)));
        }
    RattleIntegrator integrator(0.0005);
    integrator.setSolver(solver);
    integrator.setConstraintTolerance(1e-9);
    Context context(chain.system, integrator, OpenMM::Platform::getPlatformByName(platform));
    context.setPositions(chain.positions);
    context.setVelocitiesToTemperature(300, 1);
    EXPECT_EQ(integrator.getNumDegreesOfFreedom(), which == Which::All ? 7 : 11);
    auto momentum = [&](const State& state) {
        Vec3 p;
        for (int i = 0; i < 4; i++)
            p += state.getVelocities()[i] * chain.system.getParticleMass(i);
        return p;
    };
    const int everything = State::Positions | State::Velocities | State::Energy;
    const State before = context.getState(everything);
    const double energy = before.getKineticEnergy() + before.getPotentialEnergy();
    for (int block = 0; block < 10; block++) {
        integrator.step(100);
        const State state = context.getState(everything);
        EXPECT_NEAR(state.getKineticEnergy() + state.getPotentialEnergy(), energy, 2e-3 * before.getKineticEnergy());
        EXPECT_LT((momentum(state) - momentum(before)).dot(momentum(state) - momentum(before)), 1e-10);
        if (which != Which::Dihedral) {
            EXPECT_NEAR(chain.value(CoordinateKind::Angle, state.getPositions()), angle, 1.1e-9);
        }
        if (which != Which::Angle) {
            EXPECT_NEAR(chain.value(CoordinateKind::Dihedral, state.getPositions()), dihedral, 1.1e-9);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Angles,
                         testing::Combine(testing::Values("Reference", "CPU"),
                                          testing::Values(ConstraintIntegrator::Iterative,
                                                          ConstraintIntegrator::MatrixInversion),
                                          testing::Values(Which::Angle, Which::Dihedral, Which::All)));

TEST(Angles, RigidWaterByAnAngleMovesAsByAThirdDistance) {
    std::vector<Vec3> ends[2];
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
        Context context(system, integrator, OpenMM::Platform::getPlatformByName("Reference"));
        context.setPositions({{0, 0, 0}, {0.1, 0, 0}, {0.11 * std::cos(angle), 0.11 * std::sin(angle), 0}});
        context.setVelocities({{0.1, 0, 0.2}, {-1, 2, 0.5}, {0.7, 0.1, -1}});
        integrator.step(200);
        ends[byAngle] = context.getState(State::Positions).getPositions();
    }
    for (int i = 0; i < 3; i++)
        EXPECT_LT(std::sqrt((ends[0][i] - ends[1][i]).dot(ends[0][i] - ends[1][i])), 1e-8);
}

TEST(Angles, AStartThatIsFarOffIsProjected) {
    // Gradients at the start do not lead there: they are renewed on the way.
    for (double angle : {0.5, 1.2, 2.0, 2.9})
        for (double dihedral : {-3.0, -1.0, 0.2, 2.0, 3.1}) {
            Chain chain;
            chain.constraints->addAngle(0, 1, 2, angle);
            chain.constraints->addDihedral(0, 1, 2, 3, dihedral);
            chain.constraints->addDistance(0, 1, 0.16);
            RattleIntegrator integrator(0.0001);
            integrator.setConstraintTolerance(1e-9);
            Context context(chain.system, integrator, OpenMM::Platform::getPlatformByName("Reference"));
            context.setPositions(chain.positions);
            integrator.applyConstraints();
            const auto x = context.getState(State::Positions).getPositions();
            EXPECT_NEAR(chain.value(CoordinateKind::Angle, x), angle, 2e-9);
            EXPECT_NEAR(chain.value(CoordinateKind::Dihedral, x), dihedral, 2e-9);
            integrator.step(1);
        }
}

TEST(Angles, DihedralHasTheSignOfPeriodicTorsionForce) {
    Chain chain;
    OpenMM::System system;
    for (int i = 0; i < 4; i++)
        system.addParticle(1);
    auto* torsion = new OpenMM::PeriodicTorsionForce();
    torsion->addTorsion(0, 1, 2, 3, 1, 0.7, 1);
    system.addForce(torsion);
    OpenMM::VerletIntegrator integrator(0.001);
    Context context(system, integrator, OpenMM::Platform::getPlatformByName("Reference"));
    context.setPositions(chain.positions);
    EXPECT_NEAR(context.getState(State::Energy).getPotentialEnergy(),
                1 + std::cos(chain.value(CoordinateKind::Dihedral, chain.positions) - 0.7), 1e-12);
}

TEST(Angles, RefuseWhatHasNoGradient) {
    for (double angle : {0.0, M_PI - 5e-4, -1.0, 4.0, (double) NAN}) {
        Chain chain;
        chain.constraints->addAngle(0, 1, 2, angle);
        RattleIntegrator integrator(0.001);
        try {
            Context context(chain.system, integrator, OpenMM::Platform::getPlatformByName("Reference"));
            FAIL() << "accepted " << angle;
        } catch (const OpenMM::OpenMMException& e) {
            EXPECT_NE(std::string(e.what()).find("angle 0 of the ConstraintForce"), std::string::npos) << e.what();
            EXPECT_NE(std::string(e.what()).find("particles 0, 1 and 2"), std::string::npos) << e.what();
        }
    }
    Chain chain;
    chain.constraints->addDihedral(0, 1, 2, 3, INFINITY);
    RattleIntegrator integrator(0.001);
    EXPECT_THROW(Context(chain.system, integrator, OpenMM::Platform::getPlatformByName("Reference")),
                 OpenMM::OpenMMException);
}

} // namespace
