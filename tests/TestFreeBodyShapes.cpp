// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Shapes of rigid bodies in closed form, and where they fit given positions best.
#include "support/BodySystems.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

RigidBody make(const RigidShape& shape) {
    return freeBody(shape).bodies[0];
}

Points rounded(Points points, double unit) {
    for (Real3& r : points)
        r = {unit * std::round(r.x / unit), unit * std::round(r.y / unit), unit * std::round(r.z / unit)};
    return points;
}

const RigidShape acetonitrile{"acetonitrile",
                              {12, 12, 14, 1, 1, 1},
                              {{0, 0, 0},
                               {0.146, 0, 0},
                               {0.262, 0, 0},
                               {-0.037, 0.103, 0},
                               {-0.037, -0.0515, 0.0892},
                               {-0.037, -0.0515, -0.0892}},
                              6};

TEST(FreeBodyShapes, AreAlongPrincipalAxes) {
    std::vector<RigidShape> shapes(someBodies().begin(), someBodies().begin() + 6);
    shapes.push_back(acetonitrile);
    for (RigidShape shape : shapes)
        for (unsigned seed = 0; seed < 5; seed++) {
            SCOPED_TRACE(shape.name);
            shape.places = moved(shape.places, seed);
            const RigidBody body = make(shape);
            EXPECT_EQ(body.degreesOfFreedom(), shape.degreesOfFreedom);
            double S[3][3] = {};
            Real3 centre;
            for (int i = 0; i < body.size(); i++) {
                const double s[3] = {body.shape[i].x, body.shape[i].y, body.shape[i].z};
                centre += body.mass[i] * body.shape[i];
                for (int k = 0; k < 9; k++)
                    S[k / 3][k % 3] += body.mass[i] * s[k / 3] * s[k % 3];
                for (int j = 0; j < i; j++)
                    EXPECT_NEAR(distance(body.shape[i], body.shape[j]), distance(shape.places[i], shape.places[j]),
                                1e-14);
            }
            if (body.constants.inverseMass > 0) {
                EXPECT_LT(std::sqrt(dot(centre, centre)), 1e-13);
            } else {
                EXPECT_LT(distance(body.shape[body.reference], {}), 1e-15);
            }
            for (int k = 0; k < 3; k++)
                EXPECT_NEAR(S[k][(k + 1) % 3], 0, 1e-13);
            EXPECT_GE(S[0][0], S[1][1] - 1e-14);
            EXPECT_GE(S[1][1], S[2][2] - 1e-14);
            EXPECT_NEAR(body.constants.inertia.x, S[1][1] + S[2][2], 1e-13);
            EXPECT_NEAR(body.constants.inertia.y, S[0][0] + S[2][2], 1e-13);
            EXPECT_NEAR(body.constants.inertia.z, S[0][0] + S[1][1], 1e-13);
            if (body.size() > 3) { // of the same hand
                const auto volume = [](const std::vector<Real3>& r) {
                    return dot(cross(r[1] - r[0], r[2] - r[0]), r[3] - r[0]);
                };
                EXPECT_NEAR(volume(body.shape), volume(shape.places), 1e-15);
            }
        }
    for (int kind : {6, 7})
        EXPECT_EQ(make(someBodies()[kind]).degreesOfFreedom(), someBodies()[kind].degreesOfFreedom);
}

TEST(FreeBodyShapes, RoundedCoordinatesLeaveTheirDegreesOfFreedom) {
    for (double unit : {1e-3, 1e-4}) // of GRO and PDB files
        for (unsigned seed = 0; seed < 60; seed++) {
            RigidShape dioxide = someBodies()[0], nitrile = acetonitrile,
                       ring{"benzene", {12, 12, 12, 12, 12, 12, 1, 1, 1, 1, 1, 1}, benzene(), 6};
            for (RigidShape* shape : {&dioxide, &nitrile, &ring})
                shape->places = rounded(moved(shape->places, seed), unit);
            const RigidBody linear = make(dioxide);
            ASSERT_EQ(linear.degreesOfFreedom(), 5) << seed;
            EXPECT_LT(linear.lineShift, 0.9 * unit);
            for (const Real3& s : linear.shape)
                EXPECT_TRUE(s.y == 0 && s.z == 0);
            for (const RigidShape* shape : {&nitrile, &ring}) {
                const RigidBody body = make(*shape);
                ASSERT_EQ(body.degreesOfFreedom(), 6) << shape->name << seed;
                EXPECT_EQ(body.lineShift, 0);
                EXPECT_LT(fitBody(body, shape->places.data(), Box()).deviation, 1e-14)
                    << "a body is what its positions say";
            }
        }
}

TEST(FreeBodyShapes, AreLinearBelowASmallestMoment) {
    // The centre of CO2 off the line by h: a moment of 12*32/44 h^2.
    for (double factor : {0.99, 1.01}) {
        const double h = std::sqrt(factor * smallestInertia * 44 / (12 * 32));
        const RigidBody body = make({"bent", {16, 12, 16}, {{-0.116, 0, 0}, {0, h, 0}, {0.116, 0, 0}}, 0});
        EXPECT_EQ(body.degreesOfFreedom(), factor < 1 ? 5 : 6);
        EXPECT_NEAR(body.lineShift, factor < 1 ? h * 32 / 44 : 0, 1e-12);
    }
    // Light particles beside a line keep their places, and so do those beside an axis of anchors.
    const RigidBody light = make({"light", {0.1, 0.1, 0.1}, {{0, 0, 0}, {0.07, 0, 0}, {0.03, 0.06, 0}}, 0});
    EXPECT_EQ(light.degreesOfFreedom(), 6);
    EXPECT_EQ(light.lineShift, 0);
    EXPECT_EQ(make({"flag", {0, 0, 0.1}, {{0, 0, 0}, {0, 0, 0.2}, {0.04, 0, 0.1}}, 0}).degreesOfFreedom(), 1);
    // Two anchors on the line of all others, or nearly: nothing moves.
    for (double h : {0.0, 0.001}) {
        const RigidBody body = make({"rod", {0, 12, 0, 16}, {{0, 0, 0}, {0.1, h, 0}, {0.2, 0, 0}, {0.3, 0, 0}}, 0});
        EXPECT_EQ(body.degreesOfFreedom(), 0);
    }
}

/** Mass-weighted squares of distances from a fit's places; anchors have none. */
double squares(const RigidBody& body, const BodyFit& fit, const Points& x) {
    double sum = 0;
    for (int i = 0; i < body.size(); i++) {
        const Real3 d = x[i] - x[body.reference] - fit.origin - rigid::alongAxes(fit.axes, body.shape[i]);
        sum += body.mass[i] * dot(d, d);
    }
    return sum;
}

TEST(FreeBodyShapes, FitWithTheLeastSquares) {
    for (std::size_t kind = 0; kind < 7; kind++)
        for (unsigned seed = 0; seed < 5; seed++) {
            const RigidShape& shape = someBodies()[kind];
            SCOPED_TRACE(shape.name + " " + std::to_string(seed));
            const RigidBody body = make(shape);
            Points x = moved(shape.places, seed);
            EXPECT_LT(fitBody(body, x.data(), Box()).deviation, 1e-14);
            Random random(seed);
            for (std::size_t i = 0; i < x.size(); i++)
                x[i] += shape.masses[i] > 0 ? random.inCube(0.02) : Real3();
            const BodyFit fit = fitBody(body, x.data(), Box());
            EXPECT_FALSE(fit.isMirrored);
            EXPECT_LT(fit.ofAnchors, 1e-14);
            const double least = squares(body, fit, x);
            for (const Real3& axis : {fit.axes.e1, fit.axes.e2, fit.axes.e3})
                for (double h : {-1e-4, 1e-4}) {
                    BodyFit other = fit;
                    if (body.constants.inverseMass > 0)
                        other.origin += h * axis;
                    EXPECT_GE(squares(body, other, x), least);
                    other = fit;
                    if (kind == 6 && distance(axis, fit.axes.e1) > 0) // the axis through both anchors is fixed
                        continue;
                    for (Real3* e : {&other.axes.e1, &other.axes.e2, &other.axes.e3})
                        *e = std::cos(h) * *e + std::sin(h) * cross(axis, *e) +
                             ((1 - std::cos(h)) * dot(axis, *e)) * axis;
                    EXPECT_GE(squares(body, other, x), least * (1 - 1e-14));
                }
            Points placed = x;
            moveToFit(body, fit, placed.data(), Box());
            EXPECT_LT(fitBody(body, placed.data(), Box()).deviation, 1e-14);
            EXPECT_NEAR(fit.deviation, largestDifference(placed, x), 1e-14);
            EXPECT_GT(fit.deviation, shape.masses.size() > 2 ? 1e-4 : -1);
            if (fit.particle >= 0) {
                EXPECT_NEAR(distance(placed[fit.particle], x[fit.particle]), fit.deviation, 1e-14);
            }
        }
}

TEST(FreeBodyShapes, FitThroughTheSidesOfABox) {
    const Box box{{2, 0, 0}, {0.7, 2.2, 0}, {-0.6, 0.9, 2.4}};
    RigidBody body = make(someBodies()[2]);
    body.periodic = true;
    for (unsigned seed = 0; seed < 20; seed++) {
        Random random(seed);
        Points whole = moved(someBodies()[2].places, seed), x = whole;
        for (Real3& r : x)
            r += (double) (random.below(5) - 2) * box.a + (double) (random.below(5) - 2) * box.b +
                 (double) (random.below(5) - 2) * box.c;
        EXPECT_LT(fitBody(body, x.data(), box).deviation, 1e-13);
        const Points images = x;
        x[3] += Real3{0.01, 0, 0};
        whole[3] += Real3{0.01, 0, 0};
        moveToFit(body, fitBody(body, x.data(), box), x.data(), box);
        moveToFit(body, fitBody(body, whole.data(), Box()), whole.data(), Box());
        for (std::size_t i = 0; i < x.size(); i++) // each stays in its image
            EXPECT_LT(distance(x[i] - images[i], whole[i] - moved(someBodies()[2].places, seed)[i]), 1e-13);
    }
}

TEST(FreeBodyShapes, KnowTheirMirrorImages) {
    for (int kind : {0, 1, 2, 4, 6}) {
        SCOPED_TRACE(someBodies()[kind].name);
        const RigidBody body = make(someBodies()[kind]);
        for (double noise : {0.0, 0.003}) {
            Points x = someBodies()[kind].places;
            Random random(2);
            for (std::size_t i = 0; i < x.size(); i++)
                if (x[i] = {x[i].x, x[i].y, -x[i].z}; kind != 6) // anchors have to fit
                    x[i] += random.inCube(noise);
            const BodyFit fit = fitBody(body, moved(x, 7).data(), Box());
            EXPECT_EQ(fit.isMirrored, kind > 1);
        }
    }
}

TEST(FreeBodyShapes, OfPositionsThatAreNotFiniteAreNotFitted) {
    for (const RigidShape& shape : someBodies())
        for (std::size_t i = 0; i < shape.places.size(); i++)
            for (double bad : {std::nan(""), HUGE_VAL}) {
                Points x = shape.places;
                x[i].y = bad;
                EXPECT_FALSE(std::isfinite(fitBody(make(shape), x.data(), Box()).deviation)) << shape.name << i;
            }
}

} // namespace
