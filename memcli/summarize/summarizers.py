"""The semantic layers: `local` derives the fields of a text from its own words, offline and deterministically; `off` fills only
what a memory must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from memcli.summarize import keyphrases, kinds, paths, sentences, summaries
from memcli.summarize.kinds import DEFAULT_KIND, Subject, missing
from memcli.summarize.sentences import MAX_SENTENCES, Sentence
from memcli.text import passages
from memcli.text.passages import ITEM

_CHUNKED = int(passages.CHUNK_CHARACTERS * 1.25)
"""The most characters of a text without chunks: it still fits the window of an embedder well enough."""


def describe_extractively(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that the caller left out: extractive summaries, keyphrases as tags, kind, path. Never raises."""
    wanted = missing(fields)
    subject = Subject.of(fields)
    found = _describe(subject, fields.get("kind"), wanted) if wanted else {}
    if fields.get("chunks") is None and len(subject.raw) > _CHUNKED and fields.get("raw") == subject.raw:
        parts = passages.split(subject.raw)
        found["chunks"] = [{"chunk_id": f"#{n}", "text": text} for n, text in enumerate(parts)]
    return found


def _describe(subject: Subject, given: object, wanted: Sequence[str]) -> dict[str, object]:
    @cache  # lazy, as a diff and most code are described without their sentences
    def parts() -> Sequence[Sentence]:
        if not subject.is_rendered:
            return sentences.split(subject.text)
        shown = subject.text.split("\n", MAX_SENTENCES)[:MAX_SENTENCES]
        return [Sentence(line, ITEM) for line in shown if line.strip()]

    kind = given if isinstance(given, str) and given else kinds.kind_of(subject, parts())
    found: dict[str, object] = {"kind": kind, "relevance": kinds.relevance_of(subject.text, kind)}
    account = kinds.of(subject, kind, parts)
    found["summary_micro"], found["summary_short"], found["summary_long"] = account.summaries
    if "tags" in wanted or "path" in wanted:
        places = [place for place in (subject.hint, subject.source, *account.files) if place]
        phrases = keyphrases.extract(account.topics, dict.fromkeys(places), account.names)
        found["tags"] = tuple(tag for tag, _ in phrases)
        if kind == "diff" and len(account.files) == 1 and not (subject.source or account.title):
            subject = subject._replace(source=account.files[0])
        found["path"] = paths.path_of(subject, kind, account.title, phrases)
    return {name: found[name] for name in wanted}


def describe_plainly(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that the caller left out: kind `fact`, a path from the first words, summaries clipped from the head of the text.
    Never raises."""
    subject = Subject.of(fields)
    kind = fields.get("kind") or DEFAULT_KIND
    micro, short, long = summaries.same(summaries.collapse(subject.text))
    found: dict[str, object] = {
        "kind": kind,
        "path": paths.path_of(subject, str(kind), paths.first_words(subject.text), ()),
        "tags": (),
        "summary_micro": micro,
        "summary_short": short,
        "summary_long": long,
        "relevance": "medium",
    }
    return {name: found[name] for name in missing(fields)}
