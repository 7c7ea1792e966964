#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Statistics of long runs, from a bare checkout: makes .venv, builds and installs the package where needed. The experiments
# of validation/ give a table (Markdown and JSON) and plots, in about 23 minutes on one core. Exit status 1 if a check fails.
#
#   scripts/validate.sh            # the experiments, then the tests that test.sh leaves out: `ctest -L statistics` and
#                                  # `pytest -m statistics`
#   scripts/validate.sh --tests    # only the tests
#   scripts/validate.sh --only kinetic volume --time-budget 2 --output /tmp/validation    # only experiments
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH}
if [ $# -gt 0 ] && [ "$1" != --tests ]; then
    setup
    exec "$venv/bin/python" -m validation "$@"
fi

setup tests
jobs=$(nproc)
[ $# -gt 0 ] || check "Experiments (validation)" "$venv/bin/python" -m validation
check "C++ tests of ensembles (ctest -L statistics)" "$venv/bin/ctest" --test-dir "$build" --output-on-failure \
    --no-tests=error --parallel "$jobs" --label-regex statistics
check "Python tests of ensembles (pytest -m statistics)" "$venv/bin/python" -m pytest "$root/tests/python" -q -n "$jobs" \
    -m statistics
finish_checks
