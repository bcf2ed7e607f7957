"""Completion scripts for bash, zsh and fish, generated from the command tree. The output is committed in `completions/`.

After a change of commands, options or this module: `pytest tests/cli/test_completion.py --update-golden`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from memcli.agents.table import AGENTS
from memcli.cli.completion.shells import BASH, FISH, ZSH
from memcli.cli.options import (
    CHOICE,
    FILE,
    FOLDER,
    KIND,
    MEMORY,
    PATH,
    SESSION,
    SPACE,
    TAG,
    CommonOptions,
    Field,
)  # fmt: skip
from memcli.cli.verb import ALIASES, Group, Verb, find, names
from memcli.git.hook_script import NAMES
from memcli.model.shapes import MEMORY_FIELDS, SOURCES
from memcli.ranking import RANKERS
from memcli.record import Record
from memcli.upkeep.plan import TASKS


class Value(Record):
    """What completes a value: a source of `memcli __complete`, files, dirs, fixed words, or nothing."""

    source: str = ""
    words: tuple[str, ...] = ()


class Parameter(Record):
    """An option with all its names, or an argument without names. A flag has no value."""

    names: tuple[str, ...]
    help: str
    metavar: str
    value: Value | None
    is_repeated: bool


class Command(Record):
    """A command, or a group with the names and help of its commands. The path of the program itself is empty."""

    path: tuple[str, ...]
    options: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]
    commands: tuple[tuple[str, str], ...]


_SOURCES = {
    FILE: "files", FOLDER: "dirs", MEMORY: "refs", KIND: "kinds", PATH: "paths", SESSION: "sessions", SPACE: "spaces",
    TAG: "tags",
}  # fmt: skip
"""The kinds of values that are completed from the store or from the files of the disk, and how."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "AGENT": tuple(AGENTS),
    "FORMAT": ("json", "md", "prompt", "table", "text"),
    "HOOK": tuple(NAMES),
    "SOURCE": SOURCES,
    "TASK": tuple(TASKS),
    "token ACTION": ("token", "create", "list", "revoke"),
    "--backend": tuple(sorted(RANKERS)),
    "--field": tuple(MEMORY_FIELDS),
}
"""What completes values whose words are too heavy to load for each command, by metavar or flag."""


def command_tree() -> list[Command]:
    """The program and all its commands with all their options."""
    known = {**{name: name for name in names()}, **ALIASES}
    texts = tuple((name, _text(_command(told))) for name, told in known.items())
    root = Command((), (_VERSION, _HELP_OPTION), (), texts)
    return [root, *(one for name, told in known.items() for one in _walk(_command(told), (name,)))]


def _command(name: str) -> Verb | Group:
    found = find(name)
    assert found is not None
    return found


def _text(command: Verb | Group) -> str:
    return command.about.line or command.text.partition("\n\n")[0]


def _walk(command: Verb | Group, path: tuple[str, ...]) -> Iterator[Command]:
    """The command, and those below it."""
    verb = command.default if isinstance(command, Group) else command
    below = command.verbs if isinstance(command, Group) else {}
    fields = verb.options.FIELDS.values() if verb else ()
    options = [_parameter(field) for field in fields if not field.is_argument]
    options += [_parameter(field) for field in CommonOptions.FIELDS.values()] if verb else []
    arguments = tuple(_parameter(field) for field in fields if field.is_argument)
    yield Command(path, (*options, _HELP_OPTION), arguments, tuple((n, _text(v)) for n, v in below.items()))
    for name, child in below.items():
        yield from _walk(child, (*path, name))


def _parameter(field: Field) -> Parameter:
    metavar = field.metavar.strip("[].")
    if field.is_argument:
        return Parameter((), "", metavar, _value(field, metavar), field.many)
    flags = [flag for text in field.flags for flag in text.split("/")]
    value = None if field.type is bool else _value(field, metavar)
    return Parameter(tuple(sorted(flags, key=lambda n: (n[:2] != "--", n))), field.help, metavar, value, field.many)


def _value(field: Field, metavar: str) -> Value:
    for name in (*field.flags, metavar):
        if name in _WORDS:
            return Value(words=_WORDS[name])
    if field.kind == CHOICE:
        return Value(words=tuple(metavar.split("|")))
    return Value(_SOURCES.get(field.kind, ""))


_HELP_OPTION = Parameter(("--help", "-h"), "Show this message and exit.", "", None, False)
_VERSION = Parameter(("--version",), "Print the version.", "", None, False)


def _bash() -> str:
    return BASH.replace("@TABLE@", "\n".join(_bash_case(c) for c in command_tree()))


def _bash_case(command: Command) -> str:
    named = [(name, option.value) for option in command.options for name in option.names]
    sets = {
        "commands": [name for name, _ in command.commands],
        "options": [name if value is None else f"{name}={_bash_value(value)}" for name, value in named],
        "arguments": [_bash_value(a.value or Value()) + "..." * a.is_repeated for a in command.arguments],
    }
    lines = [f"    {name}='{' '.join(words)}'" for name, words in sets.items() if words]
    return "\n".join([f"  '{' '.join(command.path)}')", *lines, "    ;;"])


def _bash_value(value: Value) -> str:
    return value.source or "".join(f",{word}" for word in value.words) or "-"


def _zsh() -> str:
    return ZSH.replace("@TABLE@", "".join(_zsh_function(c) for c in command_tree()))


def _zsh_function(command: Command) -> str:
    name = "-".join(("_memcli", *command.path))
    specs = [_zsh_option(option, name) for option in command.options for name in option.names]
    specs += [f"{'*' if a.is_repeated else n}{_zsh_value(a)}" for n, a in enumerate(command.arguments, 1)]
    below = ""
    if command.commands:
        specs += ["1: : _describe -t commands command commands", f"*:: : _call_function - {name}-$words[1]"]
        below = "  local -a commands=(\n" + "".join(f"    {_quote(':'.join(c))}\n" for c in command.commands) + "  )\n"
    lines = " \\\n".join(f"    {_quote(spec)}" for spec in specs)
    return f"\n{name}() {{\n  local -A opt_args\n{below}  _arguments -s -S \\\n{lines}\n}}\n"


def _zsh_option(option: Parameter, name: str) -> str:
    others = "*" if option.is_repeated else "(- *)" if name in ("--help", "-h") else f"({' '.join(option.names)})"
    mark = "" if option.value is None else "=" if name.startswith("--") else "+"
    return f"{others}{name}{mark}[{_zsh_text(option.help)}]{_zsh_value(option)}"


def _zsh_value(parameter: Parameter) -> str:
    if parameter.value is None:
        return ""
    known = {"": f"({' '.join(parameter.value.words)})", "files": "_files", "dirs": "_files -/"}
    action = known.get(parameter.value.source, f" _memcli_values {parameter.value.source}")
    return f":{_zsh_text(parameter.metavar)}:{action}"


def _zsh_text(text: str) -> str:
    return re.sub(r"([\\:\[\]])", r"\\\1", text)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish() -> str:
    commands = command_tree()
    names = " ".join(_quote(" ".join(c.path)) for c in commands if c.path)
    lines = "\n".join(line for command in commands for line in _fish_lines(command))
    return FISH.replace("@COMMANDS@", names).replace("@TABLE@", lines)


def _fish_lines(command: Command) -> Iterator[str]:
    at = f"complete -c memcli -n '{' '.join(('__memcli_at', *command.path))}'"
    for name, text in command.commands:
        yield f"{at} -a {name}{_fish_text(text)}"
    for option in command.options:
        names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
        takes = "" if option.value is None else f" -r{_fish_value(option.value)}"
        yield f"{at} {names}{takes}{_fish_text(option.help)}"
    for argument in command.arguments:
        yield at + _fish_value(argument.value or Value())


def _fish_value(value: Value) -> str:
    known = {"": " ".join(value.words), "dirs": "(__fish_complete_directories)"}
    given = known.get(value.source, f"(__memcli_values {value.source})")
    return " -F" if value.source == "files" else f" -f -a '{given}'" if given else " -f"


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{escaped}'" if text else ""


SHELLS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
