"""The help that lists commands: the fourteen that one learns first, all of them, and those for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcli.cli.declared import CHECK, PLUMBING, RECALL, SECTIONS, SHARE, START
from memcli.cli.verb import find, names

FIRST = {
    START: ("init", "agent", "status"),
    RECALL: ("remember", "recall", "list", "browse", "pin"),
    CHECK: ("guard", "inbox"),
    SHARE: ("ingest", "watch", "export", "gc"),
}
"""The commands of the first help, in the order in which one meets them."""

_HEAD = """\
memcli: the memory of a software project, kept in its repository

Usage: memcli COMMAND [ARGUMENTS]
"""
_FOOT = """
Try
  memcli remember "We chose PostgreSQL: we need JSONB" --kind decision
  memcli recall "which database?"

memcli help COMMAND   everything about a command
memcli help all       all commands
"""
_FOOT_OF_ALL = """
All commands accept -s/--space, --root, --json, -q, --offline and --freeze-clock.
Aliases: show for get, add for remember, rm for forget.
`memcli help plumbing` lists the commands that other programs call.
"""


def first_help() -> str:
    """The help of `memcli` without arguments."""
    return _HEAD + "".join(_section(title, rows) for title, rows in FIRST.items()) + _FOOT


def full_help() -> str:
    """All commands, by section, those of the first help first."""
    known = names()
    parts = []
    for title in SECTIONS[:-1]:
        first = FIRST[title]
        parts.append(_section(title, [*first, *(n for n in known if n not in first and _section_of(n) == title)]))
    return _HEAD + "".join(parts) + _FOOT_OF_ALL


def plumbing_help() -> str:
    """The commands that other programs call."""
    return _HEAD + _section(PLUMBING, [name for name in names() if _section_of(name) == PLUMBING])


def lines() -> dict[str, str]:
    """The line of each command in the help, by its name, in alphabetical order."""
    return {name: _line(name) for name in names()}


def _section(title: str, chosen: Sequence[str]) -> str:
    return "".join(_rows(title, chosen))


def _rows(title: str, chosen: Sequence[str]) -> Iterator[str]:
    width = max(map(len, chosen))
    yield f"\n{title}\n"
    for name in chosen:
        yield f"  {name:<{max(width, 8)}}  {_line(name)}\n"


def _line(name: str) -> str:
    found = find(name)
    return found.about.line if found else ""


def _section_of(name: str) -> str:
    found = find(name)
    return found.about.section if found else ""
