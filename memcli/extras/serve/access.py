"""Authorization: the caller of a route, the role that each verb needs, and the parts of a result that the caller may see.

The rules are those that verbs declare: the role that a call needs, and the spaces that it reaches.
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
    """The owner of a token: its name, its role and the spaces that it is bound to; an empty tuple stands for all spaces."""

    name: str
    role: str
    spaces: tuple[str, ...] = ()

    @property
    def reach(self) -> tuple[str, ...]:
        """The spaces that the token is bound to, each with its journal."""
        return tuple(name for space in self.spaces for name in meant_by(space))

    def may(self, role: str) -> bool:
        """Whether this caller has the role or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def check(self, role: str) -> None:
        """Raises RefusedError for a caller without this role."""
        if not self.may(role):
            raise RefusedError(f"this needs the role {role}, and the token has {self.role}", "use another token")


def needs(role: str) -> Callable[[Request], Awaitable[Caller]]:
    """A FastAPI dependency that returns the caller of a route. It raises RefusedError for a caller below this role."""

    # A coroutine, since FastAPI runs a plain function in a thread, and a request would wait for a free one.
    async def caller(request: Request) -> Caller:
        found: Caller = request.state.caller  # set by `Gate`
        found.check(role)
        return found

    return caller


class Backend(Record):
    """Runs verbs on the served store with `_run`, and refuses the calls that a caller may not make."""

    _run: Callable[[str, Mapping[str, Any], Caller], Awaitable[Any]]

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """Returns what `memcli VERB --json` prints, as a value; None if it prints nothing.

        `verb` is a name such as `recall` or `space list`; `options` has the values of its arguments and options by their
        names in the Python interface, and `space`. Raises MemcliError; RefusedError if the caller may not make the call.
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
        # At a terminal a number is a place in the last recall there, which the caller of a server has not seen.
        if verb == "feedback" and any(str(ref).isdecimal() for ref in options.get("refs", ())):
            raise UsageError("a number names a memory of the last recall at a terminal", "name memories by id or path")
        if not caller.spaces:
            return await self._run(verb, options, caller)
        # A verb works in one space, but its result also names others, as at the ends of links: those are removed.
        shown = _of_spaces(await self._run(verb, _restricted(verb, options, caller), caller), caller.reach)
        return _graph(shown, caller.reach) if verb == "graph" and isinstance(shown, dict) else shown


def role_of(verb: str, options: Mapping[str, Any]) -> str | None:
    """The role that a call of this verb needs; None if the verb is not served."""
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


def _restricted(verb: str, options: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """The options of a call, with the space that it works in. Raises RefusedError if the call reaches a space that the
    token is not bound to, UsageError if it is bound to several and the call names none."""
    reach, listed = find_verb(verb).reach, ", ".join(caller.spaces)
    if reach == SPACES:
        return dict(options)
    if reach == STORE:
        raise RefusedError(f"{verb} is about all spaces, and the token is for {listed}", "use another token")
    space = options.get("space") or options.get("name") or (caller.spaces[0] if len(caller.spaces) == 1 else None)
    if space is None:
        raise UsageError("the token is for several spaces", f"name one: {listed}")
    # Verbs of spaces, such as `space show`, take the name of another one as their argument.
    reached = [space, options.get("name") or space]
    if reach == JOURNAL:
        reached.append(journal_of(space))
    # Nobody edits the derived space: a change of one of its memories goes to a copy in the default space.
    if space == REPO and role_of(verb, options) != READER:
        reached.append(DEFAULT_SPACE)
    if any(name not in caller.reach for name in reached):
        raise RefusedError(f"this leads to other spaces than the token is for: {listed}", "use another token")
    if any(_leads_away(value, caller.reach) for value in references(verb, options)):
        raise RefusedError(f"the token is for {listed}", "name memories of these spaces only")
    stored = [options.get(name) or {} for name in ("object", "set")]
    if next((fields["scope"] for fields in stored if "scope" in fields), None) == "global":
        raise RefusedError(f"the token is for {listed}", "leave the scope out: global is the user-wide store")
    # A recall would read the user-wide store as well, which belongs to no space of the token.
    return {**options, "space": space, **({"no_global": True} if verb == "recall" else {})}


def _of_spaces(value: Any, spaces: Collection[str]) -> Any:
    """A result without the entries that belong or refer to other spaces."""
    if isinstance(value, list):
        # What is of another space is left out without a trace: even its number would say something of that space.
        return [_of_spaces(one, spaces) for one in value if not _is_of_another(one, spaces)]
    if isinstance(value, dict):
        return {name: _of_spaces(one, spaces) for name, one in value.items() if not _is_foreign_name(one, spaces)}
    return value


def _is_of_another(value: Any, spaces: Collection[str]) -> bool:
    """Whether an entry of a list belongs to another space, or refers to one."""
    if isinstance(value, dict):
        space = value.get("space")
        return (isinstance(space, str) and space not in spaces) or any(
            _is_foreign_name(one, spaces)
            for name, one in value.items()
            if name in ("id", "to", "start", "end", "of", "from")
        )
    return _is_foreign_name(value, spaces)


def _is_foreign_name(value: Any, spaces: Collection[str]) -> bool:
    """Whether a text refers to a memory of another space, as `SPACE:mem_...` in links."""
    # Prose that quotes such a reference has blanks, and is the text of a memory that the caller may read.
    if not isinstance(value, str) or ":mem_" not in value or " " in value:
        return False
    end = elsewhere(value)
    return end is not None and end[0] not in spaces


def _leads_away(value: Any, spaces: Collection[str]) -> bool:
    """Whether the value of an option refers to a memory of another space."""
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
    """A graph without the memories of other spaces, and without the tags and clusters that only those have."""
    nodes, edges = (list(value.get(name, ())) for name in ("nodes", "edges"))
    memories = {node["id"] for node in nodes if node.get("space") in spaces}
    own = [edge for edge in edges if edge["start"] in memories]
    others = {node["id"] for node in nodes if "space" not in node} & {edge["end"] for edge in own}
    shown = memories | others
    visible = {"nodes": [node for node in nodes if node["id"] in shown], "edges": [e for e in own if e["end"] in shown]}
    for node in visible["nodes"]:
        # The number of members is counted anew: it had those of other spaces, too.
        if "members" in node:
            node["members"] = sum(edge["end"] == node["id"] for edge in visible["edges"])
    return {**value, **visible}
