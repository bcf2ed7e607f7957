"""The look at a whole audit log: whether every line stands as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.codec.audit import Link, entry_hash, parse_entry, torn_hash
from memcli.codec.canonical import encode_line
from memcli.model.memory import Json
from memcli.record import Record


class Verification(Record):
    """What a look at the whole chain found.

    `broken` is the first line (from 1) that does not fit, and `reason` why; `torn` are the lines that a crash tore.
    """

    entries: int
    head: str
    broken: int = 0
    reason: str = ""
    torn: tuple[int, ...] = ()


def verify(data: bytes) -> Verification:
    """Whether every line of a log stands as it was written."""
    link, torn, count, debris = Link(), list[int](), 0, b""
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line:
            break
        entry = parse_entry(line)
        if entry is None:
            debris += line + (b"\n" if number < len(lines) else b"")
            torn.append(number)
            continue
        count += 1
        if reason := _misfit(line, entry, link, debris):
            return Verification(count, link.hash, torn[-1] if debris and "torn" not in entry else number, reason)
        link, debris = Link(entry["n"], entry["hash"]), b""
    if debris and data.endswith(b"\n"):  # a crash leaves no newline
        return Verification(count, link.hash, torn[-1], "it cannot be read")
    return Verification(count, link.hash, torn=tuple(torn))


def _misfit(line: bytes, entry: Mapping[str, Any], link: Link, debris: bytes) -> str:
    body = {name: value for name, value in entry.items() if name != "hash"}
    if encode_line(entry) != line or entry_hash(body) != entry["hash"]:
        return "it does not match its hash"
    told = entry.get("torn")
    if debris and told is None:
        return "it cannot be read"
    if debris and not _is_told(told, debris):  # without any it was erased, with the memory that it spoke of
        return "the truncated line before it was changed"
    if entry.get("prev") != link.hash or entry["n"] != link.number + 1:
        return "a line before it was removed, added or moved"
    return ""


def _is_told(told: Json, debris: bytes) -> bool:
    for torn in (debris, debris.removesuffix(b"\n")):  # its newline came with the line that tells of it
        if torn and told == {"bytes": len(torn), "hash": torn_hash(torn)}:
            return True
    return False
