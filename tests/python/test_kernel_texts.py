# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The kernels' texts, of which a program has several, are C: OpenCL knows no two functions of one name."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r"^DEVICE\s+[\w\s*]*?\b(\w[\w$]*)\(([^)]*)\)\s*\{", re.MULTILINE)


def types_of(parameters: str) -> tuple[str, ...]:
    """Of parameters without their names: "const Body* body, int n" has the types "const Body*" and "int"."""
    own = parameters.replace("SHARED_PARAMETER", "")
    return tuple(re.sub(r"\s*\b\w+$", "", each.strip()) for each in own.split(",") if each.strip())


def test_functions_of_a_name_have_the_same_parameters() -> None:
    """Definitions of one file for different cases (#if) may share a name; an overload may not."""
    found: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    texts = [*ROOT.glob("platforms/common/kernels/*.cc"), *ROOT.glob("core/**/*.cc")]
    for path in texts:
        for name, parameters in FUNCTION.findall(path.read_text()):
            found[name].setdefault(types_of(parameters), path.name)
    assert len(found) > 300
    overloads = {name: sorted(files.values()) for name, files in found.items() if len(set(files.values())) > 1}
    assert not overloads
