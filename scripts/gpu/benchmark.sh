#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: whole steps of villin and DHFR, ours and OpenMM's integrators in turn, with launches and waits.
source scripts/gpu/common.sh

# The last setting that it begins takes a while.
minutes=$(awk -v "limit=$GPU_LIMIT" 'BEGIN { print (limit > 60 ? (limit - 30) / 60 : 0.5) }')
words=()
[ -z "${GPU_SYSTEMS:-}" ] || words+=(--systems "$GPU_SYSTEMS")
# shellcheck disable=SC2206
[ -z "${GPU_INTEGRATORS:-}" ] || words+=(--integrators $GPU_INTEGRATORS)
[ -z "${GPU_ROUNDS:-}" ] || words+=(--rounds "$GPU_ROUNDS")
[ -z "$GPU_DRY_RUN" ] || words+=(--rounds 1 --seconds 0.01)
try "Whole steps" "${counting[@]}" "$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --note "$GPU_NOTE" \
    --minutes "$minutes" --output "$GPU_FOLDER/benchmark.json" "${words[@]}"
cat "$GPU_FOLDER/$piece-$tried.log" >&2
exit "$failed"
