"""Pieces: a file's text cut where its author cut it: documents by heading, code by definition, prose by paragraph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memcli.code.parts import cut
from memcli.ingest import asciidoc, markdown, restructured
from memcli.ingest.markdown import Heading
from memcli.ingest.outline import OutlinePart, parts
from memcli.model.names import slug

WHOLE = 1_200
"""A text of at most so many characters is one piece, and so is a section with all that is below it."""
_RECORD = 8_000
"""A decision is read whole, up to this length: its sections say nothing without each other."""
_MAX_PIECES = 1_000
_MAX_LEAF = 48
_MAX_DEPTH = 3
_MARKDOWN = (".md", ".markdown", ".mdx")
HEADINGS: Mapping[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    **dict.fromkeys(_MARKDOWN, markdown.headings),
    **dict.fromkeys((".rst", ".rest", ".txt", ".text"), restructured.headings),
    **dict.fromkeys((".adoc", ".asciidoc"), asciidoc.headings),
}
"""By the end of the name. Plain text often has the headings of reStructuredText."""


class FilePiece(NamedTuple):
    """A part of a file. `leaf` is its path below the file's, empty for what stands outside all others.

    `spans` are the first and the last line of where it stands, counted from 1; none where it is gathered from all over
    the file.
    """

    leaf: str
    text: str
    headings: Sequence[str] = ()
    symbol: str = ""
    spans: Sequence[tuple[int, int]] = ()


def pieces(name: str, kind: str | None, text: str) -> list[FilePiece]:
    """The pieces of the file `name` in order, with different leaves; one piece for what is short or has no parts."""
    found = [piece for piece in _cut(name.lower(), kind, text) if piece.text.strip()]
    return _distinct(found) if 1 < len(found) <= _MAX_PIECES else [_whole(text)]


def _whole(text: str) -> FilePiece:
    return FilePiece("", text, spans=[(1, text.count("\n") + 1)])


def _cut(name: str, kind: str | None, text: str) -> Iterable[FilePiece]:
    if len(text) <= WHOLE or (kind == "decision" and len(text) <= _RECORD):
        return [_whole(text)]
    if kind == "code":
        return (
            FilePiece(slug(part.name) and part.name, part.text, symbol=part.name, spans=part.spans)
            for part in cut(name, text)
        )
    suffix = os.path.splitext(name)[1]
    if suffix in HEADINGS or suffix == ".org" or (not suffix and kind in ("guide", "log")):
        outline = list(parts(text, HEADINGS.get(suffix, restructured.headings)))
        is_prose = len(outline) == 1 and suffix not in _MARKDOWN
        return _paragraphs(text) if is_prose else _sections(outline)
    return [_whole(text)]


def _sections(outline: Sequence[OutlinePart]) -> Iterator[FilePiece]:
    tops = {part.headings[0] for part in outline if part.headings}
    # The title of the document is no part of where its sections stand.
    title = 1 if len(tops) == 1 else 0
    yield from _of_outline(outline, title)


def _of_outline(outline: Sequence[OutlinePart], title: int) -> Iterator[FilePiece]:
    """The parts of an outline, each with what is below it where that is short."""
    at = 0
    while at < len(outline):
        headings = outline[at].headings
        end = at + 1
        while headings and end < len(outline) and len(outline[end].headings) > len(headings):
            end += 1
        whole = "\n".join(map(_written, outline[at:end])).strip("\n")
        if len(whole) > WHOLE:
            whole, end = _written(outline[at]).strip("\n"), at + 1
        if "".join(outline[at].lines).strip() or end > at + 1:
            leaf = "/".join(slug(name, _MAX_LEAF) or "section" for name in headings[title:][-_MAX_DEPTH:])
            yield FilePiece(leaf, whole, headings, spans=[(outline[at].start, outline[end - 1].end)])
        at = end


def _written(part: OutlinePart) -> str:
    head = [f"{'#' * len(part.headings)} {part.headings[-1]}"] if part.headings else []
    return "\n".join([*head, *part.lines])


def _paragraphs(text: str) -> Iterator[FilePiece]:
    group: list[str] = []
    start = 1
    for paragraph in text.split("\n\n"):
        if group and sum(map(len, group)) + len(paragraph) > WHOLE:
            yield _group(group, start)
            start += "\n\n".join(group).count("\n") + 2
            group = []
        group.append(paragraph)
    yield _group(group, start)


def _group(paragraphs: Sequence[str], start: int) -> FilePiece:
    """Named by its first words, so that what is written above it leaves it where it is."""
    whole = "\n\n".join(paragraphs)
    text = whole.strip("\n")
    leaf = slug(" ".join(text[:200].split()[:6]), _MAX_LEAF) or "text"
    return FilePiece(leaf, text, spans=[(start, start + whole.count("\n"))])


def _distinct(found: Sequence[FilePiece]) -> list[FilePiece]:
    """The pieces with a number behind a leaf that another one before has."""
    seen: set[str] = set()
    named = []
    for piece in found:
        leaf, n = piece.leaf, 2
        while leaf.casefold() in seen:
            leaf, n = f"{piece.leaf}-{n}" if piece.leaf else f"text-{n}", n + 1
        seen.add(leaf.casefold())
        named.append(piece._replace(leaf=leaf))
    return named
