"""Usage: notes what is shown to somebody, for whoever shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.app.workspace import Workspace
from memcli.model.recall import Bundle
from memcli.model.usage import GET, RECALL, Use
from memcli.ports.usage import NoUsage
from memcli.record import replace


def note_bundle(workspace: Workspace, bundle: Bundle, act: str = RECALL) -> None:
    """Notes what a bundle shows, with the numbers that it is printed with."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, section in enumerate((*bundle.sections, *bundle.always), 1):
        found.setdefault(section.space, []).append((section.memory.id, number))
    if found:
        at = workspace.clock()
        uses = [
            Use(at, act, space, tuple(name for name, _ in shown), places=tuple(n for _, n in shown))
            for space, shown in found.items()
        ]
        workspace.usage.note(uses, bundle.query.topic)


def note_read(workspace: Workspace, ids: Mapping[str, Sequence[str]]) -> None:
    """Notes that the memories of these ids, by space, were read."""
    at = workspace.clock()
    workspace.usage.note([Use(at, GET, space, tuple(names)) for space, names in ids.items()])


def unnoted(workspace: Workspace) -> Workspace:
    """The workspace, for reading what nobody is shown, or shown in another way that its caller notes."""
    return replace(workspace, load_usage=NoUsage)
