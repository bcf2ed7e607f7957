"""`prompt`: a bundle for a language model: numbered, citable, fenced, and marked as data.

Also what the formats of a bundle share: the notes on the whole bundle, and the text of a memory at the level of its section.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.codec.canonical import encode_line
from memcli.digests import nonce_of
from memcli.model.memory import json_texts
from memcli.model.names import counted
from memcli.model.recall import (
    ALL_FILTERED,
    ALL_REJECTED,
    BUDGET_TOO_SMALL,
    EMPTY_DIFF,
    LEVELS,
    PASSAGE,
    PASSAGES,
    SENTENCE,
    Bundle,
    Section,
)  # fmt: skip
from memcli.policy.answer import forms, texts_of, within
from memcli.render.clean import clean, clean_line, cut, inert
from memcli.safety.recalled import HEADER
from memcli.settings import REPO

WEAK = "Weak evidence"
"""The heading above the sections of a bundle whose confidence is low."""
_SHOWN_TOPIC = 200
_WHY = {ALL_FILTERED: "the filters leave out all of ", ALL_REJECTED: "a language model rejected what was found; "}
"""Why nothing is shown, before the number of memories, where it is not that none is relevant enough."""


def global_summary(bundle: Bundle) -> str:
    """A summary of the bundle on one line; shorter under a budget."""
    if bundle.reason == EMPTY_DIFF:
        return "The diff is empty."
    if bundle.reason == BUDGET_TOO_SMALL:
        return f"{bundle.matched} matched, but none fits the budget."
    # Without the user-wide store: its memories are no part of the spaces that the summary names.
    count = counted(sum(bundle.own.values()) if bundle.own else bundle.size, "memory", "memories")
    count = f"{_WHY.get(bundle.reason or '', '')}{count}"
    if bundle.query.budget is not None:
        missing = f"Nothing relevant ({count})."
        return f"{len(bundle.sections)} of {bundle.matched} matches." if bundle.sections else missing
    short = bundle.topic if len(bundle.topic) <= _SHOWN_TOPIC else bundle.topic[:_SHOWN_TOPIC] + "…"
    topic = f"'{short}'" if short or not bundle.query.kinds else "kind " + ", ".join(bundle.query.kinds)
    if not bundle.sections:
        *others, last = bundle.own or (bundle.space,)
        where = f"spaces {', '.join(others)} and {last}" if others else f"space {last}"
        where = "all spaces" if bundle.space == "*" else where
        return f"Nothing relevant to {topic} ({count} in {where})."
    summaries = [texts_of(section)["micro"] for section in bundle.sections[:5]]
    joined = "; ".join(text.rstrip(".") for text in summaries if text)
    more = f" ({len(bundle.sections)} of {counted(bundle.size, 'memory', 'memories')})"
    return f"Context bundle for {topic}{more}: {joined}."


def period(bundle: Bundle) -> str:
    """The period that the topic names, such as "last week", as memcli understood it; under a budget only its dates.

    Empty if the topic names none.
    """
    found = bundle.query.period
    if found is None:
        return ""
    return f"Period: {found.name if bundle.query.budget is None else found.dates}."


def untrusted(bundle: Bundle) -> str:
    """The number of memories withheld because they contain instructions to an agent, as a note; empty if none."""
    n = bundle.withheld_untrusted + bundle.untrusted_pins
    return (
        f"{counted(n, 'memory', 'memories')} withheld because of instructions in {'it' if n == 1 else 'them'}"
        if n
        else ""
    )


def degraded(bundle: Bundle) -> str:
    """A note that all passages, or those without vectors, were searched by words only; empty if all have vectors."""
    degraded = "Degraded: " if bundle.degraded else ""
    if not bundle.missing:
        return f"{degraded}searched by words only." if degraded else ""
    count = f"{bundle.missing:,} passage{'' if bundle.missing == 1 else 's'}"
    return f"{degraded}{count} searched by words only (`memcli store index embed` computes the vectors)."


def verified(bundle: Bundle) -> str:
    """The verdict of a language model on the candidates, as a note; empty without --verify."""
    verdict = bundle.verdict
    if verdict is None:
        return ""
    is_brief = bundle.query.budget is not None
    if verdict.failure:
        return "Not verified." if is_brief else f"Not verified: {verdict.failure}."
    return f"{verdict.rejected} of {verdict.candidates} rejected{'' if is_brief else f' by {verdict.model}'}."


_LONG = LEVELS.index("long")
_STEPS = (("prerequisites", "Prerequisites", "-"), ("steps", "Steps", "1."), ("warnings", "Warnings", "-"))
_GLIMPSE = 200
_MOST_FILES = 5


def section_text(section: Section, include_raw: bool = False) -> str:
    """The text of a memory at the level that the budget set; without one, the passage, or all of it with `include_raw`.

    Within the limit of the section, the lists of a procedure and the content follow.
    """
    memory = section.memory
    level = section.level or forms(section, include_raw)[0][-1]
    texts = texts_of(section)
    own = texts.get(level, "")
    # Without a text of this level, such as a long summary, the longest one below it, else the beginning.
    if not own:
        shorter = [texts[name] for name in LEVELS[: LEVELS.index(level) + 1] if name != SENTENCE and texts[name]]
        own = shorter[-1] if shorter else memory.raw[:_GLIMPSE]
    inside = {line.strip().strip("#").strip() for line in own.splitlines()}
    # Only headings that the text lacks: a whole memory has its own, and is not all below that of one passage.
    above = [title for title in section.heading.split(" > ") if title and title not in inside]
    lines = [*([f"{' > '.join(above)}:"] if above else []), own]
    if section.also:
        files = [path.removeprefix("code/").rpartition("/")[0] or path for _, path in section.also]
        more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        lines.append(f"also changed: {', '.join(files[:_MOST_FILES])}{more}")
    text = "\n".join(lines)
    if section.level is not None and LEVELS.index(level) < _LONG:
        return _limited(section, own, text)
    is_all_content = not memory.raw.strip() and any(json_texts(memory.content, keys=False))
    if level in (PASSAGE, PASSAGES) and is_all_content:
        # The passage names keys and values without saying which value is whose; the content follows whole.
        text = ""
    return _limited(section, own, "\n".join([text, *_structured(section, text)]).strip("\n"))


def _limited(section: Section, own: str, whole: str) -> str:
    """`whole` if it is within the limit of the section; else the `own` text of the memory within the limit, and as many of the
    lines after it as fit."""
    if section.limit is None or len(whole) <= section.limit:
        return whole
    text = within(own, frozenset(), section.limit)
    _, found, behind = whole.partition(own)
    for line in behind.strip("\n").split("\n") if found else ():
        if len(text) + 1 + len(line) > section.limit:
            break
        text += f"\n{line}"
    return text


def score_text(section: Section) -> str:
    """The score and its components; for a memory that was not ranked, why it is included."""
    if section.why:
        return f"score {section.score:g}: " + ", ".join(f"{name} {value:g}" for name, value in section.why.items())
    if section.is_lead:
        return f"matched by {section.matched_by}"
    return "pinned; does not match the topic"


def _structured(section: Section, text: str) -> Iterator[str]:
    """The lists of a procedure, and the JSON content if it matched or the memory has no text; not what `text` contains."""
    memory = section.memory
    procedure = memory.procedure if isinstance(memory.procedure, Mapping) else {}
    for name, heading, mark in _STEPS:
        value = procedure.get(name)
        listed = value if isinstance(value, list | tuple) else ()  # files edited by hand may contain anything
        items = [item for item in listed if isinstance(item, str) and item.strip()]
        if items and not all(item in text for item in items):
            yield f"{heading}:"
            yield from (f"{f'{n}.' if mark == '1.' else mark} {item}" for n, item in enumerate(items, 1))
    is_wanted = memory.content is not None and (section.shows_content or not memory.raw)
    if is_wanted and not all(leaf in text for leaf in json_texts(memory.content, keys=False)):
        yield f"content: {encode_line(memory.content).decode()}"


_INDENT = "   "
_TOPIC_WIDTH = 200
_COMMIT_DIGITS = 10
_LEADS = {"constraint": "Keep to", "negative": "Do not", "procedure": "How to"}
_FROM_CLONE = (
    "They came with a clone that has not been accepted here: see `memcli trust --status`; `memcli trust` accepts it."
)


def render(bundle: Bundle) -> str:
    """The bundle as a prompt."""
    is_brief = bundle.query.budget is not None
    items = "\n\n".join(_items(bundle))
    if bundle.sections:
        shown, more = len(bundle.sections), bundle.withheld
        count = f"{shown} of {shown + more} shown" if is_brief else f"{shown} shown"
        if more and not is_brief:
            count += f"; {more} more {'matches' if more == 1 else 'match'}"
        # Never one of the pins that do not match: they answer nothing.
        cite = f"Cite as {citation(bundle.sections[0])}."
        body = f"{items}\n\n{' '.join([f'{count}.', *_notes(bundle), cite])}"
    else:
        summary = " ".join([_line(global_summary(bundle)), *_notes(bundle)])
        body = "\n\n".join(part for part in (summary, items) if part)
    if bundle.query.explain and bundle.confidence is not None:
        body += f"\nConfidence: {bundle.confidence:.2f}."
    # The fence is named by a hash of what it encloses: a memory cannot contain the line that would close it.
    nonce = nonce_of(body)
    # The topic may be from a stranger: it must not end the attribute, and with it the tag.
    quoted = cut(_line(bundle.topic).replace('"', "'"), _TOPIC_WIDTH)
    topic = "" if is_brief else f' topic="{quoted}"'  # a budget is for the memories
    lines = [f'<memory-{nonce} space="{bundle.space}"{topic}>']
    if bundle.sections or bundle.always:
        lines += [HEADER, *([_FROM_CLONE] if bundle.is_from_clone else []), ""]
    return "\n".join([*lines, body, f"</memory-{nonce}>", ""])


def _items(bundle: Bundle) -> Iterator[str]:
    """The entries under their headings: memories with a matching trigger or anchor, other matches, then pinned ones."""
    before = ""
    for number, section in enumerate((*bundle.sections, *bundle.always), 1):
        if number > len(bundle.sections):
            heading = "Always"
        elif section.is_lead:
            heading = _LEADS.get(section.memory.kind, "About the changed code")
        else:
            heading = "Also relevant" if before not in ("", WEAK) else WEAK if bundle.is_weak else ""
        if heading != before:
            yield f"{heading}:"
        before = heading
        yield entry(number, section, bundle)


def entry(n: int, section: Section, bundle: Bundle) -> str:
    """The entry of a memory: its number, label and text."""
    memory = section.memory
    # The name of the space costs two tokens an entry, and the path already shows that it was read from the repository.
    is_plain = bundle.query.budget is not None and section.space == REPO
    lines = [f"{n}. {label(section, section.space if is_plain else bundle.space)}"]
    # Every line of recalled text is indented, so that none can imitate the fence.
    lines += [
        _INDENT + line for line in inert(clean(section_text(section, bundle.query.include_raw))).strip().splitlines()
    ]
    if bundle.query.include_metadata:
        lines.append(f"{_INDENT}metadata: {inert(clean_line(encode_line(dict(memory.metadata)).decode()))}")
    if bundle.query.explain:
        lines.append(f"{_INDENT}{score_text(section)}")
    return "\n".join(lines)


def citation(section: Section) -> str:
    """The reference for an answer to cite: the id, after the file and line or the commit if the text is from the repository."""
    name = f"[{_line(section.memory.id)}]"
    return f"{_line(source(section))} {name}" if section.space == REPO else name


def source(section: Section) -> str:
    """Where the text is from: `file:line` for a text read from a file, commit and file for a change, else the memory's path.

    The line is the current one of the first line printed; it is left out if the anchored lines have changed since.
    """
    memory = section.memory
    file, commit = memory.metadata.get("source"), memory.provenance.get("commit")
    if section.space != REPO or not isinstance(file, str):
        return memory.path
    if isinstance(commit, str):
        return f"commit {commit[:_COMMIT_DIGITS]} {file}"
    checked = section.anchors[0] if section.anchors else None
    if checked is not None and checked.is_doubtful:
        return file
    lines = checked.lines if checked else memory.anchors[0].get("lines") if memory.anchors else None
    if not isinstance(lines, list | tuple) or not isinstance(lines[0], int):
        return checked.file if checked else file
    # The anchor has the first line of the memory; a passage may begin below it. A summary is not found in the text: no offset.
    level = section.level or forms(section)[0][-1]
    shown = texts_of(section).get(level, "").strip("\n").partition("\n")[0]
    at = memory.raw.find(shown, section.span[0] if level == PASSAGE else 0)
    before = memory.raw.count("\n", 0, max(at, 0))
    return f"{checked.file if checked else file}:{lines[0] + before}"


def label(section: Section, space: str) -> str:
    """The line above the text of a memory: id, date, kind, source and cautions; its space if it is not `space`."""
    memory = section.memory
    marks = [
        memory.created_at[:10],
        _line(memory.kind),
        _line(source(section)),
        *([_line(section.space)] if section.space != space else []),
        *(["pinned"] if memory.pinned else []),
        *map(_line, section.cautions),
    ]
    return f"[{_line(memory.id)}] {' · '.join(marks)}"


def _notes(bundle: Bundle) -> Iterator[str]:
    """The notes on the whole bundle."""
    if note := period(bundle):
        yield _line(note)
    if bundle.withheld_pins and bundle.query.budget is None:
        yield f"{bundle.withheld_pins} more pinned."
    if note := untrusted(bundle):
        yield f"{note[0].upper()}{note[1:]}."
    if degraded(bundle):
        yield degraded(bundle)
    if note := verified(bundle):
        yield _line(note)


def _line(text: str) -> str:
    """Stored text on one line, clean and inert."""
    # Cleaned first: an invisible character within a tag would hide it from `inert`.
    return inert(clean_line(text))
