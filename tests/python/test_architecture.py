# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What ARCHITECTURE.md says of the sources is true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def listed_folders() -> list[str]:
    """The folders of the library, as CMakeLists.txt lists them: each uses those before it."""
    text = (ROOT / "CMakeLists.txt").read_text()
    listed = re.sub(r"#.*", "", re.search(r"set\(folders\n(.*?)\)", text, re.DOTALL).group(1))
    return listed.split()


PUBLIC = "openmmapi/include/openmmconstraints"
#: From the ground up. Public headers are plain declarations: all but core may include them.
FLOORS = [
    *(folder for folder in listed_folders() if folder.startswith("core/")),
    PUBLIC,
    *(folder for folder in listed_folders() if not folder.startswith("core/")),
    *(f"platforms/{name}" for name in ("cpu", "reference", "common", "opencl", "cuda")),
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


def test_every_folder_of_the_library_is_in_the_tree():
    tree = (ROOT / "ARCHITECTURE.md").read_text()
    for folder in listed_folders():
        assert re.search(rf"^(  )?({re.escape(folder)}|{Path(folder).name})/ ", tree, re.MULTILINE) or (
            Path(folder).name == "src" and re.search(rf"^{Path(folder).parent}/ ", tree, re.MULTILINE)
        ), folder
