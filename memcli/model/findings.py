"""Findings: what a new memory has to do with those that are there.

Failures: what could not be taken in, which must not keep the rest from it.

Damage: what is wrong with a stored file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.record import Record, replace

CONTRADICTS, DUPLICATES, RELATED = "contradicts", "duplicates", "related"


class Found(Record):
    """What a new memory has to do with another one: the one of `id`, or the candidate at `place` of the same batch.

    `kind` is CONTRADICTS, DUPLICATES or RELATED. `hash` is that of the text that was compared, so that a link is made only while it
    holds. `newer_holds`: the newer one says that it takes the place of the other. `adds` is what only the newer one of two
    duplicates has. `score` is how likely both are on the same matter, 0..1.
    """

    kind: str
    reason: str
    id: str
    path: str
    space: str
    hash: str
    newer_holds: bool = False
    place: int = -1
    adds: str = ""
    score: float = 0.0

    def words(self, space: str) -> str:
        """As people read it for a memory of `space`: `contradicts mem_b db/pool (20 against 50; the newer one holds)`."""
        newer = "; the newer one holds" if self.newer_holds else ""
        return f"{self.kind} {self.id} {self.where(space)} ({self.reason}{newer})"

    def where(self, space: str) -> str:
        """Its path, as people read it for a memory of `space`."""
        return self.path if self.space == space else f"{self.space}:{self.path}"

    def to_json(self, space: str) -> dict[str, Json]:
        """As `remember` answers for a memory of `space`."""
        elsewhere = {"space": self.space} if self.space != space else {}
        newer = {"newer_holds": True} if self.newer_holds else {}
        what: dict[str, Json] = {"score": self.score} if self.kind == RELATED else {"reason": self.reason}
        return {"id": self.id, "path": self.path, **what, **elsewhere, **newer}


Checks = Sequence[Sequence[Found]]
"""What was found for each of some candidates."""


class Resolution(Record):
    """What to do about findings. `is_accepted`: the user wants to keep both sides of the contradictions; `merges`: a
    candidate that repeats a memory strengthens that one instead."""

    checks: Checks = ()
    is_accepted: bool = False
    merges: bool = False

    def wanted(self, space: str) -> list[list[dict[str, Json]]]:
        """The contradictions within a space, as a request has them."""
        return [
            [
                {
                    "id": one.id,
                    "place": one.place,
                    "hash": one.hash,
                    "holds": one.newer_holds,
                    "accepted": self.is_accepted,
                }
                for one in found
                if one.kind == CONTRADICTS and one.space == space
            ]
            for found in self.checks
        ]

    def targets(self, space: str) -> list[list[str] | None]:
        """For each candidate the memory of the space that it is merged into, by its id and the hash of the text that was
        compared; None where that lacks something, so that it would be lost."""
        if not self.merges:
            return []
        repeated = (
            [
                [one.id, one.hash]
                for one in found
                if one.kind == DUPLICATES and one.space == space and one.id and not one.adds
            ]
            for found in self.checks
        )
        return [first[0] if first else None for first in repeated]

    def found_for(self, outcomes: Sequence[Mapping[str, Json]], place: int) -> list[Found]:
        """What was found for one of the candidates, with the ids of others of the batch."""
        named = [
            one if one.place < 0 else replace(one, id=outcomes[one.place]["id"], path=outcomes[one.place]["path"])
            for one in (self.checks[place] if place < len(self.checks) else ())
        ]
        own = None if outcomes[place]["status"] == "proposed" else outcomes[place]["id"]  # in the inbox ids are others
        return [one for one in named if one.id != own]


class Failure(Record):
    """A file or a commit that could not be ingested, and why. One of the two names is empty."""

    reason: str
    file: str = ""
    commit: str = ""

    @property
    def place(self) -> str:
        """The file, or the commit."""
        return f"commit {self.commit[:10]}" if self.commit else self.file

    def to_json(self) -> dict[str, Json]:
        named = {"commit": self.commit, "file": self.file}
        return {**{name: value for name, value in named.items() if value}, "reason": self.reason}


def reason_of(error: Exception) -> str:
    """What went wrong: what an error of memcli says; of any other its type and place, since what it says may quote what
    must not be stored."""
    if isinstance(error, MemcliError):
        return error.message
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2] if trace else ""
    where = f" in {file}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"


UNCHECKED = "unchecked"
"""An audit log of a development version: no damage that anybody could find."""
OUTDATED = "outdated"
"""A space in full form: what a file was before, and what a server has."""
UNTIDY = ("format", "order", "leftover", "strange", UNCHECKED, OUTDATED)
"""The kinds of finding that lose nothing: the file reads well, but is not as memcli would write it now."""


class Damage(Record):
    """One thing that is wrong. `object` is the id of a memory, or `object 3`; `repair` is what mends it, if anything."""

    file: str
    kind: str
    message: str
    object: str = ""
    repair: str = ""

    @property
    def is_damage(self) -> bool:
        """Whether data is lost, or cannot be believed."""
        return self.kind not in UNTIDY

    def to_json(self) -> dict[str, Json]:
        names = ("file", "kind", "object", "message", "repair")
        return {name: getattr(self, name) for name in names if getattr(self, name)}
