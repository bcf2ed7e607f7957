"""The least that a memory needs, with no guessing: what `--semantic off` gives."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.summarize import paths, summaries
from memcli.summarize.kinds import DEFAULT_KIND
from memcli.summarize.subject import Subject, missing


class PlainSummarizer:
    """Kind `fact`, a path from the first words, summaries cut from the head of the text."""

    def describe(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields to add. Never raises."""
        subject = Subject.of(fields)
        kind = fields.get("kind") or DEFAULT_KIND
        cut = summaries.same(summaries.collapse(subject.text))
        found: dict[str, object] = {
            "kind": kind,
            "path": paths.path_of(subject, str(kind), paths.first_words(subject.text), ()),
            "tags": (),
            "summary_micro": cut.micro,
            "summary_short": cut.short,
            "summary_long": cut.long,
            "relevance": "medium",
        }
        return {name: found[name] for name in missing(fields)}
