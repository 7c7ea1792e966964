#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Checks the CUDA platform in the folder that an archive of pack.sh was unpacked into; nothing is built or installed, and no
# network is needed. What tells most comes first, and each piece has its limit.
#
#   bash run.sh                  # in nine minutes
#   bash run.sh --minutes 4
#   bash run.sh --dry-run [PIECE...]    # without a GPU: the driver is a stand-in, which runs no kernel
#
# At most eight files go to the folder OUT, or else to found: summary.txt is what is printed at the end. PYTHON chooses an
# interpreter, which has to have numpy. NVRTC, cuFFT, ncu and compute-sanitizer are this machine's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/common.sh
source scripts/gpu/pieces.sh
PACK_PYTHON='' PACK_DEVICE='' PACK_VERSION='' # which about.sh sets
# shellcheck source=/dev/null
source ./about.sh

minutes=9 chosen=()
export GPU_DRY_RUN=
while [ $# -gt 0 ]; do
    case $1 in
    --minutes) minutes=${2:?--minutes needs 4 or 9} && shift ;;
    --dry-run) GPU_DRY_RUN=1 ;;
    -*) die "unknown argument $1 (see the head of run.sh)" ;;
    *) chosen+=("$1") ;;
    esac
    shift
done
# Pieces with their limits (s). What they drop where there is little time is in docs/gpu.md.
case $minutes in
4)
    plan=(versions:20 compile:70 benchmark:75 steps:20 kernels:35 sample:85)
    export GPU_ROUNDS=3 GPU_KERNEL_RUNS=4 GPU_TEST_LIMIT=70 GPU_FEW=1
    ;;
9)
    plan=(versions:30 compile:120 benchmark:110 steps:35 kernels:75 sample:200 ensembles:75)
    export GPU_ROUNDS=6 GPU_TEST_LIMIT=110 GPU_PICOSECONDS=10
    ;;
*) die "--minutes $minutes: it is 4 or 9" ;;
esac
# A dry run waits for compilers.
[ -z "$GPU_DRY_RUN" ] || { plan=("${plan[@]/%:*/:7200}") && GPU_TEST_LIMIT=3600; }

find_numpy() {
    local candidate
    for candidate in ${PYTHON:-python3 "python$PACK_PYTHON" python}; do
        python=$candidate
        "$candidate" -c "import sys, numpy; sys.exit('%d.%d' % sys.version_info[:2] != '$PACK_PYTHON')" 2>/dev/null && return
    done
    die "this needs Python $PACK_PYTHON with numpy: PYTHON=/path/to/python bash run.sh"
}
find_numpy

out=${OUT:-$root/found} log=${GPU_FOLDER:-$root/log}
mkdir -p kernels tmp
rm -rf "$log" && mkdir -p "$out" "$log"
libraries=$("$python" scripts/gpu/libraries.py)
export PYTHONPATH=$root/site LD_LIBRARY_PATH=$root/site/OpenMM.libs/lib${libraries:+:$libraries}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$root/opencl
# OpenMM writes to TMPDIR first, and does not move from disk to disk.
export OPENMM_CACHE_DIR=${OPENMM_CACHE_DIR:-$root/kernels} TMPDIR=${TMPDIR:-$root/tmp}
export CUDA_CACHE_PATH=$root/kernels/driver CUDA_CACHE_MAXSIZE=4000000000
export CONSTRAINTS_TEST_PLUGINS=$root/site/OpenMM.libs/lib/plugins CONSTRAINTS_TEST_OPENMM_PLUGINS=$root/site/OpenMM.libs/lib/plugins
export GPU_FOLDER=$log GPU_PYTHON=$python GPU_TESTS=$root/tests GPU_INPUTS=$root/inputs GPU_SYSTEMS=dhfr GPU_LENIENT=1
export GPU_INTEGRATORS="Verlet Rattle LangevinMiddle RattleLangevin ReplacedLangevinMiddle"
touch "$GPU_FOLDER/summary.txt"
[ -z "$GPU_DRY_RUN" ] || use_stand_in "$GPU_TESTS/calls"
PATH+=:${libraries//\/lib/\/bin}$(printf ':%s' /usr/local/cuda*/bin /opt/nvidia/nsight-*/*{,/bin})
gpu=$("$python" scripts/gpu/device.py 2>&1) || die "$gpu"
GPU_NOTE="$gpu, $PACK_VERSION"
[[ $gpu == *"$PACK_DEVICE"* ]] || GPU_NOTE+=" (its kernels are for $PACK_DEVICE)"
export GPU_NOTE
say "$GPU_NOTE"

# After each piece, so that something is there whenever this is ended.
gather() {
    local file
    for file in tests.txt failures.log kernels.csv benchmark.json steps.json ensembles.json; do
        [ ! -e "$log/$file" ] || cp "$log/$file" "$out/"
    done
    for file in "$log"/*.log; do
        # tests that all pass write none
        [ ! -e "$file" ] || [ "$file" = "$log/failures.log" ] || { printf '=== %s\n' "$file" && tail -c 200000 "$file"; }
    done >"$out/log.txt"
    "$python" scripts/gpu/summary.py "$log" "$GPU_NOTE" >"$out/summary.txt" || true
}

for entry in "${plan[@]}"; do
    piece=${entry%:*} left=$((60 * minutes - 5 - SECONDS))
    [ -z "$GPU_DRY_RUN" ] || left=7200
    if [ ${#chosen[@]} = 0 ] || [[ " ${chosen[*]} " == *" $piece "* ]]; then
        [ "$left" -ge 10 ] || { printf 'not run     0 s  %s: the time was over\n' "$piece" >>"$log/summary.txt" && continue; }
        run_piece "$piece" $((left < ${entry#*:} ? left : ${entry#*:}))
        gather
    fi
done
printf '         %4d s  everything\n' "$SECONDS" >>"$log/summary.txt"
gather
cat "$out/summary.txt"
exit "$failed"
