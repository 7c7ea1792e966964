// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The work of each constraint that moves in time: what its multipliers do along its rate, of every integrator.
#include "CheckpointIO.h"
#include "StepRecord.h"
#include "support/BentChain.h"
#include "support/Messages.h"
#include <gtest/gtest.h>
#include <numeric>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

using Numbers = std::vector<double>;

/** The bent chain, and a pair beside it, which makes a cluster of another kind. */
struct Moved {
    const double distanceRate = 0.3, dihedralRate = 2, groupRate = 0.2, pairRate = -0.4, heightRate = 0.5;
    /** By constraint, in the order of getMultipliers(). */
    Numbers rates;
    std::unique_ptr<Simulation> simulation;

    explicit Moved(const ConstraintTests::Setup& setup, double stepSize = 0.001) {
        auto system = makeBentChain();
        auto* springs = new HarmonicBondForce();
        springs->addBond(system->addParticle(5), system->addParticle(7), 0.12, 5000);
        auto* force = new ConstraintForce();
        const Vectors& x = bentChainPositions;
        force->addDistance(0, 1, 0.15, distanceRate);
        force->addDistance(1, 2, std::sqrt((x[1] - x[2]).dot(x[1] - x[2])));
        force->addDistance(4, 5, 0.2, pairRate);
        force->addDihedral(0, 1, 2, 3, valueInBentChain(CoordinateKind::Dihedral, x), dihedralRate);
        force->addCentroidDistance({0, 1}, {2, 3}, valueInBentChain(CoordinateKind::Custom, x), groupRate);
        auto* height = new CustomConstraintForce(1, "z1 - h - v*t");
        height->addPerConstraintParameter("h");
        height->addGlobalParameter("v", heightRate);
        height->addConstraint({3}, {x[3][2]});
        for (Force* one : std::initializer_list<Force*>{springs, force, height})
            system->addForce(one);
        rates = {distanceRate, 0, pairRate, dihedralRate, groupRate, heightRate};
        simulation =
            std::make_unique<Simulation>(std::move(system), makeIntegrator(setup, stepSize, 1e-9), std::get<0>(setup));
        Vectors positions = x;
        positions.insert(positions.end(), {Vec3(1, 0, 0), Vec3(1.2, 0, 0)});
        simulation->context->setPositions(positions);
        Vectors velocities = bentChainVelocities;
        velocities.resize(6);
        simulation->context->setVelocities(velocities);
        simulation->integrator->applyVelocityConstraints();
    }
    ConstraintIntegrator& integrator() const {
        return *simulation->integrator;
    }
};

/** Those that hold constraints which move. */
std::vector<ConstraintTests::Setup> everyOther() {
    std::vector<ConstraintTests::Setup> setups = everyIntegrator();
    const auto isNoseHoover = [](const auto& setup) { return std::get<2>(setup) == "RattleNoseHoover"; };
    setups.erase(std::remove_if(setups.begin(), setups.end(), isNoseHoover), setups.end());
    return setups;
}

class ConstraintWorks : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const std::string platform = std::get<0>(GetParam()), integrator = std::get<2>(GetParam());
    const Precision precision = precisionOf(platform);
    bool hasTwoHalves() const {
        return integrator == "Rattle" || integrator == "RattleNoseHoover" || integrator == "ConstraintForce";
    }
};

TEST_P(ConstraintWorks, AreThoseOfTheirMultipliersAlongTheirRates) {
    const Moved moved(GetParam());
    const ConstraintIntegrator& reading = moved.integrator();
    EXPECT_EQ(reading.getConstraintWorks(), Numbers(6)); // before the first step, too
    Numbers expected(6), sizes(6);
    for (int i = 0; i < 40; i++) {
        moved.integrator().step(i == 20 ? 3 : 1);
        if (i == 20) { // not all are read
            const Numbers now = reading.getConstraintWorks();
            for (int k = 0; k < 6; k++)
                expected[k] = now[k];
            continue;
        }
        const Numbers lambda = reading.getMultipliers(),
                      mu = hasTwoHalves() ? reading.getVelocityMultipliers() : lambda;
        for (int k = 0; k < 6; k++) {
            const double step = 0.0005 * moved.rates[k] * (lambda[k] + mu[k]);
            expected[k] += step;
            sizes[k] += std::abs(step);
        }
        const Numbers found = reading.getConstraintWorks();
        ASSERT_EQ(std::accumulate(found.begin(), found.end(), 0.0), reading.getConstraintWork());
        for (int k = 0; k < 6; k++)
            ASSERT_NEAR(found[k], expected[k], (1e-8 + 20 * precision.velocity) * sizes[k] * (hasTwoHalves() ? 1 : 5))
                << k << " after step " << i;
    }
    EXPECT_EQ(reading.getConstraintWorks()[1], 0);
    for (int k : {0, 2, 3, 4, 5})
        EXPECT_GT(sizes[k], 0.01) << k;
}

TEST_P(ConstraintWorks, ContinueFromACheckpoint) {
    const Moved first(GetParam()), second(GetParam());
    first.integrator().step(7);
    std::stringstream checkpoint;
    first.simulation->context->createCheckpoint(checkpoint);
    const Numbers then = first.integrator().getConstraintWorks();
    second.integrator().step(2);
    second.simulation->context->loadCheckpoint(checkpoint);
    EXPECT_EQ(second.integrator().getConstraintWorks(), then);
    first.simulation->context->loadCheckpoint(checkpoint = std::stringstream(checkpoint.str()));
    for (const Moved* one : {&first, &second})
        one->integrator().step(5);
    EXPECT_EQ(second.integrator().getConstraintWorks(), first.integrator().getConstraintWorks());
    EXPECT_NE(first.integrator().getConstraintWorks(), then);
}

INSTANTIATE_TEST_SUITE_P(All, ConstraintWorks, testing::ValuesIn(everyOther()),
                         [](const auto& info) { return nameOf(info.param); });

/** On every platform, by one setup. */
class WorksOnPlatforms : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup = {platform, ConstraintIntegrator::Automatic, "Rattle"};
    const Precision precision = precisionOf(platform);
};

/** The checkpoint of an earlier version, which kept the sum in place of the works. */
std::string asBefore(const std::string& checkpoint) {
    std::ostringstream beginning, old;
    write(beginning, checkpointVersionWithWorks);
    const std::size_t start = checkpoint.find(beginning.str());
    EXPECT_NE(start, std::string::npos);
    std::istringstream stream(checkpoint.substr(start));
    int version = 0;
    std::istringstream bytes(readSealed(stream, version));
    const std::string name = readText(bytes);
    StepSizes sizes;
    for (std::size_t* size : {&sizes.constraints, &sizes.globals, &sizes.places, &sizes.moments})
        read(bytes, *size);
    sizes.hasWorks = true;
    SavedStep saved = SavedStep::read(bytes, 6, sizes);
    Numbers& works = saved.reading.works;
    saved.reading.otherWork = std::accumulate(works.begin(), works.end(), 0.0);
    works.assign(works.size(), 0);
    std::ostringstream written;
    writeText(written, name);
    write(written, sizes.constraints);
    write(written, sizes.globals);
    saved.write(written);
    writeSealed(old, checkpointVersion, written.str());
    return checkpoint.substr(0, start) + old.str();
}

TEST_P(WorksOnPlatforms, OfAnEarlierVersionAreInTheSumOnly) {
    const Moved moved(setup);
    moved.integrator().step(5);
    const double work = moved.integrator().getConstraintWork();
    const Numbers multipliers = moved.integrator().getMultipliers();
    std::ostringstream stream;
    moved.simulation->context->createCheckpoint(stream);
    moved.integrator().step(3);
    const Numbers wholeWorks = moved.integrator().getConstraintWorks();
    const double whole = moved.integrator().getConstraintWork();
    std::istringstream old(asBefore(stream.str()));
    moved.simulation->context->loadCheckpoint(old);
    EXPECT_EQ(moved.integrator().getConstraintWork(), work);
    EXPECT_EQ(moved.integrator().getConstraintWorks(), Numbers(6));
    EXPECT_EQ(moved.integrator().getMultipliers(), multipliers);
    moved.integrator().step(3);
    const Numbers since = moved.integrator().getConstraintWorks();
    const double rounding = (1e-12 + 20 * precision.constraint) * (1 + std::abs(whole));
    EXPECT_NEAR(moved.integrator().getConstraintWork(), whole, rounding);
    EXPECT_NEAR(std::accumulate(since.begin(), since.end(), 0.0), whole - work, rounding);
    EXPECT_NE(since[0], 0);
    std::stringstream again; // and are kept
    moved.simulation->context->createCheckpoint(again);
    moved.integrator().step(1);
    moved.simulation->context->loadCheckpoint(again);
    EXPECT_NEAR(moved.integrator().getConstraintWork(), whole, rounding);
    EXPECT_EQ(moved.integrator().getConstraintWorks(), since);
}

TEST_P(WorksOnPlatforms, AreInTheSumOnlyOnceThereAreOtherConstraints) {
    const Moved moved(setup);
    moved.integrator().step(5);
    const double work = moved.integrator().getConstraintWork();
    auto* other = new ConstraintForce();
    const Vectors x = moved.simulation->positions();
    other->addDistance(2, 3, std::sqrt((x[2] - x[3]).dot(x[2] - x[3])));
    moved.simulation->system->addForce(other);
    moved.simulation->context->reinitialize(true);
    EXPECT_EQ(moved.integrator().getConstraintWork(), work);
    EXPECT_EQ(moved.integrator().getConstraintWorks(), Numbers(7));
    moved.integrator().step(1);
    EXPECT_NE(moved.integrator().getConstraintWorks()[0], 0);
}

TEST_P(WorksOnPlatforms, OfConstraintsThatDependOnEachOtherAreOfThoseThatAreSolved) {
    // A spring that is pulled by two constraints which are the same.
    Numbers works[2];
    for (int copies : {1, 2}) {
        auto system = std::make_unique<System>();
        auto* spring = new HarmonicBondForce();
        spring->addBond(system->addParticle(5), system->addParticle(7), 0.1, 5000);
        system->addForce(spring);
        for (int i = 0; i < copies; i++) {
            auto* force = new ConstraintForce();
            force->addDistance(0, 1, 0.1, 0.5);
            system->addForce(force);
        }
        Simulation s(std::move(system), makeIntegrator(setup, 0.001, 1e-9), platform);
        s.context->setPositions({Vec3(), Vec3(0.1, 0, 0)});
        s.integrator->step(50);
        works[copies - 1] = s.integrator->getConstraintWorks();
    }
    EXPECT_GT(works[0][0], 1);
    EXPECT_NEAR(works[1][0], works[0][0], (1e-9 + 10 * precision.force) * works[0][0]);
    EXPECT_EQ(works[1][1], 0);
}

/** Free pairs in a box, all equal, on their way through its sides: devices exchange them when they sort atoms. Each is
 * pulled apart against the centrifugal force of its own angular momentum L: L^2/2m (1/d1^2 - 1/d0^2). */
TEST_P(WorksOnPlatforms, StayWithTheirConstraintsWhereMoleculesAreExchanged) {
    const int count = 40, steps = 600;
    const double d = 0.1, rate = 0.05, dt = 0.001, reducedMass = 5;
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2));
    auto* force = new ConstraintForce();
    auto* cutoff = new NonbondedForce(); // what makes devices sort, and no force
    cutoff->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    cutoff->setCutoffDistance(0.5);
    Random random(5);
    Vectors x, v;
    Numbers expected;
    const double end = d + rate * dt * steps;
    for (int i = 0; i < count; i++) {
        for (int p = 0; p < 2; p++) {
            system->addParticle(2 * reducedMass);
            cutoff->addParticle(0, 0.1, 0);
        }
        force->addDistance(2 * i, 2 * i + 1, d, rate);
        const Real3 place = random.inCube(1), drift = random.direction();
        const double speed = 0.05 * (i + 1); // of one end relative to the other
        x.emplace_back(place.x + 1, place.y + 1, place.z + 1);
        x.push_back(x.back() + Vec3(d, 0, 0));
        v.push_back(Vec3(drift.x, drift.y, drift.z) * 8 - Vec3(0.5 * rate, 0.5 * speed, 0));
        v.push_back(v.back() + Vec3(rate, speed, 0));
        expected.push_back(0.5 * reducedMass * speed * speed * (d * d / (end * end) - 1));
    }
    system->addForce(force);
    system->addForce(cutoff);
    Simulation s(std::move(system), makeIntegrator(setup, dt, 1e-9), platform);
    s.context->setPositions(x);
    s.context->setVelocities(v);
    for (int block = 0; block < 4; block++) {
        s.integrator->step(steps / 4);
        s.integrator->getConstraintWork(); // readings between make no difference
    }
    const Numbers works = s.integrator->getConstraintWorks();
    for (int i = 0; i < count; i++)
        EXPECT_NEAR(works[i], expected[i], (1e-3 + 3000 * precision.position) * std::abs(expected[i]) + 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Platforms, WorksOnPlatforms, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

class WorksOfFailedSteps : public ConstraintWorks {
protected:
    /** A spring that is pulled, and a particle on a plane until `end`; from then on nothing satisfies its constraint.
     */
    Simulation start(double end) const {
        auto system = std::make_unique<System>();
        auto* spring = new HarmonicBondForce();
        spring->addBond(system->addParticle(5), system->addParticle(7), 0.1, 5000);
        auto* pull = new ConstraintForce();
        pull->addDistance(0, 1, 0.1, 0.5);
        auto* plane = new CustomConstraintForce(1, "select(step(t-end), z1^2+1, z1)");
        plane->addGlobalParameter("end", end);
        plane->addConstraint({system->addParticle(10)});
        for (Force* one : std::initializer_list<Force*>{spring, pull, plane})
            system->addForce(one);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-9), platform);
        s.context->setPositions({Vec3(), Vec3(0.1, 0, 0), Vec3(0.5, 0.5, 0)});
        s.context->setVelocitiesToTemperature(300, 3);
        return s;
    }
};

TEST_P(WorksOfFailedSteps, AreNotCounted) {
    // In the third quarter of the second step, after which the first parts of multiple time steps have succeeded.
    Simulation failing = start(0.0016), expected = start(0.0016);
    EXPECT_NE(messageOf([&] { failing.integrator->step(4); }), "");
    expected.integrator->step(1);
    EXPECT_EQ(failing.context->getStepCount(), 1);
    EXPECT_NE(failing.integrator->getConstraintWork(), 0);
    EXPECT_EQ(failing.integrator->getConstraintWorks(), expected.integrator->getConstraintWorks());
    for (Simulation* s : {&failing, &expected}) {
        s->context->setParameter("end", 100);
        s->integrator->step(2);
    }
    EXPECT_EQ(failing.integrator->getConstraintWorks(), expected.integrator->getConstraintWorks());
}

INSTANTIATE_TEST_SUITE_P(All, WorksOfFailedSteps, testing::ValuesIn(everyOther()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
