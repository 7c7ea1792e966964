// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PROGRAM_FRAME_H_
#define OPENMM_CONSTRAINTS_PROGRAM_FRAME_H_

#include "Launches.h"
#include "ProgramText.h"

namespace ConstraintPlugin {

/** What all solvers of a ConstraintProgram share. */
struct ProgramFrame {
    /** What the integrator of a program, and its settings, ask for. */
    struct Traits {
        bool isIterative;
        bool isCoarse;        ///< floats change while a solve iterates: numbers.cc
        bool sumsStages;      ///< StepScheme
        bool velocitiesFirst; ///< the first solve of a step is one of velocities
    };
    Device& device;
    const ConstraintTables& tables;
    KernelArguments& arguments;
    Launches& launches;
    Traits traits;

    OpenMM::ComputeContext& cc() const {
        return device.context();
    }
    /** A text with what all programs define. @param head  before everything */
    ProgramText text(bool atBorder = false, const std::string& head = "") const;
    /** A program of a text. @throws OpenMMException if it uses an argument that was not added */
    Program programOf(const std::string& text, std::size_t sharedBytes = 0, bool isCooperative = false) const;
    /** A kernel, or a function for a part of one (SharedLaunch.h). */
    std::string kernelText(bool isShare, const std::string& name, const std::string& bounds, const std::string& memory,
                           const std::string& body, const std::string& begin = KernelArguments::hasFailedText) const;
    bool mixedIsDouble() const {
        return cc().getUseDoublePrecision() || cc().getUseMixedPrecision();
    }
};

} // namespace ConstraintPlugin

#endif
