# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Copy installed distributions to a folder, with what they require: python installed.py FOLDER NAME...

numpy and NVIDIA's libraries are left out, which the other machine has, and matplotlib: nothing plots there. Of OpenMM
its force fields and headers are left out.
"""

import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

LEFT_OUT = re.compile("numpy|matplotlib|nvidia-.*")
NEEDLESS = re.compile(r"openmm/app/data/(?!(residues|hydrogens|pdbNames)\.xml$)|OpenMM.libs/include|/__pycache__|^\.\.")


def copy(name: str, folder: Path, done: set[str]) -> None:
    """A distribution and what it requires."""
    done.add(name)
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    for file in found.files or []:
        if not NEEDLESS.search(str(file)):
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file.locate(), target)
    for line in found.requires or []:
        required = re.split(r"[^\w.-]", line)[0].lower()
        if "extra ==" not in line and required not in done and not LEFT_OUT.fullmatch(required):
            copy(required, folder, done)


def main() -> None:
    """Each once."""
    done: set[str] = set()
    for name in sys.argv[2:]:
        copy(name, Path(sys.argv[1]), done)


if __name__ == "__main__":
    main()
