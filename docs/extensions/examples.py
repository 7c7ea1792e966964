# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The directive `example`: a script of examples/, what it printed, its plot, its text.

Scripts run when the documentation is built, once: a script that did not change since, with the same version of the
package, does not run again. What they made is in the folder example-output beside the pages' folder.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import openmmconstraints

logger = logging.getLogger(__name__)
EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script, folder):
    """The script's plot and what it prints; made by running it unless that was done before."""
    folder.mkdir(parents=True, exist_ok=True)
    plot, printed, stamp = (folder / f"{script.stem}.{kind}" for kind in ("png", "txt", "sha256"))
    key = hashlib.sha256(script.read_bytes() + openmmconstraints.__version__.encode()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == key):
        logger.info("running %s", script)
        result = subprocess.run(
            [sys.executable, script, plot], env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True
        )
        if result.returncode != 0:
            raise ExtensionError(f"{script} failed:\n{result.stdout}{result.stderr}")
        printed.write_text(result.stdout.replace(str(plot), f"{script.stem}.png"))
        stamp.write_text(key)
    return plot, printed


class Example(SphinxDirective):
    required_arguments = 1  # its name, without .py

    def run(self):
        script = EXAMPLES / f"{self.arguments[0]}.py"
        self.env.note_dependency(str(script))
        plot, printed = run(script, Path(self.env.app.outdir).parent / "example-output")
        source = f"/{os.path.relpath(plot, self.env.srcdir)}"
        return self.parse_text_to_nodes(
            f"```{{image}} {source}\n:alt: what {script.name} draws\n```\n\nIt prints\n\n"
            f"```text\n{printed.read_text()}```\n\n"
            f"```{{literalinclude}} {os.path.relpath(script, Path(self.env.doc2path(self.env.docname)).parent)}\n"
            f":language: python\n:caption: examples/{script.name}\n:lines: 3-\n```\n"
        )


def setup(app):
    app.add_directive("example", Example)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
