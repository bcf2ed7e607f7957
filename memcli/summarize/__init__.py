"""Text to the fields that describe it: kind, path, tags and summaries. To add a summarizer: one file here and one line in SUMMARIZERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.settings import DEFAULT_SUMMARIZER

Describe = Callable[[Mapping[str, object]], dict[str, object]]
"""The fields to add to those of a caller: path, kind, tags, the summaries, relevance, chunks. May raise ProviderError."""


def _extractive(fields: Mapping[str, object]) -> dict[str, object]:
    from memcli.summarize.summarizers import describe_extractively

    return describe_extractively(fields)


def _plain(fields: Mapping[str, object]) -> dict[str, object]:
    from memcli.summarize.summarizers import describe_plainly

    return describe_plainly(fields)


LLM = "llm"
"""The layer that asks a language model; fields that it does not fill come from the local one."""
SUMMARIZERS: Mapping[str, Describe] = {LLM: _extractive, DEFAULT_SUMMARIZER: _extractive, "off": _plain}
