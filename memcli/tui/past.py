"""The history of a memory: what each commit changed in it, and what the audit log of this machine says."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content

from memcli.app.timeline import MAX_COMMITS, Timeline, TimelineVersion, timeline
from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError
from memcli.git.revisions import open_history
from memcli.model.memory import Memory
from memcli.render.changes import change_lines
from memcli.render.clean import clean_line
from memcli.store.layout import Layout
from memcli.tui.comparison import Comparison
from memcli.tui.dialog import ListWindow
from memcli.tui.keys import HISTORY, bindings

_SHORT = 10
_LABEL = "$text-muted"


def read_past(workspace: Workspace, memory: Memory) -> Timeline:
    """The history of a memory; where git has none, of the audit log. Raises CorruptError, StoreError, ProviderError."""
    try:
        return timeline(workspace, open_history(Layout(workspace.root).spaces), memory)
    except NotFoundError:  # no repository, or none with commits
        return timeline(workspace, None, memory)


class Past(ListWindow[None]):
    """Versions and acts, newest first; the changes of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(HISTORY)
    keys = HISTORY

    def __init__(self, memory: Memory, past: Timeline) -> None:
        super().__init__()
        self.title_text = f"history of {clean_line(memory.path)}"
        self._memory = memory
        self._past = past

    def on_mount(self) -> None:
        """Shows all there is."""
        lines = [_version_line(version) for version in self._past.versions]
        self.fill([*lines, *map(_act_line, self._past.acts)], _note(self._past))

    def about(self, n: int) -> Content:
        """The changes of a version, or an act in full."""
        versions = self._past.versions
        return _version(versions[n]) if n < len(versions) else _act(self._past.acts[n - len(versions)], self._memory.id)

    def on_option_list_option_selected(self) -> None:
        """Enter on a line of the list."""
        self.action_compare()

    def action_compare(self) -> None:
        """Compares the version under the cursor with the memory as it is now."""
        if self.index is None or self.index >= len(self._past.versions):
            self.notify("this entry has no version to compare", severity="warning")
            return
        version = self._past.versions[self.index]
        then = f"{_when(version)} {_name(version)}"
        self.app.push_screen(Comparison(version.change.memory, self._memory, (then, "now")))


def _note(past: Timeline) -> str:
    if not past.versions and not past.acts:
        return "No commit contains this memory, and the audit log of this machine does not mention it."
    commits = sum(version.commit is not None for version in past.versions)
    told = f"{commits} {'commit' if commits == 1 else 'commits'}, {len(past.acts)} in the audit log of this machine"
    return f"{told}; only the last {MAX_COMMITS:,} commits were read" if past.is_cut else told


def _version_line(version: TimelineVersion) -> Content:
    subject = version.commit.subject if version.commit else "not committed yet"
    return Content.assemble(
        f"{_when(version):<10} ",
        (f"{_name(version):<10} ", _LABEL),
        f"{version.change.status:<10} ",
        clean_line(subject),
    )


def _name(version: TimelineVersion) -> str:
    return version.commit.hash[:_SHORT] if version.commit else "-"


def _when(version: TimelineVersion) -> str:
    return (version.commit.date if version.commit else version.change.memory.updated_at)[:10]


def _act_line(act: dict[str, Any]) -> Content:
    told = clean_line(f"{act.get('command')}: {act.get('action')}")
    return Content.assemble(f"{str(act.get('time'))[:10]:<10} ", (f"{'audit':<10} ", _LABEL), f"{'':<10} ", told)


def _version(version: TimelineVersion) -> Content:
    commit = version.commit
    head = [Content(clean_line(f"commit {commit.hash}  {commit.author}  {commit.date}"))] if commit else []
    return Content("\n").join([*head, *map(Content, change_lines(version.change))])


def _act(act: dict[str, Any], identifier: str) -> Content:
    names = {"time": "time", "user": "user", "command": "command", "action": "action"}
    found: dict[str, Any] = next((one for one in act.get("changes", ()) if one.get("id") == identifier), {})
    what = "created" if not found.get("before") else "deleted" if not found.get("after") else "changed"
    others = len(act.get("changes", ())) - 1
    values = {**{name: act.get(key) for name, key in names.items()}, "memory": what}
    if others > 0:
        values["others"] = f"{others} other {'memory' if others == 1 else 'memories'} in the same act"
    return Content("\n").join(
        Content.assemble((f"{name:<10} ", _LABEL), clean_line(str(value))) for name, value in values.items() if value
    )
