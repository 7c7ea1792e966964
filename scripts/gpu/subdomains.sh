#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: clusters in subdomains that wait for each other, with angles, dihedrals, expressions and rigid bodies,
# in one launch and in a launch a round, in turns with bordered rows, and failures. The tests are those of the emulator, with
# threads as the GPU runs them; what they run three times has to be the same bit for bit.
source scripts/gpu/common.sh

need_tests "Clusters in subdomains"
program=emulator/TestEmulator
if [ ! -x "$GPU_TESTS/$program" ]; then
    not_run "Clusters in subdomains" "the tests of the emulator were not built: they need g++ on x86-64"
    exit 1
fi
export CONSTRAINTS_TEST_GPU=1
bodies='All/EmulatedSubdomainsBodies.*CUDAMixed_MatrixInversion_Rattle'
try "Clusters in subdomains, CUDAMixed" run_tests \
    "All/EmulatedSubdomains*CUDAMixed_MatrixInversion_Rattle:All/EmulatedBorder*CUDAMixed_MatrixInversion_Rattle:EmulatedSubdomainsAnglesOf.*:EmulatedSubdomainsOf.*-*Momenta*" \
    env
for tool in memcheck racecheck; do
    sanitize "$tool" "$bodies"
done
exit "$failed"
