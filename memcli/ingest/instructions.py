"""Instructions: what agents are told in CLAUDE.md, AGENTS.md and their like; one memory for each bullet and section."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from memcli.git.reading import UnfitError, to_text
from memcli.ingest import frontmatter
from memcli.ingest.labels import memory_path
from memcli.ingest.markdown import verbatim
from memcli.ingest.outline import OutlinePart, parts
from memcli.model.names import marked, short_digest, slug

_FILES = frozenset([
    "claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md", ".cursorrules",
    ".windsurfrules", ".clinerules", ".goosehints", "conventions.md",
])  # fmt: skip
_BULLET = re.compile(r"( {0,3})[-*+][ \t]+(?=\S)")
_NESTED = 2
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_MAX_SLUG = 48


def is_instructions(where: str) -> bool:
    """Whether the file is one that agents read their instructions from."""
    name = posixpath.basename(where).lower()
    return name in _FILES or name.endswith((".mdc", ".instructions.md"))


def read_instructions(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """The memories in the file `where`. Raises UnfitError."""
    front, body = frontmatter.split(to_text(data))
    base = posixpath.join(posixpath.dirname(where), _stem(where))
    seen: dict[str, str] = {}
    for part in parts(body):
        headings = [heading for heading in part.headings if heading]
        for text, is_item in _texts(part):
            leaf = [slug(text.partition("\n")[0], _MAX_SLUG) or short_digest(text)] if is_item else []
            place = [slug(heading, _MAX_SLUG) or short_digest(heading) for heading in headings]
            path = memory_path("/".join([base, *place, *leaf]))
            if seen.get(path, text) != text:
                path = marked(path, short_digest(text))
            if path in seen:
                continue  # the same, said twice under one heading
            seen[path] = text
            metadata: dict[str, object] = {"source": where}
            if headings:
                metadata["heading"] = " > ".join(headings)
            if front:
                metadata["front_matter"] = front
            yield {
                "path": path,
                "raw": text,
                "metadata": metadata,
                "provenance": {"source": "imported", "files": [where]},
            }
    if not seen:
        raise UnfitError("empty")


def _texts(part: OutlinePart) -> Iterator[tuple[str, bool]]:
    """The bullets of a section, each with what is indented below it, and all the rest of it as one text first."""
    rest: list[str] = []
    items: list[list[str]] = []
    item: list[str] | None = None
    lead = ""
    margin = 0
    for line, is_verbatim in verbatim(part.lines):
        bullet = None if is_verbatim else _BULLET.match(line)
        if bullet and (item is None or len(bullet[1]) < margin + _NESTED):
            if item is None:
                lead, margin = _lead(rest), len(bullet[1])
            item = [lead + _TASK.sub("", line[bullet.end() :], count=1)]
            items.append(item)
        elif item is not None and (not line.strip() or line.startswith((" ", "\t"))):
            item.append(line)
        else:
            item = None
            rest.append(line)
    text = _joined(rest)
    if text:
        yield text, False
    for lines in items:
        yield _joined([lines[0], *_dedented(lines[1:])]), True


def _lead(rest: list[str]) -> str:
    """The line `Never do this:` before a list, taken away from the rest: it belongs to each item of it."""
    at = next((n for n in range(len(rest) - 1, -1, -1) if rest[n].strip()), -1)
    is_paragraph = at >= 0 and (at == 0 or not rest[at - 1].strip())
    if not is_paragraph or not rest[at].rstrip(" *_").endswith(":"):
        return ""
    lead = rest[at].strip().strip("*_")
    del rest[at:]
    return f"{lead} "


def _dedented(lines: Sequence[str]) -> list[str]:
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return [line[min(margins) :] for line in lines] if margins else []


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _stem(where: str) -> str:
    name = posixpath.basename(where).lstrip(".").lower()
    return re.sub(r"(\.instructions)?\.mdc?\Z", "", name) or "instructions"
