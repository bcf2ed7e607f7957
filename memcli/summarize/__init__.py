"""Derives the fields that describe a text: kind, path, tags and summaries. To add a summarizer, add a module here and a line in
`SUMMARIZERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.settings import DEFAULT_SUMMARIZER

Describe = Callable[[Mapping[str, object]], dict[str, object]]
"""Returns the fields that a caller left out: path, kind, tags, summaries, relevance, chunks. May raise ProviderError."""


def _extractive(fields: Mapping[str, object]) -> dict[str, object]:
    from memcli.summarize.summarizers import describe_extractively

    return describe_extractively(fields)


def _plain(fields: Mapping[str, object]) -> dict[str, object]:
    from memcli.summarize.summarizers import describe_plainly

    return describe_plainly(fields)


LLM = "llm"
"""The layer that queries a language model; the local layer fills the fields that it leaves out."""
SUMMARIZERS: Mapping[str, Describe] = {LLM: _extractive, DEFAULT_SUMMARIZER: _extractive, "off": _plain}
