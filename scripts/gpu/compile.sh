#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: compiles what the benchmark and the pieces after it launch of this package, a process for each program,
# side by side; one after the other they take minutes. Where they were compiled before it takes seconds.
source scripts/gpu/common.sh

compile() {
    local precision constraints integrator
    # shellcheck disable=SC2016
    for precision in mixed single; do
        for constraints in AllBonds HAngles HBonds; do
            for integrator in RattleLangevin Rattle ReplacedLangevinMiddle; do
                printf '%s %s %s\n' "$precision" "$constraints" "$integrator"
            done
        done
    done | xargs -P "$jobs" -L 1 bash -c 'exec "$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --systems dhfr \
        --precision "$1" --sets "$2" --integrators "$3" --rounds 1 --steps 1' _
}
try "Kernels of DHFR" compile
exit "$failed"
