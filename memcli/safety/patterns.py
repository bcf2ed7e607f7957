"""Patterns in linear time: those that users write, compiled by RE2, and prefilters that find which ones to try on a text.

The first texts of a process are looked at without RE2: one that handles a single memory should not wait for a compiler.
What is found is the same with it and without.

Files of rules and words: data beside the code, read once. Patterns are put together from named fragments.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache

from memcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN = 1000
_MAX_MEMORY = 8 << 20
_MAX_SET_MEMORY = 128 << 20
_NEVER = r"[^\s\S]"


def _options(memory: int = _MAX_MEMORY, *, for_bytes: bool = False) -> Any:
    """Options of RE2: so many bytes at most, and nothing on stderr."""
    import re2

    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    if for_bytes:
        options.encoding = re2.Options.Encoding.LATIN1
    return options


@cache
def re2_pattern(text: str) -> Any:
    """`text` compiled by RE2. Raises `re2.error`."""
    import re2

    return re2.compile(text, _options())


def compile_pattern(text: str, at: str, hint: str = "RE2 has no lookaround and no backreferences") -> Any:
    """A pattern that a user wrote, compiled. Raises UsageError naming the field `at` for what RE2 does not take."""
    import re2

    if len(text) > MAX_PATTERN:
        raise UsageError(f"{at} has {len(text)} characters; the maximum is {MAX_PATTERN}", "shorten it")
    try:
        return re2_pattern(text)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise UsageError(f"{at} is not an RE2 pattern: {reason}", hint) from None


class PatternSet:
    """Expressions looked for all at once, `whole` texts or anywhere in them. `refused` are the numbers of those that
    RE2 does not take, which match nothing."""

    def __init__(self, expressions: Sequence[str], *, whole: bool = False) -> None:
        self._expressions = expressions
        self._whole = whole
        self.refused: list[int] = []
        self._set: Any = None
        if not expressions:
            return
        import re2

        options = _options(_MAX_SET_MEMORY)
        made = re2.Set.FullMatchSet(options) if whole else re2.Set.SearchSet(options)
        for number, expression in enumerate(expressions):
            try:
                made.Add(expression)
            except (re2.error, UnicodeEncodeError):
                self.refused.append(number)
                made.Add(_NEVER)
        made.Add(r"(?s:.*)" if whole else r"\z")  # not "", which would make every byte a match to note
        with suppress(re2.error):  # too much for one set
            made.Compile()
            self._set = made

    def matching(self, text: str) -> list[int]:
        """The numbers of the expressions that match, ascending."""
        if not self._expressions:
            return []
        found = self._set.Match(text) if self._set is not None else None
        if found:
            return sorted([n for n in found if n < len(self._expressions)]) if len(found) > 1 else []
        # Not even the one that matches anything: the set ran out of memory.
        numbers = (n for n in range(len(self._expressions)) if n not in self.refused)
        patterns = ((n, compile_pattern(self._expressions[n], "pattern")) for n in numbers)
        return [n for n, one in patterns if (one.fullmatch(text) if self._whole else one.search(text))]


@cache
def _stand_in(char: str) -> str:
    """A character of ASCII that is a letter, a digit, a blank or a sign, as this one is."""
    if char.isspace():
        return char if char in "\t\n\f\r " else "\f"  # and not a space, which `[^ ]` would refuse
    if char.isascii():
        return char
    return "0" if char.isdecimal() else "x" if char.isalnum() else ";"


_OTHERS = "[^\t\n\f\r -~\x00-\x08\x0e-\x1b]+"


@lru_cache(8)  # one pattern after the other is tried on the same text
def in_ascii(text: str) -> bytes:
    r"""`text` such that `\b`, `\d`, `\s` and `\w` mean the same to RE2, which knows them for ASCII alone."""
    if not text.isascii() or any(blank in text for blank in "\v\x1c\x1d\x1e\x1f"):
        text = re.sub(_OTHERS, lambda run: "".join(map(_stand_in, run[0])), text)
    return text.encode()


_LOOK_BEHIND = r"\(\?<!(?:\\.|[^()\\\[])*\)"
_LOOK_AHEAD_FOR_NONE = r"\(\?!(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()\\\[])*\)"
_OPTIONAL_REPEAT = r"\{0,\d+\}\??"
_REPEAT = r"\{[1-9]\d*(?:,\d*)?\}\??"


def looser(pattern: str) -> str:
    """A pattern that RE2 takes, and runs as a small automaton, and that matches wherever `pattern` does: bounded
    repetitions are unbounded, what must follow is part of the match, what must not stand beside it is forgotten."""
    pattern = re.sub(_LOOK_BEHIND, "", pattern)
    pattern = re.sub(_LOOK_AHEAD_FOR_NONE, "", pattern)
    pattern = pattern.replace("(?=", "(?:")
    return re.sub(_REPEAT, "+", re.sub(_OPTIONAL_REPEAT, "*", pattern))


_FEW = 12
_PLENTY = 400_000
"""Characters: to look at more than these without RE2 takes longer than to load it and compile what is needed."""
_LONG = 4000
_PART = 4


_SEEN = [0]
"""How many characters the process has looked at."""


def _is_worth_re2(size: int) -> bool:
    """Whether what was looked at so far and `size` more characters are worth loading RE2."""
    _SEEN[0] += size
    return _SEEN[0] > _PLENTY


class Literals:
    """Short strings that are looked for all at once."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(dict.fromkeys(literals))

    def within(self, text: str) -> frozenset[str]:
        """Those that occur in `text`."""
        found = self.at_once(text)
        if found is not None:
            return found
        if len(text) < _LONG:
            return frozenset([literal for literal in self._literals if literal in text])
        # A long text is gone over once for all literals, and few of them have a beginning that occurs in it. The same
        # words come again and again.
        words = "\n".join(dict.fromkeys(text.split()))
        beginnings = longer = {words[at : at + _PART] for at in range(len(words))}
        for size in reversed(range(_PART)):
            longer = {part[:size] for part in longer}
            beginnings = beginnings | longer
        return frozenset([word for word, head in self._heads if head in beginnings and word in text])

    @cached_property
    def _heads(self) -> list[tuple[str, str]]:
        """The literals, each with the beginning of its first word."""
        return [(word, (word.split() or [""])[0][:_PART]) for word in self._literals]

    def at_once(self, text: str) -> frozenset[str] | None:
        """Those that occur in `text`, found by RE2; None where it is not worth it, or cannot."""
        if len(self._literals) > _FEW and _is_worth_re2(len(text)):
            with suppress(UnicodeEncodeError):  # half of a surrogate pair
                return frozenset([self._literals[n] for n in self._set.matching(text)])
        return None

    @cached_property
    def _set(self) -> PatternSet:
        return PatternSet([re.escape(literal) for literal in self._literals])


class Pattern:
    """A pattern of `re`. RE2, which takes a fraction of the time, tries a looser one first."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in `text`, in order."""
        if _is_worth_re2(len(text)) and not self._looser.search(in_ascii(text)):
            return iter(())
        return compiled(self._text).finditer(text)

    def occurs(self, text: str) -> bool:
        """Whether there is a match in `text`."""
        if _is_worth_re2(len(text)) and not self._looser.search(in_ascii(text)):
            return False
        return compiled(self._text).search(text) is not None

    def may_occur(self, text: str) -> bool:
        """Whether it is worth a closer look: once RE2 is there, to try a loose pattern is all that it takes."""
        if _is_worth_re2(len(text)):
            return self._looser.search(in_ascii(text)) is not None
        return compiled(self._text).search(text) is not None

    @cached_property
    def _looser(self) -> Any:
        return re2_pattern(looser(in_ascii(self._text).decode()))


pattern = cache(Pattern)
compiled = cache(re.compile)


class BytesPattern:
    """A pattern of what `re` and RE2 take to mean the same, for bytes. Without one of `signs`, if there are any, it is
    not worth trying."""

    def __init__(self, text: str, signs: Sequence[bytes] = ()) -> None:
        self.text = text
        self.signs = signs

    def finditer(self, data: bytes) -> Iterator[Any]:
        """The matches in `data`, in order."""
        found: Iterator[Any] = (self._fast if _is_worth_re2(len(data)) else compiled(self.text.encode())).finditer(data)
        return found

    @cached_property
    def _fast(self) -> Any:
        import re2

        return re2.compile(self.text.encode(), _options(for_bytes=True))


def worth_trying(patterns: tuple[BytesPattern, ...], data: bytes) -> frozenset[BytesPattern]:
    """Those of the patterns that are worth trying on `data`, which one pass over it finds."""
    found = _bytes_set(patterns).Match(data) if _is_worth_re2(len(data)) else ()
    # Without RE2, or where the set ran out of memory and did not find the end, which always matches.
    tried = [patterns[n] for n in found if n < len(patterns)] if found else patterns
    worth = set()
    for pattern in tried:
        for sign in pattern.signs or (b"",):
            if sign in data:
                worth.add(pattern)
                break
    return frozenset(worth)


@cache
def _bytes_set(patterns: tuple[BytesPattern, ...]) -> Any:
    import re2

    made = re2.Set.SearchSet(_options(for_bytes=True))
    for pattern in patterns:
        made.Add(pattern.text)
    made.Add(r"\z")
    made.Compile()
    return made


_REFERENCE = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")


@cache
def read_json(package: str, name: str) -> Any:
    """The value in the JSON file `name` in the folder of a package that is imported; read once, and not to be changed."""
    # As `pkgutil.get_data` reads it, which takes as long to import as the `json` module three times.
    spec: Any = sys.modules[package].__spec__
    return json.loads(spec.loader.get_data(f"{spec.submodule_search_locations[0]}/{name}"))


@cache
def read_words(package: str) -> Mapping[str, Any]:
    """The lists of words in `words.json` of a package, by name."""
    words: dict[str, Any] = read_json(package, "words.json")
    return words


class RuleFile:
    """The tables in `rules.json` of a package. A pattern there refers to a fragment as `{NAME}`."""

    def __init__(self, package: str, fragments: Mapping[str, str] | None = None) -> None:
        """`fragments` are those that the code itself defines. Raises KeyError for a name that is not defined before it is used."""
        self.tables: dict[str, Any] = read_json(package, "rules.json")
        """The rows of each table, in order, by its name."""
        self._fragments = dict(fragments or {})
        for name, pattern in self.tables["fragments"].items():
            self._fragments[name] = self.expanded(pattern)

    def expanded(self, pattern: str) -> str:
        """The pattern with each fragment in the place of its name."""
        return _REFERENCE.sub(lambda name: self._fragments[name[1]], pattern)
