"""The export as a Markdown document: a section for each memory, its text as a quotation, the rest as JSON.

The head comes last, behind what people read. A quotation keeps every line of a text as it is, shows Markdown as what it is, and lets none of its headings and
fences into the outline of the document. A text with a character that some reader takes for the end of a line stays
in the JSON. The headings are for people: what is read back are quotations and JSON, and a document that differs from
the one that they give has been changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.codec.bundle import ASK_AGAIN, Export, unseal
from memcli.codec.canonical import decode, encode
from memcli.codec.memory import memory_to_json
from memcli.codec.records import with_objects
from memcli.codec.space import header_to_json
from memcli.errors import CorruptError
from memcli.model.memory import Json, Memory
from memcli.model.names import show

_TITLE = "# Memory of "
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?# Memory of [^\r\n]*\r?\n\r?\nMemories: \d")
_MARK = b'\n  "format": "memcli/export",'
_TAIL = 1 << 16
_OPEN = "```json"
_CLOSE = "```"
_UNQUOTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
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
    if memory.raw and not _UNQUOTABLE.search(memory.raw):
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
