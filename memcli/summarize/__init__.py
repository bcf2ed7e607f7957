"""Text to the fields that describe it: kind, path, tags and summaries. To add a summarizer: one file here and one line in SUMMARIZERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.settings import DEFAULT_SUMMARIZER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Summarizer


def _local() -> Summarizer:
    from memcli.summarize.summarizers import ExtractiveSummarizer

    return ExtractiveSummarizer()


def _off() -> Summarizer:
    from memcli.summarize.summarizers import PlainSummarizer

    return PlainSummarizer()


LLM = "llm"
"""The layer that asks a language model; fields that it does not fill come from the local one."""
SUMMARIZERS: Mapping[str, Callable[[], Summarizer]] = {LLM: _local, DEFAULT_SUMMARIZER: _local, "off": _off}
