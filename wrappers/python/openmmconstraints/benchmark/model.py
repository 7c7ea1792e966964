# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The systems of a benchmark, whatever they are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import openmm as mm


class Model(Protocol):
    """A system that can be created with different sets of constraints."""

    positions: np.ndarray  #: [numParticles, 3] nm
    is_relaxed: bool  #: whether the positions need no minimization

    def create(self, constraints: str | None) -> mm.System:
        """A new System with a set of constraints as System constraints; None: without any, all bonds are springs."""
        ...


@dataclass(frozen=True)
class NamedSystem:
    """An entry of the list that `openmm-constraints benchmark --list` prints."""

    name: str
    summary: str
    sets: tuple[str, ...]
    build: Callable[..., Model]  #: takes the size, where there is one
    size: int | None = None  #: where it can be chosen: by default
    quick_size: int | None = None  #: for a trial


@dataclass(frozen=True)
class Chosen:
    """A system of a size that a user chose."""

    entry: NamedSystem
    size: int | None

    @property
    def name(self) -> str:
        """As the user may write it: villin, chain:5000."""
        return self.entry.name if self.size is None else f"{self.entry.name}:{self.size}"

    @cached_property
    def model(self) -> Model:
        """Built when it is first asked for.

        :raises UserError: if files that it is made from are missing
        """
        return self.entry.build() if self.size is None else self.entry.build(self.size)
