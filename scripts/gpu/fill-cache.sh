#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Compiles the kernels that a dry run asks for, without a GPU, so that hardly any is compiled where they are carried to: OpenMM
# finds them there by the text of the program.
#
#   FAKECUDA_MULTIPROCESSORS=132 scripts/gpu/fill-cache.sh 90 FOLDER scripts/gpu-check.sh --dry-run benchmark    # 90: H100
#   OPENMM_CACHE_DIR=FOLDER scripts/gpu-check.sh benchmark     # there
#
# The folder gets machine code (cubins, by ptxas); PTX, which a driver would have to compile, is in its folder ptx. With
# GPU_PTX=1 there is only that. Again: only what is new.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/common.sh

[ $# -ge 3 ] || die "usage: fill-cache.sh CAPABILITY FOLDER COMMAND... (see the head of scripts/gpu/fill-cache.sh)"
capability=$1
mkdir -p "$2/ptx"
folder=$(cd "$2" && pwd)
shift 2
# OpenMM writes to TMPDIR first, and does not move from disk to disk.
log=$folder/ptx${GPU_PTX:+-only}.log
OPENMM_CACHE_DIR=$folder/ptx TMPDIR=$folder/ptx FAKECUDA_CAPABILITY=$capability GPU_EVERY=1 bash "$@" >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; die "the dry run failed (all of it is in $log)"; }
[ -z "${GPU_PTX:-}" ] || exit 0
ptxas=$("$venv/bin/python" -c 'import sys; sys.path.insert(0, "tests/calls"); import check_ptx; print(check_ptx.find_ptxas())')
export ptxas folder capability
assemble() {
    [ -e "$folder/$1" ] || { "$ptxas" -arch="sm_$capability" -o "$folder/$1.part" "$folder/ptx/$1" && mv "$folder/$1.part" "$folder/$1"; }
}
export -f assemble
# shellcheck disable=SC2016
find "$folder/ptx" -name "*_${capability}_*" -printf '%f\0' | xargs -0 -P "$(nproc)" -I{} bash -c 'assemble "$1"' _ {}
printf '%d files of kernels for sm_%d are in %s\n' "$(find "$folder" -maxdepth 1 -name "*_${capability}_*" | wc -l)" "$capability" "$folder"
