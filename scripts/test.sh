#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Builds everything and tests it: style, C++ (ctest), Python (pytest). Works from a bare checkout; see common.sh for what
# it installs. Exits with nonzero if anything failed, and says what.
#
#   bash scripts/test.sh           # what every change has to pass: six minutes at most, all set-up included
#   bash scripts/test.sh --full    # what that leaves out: on OpenCL each test with one integrator in mixed precision, and some
#                                  # in the others; long tests, more kernels on the emulator and by NVRTC, a sample with
#                                  # sanitizers and under oclgrind, and the documentation in a browser
#   bash scripts/test.sh --list    # the names of what only --full runs
#
# What takes still longer is in check.sh, statistics are in validate.sh. tests/README.md says how long each takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

mode=${1:-quick}
case $mode in
quick | --full | --list) ;;
*) die "unknown argument $mode (see the head of scripts/test.sh)" ;;
esac

setup tests
jobs=$(nproc)
reports=$build/reports # for tests/timings.py
ctest=("$venv/bin/ctest" --test-dir "$build" --no-tests=error --output-on-failure --parallel "$jobs")
pytest=("$venv/bin/python" -m pytest tests/python tools -q)

# Tracked and new files alike, but nothing that git ignores; -z because a name may contain spaces.
cpp_style() {
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' |
        xargs -0 --no-run-if-empty "$venv/bin/clang-format" --dry-run --Werror
}

case $mode in
quick)
    check "Python lint (ruff check)" "$venv/bin/ruff" check --quiet .
    check "Python format (ruff format --check)" "$venv/bin/ruff" format --check --quiet .
    check "C++ format (clang-format)" cpp_style
    check "C++ tests (ctest -L quick)" "${ctest[@]}" --label-regex quick \
        --output-junit "$reports/ctest-quick.xml"
    check "Python tests (pytest)" "${pytest[@]}" -n "$jobs" -m "not long and not statistics and not precisions" \
        --junitxml "$reports/pytest-quick.xml"
    ;;
--full)
    check "C++ tests (ctest -L full)" "${ctest[@]}" --label-regex full \
        --output-junit "$reports/ctest-full.xml"
    check "Python tests that take long" "${pytest[@]}" -n "$jobs" -m long \
        --junitxml "$reports/pytest-full.xml"
    # What is Python's of a device; see tests/python/platforms.py.
    check "Python tests on OpenCL, mixed precision" env CONSTRAINTS_TEST_PLATFORM=OpenCL \
        CONSTRAINTS_TEST_PRECISION=mixed "${pytest[@]}" -n "$jobs" -m "platform and not statistics" \
        --junitxml "$reports/pytest-OpenCL.xml"
    check "A sample of the C++ tests, with sanitizers" bash scripts/check.sh --only sample
    check "Some kernels under oclgrind" bash scripts/check.sh --only oclgrind-sample
    check "Documentation, in a browser" bash scripts/docs.sh
    ;;
--list)
    GTEST_LIST_TESTS=1 "${ctest[@]}" --label-regex full --exclude-regex 'nvrtc|doubles|emulator.(threads|begin|ran)' --verbose |
        awk '/^[0-9]+: [A-Z]/ {suite = $2} /^[0-9]+:   / {print suite $2}' | sort -u
    echo "nvrtc, doubles: registers, spills and FP64 instructions of kernels that these tests compile"
    echo "emulator.threads: kernels on the emulator with ThreadSanitizer, also without a barrier and without a fence"
    "${pytest[@]}" --collect-only -m long
    echo "and on OpenCL, in mixed precision:"
    "${pytest[@]}" --collect-only -m "platform and not statistics"
    exit
    ;;
esac

finish_checks "$reports/summary-${mode#--}.txt"
