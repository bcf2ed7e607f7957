"""The export as JSON Lines: the head on the first line, then one memory a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memcli.codec.bundle import ASK_AGAIN, Export, check_names_once, unseal
from memcli.codec.canonical import decode, encode_line
from memcli.codec.memory import memory_to_json
from memcli.codec.space import header_to_json
from memcli.errors import CorruptError


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
                check_names_once(line, f"{where}: line {n}")
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
