"""A fast path past Typer for commands that agents and git call many times a minute; Typer dominates their start-up time.

This parser handles only plain command lines and leaves the rest to Typer: unknown options, invalid values, requests for
help. Both read the same fields; a test compares them option by option.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.cli.options import REQUIRED, CommonOptions, Field, fill_bare
from memcli.cli.output import guarded
from memcli.cli.verb import Group, Verb

_LOOKUPS = {"get": "get", "list": "list_", "tree": "tree"}
"""Commands that share a module, and their names in it."""


def run(args: Sequence[str]) -> int | None:
    """Runs `args` and returns the exit code; None if this parser does not handle the command line."""
    module = importlib.import_module(f"memcli.cli.commands.{'lookup' if args[0] in _LOOKUPS else args[0]}")
    verb: Verb | Group = getattr(module, _LOOKUPS.get(args[0], "command"))
    words = args[1:]
    if isinstance(verb, Group):
        if not words or words[0] not in verb.verbs:
            return None
        verb, words = verb.verbs[words[0]], words[1:]
    fields = {**verb.options.FIELDS, **CommonOptions.FIELDS}
    values = parse(fill_bare(words, verb.options.FIELDS), fields, verb.negations)
    if values is None:
        return None
    common = {name: values.pop(name) for name in CommonOptions.FIELDS if name in values}
    found = verb

    def work() -> int:
        return found.run(CommonOptions(**common), values)

    return guarded(work, json=bool(common.get("json")))


def parse(
    args: Sequence[str], fields: Mapping[str, Field], negations: Mapping[str, Field] = {}
) -> dict[str, Any] | None:
    """The values in `args` by field name; None if the command line is not plain."""
    by_flag = {flag: field for field in fields.values() for flag in field.flags}
    places = [field for field in fields.values() if field.is_argument]
    values: dict[str, Any] = {}
    negated: set[str] = set()
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            if not _place(rest, places, values):
                return None
            break
        if word == "-" or not word.startswith("-"):
            if not _place([word], places, values):
                return None
            continue
        flag, sign, value = word.partition("=")
        if (field := negations.get(word)) is not None and field.name not in values:
            values[field.name] = field.unset
            negated.add(field.name)
            continue
        field = by_flag.get(flag)
        if field is None or field.name in negated or (field.name in values and not field.many):
            return None
        if field.type is bool:
            if sign:
                return None
            values[field.name] = True
            continue
        if not sign:
            if not rest or (rest[0].startswith("-") and rest[0] != "-"):
                return None
            value = rest.pop(0)
        if not _add(value, field, values):
            return None
    is_whole = all(field.name in values for field in fields.values() if field.default is REQUIRED)
    return values if is_whole else None


def _place(words: Sequence[str], places: list[Field], values: dict[str, Any]) -> bool:
    """Assigns words to the next arguments. Returns whether all fitted."""
    for word in words:
        field = next((field for field in places if field.many or field.name not in values), None)
        if field is None or not _add(word, field, values):
            return False
    return True


def _add(word: str, field: Field, values: dict[str, Any]) -> bool:
    """Stores a value. Returns whether it has the field's type."""
    try:
        value = field.type(word)
    except ValueError:
        return False
    values[field.name] = [*values.get(field.name, []), value] if field.many else value
    return True
