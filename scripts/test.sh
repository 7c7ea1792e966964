#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Builds everything and runs every test: style, C++ (ctest), Python (pytest). Works from a bare checkout; see common.sh
# for what it installs. Exits with nonzero if anything failed, and says what.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

setup tests

# Tracked and new files alike, but nothing that git ignores; -z because a name may contain spaces.
cpp_style() {
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' |
        xargs -0 --no-run-if-empty "$venv/bin/clang-format" --dry-run --Werror
}

check "Python lint (ruff check)" "$venv/bin/ruff" check --quiet .
check "Python format (ruff format --check)" "$venv/bin/ruff" format --check --quiet .
check "C++ format (clang-format)" cpp_style
check "C++ tests (ctest)" "$venv/bin/ctest" --test-dir "$build" --output-on-failure --no-tests=error --parallel 2
check "Python tests (pytest)" "$venv/bin/python" -m pytest tests/python -q
# Everything that steps, once more on devices; see tests/python/platforms.py. Double precision is left to the C++ tests,
# which run on all three.
for precision in single mixed; do
    check "Python tests on OpenCL, $precision precision" env CONSTRAINTS_TEST_PLATFORM=OpenCL \
        CONSTRAINTS_TEST_PRECISION=$precision "$venv/bin/python" -m pytest tests/python -q -m platform
done

finish_checks
