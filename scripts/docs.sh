#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# From a bare checkout to the documentation: makes .venv, builds and installs the package where needed, runs the examples
# that changed, and makes build/docs/html of docs/. Warnings are errors.
#
#   scripts/docs.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
setup
install_requirements docs
# Everything but the examples anew, which takes seconds: pages depend on docstrings, of which Sphinx keeps no account.
rm -rf "$root/docs/api/generated" "$build/docs/html"
"$venv/bin/python" -m sphinx --quiet --fail-on-warning --keep-going --fresh-env \
    -d "$build/docs/doctrees" "$root/docs" "$build/docs/html"
say "$build/docs/html/index.html"
