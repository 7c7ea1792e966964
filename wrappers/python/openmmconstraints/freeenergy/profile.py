# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""From mean forces to a free energy profile, with errors, as a table and as a plot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from math import pi
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openmmconstraints.freeenergy.coordinates import Coordinate
from openmmconstraints.freeenergy.windows import Window
from openmmconstraints.inspection.energy import BOLTZMANN
from openmmconstraints.inspection.html import paragraph, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def integration_matrix(x: np.ndarray) -> np.ndarray:
    """W [n, n] with (W f)_j the integral from x_0 to x_j of a function with the values f at x, in order, which
    may be unequally spaced.

    Each stretch is that of the cubic with the values and slopes at its ends: the trapezoid rule and
    h^2/12 (f'_0 - f'_1), with slopes by second-order finite differences. Exact for parabolas; two points: trapezoid.
    """
    values = np.eye(len(x))
    h = np.diff(x)[:, np.newaxis]
    stretches: Any = h / 2 * (values[:-1] + values[1:])
    if len(x) > 2:
        slopes: Any = np.gradient(values, x, axis=0, edge_order=2)
        stretches += h**2 / 12 * (slopes[:-1] - slopes[1:])
    return np.vstack([np.zeros(len(x)), np.cumsum(stretches, axis=0)])


def sum_of_stretch_errors(x: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Estimates [n] of the errors of the integrals over all stretches from x_0 to x_j, summed up without regard to
    signs. NaN with fewer than five values.

    Leaving out the value between two stretches changes their integral by three times its error, if errors fall with
    the square of the spacing; each stretch gets half of that. At the ends, where slopes are one-sided and worse, all.
    """
    if len(x) < 5:
        return np.full(len(x), np.nan)
    integral = integration_matrix(x) @ f
    total, pairs = np.zeros(len(x) - 1), np.zeros(len(x) - 1)
    for parity in (0, 1):
        kept = np.array(sorted({0, *range(parity, len(x), 2), len(x) - 1}))
        change = np.abs(np.diff(integral[kept] - integration_matrix(x[kept]) @ f[kept]))
        for first, last, value in zip(kept[:-1], kept[1:], change, strict=True):
            if last == first + 2:
                total[first:last] += value / 6
                pairs[first:last] += 1
    total[[0, -1]] *= 2
    return np.concatenate([[0.0], np.cumsum(total / pairs)])


@dataclass(frozen=True, repr=False)
class FreeEnergyProfile:
    """A(xi) = -kT ln P(xi), P the probability density of the coordinate: the potential of mean force. For a
    distance it contains the -2 kT ln r of the sphere (see radial()), for an angle -kT ln sin."""

    coordinate: Coordinate
    temperature: float  #: K
    values: np.ndarray  #: [n] of the coordinate (nm, rad)
    free_energy: np.ndarray  #: [n] kJ/mol, 0 at the reference
    covariance: np.ndarray  #: [n, n] (kJ/mol)^2, before anything was subtracted
    reference: int  #: the index of the value whose free energy is 0
    spacing_error: np.ndarray | None = None  #: [n] kJ/mol, summed up from the first value; see integration_error

    def __repr__(self) -> str:
        span = f"{np.min(self.free_energy):.3g} to {np.max(self.free_energy):.3g} kJ/mol"
        return f"{_line(self)}, {span}, {_largest(self.error)})"

    def _repr_html_(self) -> str:
        return _to_html(self)

    @property
    def error(self) -> np.ndarray:
        """Standard errors [n] of the differences from the reference (kJ/mol)."""
        C, r = self.covariance, self.reference
        return np.sqrt(np.maximum(0, np.diag(C) - 2 * C[r] + C[r, r]))

    @property
    def integration_error(self) -> np.ndarray:
        """An estimate [n] of the error that the spacing of the values leaves (kJ/mol): from what changes if a value is
        left out, stretch by stretch, summed up from the reference without regard to signs. So it is on the large side,
        more so once values are dense, where errors fall faster than with the square of the spacing, which it takes for
        granted. Statistical errors of the mean forces are part of it. NaN with fewer than five values."""
        if self.spacing_error is None:
            return np.full(len(self.values), np.nan)
        return np.abs(self.spacing_error - self.spacing_error[self.reference])

    def relative_to(self, index: int) -> FreeEnergyProfile:
        """The same with its zero, and the origin of its errors, at another value; -1 is the last."""
        index = range(len(self.values))[index]
        return replace(self, free_energy=self.free_energy - self.free_energy[index], reference=index)

    def radial(self) -> FreeEnergyProfile:
        """For a distance: -kT ln g(r), without the -2 kT ln r of the growing sphere, 0 at the last value.

        :raises ValueError: if the coordinate is no length
        """
        if self.coordinate.unit_name != "nanometer":
            raise ValueError(
                f"radial: {self.coordinate.label} is no distance, and has no -2 kT ln r. free_energy is -kT ln P."
            )
        energy = self.free_energy + 2 * BOLTZMANN * self.temperature * np.log(self.values)
        return replace(self, free_energy=energy).relative_to(-1)

    def plot(self, axes: Axes | None = None, label: str | None = None, **style: Any) -> Axes:
        """Draw it with a legend and two bands: two standard errors, and around these, lighter, the integration error.

        :param axes:  of matplotlib; None: new ones
        :param label: in the legend; None: one that says whether standard errors are known
        :param style: passed on to Axes.plot
        :return: the axes; `profile.plot().figure.savefig("pmf.png")` writes a file
        """
        spacing = np.where(np.isfinite(self.integration_error), self.integration_error, 0)
        return _draw(self, self.free_energy, "free energy (kJ/mol)", axes, label, style, spacing)

    def save(self, path: str | Path) -> None:
        """Write value, free energy, standard error and integration error as CSV."""
        _save(self, path, free_energy=self.free_energy, error=self.error, integration_error=self.integration_error)


@dataclass(frozen=True, repr=False)
class MeanForceProfile:
    """dA/dxi at a series of values of the coordinate."""

    coordinate: Coordinate
    temperature: float  #: K
    windows: tuple[Window, ...]  #: in the order of their values

    def __repr__(self) -> str:
        return f"{_line(self)}, {_largest(self.error, f' {self.coordinate.force_unit} at most')})"

    def _repr_html_(self) -> str:
        return _to_html(self)

    @property
    def values(self) -> np.ndarray:
        """[n] of the coordinate (nm, rad)."""
        return np.array([window.value for window in self.windows])

    @property
    def mean_force(self) -> np.ndarray:
        """[n] dA/dxi (kJ/mol/nm, kJ/mol/rad)."""
        return np.array([window.mean_force.mean for window in self.windows])

    @property
    def error(self) -> np.ndarray:
        """[n] their standard errors; nan where a run was too short for one."""
        return np.array([window.mean_force.error for window in self.windows])

    def integrate(self) -> FreeEnergyProfile:
        """The free energy, 0 at its minimum. The windows' errors are independent and propagate through the sum."""
        W = integration_matrix(self.values)
        energy, covariance = W @ self.mean_force, (W * self.error**2) @ W.T
        spacing = sum_of_stretch_errors(self.values, self.mean_force)
        profile = FreeEnergyProfile(self.coordinate, self.temperature, self.values, energy, covariance, 0, spacing)
        return profile.relative_to(int(np.argmin(energy)))

    def plot(self, axes: Axes | None = None, label: str | None = None, **style: Any) -> Axes:
        """Draw it with a legend and its error band; see FreeEnergyProfile.plot."""
        name = f"mean force dA/dξ ({self.coordinate.force_unit})"
        return _draw(self, self.mean_force, name, axes, label, style, np.zeros(len(self.values)))

    def save(self, path: str | Path) -> None:
        """Write value, mean force, standard error, number of samples and their statistical inefficiency as CSV."""
        forces = [window.mean_force for window in self.windows]
        _save(
            self,
            path,
            mean_force=self.mean_force,
            error=self.error,
            samples=np.array([force.samples for force in forces]),
            inefficiency=np.array([force.inefficiency for force in forces]),
        )


_Profile = FreeEnergyProfile | MeanForceProfile


def _draw(
    profile: _Profile,
    y: np.ndarray,
    name: str,
    axes: Axes | None,
    label: str | None,
    style: dict[str, Any],
    spacing: np.ndarray,
) -> Axes:
    """A line with a band of two standard errors, and a lighter one that adds errors by spacing; angles in degrees.
    Where runs are too short for standard errors, only the latter is drawn, and the legend says so."""
    if axes is None:
        from matplotlib import pyplot  # takes half a second to import

        axes = pyplot.subplots(layout="constrained")[1]
    x, unit = _shown_values(profile)
    is_known = bool(np.isfinite(profile.error).any())
    if label is None:
        label = "constrained runs, " + ("± 2 standard errors" if is_known else "too short for standard errors")
    (line,) = axes.plot(x, y, **{"marker": "o", "markersize": 3, "label": label, **style})
    band: dict[str, Any] = {"color": line.get_color(), "linewidth": 0}
    axes.fill_between(x, y - 2 * profile.error, y + 2 * profile.error, alpha=0.35, **band)
    if spacing.any():
        total = 2 * np.nan_to_num(profile.error) + spacing
        also = "and the error of integration" if is_known else "error of integration"
        axes.fill_between(x, y - total, y + total, alpha=0.15, label=also, **band)
    axes.set_xlabel(f"{profile.coordinate.label} ({unit})" if unit else profile.coordinate.label)
    axes.set_ylabel(name)
    axes.margins(y=0.18)  # room for the legend
    axes.legend(loc="upper center", ncols=2, fontsize="small")
    return axes


def _shown_values(profile: _Profile) -> tuple[np.ndarray, str]:
    """Those of the coordinate, and their unit: angles in degrees."""
    name = profile.coordinate.unit_name
    unit = {"radian": "degrees", "nanometer": "nm", "dimensionless": ""}.get(name, name)
    return profile.values * (180 / pi if unit == "degrees" else 1), unit


def _line(profile: _Profile) -> str:
    """The beginning of a representation."""
    values, unit = _shown_values(profile)
    ends = f"{values[0]:.4g} to {values[-1]:.4g} {unit}".rstrip()
    name, count = type(profile).__name__, len(profile.values)
    return f"{name}({profile.coordinate.label}, {count} values, {ends}, {profile.temperature:g} K"


def _largest(error: np.ndarray, note: str = "") -> str:
    """The largest of standard errors, for a representation."""
    return f"± {np.nanmax(error):.2g}{note}" if np.isfinite(error).any() else "too short for standard errors"


def _to_html(profile: _Profile) -> str:
    """The plot, for notebooks."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # not pyplot's, which would show it a second time
    from matplotlib.figure import Figure

    figure, png = Figure(figsize=(6, 3.7), layout="constrained"), BytesIO()
    FigureCanvasAgg(figure)
    profile.plot(figure.subplots())
    figure.savefig(png, dpi=100)
    return paragraph(repr(profile)) + picture(png.getvalue(), repr(profile))


def _save(profile: _Profile, path: str | Path, **columns: np.ndarray) -> None:
    header = f"{profile.coordinate.label} ({profile.coordinate.unit_name}); {profile.temperature:g} K; kJ/mol\n"
    header += ",".join(["value", *columns])
    table = np.column_stack([profile.values, *columns.values()])
    np.savetxt(path, table, delimiter=",", fmt="%.10g", header=header)
