# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Scripts of examples/ on pages: `example` shows one, what it printed and its plot; `recipe` one of the cookbook and
what it printed; `gallery` the plots of several, each with a link to its page.

Scripts run when the documentation is built, once: outputs.py has what scripts made before, also in tests.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from outputs import EXAMPLES, Output
from recipes import with_directives
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)


def output_of(script, app):
    """The script's output; made by running it beside the data, unless that was done before."""
    output = Output(script, Path(app.outdir).parent)
    if not output.is_known():
        logger.info("running %s", script)
        output.folder.mkdir(parents=True, exist_ok=True)
        for data in EXAMPLES.glob("*.pdb"):
            shutil.copy(data, output.folder)
        result = subprocess.run(
            [sys.executable, script, output.plot],
            cwd=output.folder,
            env={"OPENMM_DEFAULT_PLATFORM": "CPU", **os.environ, "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
        )
        if result.returncode != 0:
            raise ExtensionError(f"{script} failed:\n{result.stdout}{result.stderr}")
        output.keep(result.stdout, output.plot)
    return output


def run_all(app):
    """All scripts, as many at once as there are processors; the directives then find what they made."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda script: output_of(script, app), EXAMPLES.rglob("*.py")))


class Script(SphinxDirective):
    """What the directives share."""

    def result(self, name):
        """Of the script examples/NAME.py: its plot, from the pages' folder, and what it printed, as Markdown."""
        script = EXAMPLES / f"{name}.py"
        self.env.note_dependency(str(script))
        output = output_of(script, self.env.app)
        text = output.printed.read_text()
        plot = f"/{os.path.relpath(output.plot, self.env.srcdir)}"
        return plot, f"It prints\n\n```text\n{text}```\n\n" if text else ""

    def code(self, name):
        """The script itself, as Markdown, without the lines on its license."""
        path = os.path.relpath(EXAMPLES / f"{name}.py", Path(self.env.doc2path(self.env.docname)).parent)
        caption = f"examples/{name}.py"
        return f"```{{literalinclude}} {path}\n:language: python\n:caption: {caption}\n:lines: 3-\n```\n\n"


class Example(Script):
    required_arguments = 1  # its name, without .py

    def run(self):
        (name,) = self.arguments
        plot, printed = self.result(name)
        return self.parse_text_to_nodes(
            f"```{{image}} {plot}\n:alt: what {name}.py draws\n```\n\n{printed}{self.code(name)}"
        )


class Recipe(Script):
    required_arguments = 1

    def run(self):
        name = f"cookbook/{self.arguments[0]}"
        _, printed = self.result(name)
        return self.parse_text_to_nodes(self.code(name) + printed)


class Gallery(Script):
    """Lines "name: caption"."""

    has_content = True

    def run(self):
        figures = []
        for line in self.content:
            name, caption = line.split(": ", 1)
            plot, _ = self.result(name)
            figures.append(
                f"```{{figure}} {plot}\n:target: examples/{name}.html\n:alt: {caption}\n:figclass: gallery\n\n"
                f"{caption}\n```\n"
            )
        return self.parse_text_to_nodes("\n".join(figures))


def show_recipes(app, docname, source):
    """The cookbook's code stands in its page, for those who read it elsewhere."""
    if docname == "cookbook":
        source[0] = with_directives(source[0])


def setup(app):
    app.connect("builder-inited", run_all)
    app.connect("source-read", show_recipes)
    for directive in (Example, Recipe, Gallery):
        app.add_directive(directive.__name__.lower(), directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
