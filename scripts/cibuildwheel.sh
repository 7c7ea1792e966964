#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Makes dist/ for one OpenMM series with cibuildwheel, as .github/workflows/wheels.yml does on Linux (x86-64, ARM) and
# macOS: a source archive of the last commit, and from it a wheel for each CPython. Needs docker on Linux. What is built
# and how stands in pyproject.toml. On Linux x86-64, scripts/wheels.sh makes the same without docker.
#
#   bash scripts/cibuildwheel.sh 8.6
#
# cibuildwheel itself has not been run by it yet, on no machine. For bash 3.2 too, which macOS has.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

[ $# -eq 1 ] || die "which series of OpenMM? (see the head of scripts/cibuildwheel.sh)"
series=$1
work=$build/cibuildwheel/$series
tools=$work/tools
find_python
[ -n "$python" ] || die "no Python here"

rm -rf "$work"
mkdir -p "$work/checkout" "$work/wheels" dist
say "Installing cibuildwheel"
"$python" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check build cibuildwheel==4.2.0 scikit-build-core

say "Making the source archive for OpenMM $series"
git archive HEAD | tar -x -C "$work/checkout"
"$python" "$work/checkout/scripts/series.py" "$series"
"$tools/bin/python" -m build --no-isolation --skip-dependency-check --sdist --outdir "$work/sdist" "$work/checkout"

say "Building wheels"
"$tools/bin/python" -m cibuildwheel --output-dir "$work/wheels" "$work"/sdist/*.tar.gz

# A platform without headers is left out without an error.
"$python" - "$work"/wheels/*.whl <<'PY'
import sys
import zipfile
for path in sys.argv[1:]:
    names = " ".join(zipfile.ZipFile(path).namelist())
    for platform in ("Reference", "OpenCL") + (("CUDA",) if sys.platform == "linux" else ()):
        if f"plugins/libOpenMMConstraints{platform}." not in names:
            raise SystemExit(f"error: {path} has no library for the {platform} platform")
PY
mv "$work"/wheels/*.whl dist
# It is the same on all machines, and PyPI takes one.
[ "$(uname -sm)" != "Linux x86_64" ] || mv "$work"/sdist/*.tar.gz dist
ls -l dist
