// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SUBDOMAINS_H_
#define OPENMM_CONSTRAINTS_SUBDOMAINS_H_

#include "GeneralClusters.h"
#include <functional>

namespace ConstraintPlugin {

/** Large clusters in overlapping subdomains with a halo, a thread block each (subdomains.cc). */
class Subdomains {
public:
    Subdomains(const ProgramFrame& frame, const GeneralClusters& clusters) : frame(frame), clusters(clusters) {
    }
    /** Add the launches of a range. */
    void add(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
             const ConstraintSet& set) const;
    /** What kernels of subdomains do: all rounds, what these leave to the whole cluster, or both. Only launches of
     * joined bodies for each round are apart. */
    enum class Role { Rounds, Whole, All };
    static std::string prefixOf(Role role) {
        return role == Role::Whole ? "clusterOfSubdomains" : "subdomain";
    }
    /** @param hasWhole  what subdomains leave to their cluster is solved, which takes most of the time to compile, and
     * few runs need: they begin without
     *  @param isShare   its kernels are functions for a launch that others share, in which subdomains wait for each
     * other */
    std::string text(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                     const ThreadGroup& group, const ConstraintSet& set, bool hasWhole, Role role = Role::All,
                     bool isShare = false) const;
    /** Whether the blocks of all subdomains of a range wait for each other in a launch. */
    bool waitsIn(const ConstraintTables::Range& range, const ThreadGroup& group) const;
    int blocksOf(const ConstraintTables::Range& range, const ThreadGroup& group) const;

private:
    /** Add a kernel. @param begin  before its loop over subdomains */
    using AddKernel = std::function<void(const std::string& name, const std::string& body, const std::string& begin)>;
    /** What the texts of all solves of a range go by. */
    struct Form {
        const ThreadGroup& group;
        Role role;
        bool hasRows;        ///< rows are evaluated in global memory
        bool isOneLaunch;    ///< all of a stage is: displacements are kept in memory between launches
        bool keepsParticles; ///< in shared memory for the next solve of a launch, where its operations allow that
    };
    /** Whether a solve of a stage goes on with the particles of the one before. */
    static bool continues(const SplitStage& stage, std::size_t solve, const Form& form);
    /** Add what the solve of a stage and the operations around it are. */
    void addStage(ProgramText& text, const SplitStage& stage, std::size_t solve, const Form& form) const;
    /** Add the kernel of a stage whose subdomains wait for each other. */
    void addWaitingKernel(const SplitStage& stage, const Form& form, const AddKernel& addKernel) const;
    void addLaunches(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                     const ThreadGroup& group, const ConstraintSet& set, Role role) const;
    const ProgramFrame& frame;
    const GeneralClusters& clusters;
};

} // namespace ConstraintPlugin

#endif
