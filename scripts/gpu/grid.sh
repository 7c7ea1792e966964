#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: clusters that the whole device solves, by cooperative launches, and factors in shared memory,
# against Reference. Repeated, since a race shows now and then.
source scripts/gpu/common.sh

need_tests "The cooperative path"
repeat=10
[ -z "$GPU_DRY_RUN" ] || repeat=1
try "Several blocks for a cluster" run_tests "*/SeveralBlocks.*CUDA*" env "GTEST_REPEAT=$repeat"
try "Factors in shared memory" run_tests "*/SharedFactors.*CUDA*:*/IllConditioned.*CUDA*" env
try "Memory" run_tests "*/DeviceMemory.*CUDA*" env
exit "$failed"
