"""Where a memory is put."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.errors import UsageError
from memcli.model.analysis import words
from memcli.model.names import check_path, safe_path, slug
from memcli.summarize import claims, origins
from memcli.summarize.keyphrases import FROM_HINT, STRIDE, Phrase
from memcli.summarize.lexicon import FUNCTION_WORDS
from memcli.summarize.origins import FOLDERS
from memcli.summarize.subject import Subject

MAX_LEAF = 48
_LEAF_PHRASES = 3
_UNTITLED = "untitled"
_FROM_FILE = frozenset(["guide", "config", "log", "code", "diff"])
_HEAD = 160
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_VERSION = re.compile(r"\bv?\d+\.\d+\.\d+(?:[-.]?(?:rc|beta|alpha)\.?\d*)?\b")
_UNTELLING_TITLES = frozenset([
    "about", "background", "contents", "context", "description", "documentation", "introduction", "note", "notes",
    "overview", "readme", "steps", "summary", "table-of-contents", "tl-dr", "todo", "untitled", "usage",
])  # fmt: skip
_ARTICLES = re.compile(r"-(?:the|a|an)(?=-)")
_TITLE_NOISE = re.compile(
    r"^(?:(?:runbook|how ?to|guide|decision|goal|notes?|procedure|title|summary|rfc|proposal)\s*[:—–-]\s*|how to\s+)",
    re.IGNORECASE,
)


def path_of(subject: Subject, kind: str, title: str, phrases: Sequence[Phrase]) -> str:
    """A valid path: the one hinted at, or the file's, or kind and topic. It need not be free."""
    if subject.hint and not subject.hint.endswith("/"):
        return valid(subject.hint)
    name = leaf(subject, title, phrases, is_dated=kind == "log")
    if kind == "log" and not title:
        name = _dated(subject.text, name)
    if subject.hint:
        return valid(f"{subject.hint}{name}")
    where = f"{safe_path(subject.project)}/" if subject.project.strip() else ""
    if subject.source and (kind in _FROM_FILE or origins.kind_of(subject.source) == kind):
        return valid(where + _file_path(subject.source, kind))
    return valid(f"{where}{folder(kind)}/{name}")


def folder(kind: str) -> str:
    """Where memories of a kind are put."""
    return FOLDERS.get(kind) or slug(kind) or "notes"


def leaf(subject: Subject, title: str, phrases: Sequence[Phrase], *, is_dated: bool = False) -> str:
    """The last part of a path: the title, or the best phrases of the first sentence in order, or the first words."""
    name = short_slug(_TITLE_NOISE.sub("", title)) if title else ""
    if name and name not in _UNTELLING_TITLES:
        return name
    phrases = [phrase for phrase in phrases if phrase.position < FROM_HINT]
    first = [phrase for phrase in phrases if phrase.position < STRIDE]
    is_enough = len(first) > 1 or (first and "-" in first[0].tag)
    best = sorted((first if is_enough else phrases)[:_LEAF_PHRASES], key=lambda phrase: phrase.position)
    tags = [phrase.tag for phrase in best]
    if first and not is_dated:
        tags = claims.with_essentials(subject.text, tags)
    name = ""
    for tag in tags:
        name = _longer(name, tag)
    return claims.without_loose_end(name) or first_words(subject.text)


def _longer(name: str, tag: str) -> str:
    """`name` with as much of `tag` as fits."""
    if not name:
        return short_slug(tag)
    for part in (tag, tag.partition("-")[0]):
        if len(name) + 1 + len(part) <= MAX_LEAF:
            return f"{name}-{part}"
    return name


def _dated(text: str, name: str) -> str:
    """The name of a log entry, after its date and version when it begins with one."""
    head = text[:_HEAD]
    found = [match[0] for pattern in (_DATE, _VERSION) if (match := pattern.search(head))]
    return short_slug(" ".join([*found, name])) if found else name


def first_words(text: str) -> str:
    """A slug of the first words of `text`, without function words if there are others."""
    head = text[:200]
    telling = [word for word in words(head) if word.lower() not in FUNCTION_WORDS]
    return short_slug(" ".join(telling[:6])) or short_slug(head) or _UNTITLED


def short_slug(text: str) -> str:
    """A slug of `text`, cut at a word where it is too long."""
    full = _ARTICLES.sub("", slug(text[:400], 200))
    if len(full) <= MAX_LEAF:
        return full
    cut = full[:MAX_LEAF]
    end = cut.rfind("-")
    return (cut[:end] if full[MAX_LEAF] != "-" and end > MAX_LEAF // 3 else cut).rstrip("-")


def valid(text: str) -> str:
    """The nearest path to `text` that passes `check_path`."""
    for mend in (str.strip, safe_path, _plain):
        try:
            return check_path(mend(text))
        except UsageError:
            continue
    return _UNTITLED


def _plain(text: str) -> str:
    """What is left after `safe_path` cut a very long name may be dots or the name of a device; this never is."""
    return "/".join([f"{slug(part, 60)}_" for part in text.split("/")][-3:])


def _file_path(source: str, kind: str) -> str:
    """The file's own path without its suffix, under `docs` or the folder of its kind."""
    path, dot, suffix = source.rpartition(".")
    stem = path if dot and path and not path.endswith("/") and "/" not in suffix else source
    folders, slash, name = stem.rpartition("/")
    stem = f"{folders}{slash}{name.lstrip('.') or name}"
    home = "docs" if kind == "guide" else folder(kind)
    first = stem.split("/")[0]
    return stem if first in ("docs", "doc", home) and "/" in stem else f"{home}/{stem}"
