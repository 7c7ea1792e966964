#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Cross-compiles for Linux on ARM (aarch64) against OpenMM's wheel for it, and runs the C++ tests on the Reference and CPU
# platforms with QEMU, which emulates the processor: far slower than one. For Debian and Ubuntu on x86-64.
#
#   bash scripts/aarch64.sh                              # core's tests
#   bash scripts/aarch64.sh '*Angles*:*RigidBodies*'     # others: a filter of GoogleTest
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

# Tests of core, which need no Context, and one that takes steps.
filter=${1:-Elimination.*:ConstraintGraph.*:*Matrix.*:Rank.*:GenericRank.*:Projector.*:*LeastNorm.*:NormalNumbers.*:\
DistanceSolver.*:ThermostatChain.*:FlatBodies.*:Serialization.*:*Integrators*}
work=$build/aarch64

setup_machine aarch64
setup_venv
export PATH=$venv/bin:$PATH

series=$("$python" scripts/series.py)
openmm=$work/openmm-$series
if [ ! -e "$openmm" ]; then
    rm -rf "$work/download" "$openmm.part"
    say "Downloading OpenMM $series for aarch64"
    "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --platform manylinux_2_34_aarch64 --python-version 3.12 --dest "$work/download" "openmm==$series.*"
    "$venv/bin/python" -m zipfile -e "$work"/download/openmm-"$series"*aarch64.whl "$openmm.part"
    mv "$openmm.part" "$openmm"
fi

# A program of the build is run, too (cmake/FindOpenMM.cmake). GoogleTest is compiled from Debian's source of it.
configure() {
    cmake -G Ninja -S . -B "$work/cmake" -DCONSTRAINTS_BUILD_PYTHON=OFF -DPython_EXECUTABLE="$venv/bin/python" \
        -DOPENMM_DIR="$openmm/OpenMM.libs" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
        "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/aarch64-linux-gnu" \
        -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=/usr/src/googletest "$@" \
        >"$work/cmake.log" 2>&1 || { tail -n 20 "$work/cmake.log" >&2; return 1; }
}
compile() {
    ninja -C "$work/cmake" --quiet >"$work/ninja.log" 2>&1 || { tail -n 40 "$work/ninja.log" >&2; return 1; }
}
build_libraries() {
    local headers library
    headers=$(echo "$venv"/lib/python*/site-packages/nvidia/cu13/include)
    configure -DBUILD_DEVICES=ON -DBUILD_TESTING=OFF -DOPENCL_HEADERS="$headers" -DCUDA_HEADERS="$headers" || return 1
    compile || return 1
    for library in libOpenMMConstraints.so plugins/libOpenMMConstraints{Reference,OpenCL,CUDA}.so; do
        readelf -h "$work/cmake/$library" | grep AArch64 >/dev/null || { printf 'not for aarch64: %s\n' "$library" >&2; return 1; }
    done
}
build_tests() {
    configure -DBUILD_DEVICES=OFF -DBUILD_TESTING=ON && compile
}

run_tests() {
    local -x CONSTRAINTS_TEST_PLATFORMS=Reference,CPU
    local emulated=(qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$openmm/OpenMM.libs/lib:$work/cmake"
        "$work/cmake/tests/ConstraintTests" "--gtest_filter=$filter")
    "${emulated[@]}" --gtest_list_tests | grep '^  ' >/dev/null || { printf 'no test is called %s\n' "$filter" >&2; return 1; }
    "${emulated[@]}" --gtest_brief=1
}

check "Build for aarch64, with OpenCL and CUDA" build_libraries
check "Build the tests" build_tests
check "Tests with QEMU" run_tests
finish_checks
