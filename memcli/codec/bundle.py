"""The export: one space, or a part of it, as a file that can be handed on, with counts and a digest over all of it.

The digest is taken over the head and the canonical bytes of the content, whatever the format: the same export as
JSON, JSON Lines or Markdown has the same digest, and one signature fits all three. Without a signature by a key
that the reader knows, a digest proves that a file is whole, not who made it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.codec.canonical import decode, encode
from memcli.codec.items import check_names_once
from memcli.codec.memory import AT_ITS_SOURCE, check_memories
from memcli.codec.space import check_writable, encode_full, space_from_json
from memcli.errors import CorruptError, UsageError, from_elsewhere
from memcli.model.memory import Json
from memcli.model.names import check_space
from memcli.model.shapes import TEXTS, problem
from memcli.model.space import Space
from memcli.record import Record, field, replace

MAX_OBJECTS = 100_000
MAX_DEPTH = 64
"""Of a whole bundle: what its memories may have, and what is around them."""
FORMAT = "memcli/export"
VERSION = 1
ASK_AGAIN = "it was modified after the export; get a new copy"
_PREFIX = b"memcli/export/1\0"  # keeps this digest apart from any other over the same bytes
_PLACE = b'\n  "content": {}'
_PART = {"type": "object", "additionalProperties": TEXTS}
_UNDIGESTED = ("hash", "signature", "content")
_DEEP = re.compile(rb"\n {%d}" % (2 * MAX_DEPTH + 2))


class Export(Record):
    """A space as it is handed on. `part` tells the filters that its memories were chosen by; none: it is whole."""

    space: Space
    part: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hash: str = ""
    signature: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)

    def head(self) -> dict[str, Json]:
        """All but the content."""
        head = {**self._told(), "hash": self.hash}
        return {**head, "signature": self.signature} if self.signature else head

    def counts(self) -> dict[str, int]:
        """How many memories there are, and how many of them are active and pinned."""
        objects = self.space.objects
        return {
            "objects": len(objects),
            "active": sum(m.active for m in objects),
            "pinned": sum(m.pinned for m in objects),
        }

    def _told(self) -> dict[str, Json]:
        told = {**self.extra, "format": FORMAT, "version": VERSION, "space": self.space.name, "counts": self.counts()}
        return {**told, "part": self.part} if self.part else told


def seal(
    space: Space,
    part: Mapping[str, Sequence[str]] | None = None,
    sign: Callable[[bytes], str] | None = None,
) -> Export:
    """The export of `space`, with its digest and, where there is one who can `sign`, the signature over that.

    Raises UsageError for more memories than a bundle may hold.
    """
    check_size(space.name, len(space.objects))
    open_ = Export(space, part or {})
    sealed = replace(open_, hash=_digest(open_.head(), encode_full(space)))
    return replace(sealed, signature=sign(sealed.hash.encode())) if sign else sealed


def check_size(name: str, count: int) -> None:
    """Raises UsageError when a space has more memories than a bundle may hold."""
    if count > MAX_OBJECTS:
        raise UsageError(
            f"space {name!r} has {count} memories; a bundle holds at most {MAX_OBJECTS}",
            "export it in parts with --under, --kind or --tag",
        )


def unseal(tree: Json, where: str) -> Export:
    """The export that `tree` holds. Raises CorruptError when it is none, is newer, was changed, or is not fit."""
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or not isinstance(tree.get("content"), dict):
        raise CorruptError(
            f'{where}: not an export of memcli (no "format": "{FORMAT}")', "create one with `memcli export`"
        )
    if tree.get("version") != VERSION or isinstance(tree["version"], bool):
        raise CorruptError(
            f"{where}: export version {tree.get('version')!r}; this memcli reads version {VERSION}", "upgrade memcli"
        )
    content = _content(tree["content"], where)
    if tree.get("hash") != _digest(tree, content):
        raise CorruptError(f"{where}: the content does not match its hash", ASK_AGAIN)
    space = _fit_space(tree["content"], where, with_hashes=False)
    known = {"format", "version", "space", "counts", "part", *_UNDIGESTED}
    export = Export(
        space,
        _part(tree, where),
        tree["hash"],
        _signature(tree, where),
        {k: v for k, v in tree.items() if k not in known},
    )
    if tree.get("space") != space.name or tree.get("counts") != export.counts():
        raise CorruptError(f"{where}: the name or counts do not match the content", ASK_AGAIN)
    return export


def read_space(data: bytes, where: str, *, with_hashes: bool = True) -> Space:
    """The space in a file that comes from elsewhere. Raises CorruptError when it is newer, or is not fit, or, `with_hashes`,
    when a text does not match its hash."""
    tree = decode(data, where, ASK_AGAIN)
    _content(tree, where)
    return _fit_space(tree, where, with_hashes=with_hashes)


def _fit_space(tree: Json, where: str, *, with_hashes: bool = True) -> Space:
    """The space in the JSON of one that comes from elsewhere. Raises CorruptError naming `where` and what is wrong."""
    with from_elsewhere(AT_ITS_SOURCE):
        space = space_from_json(tree, where)
        check_writable(space, where)
    if len(space.objects) > MAX_OBJECTS:
        raise CorruptError(
            f"{where}: {len(space.objects)} memories; a bundle holds at most {MAX_OBJECTS}", "export it in parts"
        )
    try:
        check_space(space.name)
    except UsageError as error:
        raise CorruptError(f"{where}: {error.message}", error.hint) from None
    check_memories(space.objects, where, with_hashes=with_hashes)
    return space


def encode_bundle(export: Export) -> bytes:
    """The export as one canonical JSON document."""
    frame = encode({**export.head(), "content": {}})
    content = encode_full(export.space).rstrip(b"\n").replace(b"\n", b"\n  ")
    return frame.replace(_PLACE, b'\n  "content": ' + content, 1) + b"\n"


def decode_bundle(data: bytes, where: str) -> Export:
    """The export in a JSON document. Raises CorruptError."""
    tree = decode(data, where, "create an export with `memcli export`")
    export = unseal(tree, where)
    if encode_bundle(export) != data:  # laid out anew, which is harmless, or with one name twice, which is not
        check_names_once(data, where, ASK_AGAIN)
    return export


def _content(tree: Json, where: str) -> bytes:
    """The canonical bytes of the content. In these a line's indentation tells how deep it is."""
    try:
        content = encode(tree) + b"\n"
    except UsageError:  # what was read as JSON can be written, but for its depth
        content = b""
    if not content or _DEEP.search(content):
        raise CorruptError(
            f"{where}: nested deeper than {MAX_DEPTH}", "this is not an export of memcli; get a new copy"
        )
    return content


def _digest(head: Mapping[str, Json], content: bytes) -> str:
    told = encode({name: value for name, value in head.items() if name not in _UNDIGESTED})
    return f"sha256:{hashlib.sha256(_PREFIX + told + bytes(1) + content).hexdigest()}"


def _part(tree: Mapping[str, Json], where: str) -> dict[str, list[str]]:
    part: Any = tree.get("part", {})
    if not isinstance(part, dict) or problem(part, _PART, "part"):
        raise CorruptError(f"{where}: part must be an object of lists of strings", ASK_AGAIN)
    return part


def _signature(tree: Mapping[str, Json], where: str) -> str:
    signature = tree.get("signature", "")
    if not isinstance(signature, str):
        raise CorruptError(f"{where}: signature must be text", ASK_AGAIN)
    return signature
