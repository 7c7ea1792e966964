#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# From a bare checkout to the demonstration: makes .venv, builds and installs the package where needed, then runs
# `openmm-constraints demo` with the arguments given here: about a minute on two cores. Works from any directory, without a
# display.
#
#   scripts/demo.sh
#   scripts/demo.sh --constraints HBonds --time-budget 60 --output /tmp/demo
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
setup
exec "$venv/bin/openmm-constraints" demo "$@"
