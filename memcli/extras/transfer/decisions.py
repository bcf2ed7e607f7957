"""Readers of Markdown files by other tools, as `extras/transfer/foreign.py` defines a reader.

Decisions: architecture decision records in the forms of Nygard and MADR; one memory for each file.
Instructions: CLAUDE.md, AGENTS.md and similar files for coding agents; one memory for each bullet and section.
Notes: files with front matter, as Obsidian and basic-memory write them; one memory for each file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memcli.clock import time_or_none
from memcli.git.repository import UnfitError, to_text, with_newlines
from memcli.ingest.labels import memory_path
from memcli.ingest.markdown import OutlinePart, front_texts, parts, split_front_matter, verbatim
from memcli.model.names import marked, short_digest, slug
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
    """The memory in the note `where`. Raises UnfitError for an empty note or one that is no text.

    `names` are those by which links in other notes refer to it; `links` lead to such names.
    """
    text = to_text(data)
    front, body = split_front_matter(text)
    title = _text(front, "title") or _text(front, "name")
    if title and not body.lstrip().startswith("#"):
        body = f"# {title}\n\n{body}"
    if not body.strip():
        raise UnfitError("empty")
    stem = _SUFFIX.sub("", where)
    metadata: dict[str, object] = {"source": where}
    if front is None:  # more than scalars and lists: it stays in the body as text, since guesses could be wrong
        metadata["front_matter"] = "not understood"
    elif front:
        metadata["front_matter"] = front
    links = [f"wiki:{match[1].strip().casefold()}" for match in _WIKI.finditer(body)]
    links += [f"file:{target}" for match in _LINK.finditer(body) if (target := file_target(match[1], where))]
    fields: dict[str, object] = {
        "path": memory_path(stem),
        "raw": body.strip("\n"),
        "metadata": metadata,
        "provenance": {"source": "imported", "files": [where]},
        "names": [f"file:{where}", *(f"wiki:{name}" for name in _names(stem, title, front or {}))],
        "links": [{"to": name, "relation": "relates_to"} for name in list(dict.fromkeys(links))[:_MAX_LINKS]],
    }
    front = front or {}
    tags = dict.fromkeys(tag for tag in map(slug, front_texts(front.get("tags", front.get("tag")))) if tag)
    if tags:
        fields["tags"] = list(tags)[:_MAX_TAGS]
    kind = _text(front, "kind") or _text(front, "type")
    if kind.lower() in KINDS:
        fields["kind"] = kind.lower()
    if created := created_at(front):
        fields["created_at"] = created
    yield fields


def created_at(front: Mapping[str, object]) -> str | None:
    """The time of creation in front matter, normalized; None if there is none."""
    return next(filter(None, (time_or_none(front.get(name)) for name in _CREATED)), None)


def file_target(link: str, where: str) -> str:
    """The file that a relative link in the file `where` leads to; empty if it leads out of the imported folder."""
    if _SCHEME.match(link) or link.startswith("/"):
        return ""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(where), link.replace("%20", " ")))
    return "" if target.startswith("..") else target


def _names(stem: str, title: str, front: Mapping[str, object]) -> list[str]:
    """The names by which `[[...]]` may refer to the note: each end of its path, its title, its aliases."""
    # Obsidian links by the shortest end of the path that is unique, so that any of them may be used.
    segments = stem.split("/")
    ends = ["/".join(segments[-n:]) for n in range(1, min(len(segments), _MAX_SEGMENTS) + 1)]
    aliases = front.get("aliases")
    aliases = [alias for alias in aliases if isinstance(alias, str)] if isinstance(aliases, list) else []
    # Obsidian ignores case in links.
    return list(dict.fromkeys(name.casefold() for name in [*ends, title, *aliases] if name))


def _text(front: Mapping[str, object] | None, name: str) -> str:
    """A string of the front matter, on one line; empty if it is missing or no string."""
    value = (front or {}).get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


_MAX_LINE = 400
_MAX_STATUS = 2_000
_NAME = re.compile(r"(?:adr[-_ ]?)?0*(\d{1,5})(?=[-_ .]|\Z)", re.IGNORECASE)
_NUMBER_OF_TITLE = re.compile(r"(?:ADR[-_ #]*)?0*(\d{1,5})\s*[.:)-]+\s+", re.IGNORECASE)
_LINE = re.compile(r"[*+-]?\s*[*_]*(status|date|deciders|decision-makers)[*_]*\s*:[*_]*\s*(.*\S)", re.IGNORECASE)
_CHANGE = re.compile(r"supersed(?:ed\s+by|es|ed)|replace(?:d\s+by|s)|obsoleted\s+by|obsoletes", re.IGNORECASE)
_FILE = re.compile(r"\(([^()\s]{1,300})\)|([\w./-]{1,200}\.md)\b")
_REFERENCE = re.compile(r"(?<![\w.])(?:ADR|#)?[-_ #]*0*(\d{1,5})\b(?![\w]*\.\w)", re.IGNORECASE)
_OUT_OF_FORCE = ("superseded", "deprecated", "rejected", "withdrawn", "abandoned", "obsolete", "replaced")
_SECTIONS = (("context", "decision"), ("status", "decision"), ("context and problem statement", "decision outcome"))
_INDEX = frozenset(["readme.md", "index.md", "template.md", "adr-template.md"])


def is_decision(data: bytes, where: str) -> bool:
    """Whether the file has the sections of a decision record, and is not the index or the template of a folder of records."""
    if posixpath.basename(where).lower() in _INDEX or not where.lower().endswith((".md", ".markdown")):
        return False
    # With the line ends that `read_decision` reads, or no heading of a file with CRLF would be found.
    text = with_newlines(data.decode("utf-8-sig", errors="replace"))
    titles = {part.headings[-1].lower() for part in parts(text) if part.headings}
    return any(titles.issuperset(wanted) for wanted in _SECTIONS)


def read_decision(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """The memory in the decision record `where`. Raises UnfitError for an empty file or one that is no text.

    A rejected or deprecated decision is inactive; a superseded one refers to its successor by name.
    """
    text = to_text(data)
    front, body = split_front_matter(text)
    if not body.strip():
        raise UnfitError("empty")
    outline = list(parts(body))
    title = next((part.headings[0] for part in outline if part.headings), "")
    match = _NAME.match(posixpath.basename(where)) or _NUMBER_OF_TITLE.match(title)
    number = match[1] if match else ""
    facts = _facts(outline, front or {})
    folder = posixpath.dirname(where)
    lines = facts.get("status", "").split("\n")
    # A section may list all statuses, the oldest first: the last one that ends the decision counts.
    status = next(filter(_is_out_of_force, reversed(lines)), lines[0]).strip(" *_")
    deciders = facts.get("decision-makers") or facts.get("deciders") or ""
    named = {"title": title, "number": number, "status": status[:200], "deciders": deciders[:400]}
    standing = _standing(facts.get("status", ""), where, number)
    # Also stored as names in the metadata: the other records may be imported only later (see `with_stored`).
    older = [link["to"] for link in standing["links"] if link["relation"] == "supersedes"]
    ties = {"supersedes": older, "superseded_by": standing.get("superseded_by")}
    fields: dict[str, object] = {
        "path": memory_path(re.sub(r"\.(md|markdown)\Z", "", where, flags=re.IGNORECASE)),
        "kind": "decision",
        "raw": body.strip("\n"),
        "tags": ["adr"],
        "provenance": {"source": "imported", "files": [where]},
        "names": [f"file:{where}", *([f"adr:{folder}/{number}"] if number else [])],
        **standing,
        "metadata": {"source": where, **{name: value for name, value in {**named, **ties}.items() if value}},
    }
    date = facts.get("date", "").partition("\n")[0].strip(" *_")
    if created := created_at(front or {}) or time_or_none(date):
        fields["created_at"] = created
    yield fields


def _facts(outline: list[OutlinePart], front: Mapping[str, object]) -> dict[str, str]:
    """Status, date and deciders by name: from front matter, else from lines such as `* Status: accepted` below the title or
    sections with these titles."""
    facts: dict[str, str] = {}
    for name, value in front.items():
        if name.lower() in ("status", "date", "deciders", "decision-makers") and value is not None:
            facts[name.lower()] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    for part in outline:
        if len(part.headings) <= 1:
            for line in part.lines:
                if match := _LINE.match(line[:_MAX_LINE].strip()):
                    facts.setdefault(match[1].lower(), match[2])
        if part.headings and (name := part.headings[-1].lower()) in ("status", "date"):
            facts.setdefault(name, "\n".join(line.strip() for line in part.lines if line.strip()))
    return facts


def _standing(status: str, where: str, number: str) -> dict[str, Any]:
    """The fields that a status gives: `active` if the decision is out of force, `superseded_by`, and `links` to the decisions
    that it supersedes."""
    fields: dict[str, Any] = {}
    links: list[dict[str, str]] = []
    folder = posixpath.dirname(where)
    for line in status[:_MAX_STATUS].split("\n"):
        # A reference belongs to the last verb before it, as in `Supersedes ADR 1, superseded by ADR 5`.
        words = list(_CHANGE.finditer(line))
        for word, end in zip(words, [*(later.start() for later in words[1:]), len(line)], strict=False):
            is_passive = word[0].lower().endswith(("by", "d"))
            text = line[word.end() : end]
            named = (match[1] or match[2] for match in _FILE.finditer(text))
            files = [link for link in named if link.lower().endswith(".md")]
            if files:  # else records are named by numbers
                names = [f"file:{target}" for link in files if (target := file_target(link, where))]
            else:
                names = [f"adr:{folder}/{found}" for found in _REFERENCE.findall(text) if found != number]
            for name in dict.fromkeys(names):
                if is_passive:
                    fields.setdefault("superseded_by", name)
                else:
                    links.append({"to": name, "relation": "supersedes"})
    if any(map(_is_out_of_force, status.split("\n"))) or "superseded_by" in fields:
        fields["active"] = False
    return {**fields, "links": links}


def _is_out_of_force(line: str) -> bool:
    """Whether a line of a status begins with a word such as `superseded`."""
    return line.strip(" *_~").lower().startswith(_OUT_OF_FORCE)


_FILES = frozenset([
    "claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md", ".cursorrules",
    ".windsurfrules", ".clinerules", ".goosehints", "conventions.md",
])  # fmt: skip
_BULLET = re.compile(r"( {0,3})[-*+][ \t]+(?=\S)")
# As in Markdown, a bullet that is indented by fewer columns than this belongs to the list above it.
_NESTED = 2
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_MAX_SLUG = 48


def is_instructions(where: str) -> bool:
    """Whether a coding agent reads its instructions from a file of this name."""
    name = posixpath.basename(where).lower()
    return name in _FILES or name.endswith((".mdc", ".instructions.md"))


def read_instructions(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """The memories in the instructions `where`. Raises UnfitError for a file without text."""
    front, body = split_front_matter(to_text(data))
    name = posixpath.basename(where).lstrip(".").lower()
    stem = re.sub(r"(\.instructions)?\.mdc?\Z", "", name) or "instructions"
    base = posixpath.join(posixpath.dirname(where), stem)
    seen: dict[str, str] = {}
    for part in parts(body):
        headings = [heading for heading in part.headings if heading]
        for text, is_item in _texts(part):
            leaf = [slug(text.partition("\n")[0], _MAX_SLUG) or short_digest(text)] if is_item else []
            folders = [slug(heading, _MAX_SLUG) or short_digest(heading) for heading in headings]
            path = memory_path("/".join([base, *folders, *leaf]))
            if seen.get(path, text) != text:  # two bullets may begin with the same words
                path = marked(path, short_digest(text))
            if path in seen:
                continue  # the same text twice below one heading
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
    """The texts of a section, each with whether it is a bullet: first all text outside of bullets, as one, then each top-level
    bullet with the lines that are indented below it."""
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
    if text := _joined(rest):
        yield text, False
    for first, *others in items:
        margins = [len(line) - len(line.lstrip()) for line in others if line.strip()]
        yield _joined([first, *(line[min(margins) :] for line in others if margins)]), True


def _lead(rest: list[str]) -> str:
    """Removes a paragraph of one line such as `Never do this:` from the end of `rest` and returns it with a space, or empty."""
    # A bullet of such a list means the opposite without this line, so the caller puts it before each of them.
    at = next((n for n in range(len(rest) - 1, -1, -1) if rest[n].strip()), -1)
    is_paragraph = at >= 0 and (at == 0 or not rest[at - 1].strip())
    if not is_paragraph or not rest[at].rstrip(" *_").endswith(":"):
        return ""
    lead = rest[at].strip().strip("*_")
    del rest[at:]
    return f"{lead} "


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n")
