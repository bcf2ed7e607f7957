"""Bounds: what a caller who is for some spaces only may ask for, and what such a caller gets of an answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from memcli.errors import RefusedError, UsageError
from memcli.model.references import elsewhere
from memcli.model.roles import JOURNAL, READER, SPACES, STORE
from memcli.serve.access import Caller
from memcli.serve.rules import Rules
from memcli.settings import DEFAULT_SPACE, REPO, journal_of

_GRAPH = ("nodes", "edges")


def bound(verb: str, options: Mapping[str, Any], caller: Caller, rules: Rules) -> dict[str, Any]:
    """The options with the space that is meant. Raises RefusedError for what leads to another, UsageError."""
    reach = rules.reach(verb)
    if reach == SPACES:
        return dict(options)
    if reach == STORE:
        raise RefusedError(f"{verb} is about all spaces, and the token is for {_listed(caller)}", "use another token")
    space = options.get("space") or options.get("name") or (caller.spaces[0] if len(caller.spaces) == 1 else None)
    if space is None:
        raise UsageError("the token is for several spaces", f"name one: {_listed(caller)}")
    also = (
        *((journal_of(space),) if reach == JOURNAL else ()),
        *((DEFAULT_SPACE,) if space == REPO and rules.role(verb, options) != READER else ()),
    )
    if any(name not in caller.reach for name in (space, options.get("name") or space, *also)):
        raise RefusedError(f"this leads to other spaces than the token is for: {_listed(caller)}", "use another token")
    if any(_leads_away(value, caller.reach) for value in rules.references(verb, options)):
        raise RefusedError(f"the token is for {_listed(caller)}", "name memories of these spaces only")
    if _scope(options) == "global":
        raise RefusedError(f"the token is for {_listed(caller)}", "leave the scope out: global is the user-wide store")
    return {**options, "space": space, **({"no_global": True} if verb == "recall" else {})}


def _scope(options: Mapping[str, Any]) -> Any:
    """The scope of what is to be stored."""
    return next((given["scope"] for name in ("object", "set") if "scope" in (given := options.get(name) or {})), None)


def within(verb: str, value: Any, spaces: Collection[str]) -> Any:
    """What of an answer is of these spaces."""
    kept = _kept(value, spaces)
    return _graph(kept, spaces) if verb == "graph" and isinstance(kept, dict) else kept


def _kept(value: Any, spaces: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_kept(one, spaces) for one in value if not _is_of_another(one, spaces)]
    if isinstance(value, dict):
        return {name: _kept(one, spaces) for name, one in value.items() if not _is_foreign_name(one, spaces)}
    return value


def _is_of_another(value: Any, spaces: Collection[str]) -> bool:
    """Whether an entry of a list is of another space, or refers to one."""
    if isinstance(value, dict):
        space = value.get("space")
        return (isinstance(space, str) and space not in spaces) or any(
            _is_foreign_name(one, spaces)
            for name, one in value.items()
            if name in ("id", "to", "start", "end", "of", "from")
        )
    return _is_foreign_name(value, spaces)


def _is_foreign_name(value: Any, spaces: Collection[str]) -> bool:
    """Whether a text is the name of a memory of another space, as links have it."""
    if not isinstance(value, str) or ":mem_" not in value or " " in value:
        return False
    end = elsewhere(value)
    return end is not None and end[0] not in spaces


def _leads_away(value: Any, spaces: Collection[str]) -> bool:
    """Whether a reference among `value` names another space."""
    if isinstance(value, str):
        end = elsewhere(value)
        return end is not None and end[0] not in spaces
    if isinstance(value, list):
        return any(_leads_away(one, spaces) for one in value)
    if isinstance(value, Mapping):
        fields = ("to", "links", "superseded_by")
        return any(_leads_away(value.get(name), spaces) for name in fields)
    return False


def _graph(value: dict[str, Any], spaces: Collection[str]) -> dict[str, Any]:
    """A graph without memories of other spaces, and without the tags and clusters that only they are in."""
    nodes, edges = (list(value.get(name, ())) for name in _GRAPH)
    memories = {node["id"] for node in nodes if node.get("space") in spaces}
    own = [edge for edge in edges if edge["start"] in memories]
    others = {node["id"] for node in nodes if "space" not in node} & {edge["end"] for edge in own}
    shown = memories | others
    kept = {"nodes": [node for node in nodes if node["id"] in shown], "edges": [e for e in own if e["end"] in shown]}
    for node in kept["nodes"]:
        if "members" in node:
            node["members"] = sum(edge["end"] == node["id"] for edge in kept["edges"])
    return {**value, **kept}


def _listed(caller: Caller) -> str:
    return ", ".join(caller.spaces)
