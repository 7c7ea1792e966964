// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SUBDOMAINS_H_
#define OPENMM_CONSTRAINTS_SUBDOMAINS_H_

#include "GeneralClusters.h"
#include <functional>

namespace ConstraintPlugin {

/** Large clusters in overlapping parts, a thread block each (parts.cc): subdomains with a halo. */
class Subdomains {
public:
    Subdomains(const ProgramFrame& frame, const GeneralClusters& clusters) : frame(frame), clusters(clusters) {
    }
    /** Add the launches of a range. */
    void add(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
             const ConstraintSet& set) const;
    /** What kernels of parts do: all rounds, what these leave to the whole cluster, or both. Only launches of joined
     *  bodies for each round are apart. */
    enum class Role { Rounds, Whole, All };
    static std::string prefixOf(Role role) {
        return role == Role::Whole ? "clusterOfParts" : "partOfCluster";
    }
    /** @param hasWhole  what parts leave to their cluster is solved, which takes most of the time to compile, and few
     * runs need: they begin without
     *  @param isShare   its kernels are functions for a launch that others share, in which parts wait for each other */
    std::string text(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                     const ThreadGroup& group, const ConstraintSet& set, bool hasWhole, Role role = Role::All,
                     bool isShare = false) const;
    /** Whether the blocks of all parts of a range wait for each other in a launch. */
    bool waitsIn(const ConstraintTables::Range& range, const ThreadGroup& group) const;
    int blocksOf(const ConstraintTables::Range& range, const ThreadGroup& group) const;

private:
    /** Add a kernel. @param begin  before its loop over parts */
    using AddKernel = std::function<void(const std::string& name, const std::string& body, const std::string& begin)>;
    /** Add what the solve of a stage and the operations around it are.
     *  @param isOneLaunch  all of a stage is in one launch
     *  @param keepsAny     particles stay in shared memory for the next solve, where its operations allow that */
    void addStage(ProgramText& text, const SplitStage& stage, std::size_t solve, const ThreadGroup& group, Role role,
                  bool hasRows, bool isOneLaunch, bool keepsAny) const;
    /** Add the kernel of a stage whose parts wait for each other. */
    void addWaitingKernel(const SplitStage& stage, const ThreadGroup& group, bool keepsAny,
                          const AddKernel& addKernel) const;
    static bool keepsParticles(const SplitStage& stage, std::size_t solve);
    void addLaunches(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                     const ThreadGroup& group, const ConstraintSet& set, Role role) const;
    const ProgramFrame& frame;
    const GeneralClusters& clusters;
};

} // namespace ConstraintPlugin

#endif
