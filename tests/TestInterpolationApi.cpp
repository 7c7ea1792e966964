// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The API of targets that interpolate with a Context parameter: what is kept, and what is refused.
#include "support/BentChain.h"
#include "support/Messages.h"
#include "support/Xml.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

std::unique_ptr<ConstraintForce> someForce() {
    auto force = std::make_unique<ConstraintForce>();
    EXPECT_EQ(force->addGlobalParameter("lambda", 1.0 / 3), 0); // has no short decimal form
    EXPECT_EQ(force->addGlobalParameter("other", 0), 1);
    force->addDistance(0, 1, 0.1, 0.01, 5);
    force->addAngle(0, 1, 2, 1.5);
    force->addDihedral(0, 1, 2, 3, 3);
    force->addCentroidDistance({0}, {1, 2}, 0.5);
    force->addDistance(1, 2, 0.1);
    force->setDistanceInterpolation(0, "lambda", 0.2 / 3);
    force->setAngleInterpolation(0, "other", 2.0 / 3);
    force->setDihedralInterpolation(0, "lambda", 3.3);
    force->setCentroidDistanceInterpolation(0, "other", 0.7);
    return force;
}

void expectEqual(const ConstraintForce& a, const ConstraintForce& b) {
    ASSERT_EQ(a.getNumGlobalParameters(), b.getNumGlobalParameters());
    for (int i = 0; i < a.getNumGlobalParameters(); i++) {
        EXPECT_EQ(a.getGlobalParameterName(i), b.getGlobalParameterName(i));
        EXPECT_EQ(a.getGlobalParameterDefaultValue(i), b.getGlobalParameterDefaultValue(i)); // every bit
    }
    const auto expectSame = [&](auto get, int count) {
        for (int i = 0; i < count; i++) {
            std::string ofA, ofB;
            double toA, toB;
            (a.*get)(i, ofA, toA);
            (b.*get)(i, ofB, toB);
            EXPECT_EQ(ofA, ofB);
            EXPECT_EQ(toA, toB);
        }
    };
    expectSame(&ConstraintForce::getDistanceInterpolation, a.getNumDistances());
    expectSame(&ConstraintForce::getAngleInterpolation, a.getNumAngles());
    expectSame(&ConstraintForce::getDihedralInterpolation, a.getNumDihedrals());
    expectSame(&ConstraintForce::getCentroidDistanceInterpolation, a.getNumCentroidDistances());
}

TEST(InterpolationApi, SurvivesSerializationAndSetters) {
    const auto force = someForce();
    const std::unique_ptr<ConstraintForce> copy(XmlSerializer::clone(*force));
    expectEqual(*force, *copy);
    EXPECT_EQ(copy->getDistanceRate(0), 0.01);
    force->setDistanceParameters(0, 0, 1, 0.15);
    force->setDistanceRate(0, 0);
    force->setCentroidDistanceParameters(0, {0}, {1}, 0.4);
    expectEqual(*force, *copy); // the interpolation stays
    force->setGlobalParameterName(0, "renamed");
    std::string parameter;
    double value1;
    force->getDihedralInterpolation(0, parameter, value1);
    EXPECT_EQ(parameter, "renamed");
    EXPECT_EQ(value1, 3.3);
    force->getDistanceInterpolation(1, parameter, value1);
    EXPECT_EQ(parameter, "");
    EXPECT_EQ(value1, 0);
    EXPECT_NE(toXml<Force>(*copy, "Force").find("version=\"5\""), std::string::npos);
    ConstraintForce without;
    without.addDistance(0, 1, 0.1);
    EXPECT_NE(toXml<Force>(without, "Force").find("version=\"2\""), std::string::npos) << "earlier releases read it";
}

TEST(InterpolationApi, RefusesParametersThatAreNotThere) {
    const auto force = someForce();
    expectAll(messageOf([&] { force->setDistanceInterpolation(0, "mu", 0.1); }),
              {"setDistanceInterpolation", "\"mu\"", "addGlobalParameter(\"mu\", defaultValue)"});
    EXPECT_NE(messageOf([&] { force->setAngleInterpolation(1, "lambda", 1); }), "");
    EXPECT_NE(messageOf([&] { force->addGlobalParameter("lambda", 1); }), "");
    EXPECT_NE(messageOf([&] { force->addGlobalParameter("", 1); }), "");
    EXPECT_NE(messageOf([&] { force->setGlobalParameterName(0, "other"); }), "");
    EXPECT_NE(messageOf([&] { force->getGlobalParameterName(2); }), "");
}

/** The message of creating a Context for a chain with a Force. */
std::string refusal(const std::function<void(ConstraintForce&, System&)>& add) {
    auto system = makeBentChain();
    auto* force = new ConstraintForce();
    force->addGlobalParameter("lambda", 0.5);
    add(*force, *system);
    system->addForce(force);
    RattleIntegrator integrator(0.001);
    return messageOf([&] { makeContext(*system, integrator, "Reference"); });
}

TEST(InterpolationApi, RefusesWhatADefaultMakesImpossible) {
    expectAll(refusal([](ConstraintForce& force, System&) {
                  force.addDistance(0, 1, 0.1);
                  force.setDistanceInterpolation(0, "lambda", -0.2);
              }),
              {"distance 0", "-0.05 nm", "\"lambda\" at 0.5 (0.1 nm at 0, -0.2 nm at 1)", "stay positive"});
    expectAll(refusal([](ConstraintForce& force, System&) {
                  force.addAngle(0, 1, 2, M_PI);
                  force.setAngleInterpolation(0, "lambda", M_PI);
              }),
              {"angle 0", "between 0 and pi"});
    for (double bad : {(double) NAN, (double) INFINITY})
        expectAll(refusal([bad](ConstraintForce& force, System&) {
                      force.addDihedral(0, 1, 2, 3, 1);
                      force.setDihedralInterpolation(0, "lambda", bad);
                  }),
                  {"dihedral 0", "lambda", "not a number"});
    expectAll(refusal([](ConstraintForce& force, System&) {
                  force.setGlobalParameterDefaultValue(0, NAN);
                  force.addDistance(0, 1, 0.1);
                  force.setDistanceInterpolation(0, "lambda", 0.2);
              }),
              {"distance 0", "\"lambda\"", "nan"});
    EXPECT_EQ(refusal([](ConstraintForce& force, System&) { // numbers beyond are as good as any others
                  force.addDistance(0, 1, -0.1);
                  force.setDistanceInterpolation(0, "lambda", 0.4);
                  force.addAngle(0, 1, 2, 190 * M_PI / 180);
                  force.setAngleInterpolation(0, "lambda", 150 * M_PI / 180);
              }),
              "");
}

TEST(InterpolationApi, RefusesTwoDefaultsOfOneName) {
    const std::string message = refusal([](ConstraintForce&, System& system) {
        auto* other = new ConstraintForce();
        other->addGlobalParameter("lambda", 0.6);
        system.addForce(other);
    });
    expectAll(message, {"lambda", "default"});
}

TEST(InterpolationApi, RefusesWhatARigidBodyHolds) {
    const std::vector<std::string> expected = {"changes with the Context parameter \"lambda\"", "rigid body 0"};
    for (CoordinateKind kind :
         {CoordinateKind::Distance, CoordinateKind::Angle, CoordinateKind::Dihedral, CoordinateKind::Custom}) {
        const std::string message = refusal([kind](ConstraintForce& force, System&) {
            force.addRigidBody({0, 1, 2, 3}, bentChainPositions);
            const double value = valueInBentChain(kind, bentChainPositions);
            constrainBentChain(force, kind, value);
            interpolate(force, kind, 0, "lambda", value);
        });
        expectAll(message, expected);
    }
}

TEST(InterpolationApi, RefusesADerivativeThroughADiscreteFunction) {
    auto system = makeBentChain();
    auto* force = new CustomConstraintForce(2, "distance(p1, p2) - length(n)");
    force->addGlobalParameter("n", 0);
    force->addTabulatedFunction("length", new Discrete1DFunction({0.15, 0.16}));
    force->addConstraint({0, 1});
    system->addForce(force);
    RattleIntegrator integrator(0.001);
    auto context = makeContext(*system, integrator, "Reference");
    context->setPositions(bentChainPositions);
    expectAll(messageOf([&] { integrator.computeParameterDerivatives(); }),
              {"length", "no derivative", "respect to n"});
    integrator.step(1);
}

} // namespace
