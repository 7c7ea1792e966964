#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Checks the CUDA platform on a machine with an NVIDIA GPU, in pieces of under ten minutes, each useful alone:
#
#   versions     what is there; where the driver is too old for NVRTC, the remedy, and nothing else is run
#   sanitize     memcheck, racecheck and synccheck of compute-sanitizer on small cases of every path
#   tests        C++ tests in mixed precision; what a step asks of the device
#   parts        clusters in parts that wait for each other, with every kind of constraint, against Reference
#   grid         clusters that the whole device solves, against Reference
#   benchmark    whole steps of villin and DHFR, ours and OpenMM's integrators in turn: ns/day, launches and waits
#   profile      where the time goes (nsys), and the two kernels of ours that take most of it (ncu)
#   single       C++ tests in single precision
#   double       and in double precision
#
#   scripts/gpu-check.sh                           # all, in this order
#   scripts/gpu-check.sh tests grid
#   scripts/gpu-check.sh --dry-run versions grid   # without a GPU: the driver is a stand-in, which runs no kernel
#   scripts/gpu-check.sh --limit 590               # seconds for a piece
#   CARRIED=1 scripts/gpu-check.sh                 # nothing is set up: .venv and build came from another machine
#   INSTALLED=1 PYTHON=python3 scripts/gpu-check.sh versions benchmark    # the package as it is installed there
#
# After the set-up nothing needs a network. What is found lies in a folder that is named at the end, build/gpu/<time>.
# scripts/gpu/fill-cache.sh compiles kernels beforehand. More is in docs/gpu.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

all=(versions sanitize tests parts grid benchmark profile single double)
pieces=()
limit=590
export GPU_DRY_RUN=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) GPU_DRY_RUN=1 ;;
    --limit) limit=${2:?--limit needs a number of seconds} && shift ;;
    versions | sanitize | tests | parts | grid | benchmark | profile | single | double) pieces+=("$1") ;;
    *) die "unknown argument $1 (see the head of scripts/gpu-check.sh)" ;;
    esac
    shift
done
[ ${#pieces[@]} -gt 0 ] || pieces=("${all[@]}")

wanted() { [[ " ${pieces[*]} " == *" $1 "* ]]; }

# openmmtools has the files of DHFR; what it needs itself is left out, since it is not imported.
prepare_inputs() {
    local prepare=("$GPU_PYTHON" benchmarks/gpu.py --prepare --inputs "$GPU_INPUTS")
    "${prepare[@]}" >/dev/null && return
    "$GPU_PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps "openmmtools>=0.24"
    "${prepare[@]}"
}

find_python
device() { "${python:-python3}" scripts/gpu/device.py 2>&1; }
if [ -z "$GPU_DRY_RUN" ]; then
    gpu=$(device) || die "this needs an NVIDIA GPU: $gpu. Without one: --dry-run, and scripts/test.sh --full"
fi

export GPU_PYTHON=$venv/bin/python GPU_TESTS=$build/tests GPU_INPUTS=$build/gpu/inputs
if [ -n "${INSTALLED:-}" ]; then
    GPU_PYTHON=$python GPU_TESTS=
elif [ -n "${CARRIED:-}" ]; then
    # Wherever they lie now, and whichever Python of the same version is here.
    site=$(echo "$venv"/lib/python3*/site-packages)
    GPU_PYTHON=${PYTHON:-$GPU_PYTHON}
    export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
    export LD_LIBRARY_PATH=$build:$site/OpenMM.libs/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export CONSTRAINTS_TEST_PLUGINS=$build/plugins CONSTRAINTS_TEST_OPENMM_PLUGINS=$site/OpenMM.libs/lib/plugins
else
    setup tests
    # What pieces need besides, while there is a network: compute-sanitizer, and where the benchmark starts.
    if [ -z "$GPU_DRY_RUN" ] && wanted sanitize; then install_requirements gpu; fi
    if wanted benchmark || wanted profile; then prepare_inputs; fi
fi
[ -x "$GPU_TESTS/ConstraintTests" ] || GPU_TESTS=

mkdir -p "$build/gpu"
GPU_FOLDER=$(mktemp -d "$build/gpu/$(date -u +%Y-%m-%d-%H%M%S)${GPU_DRY_RUN:+-dry-run}.XXX")
export GPU_FOLDER GPU_LIMIT=$limit
touch "$GPU_FOLDER/summary.txt"
if [ -n "$GPU_DRY_RUN" ]; then
    stand_in=$build/tests/calls
    [ -e "$stand_in/fakecuda/libcuda.so.1" ] || die "a dry run needs the C++ tests: their stand-in for the driver"
    export LD_LIBRARY_PATH=$stand_in/fakecuda:$stand_in/fakecufft${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    mkdir "$GPU_FOLDER/stubs"
    for tool in compute-sanitizer nsys ncu; do
        ln -s "$root/scripts/gpu/stub.sh" "$GPU_FOLDER/stubs/$tool"
    done
    export PATH=$GPU_FOLDER/stubs:$PATH
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
    start=$SECONDS
    status=0
    timeout --kill-after=10 "$limit" bash "scripts/gpu/$piece.sh" || status=$?
    [ "$status" = 0 ] || failed=1
    result='' ended=''
    [ "$status" = 0 ] || result=FAILED
    [ "$status" != 124 ] || ended=", ended by --limit $limit"
    printf '%-8s %4d s  %s in all%s\n' "$result" $((SECONDS - start)) "$piece" "$ended" >>"$GPU_FOLDER/summary.txt"
done

say "Summary"
cat "$GPU_FOLDER/summary.txt"
printf '         %4d s  everything, on %s\n' "$SECONDS" "$GPU_NOTE"
printf 'What was found is in %s\n' "$GPU_FOLDER"
exit "$failed"
