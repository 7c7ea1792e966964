# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How the C++ classes show themselves: one line in Python, tables in notebooks."""

from __future__ import annotations

from typing import Any

from openmm.unit import is_quantity

from openmmconstraints.inspection.html import paragraph, table
from openmmconstraints.inspection.kinds import METHODS, NOUNS, motion_of, number_of, parameters_of
from openmmconstraints.inspection.labels import quoted
from openmmconstraints.wrapper import (
    ConstraintForce,
    ConstraintIntegrator,
    CustomCentroidConstraintForce,
    CustomConstraintForce,
    SolverSummary,
)

MOST_ROWS = 10
MOST_QUOTED = 200  # characters of an expression
_ALWAYS = ("converged", "iterations", "maxError", "tolerance")


def add_representations() -> None:
    """Give the compiled classes their representations. Derived ones inherit none, since SWIG gives each its own."""
    views: tuple[tuple[Any, ...], ...] = (
        (ConstraintForce, _force_line, _force_html),
        (CustomConstraintForce, _custom_line, _custom_html),
        (CustomCentroidConstraintForce, _custom_line, _custom_html),
        (SolverSummary, _summary_line, _summary_html),
    )
    for cls, line, page in views:
        cls.__repr__, cls._repr_html_ = line, page
    kinds: list[Any] = [ConstraintIntegrator]
    while kinds:
        kinds[-1].__repr__ = _integrator_line
        kinds += kinds.pop().__subclasses__()


def _counted(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _force_counts(force) -> list[tuple[int, str]]:
    counts = [(number_of(force, kind), NOUNS[kind]) for kind in range(len(METHODS))]
    counts.append((force.getNumRigidBodies(), "rigid body"))
    return [(number, noun) for number, noun in counts if number]


def _force_line(self) -> str:
    parts = [_counted(number, noun) for number, noun in _force_counts(self)] or ["no constraints"]
    if self.usesPeriodicBoundaryConditions():
        parts.append("periodic")
    return f"{type(self).__name__}({', '.join(parts)})"


def _force_html(self) -> str:
    rows: list[tuple[object, ...]] = []
    for kind in range(len(METHODS)):
        number = number_of(self, kind)
        for index in range(min(number, MOST_ROWS)):
            particles, value, _ = parameters_of(self, kind, index)
            rate, _ = motion_of(self, kind, index)
            moves = _quantity(rate) if rate._value else ""
            rows.append((NOUNS[kind], index, _particles(particles), _quantity(value), moves))
        if number > MOST_ROWS:
            rows.append((NOUNS[kind], "…", f"{number - MOST_ROWS:,} more", "", ""))
    bodies = self.getNumRigidBodies()
    for index in range(min(bodies, MOST_ROWS)):
        particles, _ = self.getRigidBodyParameters(index)
        rows.append(("rigid body", index, _particles(particles), "", ""))
    if bodies > MOST_ROWS:
        rows.append(("rigid body", "…", f"{bodies - MOST_ROWS:,} more", "", ""))
    return paragraph(repr(self)) + table(("kind", "index", "particles", "value", "rate"), rows)


def _custom_line(self) -> str:
    parts = [repr(quoted(self, MOST_QUOTED)), _counted(self.getNumConstraints(), "constraint")]
    if self.usesPeriodicBoundaryConditions():
        parts.append("periodic")
    return f"{type(self).__name__}({', '.join(parts)})"


def _custom_html(self) -> str:
    names = [self.getPerConstraintParameterName(i) for i in range(self.getNumPerConstraintParameters())]
    number = self.getNumConstraints()
    rows: list[tuple[object, ...]] = []
    for index in range(min(number, MOST_ROWS)):
        points, parameters = self.getConstraintParameters(index)
        rows.append((index, _particles(points), *(f"{value:g}" for value in parameters)))
    if number > MOST_ROWS:
        rows.append(("…", f"{number - MOST_ROWS:,} more", *[""] * len(names)))
    points = "particles" if isinstance(self, CustomConstraintForce) else "groups"
    return paragraph(repr(self)) + table(("index", points, *names), rows)


def _integrator_line(self) -> str:
    parts = []
    for method in ("getTemperature", "getFriction", "getCollisionFrequency", "getStepSize"):
        if hasattr(self, method):
            parts.append(_quantity(getattr(self, method)()))
    if hasattr(self, "getGroups"):
        parts.append(f"groups {[tuple(group) for group in self.getGroups()]}")
    parts += [f"tolerance {self.getConstraintTolerance():g}", f"solver {self.getSolver()}"]
    return f"{type(self).__name__}({', '.join(parts)})"


def _summary_fields(summary) -> dict[str, object]:
    """Those that say something: the first ones, and others that are not as in a new one."""
    names = [name for name, value in vars(type(summary)).items() if isinstance(value, property) and name != "thisown"]
    new = type(summary)()
    values = {name: getattr(summary, name) for name in names}
    return {name: value for name, value in values.items() if name in _ALWAYS or value != getattr(new, name)}


def _summary_line(self) -> str:
    values = _summary_fields(self).items()
    fields = (f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value!r}" for name, value in values)
    return f"{type(self).__name__}({', '.join(fields)})"


def _summary_html(self) -> str:
    fields = _summary_fields(self).items()
    rows = [(name, f"{value:.3g}" if isinstance(value, float) else value) for name, value in fields]
    return paragraph(self.str()) + table((), rows)


def _particles(entries) -> str:
    """1-2-3, or 1-2 | 3-4 of two groups."""
    groups = [entry for entry in entries if not isinstance(entry, int)]
    return " | ".join("-".join(map(str, group)) for group in groups or [entries])


def _quantity(value) -> str:
    """A number of four digits with its unit, if it has one."""
    return f"{value._value:.4g} {value.unit.get_symbol()}" if is_quantity(value) else f"{value:.4g}"
