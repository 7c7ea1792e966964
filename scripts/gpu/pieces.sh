# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# What gpu-check.sh and the run.sh of an archive share, after scripts/common.sh: how they run pieces.

# use_stand_in FOLDER: the stand-in for the driver, of calls/ among the C++ tests, and stubs for NVIDIA's tools
use_stand_in() {
    [ -e "$1/fakecuda/libcuda.so.1" ] || die "a dry run needs the C++ tests: their stand-in for the driver"
    export LD_LIBRARY_PATH=$1/fakecuda:$1/fakecufft${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    mkdir -p "$GPU_FOLDER/stubs"
    for tool in compute-sanitizer nsys ncu; do
        ln -sf "$root/scripts/gpu/stub.sh" "$GPU_FOLDER/stubs/$tool"
    done
    export PATH=$GPU_FOLDER/stubs:$PATH
}

# run_piece NAME SECONDS: it has that long; a line of the summary says how it ended
run_piece() {
    local start=$SECONDS status=0 result='' ended=''
    GPU_LIMIT=$2 timeout --kill-after=10 "$2" bash "scripts/gpu/$1.sh" || status=$?
    [ "$status" = 0 ] || { failed=1 && result=FAILED; }
    [ "$status" != 124 ] || ended=", ended by its limit of $2 s"
    printf '%-8s %4d s  %s in all%s\n' "$result" $((SECONDS - start)) "$1" "$ended" >>"$GPU_FOLDER/summary.txt"
}

# prepare_inputs FOLDER [WORD...]: where benchmarks start, by the package in .venv. openmmtools has the files of DHFR; what it
# needs itself is left out, since it is not imported.
prepare_inputs() {
    local prepare=("$venv/bin/python" benchmarks/gpu.py --prepare --inputs "$@")
    "${prepare[@]}" >/dev/null && return
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "openmmtools>=0.24"
    "${prepare[@]}"
}
