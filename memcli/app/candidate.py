"""The candidate: a memory on its way into a space, or into the inbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.model.memory import Json
from memcli.model.shapes import OBSERVED, READ_SOURCES
from memcli.record import Record, field


class Candidate(Record):
    """A memory on its way in: the fields that were given, and those that the semantic layer added.

    `redactions` counts what was taken out of it, by kind.
    """

    given: Mapping[str, Any]
    derived: Mapping[str, Any]
    hash: str
    redactions: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """As it stands in a request."""
        return {"given": self.given, "derived": self.derived, "hash": self.hash}


def has_place(candidate: Candidate) -> bool:
    """Whether it says where it belongs."""
    return "path" in candidate.given or "id" in candidate.given


def is_read(fields: Mapping[str, Any]) -> bool:
    """Whether the fields are those of a memory that was read from a file or another store."""
    return fields.get("provenance", {}).get("source") in READ_SOURCES


def is_observed(fields: Mapping[str, Any]) -> bool:
    """Whether the fields are those of a memory that was read from a file."""
    return bool(fields.get("provenance", {}).get("source") == OBSERVED)
