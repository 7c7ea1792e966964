# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Whether a file has the particles of a System, and which are missing: virtual sites and Drude particles often are."""

from __future__ import annotations

from pathlib import Path

import openmm as mm
from openmm import app

from openmmconstraints.inspection.errors import UserError

MOST = 3  # that are named


def require_particles(system: mm.System, atoms: int, topology: app.Topology | None, path: Path) -> None:
    """Check that a file has an atom for each particle.

    :param atoms: how many the file has
    :param topology: of the file, to name the atoms that lack something
    :raises UserError: with the particles that are missing, where these are virtual sites and Drude particles
    """
    particles = system.getNumParticles()
    if atoms == particles:
        return
    kinds = {"virtual site": _virtual_sites(system), "Drude particle": _drude_particles(system)}
    extra = sorted(particle for parents in kinds.values() for particle in parents)
    sizes = f"'{path}' has {atoms} atoms, the System {particles} particles"
    if not extra or atoms != particles - len(extra):
        has = f" ({len(extra)} of them virtual sites and Drude particles)" if extra else ""
        raise UserError(f"{sizes}{has}. Give the file that the System was made from.")
    residues = [] if topology is None else [atom.residue for atom in topology.atoms()]
    place = {particle: atom for atom, particle in enumerate(sorted(set(range(particles)) - set(extra)))}
    missing = " and ".join(_named(kind, parents, place, residues) for kind, parents in kinds.items() if parents)
    raise UserError(
        f"{sizes}: {missing} {'is' if len(extra) == 1 else 'are'} missing. Give a State of the whole System, or add "
        "them: Modeller(topology, positions).addExtraParticles(forcefield)."
    )


def _virtual_sites(system: mm.System) -> dict[int, int]:
    """The virtual sites, each with a particle that it depends on."""
    sites = [i for i in range(system.getNumParticles()) if system.isVirtualSite(i)]
    return {i: system.getVirtualSite(i).getParticle(0) for i in sites}


def _drude_particles(system: mm.System) -> dict[int, int]:
    """The Drude particles, each with the one that it is attached to."""
    forces = [force for force in system.getForces() if isinstance(force, mm.DrudeForce)]
    return {
        int(particle): int(parent)
        for force in forces
        for particle, parent, *_ in (force.getParticleParameters(i) for i in range(force.getNumParticles()))
    }


def _named(kind: str, parents: dict[int, int], place: dict[int, int], residues: list) -> str:
    """Drude particles 1 (of SWM41), 6 (of SWM42), ... (20 in all)"""
    words = []
    for particle, parent in sorted(parents.items())[:MOST]:
        atom = place.get(parent)
        residue = residues[atom] if atom is not None and atom < len(residues) else None
        words.append(str(particle) if residue is None else f"{particle} (of {residue.name}{residue.id})")
    listed = ", ".join(words) if len(parents) <= MOST else f"{', '.join(words)}, ... ({len(parents)} in all)"
    return f"{kind}{'' if len(parents) == 1 else 's'} {listed}"
