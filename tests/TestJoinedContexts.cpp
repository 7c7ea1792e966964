// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Joined rigid bodies in Contexts: checkpoints, serialization, new targets, moving targets, boxes, sites, barostats.
#include "openmm/serialization/XmlSerializer.h"
#include "support/BodySystems.h"
#include "support/IdealGas.h"
#include "support/JoinedBodies.h"
#include "support/Rings.h"
#include "support/StateChecks.h"
#include "support/Statistics.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** On every platform, with Rattle. */
class JoinedContexts : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup), integrator = std::get<2>(setup);
    const Precision precision = precisionOf(platform);

    ConstraintForce& joining(Simulation& s) const {
        return dynamic_cast<ConstraintForce&>(s.system->getForce(0));
    }
    /** What bodies and distances may differ by, nm. */
    double rounding() const {
        return 1e-10 + 100 * precision.position + 1e-3 * precision.force;
    }
    ConstraintTests::Setup exact() const {
        return {isDevice(platform) ? "Reference" : platform, ConstraintIntegrator::MatrixInversion, integrator};
    }
};

TEST_P(JoinedContexts, OfTwoContextsDoNotMix) {
    const JoinedSystem system(someAssemblies());
    expectNotMixed([&](double stepSize) { return system.simulate(setup, stepSize); });
}

TEST_P(JoinedContexts, ReadFromXmlRunOnBitForBit) {
    const JoinedSystem system(someAssemblies());
    Simulation s = system.simulate(setup, 0.001);
    s.integrator->step(10);
    std::stringstream ofSystem, ofIntegrator, ofState;
    XmlSerializer::serialize(s.system.get(), "System", ofSystem);
    XmlSerializer::serialize<Integrator>(s.integrator.get(), "Integrator", ofIntegrator);
    const State state = s.context->getState(State::Positions | State::Velocities);
    std::unique_ptr<System> copy(XmlSerializer::deserialize<System>(ofSystem));
    IntegratorPointer again(dynamic_cast<ConstraintIntegrator*>(XmlSerializer::deserialize<Integrator>(ofIntegrator)));
    ASSERT_NE(again, nullptr);
    Simulation restored(std::move(copy), std::move(again), platform);
    restored.context->setPositions(state.getPositions());
    restored.context->setVelocities(state.getVelocities());
    EXPECT_EQ(restored.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
    s.integrator->step(5);
    restored.integrator->step(5);
    EXPECT_LT(distance(restored.positions(), s.positions()), 1e-12 + 100 * precision.position);
    EXPECT_LT(system.deformation(restored.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(JoinedContexts, TakeNewTargetsOfWhatJoinsThem) {
    const std::string names[] = {"distance", "angle within two bodies", "dihedral of two bodies", "centroids"};
    std::vector<Assembly> all;
    for (const std::string& name : names)
        all.push_back(findAssembly(name));
    const JoinedSystem system(all);
    Simulation bodies = system.simulate(setup, 0.001), distances = system.simulate(exact(), 0.001, Held::ByDistances);
    for (Simulation* s : {&bodies, &distances}) {
        s->integrator->step(3);
        ConstraintForce& force = joining(*s);
        int p[4];
        std::vector<int> one, other;
        double value;
        force.getDistanceParameters(0, p[0], p[1], value);
        force.setDistanceParameters(0, p[0], p[1], value + 0.003);
        force.getAngleParameters(0, p[0], p[1], p[2], value);
        force.setAngleParameters(0, p[0], p[1], p[2], value - 0.01);
        force.getDihedralParameters(0, p[0], p[1], p[2], p[3], value);
        force.setDihedralParameters(0, p[0], p[1], p[2], p[3], value + 0.01);
        force.getCentroidDistanceParameters(0, one, other, value);
        force.setCentroidDistanceParameters(0, one, other, value - 0.003);
        force.updateParametersInContext(*s->context);
    }
    const double expected = distances.integrator->applyConstraints();
    EXPECT_GT(expected, 1e-3);
    EXPECT_NEAR(bodies.integrator->applyConstraints(), expected, rounding());
    EXPECT_LT(distance(bodies.positions(), distances.positions()), rounding());
    bodies.integrator->applyVelocityConstraints();
    distances.integrator->applyVelocityConstraints();
    bodies.integrator->step(10);
    distances.integrator->step(10);
    EXPECT_LT(distance(bodies.positions(), distances.positions()), rounding());
    EXPECT_LT(system.deformation(bodies.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(JoinedContexts, TakeNewShapes) {
    // Larger ones, which still agree on the shared particle
    const JoinedSystem system({findAssembly("ball joint")});
    Simulation s = system.simulate(setup, 0.001);
    s.integrator->step(3);
    JoinedSystem larger = system;
    auto& holding = dynamic_cast<ConstraintForce&>(s.system->getForce(1));
    for (Real3& r : larger.start)
        r = 1.03 * r;
    for (int b = 0; b < 2; b++) {
        Points shape;
        for (int p : larger.bodies[b])
            shape.push_back(larger.start[p]);
        holding.setRigidBodyParameters(b, larger.bodies[b], toVectors(shape));
    }
    holding.updateParametersInContext(*s.context);
    EXPECT_GT(larger.deformation(s.positions()), 1e-3);
    s.integrator->step(5);
    EXPECT_LT(larger.deformation(s.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(JoinedContexts, AreMovedByTargetsThatDoWork) {
    const auto simulate = [&](Held held, const ConstraintTests::Setup& with, double dt) {
        const JoinedSystem system({findAssembly("distance")});
        auto opened = system.toOpenMM(held);
        dynamic_cast<ConstraintForce&>(opened->getForce(0)).setDistanceRate(0, 0.4);
        system.addSprings(*opened, 2000);
        Simulation s(std::move(opened), makeIntegrator(with, dt, 1e-12), std::get<0>(with));
        system.begin(s);
        return s;
    };
    Simulation bodies = simulate(Held::AsBodies, setup, 0.0005),
               distances = simulate(Held::ByDistances, exact(), 0.0005);
    const double before = bodies.energy();
    for (Simulation* s : {&bodies, &distances})
        s->integrator->step(100);
    EXPECT_LT(distance(bodies.positions(), distances.positions()), rounding());
    int i, j;
    double target;
    joining(bodies).getDistanceParameters(0, i, j, target);
    const Vectors x = bodies.positions();
    const Vec3 r = x[i] - x[j];
    EXPECT_NEAR(std::sqrt(r.dot(r)), target + 0.4 * 0.05, 1e-11 + 4 * precision.position);
    const double work = bodies.integrator->getConstraintWork();
    EXPECT_GT(std::abs(work), 1);
    EXPECT_NEAR(work, distances.integrator->getConstraintWork(),
                1e-7 + 100 * (precision.position / 0.0005 + precision.force));
    EXPECT_NEAR(bodies.energy() - before, work, 0.01 * std::abs(work) + 20 * precision.force);
}

TEST_P(JoinedContexts, MoveThroughTheSidesOfABox) {
    std::vector<Assembly> all = {hingeRing(4, true, 7)};
    for (const char* name : {"hinge", "ball joint", "distance", "chain of hinges", "dihedral of two bodies"})
        all.push_back(findAssembly(name));
    const JoinedSystem system(all);
    for (const Vectors& box :
         {Vectors{{2.6, 0, 0}, {0, 2.7, 0}, {0, 0, 2.8}}, Vectors{{2.6, 0, 0}, {0.7, 2.7, 0}, {-0.6, 0.9, 2.8}}}) {
        std::vector<Vectors> ends;
        const auto [inside, images] = wrapped(toVectors(system.start), box);
        for (const Vectors& x : {toVectors(system.start), inside}) {
            auto opened = system.toOpenMM(Held::AsBodies, true);
            opened->setDefaultPeriodicBoxVectors(box[0], box[1], box[2]);
            system.addSprings(*opened, 300, true);
            Simulation s(std::move(opened), makeIntegrator(setup, 0.001, 1e-12), platform);
            s.context->setPositions(x);
            s.context->setVelocities(system.velocities(1, 3));
            s.integrator->applyConstraints();
            s.integrator->applyVelocityConstraints();
            s.integrator->step(50);
            EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), system.degreesOfFreedom());
            ends.push_back(s.positions());
        }
        EXPECT_GT(distance(images, Vectors(images.size())), 1);
        for (std::size_t i = 0; i < images.size(); i++)
            ends[1][i] += images[i];
        EXPECT_LT(distance(ends[0], ends[1]), 1e-9 + 1e4 * precision.position + 0.05 * precision.force);
        EXPECT_LT(system.deformation(ends[0]), 1e-12 + 4 * precision.position);
        EXPECT_GT(distance(ends[0], toVectors(system.start)), 0.02);
    }
}

TEST_P(JoinedContexts, CarryVirtualSites) {
    const JoinedSystem system({findAssembly("hinge")});
    const auto simulate = [&](Held held, const ConstraintTests::Setup& with) {
        auto opened = system.toOpenMM(held);
        const auto &a = system.bodies[0], &b = system.bodies[1];
        const int within = opened->addParticle(0), between = opened->addParticle(0);
        opened->setVirtualSite(within, new ThreeParticleAverageSite(a[2], a[3], a[4], 0.6, 0.3, 0.1));
        opened->setVirtualSite(between, new TwoParticleAverageSite(a[3], b[4], 0.5, 0.5));
        auto* pull = new CustomExternalForce("-200*x+300*y");
        pull->addParticle(within, {});
        pull->addParticle(between, {});
        opened->addForce(pull);
        Simulation s(std::move(opened), makeIntegrator(with, 0.001, 1e-12), std::get<0>(with));
        Vectors x = toVectors(system.start), v = system.velocities(1, 3);
        x.resize(x.size() + 2);
        v.resize(x.size());
        s.context->setPositions(x);
        s.context->computeVirtualSites();
        s.context->setVelocities(v);
        s.integrator->applyVelocityConstraints();
        s.integrator->step(40);
        return s;
    };
    const Simulation bodies = simulate(Held::AsBodies, setup), distances = simulate(Held::ByDistances, exact());
    EXPECT_LT(distance(bodies.positions(), distances.positions()), rounding());
    EXPECT_LT(system.deformation(bodies.positions()), 1e-12 + 4 * precision.position);
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedContexts, testing::ValuesIn(setupsOf("Rattle")),
                         [](const auto& info) { return nameOf(info.param); });

/** Those with data of their own, too. */
class JoinedCheckpoints : public JoinedContexts {};

TEST_P(JoinedCheckpoints, ContinueBitForBit) {
    std::vector<Assembly> all = someAssemblies();
    all.push_back(hingeRing(4, true, 7));
    const JoinedSystem system(all);
    const double tolerance = 1e-11;
    Simulation original = system.simulate(setup, 0.001, Held::AsBodies, tolerance),
               restored = system.simulate(setup, 0.001, Held::AsBodies, tolerance);
    original.integrator->step(7);
    std::stringstream stream;
    original.context->createCheckpoint(stream);
    const Vectors forces = original.integrator->getConstraintForces(),
                  virial = original.integrator->getConstraintVirial();
    const std::vector<double> multipliers = original.integrator->getMultipliers();
    restored.integrator->step(3);
    EXPECT_GT(distance(restored.integrator->getConstraintForces(), forces), 1e-3);
    restored.context->loadCheckpoint(stream);
    EXPECT_EQ(distance(restored.positions(), original.positions()), 0);
    EXPECT_EQ(distance(restored.integrator->getConstraintForces(), forces), 0);
    EXPECT_EQ(distance(restored.integrator->getConstraintVirial(), virial), 0);
    EXPECT_EQ(restored.integrator->getMultipliers(), multipliers);
    original.integrator->step(7);
    restored.integrator->step(7);
    EXPECT_EQ(distance(original.positions(), restored.positions()), 0);
    EXPECT_EQ(distance(original.velocities(), restored.velocities()), 0);
    EXPECT_EQ(distance(original.integrator->getConstraintForces(), restored.integrator->getConstraintForces()), 0);
    EXPECT_EQ(original.integrator->getMultipliers(), restored.integrator->getMultipliers());
}

INSTANTIATE_TEST_SUITE_P(Integrators, JoinedCheckpoints,
                         testing::ValuesIn(bodySetups({"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin",
                                                       "RattleNoseHoover", "ConstraintForce"})),
                         [](const auto& info) { return nameOf(info.param); });

/** "Ensemble": it draws many samples. */
class JoinedBodyEnsembleOfVolumes : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(JoinedBodyEnsembleOfVolumes, IsThatOfAnIdealGasOfMolecules) {
    const std::string platform = std::get<0>(GetParam());
    const int count = 12, samples = isDevice(platform) ? 1000 : 10000;
    const JoinedSystem system(std::vector<Assembly>(count, findAssembly("hinge")));
    const Simulation s = expectVolumeOfAnIdealGas(system.toOpenMM(Held::AsBodies, true), count, toVectors(system.start),
                                                  GetParam(), samples, 0.08);
    EXPECT_LT(system.deformation(s.positions()), 1e-8 + 40 * precisionOf(platform).position);
    EXPECT_GT(distance(s.positions(), toVectors(system.start)), 0.3);
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedBodyEnsembleOfVolumes,
                         testing::ValuesIn(oneSetupOfEach(bodySetups({"GeodesicLangevin"}))),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
