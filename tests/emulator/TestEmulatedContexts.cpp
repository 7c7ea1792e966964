// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Contexts on a driver that is strict: OpenMM leaves no CUDA context current, so whatever reaches the device outside of
// a step has to choose its own, whichever Contexts there are and whichever thread calls.
#include "Emulated.h"
#include <functional>
#include <numeric>
#include <sstream>
#include <thread>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

using Numbers = std::vector<double>;
constexpr auto solver = ConstraintIntegrator::MatrixInversion;
constexpr auto platform = "CUDAMixed";
const char* const integrators[] = {
    "Rattle",           "Shake",     "RattleLangevin",   "GeodesicLangevin", "ConstraintForce",
    "RattleNoseHoover", "RattleMTS", "RattleMTSLangevin"};
constexpr int firstOfBody = 12, numOfBody = 5;

/** A cluster for a thread and one for a block, a body that distances hold and whose mirror image they hold, too, a
 *  declared body, a length that a parameter changes, and an expression, in a box that may be sheared. */
InitialState ofEachKind() {
    InitialState start{std::make_unique<System>(), {}, {}};
    start.system->setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0.3, 3, 0), Vec3(-0.3, 0.2, 3));
    auto* force = new ConstraintForce();
    auto* springs = new HarmonicBondForce();
    auto* expression = new CustomConstraintForce(3, bentPath);
    expression->addPerConstraintParameter("q");
    for (Force* each : std::initializer_list<Force*>{force, springs, expression})
        start.system->addForce(each);
    force->setUsesPeriodicBoundaryConditions(true);
    springs->setUsesPeriodicBoundaryConditions(true);
    expression->setUsesPeriodicBoundaryConditions(true);
    Random random(3);
    const auto add = [&](int count, double x, double step) {
        std::vector<int> particles;
        for (int i = 0; i < count; i++) {
            const Real3 r = random.inCube(0.06), v = random.inCube(0.3);
            particles.push_back(start.system->addParticle(10 + i % 5));
            start.positions.emplace_back(x + r.x, step * i + r.y, 0.08 * (i % 3) + r.z);
            start.velocities.emplace_back(v.x, v.y, v.z);
            if (particles[0] > 0)
                springs->addBond(particles[0] - 1, particles[i], 0.6, 300);
        }
        return particles;
    };
    const auto hold = [&](int i, int j) {
        return force->addDistance(i, j, length(start.positions[i] - start.positions[j]));
    };
    const auto water = add(3, 0, 0.15), chain = add(9, 0.4, 0.12), five = add(numOfBody, 0.8, 0.1);
    for (int i : {0, 1, 2})
        hold(water[i], water[(i + 1) % 3]);
    for (int i = 1; i < 9; i++)
        hold(chain[i - 1], chain[i]);
    for (int i : {2, 3, 4})
        hold(chain[i - 2], chain[i]);
    for (int i = 0; i < numOfBody; i++)
        for (int j = 0; j < i; j++)
            hold(five[i], five[j]);
    const auto pair = add(2, 1.2, 0.15), path = add(3, 1.6, 0.15), body = add(4, 2, 0.1);
    const int moved = hold(pair[0], pair[1]);
    force->addGlobalParameter("lambda", 0);
    force->setDistanceInterpolation(moved, "lambda",
                                    1.02 * length(start.positions[pair[0]] - start.positions[pair[1]]));
    Vectors shape;
    for (int p : body)
        shape.push_back(start.positions[p]);
    force->addRigidBody(body, shape);
    const Vectors& x = start.positions;
    expression->addConstraint(path, {valueOfBentPath(x[path[0]], x[path[1]], x[path[2]])});
    return start;
}

Setup setupOf(const std::string& integrator, const std::string& on = platform) {
    return {on, solver, integrator};
}

Numbers numbersOf(const Vectors& vectors) {
    Numbers numbers;
    for (const Vec3& v : vectors)
        numbers.insert(numbers.end(), {v[0], v[1], v[2]});
    return numbers;
}

Numbers stateOf(const Context& context) {
    const State state = context.getState(State::Positions | State::Velocities);
    Numbers numbers = numbersOf(state.getPositions()), velocities = numbersOf(state.getVelocities());
    numbers.insert(numbers.end(), velocities.begin(), velocities.end());
    return numbers;
}

/** Something that a user calls between steps. */
struct Call {
    const char* name;
    std::function<Numbers(Simulation&)> make; ///< what it returned, as far as platforms agree on it
};

template <class Kind>
Kind& forceOf(Simulation& s) {
    for (int f = 0; f < s.system->getNumForces(); f++)
        if (auto* force = dynamic_cast<Kind*>(&s.system->getForce(f)))
            return *force;
    throw std::runtime_error("there is no such Force");
}

std::string checkpointOf(const Simulation& s) {
    std::ostringstream stream;
    s.context->createCheckpoint(stream);
    return stream.str();
}

void load(Simulation& s, const std::string& checkpoint) {
    std::istringstream stream(checkpoint);
    s.context->loadCheckpoint(stream);
}

std::vector<Call> readings(const std::string& integrator) {
    std::vector<Call> calls{
        {"getSolverSummary", [](Simulation& s) { return Numbers{double(s.integrator->getSolverSummary().clusters)}; }},
        {"getClusters", [](Simulation& s) { return Numbers{double(s.integrator->getClusters(*s.system).size())}; }},
        {"getMultipliers", [](Simulation& s) { return s.integrator->getMultipliers(); }},
        {"ConstraintForce::getMultipliers",
         [](Simulation& s) { return forceOf<ConstraintForce>(s).getMultipliers(*s.context); }},
        {"CustomConstraintForce::getMultipliers",
         [](Simulation& s) { return forceOf<CustomConstraintForce>(s).getMultipliers(*s.context); }},
        {"getConstraintWork", [](Simulation& s) { return Numbers{s.integrator->getConstraintWork()}; }},
        {"getConstraintWorks", [](Simulation& s) { return s.integrator->getConstraintWorks(); }},
        {"getConstraintForces", [](Simulation& s) { return numbersOf(s.integrator->getConstraintForces()); }},
        {"getConstraintVirial", [](Simulation& s) { return numbersOf(s.integrator->getConstraintVirial()); }},
        {"computeMultipliers", [](Simulation& s) { return s.integrator->computeMultipliers(); }},
        {"computeParameterDerivatives",
         [](Simulation& s) { return Numbers{s.integrator->computeParameterDerivatives().at("lambda")}; }},
        {"computeBlueMoon",
         [](Simulation& s) {
             Numbers multipliers, corrections;
             double logZ;
             s.integrator->computeBlueMoon({0}, multipliers, corrections, logZ);
             return Numbers{multipliers[0], corrections[0], logZ};
         }},
        {"computePressure",
         [](Simulation& s) {
             double error;
             EXPECT_TRUE(std::isfinite(s.integrator->computePressure(error)));
             return Numbers{}; // differences of energies in single precision
         }},
        {"computePressureTensor",
         [](Simulation& s) {
             Vectors errors;
             EXPECT_EQ(s.integrator->computePressureTensor(errors).size(), 3u);
             return Numbers{};
         }},
        {"getNumDegreesOfFreedom",
         [](Simulation& s) { return Numbers{double(s.integrator->getNumDegreesOfFreedom())}; }},
        {"computeSystemTemperature", [](Simulation& s) { return Numbers{s.integrator->computeSystemTemperature()}; }},
        {"getState", [](Simulation& s) {
             const State state = s.context->getState(State::Energy | State::Forces);
             return Numbers{state.getPotentialEnergy(), state.getKineticEnergy()};
         }}};
    if (integrator.find("MTS") == std::string::npos)
        calls.push_back(
            {"getVelocityMultipliers", [](Simulation& s) { return s.integrator->getVelocityMultipliers(); }});
    if (integrator.find("Langevin") != std::string::npos)
        calls.push_back({"getHeat", [](Simulation& s) {
                             return Numbers{dynamic_cast<RattleLangevinIntegrator&>(*s.integrator).getHeat()};
                         }});
    if (integrator == "RattleNoseHoover")
        calls.push_back({"computeHeatBathEnergy", [](Simulation& s) {
                             return Numbers{
                                 dynamic_cast<RattleNoseHooverIntegrator&>(*s.integrator).computeHeatBathEnergy()};
                         }});
    return calls;
}

/** What changes a Context: then its state is compared. OpenMM's minimizer needs instructions that the emulator has
 *  not. */
std::vector<Call> changes() {
    const auto after = [](const std::function<void(Simulation&)>& change) {
        return [change](Simulation& s) {
            change(s);
            return stateOf(*s.context);
        };
    };
    return {
        {"applyConstraints", after([](Simulation& s) { s.integrator->applyConstraints(); })},
        {"applyVelocityConstraints", after([](Simulation& s) { s.integrator->applyVelocityConstraints(); })},
        {"Context::applyConstraints", after([](Simulation& s) { s.context->applyConstraints(1e-8); })},
        {"Context::applyVelocityConstraints", after([](Simulation& s) { s.context->applyVelocityConstraints(1e-8); })},
        {"setVelocitiesToTemperature", after([](Simulation& s) {
             s.context->setVelocitiesToTemperature(300, 5);
             s.integrator->applyVelocityConstraints(); // as Reference does: here OpenMM knows no constraints of Forces
         })},
        {"setPositions", after([](Simulation& s) { s.context->setPositions(s.positions()); })},
        {"setVelocities", after([](Simulation& s) { s.context->setVelocities(s.velocities()); })},
        {"setTime", after([](Simulation& s) { s.context->setTime(1); })},
        {"setPeriodicBoxVectors", after([](Simulation& s) {
             s.context->setPeriodicBoxVectors(Vec3(3.1, 0, 0), Vec3(0.3, 3, 0), Vec3(-0.3, 0.2, 3));
         })},
        {"setParameter", after([](Simulation& s) {
             s.context->setParameter("lambda", 0.1);
             s.integrator->applyConstraints();
         })},
        {"setStepSize and others", after([](Simulation& s) {
             s.integrator->setStepSize(0.0004);
             s.integrator->setConstraintTolerance(2e-9);
             s.integrator->setMaxIterations(400);
         })},
        {"ConstraintForce::updateParametersInContext", after([](Simulation& s) {
             auto& force = forceOf<ConstraintForce>(s);
             int i, j;
             double length;
             force.getDistanceParameters(0, i, j, length);
             force.setDistanceParameters(0, i, j, 1.002 * length);
             force.updateParametersInContext(*s.context);
         })},
        {"CustomConstraintForce::updateParametersInContext", after([](Simulation& s) {
             auto& force = forceOf<CustomConstraintForce>(s);
             std::vector<int> particles;
             Numbers q;
             force.getConstraintParameters(0, particles, q);
             force.setConstraintParameters(0, particles, {1.002 * q[0]});
             force.updateParametersInContext(*s.context);
         })},
        {"createCheckpoint and loadCheckpoint", after([](Simulation& s) {
             const std::string before = checkpointOf(s);
             s.integrator->step(2);
             load(s, before);
         })},
        {"setState", after([](Simulation& s) {
             const State before = s.context->getState(State::Positions | State::Velocities | State::Parameters |
                                                      State::IntegratorParameters);
             s.integrator->step(2);
             s.context->setState(before);
         })},
        {"positions of the mirror image of a body", after([](Simulation& s) {
             Vectors x = s.positions();
             for (int i = 0; i < numOfBody; i++)
                 x[firstOfBody + i][0] = 2 * x[firstOfBody][0] - x[firstOfBody + i][0];
             s.context->setPositions(x);
             s.integrator->computeMultipliers(); // takes the shape
         })},
        {"reinitialize", after([](Simulation& s) { s.context->reinitialize(true); })}};
}

/** Within rounding of single precision, of which there are forces. */
void expectClose(const Numbers& found, const Numbers& expected, double rounding) {
    ASSERT_EQ(found.size(), expected.size());
    double largest = 1;
    for (double number : expected)
        largest = std::max(largest, std::abs(number));
    for (std::size_t i = 0; i < found.size(); i++)
        EXPECT_NEAR(found[i], expected[i], rounding * largest) << i;
}

class EmulatedContexts : public testing::TestWithParam<const char*> {
protected:
    Simulation made(const std::string& on = platform) const {
        Simulation s = begin(ofEachKind(), setupOf(GetParam(), on));
        s.integrator->setMaxProjection(1); // bodies need not begin in their shapes
        return s;
    }
};

/** As Reference answers, before the first step and after each call. */
TEST_P(EmulatedContexts, AnswerBetweenSteps) {
    Simulation onDevice = made(), onReference = made("Reference");
    for (const auto& calls : {readings(GetParam()), changes(), readings(GetParam())})
        for (const Call& call : calls) {
            SCOPED_TRACE(call.name);
            Numbers found;
            ASSERT_NO_THROW(found = call.make(onDevice));
            expectClose(found, call.make(onReference), 1e-3);
            ASSERT_NO_THROW(onDevice.integrator->step(1));
            onReference.integrator->step(1);
        }
}

/** A Context that others are beside. */
struct Actor {
    std::string kind; ///< an integrator of ours; else OpenMM's
    std::unique_ptr<Simulation> ours;
    std::unique_ptr<System> system;
    std::unique_ptr<Integrator> integrator;
    std::unique_ptr<Context> context;
    std::string checkpoint;
    Numbers found; ///< all that was read

    Context& contextOf() const {
        return ours != nullptr ? *ours->context : *context;
    }
    Integrator& integratorOf() const {
        return ours != nullptr ? *ours->integrator : *integrator;
    }
    void make() {
        InitialState start = ofEachKind();
        if (kind != "Verlet" && kind != "LangevinMiddle") {
            ours = std::make_unique<Simulation>(begin(std::move(start), setupOf(kind)));
            ours->integrator->setMaxProjection(1);
            return;
        }
        for (int f : {2, 0}) // it has no constraints, but springs
            start.system->removeForce(f);
        system = std::move(start.system);
        if (kind == "Verlet")
            integrator = std::make_unique<VerletIntegrator>(0.0005);
        else {
            auto langevin = std::make_unique<LangevinMiddleIntegrator>(300, 1, 0.0005);
            langevin->setRandomNumberSeed(7);
            integrator = std::move(langevin);
        }
        context = makeContext(*system, *integrator, platform);
        context->setPositions(start.positions);
        context->setVelocities(start.velocities);
    }
    void destroy() {
        ours.reset();
        context.reset();
        integrator.reset();
        system.reset();
    }
    void read() {
        const Numbers now = stateOf(contextOf());
        found.insert(found.end(), now.begin(), now.end());
        if (ours != nullptr) {
            const Numbers multipliers = ours->integrator->getMultipliers();
            found.insert(found.end(), multipliers.begin(), multipliers.end());
        }
    }
    /** What it does, one after the other. */
    void act(int turn) {
        std::ostringstream written;
        std::istringstream kept(checkpoint);
        switch (turn) {
        case 0:
            return make();
        case 1:
        case 4:
            return integratorOf().step(3);
        case 2:
            contextOf().createCheckpoint(written);
            checkpoint = written.str();
            return;
        case 3:
            return contextOf().setVelocitiesToTemperature(200, 3);
        case 5:
            return read();
        case 6:
            return contextOf().loadCheckpoint(kept);
        case 7:
            integratorOf().step(2);
            return read();
        default:
            return destroy();
        }
    }
    static constexpr int numTurns = 9;
};

/** Alone, what each does. The same program from the same state: bit for bit. */
Numbers alone(const std::string& kind) {
    static std::map<std::string, Numbers> known;
    Numbers& found = known[kind];
    if (found.empty()) {
        Actor actor{kind, {}, {}, {}, {}, {}, {}};
        for (int turn = 0; turn < Actor::numTurns; turn++)
            actor.act(turn);
        found = actor.found;
    }
    return found;
}

TEST(EmulatedContextsTogether, MayBeInAnyOrder) {
    for (const std::vector<std::string>& kinds : {std::vector<std::string>{"Rattle", "RattleNoseHoover"},
                                                  {"RattleLangevin", "RattleLangevin", "Verlet"},
                                                  {"Shake", "LangevinMiddle", "RattleMTS"},
                                                  {"ConstraintForce", "GeodesicLangevin", "RattleMTSLangevin"}})
        for (unsigned seed = 1; seed <= 6; seed++) {
            SCOPED_TRACE(kinds[0] + ", order " + std::to_string(seed));
            std::vector<Actor> actors;
            std::vector<std::size_t> whose;
            for (std::size_t i = 0; i < kinds.size(); i++) {
                actors.push_back({kinds[i], {}, {}, {}, {}, {}, {}});
                whose.insert(whose.end(), Actor::numTurns, i);
            }
            Random random(seed);
            for (std::size_t i = whose.size(); i-- > 1;)
                std::swap(whose[i], whose[(std::size_t) random.uniform(0, (double) i + 0.999)]);
            std::vector<int> turns(kinds.size());
            for (std::size_t i : whose)
                ASSERT_NO_THROW(actors[i].act(turns[i]++)) << kinds[i] << ", turn " << turns[i] - 1;
            for (std::size_t i = 0; i < kinds.size(); i++)
                EXPECT_EQ(actors[i].found, alone(kinds[i])) << kinds[i];
        }
}

TEST(EmulatedContextsTogether, MayBeMadeUsedAndDeletedByDifferentThreads) {
    Actor actor{"Rattle", {}, {}, {}, {}, {}, {}};
    for (int turn = 0; turn < Actor::numTurns; turn++)
        std::thread([&] { EXPECT_NO_THROW(actor.act(turn)) << turn; }).join();
    EXPECT_EQ(actor.found, alone("Rattle"));
}

TEST(EmulatedContextsTogether, MayBeMadeAndDeletedWhileAnotherSteps) {
    Actor other{"RattleNoseHoover", {}, {}, {}, {}, {}, {}};
    const Numbers expected = alone("Rattle"), ofOther = alone("RattleNoseHoover");
    other.act(0);
    std::thread steps([&] {
        for (int turn = 1; turn < Actor::numTurns; turn++)
            EXPECT_NO_THROW(other.act(turn)) << turn;
    });
    for (int time = 0; time < 3; time++) {
        Actor actor{"Rattle", {}, {}, {}, {}, {}, {}};
        for (int turn = 0; turn < Actor::numTurns; turn++)
            ASSERT_NO_THROW(actor.act(turn)) << turn;
        EXPECT_EQ(actor.found, expected);
    }
    steps.join();
    EXPECT_EQ(other.found, ofOther);
}

TEST_P(EmulatedContexts, LoadTheCheckpointOfAnother) {
    Simulation first = made(), second = made();
    first.integrator->step(3);
    const std::string checkpoint = checkpointOf(first);
    first.integrator->step(3);
    second.integrator->step(1);
    ASSERT_NO_THROW(load(second, checkpoint));
    second.integrator->step(3);
    EXPECT_EQ(stateOf(*second.context), stateOf(*first.context));
    EXPECT_EQ(second.integrator->getMultipliers(), first.integrator->getMultipliers());
}

/** A CompoundIntegrator of this one and another, beside a Context that is alone. */
TEST_P(EmulatedContexts, HaveChildrenOfACompoundIntegrator) {
    InitialState start = ofEachKind();
    CompoundIntegrator compound;
    for (const char* child : {GetParam(), "Rattle"}) {
        IntegratorPointer integrator = makeIntegrator(setupOf(child), 0.0005, 1e-9);
        integrator->setMaxProjection(1);
        compound.addIntegrator(integrator.release());
    }
    const auto context = makeContext(*start.system, compound, platform);
    context->setPositions(start.positions);
    context->setVelocities(start.velocities);
    Simulation alone = made();
    const auto child = [&](int index) -> ConstraintIntegrator& {
        compound.setCurrentIntegrator(index);
        return dynamic_cast<ConstraintIntegrator&>(compound.getIntegrator(index));
    };
    compound.step(2);
    alone.integrator->step(2);
    EXPECT_EQ(stateOf(*context), stateOf(*alone.context));
    for (int index : {1, 0}) {
        ConstraintIntegrator& integrator = child(index);
        std::ostringstream written;
        ASSERT_NO_THROW(integrator.computeMultipliers());
        ASSERT_NO_THROW(context->createCheckpoint(written));
        ASSERT_NO_THROW(compound.step(2));
        const Numbers after = stateOf(*context);
        std::istringstream kept(written.str());
        ASSERT_NO_THROW(context->loadCheckpoint(kept));
        ASSERT_NO_THROW(compound.step(2));
        EXPECT_EQ(stateOf(*context), after);
        ASSERT_NO_THROW(integrator.getMultipliers());
    }
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedContexts, testing::ValuesIn(integrators),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
