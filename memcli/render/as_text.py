"""`text`: a bundle to be read on a terminal: each entry with its heading and its passage at full width."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator

from memcli.model.recall import Bundle, Section
from memcli.render import sentences
from memcli.render.clean import clean, clean_line
from memcli.render.section import score_text, section_text

_INDENT = "  "
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_LEAST_WIDTH = 20


def render(bundle: Bundle) -> str:
    """The entries in order, best first; in colour where standard output is a terminal that wants it."""
    blocks = [*_entries(bundle), *_closing(bundle)]
    return "\n\n".join(blocks) + "\n"


def _entries(bundle: Bundle) -> Iterator[str]:
    if not bundle.sections:
        yield clean_line(sentences.global_summary(bundle))
    for number, section in enumerate(bundle.sections, 1):
        yield _entry(number, section, bundle)
    if bundle.always:
        yield _styled("Always", _BOLD)
    for number, section in enumerate(bundle.always, len(bundle.sections) + 1):
        yield _entry(number, section, bundle)


def _entry(number: int, section: Section, bundle: Bundle) -> str:
    memory = section.memory
    facts = [
        memory.kind,
        memory.created_at[:10],
        memory.id,
        *([section.space] if section.space != bundle.space else []),
        *(["pinned"] if memory.pinned else []),
        *([f"matched by {section.matched_by}"] if section.is_lead else []),
        *section.cautions,
    ]
    head = f"{_styled(f'{number}. {clean_line(memory.path)}', _BOLD)}  {_styled(clean_line(' · '.join(facts)), _DIM)}"
    text = clean(section_text(section, bundle.query.include_raw)).strip("\n")
    lines = [head, *(wrapped for line in text.splitlines() for wrapped in _wrapped(line))]
    if bundle.query.explain:
        lines.append(_styled(f"{_INDENT}{score_text(section)}", _DIM))
    return "\n".join(lines)


def _wrapped(line: str) -> list[str]:
    """A line at the width of the terminal; prose goes on below its beginning, nothing is cut off."""
    if not sys.stdout.isatty():
        return [f"{_INDENT}{line}".rstrip()]
    width = max(_LEAST_WIDTH, shutil.get_terminal_size((100, 24)).columns)
    below = _INDENT + " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line, width, initial_indent=_INDENT, subsequent_indent=below, drop_whitespace=False, replace_whitespace=False,
        break_on_hyphens=False,
    ) or [""]  # fmt: skip


def _closing(bundle: Bundle) -> Iterator[str]:
    notes = [clean_line(sentences.period(bundle))] if bundle.query.period else []
    if bundle.withheld and bundle.sections:
        notes.append(f"{bundle.withheld} more {'matches' if bundle.withheld == 1 else 'match'} (use --limit)")
    if bundle.withheld_pins:
        notes.append(f"{bundle.withheld_pins} more pinned")
    if sentences.untrusted(bundle):
        notes.append(f"{sentences.untrusted(bundle)} (use --include-untrusted)")
    if sentences.degraded(bundle):
        notes.append(sentences.degraded(bundle))
    if bundle.verdict:
        notes.append(clean_line(sentences.verified(bundle)))
    if bundle.is_from_clone and (bundle.sections or bundle.always):
        notes.append("From a clone that has not been accepted; see `memcli trust --status`")
    if bundle.query.explain and bundle.evidence:
        notes.append(f"Evidence: {sentences.evidence(bundle)}")
    if notes:
        yield "\n".join(_styled(note, _DIM) for note in notes)


def _styled(text: str, style: str) -> str:
    is_wanted = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"{style}{text}{_PLAIN}" if is_wanted else text
