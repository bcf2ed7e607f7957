"""The formats of an export. To add one: a file that writes and reads it, and one line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memcli.codec.bundle import Export, decode_bundle, encode_bundle
from memcli.codec.canonical import decode
from memcli.codec.document import decode_document, encode_document, is_document
from memcli.codec.records import decode_lines, encode_lines
from memcli.errors import CorruptError

MAX_BYTES = 256 << 20


class Format(NamedTuple):
    """How an export is written, piece by piece, and read. `decode` raises CorruptError."""

    encode: Callable[[Export], Iterator[bytes]]
    decode: Callable[[bytes, str], Export]


def _whole(export: Export) -> Iterator[bytes]:
    yield encode_bundle(export)


FORMATS: Mapping[str, Format] = {
    "json": Format(_whole, decode_bundle),
    "jsonl": Format(encode_lines, decode_lines),
    "md": Format(encode_document, decode_document),
}
DEFAULT_FORMAT = "json"


def format_of(data: bytes) -> str:
    """The format of an export, by how it begins; JSON for what is none."""
    try:
        head = decode(data.partition(b"\n")[0], "")
    except CorruptError:
        return "md" if not data.lstrip().startswith(b"{") and is_document(data) else "json"
    content = head.get("content") if isinstance(head, dict) else None
    return "jsonl" if isinstance(content, dict) and "objects" not in content else "json"


def read_export(data: bytes, where: str) -> Export:
    """The export in `data`, in whichever format. Raises CorruptError when it is none, or was changed."""
    if len(data) > MAX_BYTES:
        raise CorruptError(f"{where}: longer than {MAX_BYTES >> 20} MiB", "export it in parts")
    return FORMATS[format_of(data)].decode(data, where)
