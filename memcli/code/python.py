"""The definitions in Python, by its parser."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress


def find(text: str, names: Sequence[str]) -> list[tuple[int, int]] | None:
    """The first and last lines of the definitions of the last of `names`, inside of those of the names before it, in order; None
    when `text` is not Python of this version, or nested too deep."""
    if (tree := _parse(text)) is None:
        return None
    with suppress(RecursionError):
        nodes: list[ast.AST] = [tree]
        for depth, name in enumerate(names):
            found = [child for node in nodes for child in _statements(node) if _defines(child, name)]
            if not found and depth == 0:  # a method, named without its class
                found = [node for node in ast.walk(tree) if _defines(node, name)]
            nodes = found
        return sorted({_extent(node) for node in nodes})
    return None


def functions_and_classes(text: str) -> list[tuple[str, int, int]] | None:
    """The name and the first and last line of each function and class at the top level; None as from `find`."""
    if (tree := _parse(text)) is None:
        return None
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [(node.name, *_extent(node)) for node in tree.body if isinstance(node, kinds)]


def _parse(text: str) -> ast.Module | None:
    """The syntax tree of `text`; None when it is not Python of this version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about invalid escapes and the like in the code of users
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last for very deep nesting
            return None


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in the body of `node`, also inside `if`, `try` and `with`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
            if isinstance(child, ast.If | ast.Try | ast.With):
                yield from _statements(child)
        elif isinstance(child, ast.ExceptHandler):
            yield from _statements(child)


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _extent(node: ast.AST) -> tuple[int, int]:
    """The lines of a statement, with its decorators."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    return first, node.end_lineno or first  # type: ignore[attr-defined]
