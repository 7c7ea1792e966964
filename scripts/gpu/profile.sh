#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: where the time of a step goes (nsys), and the two of our kernels that take most of it (ncu).
source scripts/gpu/common.sh
leave_out_profilers

step=("$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --systems dhfr --sets AllBonds --precision mixed
    --integrators RattleLangevin --rounds 1 --seconds 0.1)
kernels=(eachCluster_driftAndHeat eachCluster_kick) # unless nsys finds others
if command -v nsys >/dev/null; then
    report=$GPU_FOLDER/profile
    try "nsys" nsys profile --trace=cuda --force-overwrite=true --output "$report" "${step[@]}"
    try "Times of all kernels" nsys stats --force-export=true --report cuda_gpu_kern_sum --format csv \
        --output "$report" "$report.nsys-rep"
    csv=${report}_cuda_gpu_kern_sum.csv
    if [ -e "$csv" ]; then
        # Hottest first; the name is the last column.
        mapfile -t found < <(grep -oE '((each|small|thread|block)Cluster|subdomain|clusterOfSubdomains)_[A-Za-z]+' "$csv" | awk '!seen[$0]++' | head -n 2)
        [ ${#found[@]} -eq 0 ] || kernels=("${found[@]}")
    fi
else
    not_run "nsys" "it is not installed: NVIDIA Nsight Systems"
fi

# ncu succeeds too where no kernel of that name was launched.
profile_kernel() {
    ncu --set full --kernel-name "$1" --launch-skip 20 --launch-count 3 --force-overwrite --export "$GPU_FOLDER/$1" \
        --target-processes all "${step[@]}" || return
    [ -s "$GPU_FOLDER/$1.ncu-rep" ] || { printf 'no launch of %s was profiled\n' "$1"; return 1; }
}
for kernel in "${kernels[@]}"; do
    if command -v ncu >/dev/null; then
        try "ncu, $kernel" profile_kernel "$kernel"
    else
        not_run "ncu, $kernel" "it is not installed: NVIDIA Nsight Compute"
    fi
done
exit "$failed"
