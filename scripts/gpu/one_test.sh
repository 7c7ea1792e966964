#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Part of sample.sh: one C++ test in a process, behind a command if there is one.
#
#   one_test.sh LIST PLATFORM TEST [COMMAND...]
list=$1 platform=$2 test=$3 start=${EPOCHREALTIME/[^0-9]/}
shift 3
log=$(mktemp "$GPU_FOLDER/test.XXXXXX")
CONSTRAINTS_TEST_PLATFORMS=$platform timeout --kill-after=5 "$GPU_TEST_LIMIT" \
    "$@" "$GPU_TESTS/ConstraintTests" "--gtest_filter=$test" >"$log" 2>&1 &
# Where all of them are ended, this one is too, which is in a process group of its own.
trap 'kill $!; exit 1' TERM
wait $!
status=$?
case $status in
0) result=passed && ! grep -q '^\[  SKIPPED' "$log" || result=skipped ;;
124) result=limit ;;
*) result=FAILED ;;
esac
# No kernel runs in a dry run: a comparison may fail.
[ -z "$GPU_DRY_RUN" ] || [ $status -gt 1 ] || result=ran
end=${EPOCHREALTIME/[^0-9]/}
printf '%-7s %5d.%d s  %s %s\n' "$result" $(((end - start) / 1000000)) $(((end - start) / 100000 % 10)) "$list" "$test" \
    >>"$GPU_FOLDER/tests.txt"
case $result in
FAILED | limit)
    { printf '=== exit status %d: %s %s\n' "$status" "$list" "$test" && head -c 4000 "$log" && printf '\n'; } >>"$GPU_FOLDER/failures.log"
    ;;
esac
rm -f "$log"
