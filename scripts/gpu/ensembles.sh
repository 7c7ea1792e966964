#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: drift of the energy of DHFR, and its temperature in a bath.
source scripts/gpu/common.sh

length=${GPU_PICOSECONDS:-20}
[ -z "$GPU_DRY_RUN" ] || length=0
try "Drift and temperature" "$GPU_PYTHON" benchmarks/gpu_ensembles.py --inputs "$GPU_INPUTS" --picoseconds "$length" \
    --seconds $((GPU_LIMIT - 10)) --output "$GPU_FOLDER/ensembles.json"
cat "$GPU_FOLDER/$piece-$tried.log" >&2
exit "$failed"
