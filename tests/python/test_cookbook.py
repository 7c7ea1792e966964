# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every task of the cookbook runs, is short, and finds what is known from elsewhere."""

import re
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from openmm_series import since
from snippets import blocks

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = EXAMPLES.parent / "docs/cookbook.md"
sys.path.append(str(EXAMPLES.parent / "docs/extensions"))

from outputs import Output  # noqa: E402

QUICK = ("beads_on_sphere", "carbon_dioxide", "notebook", "restart")
NEEDS = {
    "learned_potential": [since("8.5", "PythonForce")],
    "replica_exchange": [since("8.6", "ReplicaExchangeSampler")],
}
KT = 0.00831446 * 300  # kJ/mol


def lines_of(script):
    """What there is to read: neither the license nor empty lines."""
    return [line for line in script.read_text().splitlines()[2:] if line.strip()]


def positions(found):
    """Positions (nm) after the task."""
    return found["simulation"].context.getState(positions=True).getPositions(asNumpy=True)._value


def bonds_to_hydrogen(found):
    """Pairs of indices."""
    bonds = found["pdb"].topology.bonds()
    return np.array([(a.index, b.index) for a, b in bonds if "H" in (a.element.symbol, b.element.symbol)])


def distances(x, pairs):
    return np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)


def assert_temperature(found, expected, deviations=5):
    """That of the last state, which fluctuates by sqrt(2/n) of itself."""
    integrator = found["integrator"]
    sigma = expected * (2 / integrator.getNumDegreesOfFreedom()) ** 0.5
    assert integrator.computeSystemTemperature()._value == pytest.approx(expected, abs=deviations * sigma)


def hold_phi_psi(found, printed):
    assert re.findall(r"-?\d+\.\d+ degrees", printed) == ["-60.000 degrees", "-45.000 degrees"]
    assert found["integrator"].getNumDegreesOfFreedom() == 3 * 22 - 12 - 2 - 3


def rigid_ligand(found, printed):
    system = found["system"]
    waters = (system.getNumParticles() - 22) // 3
    assert found["integrator"].getNumDegreesOfFreedom() == 6 + 6 * waters - 3
    start = found["pdb"].getPositions(asNumpy=True)._value
    pairs = np.array([(i, j) for i in range(22) for j in range(i)])
    np.testing.assert_allclose(distances(positions(found), pairs), distances(start, pairs), rtol=1e-6)
    assert_temperature(found, 300)


def rigid_domain(found, printed):
    start, end = found["villin"].positions._value, positions(found)
    for domain in found["domains"]:
        first, *others = (atom.index for atom in domain)
        pairs = np.array([(first, other) for other in others])
        np.testing.assert_allclose(distances(end, pairs), distances(np.array(start), pairs), rtol=1e-6)
    assert np.abs(end - np.array(start)).max() > 0.01
    # Bonds to hydrogen outside of the bodies hold one degree of freedom each, a body all but six.
    inside = {atom.index for domain in found["domains"] for atom in domain}
    system = found["system"]
    others = sum(1 for k in range(system.getNumConstraints()) if not {*system.getConstraintParameters(k)[:2]} <= inside)
    free = system.getNumParticles() - len(inside)
    assert found["integrator"].getNumDegreesOfFreedom() == 3 * free + 2 * 6 - others - 3


def freeze_solute(found, printed):
    assert np.all(found["moved"][found["solute"]] == 0)
    assert found["moved"].max() > 0.1
    assert_temperature(found, 300)


def carbon_dioxide(found, printed):
    assert found["integrator"].getNumDegreesOfFreedom() == 5 * 6**3
    # Each of 100 samples has a standard deviation of sqrt(2/1080); the bath forgets in some five of them.
    assert np.mean(found["temperatures"]) == pytest.approx(300, abs=5 * 300 * (2 / 1080 / 20) ** 0.5)


def learned_potential(found, printed):
    assert "10 C-H" in printed
    assert "2 N-H" in printed
    pairs = bonds_to_hydrogen(found)
    start = found["pdb"].getPositions(asNumpy=True)._value
    assert len(pairs) == 12
    assert found["integrator"].getNumDegreesOfFreedom() == 3 * 22 - 12
    np.testing.assert_allclose(distances(positions(found), pairs), distances(start, pairs), rtol=2e-5)


def beads_on_sphere(found, printed):
    # Thomson's problem with 12 charges: an icosahedron (Wales, Ulker, Phys. Rev. B 74, 212101 (2006)).
    assert float(re.search(r"energy (\d+\.\d+)", printed)[1]) == pytest.approx(49.165253058, abs=2e-6)
    assert np.linalg.norm(found["x"], axis=1) == pytest.approx(np.ones(12), abs=1e-5)


def lipid_heads_on_planes(found, printed):
    x, heights = positions(found), found["heights"]
    assert 2.5 < heights[True] - heights[False] < 3.5
    wanted = [heights[bool(found["z"][head] > found["middle"])] for head in found["heads"]]
    np.testing.assert_allclose(x[found["heads"], 2], wanted, atol=2e-5)
    assert np.abs(x[found["heads"], 2] - found["z"][found["heads"]]).max() > 0.05, "they had to move"


def membrane(found, printed):
    # A fluid bilayer of DLPC: 0.608 nm^2 a lipid (Kučerka et al., Biochim. Biophys. Acta 1808, 2761 (2011)).
    x, y, _ = found["simulation"].context.getState().getPeriodicBoxVectors()._value
    assert x[0] * y[1] / 8 == pytest.approx(0.61, abs=0.06)
    assert_temperature(found, 303)


def pmf_in_water(found, printed):
    profile = found["profile"]
    # Ions touch at 0.28 nm; apart, they are separated by a barrier (Smith, Dang, J. Chem. Phys. 100, 3757 (1994)).
    assert profile.values[np.argmin(profile.free_energy)] == pytest.approx(0.28)
    assert profile.free_energy[0] - profile.free_energy[1] > 6
    assert profile.free_energy[-1] - profile.free_energy[1] > 6
    assert Path("pmf.png").stat().st_size > 10_000


def pull_and_work(found, printed):
    assert found["end"] == pytest.approx(found["start"] - 0.1, abs=1e-5)
    _, work, heat, conserved = np.loadtxt("pull.csv", delimiter=",").T
    assert np.ptp(heat) > 30  # of 500 runs log-normal: 6.4 standard deviations of the logarithm below the mean
    assert conserved[-10:].mean() == pytest.approx(conserved[:10].mean(), abs=8), "total energy, less work, less heat"
    assert work[-1] == pytest.approx(found["integrator"].getConstraintWork()._value, abs=0.01)
    assert -3 < work[-1] < 25


def metadynamics(found, printed):
    angles, energies = np.loadtxt(printed.splitlines()[1:]).T
    # C7eq is lowest, below a barrier that 565 runs found to be 44 +- 2, and 36 at least.
    basin, barrier = (energies[(angles >= a) & (angles <= b)] for a, b in ((20, 120), (-130, -30)))
    assert basin.min() < energies.min() + 5
    assert barrier.max() - energies.min() > 24
    # Of 288 runs, mean and standard deviation; one of 2,000,000 steps gives 17.1, 8.2 and 5.2.
    for psi, mean, deviation in ((-180, 17.1, 1.7), (0, 8.3, 1.0), (120, 5.1, 1.1)):
        assert energies[angles == psi] - energies.min() == pytest.approx(mean, abs=6 * deviation), psi
    x = positions(found)
    for *atoms, degrees in ((1, 4, 6, 8, 180), (8, 14, 16, 18, 180), (4, 6, 8, 14, -80)):
        value = found["mc"].freeenergy.Dihedral(*atoms).measure(found["system"], x)
        assert np.cos(value - np.radians(degrees)) == pytest.approx(1, abs=2e-10)


def replica_exchange(found, printed):
    visited = np.array(found["visited"])
    assert visited.shape == (40, 4)
    assert all(sorted(states) == [0, 1, 2, 3] for states in visited)
    assert len(np.unique(visited, axis=0)) > 5, "replicas exchange"
    pairs = bonds_to_hydrogen(found)
    x = found["sampler"].replicaConformation[0].getPositions(asNumpy=True)._value
    system = found["system"]
    held = [system.getConstraintParameters(k) for k in range(system.getNumConstraints())]
    assert len(held) == len(pairs)
    lengths = distances(x, np.array([bond[:2] for bond in held]))
    np.testing.assert_allclose(lengths, [bond[2]._value for bond in held], rtol=2e-5)


def check_before_a_run(found, printed):
    assert printed.splitlines()[-1] == "Healthy."
    assert found["health"].degreesOfFreedom == 3 * 826 - 816 - 3


def pressure(found, printed):
    # N kT/V; each of 100 samples scatters by sqrt(2/5000) of 5/3 of it, and the bath forgets in some five of them.
    (expected,) = re.findall(r"gas has (\d+\.\d+)", printed)
    assert float(expected) == pytest.approx(1000 * 1.380649e-23 * 300 / 8e-24 / 1e5, abs=0.006)
    assert np.mean(found["pressures"]) == pytest.approx(float(expected), rel=5 * 5 / 3 * (2 / 5000 / 20) ** 0.5)


def assert_steady(found, printed):
    """The heat bath keeps the temperature, and the step size the conserved energy: 0.002 kT/ps a degree of freedom, and
    what the drift's standard error allows in 2 ps, which is as large."""
    assert found["error"] < 0.005 * KT
    assert abs(found["drift"]) < 0.002 * KT + 4 * found["error"]
    assert_temperature(found, 300)


def restart(found, printed):
    table = np.loadtxt(printed.splitlines(), delimiter=",")
    assert list(table[:, 0]) == [100, 200, 300, 400, 500, 600]
    first, again = (found[name].context.getState(positions=True, velocities=True) for name in ("first", "again"))
    for read in ("getPositions", "getVelocities"):
        assert np.all(getattr(first, read)(asNumpy=True)._value == getattr(again, read)(asNumpy=True)._value)


def notebook(found, printed):
    assert "healthy" in found["health"]._repr_html_().lower()
    assert found["simulation"].currentStep == 100
    assert found["integrator"].getSolverSummary().converged


CHECKS = {
    check.__name__: check
    for check in (
        hold_phi_psi,
        rigid_ligand,
        rigid_domain,
        freeze_solute,
        carbon_dioxide,
        learned_potential,
        beads_on_sphere,
        lipid_heads_on_planes,
        membrane,
        pmf_in_water,
        pressure,
        pull_and_work,
        metadynamics,
        replica_exchange,
        check_before_a_run,
        restart,
        notebook,
    )
} | {"multiple_time_steps": assert_steady, "larger_steps": assert_steady}
SCRIPTS = sorted((EXAMPLES / "cookbook").glob("*.py"))
TASKS = [
    pytest.param(
        path,
        marks=[*NEEDS.get(path.stem, ()), *([] if path.stem in QUICK else [pytest.mark.long])],
        id=path.stem,
    )
    for path in SCRIPTS
]


@pytest.mark.filterwarnings("ignore:too few independent samples")  # which is true of a picosecond
@pytest.mark.parametrize("script", TASKS)
def test_task_runs_and_finds_what_is_known(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for data in EXAMPLES.glob("*.pdb"):
        shutil.copy(data, tmp_path)
    found = runpy.run_path(str(script))
    printed = capsys.readouterr().out
    CHECKS[script.stem](found, printed)
    Output(script).keep(printed)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_task_is_short(script):
    assert len(lines_of(script)) < 25


def test_every_task_is_on_the_page_and_checked():
    names = [script.stem for script in SCRIPTS]
    assert sorted(re.findall(r"^<!-- recipe: (\w+) -->$", PAGE.read_text(), re.MULTILINE)) == names
    assert sorted(CHECKS) == names
    assert len(names) >= 16


def test_the_page_shows_the_scripts():
    page = PAGE.read_text()
    texts = ["".join(script.read_text().splitlines(keepends=True)[2:]) for script in SCRIPTS]
    assert sorted(blocks(page, "python")) == sorted(texts), "run `python docs/extensions/recipes.py`"
    for script, text in zip(SCRIPTS, texts, strict=True):
        assert f"<!-- recipe: {script.stem} -->\n```python\n{text}```\n" in page, script.stem


def test_pages_made_by_sphinx_have_the_directives():
    recipes = runpy.run_path(str(PAGE.parent / "extensions/recipes.py"))
    page = recipes["with_directives"](PAGE.read_text())
    assert re.findall(r"^```\{recipe\} (\w+)\n```$", page, re.MULTILINE) == re.findall(
        r"^<!-- recipe: (\w+) -->$", PAGE.read_text(), re.MULTILINE
    )
    assert "```python" not in page
    assert recipes["with_code"](PAGE.read_text()) == PAGE.read_text()
    assert recipes["main"](["--check"]) == 0
