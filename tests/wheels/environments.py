# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The wheels of dist/, and environments that they are installed in."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import series  # noqa: E402

DIST = ROOT / "dist"
SERIES = series.SERIES
NAME = re.compile(r"openmm_constraints-([\d.]+)\.(\d)(\d\d)-cp3(\d+)-cp3\d+-(\w+)\.whl")


@dataclass(frozen=True)
class Wheel:
    """A wheel of ours."""

    path: Path
    series: str  # of OpenMM
    python: str
    tag: str

    def __str__(self):
        return f"{self.series}-cp{self.python}"


def wheels():
    """Those in dist/ that scripts/wheels.sh made now, by series and Python."""
    chosen = os.environ["CONSTRAINTS_SERIES"].split()
    found = []
    for path in DIST.glob("*.whl"):
        name = NAME.fullmatch(path.name)
        assert name, f"{path} has no name of a wheel of ours"
        _, major, minor, python, tag = name.groups()
        wheel = Wheel(path, f"{major}.{int(minor)}", f"3.{python}", tag)
        if wheel.series in chosen and interpreter(wheel.python).exists():
            found.append(wheel)
    return sorted(found, key=lambda wheel: (wheel.series, int(wheel.python[2:])))


def interpreter(version):
    """A Python of that version, with which scripts/wheels.sh built."""
    return ROOT / "build/wheels" / f"python{version}" / "bin/python"


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @classmethod
    def create(cls, folder, python):
        subprocess.run([interpreter(python), "-m", "venv", folder], check=True)
        (folder / "bin/ld").symlink_to(shutil.which("ld"))  # PoCL calls it; a GPU's OpenCL does not
        return cls(folder)

    def install(self, *words):
        """pip install, with the wheels of dist/ beside those of PyPI; returns what it says."""
        command = [self.folder / "bin/python", "-m", "pip", "install", "--disable-pip-version-check"]
        result = subprocess.run(
            [*command, "--find-links", DIST, *words], capture_output=True, text=True, check=False, cwd=self.folder
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def would_install(self, *words):
        """{package: version} that pip would install."""
        report = self.folder / "report.json"
        self.install("--dry-run", "--quiet", "--report", report, *words)
        chosen = [entry["metadata"] for entry in json.loads(report.read_text())["install"]]
        return {re.sub("[-_.]+", "-", data["name"]).lower(): data["version"] for data in chosen}

    def run(self, *words, **variables):
        """A program of the environment, with no other in PATH: so without a compiler."""
        settings = {key: os.environ[key] for key in ("HOME", "LANG", "POCL_CACHE_DIR") if key in os.environ}
        path = self.folder / "bin"
        assert shutil.which("cc", path=str(path)) is None
        command = [path / words[0], *words[1:]]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**settings, "PATH": str(path), **variables},
        )

    def python(self, code, *words, **variables):
        return self.run("python", "-c", code, *words, **variables)

    def site(self):
        """Its site-packages."""
        (found,) = self.folder.glob("lib/python3*/site-packages")
        return found
