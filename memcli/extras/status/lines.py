"""The lines of `memcli status`: a name, the state, and the command to run where something needs attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.render.clean import clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def status_lines(data: Mapping[str, Any], home: str) -> Iterator[str]:
    """A line for each part of the status. A path below `home` begins with `~`."""
    for name, text in (
        ("store", _store(data["store"], home)),
        ("memories", _memories(data["memories"])),
        ("inbox", f"{data['inbox']} wait: memcli inbox" if data["inbox"] else "empty"),
        ("rules", _rules(data["rules"])),
        ("hooks", _hooks(data["hooks"])),
        ("agents", ", ".join(data["agents"]) or "none: memcli agent install NAME"),
    ):
        yield f"{name:<8}  {clean_line(text)}"


def _store(store: Mapping[str, Any], home: str) -> str:
    root = store["root"]
    shown = f"~{root[len(home) :]}" if root.startswith(f"{home}/") else root
    trusted = "trusted" if store["trusted"] else "not trusted: memcli trust --status"
    changed = len(store["uncommitted"])
    files = f"{changed} {'file' if changed == 1 else 'files'} not committed: memcli diff"
    return ", ".join([shown, trusted, *([files] if changed else [])])


def _memories(memories: Mapping[str, Any]) -> str:
    counts = [f"{count:,} in {name}" for name, count in memories["spaces"].items() if name not in memories["damaged"]]
    damaged = [f"{name} is damaged: memcli check store" for name in memories["damaged"]]
    return ", ".join([*counts, *damaged]) or "none: memcli remember TEXT"


def _rules(rules: Mapping[str, int] | None) -> str:
    if rules is None:
        return "unknown: memcli check store"
    stale = f", {rules['stale']} stale: memcli check code" if rules["stale"] else ""
    return f"{rules['enforced']} enforced{stale}"


def _hooks(hooks: Mapping[str, Any]) -> str:
    if hooks["off"]:
        return "off: memcli on"
    last = f", last run {hooks['last']}" if hooks["last"] else ""
    return f"{', '.join(hooks['installed'])}{last}" if hooks["installed"] else "none: memcli hook install"
