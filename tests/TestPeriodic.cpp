// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Periodic constraints of every kind, coupled to each other: a molecule whose particles are wrapped into a box one by
// one moves as the same molecule does without a box.
#include "coordinates.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const Box rectangular{{1.5, 0, 0}, {0, 1.7, 0}, {0, 0, 1.6}};
const Box triclinic{{1.5, 0, 0}, {0.5, 1.7, 0}, {-0.6, 0.7, 1.6}};

/** Twice: all of them, and each of them twice. */
enum class Kind { Angle, Dihedral, Straight, Centroids, Expression, All, Twice };
const std::vector<Kind> plainKinds = {Kind::Angle, Kind::Dihedral, Kind::Straight};
const std::vector<Kind> otherKinds = {Kind::Centroids, Kind::Expression, Kind::All, Kind::Twice};

/** Molecules at random: a winding chain of eight particles each, three of them on a line, with some fixed bonds. */
struct Molecules {
    static constexpr int size = 8;
    std::vector<double> masses;
    Vectors positions, velocities;
    std::vector<Kind> kinds;

    void add(Kind kind, Random& random) {
        Real3 place = random.inCube(0.8), step;
        for (int i = 0; i < size; i++) {
            masses.push_back(random.uniform(1, 40));
            positions.emplace_back(place.x, place.y, place.z);
            const Real3 v = random.inCube(0.5);
            velocities.emplace_back(v.x, v.y, v.z);
            if (i != 5) { // 4, 5 and 6 are on a line
                const Real3 winding{0.8, i % 2 ? 0.6 : -0.6, 0.6 * std::sin(1.1 * i)};
                step = random.uniform(0.05, 0.06) * (winding + random.inCube(0.2));
            }
            place += step;
        }
        kinds.push_back(kind);
    }
    double measure(CoordinateKind kind, const int* p) const {
        Real3 bonds[3], G[3];
        for (int s = 0; s + 1 < numParticlesOf(kind); s++) {
            const Vec3 b = positions[p[s]] - positions[p[s + 1]];
            bonds[s] = {b[0], b[1], b[2]};
        }
        return coordinate(kind, bonds, G);
    }
    Vec3 centre(const std::vector<int>& group) const {
        Vec3 sum;
        double mass = 0;
        for (int p : group) {
            sum += positions[p] * masses[p];
            mass += masses[p];
        }
        return sum / mass;
    }
    std::unique_ptr<System> toSystem(bool periodic, const Box& box) const {
        auto system = std::make_unique<System>();
        for (double mass : masses)
            system->addParticle(mass);
        system->setDefaultPeriodicBoxVectors({box.a.x, 0, 0}, {box.b.x, box.b.y, 0}, {box.c.x, box.c.y, box.c.z});
        auto* constraints = new ConstraintForce();
        auto expressions = std::make_unique<CustomConstraintForce>(
            4, "distance(p1,p3) + 0.1*cos(angle(p1,p2,p4)) + 0.1*cos(dihedral(p1,p2,p3,p4)) - value");
        expressions->addPerConstraintParameter("value");
        for (std::size_t molecule = 0; molecule < kinds.size(); molecule++) {
            const int first = size * (int) molecule;
            const Kind kind = kinds[molecule];
            const auto takes = [&](Kind one) { return kind == one || kind >= Kind::All; };
            for (int repetition = 0; repetition < (kind == Kind::Twice ? 2 : 1); repetition++) {
                for (int i : {0, 1, 3, 5}) {
                    const int pair[] = {first + i, first + i + 1};
                    constraints->addDistance(pair[0], pair[1], measure(CoordinateKind::Distance, pair));
                }
                for (int i : {0, 1}) {
                    const int p[] = {first + i, first + i + 1, first + i + 2, first + i + 3};
                    if (takes(Kind::Angle))
                        constraints->addAngle(p[0], p[1], p[2], measure(CoordinateKind::Angle, p));
                    if (takes(Kind::Dihedral))
                        constraints->addDihedral(p[0], p[1], p[2], p[3], measure(CoordinateKind::Dihedral, p));
                }
                if (takes(Kind::Straight))
                    constraints->addAngle(first + 4, first + 5, first + 6, M_PI);
                if (takes(Kind::Centroids)) {
                    const std::vector<int> one = {first + 1, first + 2}, other = {first + 5, first + 6, first + 7};
                    const Vec3 r = centre(one) - centre(other);
                    constraints->addCentroidDistance(one, other, std::sqrt(r.dot(r)));
                }
                if (takes(Kind::Expression)) {
                    const int p[] = {first + 2, first + 3, first + 4, first + 7}, ends[] = {p[0], p[2]},
                              corner[] = {p[0], p[1], p[3]};
                    expressions->addConstraint({p[0], p[1], p[2], p[3]},
                                               {measure(CoordinateKind::Distance, ends) +
                                                0.1 * std::cos(measure(CoordinateKind::Angle, corner)) +
                                                0.1 * std::cos(measure(CoordinateKind::Dihedral, p))});
                }
            }
        }
        constraints->setUsesPeriodicBoundaryConditions(periodic);
        expressions->setUsesPeriodicBoundaryConditions(periodic);
        system->addForce(constraints);
        if (expressions->getNumConstraints() > 0)
            system->addForce(expressions.release());
        return system;
    }
};

Vec3 wrap(Vec3 x, const Vec3 (&vectors)[3]) {
    for (int axis : {2, 1, 0})
        x -= vectors[axis] * std::floor(x[axis] / vectors[axis][axis]);
    return x;
}

/** Particle by particle; the groups of a centroid distance keep together, since each centre is of positions as given.
 */
void wrap(const Molecules& molecules, const Vec3 (&vectors)[3], Vectors& x) {
    for (std::size_t molecule = 0; molecule < molecules.kinds.size(); molecule++) {
        const bool hasGroups = molecules.kinds[molecule] == Kind::Centroids || molecules.kinds[molecule] >= Kind::All;
        const int first = Molecules::size * (int) molecule;
        for (int i = 0; i < Molecules::size; i++) {
            const int leader = first + (!hasGroups ? i : i == 2 ? 1 : i == 6 || i == 7 ? 5 : i);
            const Vec3 given = molecules.positions[leader];
            x[first + i] += wrap(given, vectors) - given;
        }
    }
}

/** Largest distance of two sets of positions, up to lattice vectors. */
double distanceUpToImages(const Vectors& a, const Vectors& b, const Vec3 (&vectors)[3]) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        Vec3 r = a[i] - b[i];
        for (int axis : {2, 1, 0})
            r -= vectors[axis] * std::round(r[axis] / vectors[axis][axis]);
        largest = std::max(largest, std::sqrt(r.dot(r)));
    }
    return largest;
}

class Periodic : public testing::TestWithParam<std::tuple<std::string, bool>> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const Box box = std::get<1>(GetParam()) ? triclinic : rectangular;
    /** Rattle steps, from tangent velocities. */
    Simulation start(const Molecules& molecules, bool periodic) const {
        auto integrator = std::make_unique<RattleIntegrator>(0.0005);
        integrator->setConstraintTolerance(1e-11);
        Simulation s(molecules.toSystem(periodic, box), std::move(integrator), periodic ? platform : "Reference");
        Vectors x = molecules.positions;
        if (periodic) {
            Vec3 vectors[3];
            s.system->getDefaultPeriodicBoxVectors(vectors[0], vectors[1], vectors[2]);
            wrap(molecules, vectors, x);
        }
        s.context->setPositions(x);
        s.context->setVelocities(molecules.velocities);
        s.integrator->applyVelocityConstraints();
        return s;
    }
    void expectTheSameWithoutABox(const Molecules& molecules) const {
        const Simulation free = start(molecules, false), wrapped = start(molecules, true);
        EXPECT_EQ(wrapped.integrator->getNumDegreesOfFreedom(), free.integrator->getNumDegreesOfFreedom());
        free.integrator->step(60);
        wrapped.integrator->step(60);
        Vec3 vectors[3];
        free.system->getDefaultPeriodicBoxVectors(vectors[0], vectors[1], vectors[2]);
        const Precision precision = precisionOf(platform);
        EXPECT_LT(distanceUpToImages(wrapped.positions(), free.positions(), vectors),
                  1e-8 + 60 * (precision.position + 0.1 * precision.constraint));
        EXPECT_GT(distance(free.positions(), molecules.positions), 0.01) << "nothing moved";
    }
};

TEST_P(Periodic, EveryKindCoupledToOthersMovesAsWithoutABox) {
    Random random(17);
    std::vector<std::vector<Kind>> systems = {plainKinds, otherKinds};
    if (isDevice(platform)) { // Contexts are dear there
        systems[0].insert(systems[0].end(), otherKinds.begin(), otherKinds.end());
        systems.pop_back();
    }
    for (const std::vector<Kind>& kinds : systems) {
        Molecules together;
        for (int trial = 0; trial < 4; trial++)
            for (Kind kind : kinds)
                together.add(kind, random);
        expectTheSameWithoutABox(together);
    }
}

INSTANTIATE_TEST_SUITE_P(Boxes, Periodic, testing::Combine(testing::ValuesIn(platformsUnderTest()), testing::Bool()),
                         [](const auto& info) {
                             return std::get<0>(info.param) + (std::get<1>(info.param) ? "_Triclinic" : "_Rectangular");
                         });

TEST(MinimumImage, IsFoundInFlatAndInNarrowBoxes) {
    Random random(1);
    for (const Box& box : {Box{{5, 0, 0}, {0, 5, 0}, {0, 0, 1}}, Box{{5, 0, 0}, {0, 1, 0}, {0, 0, 5}},
                           Box{{1, 0, 0}, {0, 5, 0}, {0, 0, 5}}, triclinic})
        for (int i : {-1, 0, 1})
            for (int j : {-1, 0, 1})
                for (int k : {-1, 0, 1}) {
                    const Real3 bond = random.inCube(0.2),
                                image = bond + double(i) * box.a + double(j) * box.b + double(k) * box.c;
                    EXPECT_LT(norm(box.minimumImage(image) - bond), 1e-14) << i << " " << j << " " << k;
                }
}

} // namespace
