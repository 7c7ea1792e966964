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
# Pages of the reference are made from the package; one of something that was removed must not stay.
rm -rf "$root/docs/api/generated"
"$venv/bin/python" -m sphinx --quiet --fail-on-warning --keep-going -d "$build/docs/doctrees" "$root/docs" "$build/docs/html"
say "$build/docs/html/index.html"
