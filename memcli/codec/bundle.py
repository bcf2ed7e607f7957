"""The export bundle: one space as a file that can be handed on, with counts and a digest over its content."""

from __future__ import annotations

import hashlib
from typing import Any

from memcli.codec.canonical import decode, encode
from memcli.codec.space import decode_space, encode_space
from memcli.errors import CorruptError
from memcli.model.space import Space

FORMAT = "memcli/export"
VERSION = 1
_PREFIX = b"memcli/export/1\0"  # keeps this digest apart from any other over the same bytes


def encode_bundle(space: Space) -> bytes:
    """The canonical bytes of a bundle that holds `space`."""
    content = encode_space(space)
    bundle = {
        "format": FORMAT,
        "version": VERSION,
        "space": space.name,
        "counts": _counts(space),
        "hash": _digest(content),
        "content": decode(content, "export"),
    }
    return encode(bundle) + b"\n"


def decode_bundle(data: bytes, where: str) -> Space:
    """The space in a bundle. Raises CorruptError when it is none, is newer, or was tampered with."""
    tree = decode(data, where, "make an export with `memcli export`")
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or not isinstance(tree.get("content"), dict):
        raise CorruptError(
            f'{where}: not an export of memcli (no "format": "{FORMAT}")', "make one with `memcli export`"
        )
    if tree.get("version") != VERSION:
        raise CorruptError(
            f"{where}: export version {tree.get('version')!r}; this memcli knows {VERSION}", "upgrade memcli"
        )
    content = encode(tree["content"]) + b"\n"
    if tree.get("hash") != _digest(content):
        raise CorruptError(
            f"{where}: the content does not match its hash", "it was changed after the export; ask for it again"
        )
    space = decode_space(content, where)
    if tree.get("space") != space.name or tree.get("counts") != _counts(space):
        raise CorruptError(
            f"{where}: name or counts do not match the content", "it was changed after the export; ask for it again"
        )
    return space


def _counts(space: Space) -> dict[str, Any]:
    return {
        "objects": len(space.objects),
        "active": sum(m.active for m in space.objects),
        "pinned": sum(m.pinned for m in space.objects),
    }


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(_PREFIX + content).hexdigest()}"
