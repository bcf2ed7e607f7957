"""The tree of paths beside the memories: spaces, opened as far as the page that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.record import Record, replace
from memcli.serve.access import Caller
from memcli.serve.backend import Backend
from memcli.serve.inspector import scope

_MOST = 400
"""Branches that are shown below one; more are found by a search."""


class Branch(Record):
    """A segment of a path: the whole path, the memory that is there, if any, and what is below, as far as it is opened."""

    name: str
    path: str
    id: str = ""
    has_more: bool = False
    count: int = 0
    is_open: bool = False
    children: tuple[Branch, ...] = ()
    left_out: int = 0


async def spaces(backend: Backend, caller: Caller) -> list[Mapping[str, Any]]:
    """The spaces that the caller sees, with their counts."""
    return scope.seen(caller, await backend.call("space list", {}, caller))


async def opened(backend: Backend, caller: Caller, space: str, path: str) -> Branch:
    """The first level of a space, opened along `path`."""
    root = await below(backend, caller, space, "")
    steps = [step for step in path.split("/") if step]
    return await _opened(backend, caller, space, root, steps)


async def below(backend: Backend, caller: Caller, space: str, path: str) -> Branch:
    """The level below a path."""
    found = await backend.call("list", {"tree": True, "space": space, "path": path, "depth": 1}, caller)
    start = f"{path}/" if path else ""
    node = _at(found, path)
    children = [_branch(child, start) for child in node.get("children", ())]
    shown = tuple(children[:_MOST])
    return Branch(node["name"], path, children=shown, is_open=True, left_out=len(children) - len(shown))


def _at(node: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The node of `path` in a tree that begins at the root; an empty one where nothing is."""
    for step in filter(None, path.split("/")):
        found = [child for child in node.get("children", ()) if child["name"] == step]
        if not found:
            return {"name": step}
        node = found[0]
    return node


def _branch(child: Mapping[str, Any], start: str) -> Branch:
    more = bool(child.get("has_more") or child.get("children"))
    return Branch(child["name"], start + child["name"], child.get("id", ""), more, child.get("count", 0))


async def _opened(backend: Backend, caller: Caller, space: str, branch: Branch, steps: list[str]) -> Branch:
    if not steps:
        return branch
    children = []
    for child in branch.children:
        if child.name == steps[0] and child.has_more:
            inner = await below(backend, caller, space, child.path)
            grown = replace(child, is_open=True, children=inner.children, left_out=inner.left_out)
            children.append(await _opened(backend, caller, space, grown, steps[1:]))
        else:
            children.append(child)
    return replace(branch, children=tuple(children))
