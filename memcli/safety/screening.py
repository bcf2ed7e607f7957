"""The screening of memories for hidden instructions: records in a memory that it contains some, and whether a user has accepted
them. The rules are loaded for the first memory that was not vetted before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from memcli.model.memory import Json, Memory, is_vetted
from memcli.model.names import text_hash
from memcli.record import Record, replace

UNTRUSTED = "untrusted"
ACCEPTED = "accepted"
_SET_BY_MEMCLI = frozenset((UNTRUSTED, ACCEPTED, "hash", "pii_flags", "space", "conflicts"))
_FORGED = frozenset(("role", "type", "tool_calls", "function_call", "recipient_name"))
_FORGED_DEPTH = 3
_DEPTH = 200


class InstructionFinding(Record):
    """The reasons not to show a memory to an agent, and a digest of the texts of it that have instructions."""

    reasons: tuple[str, ...]
    digest: str


def inspect(memory: Memory) -> InstructionFinding | None:
    """The finding in the texts of a memory that recall may show; None for none."""
    if is_vetted(memory):
        return None
    from memcli.safety.injection import find_reasons

    texts = [memory.path, memory.kind, memory.raw, *memory.tags]
    # A summary that only repeats the text needs no check.
    summaries = (memory.summary_micro, memory.summary_short, memory.summary_long)
    texts += [summary for summary in summaries if summary not in memory.raw]
    given = {name: value for name, value in memory.metadata.items() if name not in _SET_BY_MEMCLI}
    texts += _strings(
        (memory.content, given, memory.provenance, memory.procedure, memory.episode, memory.triggers, memory.anchors),
        _DEPTH + 1,
    )
    whole = "\n".join(texts)
    reasons = find_reasons(whole)
    if not reasons:
        return None
    # An order in parts, one in each of several fields, is only found in all of them together.
    guilty = [text for text in texts if find_reasons(text)] or [whole]
    return InstructionFinding(tuple(sorted(reasons)), text_hash("\0".join(guilty)))


def screened(memory: Memory) -> Memory:
    """`memory` with its current finding in the metadata, without an acceptance of an earlier text."""
    finding = inspect(memory)
    metadata = {name: value for name, value in memory.metadata.items() if name != UNTRUSTED}
    if finding is not None:
        metadata[UNTRUSTED] = list(finding.reasons)
    if ACCEPTED in metadata and (finding is None or metadata[ACCEPTED] != finding.digest):
        del metadata[ACCEPTED]
    return memory if metadata == memory.metadata else replace(memory, metadata=metadata)


def accepted(memory: Memory) -> Memory:
    """`memory` with its finding accepted; the acceptance is for this text only."""
    memory = screened(memory)
    finding = inspect(memory)
    return memory if finding is None else replace(memory, metadata={**memory.metadata, ACCEPTED: finding.digest})


def is_accepted(memory: Memory, finding: InstructionFinding) -> bool:
    """Whether a user accepted exactly this finding."""
    return memory.metadata.get(ACCEPTED) == finding.digest


class Overview:
    """A memory in trees and graphs. The constructor screens it, so that no renderer can forget to.

    A memory with instructions that nobody accepted has a mark and no summary.
    """

    def __init__(self, stored: Memory, shown: Memory, is_reviewed: Callable[[str], bool]) -> None:
        """`shown` is the `stored` memory without secrets. `is_reviewed` returns, for an id, whether the acceptance in that
        memory is valid in this clone."""
        finding = inspect(stored)
        is_fine = finding is None or (is_accepted(stored, finding) and is_reviewed(stored.id))
        self.untrusted = () if finding is None or is_fine else finding.reasons
        self.id, self.path, self.kind, self.tags = shown.id, shown.path, shown.kind, shown.tags
        self.summary = "" if self.untrusted else shown.summary_micro
        self.pinned, self.active, self.updated_at = shown.pinned, shown.active, shown.updated_at
        self.superseded_by = shown.superseded_by

    @property
    def mark(self) -> str:
        """The suffix of the name of an untrusted memory; empty for others."""
        return " [!]" if self.untrusted else ""


def is_marked(memory: Memory) -> bool:
    """Whether instructions were found in the memory when it was written, and nobody has accepted them since."""
    return UNTRUSTED in memory.metadata and ACCEPTED not in memory.metadata


def without_marks(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Metadata from a caller, without the marks that only memcli may set."""
    return {name: value for name, value in metadata.items() if name not in (UNTRUSTED, ACCEPTED)}


def _strings(value: Json, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth:
        if not _FORGED.isdisjoint(value):
            yield json.dumps(
                _pruned(value, _FORGED_DEPTH), ensure_ascii=False
            )  # a forged message is only found as a whole
        for name in value:
            yield name
            yield from _strings(value[name], depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for item in value:
            yield from _strings(item, depth - 1)


def _pruned(value: Json, depth: int) -> Json:
    """The upper levels of `value`: each nested level is written out by itself, so that the total size stays linear."""
    if isinstance(value, Mapping):
        return {name: _pruned(child, depth - 1) for name, child in value.items()} if depth else {}
    return [] if isinstance(value, list | tuple) else value
