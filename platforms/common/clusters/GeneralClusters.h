// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_GENERAL_CLUSTERS_H_
#define OPENMM_CONSTRAINTS_GENERAL_CLUSTERS_H_

#include "GroupSizes.h"
#include "ProgramFrame.h"

namespace ConstraintPlugin {

/** Clusters of any size and kind, a thread or a block each: one constraint in turn, or Newton's method (clusters.cc).
 */
class GeneralClusters {
public:
    GeneralClusters(const ProgramFrame& frame, const GroupSizes& sizes) : frame(frame), sizes(sizes) {
    }
    /** Add the launches of a range. */
    void add(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
             const ConstraintSet& set) const;
    /** @param isShare  its kernels are functions for a launch that others share */
    std::string text(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                     const ThreadGroup& group, const ConstraintSet& set, bool isShare = false) const;
    ThreadGroup groupOf(const ConstraintTables::Range& range, int leastBlock = 0,
                        int mostTogether = maxBlockSize) const {
        return sizes.groupOf(frame.tables, range, frame.arguments.floats(), leastBlock, mostTogether);
    }
    int sharedBytes(const ThreadGroup& group) const {
        return sizes.sharedBytes(group);
    }
    /** A text with what threads of a range, and its rows, need, in subdomains of clusters and at the border, too.
     *  @param hasRows  rows are evaluated in global memory */
    ProgramText rangeText(const ConstraintTables::Range& range, const ThreadGroup& group, const ConstraintSet& set,
                          bool hasRows = true) const;
    /** Of kernels' names. */
    static std::string prefixOf(ThreadGroupKind group) {
        return group == ThreadGroupKind::Thread ? "threadCluster" : "blockCluster";
    }

private:
    const ProgramFrame& frame;
    const GroupSizes& sizes;
};

} // namespace ConstraintPlugin

#endif
