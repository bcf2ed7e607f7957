"""Writes docs/commands.md, all commands with their options as they are declared: `python tools/reference.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memcli.cli.main import load_command
from memcli.cli.options import CommonOptions
from memcli.cli.verb import SECTIONS, Group, find, names

PATH = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = """\
# Commands

Written by `tools/reference.py` from the declarations. `memcli help COMMAND` prints the same with examples.
Aliases: `show` for `get`, `add` for `remember`, `rm` for `forget`.

| exit code | meaning |
|---|---|
| 0 | success, even if the result is empty |
| 1 | internal error; differences (`diff --exit-code`); work left (`hook retry`, `merge-driver`) |
| 2 | usage error |
| 3 | not found; with `--fail-empty` nothing relevant, with `--fail-weak` no sure answer |
| 4 | locked, or in conflict |
| 5 | refused by policy |
| 6 | corrupt or tampered data, or a failed check |
| 7 | a model or program failed |
| 8 | the store cannot be read or written |
| 130 | interrupted |

All commands take `--space`, `--root`, `--json`, `--quiet`, `--offline`, `--freeze-clock` and `--help`.
"""


def reference() -> str:
    """The page in Markdown."""
    known = {name: found for name in names() if (found := find(name)) is not None}
    parts = [HEAD]
    for section in SECTIONS:
        parts.append(f"\n## {section}\n")
        parts += [
            part
            for name, found in known.items()
            if found.about.section == section
            for part in _of(name, found.about.line)
        ]
    return "\n".join(parts).rstrip() + "\n"


def _of(name: str, line: str) -> Iterator[str]:
    """The part of a command, and of those below it."""
    command = load_command(name)
    yield f"### `{name}`\n\n{line}.\n"
    yield from _options(command.params)
    found = find(name)
    if isinstance(found, Group):
        for below, one in command.commands.items():
            yield f"#### `{name} {below}`\n\n{one.help.partition(chr(10) * 2)[0].replace(chr(10), ' ')}\n"
            yield from _options(one.params)


def _options(params: list) -> Iterator[str]:
    """The table of arguments and options that are not those of every command; nothing without any."""
    own = [
        one for one in params if one.name not in {*CommonOptions.FIELDS, "help"} and not getattr(one, "hidden", False)
    ]
    if not own:
        return
    rows = ["| option | |", "|---|---|"]
    for one in own:
        names_of = ", ".join(one.opts) if one.param_type_name == "option" else (one.metavar or one.name).upper()
        value = f" {one.metavar}" if one.param_type_name == "option" and one.metavar else ""
        text = " ".join((one.help or "").split()).replace("|", "\\|").replace("<", "&lt;")
        rows.append(f"| `{names_of}{value}` | {text} |".replace("|` |", "\\|` |"))
    yield "\n".join([*rows, ""])


if __name__ == "__main__":
    PATH.write_text(reference(), encoding="utf-8")
