"""The commands that agents and git call many times a minute, past Typer, which is most of what they would cost.

The parser here takes plain command lines only and leaves everything else to Typer: options that it does not know,
values that do not fit, anything that asks for help. What both understand means the same; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.cli.boundary import guarded
from memcli.cli.session import Session

_SHORT = {"-s": "space", "-q": "quiet", "-l": "limit", "-k": "kind", "-t": "tag", "-f": "file", "-p": "path"}
_RENAMED = {"id": "identifier", "set": "set_", "object": "object_", "format": "format_"}
_COMMON = {
    "space": "str | None", "root": "str | None", "json": "bool", "quiet": "bool", "freeze_clock": "str | None",
}  # fmt: skip
_POSITIONAL = {"recall": "topic", "remember": "text", "hook run": "hook"}
_READ: Mapping[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "list[str]": str}


def run(args: Sequence[str]) -> int | None:
    """Runs `args` and returns the exit code; None when the command line is not for this parser."""
    command, words, rest = args[0], list(args[1:]), None
    if command == "hook":  # `hook run HOOK -- ARGUMENT...`, as the installed hooks call it
        if words[:1] != ["run"] or "--" not in words:
            return None
        at = words.index("--")
        command, words, rest = "hook run", words[1:at], words[at + 1 :]
    function = _load(command)
    values = parse(words, function.__annotations__, _POSITIONAL[command])
    if values is None or (rest is not None and "hook" not in values):
        return None
    if rest is not None:
        values["arguments"] = rest
    common = {name: values.pop(name, False if kind == "bool" else None) for name, kind in _COMMON.items()}

    def work() -> int:
        with Session(command, **common) as session:
            return function(session, **values)

    return guarded(work, json=bool(common["json"]))


def parse(args: Sequence[str], annotations: Mapping[str, str], positional: str) -> dict[str, Any] | None:
    """The parameters that `args` give, by name; None for whatever is not plain.

    `annotations` are those of the function that will be called: they say which options there are.
    """
    types = {**_COMMON, **{n: t for n, t in annotations.items() if n not in ("session", "arguments", "return")}}
    values: dict[str, Any] = {}
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            if positional in values:
                return None
            values[positional] = word
            continue
        option, sign, value = word.partition("=")
        name = _name(option)
        kind = types.get(name, "").removesuffix(" | None")
        if not kind or name == positional or (name in values and kind != "list[str]"):
            return None
        if kind == "bool":
            if sign:
                return None
            values[name] = True
            continue
        if not sign:
            if not rest or (rest[0].startswith("-") and rest[0] != "-"):
                return None
            value = rest.pop(0)
        try:
            read = _READ[kind](value)
        except ValueError:
            return None
        values[name] = [*values.get(name, []), read] if kind == "list[str]" else read
    return values


def _name(option: str) -> str:
    if not option.startswith("--"):
        return _SHORT.get(option, "")
    name = option[2:].replace("-", "_")
    return "" if "_" in option[2:] else _RENAMED.get(name, name)


def _load(verb: str) -> Callable[..., int]:
    if verb == "recall":
        from memcli.cli.recalling import recall

        return recall
    if verb == "hook run":
        from memcli.cli.hooking import run_hook

        return run_hook
    from memcli.cli.remembering import store_memory

    return store_memory
