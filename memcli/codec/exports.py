"""The formats of an export: JSON, JSON Lines, Markdown. To add one: its functions to encode and decode, and a line in FORMATS.

JSON Lines holds the head on the first line, then one memory a line. A Markdown document has a section for each memory,
its text as a quotation, the rest as JSON, and the head last. A quotation keeps every line of a text as it is, and lets
none of its headings and fences into the outline of the document. A text with a character that some reader takes for the
end of a line stays in the JSON. The headings are for people: what is read back are quotations and JSON, and a document
that differs from the one that they give has been changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from memcli.codec.bundle import ASK_AGAIN, Export, decode_bundle, encode_bundle, unseal
from memcli.codec.canonical import decode, encode, encode_line
from memcli.codec.items import check_names_once
from memcli.codec.memory import memory_to_json
from memcli.codec.space import header_to_json
from memcli.errors import CorruptError
from memcli.model.memory import Json, Memory
from memcli.model.names import show


def encode_lines(export: Export) -> Iterator[bytes]:
    """The lines, each with its end."""
    yield encode_line({**export.head(), "content": header_to_json(export.space)}) + b"\n"
    for memory in export.space.objects:
        yield encode_line(memory_to_json(memory)) + b"\n"


def decode_lines(data: bytes, where: str) -> Export:
    """The export in JSON Lines. Raises CorruptError naming the line."""
    first, *rest = data.split(b"\n")
    head = decode(first, where, "create an export with `memcli export --format jsonl`")
    objects = [_record(line, f"{where}: line {n}") for n, line in enumerate(rest, 2) if line.strip()]
    export = unseal(with_objects(head, objects, where), where)
    if b"".join(encode_lines(export)) != data:
        for n, line in enumerate([first, *rest], 1):
            if line.strip():
                check_names_once(line, f"{where}: line {n}", ASK_AGAIN)
    return export


def with_objects(head: Any, objects: list[Any], where: str) -> Any:
    """The tree of an export whose head and memories stand apart. Raises CorruptError."""
    if not isinstance(head, dict) or not isinstance(head.get("content"), dict):
        return head  # which is none, as `unseal` will say
    if "objects" in head["content"]:
        raise CorruptError(f"{where}: memories in the header", ASK_AGAIN)
    return {**head, "content": {**head["content"], "objects": objects}}


def _record(line: bytes, where: str) -> Any:
    return decode(line, where, ASK_AGAIN)


HEAD = "memcli.json"
"""The file of the head, of an export that is a folder."""
_TITLE = "# Memory of "
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?# Memory of [^\r\n]*\r?\n\r?\nMemories: \d")
_MARK = b'\n  "format": "memcli/export",'
_TAIL = 1 << 16
_OPEN = "```json"
_CLOSE = "```"
UNQUOTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|&])")


def is_document(data: bytes) -> bool:
    """Whether `data` begins or ends as a document does: also a damaged one is no mere Markdown."""
    return _BEGIN.match(data) is not None or _MARK in data[-_TAIL:].replace(b"\r\n", b"\n")


def encode_document(export: Export) -> Iterator[bytes]:
    """The document, section by section."""
    counts = export.counts()
    told = f"Memories: {counts['objects']}, active: {counts['active']}, pinned: {counts['pinned']}."
    yield f"{_TITLE}{_heading(export.space.name)}\n\n{told}\n".encode()
    for memory in export.space.objects:
        yield _section(memory).encode()
    head = {**export.head(), "content": header_to_json(export.space)}
    yield f"\n---\n\n{_block(head)}".encode()


def decode_document(data: bytes, where: str) -> Export:
    """The export in a document. Raises CorruptError."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").rstrip() + "\n"
    except UnicodeDecodeError as error:
        raise CorruptError(f"{where}: not valid UTF-8 (byte {error.start})", ASK_AGAIN) from None
    *objects, head = list(_blocks(text.split("\n"), where)) or [None]
    export = unseal(with_objects(head, objects, where), where)
    if b"".join(encode_document(export)).decode() != text:
        raise CorruptError(f"{where}: the text around the memories does not match them", ASK_AGAIN)
    return export


def _section(memory: Memory) -> str:
    fields = memory_to_json(memory)
    quotation = ""
    if memory.raw and not UNQUOTABLE.search(memory.raw):
        del fields["raw"]
        quotation = "".join(f"> {line}\n" if line else ">\n" for line in memory.raw.split("\n")) + "\n"
    return f"\n## {_heading(memory.path)}\n\n{quotation}{_block(fields)}"


def _block(value: Mapping[str, Json]) -> str:
    return f"{_OPEN}\n{encode(value).decode()}\n{_CLOSE}\n"


def _heading(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text if text.isprintable() else show(text))


def _blocks(lines: list[str], where: str) -> Iterator[Any]:
    """The JSON of each block, with the quotation above it as its text."""
    quoted: list[str] = []
    within: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if within is None:
            if line == _OPEN:
                within = []
            elif line.startswith(">"):
                quoted.append(line[2:])
        elif line != _CLOSE:
            within.append(line)
        else:
            value = decode("\n".join(within).encode(), f"{where}: the block that ends on line {number}", ASK_AGAIN)
            yield {**value, "raw": "\n".join(quoted)} if quoted and isinstance(value, dict) else value
            quoted, within = [], None


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
