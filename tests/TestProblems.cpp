// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Problems of a System as records: diagnose() returns all of them, the exception of a Context has the first.
#include "support/Simulation.h"
#include <functional>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Eight particles in a box of 3 nm, and a Force for what is wrong. */
struct Faulty {
    System system;
    ConstraintForce* force = new ConstraintForce();

    Faulty() {
        for (int i = 0; i < 8; i++)
            system.addParticle(12);
        system.setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3));
        system.addForce(force);
    }
};

struct Fault {
    const char* name;
    std::function<void(Faulty&)> make;
    std::string kind;
    std::vector<int> constraints, particles;
    double value, bound;
};

CustomConstraintForce* expression(const std::string& text, const std::vector<double>& parameters = {}) {
    auto* force = new CustomConstraintForce(1, text);
    for (std::size_t i = 0; i < parameters.size(); i++)
        force->addPerConstraintParameter(std::string(1, (char) ('a' + i)));
    force->addConstraint({3}, parameters);
    return force;
}

const double none = ConstraintProblem::none;

const std::vector<Fault>& faults() {
    static const std::vector<Fault> list = {
        {"Index", [](Faulty& f) { f.force->addDistance(1, 9, 0.1); }, "particles", {0}, {1, 9}, 9, 7},
        {"Itself", [](Faulty& f) { f.force->addDistance(2, 2, 0.1); }, "particles", {0}, {2}, 2, none},
        {"Site",
         [](Faulty& f) {
             f.system.setParticleMass(2, 0);
             f.system.setVirtualSite(2, new TwoParticleAverageSite(0, 1, 0.5, 0.5));
             f.force->addDistance(2, 3, 0.1);
         },
         "particles",
         {0},
         {2, 3},
         2,
         none},
        {"Group",
         [](Faulty& f) {
             f.force->addCentroidDistance({1, 1}, {2}, 0.3);
         },
         "particles",
         {0},
         {1},
         1,
         none},
        {"Length", [](Faulty& f) { f.force->addDistance(0, 1, -0.1); }, "target", {0}, {0, 1}, -0.1, 0},
        {"Angle", [](Faulty& f) { f.force->addAngle(0, 1, 2, 5e-4); }, "target", {0}, {0, 1, 2}, 5e-4, 1e-3},
        {"Box",
         [](Faulty& f) {
             f.force->setUsesPeriodicBoundaryConditions(true);
             f.force->addDistance(0, 1, 1.6);
         },
         "box",
         {0},
         {0, 1},
         1.6,
         1.5},
        {"Parameter",
         [](Faulty& f) { f.system.addForce(expression("x1-a", {INFINITY})); },
         "parameter",
         {0},
         {3},
         INFINITY,
         none},
        {"Expression", [](Faulty& f) { f.system.addForce(expression("foo(x1)")); }, "expression", {0}, {}, none, none},
        {"Body",
         [](Faulty& f) {
             f.force->addRigidBody({1, 2, 3}, {Vec3(), Vec3(), Vec3(1, 0, 0)});
         },
         "shape",
         {},
         {1, 2, 3},
         none,
         none},
        {"Line",
         [](Faulty& f) {
             f.force->addAngle(0, 1, 2, M_PI);
             f.force->addDihedral(0, 1, 2, 3, 1);
         },
         "straight",
         {1},
         {0, 1, 2, 3},
         none,
         none},
        {"Pair",
         [](Faulty& f) {
             f.system.addConstraint(0, 1, 0.1);
             f.force->addDistance(1, 0, 0.2);
         },
         "contradictory",
         {0, 1},
         {0, 1},
         0.5,
         1e-5},
        {"Ring",
         [](Faulty& f) {
             for (int i = 0; i < 3; i++)
                 f.force->addDistance(i, (i + 1) % 3, i == 1 ? 0.3 : 0.1);
         },
         "contradictory",
         {0, 2, 1},
         {0, 1, 2},
         0.3,
         0.2},
        {"Centroids",
         [](Faulty& f) {
             f.force->addCentroidDistance({0, 1}, {2, 3}, 0.1);
             f.force->addCentroidDistance({3, 2}, {4}, 0.1);
             f.force->addCentroidDistance({0, 1}, {4}, 0.3);
         },
         "contradictory",
         {0, 1, 2},
         {0, 1, 2, 3, 4},
         0.3,
         0.2},
        {"Names",
         [](Faulty& f) { f.force->setParticleNames(std::vector<std::string>(9, "X")); },
         "topology",
         {},
         {},
         9,
         8},
        {"Bonds",
         [](Faulty& f) {
             f.force->setBonds({{0, 1}, {1, 8}});
         },
         "topology",
         {},
         {1, 8},
         none,
         none},
        {"Thermostat",
         [](Faulty& f) {
             f.force->addDistance(4, 5, 0.1);
             f.system.addForce(new AndersenThermostat(300, 1));
         },
         "combination",
         {0},
         {4, 5},
         none,
         none},
        {"Remover",
         [](Faulty& f) {
             f.system.addForce(expression("z1-0.1"));
             f.system.addForce(new CMMotionRemover());
         },
         "combination",
         {0},
         {3},
         none,
         none},
    };
    return list;
}

ConstraintProblem thrownBy(const std::function<void()>& function) {
    try {
        function();
    } catch (const ConstraintException& error) {
        EXPECT_EQ(error.what(), error.getProblem().text());
        return error.getProblem();
    }
    ADD_FAILURE() << "no ConstraintException";
    return {};
}

ConstraintProblem creating(const System& system, Integrator& integrator) {
    return thrownBy([&] { makeContext(system, integrator, "Reference"); });
}

void expectNumber(double value, double expected) {
    if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(value)) << value;
    else if (std::isinf(expected))
        EXPECT_EQ(value, expected);
    else
        EXPECT_NEAR(value, expected, 1e-12);
}

} // namespace

class Problems : public testing::TestWithParam<int> {};

TEST_P(Problems, AreRecordsThatAContextThrowsAndDiagnoseCollects) {
    const Fault& fault = faults()[GetParam()];
    Faulty faulty;
    fault.make(faulty);
    RattleIntegrator integrator(0.001);
    const Diagnosis diagnosis = diagnose(faulty.system, integrator);
    ASSERT_EQ(diagnosis.problems.size(), 1u);
    const ConstraintProblem thrown = creating(faulty.system, integrator);
    for (const ConstraintProblem& problem : {diagnosis.problems[0], thrown}) {
        EXPECT_EQ(problem.kind, fault.kind);
        EXPECT_EQ(problem.constraints, fault.constraints);
        EXPECT_EQ(problem.particles, fault.particles);
        expectNumber(problem.value, fault.value);
        expectNumber(problem.bound, fault.bound);
        EXPECT_EQ(problem.text(), thrown.text());
    }
}

INSTANTIATE_TEST_SUITE_P(, Problems, testing::Range(0, (int) faults().size()),
                         [](const auto& info) { return faults()[info.param].name; });

TEST(Diagnosis, FindsAllFaultsOfASystemInOnePass) {
    Faulty faulty;
    for (const char* name : {"Index", "Itself", "Length", "Expression", "Body", "Bonds"})
        for (const Fault& fault : faults())
            if (fault.name == std::string(name))
                fault.make(faulty);
    faulty.force->addDistance(4, 5, 0.1);
    faulty.force->addDistance(4, 5, 0.2);
    faulty.system.addForce(new AndersenThermostat(300, 1));
    RattleIntegrator integrator(0.001);
    const Diagnosis diagnosis = diagnose(faulty.system, integrator);
    std::vector<std::string> kinds;
    for (const ConstraintProblem& problem : diagnosis.problems)
        kinds.push_back(problem.kind);
    EXPECT_EQ(kinds, (std::vector<std::string>{"topology", "particles", "particles", "target", "expression", "shape",
                                               "contradictory", "combination"}));
    EXPECT_EQ(diagnosis.refused, (std::vector<int>{0, 1, 2, 4, 5}));
    EXPECT_EQ(diagnosis.numIndependent, 1) << "the first distance of 4 and 5";
    ASSERT_EQ(diagnosis.clusters.size(), 1u);
    EXPECT_EQ(creating(faulty.system, integrator).text(), diagnosis.problems[0].text());
}

TEST(Diagnosis, ReportsWhatTheIntegratorCannotDo) {
    Faulty faulty;
    faulty.force->addDistance(0, 1, 0.1, 0.5);
    RattleNoseHooverIntegrator noseHoover(300, 1, 0.001);
    VerletIntegrator verlet(0.001);
    CompoundIntegrator compound;
    compound.addIntegrator(new RattleIntegrator(0.001));
    compound.addIntegrator(new BrownianIntegrator(300, 1, 0.001));
    for (const Integrator* integrator : std::vector<const Integrator*>{&noseHoover, &verlet, &compound}) {
        const Diagnosis diagnosis = diagnose(faulty.system, *integrator);
        ASSERT_EQ(diagnosis.problems.size(), 1u);
        EXPECT_EQ(diagnosis.problems[0].kind, "integrator");
    }
    EXPECT_EQ(diagnose(faulty.system, noseHoover).problems[0].value, 0.5);
    RattleIntegrator rattle(0.001);
    EXPECT_TRUE(diagnose(faulty.system, rattle).problems.empty());
}

TEST(Diagnosis, KnowsWhatOpenMMRefusesOfSystemConstraints) {
    Faulty faulty;
    faulty.system.setParticleMass(0, 0);
    faulty.system.addConstraint(0, 1, 0.1);
    faulty.system.addConstraint(2, 3, 0.1);
    faulty.system.addConstraint(3, 2, 0.1);
    RattleIntegrator integrator(0.001);
    const std::vector<ConstraintProblem> problems = diagnose(faulty.system, integrator).problems;
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].kind, "anchor");
    EXPECT_EQ(problems[0].particles, (std::vector<int>{0, 1}));
    EXPECT_EQ(problems[1].kind, "duplicate");
    EXPECT_EQ(problems[1].constraints, (std::vector<int>{1, 2}));
}

TEST(Diagnosis, RefusesAFactorThatIsTooLargeAndGoesOnWithoutIt) {
    System system;
    system.addParticle(12);
    for (int i = 1; i <= 1000; i++)
        system.addConstraint(0, system.addParticle(1), 0.1);
    RattleIntegrator integrator(0.001);
    integrator.setSolver(ConstraintIntegrator::MatrixInversion);
    const Diagnosis diagnosis = diagnose(system, integrator);
    ASSERT_EQ(diagnosis.problems.size(), 1u);
    EXPECT_EQ(diagnosis.problems[0].kind, "too-large");
    EXPECT_EQ(diagnosis.problems[0].constraints.size(), 1000u);
    EXPECT_GT(diagnosis.problems[0].value, diagnosis.problems[0].bound);
    EXPECT_EQ(diagnosis.numIndependent, 1000);
    EXPECT_NE(diagnosis.clusters[0].note, "");
}

TEST(Diagnosis, TellsRankRedundancyAndCondition) {
    const TestSystem& methane = findSystem("methane");
    System system;
    for (double mass : methane.masses)
        system.addParticle(mass);
    auto* force = new ConstraintForce();
    const Vectors x = toVectors(methane.positions);
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            force->addDistance(i, j, std::sqrt((x[i] - x[j]).dot(x[i] - x[j])));
    system.addForce(force);
    RattleIntegrator integrator(0.001);
    Start start{x, {}, {Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2)}, 0};
    const Diagnosis diagnosis = diagnose(system, integrator, &start);
    EXPECT_EQ(diagnosis.numIndependent, 9);
    ASSERT_EQ(diagnosis.groups.size(), 1u);
    EXPECT_EQ(diagnosis.groups[0].kind, ConstraintGroup::Spatial);
    EXPECT_EQ(diagnosis.groups[0].count, 10);
    EXPECT_EQ(diagnosis.groups[0].particles, (std::vector<int>{0, 1, 2, 3, 4}));
    ASSERT_EQ(diagnosis.errors.size(), 10u);
    for (double error : diagnosis.errors)
        EXPECT_LT(error, 1e-12);
    EXPECT_EQ(diagnosis.values.size(), 10u);
    EXPECT_EQ(diagnosis.targets.size(), 10u);
    start.positions.pop_back();
    EXPECT_THROW(diagnose(system, integrator, &start), OpenMMException);
    Platform& reference = Platform::getPlatformByName("Reference");
    EXPECT_THROW(tryStart(system, integrator, start, reference, 1), OpenMMException);
    start.positions = x;
    EXPECT_THROW(tryStart(system, integrator, start, reference, -1), OpenMMException);
    // A hub over a hexagon becomes singular as it comes down into the plane.
    double before = 0;
    for (double height : {1e-3, 4e-4}) {
        System fan;
        auto* bonds = new ConstraintForce();
        Start hexagon{{Vec3(0, 0, height)}, {}, {Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2)}, 0};
        for (int i = 0; i < 6; i++)
            hexagon.positions.emplace_back(0.1 * std::cos(i * M_PI / 3), 0.1 * std::sin(i * M_PI / 3), 0);
        for (int i = 0; i < 7; i++)
            fan.addParticle(12);
        for (int i = 0; i < 6; i++) {
            bonds->addDistance(0, i + 1, std::sqrt(0.01 + height * height));
            bonds->addDistance(i + 1, (i + 1) % 6 + 1, 0.1);
        }
        fan.addForce(bonds);
        const Diagnosis flat = diagnose(fan, integrator, &hexagon);
        ASSERT_EQ(flat.groups.size(), 1u);
        EXPECT_EQ(flat.groups[0].kind, ConstraintGroup::IllConditioned);
        EXPECT_GT(flat.groups[0].number, std::max(1e4, 5 * before));
        before = flat.groups[0].number;
    }
}
