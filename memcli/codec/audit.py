"""The audit log, a hash chain of JSON lines: encoding and verification.

Each line records one act and has a SHA-256 over itself and the hash of the line before. A line truncated by a crash stays in
the log, unless it has the id or path of an erased memory: the next line records its length and digest under `torn`, and the
chain goes on from the last complete line. The chain reveals a line that was changed, moved or removed; missing last lines are
revealed only by comparison with a recorded head.

A hash begins with the number of its rule: `3:` and the digest. Lines of development versions have no rule, and two rules were
in use, so their hashes cannot be checked; their numbers and order can. `prev` includes the rule, so that removing the rule of
a line breaks the chain.
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
"""The rule of new hashes. A change of the hashed fields or of their encoding needs a new number, and a golden log of each
rule stays in the tests."""
_DOMAIN = b"memcli/audit/3\0"  # keeps this digest apart from any other over the same bytes

_DIGEST = regex(r"[0-9a-f]{64}")
# Every reader of JSON has whole numbers below this exactly; many have a greater one as a rounded float.
_MAX_NUMBER = 1 << 53


SEALS = ("n", "prev", "hash", "torn")
"""The fields that `seal` adds to an entry."""


class Link(NamedTuple):
    """The end of a log, to which the next line is chained: number and hash of the last complete line, and the bytes of
    truncated lines after it.

    `is_open`: the log does not end with a newline, so the next line must begin with one.
    """

    number: int = 0
    hash: str = ""
    torn: bytes = b""
    is_open: bool = False


def seal(entry: Mapping[str, Json], link: Link) -> bytes:
    """The line for `entry`, chained to the line before it, without a newline at its end. After a truncated line it begins
    with one."""
    body: dict[str, Json] = {**entry, "n": link.number + 1, "prev": link.hash}
    if link.torn:
        body["torn"] = _torn_note(link.torn)
    line = encode_line({**body, "hash": _entry_hash(body)})
    return b"\n" + line if link.is_open else line


def bare(entry: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an entry without those that `seal` adds."""
    return {name: value for name, value in entry.items() if name not in SEALS}


def act_key(entry: Mapping[str, Any]) -> bytes:
    """A key that is equal for two lines of the same act, also where a path was erased from one of them."""
    return encode_line({**bare(entry), "changes": [_without_path(change) for change in entry["changes"]]})


def link_of(tail: bytes, is_whole: bool) -> Link | None:
    """The link for the next line, from the last bytes of a log; None when they have no complete line, but the log may.
    `is_whole`: `tail` is the whole log."""
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
    """The entries of a log in order, without lines that cannot be parsed."""
    for line in data.split(b"\n"):
        entry = parse_entry(line)
        if entry is not None:
            yield entry


def purged(data: bytes) -> dict[str, str]:
    """The ids of memories that a log records as erased and not stored again since, each with the time of the erasure."""
    gone: dict[str, str] = {}
    for entry in entries(data):
        for change in entry["changes"]:
            name = str(change.get("id"))
            if is_erasure(change):
                gone[name] = str(entry.get("time", ""))
            else:
                # A memory that was stored again among many is not listed as new; a later change of it shows that it is there.
                gone.pop(name, None)
    return gone


def is_erasure(change: Mapping[str, Json]) -> bool:
    """Whether a change records an erasure: it has never had a path. A change with `path_hash` had one, and records a memory
    that went into the trash; its path was removed because another memory at that path was erased."""
    return change.get("after") == "" and not {"path", "path_hash"} & change.keys()


def parse_entry(line: bytes) -> dict[str, Any] | None:
    """The entry in a line; None for a line that is not a complete entry."""
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
    """The rule and the digest over a line, which has `prev` and not `hash`.

    A path is hashed as its digest, so that a path can be erased later and the hash still matches.
    """
    return f"{RULE}:{sha256(_DOMAIN + bound(body)).hexdigest()}"


def bound(body: Mapping[str, Json]) -> bytes:
    """The bytes over which the hash of a line is computed."""
    changes = body.get("changes")
    paths = [_without_path(change) for change in changes] if isinstance(changes, list) else changes
    return encode_line({name: value for name, value in {**body, "changes": paths}.items() if name != "hash"})


def _rule(digest: str) -> int:
    """The number of the rule of a hash; 0 for a hash of a development version, which has none."""
    rule, colon, _ = digest.partition(":")
    return int(rule) if colon and rule.isdecimal() and rule.isascii() else 0


def without_paths(data: bytes, ids: Collection[str]) -> bytes:
    """The log without every path that an erased memory of `ids` had at some time, in the changes of any memory, and without
    truncated lines that have such an id or path."""
    changes = [change for entry in entries(data) for change in entry["changes"] if change.get("id") in ids]
    paths = {change["path"] for change in changes if isinstance(change.get("path"), str)}
    words = [encode_line(word) for word in sorted({*ids, *paths})]
    result: list[bytes] = []
    for is_whole, lines in groupby(data.split(b"\n"), lambda line: not line or parse_entry(line) is not None):
        group = list(lines)
        if not is_whole:
            # A truncated line cannot be parsed, so the bytes of ids and paths are searched in it.
            result += [] if any(word in line for line in group for word in words) else group
            continue
        for line in group:
            entry = parse_entry(line) or {"changes": ()}
            named = [change for change in entry["changes"] if change.get("id") in ids or change.get("path") in paths]
            if any("path" in change for change in named):
                changes = [_without_path(change) if change in named else change for change in entry["changes"]]
                result.append(encode_line({**entry, "changes": changes}))
            else:
                result.append(line)
    return b"\n".join(result)


def _without_path(change: Mapping[str, Json]) -> dict[str, Json]:
    bare = dict(change)
    path = bare.pop("path", None)
    if isinstance(path, str):
        bare["path_hash"] = sha256(_DOMAIN + path.encode("utf-8", "surrogatepass")).hexdigest()
    return bare


def _torn_note(torn: bytes) -> Json:
    """The record of a truncated line in the next line."""
    return {"bytes": len(torn), "hash": sha256(_DOMAIN + torn).hexdigest()}


class Verification(Record):
    """The result of the verification of a log.

    `broken` is the number (from 1) of the first line that breaks the chain, 0 for none, and `reason` why; `entries` then
    counts the entries before it. `torn` are the numbers of truncated lines. The hashes of the first `unchecked` entries have
    no rule, because development versions wrote them.
    """

    entries: int
    head: str
    broken: int = 0
    reason: str = ""
    torn: tuple[int, ...] = ()
    unchecked: int = 0

    @property
    def gap(self) -> str:
        """The message about entries whose hashes cannot be checked; empty for none."""
        some = "all" if self.unchecked == self.entries else f"the first {self.unchecked} of"
        reason = "were written by an earlier development version: their hashes cannot be checked"
        return f"{some} {self.entries} entries {reason}" if self.unchecked else ""


def verify(data: bytes) -> Verification:
    """Checks the numbers, order and hashes of all lines of a log."""
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
    """Why a line does not continue the chain from `link`, with the truncated lines `debris` between; empty when it does."""
    rule, note = _rule(entry["hash"]), entry.get("torn")
    if not rule:
        # The hash would match with its rule: somebody removed it, and maybe that of `prev`, to make the line unchecked.
        stripped = _entry_hash(entry), _entry_hash({**entry, "prev": f"{RULE}:{entry.get('prev')}"})
        if _rule(link.hash) or not _DIGEST.fullmatch(entry["hash"]) or f"{RULE}:{entry['hash']}" in stripped:
            return "the version of its hash was removed"
    elif rule > RULE:
        return f"a newer memcli wrote it (version {rule} of the hash)"
    elif encode_line(entry) != line or _entry_hash(entry) != entry["hash"]:
        return "it does not match its hash"
    if debris and note is None:
        return "it cannot be read"
    if rule and debris:  # without debris a note is valid: an erasure removed the truncated line
        whole = debris.removesuffix(b"\n")  # the newline was written with this line, after the note was computed
        if note not in [_torn_note(torn) for torn in (debris, whole) if torn]:
            return "the truncated line before it was changed"
    if entry.get("prev") != link.hash or entry["n"] != link.number + 1:
        return "a line before it was removed, added or moved"
    return ""
