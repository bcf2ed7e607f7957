"""Text to the fields that describe it. To add a summarizer: one file here and one line in SUMMARIZERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.ports import Summarizer


def _local() -> Summarizer:
    from memcli.summarize.summarizers import ExtractiveSummarizer

    return ExtractiveSummarizer()


def _off() -> Summarizer:
    from memcli.summarize.summarizers import PlainSummarizer

    return PlainSummarizer()


LLM = "llm"
"""The layer by a language model: what it is not asked for is local."""
SUMMARIZERS: Mapping[str, Callable[[], Summarizer]] = {LLM: _local, "local": _local, "off": _off}
DEFAULT_SUMMARIZER = "local"
