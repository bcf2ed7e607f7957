"""How fully a memory may appear in a bundle: the levels that it has a text for, and which of them is preferred."""

from __future__ import annotations

from memcli.model.recall import LEVELS, RAW, Section

SHORT_TEXT = 900
"""A text of at most this many characters is shown whole rather than summarized, where a budget has room for it."""


def forms(section: Section, include_raw: bool = False) -> tuple[list[str], list[str]]:
    """The levels at which the memory may appear, from the least on: up to the one to be preferred, and beyond it."""
    memory = section.memory
    known = [level for level, text in texts_of(section).items() if text] or [RAW]
    best = known[-1]
    is_short = 0 < len(memory.raw) <= SHORT_TEXT
    if not (include_raw or is_short) and best == RAW and len(known) > 1:
        best = known[-2]
    at = known.index(best) + 1
    return known[:at], known[at:]


def texts_of(section: Section) -> dict[str, str]:
    """The text of each level; empty where the memory has none."""
    memory = section.memory
    texts = (
        section.sentence, memory.summary_micro, memory.summary_short, memory.summary_long, section.passage, memory.raw,
    )  # fmt: skip
    return dict(zip(LEVELS, texts, strict=True))
