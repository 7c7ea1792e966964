#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: clusters in one piece, with factors in shared and in global memory, against Reference; and arrays
# that a device has no room for.
source scripts/gpu/common.sh

need_tests "Factors"
try "Factors in shared memory" run_tests "*/SharedFactors.*CUDA*:*/IllConditioned.*CUDA*" env
try "Memory" run_tests "*/DeviceMemory.*CUDA*" env
exit "$failed"
