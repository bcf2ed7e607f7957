"""The guard: who may call which verb, and on which spaces, whatever a route forgot to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.errors import RefusedError, UsageError
from memcli.serve.access import ADMIN, READER, WRITER, Caller
from memcli.serve.backend import Backend
from memcli.serve.bounds import bound, within

ROLES_OF_VERBS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "audit", "blame", "context", "diff", "gaps", "get", "graph", "list", "metrics", "recall", "search",
            "session arc", "session facts", "session list", "session show", "space list", "space show", "stats", "tree",
            "verify",
        ),
        READER,
    ),
    **dict.fromkeys(
        (
            "edit", "feedback", "forget", "inbox", "link", "pin", "remember", "session add", "session end", "session start",
            "tag", "unlink", "unpin",
        ),
        WRITER,
    ),
    **dict.fromkeys(("gc", "maintain", "restore", "session delete", "space delete", "space policy"), ADMIN),
}  # fmt: skip


_CHANGES: Mapping[str, tuple[str, ...]] = {"gaps": ("check", "close", "clear"), "verify": ("reanchor",)}
"""The options with which a verb that reads changes something."""


def is_read(verb: str, options: Mapping[str, Any]) -> bool:
    """Whether a call changes nothing that it would matter to do twice."""
    return _role(verb, options) == READER


class Guard:
    """A backend that refuses what its caller may not do."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """As `Backend.call`. Raises also RefusedError."""
        if verb not in ROLES_OF_VERBS:
            raise RefusedError(f"{verb} is not served", "use the command line")
        role = _role(verb, options)
        caller.check(role)
        _check(verb, options)
        if not caller.spaces:
            return await self._backend.call(verb, options, caller)
        wanted = bound(verb, options, caller, writes=role != READER)
        return within(verb, await self._backend.call(verb, wanted, caller), caller.reach)


def _role(verb: str, options: Mapping[str, Any]) -> str:
    if verb == "inbox" and options.get("action", "list") in ("list", "show"):
        return READER
    if verb == "forget" and options.get("purge"):
        return ADMIN
    if verb == "maintain" and options.get("dry_run"):
        return READER
    if any(options.get(name) for name in _CHANGES.get(verb, ())):
        return WRITER
    return ROLES_OF_VERBS[verb]


def _check(verb: str, options: Mapping[str, Any]) -> None:
    """Raises UsageError for what only makes sense at a terminal."""
    if verb == "edit" and not options.get("set") and options.get("text") is None:
        raise UsageError("no field is set", "send the fields to set as a JSON object")
    if verb == "feedback" and any(str(ref).isdecimal() for ref in options.get("refs", ())):
        raise UsageError("a number names a memory of the last recall at a terminal", "name memories by id or path")
