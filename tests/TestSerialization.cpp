// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "OpenMMConstraints.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "support/Xml.h"
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <tuple>
#include <type_traits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

/** The message of the exception that reading `xml` throws, with `from` replaced by `to` first. */
template <class T>
static std::string failure(std::string xml, const std::string& from, const std::string& to) {
    const size_t position = xml.find(from);
    if (position == std::string::npos)
        return "the text does not contain " + from;
    xml.replace(position, from.size(), to);
    try {
        fromXml<T>(xml);
    } catch (const OpenMMException& error) {
        return error.what();
    }
    return "no exception";
}

static ConstraintForce someForce(bool withStartTimes = false) {
    ConstraintForce force;
    force.setForceGroup(3);
    force.setName("rings");
    force.setUsesPeriodicBoundaryConditions(true);
    force.addDistance(0, 1, 0.1);
    force.addDistance(5, 2, 1.0 / 3.0); // has no short decimal form
    force.addAngle(0, 1, 2, 2.0 / 3.0);
    force.addDihedral(3, 1, 4, 5, -1.0 / 7.0);
    force.addDistance(3, 4, 0.2, 1.0 / 11.0);
    force.addAngle(0, 2, 1, 1.0, -1.0 / 13.0);
    force.addDihedral(0, 1, 2, 3, 1.0, 3.0);
    force.addCentroidDistance({0, 3}, {1, 4, 5}, 1.0 / 17.0, 1.0 / 19.0);
    if (withStartTimes) {
        force.setDistanceRate(2, 1.0 / 11.0, 1e3 / 3.0);
        force.setAngleRate(1, -1.0 / 13.0, -1e3 / 7.0);
        force.setDihedralRate(1, 3.0, 1e9 / 3.0);
        force.setCentroidDistanceRate(0, 1.0 / 19.0, 0.1);
    }
    force.addRigidBody({2, 0, 5}, {Vec3(0, 0, 1.0 / 3), Vec3(0.1, 0, 0), Vec3(-1.0 / 7, 1, 2)});
    return force;
}

static void expectEqual(const ConstraintForce& a, const ConstraintForce& b) {
    EXPECT_EQ(a.getParticleNames(), b.getParticleNames());
    EXPECT_EQ(a.getBonds(), b.getBonds());
    std::vector<int> particlesA, particlesB;
    std::vector<Vec3> positionsA, positionsB;
    a.getReferencePositions(particlesA, positionsA);
    b.getReferencePositions(particlesB, positionsB);
    EXPECT_EQ(particlesA, particlesB);
    EXPECT_EQ(positionsA, positionsB); // every bit
    EXPECT_EQ(a.getForceGroup(), b.getForceGroup());
    EXPECT_EQ(a.getName(), b.getName());
    EXPECT_EQ(a.usesPeriodicBoundaryConditions(), b.usesPeriodicBoundaryConditions());
    ASSERT_EQ(a.getNumDistances(), b.getNumDistances());
    for (int i = 0; i < a.getNumDistances(); i++) {
        int a1, a2, b1, b2;
        double distanceA, distanceB;
        a.getDistanceParameters(i, a1, a2, distanceA);
        b.getDistanceParameters(i, b1, b2, distanceB);
        EXPECT_EQ(a1, b1);
        EXPECT_EQ(a2, b2);
        EXPECT_EQ(distanceA, distanceB); // every bit
        EXPECT_EQ(a.getDistanceRate(i), b.getDistanceRate(i));
        EXPECT_EQ(a.getDistanceStartTime(i), b.getDistanceStartTime(i));
    }
    ASSERT_EQ(a.getNumAngles(), b.getNumAngles());
    for (int i = 0; i < a.getNumAngles(); i++) {
        int a1, a2, a3, b1, b2, b3;
        double angleA, angleB;
        a.getAngleParameters(i, a1, a2, a3, angleA);
        b.getAngleParameters(i, b1, b2, b3, angleB);
        EXPECT_EQ(std::tie(a1, a2, a3, angleA), std::tie(b1, b2, b3, angleB));
        EXPECT_EQ(a.getAngleRate(i), b.getAngleRate(i));
        EXPECT_EQ(a.getAngleStartTime(i), b.getAngleStartTime(i));
    }
    ASSERT_EQ(a.getNumDihedrals(), b.getNumDihedrals());
    for (int i = 0; i < a.getNumDihedrals(); i++) {
        int a1, a2, a3, a4, b1, b2, b3, b4;
        double angleA, angleB;
        a.getDihedralParameters(i, a1, a2, a3, a4, angleA);
        b.getDihedralParameters(i, b1, b2, b3, b4, angleB);
        EXPECT_EQ(std::tie(a1, a2, a3, a4, angleA), std::tie(b1, b2, b3, b4, angleB));
        EXPECT_EQ(a.getDihedralRate(i), b.getDihedralRate(i));
        EXPECT_EQ(a.getDihedralStartTime(i), b.getDihedralStartTime(i));
    }
    ASSERT_EQ(a.getNumCentroidDistances(), b.getNumCentroidDistances());
    for (int i = 0; i < a.getNumCentroidDistances(); i++) {
        std::vector<int> a1, a2, b1, b2;
        double distanceA, distanceB;
        a.getCentroidDistanceParameters(i, a1, a2, distanceA);
        b.getCentroidDistanceParameters(i, b1, b2, distanceB);
        EXPECT_EQ(std::tie(a1, a2, distanceA), std::tie(b1, b2, distanceB));
        EXPECT_EQ(a.getCentroidDistanceRate(i), b.getCentroidDistanceRate(i));
        EXPECT_EQ(a.getCentroidDistanceStartTime(i), b.getCentroidDistanceStartTime(i));
    }
    ASSERT_EQ(a.getNumRigidBodies(), b.getNumRigidBodies());
    for (int i = 0; i < a.getNumRigidBodies(); i++) {
        std::vector<int> particlesA, particlesB;
        std::vector<Vec3> positionsA, positionsB;
        a.getRigidBodyParameters(i, particlesA, positionsA);
        b.getRigidBodyParameters(i, particlesB, positionsB);
        EXPECT_EQ(particlesA, particlesB);
        EXPECT_EQ(positionsA, positionsB);
    }
}

TEST(Serialization, KeepsEveryFieldOfAForce) {
    for (bool withStartTimes : {false, true}) {
        const ConstraintForce force = someForce(withStartTimes);
        expectEqual(force, dynamic_cast<ConstraintForce&>(*fromXml<Force>(toXml<Force>(force, "Force"))));
        expectEqual(force, ConstraintForce(force));
    }
}

TEST(Serialization, WritesWhatEarlierReleasesReadWhereNothingNewIsUsed) {
    ConstraintForce force = someForce();
    const auto isVersion = [&](const char* version) {
        return toXml<Force>(force, "Force").find(version) != std::string::npos;
    };
    EXPECT_TRUE(isVersion(" version=\"2\""));
    force.setParticleNames({"CA"});
    EXPECT_TRUE(isVersion(" version=\"3\""));
    force.setAngleRate(0, 0, 5);
    EXPECT_TRUE(isVersion(" version=\"4\""));
    force.setParticleNames({});
    EXPECT_TRUE(isVersion(" version=\"4\""));
}

TEST(Serialization, KeepsNamesOfParticlesWhateverTheyHold) {
    std::string everyByte;
    for (int c = 0; c < 256; c++)
        everyByte += (char) c;
    for (const std::vector<std::string>& names :
         {std::vector<std::string>{"A:LEU3:CA", "", everyByte, "C5'A", "a&b", "&#x41;", "100%", "%41", " "},
          {"", ""}}) {
        ConstraintForce force = someForce();
        force.setParticleNames(names);
        const std::string xml = toXml<Force>(force, "Force");
        expectEqual(force, dynamic_cast<ConstraintForce&>(*fromXml<Force>(xml)));
        expectEqual(force, ConstraintForce(force));
    }
}

TEST(Serialization, KeepsReferencePositions) {
    ConstraintForce force = someForce();
    EXPECT_EQ(toXml<Force>(force, "Force").find("ReferencePositions"), std::string::npos); // for earlier releases
    force.setReferencePositions({7, 2}, {Vec3(1.0 / 3, -1e-7 / 7, 0), Vec3(1e3 / 7, 2, 0.1)});
    expectEqual(force, dynamic_cast<ConstraintForce&>(*fromXml<Force>(toXml<Force>(force, "Force"))));
    expectEqual(force, ConstraintForce(force));
}

TEST(Serialization, KeepsBonds) {
    ConstraintForce force = someForce();
    force.setBonds({{0, 1}, {1, 2}, {5, 1000000}});
    const std::string xml = toXml<Force>(force, "Force");
    expectEqual(force, dynamic_cast<ConstraintForce&>(*fromXml<Force>(xml)));
    expectEqual(force, ConstraintForce(force));
    for (const char* wrong : {"0 1 1", "0 1 1 x", "0 1 1.5 2", "0,1", "0 1 1 99999999999"})
        EXPECT_NE(failure<Force>(xml, "0 1 1 2 5 1000000", wrong).find("pairs of whole numbers"), std::string::npos);
}

TEST(Serialization, KeepsAForceInsideASystem) {
    System system;
    for (int i = 0; i < 6; i++)
        system.addParticle(1.0);
    system.addForce(new ConstraintForce(someForce()));
    const std::unique_ptr<System> copy = fromXml<System>(toXml(system, "System"));
    ASSERT_EQ(copy->getNumForces(), 1);
    expectEqual(someForce(), dynamic_cast<ConstraintForce&>(copy->getForce(0)));
}

template <class T>
class IntegratorSerialization : public testing::Test {};
using Integrators =
    testing::Types<RattleIntegrator, ShakeIntegrator, RattleLangevinIntegrator, RattleNoseHooverIntegrator,
                   RattleMTSIntegrator, RattleMTSLangevinIntegrator, ConstraintForceIntegrator>;
TYPED_TEST_SUITE(IntegratorSerialization, Integrators);

template <class T>
static T make(double stepSize) {
    if constexpr (std::is_same_v<T, RattleLangevinIntegrator> || std::is_same_v<T, RattleNoseHooverIntegrator>)
        return T(310, 2, stepSize);
    else if constexpr (std::is_same_v<T, RattleMTSLangevinIntegrator>)
        return T(310, 2, stepSize, {{0, 1}});
    else if constexpr (std::is_same_v<T, RattleMTSIntegrator>)
        return T(stepSize, {{0, 1}});
    else
        return T(stepSize);
}

template <class T>
static void configure(T& integrator) {
    integrator.setConstraintTolerance(3e-9);
    integrator.setSolver(ConstraintIntegrator::MatrixInversion);
    integrator.setMaxIterations(77);
    integrator.setWarmStart(true);
    integrator.setIntegrationForceGroups(6);
}

TYPED_TEST(IntegratorSerialization, KeepsEveryField) {
    auto integrator = make<TypeParam>(0.0013);
    configure(integrator);
    const std::unique_ptr<Integrator> base = fromXml<Integrator>(toXml<Integrator>(integrator, "Integrator"));
    const TypeParam& copy = dynamic_cast<TypeParam&>(*base);
    EXPECT_EQ(copy.getStepSize(), 0.0013);
    EXPECT_EQ(copy.getConstraintTolerance(), 3e-9);
    EXPECT_EQ(copy.getSolver(), ConstraintIntegrator::MatrixInversion);
    EXPECT_EQ(copy.getMaxIterations(), 77);
    EXPECT_TRUE(copy.getWarmStart());
    EXPECT_EQ(copy.getIntegrationForceGroups(), 6);
}

TYPED_TEST(IntegratorSerialization, KeepsEverySolver) {
    for (auto solver :
         {ConstraintIntegrator::Automatic, ConstraintIntegrator::Iterative, ConstraintIntegrator::MatrixInversion}) {
        auto integrator = make<TypeParam>(0.001);
        integrator.setSolver(solver);
        const std::unique_ptr<Integrator> base = fromXml<Integrator>(toXml<Integrator>(integrator, "Integrator"));
        EXPECT_EQ(dynamic_cast<TypeParam&>(*base).getSolver(), solver);
    }
}

TYPED_TEST(IntegratorSerialization, RefusesAnUnknownVersionAndMalformedFields) {
    const auto integrator = make<TypeParam>(0.001);
    const std::string xml = toXml<Integrator>(integrator, "Integrator");
    // The declaration of the XML file has a version too.
    EXPECT_NE(failure<Integrator>(xml, "version=\"1\"", "version=\"7\"").find("version 7"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "solver=\"Automatic\"", "solver=\"Magic\"").find("Magic"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "maxIterations=\"500\"", "maxIterations=\"5x\"").find("5x"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "stepSize=", "stepsize=").find("stepSize"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "stepSize=\"", "stepSize=\"-").find("step size"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "stepSize=\"", "stepSize=\"1e-160\" was=\"").find("1e-150"), std::string::npos);
}

TEST(Serialization, KeepsTemperatureFrictionSeedAndGeodesicSteps) {
    RattleLangevinIntegrator integrator(1000.0 / 3, 1.0 / 7, 0.001);
    integrator.setRandomNumberSeed(-12345);
    EXPECT_EQ(toXml<Integrator>(integrator, "Integrator").find("geodesic"), std::string::npos);
    integrator.setNumGeodesicSteps(3);
    const std::string xml = toXml<Integrator>(integrator, "Integrator");
    const std::unique_ptr<Integrator> base = fromXml<Integrator>(xml);
    const auto& copy = dynamic_cast<RattleLangevinIntegrator&>(*base);
    EXPECT_EQ(copy.getTemperature(), 1000.0 / 3); // every bit
    EXPECT_EQ(copy.getFriction(), 1.0 / 7);
    EXPECT_EQ(copy.getRandomNumberSeed(), -12345);
    EXPECT_EQ(copy.getNumGeodesicSteps(), 3);
    EXPECT_NE(failure<Integrator>(xml, "geodesicSteps=\"", "geodesicSteps=\"-").find("-3"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "temperature=\"", "temperature=\"-").find("temperature"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "friction=\"", "friction=\"x").find("friction"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "randomSeed=", "seed=").find("randomSeed"), std::string::npos);
}

TEST(Serialization, KeepsTheGroupsOfSeveralTimeSteps) {
    const MultipleTimeSteps::Groups groups = {{7, 2}, {0, 6}, {31, 1}};
    const RattleMTSIntegrator integrator(0.004, groups);
    const std::string xml = toXml<Integrator>(integrator, "Integrator");
    const std::unique_ptr<Integrator> base = fromXml<Integrator>(xml);
    EXPECT_EQ(dynamic_cast<RattleMTSIntegrator&>(*base).getGroups(), groups);
    EXPECT_EQ(base->getStepSize(), 0.004);
    EXPECT_NE(failure<Integrator>(xml, "substeps=\"6", "substeps=\"5").find("multiple of 2"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "substeps=\"6", "substeps=\"x").find("substeps"), std::string::npos);

    RattleMTSLangevinIntegrator langevin(1000.0 / 3, 1.0 / 7, 0.004, groups);
    langevin.setRandomNumberSeed(-12345);
    const std::unique_ptr<Integrator> other = fromXml<Integrator>(toXml<Integrator>(langevin, "Integrator"));
    const auto& copy = dynamic_cast<RattleMTSLangevinIntegrator&>(*other);
    EXPECT_EQ(copy.getGroups(), groups);
    EXPECT_EQ(copy.getTemperature(), 1000.0 / 3); // every bit
    EXPECT_EQ(copy.getFriction(), 1.0 / 7);
    EXPECT_EQ(copy.getRandomNumberSeed(), -12345);
}

TEST(Serialization, KeepsTheNoseHooverChain) {
    const RattleNoseHooverIntegrator integrator(1000.0 / 3, 1.0 / 7, 0.001, 5, 2, 3);
    const std::string xml = toXml<Integrator>(integrator, "Integrator");
    const std::unique_ptr<Integrator> base = fromXml<Integrator>(xml);
    const auto& copy = dynamic_cast<RattleNoseHooverIntegrator&>(*base);
    EXPECT_EQ(copy.getTemperature(), 1000.0 / 3); // every bit
    EXPECT_EQ(copy.getCollisionFrequency(), 1.0 / 7);
    EXPECT_EQ(copy.getChainLength(), 5);
    EXPECT_EQ(copy.getNumMultiTimeSteps(), 2);
    EXPECT_EQ(copy.getNumYoshidaSuzukiTimeSteps(), 3);
    EXPECT_NE(failure<Integrator>(xml, "temperature=\"", "temperature=\"-").find("temperature"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "chainLength=\"5", "chainLength=\"0").find("chainLength"), std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "numYoshidaSuzuki=\"3", "numYoshidaSuzuki=\"4").find("numYoshidaSuzuki"),
              std::string::npos);
    EXPECT_NE(failure<Integrator>(xml, "numMTS=", "substeps=").find("numMTS"), std::string::npos);
}

TEST(Serialization, RefusesMalformedNames) {
    ConstraintForce force;
    force.setParticleNames({"a b"});
    const std::string xml = toXml<Force>(force, "Force");
    for (const char* wrong : {"a%2", "a%", "a%zz"})
        EXPECT_NE(failure<Force>(xml, "a%20b", wrong).find("%"), std::string::npos);
    EXPECT_NE(failure<Force>(xml, "ParticleNames", "Names").find("ParticleNames"), std::string::npos);
    EXPECT_NE(failure<Force>(xml, "version=\"3\"", "version=\"8\"").find("version 2 to 7"), std::string::npos);
}

TEST(Serialization, RefusesAForceOfAnUnknownVersionOrWithMalformedFields) {
    const std::string xml = toXml<Force>(someForce(), "Force");
    EXPECT_NE(failure<Force>(xml, "version=\"2\"", "version=\"8\"").find("version 8"), std::string::npos);
    EXPECT_NE(failure<Force>(xml, "p1=\"0\"", "p1=\"zero\"").find("zero"), std::string::npos);
    EXPECT_NE(failure<Force>(xml, "p1=\"0\"", "q=\"0\"").find("p1"), std::string::npos);
    EXPECT_NE(failure<Force>(xml, "d=\".1\"", "d=\"\"").find("'d'"), std::string::npos);
    EXPECT_NE(failure<Force>(xml, "usesPeriodic=\"1\"", "usesPeriodic=\"2\"").find("usesPeriodic"), std::string::npos);
    const std::string later = toXml<Force>(someForce(true), "Force");
    EXPECT_NE(failure<Force>(later, "startTime=\"", "startTime=\"noon").find("startTime"), std::string::npos);
}
