// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Linear and planar sets of distances together with constraints of other kinds among their particles, and lengths that
// a fit replaced.
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Xml.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Benzene or carbon dioxide in no special orientation, rounded to a unit (nm) if there is one. */
Vectors placed(const Vectors& shape, double unit = 0) {
    const Vec3 a = Vec3(2, 1, 2) / 3, b = Vec3(-2, 2, 1) / 3;
    Vectors x;
    for (const Vec3& r : shape) {
        Vec3 place = Vec3(0.30043, 0.50026, 0.40012) + a * r[0] + b * r[1];
        for (int axis = 0; unit > 0 && axis < 3; axis++)
            place[axis] = unit * std::round(place[axis] / unit);
        x.push_back(place);
    }
    return x;
}

Vectors benzene() {
    Vectors shape;
    for (double radius : {0.1397, 0.2481})
        for (int i = 0; i < 6; i++)
            shape.emplace_back(radius * std::cos(M_PI / 3 * i), radius * std::sin(M_PI / 3 * i), 0);
    return shape;
}

const Vectors carbonDioxide = {Vec3(), Vec3(0.116, 0, 0), Vec3(-0.116, 0, 0)};

/** A molecule with all its distances below a cutoff. */
ConstraintForce* addDistances(System& system, const Vectors& x, double cutoff = 1) {
    auto* force = new ConstraintForce();
    const int first = system.getNumParticles();
    for (std::size_t i = 0; i < x.size(); i++) {
        system.addParticle(i < x.size() / 2 ? 12 : 1.5);
        for (std::size_t j = 0; j < i; j++)
            if (length(x[i] - x[j]) < cutoff)
                force->addDistance(first + (int) j, first + (int) i, length(x[i] - x[j]));
    }
    system.addForce(force);
    return force;
}

class ConvertedSets : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();

    /** Twenty steps in an uneven field, from velocities at random. */
    Vectors run(const System& given, const Vectors& start, int degreesOfFreedom) const {
        auto system = fromXml<System>(toXml(given, "System")); // as a file brings it
        auto* field = new CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
        for (int i = 0; i < system->getNumParticles(); i++)
            field->addParticle(i);
        system->addForce(field);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(tolerance);
        auto context = makeContext(*system, integrator, platform);
        context->setPositions(start);
        context->setVelocitiesToTemperature(300, 1);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), degreesOfFreedom);
        integrator.step(20);
        const Vectors x = context->getState(State::Positions).getPositions();
        EXPECT_GT(distance(x, start), 1e-3);
        for (int f = 0; f < given.getNumForces(); f++)
            if (const auto* force = dynamic_cast<const ConstraintForce*>(&given.getForce(f)))
                for (int k = 0; k < force->getNumDistances(); k++) {
                    int i, j;
                    double d;
                    force->getDistanceParameters(k, i, j, d);
                    EXPECT_NEAR(length(x[i] - x[j]) / d, 1, bound) << i << ' ' << j;
                }
        return x;
    }
    const double tolerance = 1e-9, bound = attainable(platform, 1e-8);
};

TEST_P(ConvertedSets, CarbonDioxideStaysOnTheSphereThatHoldsItsCarbon) {
    System system;
    const Vectors x = placed(carbonDioxide);
    addDistances(system, x);
    auto* sphere = new CustomConstraintForce(1, "x1^2 + y1^2 + z1^2 - R2");
    sphere->addPerConstraintParameter("R2");
    sphere->addConstraint({0}, {x[0].dot(x[0])});
    system.addForce(sphere);
    EXPECT_NEAR(length(run(system, x, 4)[0]), length(x[0]), bound);
}

TEST_P(ConvertedSets, ExpressionsOverParticlesOfOneFlatSetHold) {
    System system;
    Vectors start;
    std::vector<std::pair<std::vector<int>, double>> sums; // of x + y^2, of 1 to 12 particles of one molecule each
    const auto sumOf = [](const std::vector<int>& particles, const Vectors& x) {
        double sum = 0;
        for (int p : particles)
            sum += x[p][0] + x[p][1] * x[p][1];
        return sum;
    };
    for (int n : {1, 2, 4, 8, 12}) {
        const int first = system.getNumParticles();
        Vectors x = placed(benzene());
        for (Vec3& r : x)
            r += Vec3(0, 0, 0.05 * first);
        addDistances(system, x);
        start.insert(start.end(), x.begin(), x.end());
        std::ostringstream sigma;
        std::vector<int> particles;
        for (int i = 0; i < n; i++) {
            sigma << "x" << i + 1 << " + y" << i + 1 << "^2 + ";
            particles.push_back(first + (5 * i) % 12);
        }
        sums.emplace_back(particles, sumOf(particles, start));
        auto* custom = new CustomConstraintForce(n, sigma.str() + "-q");
        custom->addPerConstraintParameter("q");
        custom->addConstraint(particles, {sums.back().second});
        system.addForce(custom);
    }
    const Vectors x = run(system, start, 5 * 5);
    for (const auto& [particles, sum] : sums)
        EXPECT_NEAR(sumOf(particles, x) / particles.size(), sum / particles.size(), bound) << particles.size();
}

TEST_P(ConvertedSets, WhatTheyDetermineIsCheckedAndStays) {
    // A dihedral, a distance of centroids and an internal expression of one flat set: true as long as it is rigid.
    System system;
    const Vectors x = placed(benzene());
    ConstraintForce* force = addDistances(system, x);
    force->addDihedral(0, 1, 2, 3, 0);
    force->addDihedral(6, 0, 1, 2, M_PI);
    force->addCentroidDistance({0, 1, 6}, {3, 9},
                               length((x[0] * 12 + x[1] * 12 + x[6] * 1.5) / 25.5 - (x[3] * 12 + x[9] * 1.5) / 13.5));
    std::ostringstream sigma;
    for (int i = 1; i <= 8; i++)
        sigma << "distance(p" << i << ",p" << i % 8 + 1 << ") + ";
    sigma << "-q";
    double perimeter = 0;
    for (int i = 0; i < 8; i++)
        perimeter += length(x[i] - x[(i + 1) % 8]);
    auto* custom = new CustomConstraintForce(8, sigma.str());
    custom->addPerConstraintParameter("q");
    custom->addConstraint({0, 1, 2, 3, 4, 5, 6, 7}, {perimeter});
    system.addForce(custom);
    run(system, x, 6);

    force->setCentroidDistanceParameters(0, {0, 1, 6}, {3, 9}, 0.3);
    expectAll(messageOf([&] { run(system, x, 6); }),
              {"centroid distance 0", "0.3 nm", "in the shape of the rigid body"});
}

/** Three particles on a line by distances, by an angle of 180 degrees and as a rigid body, and a fourth beside them. */
TEST_P(ConvertedSets, ADihedralOverThreeParticlesOfALineIsRefused) {
    const Vectors x = placed({Vec3(), Vec3(0.1, 0, 0), Vec3(0.22, 0, 0), Vec3(0.35, 0.1, 0)});
    for (const char* how : {"distances", "angle", "body"}) {
        System system;
        auto* force = new ConstraintForce();
        for (int i = 0; i < 4; i++)
            system.addParticle(1);
        if (how == std::string("body"))
            force->addRigidBody({0, 1, 2}, {x[0], x[1], x[2]});
        else if (how == std::string("angle"))
            force->addAngle(0, 1, 2, M_PI);
        else
            for (const auto& [i, j] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)})
                force->addDistance(i, j, length(x[i] - x[j]));
        force->addDihedral(0, 1, 3, 2, 0.5); // has a value
        system.addForce(force);
        RattleIntegrator integrator(0.001);
        EXPECT_NO_THROW(makeContext(system, integrator, platform)) << how;
        force->addDihedral(3, 2, 1, 0, 0.5);
        RattleIntegrator another(0.001);
        expectAll(messageOf([&] { makeContext(system, another, platform); }),
                  {"dihedral 1", "particles 3, 2, 1 and 0", "on one line"});
    }
}

// ---- lengths that a fit replaced

struct Rounded {
    std::string name;
    Vectors shape;
    double unit;
    int degreesOfFreedom;
    double cutoff; // nm, of the distances that are given
};

TEST_P(ConvertedSets, ReportTheDeviationOfTheirFit) {
    // Coordinates as in PDB and GRO files: lengths between them are those of no plane or line.
    for (const Rounded& given :
         {Rounded{"benzene by short distances, PDB", benzene(), 1e-4, 6, 0.26},
          Rounded{"benzene by short distances, GRO", benzene(), 1e-3, 6, 0.26},
          Rounded{"benzene, PDB", benzene(), 1e-4, 6, 1}, Rounded{"benzene, GRO", benzene(), 1e-3, 6, 1},
          Rounded{"CO2, PDB", carbonDioxide, 1e-4, 5, 1}, Rounded{"CO2, GRO", carbonDioxide, 1e-3, 5, 1}}) {
        SCOPED_TRACE(given.name);
        System system;
        const Vectors start = placed(given.shape, given.unit);
        const ConstraintForce* force = addDistances(system, start, given.cutoff);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-8);
        auto context = makeContext(system, integrator, platform);
        context->setPositions(start);
        context->setVelocitiesToTemperature(300, 1);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), given.degreesOfFreedom);
        integrator.step(5);
        const SolverSummary summary = integrator.getSolverSummary();
        EXPECT_TRUE(summary.converged);
        EXPECT_EQ(summary.maxError, 0) << "the body is solved in closed form";
        EXPECT_EQ(summary.worstConstraint, -1);
        EXPECT_GE(summary.fittedConstraint, 0);
        EXPECT_LT(summary.fittedConstraint, force->getNumDistances());
        EXPECT_GT(summary.fitDeviation, 1e-9);
        EXPECT_LT(summary.fitDeviation, 1e-4);
        // The given lengths are off by just that, and most of all the one that is named.
        const Vectors x = context->getState(State::Positions).getPositions();
        for (int k = 0; k < force->getNumDistances(); k++) {
            int i, j;
            double d;
            force->getDistanceParameters(k, i, j, d);
            const double deviation = std::abs(length(x[i] - x[j]) / d - 1), rounding = attainable(platform, 1e-8);
            EXPECT_LE(deviation, summary.fitDeviation + rounding) << k;
            if (k == summary.fittedConstraint) {
                EXPECT_NEAR(deviation, summary.fitDeviation, rounding);
            }
        }
        EXPECT_EQ(summary.str().find("fitted lengths") != std::string::npos, summary.fitDeviation > summary.tolerance);
    }
}

TEST_P(ConvertedSets, KeepTheLengthsOfLowTetrahedra) {
    for (const auto& [height, isBody] : {std::pair(0.0045, true), std::pair(0.006, false)}) {
        SCOPED_TRACE(height);
        System system;
        const Vectors x = {Vec3(), Vec3(0.7, 0, 0), Vec3(0.75, 0.6, 0), Vec3(0, 0.5, height)};
        const ConstraintForce* force = addDistances(system, x);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-6);
        auto context = makeContext(system, integrator, platform);
        context->setPositions(x);
        context->setVelocitiesToTemperature(300, 1);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 6);
        integrator.step(100);
        EXPECT_EQ(integrator.getSolverSummary().fittedConstraint >= 0, isBody);
        EXPECT_LT(integrator.getSolverSummary().fitDeviation, 1e-12);
        const Vectors now = context->getState(State::Positions).getPositions();
        for (int k = 0; k < force->getNumDistances(); k++) {
            int i, j;
            double d;
            force->getDistanceParameters(k, i, j, d);
            EXPECT_LT(std::abs(length(now[i] - now[j]) / d - 1), 1.1e-6);
        }
    }
}

TEST_P(ConvertedSets, ReportNoDeviationWhereNothingWasReplaced) {
    System system;
    const Vectors x = {Vec3(), Vec3(0.1, 0, 0), Vec3(0.03, 0.09, 0)};
    addDistances(system, x);
    RattleIntegrator integrator(0.001);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(x);
    integrator.step(1);
    EXPECT_EQ(integrator.getSolverSummary().fitDeviation, 0);
    EXPECT_EQ(integrator.getSolverSummary().fittedConstraint, -1);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ConvertedSets, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
