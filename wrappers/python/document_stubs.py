# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Write the docstrings of SWIG's module into its stub, so that editors show them.

python document_stubs.py wrapper.py openmmconstraints/wrapper.pyi OUTPUT
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

HEADER = "# SPDX-FileCopyrightText: 2026 the openmm-constraints developers\n# SPDX-License-Identifier: MIT\n"
TYPES = re.compile(r"^[ ]*:r?type\b.*\n?", re.MULTILINE)  # of C++; the stub has those of Python
ARRAYS = Path(__file__).with_name("openmmconstraints") / "_arrays.py"


def main(module: Path, stub: Path, output: Path) -> None:
    """Read, document, write."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    found = _docstrings(ast.parse(module.read_text(encoding="utf-8")))
    as_numpy = _constant(ARRAYS, "AS_NUMPY")
    for scope, names in [(tree, ()), *((node, (node.name,)) for node in tree.body if isinstance(node, ast.ClassDef))]:
        if names:
            _document(scope, found.get(names))
        for node in scope.body:
            if isinstance(node, ast.FunctionDef):
                text = found.get((*names, node.name))
                takes_choice = any(argument.arg == "asNumpy" for argument in node.args.args)
                _document(node, text + as_numpy if text and takes_choice else text)
    output.write_text(f"{HEADER}{ast.unparse(tree)}\n", encoding="utf-8")


def _document(node: ast.ClassDef | ast.FunctionDef, text: str | None) -> None:
    if text is not None and ast.get_docstring(node) is None:
        text = inspect.cleandoc(TYPES.sub("", text).strip())
        node.body[:0] = [ast.Expr(ast.Constant(text))] if text else []


def _docstrings(tree: ast.Module) -> dict[tuple[str, ...], str]:
    """Docstrings by (function,), (class,) and (class, member)."""
    found: dict[tuple[str, ...], str | None] = {}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[(node.name,)] = ast.get_docstring(node)
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef):
                found[node.name, member.name] = ast.get_docstring(member)
            elif isinstance(member, ast.Assign) and isinstance(member.value, ast.Call):  # name = property(..., doc=)
                texts = [key.value for key in member.value.keywords if key.arg == "doc"]
                if texts and isinstance(texts[0], ast.Constant) and isinstance(member.targets[0], ast.Name):
                    found[node.name, member.targets[0].id] = str(texts[0].value)
    return {key: text for key, text in found.items() if text}


def _constant(path: Path, name: str) -> str:
    """The value of a constant of a module, which is not imported: it needs packages."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise LookupError(f"{path} has no {name}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
