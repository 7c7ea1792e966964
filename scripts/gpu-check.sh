#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Checks the CUDA platform on a machine with an NVIDIA GPU: builds everything, runs the tests that concern CUDA on the
# real device, and the benchmark, which writes benchmarks/results/<day>-<device>.json. Arguments go to the benchmark.
#
#   scripts/gpu-check.sh
#   scripts/gpu-check.sh --precision single mixed double --rounds 30
#   INSTALLED=1 PYTHON=python3 scripts/gpu-check.sh    # no build, no C++ tests: the package as it is installed there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

# The driver is asked, not nvidia-smi: a container may have one without the other.
find_gpu() {
    "${python:-python3}" - <<'PY'
import ctypes
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    raise SystemExit(f"no NVIDIA driver ({error})")
count, version = ctypes.c_int(0), ctypes.c_int(0)
result = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
if result or not count.value:
    raise SystemExit(f"the NVIDIA driver finds no GPU (CUDA error {result})")
name, device = ctypes.create_string_buffer(256), ctypes.c_int(0)
driver.cuDeviceGet(ctypes.byref(device), 0)
driver.cuDeviceGetName(name, 256, device)
driver.cuDriverGetVersion(ctypes.byref(version))
print(f"{name.value.decode()}, driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}")
PY
}

find_python
gpu=$(find_gpu 2>&1) || die "this needs an NVIDIA GPU: $gpu. Without one, scripts/test.sh --full compiles all CUDA kernels and runs the host code on a fake driver"
say "$gpu"

notes=(--note "$gpu" --note "$(git describe --always --dirty 2>/dev/null || echo 'no git here')")
failed=0
if [ -n "${INSTALLED:-}" ]; then
    interpreter=$python
else
    setup tests
    interpreter=$venv/bin/python
fi
"$interpreter" scripts/gpu/versions.py || exit 1 # it says why, and what to do

if [ -z "${INSTALLED:-}" ]; then
    say "C++ tests on CUDA"
    log=$build/gpu-check.log
    export CONSTRAINTS_TEST_CUDA=1
    # Each process has its share of the tests: most of the time goes into compiling kernels, on one core.
    GTEST_TOTAL_SHARDS=$(nproc)
    export GTEST_TOTAL_SHARDS
    seq 0 $((GTEST_TOTAL_SHARDS - 1)) | xargs -P "$GTEST_TOTAL_SHARDS" -I{} env GTEST_SHARD_INDEX={} \
        bash -c '"$1" --gtest_filter="*CUDA*" >"$2.$GTEST_SHARD_INDEX" 2>&1' _ "$build/tests/ConstraintTests" "$log" || failed=1
    unset GTEST_TOTAL_SHARDS
    cat "$log".* >"$log"
    rm "$log".*
    # With the real driver, whose calls are noted on the way.
    "$venv/bin/ctest" --test-dir "$build" --output-on-failure --no-tests=error --tests-regex '^calls$' --verbose >>"$log" 2>&1 ||
        failed=1
    passed=$(grep -cE '^([0-9]+: )?\[       OK \]' "$log" || true)
    wrong=$(grep -E '^([0-9]+: )?\[  FAILED  \] .*\(' "$log" | sort -u || true)
    [ -z "$wrong" ] || printf '%s\n' "$wrong"
    [ "$passed" -gt 0 ] || die "no test ran on CUDA (see $log)"
    notes+=(--note "C++ tests on CUDA: $passed passed, $(printf '%s' "$wrong" | grep -c . || true) failed")
    printf '%s passed; all of it is in %s\n' "$passed" "$log"
fi

say "Benchmark"
# Counts launches too, where the C++ tests were built.
calls=$build/tests/calls
if [ -e "$calls/libcountcalls.so" ]; then # preloaded by name: a path with a space in it could not be
    export LD_PRELOAD=libcountcalls.so LD_LIBRARY_PATH=$calls${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
"$interpreter" benchmarks/platforms.py --platform CUDA --precision mixed single "${notes[@]}" "$@" || failed=1
exit "$failed"
