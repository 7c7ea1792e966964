// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What tests of kernels on the emulator share: systems, what is read after some steps, and conditions under which
// threads run.
#ifndef CONSTRAINTS_TESTS_EMULATED_H_
#define CONSTRAINTS_TESTS_EMULATED_H_

#include "support/Simulation.h"
#include "support/Variable.h"
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintTests {

/** @param order  in which threads run  @param fill  bytes of memory that nobody has written */
void setConditions(unsigned int order, unsigned char fill);

/** All that a user may read of some steps. */
struct Readings {
    Vectors positions, velocities, forces;
    std::vector<double> multipliers, velocityMultipliers;
    std::vector<double> energies; ///< potential and kinetic energy, work of constraints
    ConstraintPlugin::SolverSummary summary;
};

/** Of the same program from the same state, bit for bit. */
void expectSame(const Readings& a, const Readings& b);
/** Within the tolerance of each step, rounding, and forces of some 100 kJ/mol/nm on atoms of 1 amu. */
void expectClose(const Readings& found, const Readings& expected, const std::string& platform, double tolerance = 1e-9);
/** Whether programs that compute the same do so bit for bit: as on the emulator, but not on a GPU, whose compiler fuses
 *  multiplications with additions in each program in its own way, nor with EMULATOR_FUSES. */
bool programsRoundAlike();
/** Of programs that compute the same: bit for bit where they round alike, else within rounding. */
void expectAlike(const Readings& found, const Readings& expected, const std::string& platform, double tolerance = 1e-9);
/** By how much positions (nm) of two such programs may differ after some steps. */
double differenceOfPrograms(const std::string& platform, double tolerance);
/** A message of one of them, without the digits in which they may differ. */
std::string alike(const std::string& message);

struct InitialState {
    std::unique_ptr<OpenMM::System> system;
    Vectors positions, velocities;
    double time = 0; ///< ps
};

/** Every kind of constraint and clusters of every size, some with moving targets, and an angle that is held twice: of
 *  constraints that depend on each other, those of rigid bodies are not checked. */
InitialState mixture();
/** One cluster. */
InitialState molecule();
InitialState moleculeWithBarostat();
/** Rigid bodies that nothing joins but springs: a thread has the small ones, a block of each size one of the others. */
InitialState bodies();
/** Rigid bodies that share particles or that constraints join: hinges, a ball joint, distances and an angle to free
 *  particles and between bodies, one with an anchor, and a straight one. */
InitialState joints();
/** Rigid bodies in a row, which share a particle or are joined by a distance, in turns: a cluster that can be cut. */
InitialState chainOfBodies();
InitialState bodiesWithBarostat();
InitialState chainOfBodiesWithBarostat();
InitialState jointsWithBarostat();
/** Light particles between heavy ones, nearly in a line, and slow: pivots vanish in single precision, and the factor is
 *  made again in the Context's. */
InitialState stiff();

/** An expression of three particles, of which q is a parameter. */
constexpr auto bentPath = "distance(p1, p3) + 0.3*distance(p2, p3)^2 - q";
/** The q that holds it at these positions. */
double valueOfBentPath(const OpenMM::Vec3& p1, const OpenMM::Vec3& p2, const OpenMM::Vec3& p3);

Simulation begin(InitialState start, const Setup& setup, double tolerance = 1e-9);
Readings after(int steps, InitialState start, const Setup& setup, double tolerance = 1e-9);

/** Emulated memory and turns as they are by default, however a test ends. */
class Emulated : public testing::TestWithParam<Setup> {
protected:
    ~Emulated() override {
        setConditions(0, 0);
    }
    /** @param solver  words of the solvers' description */
    void expectTheSameUnderAllConditions(InitialState (*start)(), const std::string& solver = "") const {
        setConditions(0, 0);
        const Readings ascending = after(3, start(), GetParam());
        EXPECT_NE(distance(ascending.positions, start().positions), 0);
        EXPECT_NE(ascending.summary.solver.find(solver), std::string::npos) << ascending.summary.solver;
        setConditions(1, 0xff); // numbers are NaN
        expectSame(after(3, start(), GetParam()), ascending);
        setConditions(7, 0x5a);
        expectSame(after(3, start(), GetParam()), ascending);
        setConditions(0, 0);
    }
    void expectWhatReferenceComputes(InitialState (*start)()) const {
        ConstraintTests::Setup onReference = GetParam();
        std::get<0>(onReference) = "Reference";
        expectClose(after(3, start(), GetParam()), after(3, start(), onReference), std::get<0>(GetParam()));
    }
};

/** Every integrator, precisions in turn. A Nose-Hoover chain holds nothing that moves in time. */
std::vector<Setup> setups(const std::vector<Solver>& solvers, bool withNoseHoover);

} // namespace ConstraintTests

#endif
