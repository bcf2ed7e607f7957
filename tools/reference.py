"""Writes docs/commands.md and the pages of the manual in man/ from the declarations: `python tools/reference.py`.

A page of the manual is in the macros of man(7), which man-db and mandoc both read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memcli import __version__
from memcli.cli.main import load_command
from memcli.cli.options import CommonOptions
from memcli.cli.topics import EXIT_CODES
from memcli.cli.verb import SECTIONS, Group, find, names

ROOT = Path(__file__).parent.parent
PATH = ROOT / "docs" / "commands.md"
MANUAL = ROOT / "man"
HEAD = """\
# Commands

Written by `tools/reference.py` from the declarations. `memcli help COMMAND` prints the same with examples.
Aliases: `show` for `get`, `add` for `remember`, `rm` for `forget`.

| exit code | meaning |
|---|---|
{codes}

All commands take `--space`, `--root`, `--json`, `--quiet`, `--offline`, `--freeze-clock`, `--color`,
`--no-pager` and `--help`.
"""


def reference() -> str:
    """The page in Markdown."""
    known = {name: found for name in names() if (found := find(name)) is not None}
    parts = [HEAD.format(codes="\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES))]
    for section in SECTIONS:
        parts.append(f"\n## {section}\n")
        parts += [part for name, found in known.items() if found.section == section for part in _of(name, found.line)]
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
    """The table of a command's own options; nothing without any."""
    own = _own(params)
    if not own:
        return
    rows = ["| option | |", "|---|---|"]
    for one in own:
        text = _text(one).replace("|", "\\|").replace("<", "&lt;")
        rows.append(f"| `{_name(one)}` | {text} |".replace("|` |", "\\|` |"))
    yield "\n".join([*rows, ""])


def _own(params: list) -> list:
    """Arguments and options that are neither hidden nor those of every command."""
    return [
        one for one in params if one.name not in {*CommonOptions.FIELDS, "help"} and not getattr(one, "hidden", False)
    ]


def _name(one: Any) -> str:
    """How an argument or option is written, with its value."""
    if one.param_type_name != "option":
        return (one.metavar or one.name).upper()
    return ", ".join(one.opts) + (f" {one.metavar}" if one.metavar else "")


def _text(one: Any) -> str:
    return " ".join((one.help or "").split())


def manual() -> dict[str, str]:
    """The pages of the manual by file name: `memcli.1`, and one for each command."""
    known = {name: found for name in names() if (found := find(name)) is not None and found.section}
    pages = {f"memcli-{name}.1": _page(name, found.line) for name, found in known.items()}
    lines = [_title("memcli"), ".SH NAME", "memcli \\- the memory of a software project, kept in its repository"]
    lines += [".SH SYNOPSIS", ".B memcli", ".I COMMAND", "[\\fIARGUMENTS\\fR]"]
    for section in SECTIONS:
        lines.append(f'.SH "{section.upper()}"')
        for name, found in known.items():
            if found.section == section:
                lines += [".TP", f".BR memcli\\-{_roff(name)} (1)", _roff(found.line)]
    lines.append('.SH "EXIT STATUS"')
    for code, meaning in EXIT_CODES:
        lines += [".TP", f".B {code}", _roff(meaning)]
    pages["memcli.1"] = "\n".join(lines) + "\n"
    return pages


def _page(name: str, line: str) -> str:
    """The page of a command and of those below it."""
    command = load_command(name)
    below = command.commands if isinstance(find(name), Group) else {}
    lines = [_title(f"memcli-{name}"), ".SH NAME", f"memcli\\-{_roff(name)} \\- {_roff(line)}", ".SH SYNOPSIS"]
    lines += [f".B memcli {_roff(name)}", "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]" if below else "[\\fIOPTIONS\\fR]"]
    parts = {"": command, **below}
    for title, one in parts.items():
        own = _own(one.params)
        if title:
            lines += [f'.SH "{_roff(title.upper())}"', *_paragraphs(one.help)]
        elif not below:
            lines += [".SH DESCRIPTION", *_paragraphs(one.help)]
        if own and not title:
            lines.append(".SH OPTIONS")
        for option in own:
            lines += [".TP", f".B {_roff(_name(option))}", _roff(_text(option))]
    lines += ['.SH "SEE ALSO"', ".BR memcli (1)"]
    return "\n".join(lines) + "\n"


def _title(page: str) -> str:
    return f'.TH {page.upper()} 1 "" "memcli {__version__}" "memcli"'


def _paragraphs(text: str) -> Iterator[str]:
    for n, paragraph in enumerate(text.strip().split("\n\n")):
        if n:
            yield ".PP"
        yield _roff(" ".join(paragraph.split()))


def _roff(text: str) -> str:
    """The text with what the macros would take for their own escaped: backslashes, hyphens, a dot or quote in front."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return "\\&" + text if text[:1] in {".", "'"} else text


def write() -> None:
    """Writes the page of commands and those of the manual; a page of a command that is gone is removed."""
    PATH.write_text(reference(), encoding="utf-8")
    pages = manual()
    MANUAL.mkdir(exist_ok=True)
    for old in set(MANUAL.glob("*.1")) - {MANUAL / name for name in pages}:
        old.unlink()
    for name, page in pages.items():
        (MANUAL / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    write()
