#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: times of single kernels of DHFR without forces, into kernels.csv: by ncu; if that profiles none, by ncu
# with few options; else by nsys. The launches are those of the first steps: each run has at least 74, of which ncu skips 30 at
# first. Clocks are left alone, and so are caches.
source scripts/gpu/common.sh
leave_out_profilers

runs=(HBonds:Rattle HBonds:RattleLangevin AllBonds:Rattle AllBonds:RattleLangevin HBonds:Verlet HBonds:LangevinMiddle
    HAngles:RattleLangevin AllBonds:LangevinMiddle)
[ -z "${GPU_KERNEL_RUNS:-}" ] || runs=("${runs[@]:0:$GPU_KERNEL_RUNS}")

# Each is given the name of a table, and a command. An interpreter may start another one, whose launches older versions of ncu
# leave out unless they are told.
by_ncu() {
    ncu --clock-control none --cache-control none --metrics gpu__time_duration.sum --csv --print-units base --log-file "$1" \
        --launch-skip 30 --launch-count 160 --target-processes all "${@:2}"
}
by_ncu_with_few_options() {
    ncu --metrics gpu__time_duration.sum --csv --log-file "$1" --target-processes all "${@:2}"
}
# Needs no counters, which a machine may keep from users.
by_nsys() {
    nsys profile --trace=cuda --sample=none --cpuctxsw=none --force-overwrite=true --output "$1" "${@:2}" &&
        nsys stats --force-export=true --report cuda_gpu_trace --format csv --output - "$1.nsys-rep" >"$1"
}

ways=(ncu ncu_with_few_options nsys)
profile() {
    local table=$GPU_FOLDER/$piece-$1-$2.csv
    while true; do
        rm -f "$table"
        found="by ${ways[0]//_/ }"
        printf '==> %s\n' "$found"
        if "by_${ways[0]}" "$table" \
            "$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --without-forces --systems dhfr --precision mixed \
            --sets "$1" --integrators "$2" --rounds 1 --steps 20; then
            "$GPU_PYTHON" scripts/gpu/kernel_times.py "DHFR $1" "$2" "$table" >>"$GPU_FOLDER/kernels.csv" && return
        elif [ -e "$table" ]; then
            grep '^==' "$table"
        fi
        [ ${#ways[@]} -gt 1 ] || return 1
        ncu --version || true
        grep RmProfilingAdminOnly /proc/driver/nvidia/params || true # 1: counters are for administrators
        ways=("${ways[@]:1}") # nor for the next run
    done
}

command -v ncu >/dev/null || { not_run "Single kernels" "there is no ncu: NVIDIA Nsight Compute" && exit "$failed"; }
printf 'system,integrator,kernel,threads a block,blocks,launches,median us,lowest,highest\n' >"$GPU_FOLDER/kernels.csv"
for run in "${runs[@]}"; do
    try "Kernels of ${run/:/, }" profile "${run%:*}" "${run#*:}"
done
exit "$failed"
