"""Options of commands set in `.memory/config.toml`: in a table with the name of the command, by keys named as the options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, time
from functools import partial
from math import isfinite
from typing import Any

from memcli.cli.binding import typed
from memcli.cli.options import Field, Options
from memcli.errors import UsageError
from memcli.settings import CONFIG_FIELDS, Config, variable
from memcli.store.layout import FOLDER

FILE = f"{FOLDER}/config.toml"
_VARIABLES = frozenset((*CONFIG_FIELDS, "session"))
"""The options that have an environment variable, which overrides the configuration."""
_MOST_LINES = 500
"""The most lines of a file in which the line of a key is looked for: the time grows with the square of their number."""
_LONGEST = 40
"""The most characters of a key that a message prints."""


@contextmanager
def naming_place(values: Mapping[str, Any], places: Mapping[str, tuple[Field, Callable[[], str]]]) -> Iterator[None]:
    """A context in which a UsageError about an option or value of the configuration gets its file, line and key in front."""
    try:
        yield
    except UsageError as error:
        for name, (option, place) in places.items():
            value = values[name]
            is_flag_named = any(flag in error.message for flag in option.flags if flag.startswith("--"))
            if is_flag_named or (isinstance(value, str) and repr(value) in error.message):
                error.message = f"{place()}: {error.message}"
                break
        raise


def read(
    config: Config,
    command: str,
    options: type[Options],
    given: Mapping[str, Any],
    note: Callable[[str], None],
    *,
    is_accepted: bool,
) -> tuple[dict[str, Any], dict[str, tuple[Field, Callable[[], str]]]]:
    """The options of a command that a configuration sets and the caller has not `given`: the values by the names of their
    fields; and by the same names the field, with a function that finds file, line and key for a message.

    Unless the store `is_accepted`, only harmless options are used, and `note` is called with a message that names the others.
    Raises UsageError naming file, line and key of a wrong value.
    """
    values: dict[str, Any] = {}
    places: dict[str, tuple[Field, Callable[[], str]]] = {}
    ignored: list[str] = []
    for key, option, value, problem in _entries(config, command, options):
        if is_accepted and problem:
            raise UsageError(f"{_place(config, command, key)}: {problem.message}", problem.hint)
        # A mistake in a clone that is not accepted is ignored too: a stranger's file must not make commands fail.
        if option is None or problem or not (is_accepted or option.is_harmless):
            ignored.append(f"{command}.{_shown(key)}")
        elif option.name not in given and not (option.name in _VARIABLES and os.environ.get(variable(option.name))):
            values[option.name] = value
            places[option.name] = option, partial(_place, config, command, key)
    if ignored:
        note(f"{FILE} was cloned: ignoring {', '.join(sorted(ignored))} until you run `memcli trust`")
    return values, places


def withheld(config: Config, options: Mapping[str, type[Options]]) -> dict[str, Any]:
    """The keys of a configuration that are ignored until the store is accepted, as `command.key`, with their values."""
    return {
        f"{command}.{_shown(key)}": _plain(config.tables[command][key])
        for command in config.tables
        for key, option, _, problem in _entries(config, command, options[command])
        if problem or option is None or not option.is_harmless
    }


def problems(config: Config, options: Mapping[str, type[Options]]) -> list[str]:
    """The problems in the tables of a configuration, as `command.key: message`."""
    return [
        f"{command}.{_shown(key)}: {problem.message}"
        for command in config.tables
        for key, _, _, problem in _entries(config, command, options[command])
        if problem
    ]


_Entry = tuple[str, Field | None, Any, UsageError | None]
"""A key of a table with its option and value; or with None for both and the error."""


def _entries(config: Config, command: str, options: type[Options]) -> Iterator[_Entry]:
    """The keys of the table of a command. Those of flags may be negated, as `no_explain`."""
    # By key: the option, and whether the key negates it, as `no_explain` does, and `global` for --no-global.
    known: dict[str, tuple[Field, bool]] = {}
    for field in options.FIELDS.values():
        for flag in field.flags:
            if flag.startswith("--"):
                known[flag[2:].replace("-", "_")] = field, False
                if field.type is bool:
                    other = flag[5:] if flag.startswith("--no-") else f"no-{flag[2:]}"
                    known.setdefault(other.replace("-", "_"), (field, True))
    seen: set[str] = set()
    for key, value in config.tables[command].items():
        name = key.replace("-", "_")
        try:
            if name not in known:
                from difflib import get_close_matches

                close = get_close_matches(name, known, 1)
                hint = f"did you mean {close[0]!r}?" if close else "use the names of the command's options"
                raise UsageError("no such option", hint)
            option, is_negated = known[name]
            made = option.value_of(typed(option, _plain(value)))
            if option.name in seen:
                raise UsageError(f"{option.flags[0]} is set twice", "remove one of the keys")
            seen.add(option.name)
            yield key, option, made is False if is_negated else made, None
        except UsageError as problem:
            yield key, None, None, problem


def _shown(key: str) -> str:
    """A key for a message, in ASCII and cut at _LONGEST characters."""
    # In a clone a stranger has written it: it must not move the cursor.
    return (
        key
        if key.isascii() and key.replace("-", "_").isidentifier() and len(key) <= _LONGEST
        else ascii(key[:_LONGEST])
    )


def _plain(value: Any) -> Any:
    """A value of TOML as one of JSON: dates, infinities and NaN become text."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


def _place(config: Config, command: str, key: str) -> str:
    """`FILE:N: COMMAND.KEY`, the place of a key; without the line in a file of more than _MOST_LINES."""
    import tomllib

    # tomllib gives no positions: the line is the first with which the beginning of the file has the key.

    lines = config.text.splitlines(keepends=True)
    where, before = FILE, 0
    for n in range(1, len(lines) + 1 if len(lines) <= _MOST_LINES else 0):
        with suppress(tomllib.TOMLDecodeError):  # within a value of several lines
            if key in tomllib.loads("".join(lines[:n])).get(command, {}):
                where = f"{FILE}:{before + 1}"
                break
            before = n
    return f"{where}: {command}.{_shown(key)}"
