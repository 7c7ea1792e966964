#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: the C++ tests that concern CUDA, in single precision.
source scripts/gpu/common.sh

need_tests "C++ tests, CUDASingle"
try "C++ tests, CUDASingle" run_tests "*CUDASingle*" env
exit "$failed"
