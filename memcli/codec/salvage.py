"""Salvage: what can still be read of a space file that is no JSON any more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from memcli.codec.frame import CLOSE, OPEN, of_space

_FIELDS = tuple(map(of_space, ("metadata", "policy", "space", "version")))
_ENDS = (b"\n", b"\n  }")
"""What a field of the header goes up to: it is on one line, or on lines of its own."""


def salvage(data: bytes) -> tuple[dict[str, Any], str]:
    """The memories, and the fields of the header, that are whole in a damaged file; and a word on what is not.

    Of a file with conflict markers both sides are taken. Never raises.
    """
    merged = _both_sides(data)
    if merged is not None:
        return merged, " (from both sides of an unfinished merge)"
    objects = list(_framed(data)) or list(_in_sequence(data))
    saved: dict[str, Any] = {"objects": objects} if objects else {}
    for key in _FIELDS:
        value = _field(data, key)
        if value is not None:
            saved[key.decode().strip('\n ":')] = value
    lost = "" if b'"policy"' in data and "policy" in saved else ", but its policy cannot"
    return saved, lost if objects else ""


def _both_sides(data: bytes) -> dict[str, Any] | None:
    """A file with the conflict markers of git as one: the objects of both sides; None when a side is broken too."""
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    on: tuple[int, ...] = (0, 1)
    for line in data.splitlines(keepends=True):
        if line.startswith(b"<<<<<<< "):
            on = (0,)
        elif line.startswith(b"||||||| "):
            on = ()
        elif line.rstrip() == b"=======":
            on = (1,)
        elif line.startswith(b">>>>>>> "):
            on = (0, 1)
        else:
            for side in on:
                sides[side].append(line)
    if sides[0] == sides[1]:
        return None
    try:
        ours, theirs = (orjson.loads(b"".join(lines)) for lines in sides)
        return {**theirs, **ours, "objects": [*ours["objects"], *theirs["objects"]]}
    except (orjson.JSONDecodeError, TypeError, KeyError):
        return None


def _framed(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects that stand whole between their lines of four spaces and a brace."""
    at = data.find(OPEN)
    while at >= 0:
        end = data.find(CLOSE, at)
        following = data.find(OPEN, at + 1)
        if end >= 0:
            value = _object(data[at : end + len(CLOSE)])
            if value is not None:
                yield value
        at = following


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) and "id" in value else None


def _in_sequence(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file in another layout, one after the other until one is broken."""
    text = data.decode("utf-8", "replace")
    at = text.find('"objects"')
    at = text.find("[", at) + 1 if at >= 0 else 0
    decoder = json.JSONDecoder()
    while at > 0:
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict) and "id" in value:
            yield value


def _field(data: bytes, key: bytes) -> Any:
    start = data.find(key)
    if start < 0:
        return None
    start += len(key)
    for end in _ENDS:
        stop = data.find(end, start) + len(end)
        try:
            return orjson.loads(data[start:stop].rstrip().removesuffix(b","))
        except orjson.JSONDecodeError:
            continue
    return None
