#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: what is there. Where the driver is too old for NVRTC, it names the remedy, and nothing else is run.
source scripts/gpu/common.sh

try "Driver and NVRTC" "$GPU_PYTHON" scripts/gpu/versions.py
cat "$GPU_FOLDER/$piece-$tried.log" >&2
[ "$failed" = 0 ] || exit 1
if command -v nvidia-smi >/dev/null; then
    try "nvidia-smi" nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
fi
try "openmm-constraints info" "$GPU_PYTHON" -m openmmconstraints info
exit "$failed"
