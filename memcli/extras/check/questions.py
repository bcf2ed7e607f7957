"""Files of recall tests: `[[case]]` tables in TOML, and question sets in JSON Lines. Errors name file and line."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from difflib import get_close_matches
from functools import partial
from typing import Any

from memcli.clock import normalize_time
from memcli.errors import UsageError
from memcli.extras.check.expectations import Case
from memcli.model.names import check_space, show

Where = Callable[[str], str]
"""Returns the file and line of a key, as `file:line`."""

_MOST = {"top": 10_000, "budget": 10**7}
_OPTIONS = ("top", "budget", "kind", "under", "space", "at")
_TESTS = ("must_include", "must_not_include", "answers", "empty")
_KEYS = ("topic", *_TESTS, *_OPTIONS)
_LISTS = ("must_include", "must_not_include", "answers", "kind")
_SHOWN = 40

# An unclosed string or comment extends to the end, so that no character is read twice: the search takes linear time.
_OPAQUE = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\[^\n])*+"?|\'[^\'\n]*+\'?|#[^\n]*+', re.DOTALL
)
"""Strings and comments of TOML."""
_CASE = re.compile(r"[ \t]*\[\[[ \t]*case[ \t]*\]\]")
# tomllib takes quadratic time for a key of many parts.
_MOST_DOTS = 64
"""The most dots in a line."""
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)\Z")


def read_cases(text: str, file: str) -> list[Case]:
    """The cases of a TOML file, in order. Raises UsageError naming file and line."""
    # tomllib gives no lines: they are searched in the text without strings and comments, which may contain keys. Newlines
    # stay, so that the lines keep their numbers.
    bare = _OPAQUE.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    for number, row in enumerate(bare, 1):
        if row.count(".") > _MOST_DOTS:
            raise UsageError(f"{file}:{number}: a key has too many parts", "correct the file")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{file}:1: nested too deeply", "correct the file") from None
    except ValueError as error:  # TOMLDecodeError, and a number with too many digits
        found = _AT_LINE.search(str(error))
        at = int(found[1]) if found else text.rstrip().count("\n") + 1
        raise UsageError(f"{file}:{at}: not TOML: {_AT_LINE.sub('', str(error))}", "correct the file") from None
    _check_keys(data, ("case", "defaults"), partial(_place, bare, 0, file))
    defaults, tables = data.get("defaults", {}), data.get("case", [])
    start = _line_of(bare, 0, "[defaults]")
    if not isinstance(defaults, dict):
        raise UsageError(f"{file}:{start}: defaults is not a table", "write [defaults]")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{_place(bare, 0, file, 'case')}: case is not a list of tables", "write [[case]]")
    of_default = partial(_place, bare, start, file)
    _check_keys(defaults, _OPTIONS, of_default)
    common = _values(defaults, of_default)
    lines = [number for number, line in enumerate(bare, 1) if _CASE.match(line)]
    # The numbers differ if cases are written as inline tables, or by a quoted key.
    lines = lines if len(lines) == len(tables) else [1] * len(tables)
    cases = []
    for table, line in zip(tables, lines, strict=True):
        where = partial(_place, bare, line, file)
        _check_keys(table, _KEYS, where)
        cases.append(_checked(Case(file=file, line=line, **{"topic": "", **common, **_values(table, where)})))
    return cases


def read_questions(text: str, file: str) -> list[Case]:
    """The cases of a question set: one object per line with `q`, `type` and `answers`; the type `none` has no answer.

    Unknown keys are ignored. Raises UsageError naming file and line.
    """
    cases = []
    # Not `splitlines`, which breaks lines at U+2028 too, and a string of JSON may have one.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            data = json.loads(line)
        except RecursionError:
            raise UsageError(f"{where}: nested too deeply", "correct the file") from None
        except ValueError as error:
            raise UsageError(f"{where}: not JSON: {error}", "write one JSON object per line") from None
        if not isinstance(data, dict):
            raise UsageError(f"{where}: not a JSON object", "write one JSON object per line")
        known = {key: value for key, value in data.items() if key in _KEYS and value not in ([], None)}
        known.setdefault("topic", data.get("q", ""))
        label = _text(data.get("type", "any"), "type", where)
        if label == "none":
            known["empty"] = True
        values = {key: _value(key, value, where) for key, value in known.items()}
        cases.append(_checked(Case(file=file, line=number, type=label, allows_python_patterns=True, **values)))
    return cases


def _line_of(bare: list[str], start: int, key: str) -> int:
    """The number of the line, after line `start`, that sets the key or opens the table `[key]` before the next case; else
    `start`, at least 1."""
    shown = re.escape(key)
    pattern = re.compile(
        rf"[ \t]*{shown}" if key.startswith("[") else rf"[ \t]*(?:{shown}[ \t]*[.=]|\[+[ \t]*{shown}\b)"
    )
    for number in range(start, len(bare)):
        if pattern.match(bare[number]):
            return number + 1
        if start and _CASE.match(bare[number]):
            break
    return max(start, 1)


def _place(bare: list[str], start: int, file: str, key: str) -> str:
    return f"{file}:{_line_of(bare, start, key)}"


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], where: Where) -> None:
    """Raises UsageError for a key that is not known, with the nearest known one."""
    for key in table:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise UsageError(f"{where(key)}: unknown key {show(key[:_SHOWN])}", hint)


def _checked(case: Case) -> Case:
    """The case. Raises UsageError if it has no topic, tests nothing, or contradicts itself."""
    if not case.topic:
        raise UsageError(f"{case.place}: the case has no topic", 'write topic = "which database?"')
    if case.empty and (case.must_include or case.answers):
        raise UsageError(f"{case.place}: an empty answer can contain nothing", "remove empty, or what must be included")
    if not any(getattr(case, name) for name in _TESTS):
        raise UsageError(f"{case.place}: the case tests nothing", f"add one of {', '.join(_TESTS)}")
    return case


def _values(table: Mapping[str, Any], where: Where) -> dict[str, Any]:
    """The values of a table whose keys are known. Raises UsageError."""
    return {key: _value(key, value, where(key)) for key, value in table.items()}


def _value(key: str, value: Any, where: str) -> Any:
    """The value of a field of `Case` that a key sets. Raises UsageError for a value of the wrong type or out of bounds."""
    if key == "empty":
        if not isinstance(value, bool):
            raise UsageError(f"{where}: empty must be true or false")
        return value
    if key in _MOST:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST[key]:
            raise UsageError(f"{where}: {key} must be a whole number between 1 and {_MOST[key]}")
        return value
    if key in _LISTS:
        items = value if isinstance(value, list) else [value]
        if not items:
            raise UsageError(f"{where}: {key} is empty", "remove it")
        return tuple(_text(item, key, where) for item in items)
    if key == "at" and isinstance(value, date):  # TOML has dates; a datetime is a date, too
        value = value.isoformat()
    text = _text(value, key, where)
    try:
        if key == "at":
            return normalize_time(text)
        return check_space(text) if key == "space" else text
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", error.hint) from None


def _text(value: Any, key: str, where: str) -> str:
    """The text in Unicode's form NFC, in which paths are stored. Raises UsageError for another type, a blank text and lone
    surrogates."""
    if not isinstance(value, str):
        hint = f'write {key} = ["..."]' if key in _LISTS else f'write {key} = "..."'
        raise UsageError(f"{where}: {key} must be text", hint)
    if not value.strip():
        raise UsageError(f"{where}: {key} is empty", "give it a value, or remove it")
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise UsageError(f"{where}: {key} is not valid Unicode", "correct the file")
    return unicodedata.normalize("NFC", value)
