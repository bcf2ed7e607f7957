"""The audit log: one JSON line an act, each bound to the one before it by a SHA-256 over both; written and verified here.

What a crash left of a line that it tore is kept, unless it speaks of a memory that is erased: the next line names its
length and digest under `torn`, and the chain goes on from the last whole line. The chain shows that a line was changed,
moved or removed; that the last lines are missing shows only to who has noted the head.

A hash names the rule by which it was made: `3:` and the digest. The lines of development versions name none, and two rules
made them, so their hashes cannot be checked; their numbers and order can. The next line is bound to the hash as it stands,
with its rule, so that a rule cannot be taken off a line unnoticed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from memcli.codec.canonical import decode, encode_line
from memcli.digests import sha256
from memcli.errors import CorruptError
from memcli.model.memory import Json
from memcli.record import NamedTuple, Record
from memcli.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RULE = 3
"""The rule that hashes are made by. A change of what is bound, or how, is a new number, and the golden logs of all are kept."""
_DOMAIN = b"memcli/audit/3\0"  # keeps this digest apart from any other over the same bytes

_DIGEST = regex(r"[0-9a-f]{64}")
_MAX_NUMBER = 1 << 53


SEALS = ("n", "prev", "hash", "torn")
"""What `seal` adds to an entry."""


class Link(NamedTuple):
    """What the next line is bound to: number and hash of the last whole line, and the torn bytes after it.

    `is_open`: what is there does not end with a newline, so the next line begins with one.
    """

    number: int = 0
    hash: str = ""
    torn: bytes = b""
    is_open: bool = False


def seal(entry: Mapping[str, Json], link: Link) -> bytes:
    """The line for `entry`, bound to the line before it, without its newline. After a line that a crash tore, it begins
    with one."""
    body: dict[str, Json] = {**entry, "n": link.number + 1, "prev": link.hash}
    if link.torn:
        body["torn"] = _torn_note(link.torn)
    line = encode_line({**body, "hash": _entry_hash(body)})
    return b"\n" + line if link.is_open else line


def bare(entry: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of a line without its seals."""
    return {name: value for name, value in entry.items() if name not in SEALS}


def act_key(entry: Mapping[str, Any]) -> bytes:
    """Equal for two lines that tell of the same act, also where a path was erased from one of them."""
    return encode_line({**bare(entry), "changes": [_without_path(change) for change in entry["changes"]]})


def link_of(tail: bytes, is_whole: bool) -> Link | None:
    """What the next line is bound to, from the last bytes of a log; None when they do not reach back far enough."""
    is_open = bool(tail) and not tail.endswith(b"\n")
    end = len(tail)
    while end:
        start = tail.rfind(b"\n", 0, end - 1) + 1
        if not start and not is_whole:
            return None
        entry = parse_entry(tail[start:end])
        if entry is not None:
            return Link(entry["n"], entry["hash"], tail[end:], is_open)
        end = start
    return Link(torn=tail, is_open=is_open) if is_whole else None


def entries(data: bytes) -> Iterator[dict[str, Any]]:
    """The acts of a log in their order; what cannot be read is left out."""
    for line in data.split(b"\n"):
        entry = parse_entry(line)
        if entry is not None:
            yield entry


def purged(data: bytes) -> dict[str, str]:
    """The ids of the memories that a log records as erased, and not as stored again, each with the time of the erasure."""
    gone: dict[str, str] = {}
    for entry in entries(data):
        for change in entry["changes"]:
            name = str(change.get("id"))
            if is_erasure(change):
                gone[name] = str(entry.get("time", ""))
            else:  # it was there again
                gone.pop(name, None)
    return gone


def is_erasure(change: Mapping[str, Json]) -> bool:
    """Whether a change records an erasure, which has no path. One whose path was taken out later, which leaves its digest,
    is of a memory that went into the trash: another memory at that path may have been erased."""
    return change.get("after") == "" and not {"path", "path_hash"} & change.keys()


def parse_entry(line: bytes) -> dict[str, Any] | None:
    """The entry in a line; None for what is no whole line."""
    try:
        entry = decode(line, "a line")
    except CorruptError:
        return None
    if not isinstance(entry, dict):
        return None
    number, changes = entry.get("n"), entry.get("changes")
    is_act = (
        isinstance(number, int)
        and 0 < number < _MAX_NUMBER
        and isinstance(entry.get("hash"), str)
        and isinstance(changes, list)
        and all(isinstance(change, dict) for change in changes)
        and all(isinstance(entry.get(name, {}), dict) for name in ("created", "policy"))
    )
    return entry if is_act else None


def _entry_hash(body: Mapping[str, Json]) -> str:
    """The rule, and the digest that binds a line, `prev` included and `hash` not.

    Of a memory's path only the digest is bound, so that the path can be erased and the line still fits.
    """
    return f"{RULE}:{sha256(_DOMAIN + bound(body)).hexdigest()}"


def bound(body: Mapping[str, Json]) -> bytes:
    """The bytes that the hash of a line binds."""
    changes = body.get("changes")
    paths = [_without_path(change) for change in changes] if isinstance(changes, list) else changes
    return encode_line({name: value for name, value in {**body, "changes": paths}.items() if name != "hash"})


def _rule(digest: str) -> int:
    """The rule that a hash names; 0 for that of a development version, which names none."""
    rule, colon, _ = digest.partition(":")
    return int(rule) if colon and rule.isdecimal() and rule.isascii() else 0


def without_paths(data: bytes, ids: Collection[str]) -> bytes:
    """The log without the paths that the memories of `ids`, which are gone for good, ever had, whoever had them since;
    and without torn lines that speak of them."""
    changes = [change for entry in entries(data) for change in entry["changes"] if change.get("id") in ids]
    paths = {change["path"] for change in changes if isinstance(change.get("path"), str)}
    words = [encode_line(word) for word in sorted({*ids, *paths})]
    kept: list[bytes] = []
    for is_whole, lines in groupby(data.split(b"\n"), lambda line: not line or parse_entry(line) is not None):
        group = list(lines)
        if not is_whole:
            kept += [] if any(word in line for line in group for word in words) else group
            continue
        for line in group:
            entry = parse_entry(line) or {"changes": ()}
            told = [change for change in entry["changes"] if change.get("id") in ids or change.get("path") in paths]
            if any("path" in change for change in told):
                changes = [_without_path(change) if change in told else change for change in entry["changes"]]
                kept.append(encode_line({**entry, "changes": changes}))
            else:
                kept.append(line)
    return b"\n".join(kept)


def _without_path(change: Mapping[str, Json]) -> dict[str, Json]:
    bare = dict(change)
    path = bare.pop("path", None)
    if isinstance(path, str):
        bare["path_hash"] = sha256(_DOMAIN + path.encode("utf-8", "surrogatepass")).hexdigest()
    return bare


def _torn_note(torn: bytes) -> Json:
    """What the next line says of a line that a crash tore."""
    return {"bytes": len(torn), "hash": sha256(_DOMAIN + torn).hexdigest()}


class Verification(Record):
    """What a look at the whole chain found.

    `broken` is the first line (from 1) that does not fit, and `reason` why; `entries` are then those before it. `torn` are
    the lines that a crash tore.
    The hashes of the first `unchecked` entries name no rule: development versions wrote them.
    """

    entries: int
    head: str
    broken: int = 0
    reason: str = ""
    torn: tuple[int, ...] = ()
    unchecked: int = 0

    @property
    def gap(self) -> str:
        """The message about entries whose hashes cannot be checked; empty where all were."""
        some = "all" if self.unchecked == self.entries else f"the first {self.unchecked} of"
        reason = "were written by an earlier development version: their hashes cannot be checked"
        return f"{some} {self.entries} entries {reason}" if self.unchecked else ""


def verify(data: bytes) -> Verification:
    """Whether every line of a log stands as it was written."""
    link, torn, count, unchecked, debris = Link(), list[int](), 0, 0, b""
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line:
            break
        entry = parse_entry(line)
        if entry is None:
            debris += line + (b"\n" if number < len(lines) else b"")
            torn.append(number)
            continue
        if reason := _misfit(line, entry, link, debris):
            return Verification(count, link.hash, torn[-1] if debris and "torn" not in entry else number, reason)
        count += 1
        unchecked += not _rule(entry["hash"])
        link, debris = Link(entry["n"], entry["hash"]), b""
    if debris and data.endswith(b"\n"):  # a crash leaves no newline
        return Verification(count, link.hash, torn[-1], "it cannot be read")
    return Verification(count, link.hash, torn=tuple(torn), unchecked=unchecked)


def _misfit(line: bytes, entry: Mapping[str, Any], link: Link, debris: bytes) -> str:
    rule, note = _rule(entry["hash"]), entry.get("torn")
    if not rule:
        # Somebody took the rule off a hash that RULE made, and maybe off `prev`.
        stripped = _entry_hash(entry), _entry_hash({**entry, "prev": f"{RULE}:{entry.get('prev')}"})
        if _rule(link.hash) or not _DIGEST.fullmatch(entry["hash"]) or f"{RULE}:{entry['hash']}" in stripped:
            return "the version of its hash was removed"
    elif rule > RULE:
        return f"a newer memcli wrote it (version {rule} of the hash)"
    elif encode_line(entry) != line or _entry_hash(entry) != entry["hash"]:
        return "it does not match its hash"
    if debris and note is None:
        return "it cannot be read"
    if rule and debris:  # a note without any: it was erased, with the memory that it spoke of
        whole = debris.removesuffix(b"\n")  # its newline came with the line that tells of it
        if note not in [_torn_note(torn) for torn in (debris, whole) if torn]:
            return "the truncated line before it was changed"
    if entry.get("prev") != link.hash or entry["n"] != link.number + 1:
        return "a line before it was removed, added or moved"
    return ""
