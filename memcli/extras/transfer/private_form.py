"""The format of a file with private state, as JSON Lines: a head with a SHA-256 of the rest of the file, then the parts.

    {"format": "memcli/private", "hash": "sha256:...", "version": 1}
    {"name": "sessions/main/ses_...", "text": "..."}
    {"name": "spaces/journal", "text": "..."}

The text of a part is the content of one file, whose kind its name gives (see `extras/transfer/private_state.py`). Parts are
sorted by name. A name is never used as a path, since the file may come from anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memcli.codec.bundle import ASK_AGAIN, MAX_BYTES
from memcli.codec.canonical import decode, encode_line
from memcli.digests import sha256
from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json

FORMAT = "memcli/private"
VERSION = 1
_PREFIX = b"memcli/private/1\0"  # keeps this digest apart from any other over the same bytes


def is_private_state(data: bytes) -> bool:
    """Whether a file begins as one with private state does."""
    try:
        head = decode(data.partition(b"\n")[0], "")
    except CorruptError:
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def encode_private_state(parts: Mapping[str, str], sign: Callable[[bytes], str] | None = None) -> tuple[bytes, str]:
    """The content of a file with these parts, signed with `sign` if that is given; and the digest over the parts.

    Raises UsageError for more than MAX_BYTES, which no import would read.
    """
    body = b"".join(encode_line({"name": name, "text": parts[name]}) + b"\n" for name in sorted(parts))
    digest = _digest(body)
    data = encode_line(_head(digest, sign(digest.encode()) if sign else "")) + b"\n" + body
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"the private state takes more than {MAX_BYTES >> 20} MiB",
            "delete sessions that nobody needs, or export them one by one with `memcli session export`",
        )
    return data, digest


def decode_private_state(data: bytes, where: str) -> tuple[dict[str, str], str, str]:
    """The texts of all parts by name, the digest over them, and the signature of the digest, empty if there is none.

    Raises CorruptError for a file of a newer version, or one that was modified or is malformed.
    """
    if len(data) > MAX_BYTES:
        raise CorruptError(f"{where}: longer than {MAX_BYTES >> 20} MiB", ASK_AGAIN)
    if not is_private_state(data):
        raise CorruptError(
            f'{where}: no private state (no "format": "{FORMAT}")', "`memcli export --private` makes one"
        )
    first, _, body = data.partition(b"\n")
    head: Any = decode(first, where, ASK_AGAIN)
    version = head.get("version")
    if version != VERSION or isinstance(version, bool):  # in Python, True == 1
        raise CorruptError(
            f"{where}: version {version!r} of the private state; this memcli reads version {VERSION}", "upgrade memcli"
        )
    digest, signature = head.get("hash"), head.get("signature", "")
    if digest != _digest(body) or not isinstance(signature, str) or encode_line(_head(digest, signature)) != first:
        raise CorruptError(f"{where}: the content does not match its hash", ASK_AGAIN)
    parts: dict[str, str] = {}
    last = ""
    for number, line in enumerate(body.splitlines(keepends=True), 2):
        at = f"{where}: line {number}"
        part: Any = decode(line, at, ASK_AGAIN)
        is_part = isinstance(part, dict) and part.keys() == {"name", "text"}
        if not is_part or not all(isinstance(value, str) for value in part.values()):
            raise CorruptError(f"{at}: not a part with a name and a text", ASK_AGAIN)
        # A content has one form, so that nothing can hide in another spelling of the same JSON.
        if encode_line(part) + b"\n" != line:
            raise CorruptError(f"{at}: not written by memcli", ASK_AGAIN)
        if part["name"] <= last:
            raise CorruptError(f"{at}: the parts are not in order, each once", ASK_AGAIN)
        last = part["name"]
        parts[last] = part["text"]
    return parts, digest, signature


def _head(digest: str, signature: str) -> dict[str, Json]:
    head: dict[str, Json] = {"format": FORMAT, "version": VERSION, "hash": digest}
    return {**head, "signature": signature} if signature else head


def _digest(body: bytes) -> str:
    return f"sha256:{sha256(_PREFIX + body).hexdigest()}"
