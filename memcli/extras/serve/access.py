"""Who may do what: a caller with a role, which a route asks for.

What the routes call: verbs, by name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from fastapi import Request

from memcli.errors import RefusedError
from memcli.model.roles import ROLES
from memcli.record import Record
from memcli.settings import meant_by


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


class Backend(Protocol):
    """Runs verbs on the store that is served."""

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """What `memcli VERB --json` prints, as a value: `verb` such as `recall` or `space list`, `options` the names of
        its arguments and options as in the Python interface, and `space`. None for nothing.

        Raises MemcliError. What a caller may not see or do is for the routes to refuse.
        """
