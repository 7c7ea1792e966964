#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: whole steps of villin and DHFR, ours and OpenMM's integrators in turn, with launches and waits.
source scripts/gpu/common.sh

minutes=$((GPU_LIMIT / 60 - 1)) # the last setting that it begins takes a while
[ "$minutes" -ge 1 ] || minutes=0.5
brief=()
[ -z "$GPU_DRY_RUN" ] || brief=(--rounds 1 --seconds 0.01)
try "Whole steps" "${counting[@]}" "$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --note "$GPU_NOTE" \
    --minutes "$minutes" --output "$GPU_FOLDER/benchmark.json" "${brief[@]}"
cat "$GPU_FOLDER/$piece-$tried.log" >&2
exit "$failed"
