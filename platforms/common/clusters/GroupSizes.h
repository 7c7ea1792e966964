// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_GROUP_SIZES_H_
#define OPENMM_CONSTRAINTS_GROUP_SIZES_H_

#include "ConstraintTables.h"
#include "Device.h"

namespace ConstraintPlugin {

/** The threads that solve the clusters of a range. */
struct ThreadGroup {
    int blockSize = 64;     ///< threads
    int factorNumbers = 0;  ///< in the largest factor that is kept in shared memory
    int sharedFloats = 0;   ///< shared memory, in floats: that, or a subdomain
    int reportsAt = 0;      ///< place there of what the threads report, where it is not declared (CUDA)
    bool isLocal = false;   ///< subdomains are kept in shared memory
    int together = 1;       ///< blocks that a multiprocessor has registers for
    int sharedFactors = 0;  ///< number of clusters with such factors
    bool hasOthers = false; ///< there are factors that do not fit
    /** Place of arguments in shared memory, in floats, behind the factor. */
    int argumentsAt() const {
        return (factorNumbers + 7) / 8 * 8;
    }
};

/** How large thread groups are, by what a device has. */
class GroupSizes {
public:
    /** @param isCoarse  ProgramFrame::Traits */
    GroupSizes(Device& device, bool isCoarse);
    ConstraintTables::ThreadGroups available() const;
    /** @param argumentFloats  KernelArguments::floats()
     *  @param leastBlock      threads of a block, at least
     *  @param mostTogether    blocks that share a multiprocessor, at most */
    ThreadGroup groupOf(const ConstraintTables& tables, const ConstraintTables::Range& range, int argumentFloats,
                        int leastBlock = 0, int mostTogether = maxBlockSize) const;
    /** Bytes of shared memory of a block, where none is declared. Subdomains that are kept there report in another way,
     * so they take the place of reports. */
    int sharedBytes(const ThreadGroup& group) const;
    /** Whether thread blocks solve clusters. On a CPU single threads do. */
    static bool usesBlocks(const OpenMM::ComputeContext& cc);
    /** Whether they solve large ones in overlapping subdomains. */
    static bool usesSubdomains(const OpenMM::ComputeContext& cc);

private:
    /** Bytes of shared memory for the reports of a block's threads. */
    int reportBytes(int blockSize) const;
    /** The same for all arrays that are declared in the text of a block. */
    int declaredBytes(int blockSize) const;
    /** Numbers of a factor that fit into the shared memory of a block of this size. */
    long long sharedNumbers(int blockSize) const;
    /** Let blocks of subdomains that stay in shared memory share multiprocessors. */
    void putTogether(ThreadGroup& group, int numSubdomains) const;
    Device& device;
    int mixedBytes, numberBytes;
};

} // namespace ConstraintPlugin

#endif
