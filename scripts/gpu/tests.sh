#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: the C++ tests that concern CUDA, in mixed precision, and what a step asks of the device.
source scripts/gpu/common.sh

need_tests "C++ tests"
try "Launches and waits" "${counting[@]}" "$GPU_TESTS/calls/TestCalls" \
    "--gtest_filter=*hydrogens_mixed*:*clusters_mixed*:*Builtin*:*Launches*:Device.GetsBack*"
try "C++ tests, CUDAMixed" run_tests "*CUDAMixed*" env
exit "$failed"
