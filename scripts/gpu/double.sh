#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: the C++ tests that concern CUDA, in double precision.
source scripts/gpu/common.sh

need_tests "C++ tests, CUDADouble"
try "C++ tests, CUDADouble" run_tests "*CUDADouble*" env
exit "$failed"
