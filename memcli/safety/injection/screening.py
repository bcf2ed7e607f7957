"""Screening: which memories carry instructions to an agent, and which of these somebody has accepted as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from memcli.model.memory import Json, Memory
from memcli.model.names import text_hash
from memcli.record import Record, replace
from memcli.safety.injection.reasons import find_reasons

UNTRUSTED = "untrusted"
ACCEPTED = "accepted"
_SET_BY_MEMCLI = frozenset((UNTRUSTED, ACCEPTED, "hash", "pii_flags", "space", "conflicts"))
_FORGED = frozenset(("role", "type", "tool_calls", "function_call", "recipient_name"))
_FORGED_DEPTH = 3
_DEPTH = 200


class InstructionFinding(Record):
    """Why a memory should not be put before an agent, and a digest of just the texts that say so."""

    reasons: tuple[str, ...]
    digest: str


def inspect(memory: Memory) -> InstructionFinding | None:
    """What is found in the texts of a memory that recall may show; None for a plain one."""
    texts = list(_texts(memory))
    whole = "\n".join(texts)
    reasons = find_reasons(whole)
    if not reasons:
        return None
    guilty = [text for text in texts if find_reasons(text)] or [whole]
    return InstructionFinding(tuple(sorted(reasons)), text_hash("\0".join(guilty)))


def screened(memory: Memory) -> Memory:
    """`memory` with the findings of now in its metadata. An acceptance of another text has lapsed."""
    finding = inspect(memory)
    metadata = {name: value for name, value in memory.metadata.items() if name != UNTRUSTED}
    if finding is not None:
        metadata[UNTRUSTED] = list(finding.reasons)
    if ACCEPTED in metadata and (finding is None or metadata[ACCEPTED] != finding.digest):
        del metadata[ACCEPTED]
    return memory if metadata == memory.metadata else replace(memory, metadata=metadata)


def accepted(memory: Memory) -> Memory:
    """`memory` with what is found in it accepted, as long as it stays as it is."""
    memory = screened(memory)
    finding = inspect(memory)
    return memory if finding is None else replace(memory, metadata={**memory.metadata, ACCEPTED: finding.digest})


def is_accepted(memory: Memory, finding: InstructionFinding) -> bool:
    """Whether somebody accepted just this finding."""
    return memory.metadata.get(ACCEPTED) == finding.digest


class Overview:
    """A memory as trees and graphs show it, which is screened by being made.

    What carries instructions that nobody accepted here is named with a mark, and its summary is for those who open it.
    """

    def __init__(self, stored: Memory, shown: Memory, is_reviewed: Callable[[str], bool]) -> None:
        """`shown` is what is left of the `stored` memory without secrets; `is_reviewed`: whether an
        acceptance by others of the memory of this id is valid here."""
        finding = inspect(stored)
        is_fine = finding is None or (is_accepted(stored, finding) and is_reviewed(stored.id))
        self.untrusted = () if finding is None or is_fine else finding.reasons
        self.id, self.path, self.kind, self.tags = shown.id, shown.path, shown.kind, shown.tags
        self.summary = "" if self.untrusted else shown.summary_micro
        self.pinned, self.active, self.updated_at = shown.pinned, shown.active, shown.updated_at
        self.superseded_by = shown.superseded_by

    @property
    def mark(self) -> str:
        """What stands behind the name of a memory that is untrusted."""
        return " [!]" if self.untrusted else ""


def is_marked(memory: Memory) -> bool:
    """Whether the memory was found to carry instructions when it was written, and nobody accepted it since."""
    return UNTRUSTED in memory.metadata and ACCEPTED not in memory.metadata


def without_marks(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Metadata that a caller gives, without the marks that are memcli's own to set."""
    return {name: value for name, value in metadata.items() if name not in (UNTRUSTED, ACCEPTED)}


def _texts(memory: Memory) -> Iterator[str]:
    yield from (memory.path, memory.kind, memory.raw, *memory.tags)
    # Summaries repeat the text; only one that says something else has to be looked at.
    for summary in (memory.summary_micro, memory.summary_short, memory.summary_long):
        if summary not in memory.raw:
            yield summary
    given = {name: value for name, value in memory.metadata.items() if name not in _SET_BY_MEMCLI}
    for value in (
        memory.content,
        given,
        memory.provenance,
        memory.procedure,
        memory.episode,
        memory.triggers,
        memory.anchors,
    ):
        yield from _strings(value, _DEPTH)


def _strings(value: Json, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth:
        if not _FORGED.isdisjoint(value):
            yield json.dumps(_pruned(value, _FORGED_DEPTH), ensure_ascii=False)  # harmful as a whole only
        for name in value:
            yield name
            yield from _strings(value[name], depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for item in value:
            yield from _strings(item, depth - 1)


def _pruned(value: Json, depth: int) -> Json:
    """The upper levels of `value`, so that nested ones are not written out once for each level."""
    if isinstance(value, Mapping):
        return {name: _pruned(child, depth - 1) for name, child in value.items()} if depth else {}
    return [] if isinstance(value, list | tuple) else value
