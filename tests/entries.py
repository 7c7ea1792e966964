# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What ctest runs: its entries, and the tests of GoogleTest in each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """One process of ctest."""

    name: str
    labels: tuple[str, ...]
    command: tuple[str, ...]
    environment: tuple[str, ...]  # as "NAME=VALUE"

    @property
    def program(self) -> str:
        return Path(self.command[0]).name

    @property
    def is_googletest(self) -> bool:
        return any(word.startswith("--gtest") for word in self.command)

    def variables(self) -> dict[str, str]:
        """The environment in which it runs, where it writes no report."""
        own = dict(word.split("=", 1) for word in self.environment if word)
        return {key: value for key, value in (os.environ | own).items() if key != "GTEST_OUTPUT"}


def entries(build: Path) -> list[Entry]:
    """Of a build folder."""
    ctest = Path(sys.executable).with_name("ctest")
    command = [str(ctest) if ctest.exists() else "ctest", "--test-dir", str(build), "--show-only=json-v1"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    result = []
    for test in found["tests"]:
        properties = {each["name"]: each["value"] for each in test["properties"]}
        labels, environment = properties.get("LABELS", ()), properties.get("ENVIRONMENT", ())
        result.append(Entry(test["name"], tuple(labels), tuple(test["command"]), tuple(environment)))
    return result


def listed(command: list[str], variables: dict[str, str]) -> list[str]:
    """Names of the tests that a program with GoogleTest would run, in order; of all shards."""
    result = subprocess.run([*command, "--gtest_list_tests"], env=variables, check=True, capture_output=True, text=True)
    names, suite = [], ""
    for line in result.stdout.splitlines():
        word = line.split("#")[0].rstrip()
        if word.startswith("  "):
            names.append(suite + word.strip())
        elif word.endswith("."):
            suite = word
    return names


def names_in(entry: Entry) -> set[str]:
    """All tests of its shards."""
    return set(listed(list(entry.command), entry.variables()))


def names_in_shard(entry: Entry) -> list[str]:
    """The tests that this entry runs."""
    variables = entry.variables()
    first, step = int(variables.get("GTEST_SHARD_INDEX", 0)), int(variables.get("GTEST_TOTAL_SHARDS", 1))
    return listed(list(entry.command), variables)[first::step]


def names_in_program(entry: Entry) -> set[str]:
    """All tests that its program has, run by this entry or not."""
    variables = entry.variables()
    variables.pop("CONSTRAINTS_TEST_ONE_OF_EACH", None)
    return set(listed([entry.command[0]], variables))
