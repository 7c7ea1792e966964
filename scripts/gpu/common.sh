# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the pieces of gpu-check.sh share. It runs them, each for GPU_LIMIT seconds at most, with these variables:
#
#   GPU_FOLDER       where a piece writes what it finds; summary.txt there has a line for each command
#   GPU_PYTHON       the interpreter with the package
#   GPU_TESTS        the folder of the C++ tests; empty: they are not there
#   GPU_DRY_RUN      not empty: the driver is the stand-in, which runs no kernel
#   GPU_INPUTS       the folder of what the benchmark starts from
#   GPU_NOTE         the device and the commit, for what is written
#   GPU_SYSTEMS      not empty: the system that the benchmark takes, of villin and dhfr
#   GPU_INTEGRATORS  not empty: those that it takes; GPU_ROUNDS: how often
#   GPU_LENIENT      not empty: a tool that is missing is no failure
set -euo pipefail
source scripts/common.sh

piece=$(basename "$0" .sh)
jobs=$(nproc)
[ "$jobs" -le 16 ] || jobs=16 # processes that share the GPU

# note RESULT SECONDS NAME: a line of the summary
note() {
    printf '%-8s %4d s  %s: %s\n' "$1" "$2" "$piece" "$3" >>"$GPU_FOLDER/summary.txt"
    case $1 in
    passed | ran) ;;
    "not run") [ -n "${GPU_LENIENT:-}" ] || failed=1 ;;
    *) failed=1 ;;
    esac
}

# try NAME COMMAND...: runs it into a file, notes how it ended, and goes on. It may set `found`, for the summary.
tried=0
try() {
    local name=$1 start=$SECONDS status=0 result=passed log found=
    [ -z "$GPU_DRY_RUN" ] || result=ran
    tried=$((tried + 1))
    log=$GPU_FOLDER/$piece-$tried.log
    shift
    say "$name"
    printf '%q ' "$@" >"$log"
    printf '\n' >>"$log"
    "$@" >>"$log" 2>&1 || status=$?
    if [ "$status" = 0 ]; then
        note "$result" $((SECONDS - start)) "$name${found:+ ($found)}"
    else
        tail -n 5 "$log" >&2
        note FAILED $((SECONDS - start)) "$name (exit status $status${found:+, $found}; $log)"
    fi
}

# not_run NAME WHY
not_run() {
    say "$1: not run: $2"
    note "not run" 0 "$1 ($2)"
}

# run_tests FILTER COMMAND...: the tests of $program that the filter leaves, behind the command (as `env`), shared
# among processes: most of the time goes into compiling kernels, on one core each. In a dry run every 40th of them, or as
# GPU_EVERY says: no kernel runs there, so they may fail, but not crash.
program=ConstraintTests
run_tests() {
    local filter=$1 share passed missed status=0 log=$GPU_FOLDER/$piece-$tried
    local shards=$jobs total=$jobs
    shift
    [ -z "$GPU_DRY_RUN" ] || total=$((jobs * ${GPU_EVERY:-40}))
    # shellcheck disable=SC2016
    seq 0 $((shards - 1)) | xargs -P "$shards" -I{} env "GTEST_TOTAL_SHARDS=$total" GTEST_SHARD_INDEX={} \
        bash -c 'log=$1; shift; exec "$@" >"$log.$GTEST_SHARD_INDEX" 2>&1' _ "$log" \
        "$@" "$GPU_TESTS/$program" "--gtest_filter=$filter" || status=$?
    for ((share = 0; share < shards; share++)); do
        cat "$log.$share"
        grep -E '^\[=+\] .* ran\.' "$log.$share" >/dev/null || { printf 'process %d did not end\n' "$share"; status=2; }
    done >"$log.all"
    rm "$log".[0-9]*
    cat "$log.all"
    passed=$(grep -c '^\[       OK \]' "$log.all" || true)
    missed=$(grep -c '^\[  FAILED  \] .* ms)$' "$log.all" || true)
    found="$passed passed, $missed failed"
    grep '^\[  FAILED  \] .* ms)$' "$log.all" >&2 || true
    rm "$log.all"
    # xargs: 123 where a program ended with 1, as with a failed test
    [ -z "$GPU_DRY_RUN" ] || [ "$status" != 123 ] || status=0
    # A filter that fits no test is a success for them. A dry run may leave none of a few.
    [ -n "$GPU_DRY_RUN" ] || [ $((passed + missed)) -gt 0 ] || status=1
    return "$status"
}

# sanitize TOOL FILTER: the same under a tool of compute-sanitizer. Errors of calls are left to the tests: OpenMM looks for
# compiled kernels in a file that need not be there.
sanitizer=(compute-sanitizer --report-api-errors no --error-exitcode 9)
sanitize() {
    if command -v compute-sanitizer >/dev/null; then
        try "compute-sanitizer, $1" run_tests "$2" "${sanitizer[@]}" --tool "$1"
    else
        not_run "compute-sanitizer, $1" "it is not installed: pip install nvidia-cuda-sanitizer-api, or the CUDA toolkit"
    fi
}

# Libraries of ncu and nsys are looked for in LD_LIBRARY_PATH first, where folders of NVRTC may have some of another version.
# From here on each of these is replaced by a folder with links to all other libraries in it.
leave_out_profilers() {
    local folder links folders result=
    IFS=: read -ra folders <<<"${LD_LIBRARY_PATH:-}"
    for folder in "${folders[@]}"; do
        if compgen -G "$folder/libcupti*" >/dev/null || compgen -G "$folder/libnvperf*" >/dev/null; then
            links=$GPU_FOLDER/links/${folder//\//_}
            mkdir -p "$links"
            ln -sf "$folder"/*.so* "$links"
            rm -f "$links"/lib{cupti,nvperf,checkpoint,pcsampling}*
            folder=$links
        fi
        result+=${folder:+${result:+:}$folder}
    done
    export LD_LIBRARY_PATH=$result
}

# The C++ tests, on the CUDA platform only.
need_tests() {
    if [ -z "$GPU_TESTS" ]; then
        not_run "$1" "the C++ tests were not built"
        exit 1
    fi
    export CONSTRAINTS_TEST_PLATFORMS=CUDASingle,CUDAMixed,CUDADouble CONSTRAINTS_TEST_CUDA=1
}

# Launches and waits are counted where the library is preloaded: by name, since a path with a space in it could not be.
# shellcheck disable=SC2034
counting=(env)
if [ -n "$GPU_TESTS" ] && [ -e "$GPU_TESTS/calls/libcountcalls.so" ]; then
    # shellcheck disable=SC2034
    counting=(env LD_PRELOAD=libcountcalls.so "LD_LIBRARY_PATH=$GPU_TESTS/calls${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
fi
