// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SHARED_LAUNCH_H_
#define OPENMM_CONSTRAINTS_SHARED_LAUNCH_H_

#include "SmallClusters.h"
#include "Subdomains.h"

namespace ConstraintPlugin {

/** One launch for clusters that different solvers have, on devices whose kernel texts are C++: a stage then takes as
 *  long as the slowest of them, not their sum. It has clusters in subdomains, those of single threads and small ones,
 * none of them with joined bodies or at the border; or nothing where that is less than two of them. Shares are side by
 * side; where that makes more blocks than fit, those that follow begin again with the first block, which comes to them
 * later. */
class SharedLaunch {
public:
    SharedLaunch(const ProgramFrame& frame, const SmallClusters& small, const GeneralClusters& clusters,
                 const Subdomains& subdomains);
    /** @param range  or nullptr: small clusters */
    bool has(const ConstraintTables::Range* range) const;
    void add(const std::vector<StageText>& stages, const ConstraintSet& set) const;

private:
    /** What one solver has of the launch. */
    struct Share {
        const ConstraintTables::Range* range; ///< general clusters, or nullptr: small ones
        ThreadGroup group;                    ///< of a range
        std::string name;                     ///< of its functions
        int first, last;                      ///< of its clusters, or blocks of small clusters
        int firstBlock, numBlocks;
        bool isOfSubdomains() const {
            return range != nullptr && range->group == ThreadGroupKind::Subdomain;
        }
    };
    void addSubdomains();
    void addOthers();
    void place(int atOnce);
    /** A share's functions in a namespace of their own. */
    std::string shareText(int number, const std::vector<StageText>& stages, const ConstraintSet& set,
                          bool hasWhole) const;
    /** @param hasWhole  Subdomains::text() */
    std::string text(const std::vector<StageText>& stages, const ConstraintSet& set, bool hasWhole) const;
    const ProgramFrame& frame;
    const SmallClusters& small;
    const GeneralClusters& clusters;
    const Subdomains& subdomains;
    std::vector<Share> shares; ///< in the order in which a block takes them
    int numBlocks = 0, blockSize = smallBlock, together = 4, sharedBytes = 0;
    bool isCooperative = false;
    bool takesTurns = false; ///< blocks may have several shares
};

} // namespace ConstraintPlugin

#endif
