# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""tests/README.md says which tests belong to which folder: it is up to date, and tests/index.py notices what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from index import BEGIN, END, MEND, ROOT, Suite, all_hints, is_named_after, main, problems, renewed, row

INTERFACE = "from openmmconstraints.helpers.hold import hold\nfrom openmmconstraints.wrapper import Step\n"
FILES = {
    "CMakeLists.txt": "set(folders\n    core/low core/high # no OpenMM\n    openmmapi/src)\n",
    "core/low/Low.h": "",
    "core/low/texts.cc": "",
    "core/high/VeryHigh.cpp": "",
    "openmmapi/include/Step.h": "",
    "openmmapi/include/OpenMMConstraints.h": "",
    "openmmapi/src/Steps.cpp": "",
    "platforms/common/Tables.h": "",
    "wrappers/python/openmmconstraints/__init__.py": INTERFACE,
    "wrappers/python/openmmconstraints/helpers/hold.py": "",
    "wrappers/python/openmmconstraints/commands/cli.py": "",
    "benchmarks/speed.py": "",
    "tools/shapes/shape.py": "",
    "scripts/build.sh": "",
    "tests/README.md": f"# Tests\n{BEGIN}{END}The end.\n",
    "tests/support/Usual.h": '#include "support/Public.h"\n',
    "tests/support/Public.h": '#include "OpenMMConstraints.h"\n',
    "tests/support/Low.h": '#include "Low.h"\n',
    "tests/TestDirect.cpp": '#include "Low.h"\n#include "texts.cc"\n',
    "tests/TestSupported.cpp": '#include "support/Low.h"\n',
    "tests/TestHigh.cpp": '#include "support/Usual.h"\n',
    "tests/TestSteps.cpp": '#include "support/Usual.h"\n',
    "tests/calls/TestCalls.cpp": '#include "Low.h"\n',
    "tests/python/test_held.py": "import openmmconstraints as mc\nmc.hold(1)\n",
    "tests/python/test_wrapped.py": "from openmmconstraints.wrapper import Step\nStep()\n",
    "tests/python/test_cli.py": 'from command import command\n\ncommand("info", "file")\n',
    "tests/python/test_speed.py": 'sys.path.insert(0, str(ROOT / "benchmarks"))\nimport speed\n',
    "tools/test_shapes.py": '"""tools/shapes on a sphere."""\n',
    "tests/python/test_scripts.py": '"""scripts/build.sh, as tests/README.md has it."""\n',
}
BY_HAND = {"platforms/common": "calls/", "tools": "shapes"}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


# ---- this tree -------------------------------------------------------------------------------------------------------


def test_the_page_is_up_to_date_and_has_every_folder_and_every_test() -> None:
    found, page = all_hints(ROOT), (ROOT / "tests/README.md").read_text()
    assert list(problems(ROOT, found)) == []
    assert renewed(page, ROOT, found) == page, f"run `{MEND}`"


# ---- another one -----------------------------------------------------------------------------------------------------


def test_rows_follow_the_sources(tree: Path) -> None:
    assert main([], tree, BY_HAND) == 0
    begin, *rows, end = (tree / "tests/README.md").read_text().removeprefix("# Tests\n").split("\n\n")
    assert (begin + "\n", end) == (BEGIN, f"{END}The end.\n")
    assert rows == [
        """\
- `core/low` C++: Direct, Supported
- `core/high` C++: High
- `openmmapi/include` C++: nearly all, above all Steps
- `openmmapi/src` C++: nearly all, above all Steps
- `platforms/common` C++: nearly all, above all calls/
- `wrappers/python` Python: nearly all, above all wrapped
- `wrappers/python/openmmconstraints/commands` Python: cli
- `wrappers/python/openmmconstraints/helpers` Python: held
- `benchmarks` Python: speed
- `tools` Python: shapes
- `tools/shapes` Python: shapes
- `scripts` Python: scripts
- `tests` Python: scripts"""
    ]


def test_a_row_is_short_and_says_how_many_are_left_out(tree: Path) -> None:
    write(tree, {f"tests/TestLow{i:02}.cpp": '#include "Low.h"\n' for i in range(20)})
    line = row("core/low", all_hints(tree, BY_HAND))
    assert line.startswith("- `core/low` C++: Direct, Low00, Low01, ")
    assert line.endswith("Low10, and 10 more")


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (
            {"core/top/Top.h": "", "CMakeLists.txt": "set(folders\n    core/top openmmapi/src)"},
            "No test is about core/top.",
        ),
        ({"scripts/gpu/card.sh": ""}, "No test is about scripts/gpu."),
        ({"tests/TestNothing.cpp": "TEST(Nothing, IsTested) {}"}, "tests/TestNothing.cpp is in no row."),
        ({"tests/python/test_nothing.py": "import re\n"}, "tests/python/test_nothing.py is in no row."),
        ({"tests/more/test_there.py": ""}, "tests/more/test_there.py is in no row."),
        ({"tests/emulator/TestEmulator.cpp": '#include "Low.h"'}, "tests/emulator/TestEmulator.cpp is in no row."),
    ],
)
def test_what_has_no_row_is_named(added: dict[str, str], said: str, tree: Path) -> None:
    write(tree, added)
    assert said in problems(tree, all_hints(tree, BY_HAND), BY_HAND)


def test_what_the_table_names_has_to_exist(tree: Path) -> None:
    by_hand = {**BY_HAND, "core/low": "Direct Gone", "core/gone": "Direct"}
    assert list(problems(tree, all_hints(tree, by_hand), by_hand)) == [
        "BY_HAND names Gone for core/low: there is no such test.",
        "BY_HAND names core/gone: there is no such folder.",
    ]


def test_a_page_that_is_not_up_to_date_is_an_error(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"], tree, BY_HAND) == 1
    assert MEND in capsys.readouterr().err
    assert (tree / "tests/README.md").read_text() == FILES["tests/README.md"]
    assert main([], tree, BY_HAND) == 0
    assert main(["--check"], tree, BY_HAND) == 0
    write(tree, {"tests/TestNew.cpp": '#include "Low.h"\n'})
    assert main(["--check"], tree, BY_HAND) == 1


def test_a_page_without_the_markers_is_refused(tree: Path) -> None:
    with pytest.raises(SystemExit, match="lacks the lines"):
        renewed("# Tests\n", tree, all_hints(tree, BY_HAND))


@pytest.mark.parametrize(
    ("test", "is_cpp", "file", "named"),
    [
        ("Rank", True, "GenericRank.h", True),
        ("Problems", True, "ConstraintProblem.cpp", True),
        ("Rank", True, "Ranking.h", False),
        ("Angles", True, "subdomainAngles.cc", False),
        ("SmallClusters", True, "smallClusters.cc", True),
        ("Pressure", True, "pressure.py", False),
        ("pressure", False, "pressure.py", True),
        ("blue_moon", False, "BlueMoon.h", True),
        ("free_energy", False, "freeenergy", True),
    ],
)
def test_a_test_may_be_named_after_a_file(test: str, is_cpp: bool, file: str, named: bool) -> None:
    assert is_named_after(Suite(test, is_cpp, ()), Path(file)) is named
