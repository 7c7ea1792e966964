#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Compiles the kernels of the benchmark and the profiles, or those of other pieces, for a compute capability, without a
# GPU, so that hardly any is compiled where they are carried to: OpenMM finds them there by the text of the program.
#
#   scripts/gpu/fill-cache.sh 90 build/gpu/sm_90          # 90: H100; 80: A100. Again: only what is new
#   scripts/gpu/fill-cache.sh 90 build/gpu/sm_90 sanitize tests parts grid    # those of the C++ tests take an hour
#   OPENMM_CACHE_DIR=build/gpu/sm_90 scripts/gpu-check.sh benchmark profile    # there
#
# The folder gets machine code (cubins, by ptxas); PTX, which a driver would have to compile, is in its folder ptx.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/common.sh

[ $# -ge 2 ] || die "usage: fill-cache.sh CAPABILITY FOLDER [PIECE...] (see the head of scripts/gpu/fill-cache.sh)"
capability=$1
mkdir -p "$2/ptx"
folder=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- benchmark
# OpenMM writes to TMPDIR first, and does not move from disk to disk.
OPENMM_CACHE_DIR=$folder/ptx TMPDIR=$folder/ptx FAKECUDA_CAPABILITY=$capability GPU_EVERY=1 \
    bash scripts/gpu-check.sh --dry-run --limit 7200 "$@" >"$folder/ptx.log" 2>&1 ||
    { tail -n 20 "$folder/ptx.log" >&2; die "the dry run failed (all of it is in $folder/ptx.log)"; }
ptxas=$("$venv/bin/python" -c 'import sys; sys.path.insert(0, "tests/calls"); import check_ptx; print(check_ptx.find_ptxas())')
export ptxas folder capability
assemble() {
    [ -e "$folder/$1" ] || { "$ptxas" -arch="sm_$capability" -o "$folder/$1.part" "$folder/ptx/$1" && mv "$folder/$1.part" "$folder/$1"; }
}
export -f assemble
# shellcheck disable=SC2016
find "$folder/ptx" -name "*_${capability}_*" -printf '%f\0' | xargs -0 -P "$(nproc)" -I{} bash -c 'assemble "$1"' _ {}
printf '%d files of kernels for sm_%d are in %s\n' "$(find "$folder" -maxdepth 1 -name "*_${capability}_*" | wc -l)" "$capability" "$folder"
