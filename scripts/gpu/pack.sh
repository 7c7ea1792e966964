#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Makes one archive for a machine with an NVIDIA GPU on which there is little time and no network: what is installed in .venv,
# the C++ tests, where benchmarks start, and compiled kernels. Unpacked anywhere there, its run.sh needs a Python of that
# version with numpy, and NVRTC and cuFFT.
#
#   bash scripts/gpu/pack.sh --python 3.12 --sm 90 --multiprocessors 132    # H100, H200
#   bash scripts/gpu/pack.sh ... --output FILE     # instead of build/gpu/pack.tar.xz
#   bash scripts/gpu/pack.sh ... --kernels benchmark    # not those of tests; kept: those that were compiled; none
#
# All kernels take an hour on two cores. What was compiled is kept in build/gpu/kernels-SM-MULTIPROCESSORS. GPU_BUILT takes what
# was built as it is, GPU_INPUTS is where the starts are, XZ_OPT says how well to compress.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/common.sh
source scripts/gpu/pieces.sh

largest=$((55 * 1000000))
version=3.12 sm=90 multiprocessors=132 output=$build/gpu/pack.tar.xz kernels=all
while [ $# -gt 1 ]; do
    case $1 in
    --python) version=$2 ;;
    --sm) sm=$2 ;;
    --multiprocessors) multiprocessors=$2 ;;
    --output) output=$2 ;;
    --kernels) kernels=$2 ;;
    *) die "unknown argument $1 (see the head of scripts/gpu/pack.sh)" ;;
    esac
    shift 2
done
[ $# = 0 ] || die "$1 needs a value (see the head of scripts/gpu/pack.sh)"
[[ " all benchmark kept none " == *" $kernels "* ]] || die "--kernels is all, benchmark, kept or none"

export PYTHON=${PYTHON:-python$version}
[ -n "${GPU_BUILT:-}" ] || setup tests
found=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ "$found" = "$version" ] || die ".venv has Python $found, not $version: PYTHON=/path/to/python$version bash scripts/gpu/pack.sh"
inputs=${GPU_INPUTS:-$build/gpu/inputs}
prepare_inputs "$inputs" --systems dhfr

# ---- the folder -------------------------------------------------------------------------------------------------------

stage=$output.folder
folder=$stage/pack
rm -rf "$stage"
mkdir -p "$folder"/{site,inputs,kernels,benchmarks,opencl,scripts/gpu,tests/calls/fakecuda,tests/calls/fakecufft}
"$venv/bin/python" scripts/gpu/installed.py "$folder/site" openmm-constraints openmm openmm-cuda-13
cp "$inputs"/dhfr-*.npz "$folder/inputs"
cp benchmarks/gpu.py benchmarks/gpu_ensembles.py "$folder/benchmarks"
cp scripts/common.sh "$folder/scripts"
cp scripts/gpu/*.sh scripts/gpu/*.py "$folder/scripts/gpu"
cp scripts/gpu/run.sh "$folder/run.sh"
cp "$build/tests/ConstraintTests" "$folder/tests"
cp "$build/tests/calls/libcountcalls.so" "$folder/tests/calls"
cp -P "$build"/tests/calls/fakecuda/libcuda.so* "$folder/tests/calls/fakecuda"
cp -P "$build"/tests/calls/fakecufft/libcufft.so* "$folder/tests/calls/fakecufft"
loader=$(ldconfig -p | awk '/libOpenCL\.so\.1 / { print $NF; exit }')
[ -z "$loader" ] || cp "$loader" "$folder/opencl/libOpenCL.so.1"
find "$folder/site" "$folder/tests" -type f \( -name '*.so*' -o -name ConstraintTests \) -exec strip --strip-unneeded {} + 2>/dev/null || true
# shellcheck disable=SC2016
{
    printf 'PACK_PYTHON=%s\n' "$version"
    printf 'PACK_DEVICE=%q\n' "sm_$sm, $multiprocessors multiprocessors"
    printf 'export FAKECUDA_CAPABILITY=${FAKECUDA_CAPABILITY:-%s}\n' "$sm"
    printf 'export FAKECUDA_MULTIPROCESSORS=${FAKECUDA_MULTIPROCESSORS:-%s}\n' "$multiprocessors"
    printf 'PACK_VERSION=%q\n' "$(git describe --always --dirty 2>/dev/null || echo 'no git here')"
} >"$folder/about.sh"

# ---- kernels ----------------------------------------------------------------------------------------------------------

cache=$build/gpu/kernels-$sm-$multiprocessors
fill() {
    say "Compiling kernels: $*"
    OUT=$stage/found-$1 GPU_FOLDER=$stage/log-$1 PYTHON=$venv/bin/python \
        bash scripts/gpu/fill-cache.sh "$sm" "$cache" "$folder/run.sh" --dry-run "$@"
}
# What is read from now on is what is asked for; the rest is of older sources.
mkdir -p "$cache/ptx"
begin=$(date +%s)
touch "$cache/ptx/probe"
find "$cache/ptx" -type f -exec touch -a -d @0 {} +
case $kernels in
all)
    GPU_PTX=1 fill sample &
    fill compile benchmark steps kernels ensembles
    wait $!
    ;;
benchmark) fill compile benchmark steps kernels ensembles ;;
esac
# Machine code where there is some, else PTX.
if [ "$kernels" != none ]; then
    cat "$cache/ptx/probe" # nothing, but a file system may keep no time of reading: then all are taken
    [ "$kernels" != kept ] && [ -n "$(find "$cache/ptx/probe" -newerat "@$begin")" ] || begin=0
    while read -r name; do
        if [ -e "$cache/$name" ]; then cp "$cache/$name" "$folder/kernels"; else cp "$cache/ptx/$name" "$folder/kernels"; fi
    done < <(find "$cache/ptx" -name "*_${sm}_*" -newerat "@$((begin - 1))" -printf '%f\n')
fi

# ---- the archive ------------------------------------------------------------------------------------------------------

rm -rf "$folder"/{tmp,build}
find "$folder" -name __pycache__ -prune -exec rm -rf {} +
say "Compressing $(du -sm "$folder" | cut -f 1) MB"
tar -C "$stage" --owner=0 --group=0 --sort=name -cf - pack | XZ_OPT=${XZ_OPT:--9} xz >"$output.part"
mv "$output.part" "$output"
size=$(stat -c %s "$output")
printf '%s: %d.%d MB, %d files of kernels for sm_%d\n' "$output" $((size / 1000000)) $((size / 100000 % 10)) \
    "$(find "$folder/kernels" -type f | wc -l)" "$sm"
rm -rf "$stage"
[ "$size" -le "$largest" ] || die "that is more than $((largest / 1000000)) MB: --kernels benchmark leaves out those of tests"
