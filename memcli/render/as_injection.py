"""A bundle for an agent that did not ask for it: dated facts with ids under plain headings, fenced and marked as data."""

from __future__ import annotations

from collections.abc import Iterator

from memcli.digests import nonce_of
from memcli.model.recall import Bundle, Query, Section
from memcli.render.as_prompt import entry
from memcli.render.clean import clean_line, inert
from memcli.safety.recalled import HEADER

_LEADS = {"constraint": "Constraints", "negative": "Known mistakes", "procedure": "Procedures"}


def render(bundle: Bundle) -> str:
    """The memories of the bundle; empty if there are none."""
    if not bundle.sections:
        return ""
    body = "\n\n".join([*_items(bundle), f"Cited as [{inert(clean_line(bundle.sections[0].memory.id))}]."])
    nonce = nonce_of(body)
    return f'<memory-{nonce} space="{bundle.space}">\n{HEADER}\n\n{body}\n</memory-{nonce}>'


def _items(bundle: Bundle) -> Iterator[str]:
    before = ""
    for number, section in enumerate(in_order(bundle), 1):
        heading = _heading(section, bundle.query)
        if heading != before:
            yield f"{heading}:"
        before = heading
        yield entry(number, section, bundle)


def in_order(bundle: Bundle) -> list[Section]:
    """The memories as they are numbered: those under one heading together."""
    return sorted(bundle.sections, key=lambda section: _order(section, bundle))


def _order(section: Section, bundle: Bundle) -> int:
    """The place of the heading: that of the first section under it."""
    heading = _heading(section, bundle.query)
    return next(n for n, other in enumerate(bundle.sections) if _heading(other, bundle.query) == heading)


def _heading(section: Section, query: Query) -> str:
    if section.is_lead:
        return _LEADS.get(section.memory.kind, "Also recorded")
    if query.ids:
        return "Related to the previous prompt"
    if query.topic:
        return "Related to the prompt"
    if section.memory.pinned:
        return "Pinned"
    return f"Changed since {(query.changed_since or '')[:10]}"
