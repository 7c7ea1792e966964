# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the scripts of examples/ draw and print, in a folder beside the pages: a test of a script keeps what it made,
and the documentation then shows it without running the script again."""

import hashlib
import shutil
from functools import cache
from importlib.metadata import files, version
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
BUILT = ROOT / "build/docs"


@cache
def _package():
    """A hash of all that is installed of the package, its libraries included, and OpenMM's version."""
    digest = hashlib.sha256(version("openmm").encode())
    for file in sorted(files("openmm-constraints") or [], key=str):
        path = Path(file.locate())
        if path.suffix in {".py", ".so"} and path.exists():
            digest.update(path.read_bytes())
    return digest.digest()


class Output:
    """Of one script. docs is the folder that has the one of the pages."""

    def __init__(self, script, docs=BUILT):
        self.script = Path(script)
        self.folder = Path(docs) / "example-output" / self.script.relative_to(EXAMPLES).with_suffix("")
        self.plot, self.printed, self._stamp = (
            self.folder / f"{self.script.stem}.{kind}" for kind in ("png", "txt", "sha256")
        )

    def _key(self):
        data = [self.script, *sorted(EXAMPLES.glob("*.pdb"))]
        return hashlib.sha256(_package() + b"".join(path.read_bytes() for path in data)).hexdigest()

    def is_known(self):
        """Whether it was made by the script, the data and the package as they are."""
        return self._stamp.exists() and self._stamp.read_text() == self._key()

    def keep(self, printed, plot=None):
        """Take what the script printed, and a copy of the plot that it made at this path, if it made one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = printed
        if plot is not None and Path(plot).exists():
            text = printed.replace(str(plot), self.plot.name)
            if Path(plot) != self.plot:
                shutil.copy(plot, self.plot)
        self.printed.write_text(text)
        self._stamp.write_text(self._key())
