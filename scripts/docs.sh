#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# From a bare checkout to the documentation: makes .venv, builds and installs the package where needed, runs the examples
# that changed, makes build/docs/html of docs/, and opens its pages in Chromium. Warnings are errors.
#
#   scripts/docs.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"
setup
setup_machine browser
install_requirements docs
install_requirements browser
# Everything but the examples anew, which takes seconds: pages depend on docstrings, of which Sphinx keeps no account.
rm -rf "$root/docs/api/generated" "$build/docs/html"
check "Documentation (Sphinx)" "$venv/bin/python" -m sphinx --quiet --fail-on-warning --keep-going --fresh-env \
    -d "$build/docs/doctrees" "$root/docs" "$build/docs/html"
check "Pages and reports in a browser" "$venv/bin/python" -m pytest tests/browser -q -n "$(nproc)"
say "$build/docs/html/index.html"
finish_checks
