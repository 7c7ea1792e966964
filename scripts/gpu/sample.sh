#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: in mixed precision one test of each suite on CUDA, every ninth of them on an NVIDIA OpenCL device, and
# four cases under memcheck, all at once. Each test is a process with a limit of its own, since nearly all of its time goes into
# compiling kernels on one core. tests.txt has a line for each, failures.log what those said that did not pass.
#
#   GPU_TEST_LIMIT    seconds for a test
#   GPU_FEW           not empty: no OpenCL
source scripts/gpu/common.sh

need_tests "A sample of the C++ tests"
sanitized=('Platforms/SharedFactors.AgreeWithReference/CUDAMixed_MatrixInversion_Rattle'
    'Platforms/Checkpoints.ContinueBitForBit/CUDAMixed_Iterative_Rattle'
    'Platforms/Devices.GoWhereReferenceGoes/CUDAMixed_MatrixInversion_Rattle_rectangular'
    'Integrators/BorderedDevices.GoWhereReferenceGoes/CUDAMixed_Iterative_Rattle')
export GPU_TEST_LIMIT=${GPU_TEST_LIMIT:-100}

# One test of each suite on a platform; of these in a dry run every 40th, or as GPU_EVERY says.
list_tests() {
    GTEST_LIST_TESTS=1 CONSTRAINTS_TEST_PLATFORMS=$1 CONSTRAINTS_TEST_ONE_OF_EACH=suite \
        "$GPU_TESTS/ConstraintTests" --gtest_filter="*$1*-*Ensemble*" | awk '/^[^ ]/ { suite = $1 } /^ / { print suite $1 }' | every "${GPU_DRY_RUN:+${GPU_EVERY:-40}}"
}
every() { awk -v "every=${1:-1}" '(NR - 1) % every == 0'; }

# A folder that names NVIDIA's OpenCL and no other.
find_opencl() {
    local library
    library=$(ldconfig -p 2>/dev/null | awk '/libnvidia-opencl\.so/ { print $NF; exit }')
    [ -n "$library" ] || library=$(find /usr/lib /usr/lib64 /usr/local /opt -name 'libnvidia-opencl.so*' 2>/dev/null | head -n 1)
    [ -n "$library" ] || return
    mkdir -p "$GPU_FOLDER/opencl"
    printf '%s\n' "$library" >"$GPU_FOLDER/opencl/nvidia.icd"
    export OCL_ICD_VENDORS=$GPU_FOLDER/opencl OCL_ICD_FILENAMES=$library
}

# run_list NAME PLATFORM PROCESSES COMMAND...: what one_test.sh makes of the tests of standard input, within GPU_LIMIT
run_list() {
    local name=$1 platform=$2 processes=$3
    shift 3
    timeout $((GPU_LIMIT - SECONDS - 5)) xargs -P "$processes" -I{} \
        bash scripts/gpu/one_test.sh "$name" "$platform" {} "$@" || true
}

# judge NAME LIST SECONDS: a line of the summary
judge() {
    local passed missed limit total result=passed
    total=$(wc -l <"$2")
    passed=$(grep -cE "^(passed|ran|skipped) .* $1 " "$results" || true)
    limit=$(grep -c "^limit .* $1 " "$results" || true)
    missed=$(grep -c "^FAILED .* $1 " "$results" || true)
    [ -z "$GPU_DRY_RUN" ] || result=ran
    [ "$missed" = 0 ] && [ "$passed" -gt 0 ] || result=FAILED
    note "$result" "$3" "$1 ($passed of $total passed, $missed failed, $limit ended by $GPU_TEST_LIMIT s, $((total - passed - limit - missed)) not finished)"
}

results=$GPU_FOLDER/tests.txt
: >"$results"
list_tests CUDAMixed >"$GPU_FOLDER/cuda.list"
: >"$GPU_FOLDER/opencl.list"
side=$((jobs / 8 > 0 ? jobs / 8 : 1)) # processes beside those of CUDA
if command -v compute-sanitizer >/dev/null; then
    printf '%s\n' "${sanitized[@]}" | every "${GPU_DRY_RUN:+${GPU_EVERY:-40}}" >"$GPU_FOLDER/memcheck.list"
    run_list memcheck CUDAMixed "$side" "${sanitizer[@]}" --tool memcheck <"$GPU_FOLDER/memcheck.list" &
else
    not_run "memcheck" "there is no compute-sanitizer"
fi
if [ -n "${GPU_FEW:-}" ]; then
    :
elif find_opencl || [ -n "$GPU_DRY_RUN" ]; then
    list_tests OpenCLMixed | every 9 >"$GPU_FOLDER/opencl.list" || true
    run_list OpenCL OpenCLMixed "$side" <"$GPU_FOLDER/opencl.list" &
else
    not_run "OpenCL" "there is no libnvidia-opencl.so"
fi
run_list CUDA CUDAMixed $((jobs > 2 * side ? jobs - 2 * side : 1)) <"$GPU_FOLDER/cuda.list"
wait
for name in CUDA OpenCL memcheck; do
    list=$GPU_FOLDER/${name,,}.list
    [ ! -s "$list" ] || judge "$name" "$list" "$SECONDS"
done
exit "$failed"
