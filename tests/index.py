# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Write the index of tests/README.md: for each source folder the tests that are about it.

    python tests/index.py            # rewrites the index
    python tests/index.py --check    # exits with 1 if it is not up to date

Tests have hints for folders. A C++ test has 2 for each header or .cc file that it includes, and 1 for what a header of
tests/support includes for it. A Python test has 1 for what it takes from a module of openmmconstraints, for another
module that it imports, and for a path that it names. Both have 3 if a file is named as the test is, or if BY_HAND says
what no source does. A test that has w of its n hints for a folder ranks by w^2/n there: those that are about nothing
else come first.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

BEGIN, END = "<!-- index: python tests/index.py -->\n", "<!-- /index -->\n"
MEND = "python tests/index.py"
ROOT = Path(__file__).resolve().parents[1]
LISTED = 12
PUBLIC, IMPLEMENTATION, ALL_PUBLIC = "openmmapi/include", "openmmapi/src", "OpenMMConstraints.h"
WRAPPER, PACKAGE = "wrappers/python", "wrappers/python/openmmconstraints"
LIBRARY = ("core/", "expressions", "system", "openmmapi/", "serialization/", "platforms/", PACKAGE)
#: What every test with a Context has a hint for. These rows, and the wrapper's, list only tests that have more.
COMMON = "platforms/common"
USED_BY_CONTEXTS = (PUBLIC, IMPLEMENTATION, "platforms/reference", COMMON)
#: Folders of tests that run as one, and test_index.py, which names the files of another tree.
GROUPS = ("browser", "calls", "emulator", "oclgrind", "wheels")
UNREAD = ("calls/", "emulator/", "oclgrind/", "index")
#: {folder: names or patterns of tests}: what cannot be read from the tests.
BY_HAND = {
    "core/basics": "*Threads",  # PoolRunner, in Contexts
    "core/rigid": "FreeBod* lammps",  # which it solves alone
    "core/constraints": "Joined* joined_bodies",  # JoinBodies.h, in Contexts
    "core/bodies": "Recognized* recognized_bodies Bodies",  # what it recognizes, in Contexts
    "core/projection": "WarmStart",  # where it begins
    "core/heatbath": "Noise NoseHoover",  # its random numbers and its chain
    "expressions": "Surfaces ExpressionDynamics",  # expressions in Contexts
    "system": "ContradictedBodies Limits Refusals",  # what it refuses
    IMPLEMENTATION: "Threads threads update_parameters",  # which thread has a kernel, and Forces that change
    "serialization/src": "Serialization serialization pickle",  # pickles are XML
    "platforms/host": "NotFinite Failures",  # its StateErrors
    "platforms/reference": "Agreement Integrators ConstraintForceIntegrator MultipleTimeSteps Replaced*",  # its steps
    "platforms/common": "calls/ emulator/ oclgrind/ KineticEnergy Reordering Repeats",  # what only devices do
    f"{COMMON}/device": "calls/",  # which asks for what it has
    f"{COMMON}/stage": "calls/ emulator/ oclgrind/",  # what all kernels have, and launches
    f"{COMMON}/small": "SmallClusters",
    f"{COMMON}/bodies": "FreeBod*",
    f"{COMMON}/rows": "KernelText Centroids emulator/",  # rows of any kind
    f"{COMMON}/clusters": "SharedFactors ThreadGroups",
    f"{COMMON}/subdomains": "emulator/",  # which run there and on GPUs only
    f"{COMMON}/joined": "Joined*",
    f"{COMMON}/border": "Border*",
    f"{COMMON}/steps": "Integrators Langevin MultipleTimeSteps Reordering",  # its time steps
    f"{COMMON}/foreign": "Replaced*",
    f"{COMMON}/program": "calls/ DeviceProgram",  # which launches there are
    "platforms/opencl": "calls/ oclgrind/",  # their Contexts are on OpenCL
    "platforms/cuda": "calls/ emulator/",  # with a fake driver, and the like of a device
    WRAPPER: "cast comfort folders pickle stubs units wheels/",  # wrapper.i, wrapper.pyi, _proxies.py, _quantities.py
    f"{PACKAGE}/terminal": "cli",  # which prints by it
    "benchmarks/ligands": "every_integrator",  # which benchmarks them
    "tools": "gpu_model*",  # which stand there
    "tools/gpumodel": "calls/",  # check_doubles.py reads machine instructions by it
    "docs": "browser/",  # opens the pages
    "docs/extensions": "browser/",  # opens the pages that Sphinx makes with them
    "cmake": "wheels/",  # sources of the archive are built with another OpenMM
    "tests": "emulator/ Verifier index",  # which are about tests
}
Folders = Mapping[str, list[Path]]


@dataclass(frozen=True, order=True)
class Suite:
    """A test file, or a folder of GROUPS."""

    name: str  # without Test and test_
    is_cpp: bool
    files: tuple[Path, ...]


Hints = Mapping[Suite, Counter[str]]


def listed_folders(root: Path) -> list[str]:
    """The folders of the library, as CMakeLists.txt lists them: each uses those before it."""
    text = (root / "CMakeLists.txt").read_text()
    found = re.search(r"set\(folders\n(.*?)\)", re.sub(r"#.*", "", text), re.DOTALL)
    assert found, "CMakeLists.txt has no list of folders"
    return found[1].split()


def device_folders(root: Path) -> list[str]:
    """The folders of platforms/common as platforms/CMakeLists.txt lists them: each includes headers of earlier ones."""
    path = root / "platforms" / "CMakeLists.txt"
    found = re.search(r"set\(common_folders ([\w\s]+)\)", path.read_text()) if path.exists() else None
    return [f"{COMMON}/{folder}" for folder in found[1].split()] if found else []


def source_folders(root: Path) -> Folders:
    """All folders that have a row, in the order of the rows, and their files."""

    def below(folder: str) -> list[str]:
        return sorted({path.parent.relative_to(root).as_posix() for path in (root / folder).glob("*/*.py")})

    platforms = ["platforms/reference", COMMON, *device_folders(root), "platforms/opencl", "platforms/cuda"]
    names = [
        *(*listed_folders(root), *platforms, WRAPPER, *below(PACKAGE), "examples", "examples/cookbook"),
        *("benchmarks", *below("benchmarks"), "tools", *below("tools"), "docs", "docs/extensions", "validation"),
        *("scripts", "scripts/gpu", "cmake", "conda", ".github", "tests"),
    ]
    names.insert(names.index(IMPLEMENTATION), PUBLIC)
    names = [name for name in names if (root / name).is_dir()]
    return {name: sorted((root / name).glob("**/*.h" if name == PUBLIC else "*.*")) for name in names}


def all_tests(root: Path) -> list[Suite]:
    """Every Test*.cpp and test_*.py below tests and tools, on its own or in its group."""
    groups = [root / "tests" / group for group in GROUPS]
    files = sorted(
        path for folder in ("tests", "tools") for end in ("cpp", "py") for path in (root / folder).rglob(f"*.{end}")
    )
    found = []
    for path in files:
        name = re.fullmatch(r"Test(\w+)\.cpp|test_(\w+)\.py", path.name)
        if name and not any(group in path.parents for group in groups):
            found.append(Suite(name[1] or name[2], path.suffix == ".cpp", (path,)))
    for group in groups:
        if inside := tuple(path for path in files if group in path.parents):
            found.append(Suite(f"{group.name}/", any(path.suffix == ".cpp" for path in inside), inside))
    return sorted(found)


# ---- hints -----------------------------------------------------------------------------------------------------------


def is_named_after(test: Suite, path: Path) -> bool:
    """Whether a folder, kernel text or module has the test's name, or a C++ file has it in its own: GenericRank."""
    name = test.name if test.is_cpp else test.name.title().replace("_", "")
    if path.suffix in (".h", ".cpp"):
        return re.search(rf"({name}|{name.removesuffix('s')})(?![a-z])", path.stem) is not None
    return path.suffix in ("", ".cc" if test.is_cpp else ".py") and path.stem.replace("_", "").lower() == name.lower()


def hints_of_name(test: Suite, folders: Folders) -> Iterator[str]:
    """Folders that are named as the test is, and folders of the library with such a file."""
    for folder, files in folders.items():
        paths = [Path(folder), *(files if folder.startswith(LIBRARY) else ())]
        if any(is_named_after(test, path) for path in paths):
            yield from [folder] * 3


def included(text: str) -> set[str]:
    return set(re.findall(r'^#include "([^"]+)"', text, re.MULTILINE))


def with_support(names: set[str], root: Path) -> set[str]:
    """These headers, and what those of tests/support among them include."""
    support = [(root / "tests" / name).read_text() for name in names if name.startswith("support/")]
    return names.union(*map(included, support))


def hints_of_cpp(text: str, root: Path, folders: Folders) -> Iterator[str]:
    """Folders of what a test includes, and of all Contexts, if it reaches the header of all public ones."""
    folder_of = {path.name: folder for folder, files in folders.items() for path in files if path.suffix != ".cpp"}
    folder_of["XmlSerializer.h"] = "serialization/src"  # OpenMM's, which leads to ours
    direct = included(text)
    near = with_support(direct, root)
    for name in [*direct, *near]:
        if not name.startswith("support/") and Path(name).name in folder_of and name != ALL_PUBLIC:
            yield folder_of[Path(name).name]
    reached = near
    while reached != (further := with_support(reached, root)):
        reached = further
    if ALL_PUBLIC in reached:
        yield from USED_BY_CONTEXTS


def imports(text: str) -> dict[str, tuple[str, str]]:
    """{name in this text: (module of openmmconstraints, name in it)}."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    of_package = [node for node in nodes if f"{node.module}.".startswith("openmmconstraints.")]
    return {alias.asname or alias.name: (str(node.module), alias.name) for node in of_package for alias in node.names}


def names_of_package(text: str, root: Path) -> set[str]:
    """What a Python test takes from openmmconstraints: modules, and names in them, with their modules."""
    modules = {"mc": "openmmconstraints"} | {name: ".".join(origin) for name, origin in imports(text).items()}
    used = [f"{modules[name]}.{inside}" for name, inside in re.findall(r"\b(\w+)\.(\w+)", text) if name in modules]
    used += [*modules.values(), *re.findall(r"\bopenmmconstraints\.\w+", text)]
    public = imports((root / PACKAGE / "__init__.py").read_text())
    module_of = {f"openmmconstraints.{name}": module for name, (module, _) in public.items() if "." in module}
    return {module_of.get(name, name) for name in used} - {"openmmconstraints"}


def hints_of_python(text: str, root: Path, folders: Folders) -> Iterator[str]:
    """Folders of what a test takes from the package, of the command that it runs, and of paths and other modules."""
    for name in names_of_package(text, root):
        folder = "/".join((PACKAGE, *name.split(".")[1:2]))
        yield folder if folder in folders else WRAPPER
    for command in set(re.findall(r'\bcommand\("(\w+)"', text)):
        yield from (f"{PACKAGE}/commands", f"{PACKAGE}/{command}")
    if "XmlSerializer" in text:
        yield "serialization/src"
    paths = {*re.findall(r'/ "([\w./-]+)', text), *re.findall(r"[\w.-]+(?:/[\w.-]+)+", text.replace('" / "', "/"))}
    modules = [name.replace(".", "/") for name in re.findall(r"^(?:import|from) ([\w.]+)", text, re.MULTILINE)]
    starts = ("", "benchmarks/") if "benchmarks" in paths else ("",)  # where it looks for modules
    paths |= {f"{start}{name}{end}" for start in starts for name in modules for end in ("", ".py")}
    for path in paths:
        inside = [folder for folder in folders if f"{path}/".startswith(f"{folder}/")]
        if inside and (root / path).exists() and not path.startswith("tests/Test"):
            yield max(inside, key=len)


def all_hints(root: Path, by_hand: Mapping[str, str] = BY_HAND) -> Hints:
    """How many hints each test has for each folder."""
    folders = source_folders(root)
    found = {}
    for test in all_tests(root):
        hints: list[str] = []
        if test.name not in UNREAD:
            hints += hints_of_name(test, folders)
            for path in test.files:
                of_text = hints_of_cpp if test.is_cpp else hints_of_python
                hints += of_text(path.read_text(encoding="utf-8"), root, folders)
        for folder, names in by_hand.items():
            hints += [folder] * 3 if any(fnmatchcase(test.name, name) for name in names.split()) else []
        found[test] = Counter(folder for folder in hints if folder in folders)
    return found


# ---- the page --------------------------------------------------------------------------------------------------------


def row(folder: str, found: Hints) -> str:
    """A line for C++ and one for Python, if there are such tests."""
    lines = []
    for language in ("C++", "Python"):
        of_all = folder in (USED_BY_CONTEXTS if language == "C++" else (WRAPPER,))
        tests = [test for test in found if test.is_cpp == (language == "C++") and found[test][folder] > of_all]
        tests.sort(key=lambda test: (-(found[test][folder] ** 2) / sum(found[test].values()), test.name))
        names = ", ".join(test.name for test in tests[:LISTED])
        if of_all:
            lines.append(f"{language}: nearly all, above all {names}")
        elif tests:
            lines.append(f"{language}: {names}" + (f", and {len(tests) - LISTED} more" if tests[LISTED:] else ""))
    return f"- `{folder}` " + "\n  ".join(lines)


def problems(root: Path, found: Hints, by_hand: Mapping[str, str] = BY_HAND) -> Iterator[str]:
    """Sentences about what the index cannot say."""
    folders = source_folders(root)
    for folder in folders:
        if not any(counts[folder] for counts in found.values()):
            yield f"No test is about {folder}."
    for test, counts in found.items():
        if not counts:
            yield f"{test.files[0].relative_to(root).as_posix()} is in no row."
    for folder, names in by_hand.items():
        if folder not in folders:
            yield f"BY_HAND names {folder}: there is no such folder."
        for name in names.split():
            if not any(fnmatchcase(test.name, name) for test in found):
                yield f"BY_HAND names {name} for {folder}: there is no such test."


def renewed(page: str, root: Path, found: Hints) -> str:
    """The page with the index of today."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"tests/README.md lacks the lines\n{BEGIN}{END}")
    rows = "\n".join(row(folder, found) for folder in source_folders(root))
    return f"{before}{begin}\n{rows}\n\n{end}{after}"


def main(arguments: list[str] | None = None, root: Path = ROOT, by_hand: Mapping[str, str] = BY_HAND) -> int:
    parser = argparse.ArgumentParser(description="Write the index of tests/README.md.")
    parser.add_argument("--check", action="store_true", help="exit with 1 if the index is not up to date")
    check = parser.parse_args(arguments).check
    path, found = root / "tests/README.md", all_hints(root, by_hand)
    page = path.read_text(encoding="utf-8")
    new = renewed(page, root, found)
    said = list(problems(root, found, by_hand))
    if check and new != page:
        said.append(f"The index of tests/README.md is not up to date: run `{MEND}`.")
    elif not check:
        path.write_text(new, encoding="utf-8")
    print("".join(f"{problem}\n" for problem in said), end="", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
