"""Patterns that users write: RE2 alone, which takes linear time whatever the pattern and the text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from memcli.errors import UsageError

MAX_PATTERN = 1000
_MAX_MEMORY = 8 << 20
_MAX_SET_MEMORY = 128 << 20
_NEVER = r"[^\s\S]"


@cache
def compile_pattern(text: str, at: str) -> Any:
    """`text` compiled. Raises UsageError naming the field `at` for what RE2 does not take."""
    import re2

    if len(text) > MAX_PATTERN:
        raise UsageError(f"{at} has {len(text)} characters; the maximum is {MAX_PATTERN}", "shorten it")
    try:
        return re2.compile(text, quiet_options(_MAX_MEMORY))
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise UsageError(
            f"{at} is not an RE2 pattern: {reason}", "RE2 has no lookaround and no backreferences"
        ) from None


def quiet_options(memory: int) -> Any:
    """Options of RE2: so many bytes at most, and nothing on stderr."""
    import re2

    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options


class PatternSet:
    """Expressions looked for all at once, `whole` texts or anywhere in them. `refused` are the numbers of those that
    RE2 does not take, which match nothing."""

    def __init__(self, expressions: Sequence[str], *, whole: bool = False) -> None:
        self._expressions = expressions
        self._whole = whole
        self.refused: list[int] = []
        self._set = self._compiled() if expressions else None

    def matching(self, text: str) -> list[int]:
        """The numbers of the expressions that match, ascending."""
        if not self._expressions:
            return []
        found = self._set.Match(text) if self._set is not None else None
        if not found:  # not even the one that matches anything: the set ran out of memory
            return [n for n in range(len(self._expressions)) if n not in self.refused and self._is_alone(n, text)]
        return sorted([n for n in found if n < len(self._expressions)]) if len(found) > 1 else []

    def _is_alone(self, number: int, text: str) -> bool:
        pattern = compile_pattern(self._expressions[number], "pattern")
        return bool(pattern.fullmatch(text) if self._whole else pattern.search(text))

    def _compiled(self) -> Any:
        import re2

        options = quiet_options(_MAX_SET_MEMORY)
        made = re2.Set.FullMatchSet(options) if self._whole else re2.Set.SearchSet(options)
        for number, expression in enumerate(self._expressions):
            try:
                made.Add(expression)
            except (re2.error, UnicodeEncodeError):
                self.refused.append(number)
                made.Add(_NEVER)
        made.Add(r"(?s:.*)" if self._whole else r"\z")  # not "", which would make every byte a match to note
        try:
            made.Compile()
        except re2.error:  # too much for one set
            return None
        return made
