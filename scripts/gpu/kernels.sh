#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: times of single kernels of DHFR without forces, by ncu, into kernels.csv. The launches are those of
# the first steps: each run has at least 74, of which 30 are skipped. Clocks are left alone, and so are caches.
source scripts/gpu/common.sh

runs=(HBonds:Rattle HBonds:RattleLangevin AllBonds:Rattle AllBonds:RattleLangevin HBonds:Verlet HBonds:LangevinMiddle
    HAngles:RattleLangevin AllBonds:LangevinMiddle)
[ -z "${GPU_KERNEL_RUNS:-}" ] || runs=("${runs[@]:0:$GPU_KERNEL_RUNS}")

profile() {
    local log=$GPU_FOLDER/$piece-$1-$2.csv
    # An interpreter may start another one, whose launches older versions of ncu leave out unless they are told.
    ncu --clock-control none --cache-control none --metrics gpu__time_duration.sum --csv --print-units base --log-file "$log" \
        --launch-skip 30 --launch-count 160 --target-processes all \
        "$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --without-forces --systems dhfr --precision mixed \
        --sets "$1" --integrators "$2" --rounds 1 --steps 20 || { grep '^==' "$log"; return 1; }
    "$GPU_PYTHON" scripts/gpu/kernel_times.py "DHFR $1" "$2" "$log" >>"$GPU_FOLDER/kernels.csv"
}

command -v ncu >/dev/null || { not_run "Single kernels" "there is no ncu: NVIDIA Nsight Compute" && exit "$failed"; }
printf 'system,integrator,kernel,threads a block,blocks,launches,median us,lowest,highest\n' >"$GPU_FOLDER/kernels.csv"
for run in "${runs[@]}"; do
    try "Kernels of ${run/:/, }" profile "${run%:*}" "${run#*:}"
done
exit "$failed"
