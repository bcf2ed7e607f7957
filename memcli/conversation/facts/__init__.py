"""Facts that are stated in a conversation. To add an extractor: one file here and one line in EXTRACTORS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.conversation.facts.statements import KINDS, Fact
from memcli.model.conversation import Message

Extract = Callable[[Sequence[Message]], list[Fact]]


def _local() -> Extract:
    from memcli.conversation.facts.local import extract

    return extract


EXTRACTORS: Mapping[str, Callable[[], Extract]] = {"local": _local}
DEFAULT_EXTRACTOR = "local"

__all__ = ["DEFAULT_EXTRACTOR", "EXTRACTORS", "KINDS", "Extract", "Fact", "extract"]


def extract(messages: Sequence[Message], extractor: str = DEFAULT_EXTRACTOR) -> list[Fact]:
    """The facts that are stated in `messages` and still hold at their end, in order."""
    return EXTRACTORS[extractor]()(messages)
