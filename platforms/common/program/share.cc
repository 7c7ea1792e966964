// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What one solver has of a launch that several share (SharedLaunch.h), in a namespace of its own: functions in place of kernels,
// and the blocks that the host gives it.
#undef DEVICE
#undef GROUP_ID
#undef NUM_GROUPS
#undef GLOBAL_ID
#undef GLOBAL_SIZE
#define DEVICE __device__
#define PART_OF_KERNEL __device__ __forceinline__
#define GROUP_ID (((int) blockIdx.x + $BLOCKS_BEFORE$) % $ALL_BLOCKS$)
#define NUM_GROUPS $BLOCKS$
#define GLOBAL_ID (GROUP_ID * $THREADS$ + (int) threadIdx.x)
#define GLOBAL_SIZE ($BLOCKS$ * $THREADS$)
