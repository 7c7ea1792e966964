#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Checks the CUDA platform on a machine with an NVIDIA GPU, in pieces of under ten minutes, each useful alone:
#
#   versions     what is there; where the driver is too old for NVRTC, the remedy, and nothing else is run
#   sanitize     memcheck, racecheck and synccheck of compute-sanitizer on small cases of every path
#   tests        C++ tests in mixed precision; what a step asks of the device
#   subdomains   clusters in subdomains that wait for each other, with every kind of constraint, against Reference
#   factors      clusters in one piece, against Reference
#   compile      kernels of what follows, side by side
#   benchmark    whole steps of villin and DHFR, ours and OpenMM's integrators in turn: ns/day, launches and waits
#   steps        steps of DHFR without forces
#   kernels      times of single kernels of DHFR without forces (ncu)
#   ensembles    drift of the energy, and temperatures
#   sample       one C++ test of each suite, each a process with a limit; some on NVIDIA's OpenCL, some under memcheck
#   profile      where the time goes (nsys), and the two kernels of ours that take most of it (ncu)
#   single       C++ tests in single precision
#   double       and in double precision
#
#   scripts/gpu-check.sh                           # all, in this order
#   scripts/gpu-check.sh tests factors
#   scripts/gpu-check.sh --dry-run versions factors # without a GPU: the driver is a stand-in, which runs no kernel
#   scripts/gpu-check.sh --limit 590               # seconds for a piece
#
# What is found lies in a folder that is named at the end, build/gpu/<time>. Where there is no network or no time to build:
# scripts/gpu/pack.sh. More is in docs/gpu.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh
source scripts/gpu/pieces.sh

all=(versions sanitize tests subdomains factors compile benchmark steps kernels ensembles profile sample single double)
pieces=()
limit=590
export GPU_DRY_RUN=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) GPU_DRY_RUN=1 ;;
    --limit) limit=${2:?--limit needs a number of seconds} && shift ;;
    *)
        [[ " ${all[*]} " == *" $1 "* ]] || die "unknown argument $1 (see the head of scripts/gpu-check.sh)"
        pieces+=("$1")
        ;;
    esac
    shift
done
[ ${#pieces[@]} -gt 0 ] || pieces=("${all[@]}")

wanted() {
    local name
    for name in "$@"; do [[ " ${pieces[*]} " != *" $name "* ]] || return 0; done
    return 1
}

find_python
device() { "${python:-python3}" scripts/gpu/device.py 2>&1; }
if [ -z "$GPU_DRY_RUN" ]; then
    gpu=$(device) || die "this needs an NVIDIA GPU: $gpu. Without one: --dry-run, and scripts/test.sh --full"
fi

export GPU_PYTHON=$venv/bin/python GPU_TESTS=$build/tests GPU_INPUTS=$build/gpu/inputs
# A dry run takes what was built as it is.
if [ -z "$GPU_DRY_RUN" ] || [ ! -e "$GPU_TESTS/calls/fakecuda/libcuda.so.1" ]; then setup tests; fi
# What pieces need besides, while there is a network: compute-sanitizer, and where benchmarks start.
if [ -z "$GPU_DRY_RUN" ] && wanted sanitize; then install_requirements gpu; fi
if wanted compile benchmark steps kernels ensembles profile; then prepare_inputs "$GPU_INPUTS"; fi
[ -x "$GPU_TESTS/ConstraintTests" ] || GPU_TESTS=

mkdir -p "$build/gpu"
GPU_FOLDER=$(mktemp -d "$build/gpu/$(date -u +%Y-%m-%d-%H%M%S)${GPU_DRY_RUN:+-dry-run}.XXX")
export GPU_FOLDER
touch "$GPU_FOLDER/summary.txt"
if [ -n "$GPU_DRY_RUN" ]; then
    use_stand_in "$GPU_TESTS/calls"
    gpu=$(device) || die "$gpu"
fi
say "$gpu"
GPU_NOTE="$gpu, $(git describe --always --dirty 2>/dev/null || echo 'no git here')"
export GPU_NOTE
# Tools of NVIDIA's that pip or a toolkit brought.
PATH+=$(printf ':%s' "$venv"/lib/python3*/site-packages/nvidia/cu*/bin /usr/local/cuda/bin /opt/nvidia/nsight-*/*)

# Before anything else: with another NVRTC all that follows would fail.
"$GPU_PYTHON" scripts/gpu/versions.py >&2 || exit 1

for piece in "${pieces[@]}"; do
    run_piece "$piece" "$limit"
done

say "Summary"
cat "$GPU_FOLDER/summary.txt"
printf '         %4d s  everything, on %s\n' "$SECONDS" "$GPU_NOTE"
printf 'What was found is in %s\n' "$GPU_FOLDER"
exit "$failed"
