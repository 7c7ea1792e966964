// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Positions that are far off the constraints: applyConstraints() projects them in stages and keeps bond lengths.
// tests/python/test_far_starts.py has a real molecule.
#include "coordinates.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <map>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A chain of four carbons, its dihedral at 180 degrees but for a little. */
const Vectors zigzag = {Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.01), Vec3(0.2, 0, 0.02), Vec3(0.3, 0.1, 0)};
const std::vector<std::pair<int, int>> bonds = {{0, 1}, {1, 2}, {2, 3}}, ends = {{0, 2}, {1, 3}};

double dihedralOf(const Vectors& x) {
    Real3 b[3], G[3];
    for (int s = 0; s < 3; s++)
        b[s] = {x[s][0] - x[s + 1][0], x[s][1] - x[s + 1][1], x[s][2] - x[s + 1][2]};
    return coordinate(CoordinateKind::Dihedral, b, G);
}

double length(const Vectors& x, std::pair<int, int> pair) {
    const Vec3 d = x[pair.first] - x[pair.second];
    return std::sqrt(d.dot(d));
}

class FarStarts : public testing::TestWithParam<Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    const Precision precision = precisionOf(platform);

    static std::unique_ptr<System> chain(bool hasBondedTerms) {
        auto system = std::make_unique<System>();
        for (int i = 0; i < 4; i++)
            system->addParticle(12);
        auto* springs = new HarmonicBondForce();
        auto* bends = new CustomAngleForce("(theta-2)^2");
        for (auto [p, q] : bonds)
            springs->addBond(p, q, 0.15, 1e5);
        for (auto [p, q] : ends)
            bends->addAngle(p, p + 1, q, {});
        if (hasBondedTerms) {
            system->addForce(springs);
            system->addForce(bends);
        } else {
            delete springs;
            delete bends;
        }
        return system;
    }
    Simulation start(ConstraintForce* force, bool hasBondedTerms = true) const {
        auto system = chain(hasBondedTerms);
        system->addForce(force);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform);
        s.context->setPositions(zigzag);
        return s;
    }
    static void expectKept(const Vectors& x, const std::vector<std::pair<int, int>>& pairs) {
        for (const auto& pair : pairs)
            EXPECT_NEAR(length(x, pair), length(zigzag, pair), 1e-3) << pair.first << "-" << pair.second;
    }
};

} // namespace

TEST_P(FarStarts, KeepBondsAndSecondNeighbours) {
    for (double angle : {-1.5, -0.5, 0.5, 1.5}) {
        auto* force = new ConstraintForce();
        force->addDihedral(0, 1, 2, 3, angle);
        Simulation s = start(force);
        const Vectors before = s.positions();
        const double moved = s.integrator->applyConstraints();
        const Vectors x = s.positions();
        EXPECT_NEAR(std::remainder(dihedralOf(x) - angle, 2 * M_PI), 0, 1e-7 + 100 * precision.position);
        expectKept(x, bonds);
        expectKept(x, ends);
        EXPECT_NEAR(moved, distance(x, before), 1e-12 + 2 * precision.position);
        EXPECT_GT(moved, 0.05);
        EXPECT_EQ(s.integrator->applyConstraints(), 0);
        s.integrator->step(3);
    }
}

TEST_P(FarStarts, LetGoOfWhatTheConstraintsContradict) {
    auto* force = new ConstraintForce();
    force->addAngle(0, 1, 2, 2.4); // 40 degrees wider
    force->addDistance(2, 3, 0.2);
    Simulation s = start(force);
    s.integrator->applyConstraints();
    const Vectors x = s.positions();
    EXPECT_NEAR(length(x, {2, 3}), 0.2, 1e-6);
    expectKept(x, {{0, 1}, {1, 2}, {1, 3}});
    auto* stretched = new ConstraintForce(); // longer than the chain: bonds have to give way
    stretched->addDistance(0, 3, 0.6);
    Simulation other = start(stretched);
    other.integrator->applyConstraints();
    EXPECT_NEAR(length(other.positions(), {0, 3}), 0.6, 1e-6);
}

TEST_P(FarStarts, AreOfNoConcernToOtherMolecules) {
    auto system = chain(true);
    for (int i = 0; i < 2; i++)
        system->addParticle(1);
    system->addConstraint(4, 5, 0.1);
    auto* force = new ConstraintForce();
    force->addDihedral(0, 1, 2, 3, 1);
    system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform);
    Vectors x = zigzag;
    x.insert(x.end(), {Vec3(1, 1, 1), Vec3(1.1, 1, 1)});
    s.context->setPositions(x);
    const Vectors before = s.positions();
    s.integrator->applyConstraints();
    for (int i : {4, 5})
        EXPECT_LT(distance({s.positions()[i]}, {before[i]}), 1e-9 + 2 * precision.position);
}

TEST_P(FarStarts, ThatNothingHoldsGoInOneSolve) {
    auto* force = new ConstraintForce();
    force->addDistance(0, 3, 0.6);
    Simulation s = start(force, false);
    s.integrator->applyConstraints();
    EXPECT_NEAR(length(s.positions(), {0, 3}), 0.6, 1e-6);
    EXPECT_LT(distance({s.positions()[1]}, {zigzag[1]}), 1e-6);
}

TEST_P(FarStarts, ThatLeadNowhereChangeNothing) {
    auto* force = new ConstraintForce();
    force->addDistance(0, 1, 0.5);
    force->addDistance(1, 2, 0.2);
    force->addAngle(0, 1, 2, 2);
    force->addDistance(0, 2, 0.31); // not what the angle says
    Simulation s = start(force);
    const Vectors before = s.positions();
    expectAll(messageOf([&] { s.integrator->applyConstraints(); }), {"ConstraintForce with index 2"});
    EXPECT_EQ(distance(s.positions(), before), 0);
}

TEST_P(FarStarts, AreNotProjectedUnasked) {
    auto* force = new ConstraintForce();
    force->addDihedral(0, 1, 2, 3, 1.5);
    force->setParticleNames({"", "", "", "C4"});
    Simulation s = start(force);
    const Vectors before = s.positions();
    const auto step = [&] { return messageOf([&] { s.integrator->step(1); }); };
    for (int i = 0; i < 2; i++)
        expectAll(step(), {"dihedral 0 of the ConstraintForce with index 2", "C4", "degrees from its value",
                           "would move", "setMaxProjection() allows (0.05 nm)", "integrator.applyConstraints()"});
    EXPECT_EQ(distance(s.positions(), before), 0);
    EXPECT_EQ(s.context->getStepCount(), 0);
    s.integrator->applyConstraints();
    EXPECT_EQ(step(), "");
    // The same where the target is what has changed, by little and by much.
    force->setDihedralParameters(0, 0, 1, 2, 3, 1.6);
    force->updateParametersInContext(*s.context);
    EXPECT_EQ(step(), "");
    force->setDihedralParameters(0, 0, 1, 2, 3, 0.2);
    force->updateParametersInContext(*s.context);
    expectAll(step(), {"would move"});
    s.integrator->setMaxProjection(1);
    EXPECT_EQ(s.integrator->getMaxProjection(), 1);
    EXPECT_EQ(step(), "");
    for (double wrong : {0.0, -0.05, std::nan(""), HUGE_VAL})
        expectAll(messageOf([&] { s.integrator->setMaxProjection(wrong); }), {"setMaxProjection", "positive"});
}

TEST_P(FarStarts, AreToldToMinimizeFirst) {
    const auto expectOrder = [&](ConstraintForce* force) {
        Simulation s = start(force);
        const std::string message = messageOf([&] { s.integrator->step(1); });
        const auto first = message.find("openmmconstraints.minimize(context)");
        const auto second = message.find("integrator.applyConstraints(), which only projects");
        EXPECT_NE(second, std::string::npos) << message;
        EXPECT_LT(first, second) << message;
    };
    auto* stretched = new ConstraintForce();
    stretched->addDistance(0, 3, 0.6);
    expectOrder(stretched);
    auto* turned = new ConstraintForce();
    turned->addDihedral(0, 1, 2, 3, 0.3);
    expectOrder(turned);
    auto* body = new ConstraintForce();
    body->addRigidBody({0, 1, 2}, {Vec3(), Vec3(0.3, 0, 0), Vec3(0, 0.3, 0)});
    expectOrder(body);
    auto* groups = new ConstraintForce();
    groups->addCentroidDistance({0, 1}, {2, 3}, 0.6);
    expectOrder(groups);
}

TEST_P(FarStarts, ThatNoProjectionSolvesAreToldOfThatInStagesOnce) {
    auto system = chain(false);
    auto* nowhere = new CustomConstraintForce(1, "(z1-0.1)^2+0.01");
    nowhere->addConstraint({1});
    system->addForce(nowhere);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform);
    s.context->setPositions(zigzag);
    const std::string minimize = "openmmconstraints.minimize(context)", apply = "integrator.applyConstraints()";
    const std::string ofStep = messageOf([&] { s.integrator->step(1); });
    expectAll(ofStep, {minimize, apply});
    EXPECT_LT(ofStep.find(minimize), ofStep.find(apply)) << ofStep;
    const std::string ofCall = messageOf([&] { s.integrator->applyConstraints(); });
    expectAll(ofCall, {"closer to the"});
    EXPECT_EQ(ofCall.find(minimize), std::string::npos) << ofCall;
}

TEST_P(FarStarts, OfACauseThatIsKnownAreToldIt) {
    auto* pulled = new ConstraintForce();
    pulled->addDistance(0, 3, length(zigzag, {0, 3}), 0.01);
    Simulation late = start(pulled);
    EXPECT_EQ(messageOf([&] { late.integrator->step(2); }), "");
    late.context->setTime(20); // as if it had been equilibrated before the pull was added: 0.2 nm
    expectAll(messageOf([&] { late.integrator->step(1); }), {"would move", "startTime=context.getTime()"});
    auto* wrapped = new ConstraintForce();
    wrapped->addDistance(2, 3, length(zigzag, {2, 3}));
    Simulation cut = start(wrapped, false);
    Vectors x = zigzag;
    x[3] -= Vec3(2, 0, 0); // the width of the default box
    cut.context->setPositions(x);
    expectAll(messageOf([&] { cut.integrator->step(1); }), {"setUsesPeriodicBoundaryConditions(True)"});
}

TEST_P(FarStarts, OfAChangedParameterAreNotProjectedUnasked) {
    auto system = chain(true);
    auto* plane = new CustomConstraintForce(1, "z1 - height");
    plane->addGlobalParameter("height", 0.01);
    plane->addConstraint({1});
    system->addForce(plane);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform);
    s.context->setPositions(zigzag);
    s.integrator->step(1);
    s.context->setParameter("height", 0.04);
    s.integrator->step(1);
    s.context->setParameter("height", 0.2);
    const Vectors before = s.positions();
    expectAll(messageOf([&] { s.integrator->step(1); }), {"z1 - height", "would move", "particle 1"});
    EXPECT_EQ(distance(s.positions(), before), 0);
    EXPECT_GT(s.integrator->applyConstraints(), 0.1);
    s.integrator->step(1);
    const Vectors x = s.positions();
    EXPECT_NEAR(x[1][2], 0.2, 1e-7 + 10 * precision.position);
}

/** Whatever the kind: steps and applyConstraints() refuse to drag particles through the box, and name the flag. */
TEST_P(FarStarts, NameTheFlagWhereTheNearestImageFits) {
    for (const char* kind : {"distance", "angle", "dihedral", "centroids"}) {
        if (platform.find("OpenCL") == 0 && std::string(kind) != "centroids") // compiled for each; the host finds it
            continue;
        SCOPED_TRACE(kind);
        const auto startWith = [&](bool takesImages) {
            auto* force = new ConstraintForce();
            const std::string held = kind;
            if (held == "distance")
                force->addDistance(1, 2, length(zigzag, {1, 2}));
            else if (held == "angle")
                force->addAngle(0, 1, 2, 1.58);
            else if (held == "dihedral")
                force->addDihedral(0, 1, 2, 3, 3.0);
            else
                force->addCentroidDistance({0, 1}, {2, 3}, 0.2);
            force->setUsesPeriodicBoundaryConditions(takesImages);
            auto system = chain(false);
            system->addForce(force);
            system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0.3, 2.1, 0), Vec3(-0.4, 0.5, 2.2));
            auto* periodic = new NonbondedForce();
            for (int i = 0; i < 4; i++)
                periodic->addParticle(0, 1, 0);
            periodic->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
            periodic->setCutoffDistance(0.9);
            system->addForce(periodic);
            Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), platform);
            Vectors x = zigzag;
            const std::map<std::string, std::vector<int>> wrapped = {
                {"distance", {2, 3}}, {"angle", {1}}, {"dihedral", {3}}, {"centroids", {2, 3}}};
            for (int i : wrapped.at(kind))
                x[i] -= Vec3(-0.4, 0.5, 2.2);
            s.context->setPositions(x);
            return s;
        };
        Simulation without = startWith(false), with = startWith(true);
        const Vectors before = without.positions();
        for (const auto& call : std::vector<std::function<void()>>{[&] { without.integrator->step(1); },
                                                                   [&] { without.integrator->applyConstraints(); }})
            expectAll(messageOf(call), {"setUsesPeriodicBoundaryConditions(True)"});
        EXPECT_LT(distance(without.positions(), before), 1e-12 + precision.position);
        with.integrator->step(1);
        EXPECT_LT(with.integrator->applyConstraints(), 1e-3);
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, FarStarts, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });
