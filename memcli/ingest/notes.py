"""Notes: Markdown files with front matter, as Obsidian, basic-memory and their like keep them; one memory each."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from memcli.clock import normalize_time
from memcli.errors import UsageError
from memcli.git.repository import UnfitError, to_text
from memcli.ingest import frontmatter
from memcli.ingest.labels import memory_path
from memcli.model.names import slug
from memcli.model.shapes import KINDS

_WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_LINK = re.compile(r"\]\(([^()\s]{1,300}\.(?:md|markdown))(?:#[^()\s]{0,200})?\)", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(md|mdx|mdc)\Z", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CREATED = ("created_at", "created", "date")
_MAX_LINKS = 64
_MAX_TAGS = 16
_MAX_SEGMENTS = 8


def read_note(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """The memory in the file `where`. Raises UnfitError.

    `names` are what links of other notes may call it; `links` lead to such names.
    """
    text = to_text(data)
    front, body = frontmatter.split(text)
    title = _text(front, "title") or _text(front, "name")
    if title and not body.lstrip().startswith("#"):
        body = f"# {title}\n\n{body}"
    if not body.strip():
        raise UnfitError("empty")
    stem = _SUFFIX.sub("", where)
    metadata: dict[str, object] = {"source": where}
    if front is None:
        metadata["front_matter"] = "not understood"
    elif front:
        metadata["front_matter"] = front
    fields: dict[str, object] = {
        "path": memory_path(stem),
        "raw": body.strip("\n"),
        "metadata": metadata,
        "provenance": {"source": "imported", "files": [where]},
        "names": [f"file:{where}", *(f"wiki:{name}" for name in _names(stem, title, front or {}))],
        "links": _links(body, where),
    }
    fields |= _given(front or {})
    yield fields


def created_at(front: Mapping[str, object]) -> str | None:
    """The time that front matter tells, or None."""
    for name in _CREATED:
        value = front.get(name)
        if isinstance(value, str):
            try:
                return normalize_time(value)
            except UsageError:
                continue
    return None


def file_target(link: str, where: str) -> str:
    """The file that a relative link in the file `where` leads to; empty when it leads out of what is imported."""
    if _SCHEME.match(link) or link.startswith("/"):
        return ""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(where), link.replace("%20", " ")))
    return "" if target.startswith("..") else target


def _names(stem: str, title: str, front: Mapping[str, object]) -> list[str]:
    """What `[[...]]` may call the note: as much of its path as is needed, its title, its aliases."""
    segments = stem.split("/")
    ends = ["/".join(segments[-n:]) for n in range(1, min(len(segments), _MAX_SEGMENTS) + 1)]
    aliases = front.get("aliases")
    aliases = [alias for alias in aliases if isinstance(alias, str)] if isinstance(aliases, list) else []
    return list(dict.fromkeys(name.casefold() for name in [*ends, title, *aliases] if name))


def _given(front: Mapping[str, object]) -> dict[str, object]:
    given: dict[str, object] = {}
    tags = dict.fromkeys(tag for tag in map(slug, frontmatter.texts(front.get("tags", front.get("tag")))) if tag)
    if tags:
        given["tags"] = list(tags)[:_MAX_TAGS]
    kind = _text(front, "kind") or _text(front, "type")
    if kind.lower() in KINDS:
        given["kind"] = kind.lower()
    if created := created_at(front):
        given["created_at"] = created
    return given


def _links(body: str, where: str) -> list[dict[str, str]]:
    names = [f"wiki:{match[1].strip().casefold()}" for match in _WIKI.finditer(body)]
    names += [f"file:{target}" for match in _LINK.finditer(body) if (target := file_target(match[1], where))]
    return [{"to": name, "relation": "relates_to"} for name in list(dict.fromkeys(names))[:_MAX_LINKS]]


def _text(front: Mapping[str, object] | None, name: str) -> str:
    value = (front or {}).get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""
