// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_FREE_BODIES_H_
#define OPENMM_CONSTRAINTS_FREE_BODIES_H_

#include "ProgramFrame.h"

namespace ConstraintPlugin {

/** Rigid bodies that no constraint joins: each in closed form, by sums over its particles (bodies.cc). */
class FreeBodies {
public:
    explicit FreeBodies(const ProgramFrame& frame) : frame(frame) {
    }
    /** Add their launches. */
    void add(const std::vector<StageText>& stages) const;

private:
    const ProgramFrame& frame;
};

/** What a solve of bodies is, in order: a projection measures first. */
std::vector<std::string> bodySolvesOf(const std::string& solve);

/** Threads that have a body of a range. */
int bodyThreads(const std::vector<StageText>& stages, const ConstraintTables::BodyRange& range);

/** The text of rigid bodies, where a thread group of a size has one of them or a part. */
ProgramText bodyText(const ProgramFrame& frame, const std::vector<StageText>& stages, int threads, bool isSplit);

} // namespace ConstraintPlugin

#endif
