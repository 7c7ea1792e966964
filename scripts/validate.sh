#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Statistical tests, from a bare checkout: makes .venv, builds and installs the package where needed, then runs the
# experiments of validation/ with the arguments given here. A table (Markdown and JSON), plots, and exit status 1 if a
# check fails. About 20 minutes on a quiet machine, on one core.
#
#   scripts/validate.sh
#   scripts/validate.sh --only kinetic volume --time-budget 2 --output /tmp/validation
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
setup
PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} exec "$venv/bin/python" -m validation "$@"
