"""Hits: where secrets stand in a text, made one where they overlap, and the text with marks in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class Hit(NamedTuple):
    """Something secret at the bytes `start` to `end` of a text; `value` is what the rule alone found.

    Of overlapping hits the one of least `rank` gives its name: the order of the rules, the most particular first.
    """

    start: int
    end: int
    kind: str
    value: bytes
    rank: int


def merged(hits: Sequence[Hit], marks: Sequence[tuple[int, int]]) -> list[Hit]:
    """The hits, those that overlap as one under the name of the most particular, without the marks among them."""
    whole: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end, h.rank, h.kind)):
        last = whole[-1] if whole else None
        if last and (hit.start < last.end or (hit.start == last.end and hit.kind == last.kind)):
            named = min(last, hit, key=lambda h: h.rank)
            whole[-1] = named._replace(start=last.start, end=max(last.end, hit.end))
        else:
            whole.append(hit)
    return [part for hit in whole for part in _without(hit, marks)] if marks else whole


def _without(hit: Hit, marks: Sequence[tuple[int, int]]) -> Iterator[Hit]:
    start = hit.start
    for begin, end in marks:
        if begin < hit.end and end > start:
            if start < begin:
                yield hit._replace(start=start, end=begin)
            start = max(start, end)
    if start < hit.end:
        yield hit._replace(start=start)


def replaced(text: str, hits: Sequence[Hit], mark: Callable[[Hit], str]) -> str:
    data = text.encode("utf-8", "surrogatepass")
    parts, position = [], 0
    for hit in hits:
        parts += [data[position : hit.start], mark(hit).encode()]
        position = hit.end
    return b"".join([*parts, data[position:]]).decode("utf-8", "surrogatepass")


def text_mark(hit: Hit) -> str:
    return f"[REDACTED:{hit.kind}]"
