"""Completion scripts for bash, zsh and fish, generated from the command tree. The output is committed in `completions/`.

After a change of commands, options or this module: `pytest tests/cli/test_completion.py --update-golden`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memcli.cli.completion.shells import BASH, FISH, ZSH
from memcli.cli.main import ALIASES, VERBS, build
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


_BY_NAME: Mapping[str, Value] = {
    "--backend": Value(words=tuple(sorted(RANKERS))),
    "--field": Value(words=tuple(MEMORY_FIELDS)),
    "--format": Value(words=("json", "md", "prompt", "table", "text")),
    "--source": Value(words=SOURCES),
    "--space": Value("spaces"),
    "--supersedes": Value("refs"),
    "words": Value(words=("token", "create", "list", "revoke")),  # the argument of `memcli serve`
    "name": Value("spaces"),  # the argument of `memcli space`
}
_FREE = (
    "DIGEST", "TOKENS", "MS", "SECONDS", "DAY", "PROVIDER:MODEL", "NAME=X", "ARGUMENT", "PORT",
    "0..1", "0..2", "N", "X", "TIME", "JSON", "TEXT", "TOPIC", "SEASON", "QUERY", "PATTERN", "TRIGGER", "ID", "NAME", "RANGE", "REV",
    "FIELD", "FIELD=VALUE", "FIELD=JSON", "RUN", "NAME=VALUE", "RELATION:ID", "FACT", "PREVIOUS", "CURRENT",
)  # fmt: skip
_BY_METAVAR: Mapping[str, Value] = {
    "local": Value(words=("local",)), "HOOK": Value(words=tuple(NAMES)), "TASK": Value(words=tuple(TASKS)),
    "DIR": Value("dirs"), "FROM": Value("dirs"), "TO": Value("dirs"), "URL": Value("dirs"), "FILE": Value("files"), "ID|PATH": Value("refs"), "ID|PATH|NUMBER": Value("refs"), "KIND": Value("kinds"),
    "PATH": Value("paths"), "SESSION": Value("sessions"), "SPACE": Value("spaces"), "TAG": Value("tags"), **dict.fromkeys(_FREE, Value()),
}  # fmt: skip


def command_tree() -> list[Command]:
    """The program and all its commands with all their options."""
    return list(_walk(build(), (), None))


def _walk(command: Any, path: tuple[str, ...], parent: Any) -> Iterator[Command]:
    context = command.context_class(command, parent, **command.context_settings)
    names = command.list_commands(context) if hasattr(command, "list_commands") else ()
    below = {name: command.get_command(context, name) for name in names}
    texts = tuple(
        (name, c.get_short_help_str(200) if path else VERBS[ALIASES.get(name, name)]) for name, c in below.items()
    )
    found = [_parameter(p, context) for p in command.get_params(context) if not getattr(p, "hidden", False)]
    yield Command(path, tuple(p for p in found if p.names), tuple(p for p in found if not p.names), texts)
    for name, child in below.items():
        yield from _walk(child, (*path, name), context)


def _parameter(given: Any, context: Any) -> Parameter:
    metavar = str(given.metavar or given.make_metavar(context)).strip("[].")
    if given.param_type_name == "argument":
        return Parameter((), "", metavar, _value((given.name,), metavar), given.nargs != 1)
    # Sorted, long ones first: those of --help come in the order of a set.
    names = tuple(sorted((*given.opts, *given.secondary_opts), key=lambda name: (name[:2] != "--", name)))
    value = None if given.is_flag else _value(names, metavar)
    return Parameter(names, " ".join((given.help or "").split()), metavar, value, given.multiple)


def _value(names: tuple[str, ...], metavar: str) -> Value:
    for name in names:
        if name in _BY_NAME and (metavar in _BY_METAVAR or "|" not in metavar):
            return _BY_NAME[name]
    if metavar not in _BY_METAVAR and "|" not in metavar:
        raise LookupError(f"{__name__} does not say what completes {metavar} ({', '.join(names)})")
    return _BY_METAVAR.get(metavar) or Value(words=tuple(metavar.split("|")))


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
