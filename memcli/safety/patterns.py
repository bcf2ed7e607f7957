"""Patterns that are matched in linear time: those of users, compiled by RE2, and prefilters that choose the ones to try on a text.

The first texts of a process are searched without RE2, so that a command for a single memory need not load a compiler. The
results are the same with and without it.

Files of rules and words: data beside the code. A row is decoded when a text may need it, and composed of named fragments.
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
    """Options of RE2: at most `memory` bytes for a pattern, and no messages on stderr."""
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
    """A user's pattern, compiled. Raises UsageError naming the field `at` for one that RE2 does not accept."""
    # Not `re`, in which `(a+)+$` may hang on one line; and patterns come with the policy of a clone.
    import re2

    if len(text) > MAX_PATTERN:
        raise UsageError(f"{at} has {len(text)} characters; the maximum is {MAX_PATTERN}", "shorten it")
    try:
        return re2_pattern(text)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise UsageError(f"{at} is not an RE2 pattern: {reason}", hint) from None


class PatternSet:
    """Expressions that are searched all at once, or with `whole` matched against whole texts. `refused` are the indexes of
    those that RE2 does not accept, which match nothing."""

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
                made.Add(_NEVER)  # so that the indexes of the set remain those of the expressions
        made.Add(r"(?s:.*)" if whole else r"\z")  # matches any text; "" would match at every byte
        with suppress(re2.error):  # above the memory of one set
            made.Compile()
            self._set = made

    def matching(self, text: str) -> list[int]:
        """The indexes of the expressions that match, ascending."""
        if not self._expressions:
            return []
        found = self._set.Match(text) if self._set is not None else None
        if found:
            return sorted([n for n in found if n < len(self._expressions)]) if len(found) > 1 else []
        # The expression that matches any text was not found, so the set ran out of memory.
        numbers = (n for n in range(len(self._expressions)) if n not in self.refused)
        patterns = ((n, compile_pattern(self._expressions[n], "pattern")) for n in numbers)
        return [n for n, one in patterns if (one.fullmatch(text) if self._whole else one.search(text))]


@cache
def _stand_in(char: str) -> str:
    """An ASCII character of the same class: letter, digit, blank or sign."""
    if char.isspace():
        return char if char in "\t\n\f\r " else "\f"  # a space would not match `[^ ]`
    if char.isascii():
        return char
    return "0" if char.isdecimal() else "x" if char.isalnum() else ";"


_OTHERS = "[^\t\n\f\r -~\x00-\x08\x0e-\x1b]+"


@lru_cache(8)  # many patterns are tried on the same text
def in_ascii(text: str) -> bytes:
    r"""`text` with other characters in place of those beyond ASCII, for which RE2's `\b`, `\d`, `\s` and `\w` differ from `re`."""
    if not text.isascii() or any(blank in text for blank in "\v\x1c\x1d\x1e\x1f"):
        text = re.sub(_OTHERS, lambda run: "".join(map(_stand_in, run[0])), text)
    return text.encode()


_LOOK_BEHIND = r"\(\?<!(?:\\.|[^()\\\[])*\)"
_LOOK_AHEAD_FOR_NONE = r"\(\?!(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()\\\[])*\)"
_OPTIONAL_REPEAT = r"\{0,\d+\}\??"
_REPEAT = r"\{[1-9]\d*(?:,\d*)?\}\??"


def looser(pattern: str) -> str:
    """A pattern that matches wherever `pattern` does, and that RE2 accepts and runs as a small automaton: bounded repetitions
    become unbounded, a lookahead becomes part of the match, and negative lookarounds are dropped."""
    pattern = re.sub(_LOOK_BEHIND, "", pattern)
    pattern = re.sub(_LOOK_AHEAD_FOR_NONE, "", pattern)
    pattern = pattern.replace("(?=", "(?:")
    return re.sub(_REPEAT, "+", re.sub(_OPTIONAL_REPEAT, "*", pattern))


_ASSERTION = r"(\\[^bBAz]|\[\^?\]?(?:\\.|[^\]\\])*\])|\\[bBAz]|[\^$]"
"""A `\\b`, `^` or `$` of RE2; or in a group an escape or a class, which may have the same signs."""


@cache
def without_assertions(pattern: str) -> str:
    """A pattern of RE2 that matches in every text that contains a text in which `pattern` matches."""
    return re.sub(_ASSERTION, lambda match: match[1] or "(?:)", pattern, flags=re.DOTALL)


_FEW = 12
"""Up to so many literals are searched one by one."""
_PLENTY = 400_000
"""Searching more characters than this without RE2 takes longer than loading it and compiling the patterns."""
LONG = 4000
"""A text of fewer characters is searched for all literals one by one."""
_PART = 4
"""The number of characters at the beginning of a literal by which it is ruled out in a long text."""


_SEEN = [0]
"""The number of characters that the process has searched."""


def is_worth_re2(size: int) -> bool:
    """Whether the characters searched so far and `size` more are enough to load RE2."""
    _SEEN[0] += size
    return _SEEN[0] > _PLENTY


class Literals:
    """Short strings that are searched all at once."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._given = literals

    @cached_property
    def _literals(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._given))

    def within(self, text: str) -> frozenset[str]:
        """The literals that occur in `text`."""
        found = self.at_once(text)
        if found is not None:
            return found
        if len(text) < LONG:
            return frozenset([literal for literal in self._literals if literal in text])
        # A set of all beginnings in a long text rules out most literals in one pass. Words repeat, so each is taken once.
        words = "\n".join(dict.fromkeys(text.split()))
        beginnings = longer = {words[at : at + _PART] for at in range(len(words))}
        for size in reversed(range(_PART)):
            longer = {part[:size] for part in longer}
            beginnings = beginnings | longer
        return frozenset([word for word, head in self._heads if head in beginnings and word in text])

    @cached_property
    def _heads(self) -> list[tuple[str, str]]:
        """The literals, each with the first characters of its first word."""
        return [(word, (word.split() or [""])[0][:_PART]) for word in self._literals]

    def at_once(self, text: str) -> frozenset[str] | None:
        """The literals that occur in `text`, by RE2; None where RE2 is not worth loading, or cannot encode the text."""
        if is_worth_re2(len(text)) and len(self._literals) > _FEW:
            with suppress(UnicodeEncodeError):  # half of a surrogate pair
                return frozenset([self._literals[n] for n in self._set.matching(text)])
        return None

    @cached_property
    def _set(self) -> PatternSet:
        return PatternSet([re.escape(literal) for literal in self._literals])


class Pattern:
    """A pattern of `re`. RE2, which is much faster, first tries a looser one."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in `text`, in order."""
        if is_worth_re2(len(text)) and not self._looser.search(in_ascii(text)):
            return iter(())
        return compiled(self._text).finditer(text)

    def occurs(self, text: str, *, is_exact: bool = True) -> bool:
        """Whether there is a match in `text`. Unless `is_exact`, a match of the looser pattern is sufficient where RE2 is
        used, and saves a search by `re`."""
        if is_worth_re2(len(text)):
            may_occur = self._looser.search(in_ascii(text)) is not None
            if not (may_occur and is_exact):
                return may_occur
        return compiled(self._text).search(text) is not None

    @cached_property
    def _looser(self) -> Any:
        return re2_pattern(looser(in_ascii(self._text).decode()))


pattern = cache(Pattern)
compiled = cache(re.compile)


class BytesPattern:
    """A pattern for bytes that has the same meaning in `re` and RE2. It can only match data with one of `signs`, if there are
    any."""

    def __init__(self, text: str, signs: Sequence[bytes] = ()) -> None:
        self.text = text
        self.signs = signs

    def finditer(self, data: bytes) -> Iterator[Any]:
        """The matches in `data`, in order."""
        found: Iterator[Any] = (self._fast if is_worth_re2(len(data)) else compiled(self.text.encode())).finditer(data)
        return found

    @cached_property
    def _fast(self) -> Any:
        import re2

        return re2.compile(self.text.encode(), _options(for_bytes=True))


def worth_trying(patterns: tuple[BytesPattern, ...], data: bytes) -> frozenset[BytesPattern]:
    """The patterns that may match `data`, found in one pass over it."""
    found = _bytes_set(patterns).Match(data) if is_worth_re2(len(data)) else ()
    # All are tried without RE2, and where the set ran out of memory: else it finds the `\\z` that always matches.
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


@cache
def read_json(package: str, name: str) -> Any:
    """The value of the JSON file `name` in the folder of an imported package, cached; callers must not change it."""
    return json.loads(_read(package, name))


def read_rows(package: str, name: str) -> list[tuple[Any, bytes]]:
    """The rows of a JSON Lines file in the folder of an imported package: the first item of each array, and its line. The item is a
    string or a list of strings; `", ` may not occur in the former, nor `], ` in the latter."""
    # To decode all rows whole takes a tenth of a short command, which needs few of them.
    lines = _read(package, name).split(b"\n")[:-1]
    firsts = [line[1 : line.index(b'", ' if line.startswith(b'["') else b"], ") + 1] for line in lines]
    return list(zip(json.loads(b"[%b]" % b",".join(firsts)), lines, strict=True))


def _read(package: str, name: str) -> bytes:
    # The same as `pkgutil.get_data`, whose import takes three times as long as that of `json`.
    spec: Any = sys.modules[package].__spec__
    data: bytes = spec.loader.get_data(f"{spec.submodule_search_locations[0]}/{name}")
    return data


class Fragments:
    """Parts of patterns by name, from `fragments.json` of a package. A pattern, or a later fragment, refers to one as `{NAME}`."""

    def __init__(self, package: str, given: Mapping[str, str] | None = None) -> None:
        """`given` are further ones, defined in code."""
        self._package = package
        self._given = given or {}

    def expanded(self, pattern: str) -> str:
        """The pattern with each `{NAME}` replaced by its fragment. Raises KeyError for one that is not defined."""

        def fragment(name: re.Match[str]) -> str:
            return self._given.get(name[1]) or self.expanded(read_json(self._package, "fragments.json")[name[1]])

        return re.sub(r"\{([A-Z][A-Z0-9_]*)\}", fragment, pattern)
