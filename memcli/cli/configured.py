"""What `.memory/config.toml` sets of the options of a command: a table of the command's name, with keys as its options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, time
from functools import partial
from math import isfinite
from typing import Any

from memcli.cli.binding import typed
from memcli.cli.options import Field, Options
from memcli.errors import UsageError
from memcli.record import Record, field
from memcli.settings import CONFIG_FIELDS, Config, variable
from memcli.store.layout import FOLDER

FILE = f"{FOLDER}/config.toml"
_VARIABLES = frozenset((*CONFIG_FIELDS, "session"))
"""The options that have a variable of their name, which wins over the configuration."""
_MOST_LINES = 500
_LONGEST = 40


class Configured(Record):
    """The values that a configuration sets, by the names of their fields; `places` has the option of each, and a function
    that finds file, line and key for a message."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, tuple[Field, Callable[[], str]]] = field(default_factory=dict)

    def explain(self, error: UsageError) -> None:
        """Prefixes an error with the key that set the option or value that it names, if one did."""
        for name, (option, place) in self.places.items():
            value = self.values[name]
            if any(flag in error.message for flag in option.flags if flag.startswith("--")) or (
                isinstance(value, str) and repr(value) in error.message
            ):
                error.message = f"{place()}: {error.message}"
                return


def read(
    config: Config,
    command: str,
    options: type[Options],
    given: Mapping[str, Any],
    note: Callable[[str], None],
    *,
    is_accepted: bool,
) -> Configured:
    """What a configuration sets of the options of a command that are not `given`.

    In a store that is not accepted, only harmless options hold; `note` is called with the names of the others. Raises
    UsageError naming file, line and key of what is wrong.
    """
    values: dict[str, Any] = {}
    places: dict[str, tuple[Field, Callable[[], str]]] = {}
    ignored: list[str] = []
    for key, option, value, problem in _entries(config, command, options):
        if is_accepted and problem:
            raise UsageError(f"{_place(config, command, key)}: {problem.message}", problem.hint)
        if option is None or problem or not (is_accepted or option.is_harmless):
            ignored.append(f"{command}.{_shown(key)}")
        elif option.name not in given and not (option.name in _VARIABLES and os.environ.get(variable(option.name))):
            values[option.name] = value
            places[option.name] = option, partial(_place, config, command, key)
    if ignored:
        note(f"{FILE} was cloned: ignoring {', '.join(sorted(ignored))} until you run `memcli trust`")
    return Configured(values, places)


def withheld(config: Config, options: Mapping[str, type[Options]]) -> dict[str, Any]:
    """The keys of a configuration that hold only once the store is accepted, as `command.key`, with their values."""
    return {
        f"{command}.{_shown(key)}": _plain(config.tables[command][key])
        for command in config.tables
        for key, option, _, problem in _entries(config, command, options[command])
        if problem or option is None or not option.is_harmless
    }


def problems(config: Config, options: Mapping[str, type[Options]]) -> list[str]:
    """What is wrong with the tables of a configuration, each with `command.key`."""
    return [
        f"{command}.{_shown(key)}: {problem.message}"
        for command in config.tables
        for key, _, _, problem in _entries(config, command, options[command])
        if problem
    ]


_Entry = tuple[str, Field | None, Any, UsageError | None]
"""A key of a table, with its option and the value for it, or with what is wrong."""


def _entries(config: Config, command: str, options: type[Options]) -> Iterator[_Entry]:
    known = _keys(options)
    seen: set[str] = set()
    for key, value in config.tables[command].items():
        try:
            option, made = _read(known, key, value)
            if option.name in seen:
                raise UsageError(f"{option.flags[0]} is set twice", "remove one of the keys")
            seen.add(option.name)
            yield key, option, made, None
        except UsageError as problem:
            yield key, None, None, problem


def _place(config: Config, command: str, key: str) -> str:
    """Where a key is set, and its name."""
    return f"{FILE}{_line(config.text, command, key)}: {command}.{_shown(key)}"


def _keys(options: type[Options]) -> dict[str, tuple[Field, bool]]:
    """The options by their keys, and whether a key negates: `explain`, `no_explain` and `global`."""
    found: dict[str, tuple[Field, bool]] = {}
    for option in options.FIELDS.values():
        for flag in option.flags:
            if flag.startswith("--"):
                found[_name(flag[2:])] = option, False
                if option.type is bool:
                    other = flag[5:] if flag.startswith("--no-") else f"no-{flag[2:]}"
                    found.setdefault(_name(other), (option, True))
    return found


def _shown(key: str) -> str:
    """A key for a message: a stranger may have written anything."""
    return key if key.isascii() and _name(key).isidentifier() and len(key) <= _LONGEST else ascii(key[:_LONGEST])


def _name(key: str) -> str:
    return key.replace("-", "_")


def _read(known: Mapping[str, tuple[Field, bool]], key: str, value: Any) -> tuple[Field, Any]:
    """The option of a key, and its value as the command reads it. Raises UsageError."""
    if _name(key) not in known:
        from difflib import get_close_matches

        close = get_close_matches(_name(key), known, 1)
        hint = f"did you mean {close[0]!r}?" if close else "use the names of the command's options"
        raise UsageError("no such option", hint)
    option, is_negated = known[_name(key)]
    made = option.value_of(typed(option, _plain(value)))
    return option, made is False if is_negated else made


def _plain(value: Any) -> Any:
    """A value of TOML as one of JSON: dates, and numbers that are none, as text."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


def _line(text: str, command: str, key: str) -> str:
    """`:N` for the line on which the key is set; nothing in a file too long to look for it."""
    import tomllib

    lines = text.splitlines(keepends=True)
    before = 0
    for n in range(1, len(lines) + 1 if len(lines) <= _MOST_LINES else 0):
        with suppress(tomllib.TOMLDecodeError):  # within a value of several lines
            if key in tomllib.loads("".join(lines[:n])).get(command, {}):
                return f":{before + 1}"
            before = n
    return ""
