#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# What takes too long for every change. Exits with nonzero if anything failed, and says what.
#
#   bash scripts/check.sh              # all of the following; hours
#   bash scripts/check.sh --only NAME  # one of these:
#     sanitizers  # the C++ tests with AddressSanitizer and UndefinedBehaviorSanitizer, on the host, in build/sanitized
#     tidy        # clang-tidy, in build/tidy
#     oclgrind    # kernels on a simulated OpenCL device that reports data races
#     emulator    # kernels of CUDA on the emulator (tests/emulator) with AddressSanitizer, UndefinedBehaviorSanitizer and
#                 # ThreadSanitizer
#     emulated    # what test.sh leaves out of the tests on the emulator
#     precisions  # the tests on OpenCL, all in each precision
#     compiled    # all kernels by NVRTC and ptxas for sm_90
#     mutants     # whether each barrier that is removed is noticed, on both simulated devices
#     series      # the tests of test.sh with each OpenMM series, from build/wheels (scripts/wheels.sh)
#     sample, oclgrind-sample    # some tests of sanitizers and of oclgrind, which test.sh --full runs
#   bash scripts/check.sh --fuzz 60    # also damaged input other than TestFuzz has each time, with sanitizers, for 60 s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

fuzz=0
only=
while [ $# -gt 0 ]; do
    case $1 in
    --fuzz) fuzz=${2:?--fuzz needs a number of seconds} ;;
    --only) only=${2:?--only needs a name} ;;
    *) die "unknown argument $1 (see the head of scripts/check.sh)" ;;
    esac
    shift 2
done
case $only in
"" | sanitizers | sample | tidy | oclgrind | oclgrind-sample | emulator | emulated | precisions | compiled | mutants | series) ;;
*) die "--only $only: see the head of scripts/check.sh for the names" ;;
esac

# Whether the part of any of these names is wanted.
wants() {
    [ -z "$only" ] || [[ " $* " == *" $only "* ]]
}

if wants tidy; then setup_machine tidy; elif wants sanitizers sample; then setup_machine sanitizers; fi
if wants oclgrind oclgrind-sample mutants; then setup oclgrind; elif wants emulator emulated precisions compiled; then setup tests; else
    find_python && setup_venv
fi
export PATH=$venv/bin:$PATH
jobs=$(nproc)

configure() {
    local folder=$1
    shift
    mkdir -p "$build"
    cmake -S . -B "$folder" -G Ninja -DCONSTRAINTS_BUILD_PYTHON=OFF -DPython_EXECUTABLE="$venv/bin/python" "$@" >"$folder.log" ||
        { tail -n 20 "$folder.log" >&2; return 1; }
}

sanitized=$build/sanitized
# Devices are left out: their compilers take ten times as long with sanitizers, and find nothing. -O1, because -O3 hides
# what was read, and -O0 takes too long.
build_sanitized() { # TARGET
    configure "$sanitized" -DBUILD_TESTING=ON -DBUILD_DEVICES=OFF -DSANITIZE=address,undefined \
        -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1" &&
        ninja -C "$sanitized" -j "$jobs" --quiet "$1"
}
export CONSTRAINTS_TEST_PLATFORMS=Reference,CPU
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leaks.txt:print_suppressions=0

run_fuzz() {
    local end=$((SECONDS + fuzz)) round
    for ((round = 1; SECONDS < end; round++)); do
        CONSTRAINTS_FUZZ_ROUND=$round "$sanitized/tests/SampleTests" --gtest_filter='Fuzz.*' --gtest_brief=1 ||
            { printf 'to see it again: CONSTRAINTS_FUZZ_ROUND=%d\n' "$round" >&2; return 1; }
    done
}

tidy() {
    # Each file by itself, without precompiled headers, which clang cannot read: so it is seen that files include what they use.
    configure "$build/tidy" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DJOIN_SOURCES=OFF &&
        git ls-files -z --cached --others --exclude-standard -- core expressions system openmmapi serialization platforms |
        grep -z '\.cpp$' |
        xargs -0 --no-run-if-empty -n 1 -P "$jobs" clang-tidy -p "$build/tidy" --quiet --extra-arg=-Wno-unknown-warning-option
}

if wants sanitizers sample; then
    target=all label=.
    [ "$only" != sample ] || target=SampleTests label=quick
    check "Build with sanitizers" build_sanitized "$target"
    check "C++ tests with sanitizers (ctest)" ctest --test-dir "$sanitized" --output-on-failure --no-tests=error \
        --parallel "$jobs" --label-regex "$label"
    [ "$fuzz" -eq 0 ] || check "Fuzzing for $fuzz s" run_fuzz
fi
if wants tidy; then check "clang-tidy" tidy; fi
if wants oclgrind; then
    check "Kernels under oclgrind" "$venv/bin/python" tests/oclgrind/run.py
    check "Kernels with anything in memory before" "$venv/bin/python" tests/oclgrind/mutants.py patterns --build "$build"
fi
if [ "$only" = oclgrind-sample ]; then
    check "Some kernels under oclgrind" "$venv/bin/python" tests/oclgrind/run.py --quick
fi
# In the build folder of test.sh, on all platforms.
ctest_of() {
    env -u CONSTRAINTS_TEST_PLATFORMS \
        ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$jobs" --label-regex "$1"
}
if wants emulator emulated && [ "$(uname -m)" != x86_64 ]; then
    say "The emulator runs on x86-64 only: left out"
else
    if wants emulator; then check "Kernels on the emulator, with sanitizers (ctest -L detectors)" ctest_of detectors; fi
    if wants emulated; then check "More kernels on the emulator (ctest -L emulated)" ctest_of emulated; fi
fi
if wants precisions; then
    check "C++ tests on OpenCL in each precision (ctest -L precisions)" ctest_of precisions
    check "Python tests on OpenCL, single precision, and villin in both" env CONSTRAINTS_TEST_PLATFORM=OpenCL \
        CONSTRAINTS_TEST_PRECISION=single python -m pytest tests/python -q -n "$jobs" \
        -m "precisions or platform and not statistics"
fi
if wants compiled; then check "All kernels by NVRTC (ctest -L compiled)" ctest_of compiled; fi
if wants mutants; then
    check "OpenCL's kernels without each of their barriers" \
        "$venv/bin/python" tests/oclgrind/mutants.py barriers --build "$build"
    check "CUDA's kernels without each of their barriers and fences" env -u CONSTRAINTS_TEST_PLATFORMS \
        "$venv/bin/python" tests/emulator/mutants.py "$build"
fi
if wants series; then check "Each OpenMM series" env -u CONSTRAINTS_TEST_PLATFORMS bash scripts/wheels.sh --test; fi

finish_checks
