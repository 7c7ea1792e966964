// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_JOINED_STAGES_H_
#define OPENMM_CONSTRAINTS_JOINED_STAGES_H_

#include "Subdomains.h"

namespace ConstraintPlugin {

/** Rigid bodies that constraints join, and the clusters that have them. A stage is several launches: where a solve
 * begins, the particles of all bodies are summed up, and where it ends, all of them are moved (joinedStages.cc). */
class JoinedStages {
public:
    JoinedStages(const ProgramFrame& frame, const GeneralClusters& clusters, const Subdomains& subdomains)
        : frame(frame), clusters(clusters), subdomains(subdomains) {
    }
    /** Add the launches, but for clusters at the border. Those of bodies there are "bodies_<part of a stage>", and
     * "frames" before responses, which BorderRows launches. */
    void add(const std::vector<StageText>& stages, const ConstraintSet& set) const;

private:
    bool isBegunBySums(const SplitStage& stage, std::size_t k) const;
    /** The kernels of bodies that have so many threads. @param hasParticles  also those of particles */
    Program programOf(const std::vector<StageText>& stages, int threads, bool hasParticles) const;
    void addClusters(const std::vector<SplitStage>& stages, const ConstraintSet& set) const;
    const ProgramFrame& frame;
    const GeneralClusters& clusters;
    const Subdomains& subdomains;
};

} // namespace ConstraintPlugin

#endif
