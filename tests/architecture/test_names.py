"""One word, one thing: a class name is defined in one module."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import memcli

PACKAGE = Path(memcli.__file__).parent
REASONS = {"Memory": "the object of the Python API, and the value that is stored"}
"""Names that two modules define, and why."""


def test_a_class_name_is_defined_in_one_module() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(str(file.relative_to(PACKAGE)))
    twice = {name: sorted(found) for name, found in modules.items() if len(found) > 1}
    assert sorted(twice) == sorted(REASONS), twice
