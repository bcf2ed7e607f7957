"""`prompt`: a bundle for a language model: numbered, citable, fenced, and marked as data."""

from __future__ import annotations

from collections.abc import Iterator

from memcli.codec.canonical import encode_line
from memcli.digests import nonce_of
from memcli.model.recall import Bundle, Section
from memcli.render import sentences
from memcli.render.clean import clean, clean_line, cut, inert
from memcli.render.section import score_text, section_text
from memcli.safety.recalled import HEADER
from memcli.settings import REPO

_INDENT = "   "
_TOPIC_WIDTH = 200
_LEADS = {"constraint": "Keep to", "negative": "Do not", "procedure": "How to"}
_FROM_CLONE = (
    "They came with a clone that has not been accepted here: see `memcli trust --status`; `memcli trust` accepts it."
)


def render(bundle: Bundle) -> str:
    """The bundle as a prompt. Every line of recalled text is indented, so that none can imitate the fence."""
    body = _body(bundle)
    nonce = nonce_of(body)
    lines = [f'<memory-{nonce} space="{bundle.space}"{_topic(bundle)}>']
    if bundle.sections or bundle.always:
        lines += [HEADER, *([_FROM_CLONE] if bundle.is_from_clone else []), ""]
    return "\n".join([*lines, body, f"</memory-{nonce}>", ""])


def _topic(bundle: Bundle) -> str:
    """The topic as an attribute of the fence; omitted under a budget, which is for memories."""
    if bundle.query.budget is not None:
        return ""
    quoted = cut(_line(bundle.topic).replace('"', "'"), _TOPIC_WIDTH)
    return f' topic="{quoted}"'


def _body(bundle: Bundle) -> str:
    evidence = f"\nEvidence: {sentences.evidence(bundle)}." if bundle.query.explain and bundle.evidence else ""
    items = "\n\n".join(_items(bundle))
    if not bundle.sections:
        summary = " ".join([_line(sentences.global_summary(bundle)), *_notes(bundle)])
        return "\n\n".join(part for part in (summary, items) if part) + evidence
    return f"{items}\n\n{_closing(bundle)}{evidence}"


def _items(bundle: Bundle) -> Iterator[str]:
    """The memories: leading ones under their own headings, then matches, then pins."""
    before = ""
    for number, section in enumerate((*bundle.sections, *bundle.always), 1):
        heading = _heading(section, number > len(bundle.sections), before)
        if heading != before:
            yield f"{heading}:"
        before = heading
        yield entry(number, section, bundle)


def _heading(section: Section, is_pin: bool, before: str) -> str:
    if is_pin:
        return "Always"
    if section.is_lead:
        return _LEADS.get(section.memory.kind, "About the changed code")
    return "Also relevant" if before else ""


def entry(n: int, section: Section, bundle: Bundle) -> str:
    """One memory of the bundle as it is printed, with its number."""
    memory = section.memory
    # A budget is for the memories: that an entry was read from the repository is seen by its path.
    is_plain = bundle.query.budget is not None and section.space == REPO
    lines = [f"{n}. {label(section, section.space if is_plain else bundle.space)}"]
    lines += [
        _INDENT + line for line in inert(clean(section_text(section, bundle.query.include_raw))).strip().splitlines()
    ]
    if bundle.query.include_metadata:
        lines.append(f"{_INDENT}metadata: {inert(clean_line(encode_line(dict(memory.metadata)).decode()))}")
    if bundle.query.explain:
        lines.append(f"{_INDENT}{score_text(section)}")
    return "\n".join(lines)


def label(section: Section, space: str) -> str:
    """The line above the text of a memory: its id, and what matters of it; the space where it is not that of the bundle."""
    memory = section.memory
    marks = [
        memory.created_at[:10],
        _line(memory.kind),
        _line(memory.path),
        *([_line(section.space)] if section.space != space else []),
        *(["pinned"] if memory.pinned else []),
        *map(_line, section.cautions),
    ]
    return f"[{_line(memory.id)}] {' · '.join(marks)}"


def _closing(bundle: Bundle) -> str:
    cite = f"Cite as [{_line(bundle.sections[0].memory.id)}]."
    return " ".join([f"{_shown(bundle)}.", *_notes(bundle), cite])


def _shown(bundle: Bundle) -> str:
    shown, more = len(bundle.sections), bundle.withheld
    if bundle.query.budget is not None:
        return f"{shown} of {shown + more} shown"
    return f"{shown} shown; {more} more {'matches' if more == 1 else 'match'}" if more else f"{shown} shown"


def _notes(bundle: Bundle) -> Iterator[str]:
    """Notes on the result as a whole."""
    if told := sentences.period(bundle):
        yield _line(told)
    if bundle.withheld_pins and bundle.query.budget is None:
        yield f"{bundle.withheld_pins} more pinned."
    if held := sentences.untrusted(bundle):
        yield f"{held[0].upper()}{held[1:]}."
    if sentences.degraded(bundle):
        yield sentences.degraded(bundle)
    if told := sentences.verified(bundle):
        yield _line(told)


def _line(text: str) -> str:
    """Stored text as one line of the frame."""
    return inert(clean_line(text))
