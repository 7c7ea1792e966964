# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Runs in portions, each appended to a file, so that a run can be stopped at any time and continued."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.inspection.system import particle_masses

from .models import TEMPERATURE, TERMS, Configuration, Model
from .observables import atom_classes, backbone, backbone_dihedrals, gyration_radius, particle_freedom, rmsd

INTERVAL = 0.1  # ps between samples
EQUILIBRATION_STEP = 0.001  # ps
EQUILIBRATION_FRICTION = 20.0  # 1/ps
MINIMIZER_ITERATIONS = 100
PROPERTIES = {"Threads": "1"}


class Runs:
    """All runs of one Model in one folder."""

    def __init__(self, model: Model, folder: Path, equilibration: float) -> None:
        """:param equilibration: ps for each set of constraints, from the same minimized structure"""
        self.model, self.folder, self.equilibration = model, folder, equilibration
        self.platform = mm.Platform.getPlatform("CPU")
        self.classes = atom_classes(model.topology)
        self.backbone = backbone(model.topology)
        self._starts: dict[str, np.ndarray] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def samples(self, configuration: Configuration) -> list[dict[str, Any]]:
        """The samples so far, in the order of their times (ps)."""
        file = self._file(configuration, "jsonl")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def failure(self, configuration: Configuration) -> str | None:
        """What stopped the run, if something did."""
        file = self._file(configuration, "failed")
        return file.read_text() if file.exists() else None

    def extend(self, configuration: Configuration, length: float) -> None:
        """Extend a run by so many ps, or save the message of its failure; a run that failed is left alone.

        Nothing is written before the end of the extension: samples and state match, whenever the program is stopped.
        """
        if self.failure(configuration) is not None:
            return
        samples: list[dict[str, Any]] = []
        try:
            state = self._run(configuration, length, samples)
        except mm.OpenMMException as error:
            self._file(configuration, "failed").write_text(str(error))
        else:
            self._file(configuration, "xml").write_text(mm.XmlSerializer.serialize(state))
        with self._file(configuration, "jsonl").open("a") as file:
            file.writelines(json.dumps(sample) + "\n" for sample in samples)

    def _run(self, configuration: Configuration, length: float, samples: list[dict[str, Any]]) -> mm.State:
        """Add to the samples, and return the state at the end."""
        system = self.model.make_system(configuration.constraints, configuration.hydrogen_mass)
        last = self._file(configuration, "xml")
        seed = 1 + zlib.crc32(f"{configuration.key} {len(self.samples(configuration))}".encode()) % 2**30
        integrator = configuration.make_integrator(seed)
        context = mm.Context(system, integrator, self.platform, PROPERTIES)
        if last.exists():
            context.setState(mm.XmlSerializer.deserialize(last.read_text()))
        else:
            context.setPositions(self.start(configuration.constraints))
            integrator.applyConstraints()
            context.setVelocitiesToTemperature(TEMPERATURE * unit.kelvin, seed)
        integrator.applyVelocityConstraints()
        masses = particle_masses(system)
        freedom = self._freedom(system, _positions(context))
        interval = round(INTERVAL / (1e-3 * configuration.step))
        for _ in range(round(length / INTERVAL)):
            begin = process_time()
            integrator.step(interval)
            cost = (process_time() - begin) / interval
            samples.append({"cost": cost, **self._sample(context, masses, freedom)})
        return context.getState(positions=True, velocities=True)

    def start(self, constraints: str) -> np.ndarray:
        """Positions [numAtoms, 3] (nm), equilibrated with these constraints."""
        if constraints not in self._starts:
            file = self.folder / f"start-{constraints}.npy"
            if not file.exists():
                np.save(file, self._equilibrate(constraints))
            self._starts[constraints] = np.load(file)
        return self._starts[constraints]

    def _equilibrate(self, constraints: str) -> np.ndarray:
        system = self.model.make_system(constraints)
        integrator = mc.RattleLangevinIntegrator(TEMPERATURE, EQUILIBRATION_FRICTION, EQUILIBRATION_STEP)
        integrator.setRandomNumberSeed(1)
        context = mm.Context(system, integrator, self.platform, PROPERTIES)
        context.setPositions(self._minimized())
        integrator.applyConstraints()
        context.setVelocitiesToTemperature(TEMPERATURE * unit.kelvin, 1)
        for _ in range(round(self.equilibration / EQUILIBRATION_STEP / 10)):  # in short calls, so that Ctrl-C works
            integrator.step(10)
        return _positions(context)

    def _minimized(self) -> np.ndarray:
        """Minimized positions, by OpenMM's minimizer, with System constraints."""
        file = self.folder / "minimized.npy"
        if not file.exists():
            options = {**self.model.options, "rigidWater": True}
            system = self.model.force_field.createSystem(self.model.topology, **options)
            context = mm.Context(system, mm.VerletIntegrator(0.001), self.platform, PROPERTIES)
            context.setPositions(self.model.positions)
            mm.LocalEnergyMinimizer.minimize(context, maxIterations=MINIMIZER_ITERATIONS)
            np.save(file, _positions(context))
        return np.load(file)

    def _freedom(self, system: mm.System, positions: np.ndarray) -> dict[str, float]:
        """Degrees of freedom of each class of atoms."""
        each = particle_freedom(system, positions)
        return {name: float(each[mask].sum()) for name, mask in self.classes.items()}

    def _sample(self, context: mm.Context, masses: np.ndarray, freedom: dict[str, float]) -> dict[str, Any]:
        """Everything that is recorded of a state, as values of JSON.

        Velocities of LangevinMiddle are projected first, as its next step would: that does not change the trajectory.
        """
        integrator = context.getIntegrator()
        iterations = integrator.getSolverSummary().iterations
        integrator.applyVelocityConstraints()
        state = context.getState(positions=True, velocities=True)
        positions = state.getPositions(asNumpy=True)._value
        velocities = state.getVelocities(asNumpy=True)._value
        kinetic = masses * (velocities**2).sum(axis=1) / 2
        potential = [
            context.getState(energy=True, groups={group}).getPotentialEnergy()._value for group in range(len(TERMS))
        ]
        if not np.isfinite(potential).all():
            raise mm.OpenMMException("The potential energy is not a finite number.")
        chain = positions[self.backbone.ravel()]
        return {
            "time": state.getTime()._value,
            "iterations": iterations,
            "kinetic": {name: float(kinetic[mask].sum()) for name, mask in self.classes.items()},
            "freedom": freedom,
            "potential": potential,
            "rmsd": rmsd(chain, self._minimized()[self.backbone.ravel()]),
            "gyration": gyration_radius(chain, masses[self.backbone.ravel()]),
            "dihedrals": np.round(backbone_dihedrals(positions, self.backbone)).astype(int).tolist(),
        }

    def _file(self, configuration: Configuration, ending: str) -> Path:
        return self.folder / f"{configuration.key}.{ending}"


def _positions(context: mm.Context) -> np.ndarray:
    return np.array(context.getState(positions=True).getPositions(asNumpy=True)._value)
