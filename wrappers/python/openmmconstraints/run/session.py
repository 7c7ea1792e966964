# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""One run of a script: what the user chose, and what was observed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import openmm as mm

import openmmconstraints as mc
from openmmconstraints.run.observer import Observation


@dataclass
class Session:
    """One run of a script: settings of its integrators, and what was observed of them."""

    chosen: type[mc.ConstraintIntegrator] | None  # for all integrators; None: each has its own substitute
    solver: int
    tolerance: float | None = None
    script: str = "script.py"
    observed: list[tuple[Observation, Any]] = field(default_factory=list)
    untouched: set[str] = field(default_factory=set)  # kinds of integrators that ran as they are
    is_solver_only: bool = False  # the script keeps its integrators
    is_minimizing: bool = False  # minimize() sets the tolerance that it needs, whatever the command line says
    is_quiet: bool = False  # warnings are printed only
    replaced: list[tuple[mm.System, mc.ReplacedSolver]] = field(default_factory=list)
    latest: mm.Context | None = None  # kept until the next one, so that its last energy can be read
    _said: set[str] = field(default_factory=set)

    def say_once(self, sentence: str) -> None:
        """Print a sentence on stderr, unless it was printed before, or the run is quiet."""
        if not self.is_quiet:
            self._print_once(sentence)

    def warn_once(self, sentence: str) -> None:
        """Likewise, as a warning, which a quiet run has, too."""
        self._print_once(f"WARNING: {sentence}")

    def _print_once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            print(f"openmm-constraints run: {sentence}", file=sys.stderr, flush=True)

    def observe(self, observation: Observation, integrator: Any) -> Observation:
        """Observe a new integrator."""
        observation.is_quiet = self.is_quiet
        self.observed.append((observation, integrator))
        return observation

    @contextmanager
    def minimizing(self) -> Iterator[None]:
        """While it is open, minimize() does what it needs: it sets a tolerance, and may create a Context."""
        latest, self.is_minimizing = self.latest, True
        try:
            yield
        finally:
            self.latest, self.is_minimizing = latest, False

    def attach(self, context: mm.Context, integrator: mm.Integrator) -> None:
        """A Context was created."""
        for part in getattr(integrator, "_parts", [integrator]):
            if hasattr(part, "_observation"):
                part._start(context)
            else:
                self.untouched.add(type(part).__name__)
        self.latest = context

    def finish(self) -> None:
        """Take the last samples, and release the Context."""
        for observation, integrator in self.observed:
            observation.finish(integrator)
        self.latest = None

    def start_stretch(self, context: mm.Context) -> None:
        """The script changed the state of this Context, so that its energy may jump."""
        for observation, _ in self.observed:
            if observation.belongs_to(context):
                observation.energies.start_stretch()
