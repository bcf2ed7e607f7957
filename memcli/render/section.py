"""Render a memory in a bundle: its text at the level that fits, its procedure and its content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memcli.codec.canonical import encode_line
from memcli.model.memory import Json, Memory, json_texts
from memcli.model.recall import LEVELS, PASSAGE, PASSAGES, SENTENCE, Section
from memcli.policy.answer import within
from memcli.policy.budget import forms, texts_of

_LONG = LEVELS.index("long")
_STEPS = (("prerequisites", "Prerequisites", "-"), ("steps", "Steps", "1."), ("warnings", "Warnings", "-"))
_GLIMPSE = 200
_MOST_FILES = 5


def section_text(section: Section, include_raw: bool = False) -> str:
    """The text of the memory at its level, or else the passage, or the full text if requested."""
    level = section.level or forms(section, include_raw)[0][-1]
    own = texts_of(section).get(level) or _fullest(section, level)
    text = _with_heading(section, own)
    if section.level is not None and LEVELS.index(level) < _LONG:
        return _limited(section, own, text)
    if level in (PASSAGE, PASSAGES) and _is_content(section.memory):
        text = ""  # the passage has its keys and values one by one
    whole = "\n".join([text, *_procedure(section.memory, text), *_content(section, text)]).strip("\n")
    return _limited(section, own, whole)


def _limited(section: Section, own: str, whole: str) -> str:
    """`whole`, or within the limit of the section its `own` text and what else of the whole has room for: lines behind it."""
    if section.limit is None or len(whole) <= section.limit:
        return whole
    text = within(own, frozenset(), section.limit)
    _, found, behind = whole.partition(own)
    for line in behind.strip("\n").split("\n") if found else ():
        if len(text) + 1 + len(line) > section.limit:
            break
        text += f"\n{line}"
    return text


def _is_content(memory: Memory) -> bool:
    """Whether all that the memory says is its content."""
    return not memory.raw.strip() and any(json_texts(memory.content, keys=False))


def _with_heading(section: Section, text: str) -> str:
    """The text below the headings that lead to it, and of a commit with its other files."""
    inside = {line.strip().strip("#").strip() for line in text.splitlines()}
    above = [title for title in section.heading.split(" > ") if title and title not in inside]
    return "\n".join([*([f"{' > '.join(above)}:"] if above else []), text, *_also(section)])


def _also(section: Section) -> Iterator[str]:
    if section.also:
        files = [path.removeprefix("code/").rpartition("/")[0] or path for _, path in section.also]
        more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        yield f"also changed: {', '.join(files[:_MOST_FILES])}{more}"


def score_text(section: Section) -> str:
    """The components of the score, or the reason for inclusion without one."""
    if section.why:
        return f"score {section.score:g}: " + ", ".join(f"{name} {value:g}" for name, value in section.why.items())
    if section.is_lead:
        return f"matched by {section.matched_by}"
    return "pinned; does not match the topic"


def _fullest(section: Section, level: str) -> str:
    """The longest text up to `level`; failing that, the beginning of the full text."""
    texts = texts_of(section)
    fuller = [texts[name] for name in LEVELS[: LEVELS.index(level) + 1] if name != SENTENCE and texts[name]]
    return fuller[-1] if fuller else section.memory.raw[:_GLIMPSE]


def _procedure(memory: Memory, text: str) -> Iterator[str]:
    """The lists of a procedure that `text` does not contain."""
    procedure = memory.procedure if isinstance(memory.procedure, Mapping) else {}
    for name, heading, mark in _STEPS:
        items = _items(procedure.get(name))
        if items and not all(item in text for item in items):
            yield f"{heading}:"
            yield from (f"{f'{n}.' if mark == '1.' else mark} {item}" for n, item in enumerate(items, 1))


def _items(value: Json) -> Sequence[str]:
    """The strings of a list; files edited by hand may contain anything."""
    return [item for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list | tuple) else []


def _content(section: Section, text: str) -> Iterator[str]:
    """The content, if it matched or is all there is, and `text` does not contain it."""
    memory = section.memory
    is_wanted = memory.content is not None and (section.shows_content or not memory.raw)
    if is_wanted and not all(leaf in text for leaf in json_texts(memory.content, keys=False)):
        yield f"content: {encode_line(memory.content).decode()}"
