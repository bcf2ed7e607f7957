"""Plain passage search over a repository, to measure recall against: BM25, and BM25 with the embedder.

Documents are cut at their headings; then these sections, the messages of commits and the hunks of each file are cut
into passages of at most SIZE characters, each below its heading.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from baselines import Scores, bm25_scores, unit_vectors
from repository import Repository

from memcli.embed.onnx import OnnxEmbedder

SIZE = 900
DOCUMENT, MESSAGE, CHANGE = 1.0, 0.9, 0.75
"""What a passage counts by where it stands, once words and meaning are summed."""
ROOM = 4 * 1_200
"""Characters to fill: four are counted as a token."""
FRAME = 60
"""Characters that printing a passage takes beside its text: its number, its id, its date."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_UNDERLINE = re.compile(r"([=~^\"'`#*+-])\1{2,}\s*\Z")


@dataclass(frozen=True, slots=True)
class Plain:
    """A passage as it is printed, with what it counts."""

    text: str
    weight: float


Search = Callable[[str], list[str]]
"""A question to the passages that are printed for it, best first."""


def passages(repository: Repository) -> list[Plain]:
    """All passages of the documents and the commits that the store of the repository holds."""
    found = []
    for path, text in repository.documents():
        for title, section in sections(text):
            found += [Plain(f"{path} > {title}\n{piece}", DOCUMENT) for piece in pieces(section)]
    for commit in repository.commits():
        told = pieces(f"{commit.subject}\n\n{commit.body}")
        found += [Plain(f"commit {commit.name}: {commit.subject}\n{piece}", MESSAGE) for piece in told]
        for path, hunks in commit.hunks.items():
            found += [Plain(f"{commit.subject} ({path})\n{piece}", CHANGE) for piece in pieces(hunks)]
    return found


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a document in Markdown or reStructuredText, each with its heading; that of the first is empty."""
    title, body, fence = "", list[str](), ""
    lines = text.split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if mark := _FENCE.match(line):
            fence = "" if fence and line.strip() == fence else fence or mark[1]
        if not fence and (named := _title(line, below)):
            yield title, "\n".join(body)
            title, body = named, []
        body.append(line)
    yield title, "\n".join(body)


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most SIZE characters, cut between paragraphs, else between lines."""
    packed = ""
    for block in re.split(r"\n\s*\n", text):
        for part in _parts(block):
            if packed and len(packed) + len(part) + 2 > SIZE:
                yield packed
                packed = ""
            packed = f"{packed}\n\n{part}" if packed else part
    if packed.strip():
        yield packed


def searches(repository: Repository, kept: str) -> Mapping[str, Search]:
    """The baselines by name. Vectors are kept in the folder `kept`."""
    known = passages(repository)
    texts = [one.text for one in known]
    words, meaning = bm25_scores(texts), _cosines(texts, kept)

    def both(question: str) -> list[float]:
        pairs = zip(_stretched(words(question)), _stretched(meaning(question)), known, strict=True)
        return [(word + near) / 2 * one.weight for word, near, one in pairs]

    def search(scores: Scores) -> Search:
        return lambda question: _printed(known, scores(question))

    return {"BM25": search(words), "BM25 + MiniLM": search(both)}


def _title(line: str, below: str) -> str:
    """The heading that a line is; empty when it is none."""
    if named := _HEADING.match(line):
        return named[1].strip("# ")
    is_underlined = line[:1].strip() and not _UNDERLINE.match(line) and _UNDERLINE.match(below)
    return line.strip() if is_underlined and len(below.rstrip()) >= len(line.rstrip()) else ""


def _parts(block: str) -> Iterator[str]:
    while len(block) > SIZE:
        end = block.rfind("\n", SIZE // 4, SIZE)
        end = end if end > 0 else SIZE
        yield block[:end]
        block = block[end:].lstrip("\n")
    if block.strip():
        yield block


def _printed(known: Sequence[Plain], scores: Sequence[float]) -> list[str]:
    """The best passages, as many as there is room for."""
    found, room = [], ROOM
    for n in sorted(range(len(known)), key=lambda n: (-scores[n], n)):
        room -= len(known[n].text) + FRAME
        if room < 0:
            break
        found.append(known[n].text)
    return found


def _cosines(texts: Sequence[str], kept: str) -> Scores:
    import numpy as np

    embedder = OnnxEmbedder()
    digest = hashlib.sha256("\0".join([embedder.model, *texts]).encode()).hexdigest()
    path = os.path.join(kept, f"plain-{digest[:16]}.npy")
    if not os.path.exists(path):
        np.save(path, unit_vectors(embedder, texts))
    known = np.load(path)

    def cosines(question: str) -> list[float]:
        return list((known @ unit_vectors(embedder, [question])[0]).tolist())

    return cosines


def _stretched(scores: Sequence[float]) -> list[float]:
    """The scores from 0 for the worst to 1 for the best."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low or 1.0) for score in scores]
