# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the scripts share: from a bare machine to a checkout with the package built in .venv.
#
#   source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
#   setup            # needs: compiler, Python with venv and headers
#   setup tests      # also an OpenCL device (PoCL serves), GoogleTest, Google Benchmark and Eigen; builds the C++ tests
#                    # in build/
#   setup oclgrind   # also oclgrind
#   setup_machine browser        # only Chromium, besides a compiler and Python
#   install_requirements docs    # an extra of pyproject.toml that neither needs
#   "$venv/bin/openmm-constraints" ...
#
# Running it again is quick and needs no network: what is present is not installed again, the C++ code is rebuilt
# incrementally. PYTHON=/path/to/python chooses the interpreter of .venv.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
build=$root/build

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# PoCL compiles kernels for seconds when its cache is cold, so keep the cache between runs. HOME may be unset, or name a
# folder that does not exist and cannot be made.
if [ -z "${POCL_CACHE_DIR:-}" ]; then
    POCL_CACHE_DIR=${XDG_CACHE_HOME:-${HOME:-}/.cache}/openmm-constraints/pocl
    if [ -z "${XDG_CACHE_HOME:-}${HOME:-}" ] || ! mkdir -p "$POCL_CACHE_DIR" 2>/dev/null; then
        POCL_CACHE_DIR=$build/cache/pocl
    fi
fi
export POCL_CACHE_DIR
mkdir -p "$POCL_CACHE_DIR"

# Python keeps what it compiled there: a __pycache__ in a folder of sources would change the folder, and count as an edit.
export PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$build/pycache}

# ---- which Python ----------------------------------------------------------------------------------------------

python_runs() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }
python_has_venv() { "$1" -c 'import venv, ensurepip' >/dev/null 2>&1; }
python_has_headers() {
    "$1" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
        >/dev/null 2>&1
}

# PYTHON; else the one that .venv was made with; else the newest for which OpenMM has wheels and that needs no package;
# else the newest, to be completed by apt.
find_python() {
    local candidate incomplete= candidates=(python3.14 python3.13 python3.12 python3.11 python3.10 python3)
    if [ -n "${PYTHON:-}" ]; then
        candidates=("$PYTHON")
    elif candidate=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)' 2>/dev/null); then
        candidates=("$candidate" "${candidates[@]}")
    fi
    for candidate in "${candidates[@]}"; do
        python_runs "$candidate" || continue
        if python_has_venv "$candidate" && python_has_headers "$candidate"; then
            python=$candidate
            return
        fi
        incomplete=${incomplete:-$candidate}
    done
    python=$incomplete
    [ -n "$python" ] || [ -z "${PYTHON:-}" ] || die "PYTHON=$PYTHON is not a Python >= 3.10 that runs"
}

# ---- what the machine has to have --------------------------------------------------------------------------------

has_compiler() {
    printf '#include <optional>\nint main() { return std::optional<int>(0).value(); }\n' |
        "${CXX:-c++}" -std=c++17 -x c++ - -o /dev/null >/dev/null 2>&1
}
# A program of ours is the surest question: is there an OpenCL loader, and a device behind it?
has_opencl() {
    "${python:-python3}" - >/dev/null 2>&1 <<'PY'
import ctypes
platforms = ctypes.c_uint(0)
error = ctypes.CDLL("libOpenCL.so.1").clGetPlatformIDs(0, None, ctypes.byref(platforms))
raise SystemExit(error != 0 or platforms.value == 0)
PY
}
has_header() {
    # The usual place first: where the compiler is missing too, it cannot be asked.
    [ ! -e "/usr/include/$1" ] && [ ! -e "/usr/include/eigen3/$1" ] || return 0
    printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" |
        "${CXX:-c++}" -I/usr/include/eigen3 -x c++ -E - -o /dev/null >/dev/null 2>&1
}

# Fills two arrays of the same length: what is missing, and the Debian packages that bring it.
find_missing() {
    missing=() packages=()
    need() { missing+=("$1") packages+=("$2"); }
    find_python
    local version=
    [ -z "$python" ] || version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if [ -z "$python" ]; then
        need "Python >= 3.10 with venv and headers" "python3 python3-venv python3-dev"
    else
        python_has_venv "$python" || need "the venv and ensurepip modules of $python" "python$version-venv"
        python_has_headers "$python" || need "the C headers of $python" "python$version-dev"
    fi
    has_compiler || need "a C++17 compiler" "g++"
    case ${1:-} in
    browser)
        command -v chromium >/dev/null || command -v chromium-browser >/dev/null || need "Chromium" "chromium"
        return 0
        ;;
    tests | oclgrind)
        [ "$1" = tests ] || command -v oclgrind >/dev/null || need "oclgrind, a simulated OpenCL device" "oclgrind"
        ;;
    sanitizers | tidy | aarch64)
        if [ "$1" = aarch64 ]; then
            command -v aarch64-linux-gnu-g++ >/dev/null || need "a compiler for ARM" "g++-aarch64-linux-gnu"
            command -v qemu-aarch64 >/dev/null || need "QEMU, for programs of ARM" "qemu-user"
        fi
        [ "$1" != tidy ] || command -v clang-tidy >/dev/null || need "clang-tidy" "clang-tidy"
        has_header gtest/gtest.h || need "GoogleTest" "libgtest-dev"
        has_header Eigen/Dense || need "Eigen 3" "libeigen3-dev"
        return 0
        ;;
    *) return 0 ;;
    esac
    has_opencl || need "an OpenCL device (PoCL: a CPU serves)" "pocl-opencl-icd ocl-icd-libopencl1"
    has_header gtest/gtest.h || need "GoogleTest" "libgtest-dev"
    has_header benchmark/benchmark.h || need "Google Benchmark" "libbenchmark-dev"
    has_header Eigen/Dense || need "Eigen 3" "libeigen3-dev"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Another process may be at it, as on a machine that has just started: apt waits for it.
apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@"
}

# Its timeout does not cover the lock of the package lists.
update_apt() {
    local message end=$((SECONDS + 600))
    until message=$(apt_get update 2>&1); do
        printf '%s\n' "$message"
        [[ $message == *"/lists/lock"* && $SECONDS -lt $end ]] || return 1
        sleep 3
    done
}

setup_machine() {
    find_missing "$@"
    [ ${#missing[@]} -gt 0 ] || return 0
    local i
    for i in "${!missing[@]}"; do
        printf 'missing: %s (Debian and Ubuntu: %s)\n' "${missing[i]}" "${packages[i]}" >&2
    done
    command -v apt-get >/dev/null || die "install what is missing (there is no apt-get here) and run this again"
    as_root true 2>/dev/null || die "install what is missing (neither root nor passwordless sudo here) and run this again"
    say "Installing with apt: ${packages[*]}"
    local log=$build/apt.log
    mkdir -p "$build"
    # Word splitting is meant: an entry may name several packages.
    # shellcheck disable=SC2068
    if ! { update_apt && apt_get install -y --no-install-recommends ${packages[@]}; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        die "apt failed (all of it is in $log)"
    fi
    find_missing "$@"
    [ ${#missing[@]} -eq 0 ] || die "still missing after apt: ${missing[*]}"
}

# ---- .venv -------------------------------------------------------------------------------------------------------

# What pyproject.toml asks for, one requirement a line: the list stands only there. Without an argument: everything to
# build, to run and to test (so neither Sphinx nor openmmtools, which brings much that nothing here needs). With one: that
# extra, or what `build` needs, with a pip that knows the option -C, which Debian 12's does not.
requirements() {
    local interpreter=$venv/bin/python # 3.10 has tomli only in its pip, which a system's Python may lack
    [ -x "$interpreter" ] || interpreter=$python
    "$interpreter" - "$root/pyproject.toml" "$@" <<'PY'
import sys
try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib
with open(sys.argv[1], "rb") as file:
    data = tomllib.load(file)
extras = data["project"]["optional-dependencies"]
if sys.argv[2:] == ["build"]:
    print("pip>=23.1", *data["build-system"]["requires"], sep="\n")
elif len(sys.argv) > 2:
    print(*extras[sys.argv[2]], sep="\n")
else:
    print(*data["build-system"]["requires"], *data["project"]["dependencies"],
          *(r for name, extra in extras.items() if name not in ("benchmark", "browser", "docs", "gpu") for r in extra), sep="\n")
PY
}

# Installs into .venv what requirements() says, unless that was done before.
install_requirements() {
    local stamp=$venv/.requirements${1:+-$1} wanted=$venv/.wanted${1:+-$1}
    requirements "$@" >"$wanted"
    cmp -s "$wanted" "$stamp" && return
    say "Installing what pyproject.toml asks for${1:+ ($1)}"
    "$venv/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check -r "$wanted"
    mv "$wanted" "$stamp"
}

# Makes it, and installs what requirements() says with this argument.
setup_venv() {
    local wanted
    wanted=$("$python" -c 'import sys; print(sys.version)')
    if [ "$("$venv/bin/python" -c 'import sys; print(sys.version)' 2>/dev/null)" != "$wanted" ]; then
        say "Creating .venv with $python"
        "$python" -m venv --clear "$venv"
    fi
    install_requirements build
    install_requirements "$@"
}

# ---- the package -------------------------------------------------------------------------------------------------

# Compiles in build/ what changed and installs the package into .venv, unless nothing changed since the last time.
# Folders count by their own time too: a file that was removed changes it.
setup_package() {
    local testing=OFF stamp=$venv/.installed
    [ "${1:-}" != tests ] || testing=ON stamp=$venv/.installed-with-tests
    if [ -e "$stamp" ] && [ -z "$(cd "$root" && find pyproject.toml CMakeLists.txt README.md cmake core expressions system openmmapi \
        serialization platforms wrappers ${1:+tests benchmarks} -newer "$stamp" -not -path '*/__pycache__*' \
        -not -path '*/results*' -print -quit 2>/dev/null)" ]; then
        return
    fi
    say "Building the package"
    local start=$SECONDS
    touch "$venv/.started" # what is edited while the compiler runs is built the next time
    PATH=$venv/bin:$PATH "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation \
        --no-deps --force-reinstall -C build-dir="$build" \
        ${1:+-C cmake.define.BUILD_TESTING=$testing -C cmake.define.BUILD_BENCHMARKS=$testing} "$root"
    note_seconds passed "$start" "Compiling"
    mv "$venv/.started" "$stamp"
    [ "$testing" = OFF ] || cp -p "$stamp" "$venv/.installed"
}

setup() {
    find_python
    local job=
    if [ -n "$python" ] && python_has_venv "$python"; then # side by side with apt
        setup_venv build &
        job=$!
    fi
    setup_machine "$@"
    if [ -n "$job" ]; then wait "$job"; else setup_venv build; fi
    install_requirements & # side by side with the compiler
    job=$!
    setup_package ${1:+tests}
    wait "$job"
}

# ---- checks ------------------------------------------------------------------------------------------------------

summary=()
failed=0
# note_seconds RESULT START NAME: a line of the summary
note_seconds() { summary+=("$(printf '%-8s %4d s  %s' "$1" $((SECONDS - $2)) "$3")"); }
# check NAME COMMAND...: runs it, goes on after a failure
check() {
    local name=$1 start=$SECONDS result=passed
    shift
    say "$name"
    "$@" || { result=FAILED; failed=1; }
    note_seconds "$result" "$start" "$name"
}

# finish_checks [FILE]: prints what check() ran, also to the file, and exits with nonzero if anything failed.
finish_checks() {
    say "Summary"
    note_seconds total 0 "with set-up"
    printf '    %s\n' "${summary[@]}"
    [ $# -eq 0 ] || printf '%s\n' "${summary[@]}" >"$1"
    exit "$failed"
}
