# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Kernels' texts, several of which a program has, are C: no two functions have one name, none is used before it."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {path.name: path.read_text() for path in [*ROOT.glob("platforms/common/*/*.cc"), *ROOT.glob("core/**/*.cc")]}
FUNCTION = re.compile(r"^DEVICE\s+[\w\s*]*?\b(\w[\w$]*)\(([^)]*)\)\s*\{", re.MULTILINE)
NEEDS = re.compile(r"^// needs(?: if \w+)?: (.+)$", re.MULTILINE)

#: Texts that the host adds, in this order; one may use those before it.
ADDED = (
    ("smallTriangle.cc", "smallClusters.cc", "smallStages.cc"),
    tuple(
        f"subdomain{name}.cc"
        for name in ["Exchange", "Rounds", "Stage", "BeginLocal", "NextLocal", "FinishLocal", "Whole", "Run"]
    ),
)
#: Texts that the host writes, by what they need (CustomText.cpp), or fills (factor.cc).
WRITTEN = {
    "custom": ("coordinates.cc", "functions.cc", "rowThreads.cc", "centroids.cc", "pairs.cc"),
    "factorShared": ("factor.cc",),
    "factorGlobal": ("factor.cc",),
}
#: Every program has these.
ALWAYS = ("steps.cc",)


def types_of(parameters: str) -> tuple[str, ...]:
    """Of parameters without their names: "const Body* body, int n" has the types "const Body*" and "int"."""
    own = parameters.replace("SHARED_PARAMETER", "")
    return tuple(re.sub(r"\s*\b\w+$", "", each.strip()) for each in own.split(",") if each.strip())


def test_functions_of_a_name_have_the_same_parameters() -> None:
    """Definitions of one file for different cases (#if) may share a name; an overload may not."""
    found: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for path, text in TEXTS.items():
        for name, parameters in FUNCTION.findall(text):
            found[name].setdefault(types_of(parameters), path)
    assert len(found) > 300
    overloads = {name: sorted(files.values()) for name, files in found.items() if len(set(files.values())) > 1}
    assert not overloads


def code_of(name: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", TEXTS[name], flags=re.DOTALL)


def used_in(code: str) -> set[str]:
    """Words, and those that a bracket follows; those of macros count where these are used."""
    code = re.sub(r"^#define (?:[^\n]*\\\n)*[^\n]*\n", "", code, flags=re.MULTILINE)
    return set(re.findall(r"\w+\(", code)) | set(re.findall(r"\w+", code))


def needed_by(name: str) -> set[str]:
    """All texts that come before one, whatever is defined."""
    found: set[str] = set()
    wanted = [name, *ALWAYS]
    for group in ADDED:
        if name in group:
            wanted += group[: group.index(name)]
    while wanted:
        if (one := wanted.pop()) not in found:
            found.add(one)
            lists = WRITTEN.get(one) or NEEDS.findall(TEXTS.get(one, ""))
            wanted += [each for names in lists for each in names.split(", ")]
    return found


def definitions_in(code: str) -> set[str]:
    """Functions with their bracket, macros in capitals, and types."""
    functions = {f"{name}(" for name in re.findall(r"^(?:DEVICE)[^\n(]*?\b(\w+)\(", code, re.MULTILINE)}
    macros = set(re.findall(r"^#define ([A-Z][A-Z_0-9]+)\b", code, re.MULTILINE))
    return functions | macros | set(re.findall(r"^\} (\w+);", code, re.MULTILINE))


@cache
def definitions() -> dict[str, set[str]]:
    """The texts that define a symbol."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in TEXTS.keys() - {"share.cc"}:  # which defines again what OpenMM does
        for symbol in definitions_in(code_of(name)):
            found[symbol].add(name)
    return found


@pytest.mark.parametrize("name", [name for name in TEXTS if NEEDS.search(TEXTS[name])])
def test_a_text_needs_all_that_it_uses(name: str) -> None:
    before, defined = needed_by(name), definitions()
    used = used_in(code_of(name))
    missing = {symbol: files for symbol in used if (files := defined.get(symbol)) and not files & before}
    assert not missing


def test_what_is_needed_stands_in_the_first_comment() -> None:
    for name, text in TEXTS.items():
        head = re.match(r"(?:// .*\n)*", text)
        assert head
        assert not re.search(r"^// needs?\b", text[head.end() :], re.MULTILINE), name
        assert len(NEEDS.findall(head[0])) == len(re.findall(r"^// needs?\b", head[0], re.MULTILINE)), name
