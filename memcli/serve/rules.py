"""Rules: what verbs declare of who may call them, and of the spaces that a call concerns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol


class Rules(Protocol):
    """What the guard asks of the verbs."""

    def role(self, verb: str, options: Mapping[str, Any]) -> str | None:
        """The role that a call needs; None for a verb that is not served."""

    def reach(self, verb: str) -> str:
        """What the verb concerns: one of the constants of `model/roles.py`."""

    def references(self, verb: str, options: Mapping[str, Any]) -> Iterator[Any]:
        """The values of the options that may name a memory."""
