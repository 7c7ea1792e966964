# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What ARCHITECTURE.md says of the sources is true."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from index import device_folders, listed_folders

ROOT = Path(__file__).parents[2]
LISTED = listed_folders(ROOT)
PUBLIC = "openmmapi/include/openmmconstraints"
#: From the ground up. Public headers are plain declarations: all but core may include them.
FLOORS = [
    *(folder for folder in LISTED if folder.startswith("core/")),
    PUBLIC,
    *(folder for folder in LISTED if not folder.startswith("core/")),
    "platforms/reference",
    *device_folders(ROOT),
    *(f"platforms/{name}" for name in ("common", "opencl", "cuda")),
]


def sources(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).iterdir() if path.suffix in (".h", ".cpp")]


@pytest.mark.parametrize("folder", FLOORS)
def test_folders_include_only_what_is_before_them(folder):
    floor_of = {path.name: floor for floor, place in enumerate(FLOORS) for path in sources(place)}
    up = [
        f"{path.name} includes {name} of {FLOORS[floor_of[name]]}"
        for path in sources(folder)
        for name in re.findall(r'^#include "(?:openmmconstraints/)?([^"/]+)"', path.read_text(), re.MULTILINE)
        if floor_of.get(name, 0) > FLOORS.index(folder)
    ]
    assert sources(folder)
    assert not up


def test_core_includes_no_header_of_openmm():
    for path in (ROOT / "core").rglob("*.*"):
        assert not re.search(r'#include ["<]openmm', path.read_text()), path


def test_files_have_names_of_their_own():
    """Includes name the file only."""
    names = [path.name for folder in FLOORS for path in sources(folder)]
    assert len(names) == len(set(names))


HOOKS = "core/basics/TestHooks.h"


def test_one_file_reads_the_environment():
    assert files_that_name(r"\bgetenv\b") == {HOOKS}


def test_every_hook_is_set_by_a_test_and_no_test_sets_another():
    """Of a name that is misspelt nobody would notice that it changes nothing."""

    def named(path: Path) -> set[str]:
        return set(re.findall(r'"OPENMM_CONSTRAINTS_([A-Z_]+)"', path.read_text()))

    def set_below(folder: str, but: str = "") -> set[str]:
        paths = [path for ending in ("cpp", "py") for path in (ROOT / folder).rglob(f"*.{ending}") if path.name != but]
        return set().union(*map(named, paths))

    hooks = named(ROOT / HOOKS)
    assert set_below("tests", but="TestHooks.cpp") == hooks
    assert set_below("benchmarks") <= hooks


def test_every_folder_of_the_library_is_in_the_tree():
    tree = (ROOT / "ARCHITECTURE.md").read_text()
    for folder in LISTED:
        assert re.search(rf"^(  )?({re.escape(folder)}|{Path(folder).name})/ ", tree, re.MULTILINE) or (
            Path(folder).name == "src" and re.search(rf"^{Path(folder).parent}/ ", tree, re.MULTILINE)
        ), folder


SOURCES = ("core", "expressions", "system", "openmmapi", "serialization", "platforms", "wrappers")
PYTHON_COMMENTS, CPP_COMMENTS = r'""".*?"""|#[^\n]*', r"/\*.*?\*/|//[^\n]*"
COMMENTS = {
    **dict.fromkeys((".py", ".pyi"), PYTHON_COMMENTS),
    **dict.fromkeys((".h", ".cpp", ".inc", ".cc"), CPP_COMMENTS),
    ".i": CPP_COMMENTS + r'|%feature\("docstring"\).*?";',
}


def files_that_name(pattern: str, *, but: tuple[str, ...] = ()) -> set[str]:
    """Files of the library whose code, without comments and messages to users, matches a pattern."""
    found = set()
    for path in (path for folder in SOURCES for path in (ROOT / folder).rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in COMMENTS and not any(folder in name for folder in but):
            code = re.sub(COMMENTS[path.suffix], "", path.read_text(), flags=re.DOTALL)
            if re.search(pattern, code):
                found.add(name)
    return found


def files_of_row(what: str) -> set[str]:
    """The files that a row of ARCHITECTURE.md's table names: each by an end of its path that no other file has."""
    row = re.search(rf"^\| {re.escape(what)} \| (.*) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    names = re.findall(r"`([\w/]+\.(?:h|cpp|cc|i|pyi|py))`", row.group(1))
    paths = [path.relative_to(ROOT).as_posix() for folder in SOURCES for path in (ROOT / folder).rglob("*.*")]
    found = set()
    for name in names:
        matches = [path for path in paths if f"/{path}".endswith(f"/{name}")]
        assert len(matches) == 1, f"{name}: {matches}"
        found.update(matches)
    return found


#: Folders of the Python package that use what there is, as a user does.
USERS = ("/benchmark/", "/demo/", "/run/", "/commands/")


def test_the_table_says_what_a_coordinate_takes():
    """By the example of a dihedral."""
    assert files_that_name(r"[Dd]ihedral|DIHEDRAL", but=USERS) == files_of_row("a coordinate, as a dihedral")


def test_the_table_says_what_an_integrator_takes():
    named = files_that_name(r"ShakeIntegrator|ShakeStep|\bShake\b", but=USERS)
    # A step without a stage of its own needs no kernel text.
    assert named == files_of_row("an integrator, as `ShakeIntegrator`") - {"platforms/common/stage/steps.cc"}
