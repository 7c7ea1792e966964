# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Each wheel of dist/ in an empty environment, which has no compiler. `bash scripts/wheels.sh` runs this."""

import subprocess
import zipfile
from pathlib import Path

import pytest
from environments import DIST, ROOT, SERIES, Environment, wheels

WHEELS = wheels()
BESIDE_OTHERS = [
    (wheel, series)
    for wheel in WHEELS
    for series in SERIES
    if wheel.python == WHEELS[0].python and wheel.series != series
]
HERE = Path(__file__).parent


def test_there_are_wheels():
    assert WHEELS, f"no wheel in {DIST}: bash scripts/wheels.sh"


@pytest.mark.parametrize("wheel", WHEELS, ids=str)
def test_tag_is_that_of_openmm_and_size_is_small(wheel):
    """OpenMM's own wheels ask for glibc 2.34; ours hold no library of others."""
    assert wheel.tag == "manylinux_2_34_x86_64"
    libraries = [Path(name).name for name in zipfile.ZipFile(wheel.path).namelist() if ".so" in name]
    assert all(name.startswith(("libOpenMMConstraints", "_wrapper")) for name in libraries)
    assert len(libraries) == 5  # API, Reference, OpenCL, CUDA, wrapper
    assert wheel.path.stat().st_size < 4e6


@pytest.mark.parametrize("wheel", WHEELS, ids=str)
def test_wheel_runs_without_a_compiler(wheel, tmp_path):
    """Installed by the command of the documentation."""
    environment = Environment.create(tmp_path / "env", wheel.python)
    environment.install("--only-binary", ":all:", "openmm-constraints", f"openmm=={wheel.series}.*")
    result = environment.run("python", HERE / "smoke.py")
    assert result.returncode == 0, result.stdout + result.stderr
    assert {"Reference", "CPU"} <= set(result.stdout.split())
    assert "OpenCL" in result.stdout.split() or "OpenCL has no device here" in result.stderr
    info = environment.run("openmm-constraints", "info")
    assert info.returncode == 0, info.stderr
    assert f"OpenMM             {wheel.series}" in info.stdout
    output = tmp_path / "demo"
    demo = environment.run("openmm-constraints", "demo", "--constraints", "HBonds", "--steps", "20", "--output", output)
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert list(output.glob("*.png"))


@pytest.mark.parametrize(("wheel", "series"), BESIDE_OTHERS, ids=str)
def test_libraries_refuse_another_series(wheel, series, tmp_path):
    """Put beside each other series by force: OpenMM, the Python package and XML say which OpenMM is needed."""
    environment = Environment.create(tmp_path / "env", wheel.python)
    environment.install(f"openmm=={series}.*", "rich", "matplotlib")
    environment.install("--no-deps", wheel.path)
    sentence = f"are for OpenMM {wheel.series}, but OpenMM {series}"
    started = environment.python(
        "import sys, types, openmm as mm\n"
        "package = sys.modules['openmmconstraints'] = types.ModuleType('openmmconstraints')\n"
        "package.__path__ = [sys.argv[1] + '/openmmconstraints']\n"  # without the check of __init__.py
        "from openmmconstraints.wrapper import ConstraintForce, RattleIntegrator\n"
        "system = mm.System(); system.addParticle(1); system.addParticle(1)\n"
        "force = ConstraintForce(); force.addDistance(0, 1, 0.1); system.addForce(force)\n"
        "mm.Context(system, RattleIntegrator(0.001), mm.Platform.getPlatform('Reference'))",
        environment.site(),
    )
    assert started.returncode == 1, started.stderr
    assert sentence in started.stderr
    imported = environment.python("import openmmconstraints")
    assert imported.returncode == 1
    assert f"ImportError: openmm-constraints {wheel.path.name.split('-')[1]} was built for OpenMM" in imported.stderr
    assert f'pip install openmm-constraints "openmm=={series}.*"' in imported.stderr
    library = environment.site() / "OpenMM.libs/lib/libOpenMMConstraints.so"
    read = environment.python(
        "import ctypes, sys, openmm; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)\n"
        'openmm.XmlSerializer.deserialize(\'<Integrator type="RattleIntegrator" stepSize="1" version="1"/>\')',
        library,
    )
    assert read.returncode == 1, read.stderr
    assert sentence in read.stderr


@pytest.mark.parametrize("archive", sorted(DIST.glob("*.tar.gz")), ids=lambda path: path.name)
def test_source_archive_holds_everything(archive):
    """The wheels are built from it; this is about what only people need."""
    names = subprocess.run(["tar", "-tzf", archive], capture_output=True, text=True, check=True).stdout.split()
    names = {name.split("/", 1)[1] for name in names}
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "ARCHITECTURE.md", "scripts/test.sh", "tests/CMakeLists.txt"):
        assert name in names
    assert not [name for name in names if name.startswith(("build/", "dist/", ".venv/"))]


def test_sources_of_one_series_refuse_to_be_built_for_another(tmp_path):
    """By a sentence of CMake, before anything is compiled."""
    folder = ROOT / "build/wheels"
    own = WHEELS[-1].series
    other = next(series for series in reversed(SERIES) if series != own)
    openmm = folder / other / "openmm/OpenMM.libs"
    assert openmm.is_dir(), "scripts/wheels.sh unpacks all series"
    command = ["cmake", "-S", folder / own / "source", "-B", tmp_path, "-DCONSTRAINTS_BUILD_PYTHON=OFF"]
    result = subprocess.run([*command, f"-DOPENMM_DIR={openmm}"], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    said = " ".join(result.stderr.split())
    assert f"are for OpenMM {own}, but OpenMM {other}" in said
    assert f"python scripts/series.py {other}" in said
