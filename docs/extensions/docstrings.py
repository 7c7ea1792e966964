# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What stands between our docstrings and good pages.

SWIG makes docstrings of the C++ headers' comments: their indentation is ragged, types are C++'s, and formulas are
indented text. Signatures with Python's types are in wrapper.pyi. And docstrings, whoever wrote them, do not escape what
reStructuredText would take for markup: |sigma|, a*b.
"""

import ast
import re
from functools import cache
from itertools import groupby
from pathlib import Path

import openmmconstraints

SIGNATURE = re.compile(r"\w+\(.*\)( -> \w+)?")  # in front of some docstrings
FIELD = re.compile(r":(param|return|returns|raises|type|rtype)\b([^:]*):\s*(.*)")

attributes = {}  # docstrings that napoleon is not to change


def escape(line):
    return re.sub(r"([\\*|])", r"\\\1", line)


def from_swig(paragraph):
    """A paragraph of a SWIG docstring: text, a list, or fields."""
    result = []
    indent, shown = "", True
    for line in (line.strip() for line in paragraph):
        field = FIELD.match(line)
        if field:
            kind, name, text = field.groups()
            shown = "type" not in kind  # the signature tells
            if kind == "raises" and not name:
                exception, _, text = text.partition(" ")
                name = f" {exception}"
            line, indent = f":{kind}{name}: {escape(text)}", "    "
        elif line.startswith("- "):
            line, indent = escape(line), "  "
            result += [] if result and result[-1].startswith(("- ", "  ")) else [""]
        else:
            result += [""] if line.startswith("Source:") else []
            line = indent + escape(line)
        if shown:
            result.append(line)
    return result


def clean(lines, swig):
    """A docstring's lines as reStructuredText."""
    result = []
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        paragraph = list(group)
        if blank:
            result.append("")
        elif all(line.startswith("  ") for line in paragraph):  # a formula, or code
            result += ["::", "", *("    " + line for line in paragraph)]
        elif paragraph[0].startswith(">>>"):
            result += paragraph
        else:
            result += from_swig(paragraph) if swig else map(escape, paragraph)
    return result


def process_docstring(app, what, name, thing, options, lines):
    swig = in_stub(name).split(".")[0] in signatures()
    if swig and lines and SIGNATURE.fullmatch(lines[0]):
        del lines[0]
    lines[:] = clean(lines, swig)
    if what in ("attribute", "property"):
        attributes[name] = list(lines)


def restore_attribute(app, what, name, thing, options, lines):
    """Napoleon takes what stands before a colon for an attribute's type; ours have sentences there."""
    if name in attributes:
        lines[:] = attributes.pop(name)


def in_stub(name):
    """What the stub calls an object with this full name."""
    return name.removeprefix("openmmconstraints.").removeprefix("wrapper.")


@cache
def signatures():
    """Of the SWIG module: {"Class": None, "Class.method": ("(arguments)", "result")}, from the stub."""
    stub = ast.parse((Path(openmmconstraints.__file__).parent / "wrapper.pyi").read_text())
    aliases = {}
    result = {}
    for node in stub.body:
        if isinstance(node, ast.Assign):
            aliases[node.targets[0].id] = ast.unparse(node.value)
        elif isinstance(node, ast.ClassDef):
            result[node.name] = None
            for function in (member for member in node.body if isinstance(member, ast.FunctionDef)):
                static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
                function.args.args = function.args.args[0 if static else 1 :]
                texts = (f"({ast.unparse(function.args)})", ast.unparse(function.returns))
                result[f"{node.name}.{function.name}"] = tuple(
                    re.sub(r"\b_[A-Z]\w*", lambda match: aliases[match[0]], text) for text in texts
                )
    return result


def process_signature(app, what, name, thing, options, signature, returns):
    if what == "class" and in_stub(name) in signatures():
        known = signatures().get(f"{in_stub(name)}.__init__")
        return known[0] if known else "", None
    return signatures().get(in_stub(name)) if what == "method" else None


def skip_member(app, what, name, thing, skip, options):
    return True if name == "thisown" else None


def setup(app):
    app.connect("autodoc-process-docstring", process_docstring, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", restore_attribute, priority=600)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
