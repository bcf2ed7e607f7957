"""Triggers: the patterns, symbols and paths of a memory that show it when a change matches them.

`path:GLOB`, and a text that can only be a glob (it has a slash and a wildcard, or begins with `*`, and has no syntax of
expressions), is a glob as in a .gitignore; `symbol:NAME` is an identifier as a whole word; `re:EXPRESSION`, and any other text,
is an RE2 expression, searched in single lines and case-sensitive. Where a memory has globs and others, its patterns and
symbols are searched in the files that match the globs only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memcli.code.globs import glob_expression
from memcli.errors import UsageError
from memcli.model.anchors import FileEdit
from memcli.record import Record
from memcli.regex import regex
from memcli.safety.patterns import MAX_PATTERN, PatternSet, compile_pattern

_GLOB = regex(r"(?=\*|.*/)(?=.*[*?\[])(?!.*(?:[\\()|^$+{:]|\.\*|\s))")
# Not \\b, because `$` is part of an identifier in some languages; RE2 has no lookaround.
_BEFORE, _AFTER = r"(?:^|[^\w$])", r"(?:[^\w$]|$)"
_PLAIN = regex(r"[\w ,;:<>=!@#%&'\"~/-]*\Z")
_PLACE = regex(r"[^\s\"'`(),;<>]*[/.][^\s\"'`(),;<>]*")


class Trigger(Record):
    """One trigger, as an expression of RE2: for whole paths when `is_path`, else for lines. `plain` is the text that
    it looks for when it is no more than that, `name` the symbol."""

    text: str
    expression: str
    is_path: bool = False
    plain: str = ""
    name: str = ""


def read_trigger(text: str, at: str = "trigger") -> Trigger:
    """Parses `text`. Raises UsageError naming the field `at` when it is too long, empty, or not a valid glob."""
    if len(text) > MAX_PATTERN:
        raise UsageError(f"{at} has {len(text)} characters; the maximum is {MAX_PATTERN}", "shorten it")
    kind, _, rest = text.partition(":")
    rest = rest if kind in ("path", "symbol", "re") else text
    if not rest.strip():
        raise UsageError(f"{at} is empty", "use a pattern, path:GLOB or symbol:NAME")
    if kind == "symbol":
        name = rest.strip()
        return Trigger(text, f"{_BEFORE}{re.escape(name)}{_AFTER}", name=name)
    if kind == "path" or (kind != "re" and _GLOB.match(text)):
        return Trigger(text, glob_expression(rest.strip(), at), is_path=True)
    return Trigger(text, rest, plain=rest if _PLAIN.match(rest) else "")


def check_triggers(texts: Iterable[str]) -> None:
    """Raises UsageError naming the first trigger that is not a valid expression."""
    for number, text in enumerate(texts):
        trigger = read_trigger(text, f"triggers[{number}]")
        compile_pattern(trigger.expression, f"triggers[{number}]")


def matches_topic(texts: Iterable[str], topic: str) -> bool:
    """Whether a trigger matches the topic: a pattern or symbol occurs in it, or a glob matches a path in it."""
    return any(_is_in_topic(text, topic) for text in texts)


def _is_in_topic(text: str, topic: str) -> bool:
    try:
        trigger = read_trigger(text)
        if trigger.plain:  # most are, and need no expression
            return trigger.plain in topic
        if trigger.name and trigger.name not in topic:
            return False
        if not trigger.is_path:
            return bool(compile_pattern(trigger.expression, "trigger").search(topic))
        places = [place.strip("./?!:") for place in _PLACE.findall(topic)]
        return any(compile_pattern(trigger.expression, "trigger").fullmatch(place) for place in places)
    except (UsageError, UnicodeEncodeError):  # an invalid trigger of a hand-edited or imported file
        return False


def path_triggers(texts: Iterable[str]) -> list[str]:
    """The triggers that are globs for paths."""
    return [text for text in texts if (trigger := _read(text)) is not None and trigger.is_path]


def lost_globs(triggers: Sequence[Sequence[str]], files: Iterable[str]) -> list[tuple[int, str]]:
    """The path triggers that match none of the files, each with its number among `triggers`."""
    # A memory with globs is shown only where one matches: after its files were moved or deleted, it would never be.
    globs = [(owner, text) for owner, texts in enumerate(triggers) for text in path_triggers(texts)]
    patterns = PatternSet([read_trigger(text).expression for _, text in globs], whole=True)
    left = {*range(len(globs))} - {*patterns.refused}
    for file in files:
        if not left:
            break
        left.difference_update(patterns.matching(file))
    return [globs[n] for n in sorted(left)]


def _read(text: str) -> Trigger | None:
    try:
        return read_trigger(text)
    except UsageError:  # an invalid trigger of a hand-edited or imported file
        return None


Match = tuple[int, int, str]
"""The index of a memory, the number of the line that matched, and the text of the trigger."""


class TriggerSet:
    """The triggers of many memories, matched together. `refused`: invalid triggers, with the index of their memory."""

    def __init__(self, triggers: Sequence[Sequence[str]]) -> None:
        self.refused: list[tuple[int, str]] = []
        self._globs: list[tuple[int, Trigger]] = []
        self._texts: list[tuple[int, Trigger]] = []
        for owner, text in [(owner, text) for owner, texts in enumerate(triggers) for text in texts]:
            if (trigger := _read(text)) is None:
                self.refused.append((owner, text))
            else:
                (self._globs if trigger.is_path else self._texts).append((owner, trigger))
        self._bound = frozenset(owner for owner, _ in self._globs)
        self._reading = frozenset(owner for owner, _ in self._texts)
        self._paths = PatternSet([trigger.expression for _, trigger in self._globs], whole=True)
        self._lines = PatternSet([trigger.expression for _, trigger in self._texts])
        self.refused += [(owner, trigger.text) for owner, trigger in map(self._globs.__getitem__, self._paths.refused)]
        self.refused += [(owner, trigger.text) for owner, trigger in map(self._texts.__getitem__, self._lines.refused)]

    def matches(self, edit: FileEdit) -> Iterator[Match]:
        """Yields each memory once a line, in order of lines; one that only a path matches, new or old, at the first added line."""
        names = dict.fromkeys(name for name in (edit.file, edit.was) if name)
        here = [self._globs[n] for name in names for n in self._paths.matching(name)]
        first = edit.added[0][0] if edit.added else 1
        by_path = {owner: (owner, first, t.text) for owner, t in reversed(here) if owner not in self._reading}
        yield from (by_path[owner] for owner in sorted(by_path))
        if edit.is_deleted:
            return
        inside = {self._globs[n][0] for n in self._paths.matching(edit.file)} if edit.file else frozenset[int]()
        for number, line in edit.added if self._texts else ():
            found: dict[int, Match] = {}
            for n in self._lines.matching(line):
                owner, trigger = self._texts[n]
                if owner in inside or owner not in self._bound:
                    found.setdefault(owner, (owner, number, trigger.text))
            yield from (found[owner] for owner in sorted(found))
