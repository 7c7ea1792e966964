// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_MULTIPLE_TIME_STEPS_H_
#define OPENMM_CONSTRAINTS_MULTIPLE_TIME_STEPS_H_

#include <utility>
#include <vector>

namespace ConstraintPlugin {

/** How often the forces of each group kick in a step of r-RESPA: every k-th moment between the innermost steps. Plain
 *  data, the same on every platform. */
class MultipleTimeSteps {
public:
    using Groups = std::vector<std::pair<int, int>>; ///< (force group, substeps)
    /** Force groups that are evaluated together. */
    struct Level {
        int groups = 0;   ///< a bit for each
        int substeps = 1; ///< of a step
    };

    /** @throws OpenMMException if a group is none or listed twice, or if its substeps are not a multiple of those of
     * all groups with fewer */
    explicit MultipleTimeSteps(const Groups& groups);
    /** As they were given. */
    const Groups& getGroups() const {
        return groups;
    }
    /** Number of innermost steps. */
    int getNumSubsteps() const {
        return listed.back().substeps;
    }
    /** Ascending by substeps. @param integrated  a bit for each force group that takes part */
    std::vector<Level> levels(int integrated) const;
    /** Whether the forces of a level kick at a moment: after so many innermost steps. */
    bool kicks(const Level& level, int moment) const {
        return moment % periodOf(level) == 0;
    }
    /** Number of innermost steps in one of a level's. */
    int periodOf(const Level& level) const {
        return getNumSubsteps() / level.substeps;
    }
    /** Whether a force group is listed. */
    bool has(int group) const;

private:
    Groups groups;
    std::vector<Level> listed;
};

} // namespace ConstraintPlugin

#endif
