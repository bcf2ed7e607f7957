"""The guard: who may call which verb, and on which spaces, whatever a route forgot to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.errors import RefusedError, UsageError
from memcli.serve.access import Caller
from memcli.serve.backend import Backend
from memcli.serve.bounds import bound, within
from memcli.serve.rules import Rules


class GuardedBackend:
    """A backend that refuses what its caller may not do."""

    def __init__(self, backend: Backend, rules: Rules) -> None:
        self._backend, self._rules = backend, rules

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """As `Backend.call`. Raises also RefusedError."""
        role = self._rules.role(verb, options)
        if role is None:
            raise RefusedError(f"{verb} is not served", "use the command line")
        caller.check(role)
        _check(verb, options)
        if not caller.spaces:
            return await self._backend.call(verb, options, caller)
        wanted = bound(verb, options, caller, self._rules)
        return within(verb, await self._backend.call(verb, wanted, caller), caller.reach)


def _check(verb: str, options: Mapping[str, Any]) -> None:
    """Raises UsageError for what only makes sense at a terminal."""
    if (
        verb == "edit"
        and options.get("text") is None
        and not any(options.get(name) for name in ("set", "tag", "untag"))
    ):
        raise UsageError("no field is set", "send the fields to set as a JSON object")
    if verb == "feedback" and any(str(ref).isdecimal() for ref in options.get("refs", ())):
        raise UsageError("a number names a memory of the last recall at a terminal", "name memories by id or path")
