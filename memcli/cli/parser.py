"""The parser of command lines. Typer is imported only for help, completions and the errors of what this does not accept.

Importing Typer takes as long as a short command. Both read the same fields; a test compares them option by option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.cli.options import REQUIRED, CommonOptions, Field, fill_bare
from memcli.cli.output import guarded
from memcli.cli.verb import ALIASES, CommandContext, Group, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(args: Sequence[str]) -> int | None:
    """Runs `args` and returns the exit code; None if this parser does not accept the command line."""
    if not args or args[0].startswith("-"):
        return None
    verb, words = find(ALIASES.get(args[0], args[0])), args[1:]
    if isinstance(verb, Group):
        below = verb.verbs.get(words[0]) if words else None
        verb, words = (verb.default, words) if below is None else (below, words[1:])
    if verb is None:
        return None
    fields = {**verb.options.FIELDS, **CommonOptions.FIELDS}
    values = parse(fill_bare(words, verb.options.FIELDS), fields, verb.negations)
    if values is None:
        return None
    common = {name: values.pop(name) for name in CommonOptions.FIELDS if name in values}
    with guarded(json=bool(common.get("json"))) as outcome:
        outcome.code = verb.run_in(CommandContext(verb.name, CommonOptions(**common)), values)
    return outcome.code


def parse(
    args: Sequence[str], fields: Mapping[str, Field], negations: Mapping[str, Field] = {}
) -> dict[str, Any] | None:
    """The values in `args` by field name; None if the command line is not plain."""
    by_flag = {flag.partition("/")[0]: field for field in fields.values() for flag in field.flags}
    pairs = [(flag.partition("/")[2], field) for field in fields.values() for flag in field.flags if "/" in flag]
    resets = {**negations, **dict(pairs)}
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
        elif (reset := resets.get(word)) is not None and reset.name not in values:
            values[reset.name] = reset.unset if word in negations else False
            negated.add(reset.name)
        else:
            flag, sign, value = word.partition("=")
            field = by_flag.get(flag)
            if field is None or field.name in negated or (field.name in values and not field.many):
                return None
            if not _set(field, value if sign else None, rest, values):
                return None
    is_whole = all(field.name in values for field in fields.values() if field.default is REQUIRED)
    return values if is_whole else None


def _set(field: Field, value: str | None, rest: list[str], values: dict[str, Any]) -> bool:
    """Stores the value of an option, by default the next word, which it takes from `rest`. Returns whether there is one."""
    if field.type is bool:
        values[field.name] = True
        return value is None
    if value is None:
        if not rest or (rest[0].startswith("-") and rest[0] != "-"):
            return False
        value = rest.pop(0)
    return _add(value, field, values)


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
