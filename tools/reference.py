"""Writes docs/commands.md, docs/interfaces.md and the pages of the manual in man/ from the declarations:
`python tools/reference.py`.

A page of the manual is in the macros of man(7), which man-db and mandoc both read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memcli import __version__
from memcli.cli.main import load_command
from memcli.cli.options import CommonOptions
from memcli.cli.topics import ENVIRONMENT, EXIT_CODES
from memcli.cli.verb import SECTIONS, Group, all_verbs, find, names
from memcli.extras.schema.schemas import SCHEMAS
from memcli.model.memory import default_importance
from memcli.model.shapes import FIELDS, KINDS, POLICY_FIELDS
from memcli.model.space import Policy
from memcli.policy.ageing import HALF_LIVES
from memcli.settings import CONFIG_FIELDS, HARMLESS_FIELDS

ROOT = Path(__file__).parent.parent
PATH = ROOT / "docs" / "commands.md"
INTERFACES = ROOT / "docs" / "interfaces.md"
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


_INTERFACES = """\
# Interfaces

Written by `tools/reference.py` from the declarations: what scripts, servers and other programs may
rely on. [What stays](stability.md) says for how long; exit codes are in [commands](commands.md).

## Environment

{environment}

## Configuration

Keys of `.memory/config.toml`: {configuration}. Each is also a
variable, such as `MEMCLI_SPACE`, which comes before the file; an option comes before both. Tables
`[recall]` and `[remember]` set options of these commands. In a clone that nobody has accepted by
`memcli trust`, only the keys marked with * apply.

## Policies

`memcli space policy SPACE --set NAME=VALUE` sets the rules of a space; `memcli schema policy`
prints their schema.

{policies}

## Memories

Fields of a memory in a space file, in exports, and in what `--json` prints; `memcli schema object`
prints their schema, `memcli schema` those of the other forms: {forms}.
A merge takes the value of the side that edited it, adds the items of both sides, joins an object
key by key, or takes what belongs to the text that it takes.

{fields}

## Kinds

Any word is a kind; of these memcli knows more: the importance of a memory that has none of its own,
and after how many days without confirmation its confidence falls to a third.

{kinds}

## MCP

Tools of `memcli mcp`:

{tools}

## HTTP

Endpoints of `memcli serve` that are commands, each with the role that a token needs; the memories
of a space are at `/apps/SPACE/memories`. `/openapi.json` describes all.

{endpoints}
"""


def interfaces() -> str:
    """The page of what other programs use, in Markdown."""
    defaults = {name: getattr(Policy(), name, None) for name in POLICY_FIELDS}
    verbs = list(all_verbs())
    tools = sorted((tool.name, tool.description, tool.fields) for verb in verbs for tool in verb.tools)
    routes = sorted(
        (http.path, http.method, http.summary, verb.role_for(http.fixed)) for verb in verbs for http in verb.http
    )
    return _INTERFACES.format(
        environment=_table(("variable", ""), ((f"`{name}`", text) for name, text in ENVIRONMENT)),
        configuration=", ".join(f"`{name}`" + "\\*" * (name in HARMLESS_FIELDS) for name in CONFIG_FIELDS),
        policies=_table(
            ("policy", "value", "default", ""),
            (
                (f"`{name}`", _kind(shape), _default(defaults[name]), shape.get("description", ""))
                for name, shape in POLICY_FIELDS.items()
            ),
        ),
        forms=", ".join(f"`{name}`" for name in sorted(SCHEMAS)),
        fields=_table(
            ("field", "value", "merged"), ((f"`{name}`", _kind(row.shape), row.merging) for name, row in FIELDS.items())
        ),
        kinds=_table(
            ("kind", "importance", "days"),
            (
                (f"`{kind}`", str(default_importance(kind)), f"{HALF_LIVES[kind]:.0f}" if kind in HALF_LIVES else "")
                for kind in sorted(KINDS)
            ),
        ),
        tools=_table(("tool", "", "arguments"), ((f"`{n}`", text, ", ".join(fields)) for n, text, fields in tools)),
        endpoints=_table(
            ("", "", "role"), ((f"`{method} {path}`", summary, str(role)) for path, method, summary, role in routes)
        ),
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    heads = list(heads)
    lines = [
        heads,
        ["---"] * len(heads),
        *([cell.replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _kind(shape: Mapping[str, Any]) -> str:
    """What a value of this shape is."""
    if "enum" in shape:
        return ", ".join(f"`{value}`" for value in shape["enum"])
    kind = shape.get("type", "any JSON")
    bounds = [str(shape[name]) for name in ("minimum", "maximum") if name in shape and abs(shape[name]) < 1 << 31]
    return f"{kind}, {' to '.join(bounds)}" if len(bounds) == 2 else f"{kind}, from {bounds[0]}" if bounds else kind


def _default(value: object) -> str:
    """The default of a policy; nothing where it is empty."""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value or value is False else ""


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
    """Writes the pages of commands and interfaces and those of the manual; a page of a command that is gone is removed."""
    PATH.write_text(reference(), encoding="utf-8")
    INTERFACES.write_text(interfaces(), encoding="utf-8")
    pages = manual()
    MANUAL.mkdir(exist_ok=True)
    for old in set(MANUAL.glob("*.1")) - {MANUAL / name for name in pages}:
        old.unlink()
    for name, page in pages.items():
        (MANUAL / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    write()
