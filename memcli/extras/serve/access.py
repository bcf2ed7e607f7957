"""Who may do what: the caller of a route, the verbs that a route calls, and what a caller may call and see of their answers.

The rules are those that verbs declare: the role that a call needs, and the spaces that it concerns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any

from fastapi import Request

from memcli.cli.options import ASSIGNMENT, JSON, LINK, MEMORY
from memcli.cli.verb import find_verb
from memcli.errors import RefusedError, UsageError
from memcli.model.links import elsewhere
from memcli.model.space import JOURNAL, READER, ROLES, SPACES, STORE
from memcli.record import Record
from memcli.settings import DEFAULT_SPACE, REPO, journal_of, meant_by


class Caller(Record):
    """Who asks: the name and role of a token, and the spaces that it is for; none are all."""

    name: str
    role: str
    spaces: tuple[str, ...] = ()

    @property
    def reach(self) -> tuple[str, ...]:
        """The spaces that the token is for, each with its journal."""
        return tuple(name for space in self.spaces for name in meant_by(space))

    def may(self, role: str) -> bool:
        """Whether this caller has the role or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def check(self, role: str) -> None:
        """Raises RefusedError for a caller without this role."""
        if not self.may(role):
            raise RefusedError(f"this needs the role {role}, and the token has {self.role}", "use another token")


def needs(role: str) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency of a route: its caller, who has at least this role. It raises RefusedError."""

    async def caller(request: Request) -> Caller:  # one that is not async would wait for a thread
        found: Caller = request.state.caller  # set by the middleware that checks the token
        found.check(role)
        return found

    return caller


class Backend(Record):
    """Runs verbs on the store that is served, by `_run`, and refuses what their caller may not do."""

    _run: Callable[[str, Mapping[str, Any], Caller], Awaitable[Any]]

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """What `memcli VERB --json` prints, as a value: `verb` such as `recall` or `space list`, `options` the names of
        its arguments and options as in the Python interface, and `space`. None for nothing.

        Raises MemcliError, RefusedError for what the caller may not do.
        """
        role = role_of(verb, options)
        if role is None:
            raise RefusedError(f"{verb} is not served", "use the command line")
        caller.check(role)
        if (
            verb == "edit"
            and options.get("text") is None
            and not any(options.get(name) for name in ("set", "tag", "untag"))
        ):
            raise UsageError("no field is set", "send the fields to set as a JSON object")
        if verb == "feedback" and any(str(ref).isdecimal() for ref in options.get("refs", ())):
            raise UsageError("a number names a memory of the last recall at a terminal", "name memories by id or path")
        if not caller.spaces:
            return await self._run(verb, options, caller)
        wanted = _bound(verb, options, caller)
        shown = _of_spaces(await self._run(verb, wanted, caller), caller.reach)
        return _graph(shown, caller.reach) if verb == "graph" and isinstance(shown, dict) else shown


def role_of(verb: str, options: Mapping[str, Any]) -> str | None:
    """The role that a call of this verb needs; None for one that is not served."""
    try:
        return find_verb(verb).role_for(options)
    except LookupError:
        return None


def references(verb: str, options: Mapping[str, Any]) -> Iterator[Any]:
    """The values of the options that may name a memory."""
    fields = find_verb(verb).options.FIELDS
    for name, value in options.items():
        kind = fields[name].kind if name in fields else ""
        if kind == LINK:
            yield [str(one).partition(":")[2] for one in (value if isinstance(value, list) else [value])]
        elif kind in (MEMORY, ASSIGNMENT, JSON):
            yield value


_GRAPH = ("nodes", "edges")


def _bound(verb: str, options: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """The options with the space that is meant. Raises RefusedError for what leads to another, UsageError."""
    reach, listed = find_verb(verb).reach, ", ".join(caller.spaces)
    if reach == SPACES:
        return dict(options)
    if reach == STORE:
        raise RefusedError(f"{verb} is about all spaces, and the token is for {listed}", "use another token")
    space = options.get("space") or options.get("name") or (caller.spaces[0] if len(caller.spaces) == 1 else None)
    if space is None:
        raise UsageError("the token is for several spaces", f"name one: {listed}")
    also = (
        *((journal_of(space),) if reach == JOURNAL else ()),
        *((DEFAULT_SPACE,) if space == REPO and role_of(verb, options) != READER else ()),
    )
    if any(name not in caller.reach for name in (space, options.get("name") or space, *also)):
        raise RefusedError(f"this leads to other spaces than the token is for: {listed}", "use another token")
    if any(_leads_away(value, caller.reach) for value in references(verb, options)):
        raise RefusedError(f"the token is for {listed}", "name memories of these spaces only")
    stored = [options.get(name) or {} for name in ("object", "set")]
    if next((fields["scope"] for fields in stored if "scope" in fields), None) == "global":
        raise RefusedError(f"the token is for {listed}", "leave the scope out: global is the user-wide store")
    return {**options, "space": space, **({"no_global": True} if verb == "recall" else {})}


def _of_spaces(value: Any, spaces: Collection[str]) -> Any:
    """What of an answer is of these spaces."""
    if isinstance(value, list):
        return [_of_spaces(one, spaces) for one in value if not _is_of_another(one, spaces)]
    if isinstance(value, dict):
        return {name: _of_spaces(one, spaces) for name, one in value.items() if not _is_foreign_name(one, spaces)}
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
