"""Findings: the stored memories that a new one contradicts, repeats or is related to. Failures: files and commits that could
not be ingested. Damage: errors in stored files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.record import Record, replace

CONTRADICTS, DUPLICATES, RELATED = "contradicts", "duplicates", "related"


class Found(Record):
    """A relation of a new memory to another: the one with `id`, or the candidate at index `place` of the same batch.

    `kind` is CONTRADICTS, DUPLICATES or RELATED. `hash` is the hash of the text that was compared: a link is made only while the
    other memory has this text. `newer_holds`: the text of the newer one states that it replaces the other. `adds` is what only
    the newer one of two duplicates has. `score` is the probability, 0..1, that both are about the same matter.
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
        """The finding as printed for a memory of `space`: `contradicts mem_b db/pool (20 against 50; the newer one holds)`."""
        newer = "; the newer one holds" if self.newer_holds else ""
        return f"{self.kind} {self.id} {self.where(space)} ({self.reason}{newer})"

    def where(self, space: str) -> str:
        """The path of the other memory, with its space unless that is `space`."""
        return self.path if self.space == space else f"{self.space}:{self.path}"

    def to_json(self, space: str) -> dict[str, Json]:
        """The finding in the JSON of `remember` for a memory of `space`."""
        elsewhere = {"space": self.space} if self.space != space else {}
        newer = {"newer_holds": True} if self.newer_holds else {}
        what: dict[str, Json] = {"score": self.score} if self.kind == RELATED else {"reason": self.reason}
        return {"id": self.id, "path": self.path, **what, **elsewhere, **newer}


Checks = Sequence[Sequence[Found]]
"""The findings for each candidate of a batch."""


class Resolution(Record):
    """The findings for a batch, and how to resolve them. `is_accepted`: the user wants both sides of the contradictions to
    hold; `merges`: a candidate that repeats a memory strengthens that one instead of being stored."""

    checks: Checks = ()
    is_accepted: bool = False
    merges: bool = False

    def wanted(self, space: str) -> list[list[dict[str, Json]]]:
        """The contradictions within a space, as JSON for a request to store the candidates."""
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
        """For each candidate the id of the memory of the space that it is merged into, and the hash of the text that was
        compared; None where no memory repeats it, or merging would lose what only the candidate has."""
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
        """The findings for the candidate at index `place`, in which other candidates of the batch have the ids of their outcomes."""
        named = [
            one if one.place < 0 else replace(one, id=outcomes[one.place]["id"], path=outcomes[one.place]["path"])
            for one in (self.checks[place] if place < len(self.checks) else ())
        ]
        own = None if outcomes[place]["status"] == "proposed" else outcomes[place]["id"]  # a proposal has another id
        return [one for one in named if one.id != own]


class Failure(Record):
    """A file or a commit that could not be ingested, and why. One of the two names is empty."""

    reason: str
    file: str = ""
    commit: str = ""

    @property
    def place(self) -> str:
        """The name of the file, or the short hash of the commit."""
        return f"commit {self.commit[:10]}" if self.commit else self.file

    def to_json(self) -> dict[str, Json]:
        named = {"commit": self.commit, "file": self.file}
        return {**{name: value for name, value in named.items() if value}, "reason": self.reason}


def reason_of(error: Exception) -> str:
    """The message of an error of memcli; of any other error only its type and place, since its message may quote a text that
    must not be stored, such as a secret."""
    if isinstance(error, MemcliError):
        return error.message
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2] if trace else ""
    where = f" in {file}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"


UNCHECKED = "unchecked"
"""An audit log of which a part cannot be checked, as a development version wrote it."""
OUTDATED = "outdated"
"""A space file in the full form of version 1."""
UNTIDY = ("format", "order", "leftover", "strange", UNCHECKED, OUTDATED)
"""The kinds of finding that lose no data: the file can be read, but memcli would write it in another way now."""


class Damage(Record):
    """One error in a file. `object` is the id of a memory, or `object 3`; `repair` is the remedy, if there is one."""

    file: str
    kind: str
    message: str
    object: str = ""
    repair: str = ""

    @property
    def is_damage(self) -> bool:
        """Whether data is lost or may be forged."""
        return self.kind not in UNTIDY

    def to_json(self) -> dict[str, Json]:
        names = ("file", "kind", "object", "message", "repair")
        return {name: getattr(self, name) for name in names if getattr(self, name)}
