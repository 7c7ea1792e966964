// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SMALL_CLUSTERS_H_
#define OPENMM_CONSTRAINTS_SMALL_CLUSTERS_H_

#include "ProgramFrame.h"

namespace ConstraintPlugin {

/** Clusters of up to eight distances, and particles without constraints: a thread for each particle (smallLanes.cc). */
class SmallClusters {
public:
    explicit SmallClusters(const ProgramFrame& frame) : frame(frame) {
    }
    /** Add the launches of those at the border, or of all others. */
    void add(const std::vector<StageText>& stages, bool atBorder) const;
    /** @param isShare         its kernels are functions for a launch that others share
     *  @param blocksTogether  of smallBlock threads, in a block of the launch */
    std::string text(const std::vector<StageText>& stages, bool atBorder, bool isShare = false,
                     int blocksTogether = 1) const;
    /** Bytes that a thread shows to others. */
    int shownBytes() const;
    static constexpr const char* prefix = "smallCluster"; ///< of kernels

private:
    const ConstraintTables::SmallBlocks& blocks(bool atBorder) const {
        return atBorder ? frame.tables.smallAtBorder : frame.tables.small;
    }
    bool isTriangle(int shape) const;
    void addShapes(ProgramText& text, const std::vector<int>& shapes) const;
    const ProgramFrame& frame;
};

} // namespace ConstraintPlugin

#endif
