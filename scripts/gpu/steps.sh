#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: steps of DHFR without forces: what an integrator and its constraints cost.
source scripts/gpu/common.sh

words=(--rounds "${GPU_ROUNDS:-8}" --seconds 0.1)
[ -z "$GPU_DRY_RUN" ] || words=(--rounds 1 --steps 2)
# shellcheck disable=SC2206
[ -z "${GPU_INTEGRATORS:-}" ] || words+=(--integrators $GPU_INTEGRATORS)
try "Steps without forces" "$GPU_PYTHON" benchmarks/gpu.py --inputs "$GPU_INPUTS" --note "$GPU_NOTE" --without-forces \
    --systems dhfr --precision mixed --output "$GPU_FOLDER/steps.json" "${words[@]}"
cat "$GPU_FOLDER/$piece-$tried.log" >&2
exit "$failed"
