// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CentroidDistance.h"
#include "ConstraintSolver.h"
#include "GenericRank.h"
#include "coordinates.h"
#include "support/Dense.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using Points = std::vector<Real3>;
using Pairs = std::vector<std::pair<int, int>>;

/** Distances that the points have. */
static ConstraintSet distances(const Points& points, const Pairs& pairs) {
    ConstraintSet set = pattern((int) points.size(), pairs);
    for (Constraint& c : set.constraints) {
        const Real3 b = points[c.particles[0]] - points[c.particles[1]];
        c.target = std::sqrt(dot(b, b));
    }
    return set;
}

static Pairs allPairs(int n) {
    Pairs pairs;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            pairs.push_back({i, j});
    return pairs;
}

static RankAnalysis analyze(const ConstraintSet& set, const Points& points) {
    return analyzeRank(set, allConstraints(set), points.data(), Box(), rankThreshold);
}

/** The rank analysis of an integrator: constraints independent at generic positions, examined at actual positions. */
static RankAnalysis judge(const ConstraintSet& set, const Points& points) {
    ConstraintSolver solver(set, Method::Automatic);
    solver.chooseIndependent(points.data(), Box());
    return solver.checkRank(points.data(), Box());
}

/** Rank of the gradients by Eigen's singular values. */
static int denseRank(const ConstraintSet& set, const Points& points, const std::vector<int>& constraints) {
    Matrix J = Eigen::MatrixXd::Zero(constraints.size(), 3 * points.size());
    for (int row = 0; row < J.rows(); row++) {
        const Constraint& c = set.constraints[constraints[row]];
        const Real3 b = points[c.particles[0]] - points[c.particles[1]];
        const Eigen::RowVector3d unit = Eigen::RowVector3d(b.x, b.y, b.z).normalized();
        for (int s = 0; s < 2; s++)
            if (set.inverseMass[c.particles[s]] > 0)
                J.block<1, 3>(row, 3 * c.particles[s]) = (s == 0 ? 1 : -1) * unit;
    }
    const Vector values = singularValues(J);
    int rank = 0;
    for (double value : values) // among many positions at random some are close to special ones
        rank += value > 1e-12 * values[0];
    return rank;
}

TEST(GenericRank, IsThatOfEachOfManyMolecules) {
    // Among positions at random some are close to special ones.
    const int copies = 20000;
    Pairs pairs;
    for (int first = 0; first < 5 * copies; first += 5)
        for (const auto& [i, j] : allPairs(5))
            pairs.emplace_back(first + i, first + j);
    const ConstraintSet set = pattern(5 * copies, pairs);
    std::vector<int> rank(copies);
    for (int k : analyzeGenericRank(set, allConstraints(set)).independent)
        rank[k / 10]++;
    EXPECT_EQ(std::count(rank.begin(), rank.end(), 9), copies);
}

TEST(GenericRank, IsThatWithoutABoxForPeriodicConstraintsOfEveryKind) {
    ConstraintSet set;
    set.inverseMass.assign(5, 1.0);
    set.custom.push_back(std::make_shared<CentroidDistance>(std::vector<double>{0.5, 0.5, -0.4, -0.6}, true));
    const auto add = [&](CoordinateKind kind, std::vector<int> particles, int form = -1) {
        set.constraints.push_back({kind, std::move(particles), 0.1, true, 0, (int) set.constraints.size()});
        set.constraints.back().form = form;
    };
    for (int twice = 0; twice < 2; twice++) { // a duplicate of each is the dependence to be found
        add(CoordinateKind::Distance, {0, 1});
        add(CoordinateKind::Angle, {0, 1, 2});
        add(CoordinateKind::Dihedral, {0, 1, 2, 3});
        add(CoordinateKind::LinearAngle, {2, 3, 4}, 0);
        add(CoordinateKind::Custom, {0, 1, 3, 4}, 0);
    }
    EXPECT_EQ(analyzeGenericRank(set, allConstraints(set)).independent, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(GenericRank, EqualsThatOfEigenForRedundantGraphs) {
    Random random(5);
    for (int trial = 0; trial < 200; trial++) {
        const int n = 4 + random.below(30);
        const double density = random.uniform(0.05, 1);
        Pairs pairs;
        for (const auto& pair : allPairs(n))
            if (random.uniform(0, 1) < density)
                pairs.push_back(pair);
        if (pairs.empty())
            continue;
        ConstraintSet set = pattern(n, pairs);
        for (double& mass : set.inverseMass)
            mass = trial % 3 == 0 && random.below(8) == 0 ? 0 : 1;
        std::vector<int> movable;
        for (int k : allConstraints(set))
            if (set.isMovable(set.constraints[k]))
                movable.push_back(k);
        SCOPED_TRACE(testing::Message() << "trial " << trial << ", " << n << " particles, " << pairs.size());
        const GenericRank found = analyzeGenericRank(set, movable);
        EXPECT_EQ(found.undecided, std::vector<int>());
        EXPECT_EQ(found.independent.size() + found.dependent.size(), movable.size());
        Points points;
        for (int i = 0; i < n; i++)
            points.push_back(random.inCube(1));
        EXPECT_EQ((int) found.independent.size(), denseRank(set, points, movable));
        EXPECT_EQ((int) found.independent.size(), denseRank(set, points, found.independent));
        EXPECT_FALSE(judge(set, points).isSingular());
    }
}

TEST(GenericRank, RemainsLinearForChainsWithAnglesAndIsExactForLargeRedundantOnes) {
    // Methylene chains with all bonds and angles at a carbon, ten constraints of rank nine: too many for a dense
    // matrix, and among thousands of pivots some are small by chance in any draw.
    const int carbons = 3000;
    ConstraintSet set;
    set.inverseMass.assign(3 * carbons, 1.0);
    const auto add = [&](CoordinateKind kind, std::vector<int> particles) {
        set.constraints.push_back({kind, std::move(particles), 0.1, false, 0, (int) set.constraints.size()});
    };
    for (int carbon = 0; carbon < carbons; carbon++) {
        const int c = 3 * carbon;
        std::vector<int> neighbours = {c + 1, c + 2};
        if (carbon > 0)
            neighbours.push_back(c - 3);
        if (carbon + 1 < carbons)
            neighbours.push_back(c + 3);
        for (int n : neighbours) {
            if (n > c)
                add(CoordinateKind::Distance, {c, n});
            for (int other : neighbours)
                if (other < n)
                    add(CoordinateKind::Angle, {other, c, n});
        }
    }
    const GenericRank found = analyzeGenericRank(set, allConstraints(set));
    EXPECT_EQ(found.undecided, std::vector<int>());
    EXPECT_EQ((int) found.dependent.size(), carbons - 2); // one of ten at all carbons but the two of the ends
}

TEST(GenericRank, IsUndecidedWhereNoGapTellsIt) {
    // sigma = x + s y of one particle: gradients at an angle of 1e-8 with each other at any position.
    class Plane : public CentroidDistance {
    public:
        explicit Plane(double slope) : CentroidDistance({1.0}, false), slope(slope) {
        }
        double evaluate(const Real3* x, const double*, const StepState&, Real3* gradient) override {
            gradient[0] = {1, slope, 0};
            return dot(gradient[0], x[0]);
        }

    private:
        double slope;
    };
    ConstraintSet set = pattern(4, {{1, 2}, {2, 3}});
    for (double slope : {0.0, 1e-8}) {
        set.constraints.push_back({CoordinateKind::Custom, {0}});
        set.constraints.back().form = (int) set.custom.size();
        set.custom.push_back(std::make_shared<Plane>(slope));
    }
    const GenericRank found = analyzeGenericRank(set, allConstraints(set));
    EXPECT_EQ(found.undecided, (std::vector<int>{2, 3}));
    EXPECT_EQ(found.independent, (std::vector<int>{0, 1}));
}

static Points benzene() {
    Points points;
    for (double radius : {0.139, 0.247})
        for (int i = 0; i < 6; i++) {
            const double angle = i * std::acos(-1.0) / 3;
            points.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
        }
    return points;
}

TEST(Rank, EqualsThatOfEigenForTheSystemsOfTheTable) {
    for (const TestSystem& system : systemTable()) {
        if (system.periodic || system.name == "branched")
            continue;
        const ConstraintSet set = toConstraintSet(system);
        const RankAnalysis found = analyze(set, system.positions);
        EXPECT_EQ((int) found.independent.size(), system.rank) << system.name;
        EXPECT_EQ(denseRank(set, system.positions, allConstraints(set)), system.rank) << system.name;
        EXPECT_EQ(denseRank(set, system.positions, found.independent), system.rank) << system.name;
        EXPECT_FALSE(judge(set, system.positions).isSingular()) << system.name;
        std::vector<int> all = found.independent;
        all.insert(all.end(), found.dependent.begin(), found.dependent.end());
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, allConstraints(set)) << system.name;
    }
}

TEST(Rank, DoesNotDependOnMasses) {
    for (unsigned seed = 0; seed < 5; seed++) {
        const TestSystem system = withRandomMasses(findSystem("methane"), seed);
        EXPECT_EQ(ConstraintSolver(toConstraintSet(system), Method::Automatic).rank(), 9);
    }
}

TEST(Rank, ChoosesABaseThatIsIndependentAtRealPositions) {
    // A square pyramid with all ten distances: nine are independent at generic positions. But the four corners of the
    // base lie in a plane, so only five of their six distances are independent.
    const Points points{{0, 0, 0}, {0.1, 0, 0}, {0.1, 0.1, 0}, {0, 0.1, 0}, {0.05, 0.05, 0.1}};
    const ConstraintSet set = distances(points, allPairs(5));
    ConstraintSolver solver(set, Method::Automatic);
    solver.chooseIndependent(points.data(), Box());
    EXPECT_EQ(solver.rank(), 9);
    const RankAnalysis analysis = solver.checkRank(points.data(), Box());
    EXPECT_FALSE(analysis.isSingular());
    EXPECT_EQ(denseRank(set, points, analysis.independent), 9);
    std::vector<Real3> delta(5);
    delta[4].x = 0.003;
    EXPECT_EQ(solver.solvePositions(points.data(), Box(), delta.data(), 1e-10, 50).outcome, Outcome::Converged);
}

TEST(Rank, IsFoundWhereAllParticlesOfALargeBodyAreJoined) {
    // 1,225 distances: too many to factor their matrix.
    Points points;
    for (int i = 0; i < 50; i++)
        points.push_back({std::sin(12.9 * i), std::sin(7.3 * i + 1), std::sin(3.7 * i + 2)});
    const ConstraintSet set = distances(points, allPairs(50));
    ConstraintSolver solver(set, Method::Automatic);
    EXPECT_EQ(solver.rank(), 3 * 50 - 6);
    solver.chooseIndependent(points.data(), Box());
    EXPECT_EQ(solver.rank(), 3 * 50 - 6);
    EXPECT_FALSE(solver.checkRank(points.data(), Box()).isSingular());
}

TEST(Rank, StraightMoleculesAreSingularAndStraight) {
    const Points carbonDioxide{{0, 0, 0}, {0.116, 0, 0}, {-0.116, 0, 0}};
    const RankAnalysis analysis = judge(distances(carbonDioxide, allPairs(3)), carbonDioxide);
    EXPECT_TRUE(analysis.isSingular());
    EXPECT_EQ(analysis.shape, Shape::Straight);
    EXPECT_EQ(analysis.circuit, (std::vector<int>{0, 1, 2}));
    const Points bondsOnly = carbonDioxide;
    EXPECT_FALSE(judge(distances(bondsOnly, {{0, 1}, {0, 2}}), bondsOnly).isSingular());
}

TEST(Rank, FlatMoleculesAreSingularAndFlat) {
    for (const Points& points : {benzene(), Points{{0, 0, 0}, {0.1, 0, 0}, {0.12, 0.1, 0}, {0, 0.09, 0}}}) { // K4
        const RankAnalysis analysis = judge(distances(points, allPairs((int) points.size())), points);
        EXPECT_TRUE(analysis.isSingular());
        EXPECT_EQ(analysis.shape, Shape::Flat);
        EXPECT_GE(analysis.circuit.size(), 6u);
    }
}

TEST(Rank, TheBondsOfAFlatRingAreRegular) {
    const Points points = benzene();
    Pairs bonds;
    for (int i = 0; i < 6; i++)
        bonds.insert(bonds.end(), {{i, (i + 1) % 6}, {i, i + 6}});
    const ConstraintSet set = distances(points, bonds);
    EXPECT_FALSE(judge(set, points).isSingular());
    EXPECT_EQ(denseRank(set, points, allConstraints(set)), 12);
}

TEST(Rank, AChainBetweenTwoFixedEndsIsRegularUnlessStretchedOut) {
    const auto anchored = [](const Points& points) {
        ConstraintSet set = distances(points, {{0, 1}, {1, 2}, {2, 3}});
        set.inverseMass.front() = set.inverseMass.back() = 0;
        return judge(set, points);
    };
    EXPECT_FALSE(anchored({{0, 0, 0}, {0.1, 0.05, 0}, {0.2, 0, 0.03}, {0.3, 0, 0}}).isSingular());
    EXPECT_TRUE(anchored({{0, 0, 0}, {0.1, 0, 0}, {0.2, 0, 0}, {0.3, 0, 0}}).isSingular());
}

/** Three distances with an angle between the first two. */
static RankAnalysis bent(double degrees) {
    const double angle = degrees * std::acos(-1.0) / 180;
    const Points points{{0, 0, 0}, {0.1, 0, 0}, {0.12 * std::cos(angle), 0.12 * std::sin(angle), 0}};
    return judge(distances(points, allPairs(3)), points);
}

TEST(Rank, NearlyStraightIsStraightWithinTheRoundingOfLengths) {
    for (double degrees : {90.0, 160.0, 175.0, 178.0})
        EXPECT_FALSE(bent(degrees).isSingular()) << degrees;
    for (double degrees : {179.9, 179.99, 180.0}) {
        EXPECT_TRUE(bent(degrees).isSingular()) << degrees;
        EXPECT_EQ(bent(degrees).shape, Shape::Straight) << degrees;
    }
}

/** A K4 whose fourth particle is lifted out of the plane. @param size  times that of a molecule */
static RankAnalysis lifted(double height, double size = 1) {
    const Points points{{0, 0, 0}, {0.1 * size, 0, 0}, {0.12 * size, 0.1 * size, 0}, {0, 0.09 * size, height}};
    return judge(distances(points, allPairs(4)), points);
}

TEST(Rank, NearlyFlatIsFlatWithinTheRoundingOfLengths) {
    for (double height : {0.05, 0.02, 0.01})
        EXPECT_FALSE(lifted(height).isSingular()) << height;
    for (double height : {0.0, 1e-5, 1e-4}) {
        EXPECT_TRUE(lifted(height).isSingular()) << height;
        EXPECT_EQ(lifted(height).shape, Shape::Flat) << height;
    }
}

TEST(Rank, NearlyFlatIsNoHigherThanRoundingOfCoordinatesLeavesIt) {
    for (double size : {6.0, 20.0}) {
        EXPECT_TRUE(lifted(1e-3, size).isSingular()) << size; // a GRO file has three digits
        EXPECT_FALSE(lifted(0.006, size).isSingular()) << size;
    }
}

TEST(Rank, ASmallPivotInSpaceIsNoReasonToRefuse) {
    // The lifted K4 among others, one cluster: still regular.
    EXPECT_LT(lifted(0.01).smallestPivot, 0.1);
    EXPECT_GT(lifted(0.01).smallestPivot, rankThreshold);
}

TEST(Rank, ThreeDistancesAreJudgedWithAndWithoutAMatrix) {
    const std::vector<Pairs> shapes = {{{0, 1}, {1, 2}, {2, 0}},  // a triangle
                                       {{0, 1}, {1, 0}, {1, 2}},  // one pair twice
                                       {{3, 1}, {1, 2}, {2, 4}},  // between fixed ends
                                       {{1, 3}, {4, 1}, {5, 1}}}; // one particle, held by three
    for (const double height : {0.08, 0.03, 0.01, 1e-3, 0.0})
        for (const Pairs& pairs : shapes) {
            SCOPED_TRACE(height);
            const Points points = {{0, 0, 0},      {0.05, height, 0}, {0.1, 0, 0},
                                   {0.04, 0, 0.1}, {0, -0.1, 0},      {0.2, 0, 0}};
            ConstraintSet set = distances(points, pairs);
            for (int p : {3, 4, 5})
                set.inverseMass[p] = 0;
            const RankAnalysis analysis = analyze(set, points);
            EXPECT_EQ((int) analysis.independent.size(), denseRank(set, points, allConstraints(set)));
            EXPECT_EQ(analysis.independent.size() + analysis.dependent.size(), 3u);
            // The determinant of the matrix with unit diagonal is the product of its pivots, the first of which is 1.
            Matrix J = Eigen::MatrixXd::Zero(3, 18);
            for (int row = 0; row < 3; row++)
                for (int s : {0, 1}) {
                    const auto [p, q] = pairs[row];
                    const Real3 b = points[p] - points[q];
                    if (set.inverseMass[s == 0 ? p : q] > 0)
                        J.block<1, 3>(row, 3 * (s == 0 ? p : q)) =
                            (s == 0 ? 1 : -1) * Eigen::RowVector3d(b.x, b.y, b.z);
                }
            const Matrix unit = J.rowwise().normalized();
            const double determinant = ConstraintTests::determinant(product(unit, unit.transpose()));
            // The gradient with respect to one particle has half the squared length of the whole gradient of a
            // distance. So pivots at a particle are smaller by this factor at most.
            EXPECT_GE(analysis.smallestPivot, determinant / 8 - 1e-12);
            EXPECT_LE(analysis.smallestPivot * analysis.smallestPivot, determinant + 1e-12);
            EXPECT_EQ(analysis.smallestPivot < 0.01, !analysis.circuit.empty()) << "which ones has to be told";
        }
}

TEST(Rank, OneSingularClusterAmongManyIsFound) {
    Points points;
    Pairs pairs;
    for (int m = 0; m < 20; m++) {
        const bool straight = m == 13;
        const Real3 origin{0.5 * m, 0, 0};
        for (const Real3& r : {Real3{}, Real3{0.1, 0, 0}, straight ? Real3{-0.1, 0, 0} : Real3{-0.03, 0.09, 0}})
            points.push_back(origin + r);
        for (const auto& [i, j] : allPairs(3))
            pairs.push_back({3 * m + i, 3 * m + j});
    }
    const RankAnalysis analysis = judge(distances(points, pairs), points);
    EXPECT_TRUE(analysis.isSingular());
    EXPECT_EQ(analysis.circuit.front() / 3, 13);
    EXPECT_EQ(analysis.shape, Shape::Straight);
}

TEST(Coordinates, GradientsAgreeWithFiniteDifferences) {
    Random random(3);
    for (int trial = 0; trial < 20; trial++) {
        const Real3 b = random.uniform(0.05, 2) * random.direction();
        Real3 G, unused;
        EXPECT_DOUBLE_EQ(coordinate(CoordinateKind::Distance, &b, &G), std::sqrt(dot(b, b)));
        const double h = 1e-6, components[3] = {G.x, G.y, G.z};
        for (int axis = 0; axis < 3; axis++) {
            const Real3 step{axis == 0 ? h : 0, axis == 1 ? h : 0, axis == 2 ? h : 0};
            const Real3 up = b + step, down = b - step;
            const double slope = (coordinate(CoordinateKind::Distance, &up, &unused) -
                                  coordinate(CoordinateKind::Distance, &down, &unused)) /
                                 (2 * h);
            EXPECT_NEAR(components[axis], slope, 1e-8);
        }
    }
}

TEST(Coordinates, JacobianGivesRatesAndGradientsOfParticles) {
    const TestSystem& system = findSystem("triclinic");
    const ConstraintSet set = toConstraintSet(system);
    Jacobian J(set, allConstraints(set));
    EXPECT_EQ(J.setStart(system.positions.data(), system.box), -1);
    Random random(8);
    Points velocity;
    for (int i = 0; i < system.numParticles(); i++)
        velocity.push_back(random.inCube(1));
    Points forward, backward;
    const double h = 1e-6;
    for (const Real3& v : velocity) {
        forward.push_back(h * v);
        backward.push_back(-h * v);
    }
    for (int row = 0; row < J.numRows(); row++) {
        EXPECT_NEAR(J.startValue(row), system.bonds[row].length, 1e-14);
        const double slope = (J.evaluate(row, forward.data()) - J.evaluate(row, backward.data())) / (2 * h);
        EXPECT_NEAR(J.rate(row, velocity.data()), slope, 1e-8);
    }
}
