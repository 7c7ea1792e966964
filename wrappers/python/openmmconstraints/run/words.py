# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which words of `openmm-constraints run ...` are the command's, and which are the script's."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openmmconstraints.inspection.errors import UserError

SOLVER_ONLY = "--solver-only"
FLAGS = (SOLVER_ONLY, "--quiet")  # options that have no value


@dataclass
class Words:
    """The words of a command line, taken apart."""

    own: list[str] = field(default_factory=list)  # options of the command, with their values
    script: str | None = None
    arguments: list[str] = field(default_factory=list)  # of the script
    after: list[str] = field(default_factory=list)  # those of `own` that stood behind the script's name

    @property
    def is_solver_only(self) -> bool:
        """Whether the script is to keep its integrators."""
        return SOLVER_ONLY in self.own

    def hint(self) -> str:
        """What to type if options behind the script's name were meant for the script; empty where there are none."""
        if not self.after or self.script is None:
            return ""
        return f". If it is meant for {self.script}, write it after '--': {self._separated()}"

    def hint_unknown(self, unknown: Sequence[str]) -> str:
        """What to type if options in front of the script's name, which the command has not, were meant for the script.

        The value of such an option stands where the script's name is expected: then that comes further behind.
        """
        rest = [] if self.script is None else [self.script, *self.arguments]
        scripts = [i for i, word in enumerate(rest) if word.endswith(".py")]
        scripts = scripts or [i for i, word in enumerate(rest) if Path(word).is_file()]
        if not scripts:
            return "."
        place = scripts[0]
        known = [word for word in self.own if word not in unknown]
        line = shlex.join([*known, rest[place], *rest[place + 1 :], *unknown, *rest[:place]])
        return f". If it is meant for {rest[place]}, write it behind: openmm-constraints run {line}"

    def check_clash(self) -> None:
        """Refuse an option of the command behind the name of a script that has one of the same name.

        :raises UserError: with what to type
        """
        if self.script is None:
            return
        for word in self.after:
            name = word.partition("=")[0]
            if name.startswith("--") and _mentions(Path(self.script), name):
                raise UserError(
                    f"{name} is an option of {self.script}, too. Write it before the script's name if it is meant for "
                    f"openmm-constraints, or after '--' if it is meant for the script: {self._separated()}"
                )

    def check_solver_only(self) -> None:
        """Refuse options that choose an integrator or a setting of it, where the script keeps its own.

        :raises UserError: with the name of the option
        """
        for word in self.own if self.is_solver_only else ():
            name = word.partition("=")[0]
            if name in ("--integrator", "--solver"):
                raise UserError(
                    f"{name} is of no use with {SOLVER_ONLY}: the script keeps its integrator, and the solver is "
                    f"chosen for each cluster. Leave out {name} or {SOLVER_ONLY}."
                )

    def _separated(self) -> str:
        rest = [word for word in self.arguments if word != "--"]
        return f"openmm-constraints run {shlex.join([str(self.script), *rest, '--', *self.after])}"


def split_words(words: Sequence[str], options: Sequence[str]) -> Words:
    """Take the words of `run` apart.

    Before the script's name, all are the command's. Behind it, those that are `options`, with their values, are the
    command's, all others the script's, and all behind `--`.

    :param options: the command's options that have a value each; besides these it has FLAGS
    """
    found = Words()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            if found.script is None and rest:
                found.script = rest.pop(0)
            found.arguments += rest
            break
        if name in options or word in FLAGS:
            taken = [word] if equals or not rest or word in FLAGS else [word, rest.pop(0)]
            found.own += taken
            found.after += taken if found.script is not None else []
        elif found.script is not None:
            found.arguments.append(word)
        elif word.startswith("-"):
            found.own.append(word)
        else:
            found.script = word
    return found


def _mentions(script: Path, option: str) -> bool:
    """Whether a string of the script names the option, as `add_argument("--solver")` or a text for docopt does."""
    try:
        tree = ast.parse(script.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return False  # running it says so
    pattern = re.compile(rf"(?<![\w-]){re.escape(option)}(?![\w-])")
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(pattern.search(text) for text in strings)
