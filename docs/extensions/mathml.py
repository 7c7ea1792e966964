# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Formulas as MathML, which browsers show by themselves: no script to fetch, so the pages work without a network."""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)
BAR = re.compile(r"<mo[^>]*>(?=\|</mo>)")


def to_mathml(node, display):
    try:
        # A bar is a bracket, neither an operator between two things nor as tall as the row.
        return BAR.sub('<mo stretchy="false" lspace="0" rspace="0">', tex2mathml(node.astext(), as_block=display))
    except (MathError, IndexError) as error:  # the latter where something is missing: ^2
        logger.warning("%s in the formula %s", error, node.astext(), location=node)
        return escape(node.astext())


def visit_math(self, node):
    self.body.append(to_mathml(node, display=False))
    raise nodes.SkipNode


def visit_displaymath(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = escape(str(node["number"]))
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(to_mathml(node, display=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
