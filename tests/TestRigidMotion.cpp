// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in closed form: against the distances of all pairs, and against Euler's equations.
#include "support/DenseOracle.h"
#include "support/FreeFlight.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

const Points eight{{0, 0, 0},       {0.2, 0, 0},       {0.05, 0.2, 0}, {0.1, 0.05, 0.2},
                   {0.2, 0.2, 0.2}, {-0.1, 0.02, 0.1}, {0, 0.03, 0.3}, {0.15, -0.1, 0.1}};

Points firstOf(int n) {
    return Points(eight.begin(), eight.begin() + n);
}

/** Those that the distances of all pairs hold: neither linear nor planar, but for two and three particles. */
const std::vector<RigidShape>& heldByAllPairs() {
    static const std::vector<RigidShape> shapes = {{"pair", {14, 16}, firstOf(2), 5},
                                                   {"triangle", {3, 5, 7}, firstOf(3), 6},
                                                   {"tetrahedron", {10, 12, 14, 16}, firstOf(4), 6},
                                                   {"five", {10, 12, 14, 16, 1}, firstOf(5), 6},
                                                   {"eight", {10, 12, 14, 16, 1, 2, 5, 40}, firstOf(8), 6},
                                                   {"pendulum", {0, 16}, firstOf(2), 2},
                                                   {"anchoredTriangle", {3, 0, 7}, firstOf(3), 3},
                                                   {"anchoredEight", {10, 12, 14, 0, 1, 2, 5, 40}, firstOf(8), 3},
                                                   {"door", {0, 12, 14, 16, 0}, firstOf(5), 1},
                                                   {"held", {0, 0, 14, 16, 0}, firstOf(5), 0}};
    return shapes;
}

/** Those that turn about their centre of mass or one anchor. */
const std::vector<RigidShape>& rotors() {
    static const std::vector<RigidShape> shapes = {
        {"dioxide", {16, 12, 16}, {{-0.116, 0, 0}, {0, 0, 0}, {0.116, 0, 0}}, 5},
        {"water", {16, 1, 1}, {{0, 0, 0}, {0.0757, 0.0586, 0}, {-0.0757, 0.0586, 0}}, 6},
        {"benzene", {12, 12, 12, 12, 12, 12, 1, 1, 1, 1, 1, 1}, benzene(), 6},
        {"square", {10, 10, 10, 10}, {{0, 0, 0}, {0.2, 0, 0}, {0.2, 0.2, 0}, {0, 0.2, 0}}, 6},
        {"eight", {10, 12, 14, 16, 1, 2, 5, 40}, firstOf(8), 6},
        {"pendulum", {0, 16}, firstOf(2), 2},
        {"anchoredEight", {10, 12, 14, 0, 1, 2, 5, 40}, firstOf(8), 3}};
    return shapes;
}

RigidShape turned(RigidShape shape, unsigned seed) {
    shape.places = moved(shape.places, seed);
    return shape;
}

ConstraintSet allDistances(const RigidShape& shape) {
    Pairs pairs;
    for (const auto& [i, j] : allPairs(0, (int) shape.places.size() - 1))
        if (shape.masses[i] > 0 || shape.masses[j] > 0)
            pairs.push_back({i, j});
    ConstraintSet set = distances(shape.places, pairs);
    set.inverseMass = shape.inverseMasses();
    return set;
}

Arrays randomOf(const RigidShape& shape, double size, unsigned seed) {
    Random random(seed);
    Arrays x;
    for (double mass : shape.masses)
        x.push_back(mass > 0 ? random.inCube(size) : Real3());
    return x;
}

TEST(RigidMotion, EqualsShakeAndRattleOfAllPairs) {
    for (const RigidShape& original : heldByAllPairs())
        for (unsigned seed = 0; seed < 5; seed++) {
            SCOPED_TRACE(original.name + " " + std::to_string(seed));
            const RigidShape shape = turned(original, seed);
            const ConstraintSet pairs = allDistances(shape);
            ConstraintSolver body(freeBody(shape), Method::Automatic);
            const Arrays before = randomOf(shape, 0.02, seed + 10), start = randomOf(shape, 1, seed + 20);
            Arrays delta = before, velocity = start;
            const double dt = 0.002;
            ASSERT_EQ(
                body.solvePositions(shape.places.data(), Box(), delta.data(), 1e-12, 10, dt, velocity.data()).outcome,
                Outcome::Converged);
            const Arrays expected = denseSolvePositions(pairs, Box(), shape.places, before).x;
            EXPECT_LT(largestDifference(delta, expected), 1e-13);
            EXPECT_GT(largestDifference(delta, before), 1e-3);
            const std::vector<Real3> impulses = body.getImpulses().lambdaOfBodies;
            for (std::size_t i = 0; i < delta.size(); i++) {
                EXPECT_LT(distance(impulses[i], shape.masses[i] * (expected[i] - before[i])), 1e-12 * 40) << i;
                EXPECT_LT(distance(velocity[i], start[i] + (1 / dt) * (expected[i] - before[i])), 1e-12 / dt) << i;
            }

            velocity = start;
            body.solveVelocities(shape.places.data(), Box(), velocity.data(), dt, 1e-12, 10);
            const Arrays tangent = denseSolveVelocities(pairs, Box(), shape.places, start).x;
            EXPECT_LT(largestDifference(velocity, tangent), 1e-12);
            EXPECT_GT(largestDifference(velocity, start), 0.05);
            for (std::size_t i = 0; i < delta.size(); i++)
                EXPECT_LT(distance(body.getImpulses().muOfBodies[i], shape.masses[i] * (tangent[i] - start[i])),
                          1e-12 * 40);
        }
}

TEST(RigidMotion, EqualsTheAccelerationsOfAllPairs) {
    for (const RigidShape& original : heldByAllPairs()) {
        SCOPED_TRACE(original.name);
        const RigidShape shape = turned(original, 3);
        ConstraintSolver body(freeBody(shape), Method::Automatic), pairs(allDistances(shape), Method::MatrixInversion);
        Arrays v = randomOf(shape, 5, 1);
        body.solveVelocities(shape.places.data(), Box(), v.data(), 1, 1e-12, 10);
        const Arrays given = randomOf(shape, 300, 2);
        Arrays a = given, expected = given;
        ForceMultipliers ofBody, ofPairs;
        body.solveAccelerations(shape.places.data(), Box(), v.data(), a.data(), ofBody, 100);
        ASSERT_EQ(pairs.solveAccelerations(shape.places.data(), Box(), v.data(), expected.data(), ofPairs, 100).outcome,
                  Outcome::Converged);
        EXPECT_LT(largestDifference(a, expected), 1e-8);
        for (std::size_t i = 0; i < a.size(); i++)
            EXPECT_LT(distance(ofBody.ofBodies[i], shape.masses[i] * (expected[i] - given[i])), 1e-7);

        // With velocities v + w/2 and v - w/2 half of the time each: the mean of both, less that of v.
        const Arrays w = [&] {
            Arrays change = randomOf(shape, 5, 4);
            body.solveVelocities(shape.places.data(), Box(), change.data(), 1, 1e-12, 10);
            return change;
        }();
        const auto forcesAt = [&](double factor) {
            Arrays at, none(v.size());
            for (std::size_t i = 0; i < v.size(); i++)
                at.push_back(v[i] + factor * w[i]);
            ForceMultipliers forces;
            body.solveAccelerations(shape.places.data(), Box(), at.data(), none.data(), forces, 100);
            return forces.ofBodies;
        };
        ForceMultipliers spread;
        body.solveVelocitySpread(shape.places.data(), Box(), w.data(), spread, 100);
        const auto faster = forcesAt(0.5), slower = forcesAt(-0.5), mean = forcesAt(0);
        for (std::size_t i = 0; i < a.size(); i++)
            EXPECT_LT(distance(spread.ofBodies[i], 0.5 * (faster[i] + slower[i]) - mean[i]), 1e-9) << i;
    }
}

TEST(RigidMotion, FollowsEulersEquationsAtSecondOrder) {
    for (const RigidShape& original : rotors()) {
        SCOPED_TRACE(original.name);
        const RigidShape shape = turned(original, 2);
        const Arrays v = randomOf(shape, 2, 3);
        const double time = 0.128;
        const Arrays exact = Rotor(shape.masses, shape.places, v).positionsAfter(time, 1000);
        const auto error = [&](int steps) {
            FreeFlight flight(shape, v);
            flight.go(time / steps, steps);
            return largestDifference(flight.x, exact);
        };
        const double coarse = error(64), fine = error(128);
        EXPECT_GT(fine, 1e-9);
        EXPECT_NEAR(coarse / fine, 4, 0.1);
    }
}

TEST(RigidMotion, KeepsEnergyMomentaAndShapeToRounding) {
    for (const RigidShape& original : rotors()) {
        SCOPED_TRACE(original.name);
        const RigidShape shape = turned(original, 2);
        FreeFlight flight(shape, randomOf(shape, 2, 3));
        const double energy = kineticEnergy(shape.masses, flight.v);
        const bool isAnchored = std::count(shape.masses.begin(), shape.masses.end(), 0.0) > 0;
        const Real3 fixed =
            isAnchored ? shape.places[std::find(shape.masses.begin(), shape.masses.end(), 0.0) - shape.masses.begin()]
                       : Real3();
        const auto momentum = [&] {
            Arrays x;
            for (const Real3& r : flight.x)
                x.push_back(r - fixed);
            return angularMomentum(shape.masses, x, flight.v);
        };
        const Real3 before = momentum();
        flight.go(0.002, 10000);
        EXPECT_NEAR(kineticEnergy(shape.masses, flight.v) / energy, 1, 1e-11);
        // Centres of mass are some 40 nm away then.
        EXPECT_LT(distance(momentum(), before), 1e-11 * (isAnchored ? 1 : 100) * std::sqrt(dot(before, before)));
        double deformation = 0;
        for (const auto& [i, j] : allPairs(0, (int) shape.places.size() - 1))
            deformation = std::max(
                deformation, std::abs(distance(flight.x[i], flight.x[j]) - distance(shape.places[i], shape.places[j])));
        EXPECT_LT(deformation, 1e-13);
    }
}

TEST(RigidMotion, TurnsAboutTwoAnchorsByTheSameAngleInEachStep) {
    const RigidShape door = turned(heldByAllPairs()[8], 4);
    const Real3 between = door.places[4] - door.places[0], axis = (1 / std::sqrt(dot(between, between))) * between;
    const double omega = 30, dt = 0.002;
    Arrays v;
    for (const Real3& r : door.places)
        v.push_back(omega * cross(axis, r - door.places[0]));
    FreeFlight flight(door, v);
    flight.go(dt, 100);
    const double angle = 100 * std::asin(omega * dt);
    for (int i = 0; i < 5; i++) {
        const Real3 r = door.places[i] - door.places[0], along = dot(r, axis) * axis, across = r - along;
        EXPECT_LT(distance(flight.x[i],
                           door.places[0] + along + std::cos(angle) * across + std::sin(angle) * cross(axis, across)),
                  1e-12);
    }
}

/** The complete elliptic integral of the first kind, by the arithmetic-geometric mean. @param square  k^2 */
double ellipticK(double square) {
    double a = 1, b = std::sqrt(1 - square);
    while (std::abs(a - b) > 1e-15)
        std::tie(a, b) = std::make_pair((a + b) / 2, std::sqrt(a * b));
    return pi / (2 * a);
}

TEST(RigidMotion, FlipsAboutTheIntermediateAxis) {
    // Dzhanibekov: three pairs of unequal masses on the axes.
    const RigidShape wingNut{"wing nut",
                             {2, 2, 6, 6, 20, 20},
                             {{0.1, 0, 0}, {-0.1, 0, 0}, {0, 0.1, 0}, {0, -0.1, 0}, {0, 0, 0.1}, {0, 0, -0.1}},
                             6};
    const Real3 w{0.02, 20, 0.01}; // about y, nearly
    Arrays v;
    for (const Real3& r : wingNut.places)
        v.push_back(cross(w, r));
    // dn/dt of Jacobi's functions: omega about the intermediate axis is an odd function with half the period 2 K/p
    const Rotor rotor(wingNut.masses, wingNut.places, v);
    const auto& I = rotor.moments();
    const auto& about = rotor.angularVelocity();
    double twiceE = 0, L2 = 0;
    for (int k = 0; k < 3; k++) {
        twiceE += I[k] * about[k] * about[k];
        L2 += I[k] * I[k] * about[k] * about[k];
    }
    double a = I[0], c = I[2];
    if (L2 < twiceE * I[1])
        std::swap(a, c);
    const double p = std::sqrt((c - I[1]) * (L2 - twiceE * a) / (I[0] * I[1] * I[2])),
                 k2 = (I[1] - a) * (twiceE * c - L2) / ((c - I[1]) * (L2 - twiceE * a));
    const double flipTime = 2 * ellipticK(k2) / p;

    const double dt = 0.001;
    FreeFlight flight(wingNut, v);
    std::vector<double> flips;
    double last = 1;
    for (int step = 0; flips.size() < 6 && step < 20000; step++) {
        flight.go(dt, 1);
        // omega about the body's own y: w = (y' x dy'/dt)... of the pair on x: velocity along -z of the body
        const Real3 x = flight.x[0] - flight.x[1], z = flight.x[4] - flight.x[5], dx = flight.v[0] - flight.v[1];
        const double now = -dot(dx, z) / std::sqrt(dot(x, x) * dot(z, z));
        if (now * last < 0)
            flips.push_back(dt * (step + last / (last - now)));
        last = now;
    }
    ASSERT_EQ(flips.size(), 6u);
    EXPECT_GT(flipTime, 100 * dt);
    for (std::size_t n = 1; n < flips.size(); n++)
        EXPECT_NEAR((flips[n] - flips[n - 1]) / flipTime, 1, 1e-3) << n;
}

TEST(RigidMotion, PrecessesAsASymmetricTop) {
    // The axis of symmetry turns about the angular momentum with the frequency |L|/I.
    const RigidShape top{
        "ammonia", {14, 1, 1, 1}, {{0, 0, 0}, {0.094, 0, 0.038}, {-0.047, 0.0814, 0.038}, {-0.047, -0.0814, 0.038}}, 6};
    RigidShape exact = top;
    exact.places[2].y = 0.094 * std::sqrt(0.75);
    exact.places[3].y = -exact.places[2].y;
    Arrays v;
    for (const Real3& r : exact.places)
        v.push_back(cross({6, 0, 10}, r));
    const Rotor rotor(exact.masses, exact.places, v);
    const auto direction = [](const Arrays& x) {
        const Real3 along = x[0] - (1.0 / 3) * (x[1] + x[2] + x[3]);
        return (1 / std::sqrt(dot(along, along))) * along;
    };
    const Arrays tangent = rotor.velocities();
    Real3 centre, drift;
    for (int i = 0; i < 4; i++) {
        centre += (exact.masses[i] / 17) * exact.places[i];
        drift += (exact.masses[i] / 17) * tangent[i];
    }
    const Real3 L = angularMomentum(exact.masses, exact.places, tangent) - 17 * cross(centre, drift);
    const double size = std::sqrt(dot(L, L));
    const auto error = [&](double dt) {
        FreeFlight flight(exact, v);
        flight.go(dt, (int) std::lround(0.8 / dt));
        const double angle = 0.8 * size / rotor.moments()[0];
        const Real3 axis = (1 / size) * L, n = direction(exact.places), along = dot(n, axis) * axis, across = n - along;
        return distance(direction(flight.x), along + std::cos(angle) * across + std::sin(angle) * cross(axis, across));
    };
    EXPECT_NEAR(rotor.moments()[0], rotor.moments()[1], 1e-15);
    const double coarse = error(0.004), fine = error(0.002);
    EXPECT_LT(fine, 0.01);
    EXPECT_NEAR(coarse / fine, 4, 0.1);
}

TEST(RigidMotion, LeavesARigidDisplacementAsItIs) {
    // It needs no constraint force, whatever the axis and the angle below 90 degrees.
    std::vector<RigidShape> shapes(rotors().begin(), rotors().end());
    shapes.push_back({"needle", {10, 10, 1, 1}, {{0, 0, 0}, {1, 0, 0}, {0.4, 0.03, 0}, {0.6, 0, 0.02}}, 6});
    for (const RigidShape& original : shapes)
        for (unsigned seed = 0; seed < 200; seed++) {
            const RigidShape shape = turned(original, seed);
            Random random(seed + 1);
            Real3 axis = random.direction();
            const auto anchor = std::find(shape.masses.begin(), shape.masses.end(), 0.0) - shape.masses.begin();
            const RigidBody body = freeBody(shape).bodies[0];
            if (body.isLinear) { // no turn about itself
                const Real3 along = shape.places[1] - shape.places[0];
                axis = axis - (dot(axis, along) / dot(along, along)) * along;
                axis = (1 / std::sqrt(dot(axis, axis))) * axis;
            }
            const bool isAnchored = anchor < (int) shape.masses.size();
            const Real3 origin = isAnchored ? shape.places[anchor] : shape.places[0],
                        shift = isAnchored ? Real3() : random.inCube(0.1);
            const double degrees = random.uniform(0, 89.9);
            const double angle = degrees * pi / 180;
            Arrays expected;
            for (const Real3& r : shape.places) {
                const Real3 d = r - origin, along = dot(d, axis) * axis, across = d - along;
                expected.push_back(shift + (std::cos(angle) - 1) * across + std::sin(angle) * cross(axis, d));
            }
            Arrays delta = expected;
            ConstraintSolver solver(freeBody(shape), Method::Automatic);
            const SolveReport report = solver.solvePositions(shape.places.data(), Box(), delta.data(), 1e-12, 10);
            ASSERT_EQ(report.outcome, Outcome::Converged) << shape.name << " " << degrees;
            EXPECT_LT(largestDifference(delta, expected), 1e-12) << shape.name << " " << degrees;
        }
}

TEST(RigidMotion, HasTheGradientsOfATurnThatDifferencesGive) {
    for (const RigidShape& original : rotors()) {
        SCOPED_TRACE(original.name);
        const RigidShape shape = turned(original, 6);
        std::vector<int> particles(shape.places.size());
        std::iota(particles.begin(), particles.end(), 0);
        const RigidBody body = makeRigidBody(particles, shape.places, shape.inverseMasses());
        const Arrays gradients = randomOf(shape, 1, 7);
        const auto rotationAt = [&](const Real3& turn) {
            Real3 v;
            EXPECT_TRUE(rigid::solveRotation(body.constants, rigid::angularMomentOf(body.constants, turn), &v));
            return v;
        };
        const auto valueAt = [&](const Real3& turn) {
            const Real3 v = rotationAt(turn);
            double sum = 0;
            for (std::size_t i = 0; i < gradients.size(); i++)
                sum += dot(gradients[i], rigid::rotated(v, body.shape[i]));
            return sum;
        };
        const Real3 turn = rigid::scaledBy(body.constants.radii, {0.3, -0.2, 0.4}), v = rotationAt(turn);
        Real3 torque;
        for (std::size_t i = 0; i < gradients.size(); i++)
            torque += cross(rigid::rotated(v, body.shape[i]), gradients[i]);
        const Real3 found = rigid::turnGradient(body.constants, v, torque);
        const double h = 1e-5;
        for (const Real3& e : {Real3{1, 0, 0}, Real3{0, 1, 0}, Real3{0, 0, 1}}) {
            if (dot(e, body.constants.inverseInertia) == 0)
                continue;
            EXPECT_NEAR(dot(e, found), (valueAt(turn + h * e) - valueAt(turn - h * e)) / (2 * h), 1e-6);
        }
    }
}

TEST(RigidMotion, EndsAtNinetyDegrees) {
    // About a principal axis SHAKE turns by asin(omega dt).
    for (const RigidShape& original : rotors()) {
        SCOPED_TRACE(original.name);
        const RigidShape shape = turned(original, 6);
        const RigidBody body = freeBody(shape).bodies[0];
        Real3 centre;
        for (std::size_t i = 0; i < shape.masses.size(); i++)
            centre += shape.masses[i] / body.totalMass * shape.places[i];
        if (original.name.find("nchor") != std::string::npos || original.name == "pendulum")
            centre = shape.places[body.reference];
        const BodyFit fit = fitBody(body, shape.places.data(), Box());
        for (double turn : {0.5, 0.99, 1.01, 3.0}) {
            Arrays delta;
            for (std::size_t i = 0; i < shape.places.size(); i++)
                delta.push_back(shape.masses[i] > 0 ? turn * cross(fit.axes.e3, shape.places[i] - centre) : Real3());
            ConstraintSolver solver(freeBody(shape), Method::Automatic);
            const SolveReport report = solver.solvePositions(shape.places.data(), Box(), delta.data(), 1e-12, 10);
            EXPECT_EQ(report.outcome, turn < 1 ? Outcome::Converged : Outcome::NotConverged) << turn;
            if (turn > 1) {
                EXPECT_EQ(report.body, 0);
                EXPECT_NEAR(report.rotation, turn, 1e-9);
                continue;
            }
            for (std::size_t i = 0; i < shape.places.size(); i++) {
                const Real3 r = shape.places[i] - centre, along = dot(r, fit.axes.e3) * fit.axes.e3, across = r - along;
                EXPECT_LT(
                    distance(delta[i], along + std::sqrt(1 - turn * turn) * across + turn * cross(fit.axes.e3, r) - r),
                    1e-12);
            }
        }
    }
}

} // namespace
