"""The history of one memory: which commits count, under which names of its space."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from memcli.app.workspace import Workspace
from memcli.codec.space import encode_space
from memcli.extras.tui import timeline as module
from memcli.extras.tui.timeline import timeline
from memcli.model.changes import HistoryCommit
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.record import replace

T = "2026-01-01T00:00:00Z"
NOW = Memory(id="mem_a", path="a/b", kind="fact", raw="three", created_at=T, updated_at=T)


class Past:
    """A history: commits newest first, each with its parents and what the file of a name held."""

    def __init__(self, *commits: tuple[str, str, str, str | None], renamed: dict[str, tuple[str, str]] | None = None):
        self.all = [HistoryCommit(name, tuple(parents.split()), "Ada", T, name) for name, parents, _, _ in commits]
        self.files = {name: file for name, _, file, _ in commits}
        self.held = {name: text for name, _, _, text in commits}
        self.moves = renamed or {}

    def commit(self, revision: str) -> str:
        return self.all[0].hash

    def commits(self, start: str, name: str) -> list[HistoryCommit]:
        return [commit for commit in self.all if self.files[commit.hash] == name]

    def renamed_from(self, commit: str, name: str) -> tuple[str, str] | None:
        return self.moves.get(commit)

    @contextmanager
    def reading(self) -> Iterator[Callable[[str, str], bytes | None]]:
        yield self._read

    def _read(self, commit: str, name: str) -> bytes | None:
        text = self.held[commit]
        if text is None or self.files[commit] != name:
            return None
        if text == "broken":
            return b'{"id": "mem_a"'
        return encode_space(Space("main", objects=(replace(NOW, raw=text),) if text else ()))


def told(workspace: Workspace, past: Past) -> list[str]:
    found = timeline(workspace, past, NOW)
    return [f"{v.commit.hash if v.commit else '-'} {v.change.status}" for v in found.versions]


@pytest.mark.parametrize(
    ("past", "versions"),
    [
        (Past(("c", "b", "main.json", "three"), ("b", "a", "main.json", "two"), ("a", "", "main.json", "two")), ["c changed", "a added"]),
        (Past(("b", "a", "main.json", "two"), ("a", "", "main.json", "")), ["- changed", "b added"]),
        (Past(("m", "l r", "main.json", "three"), ("l", "a", "main.json", "three"), ("r", "a", "main.json", "two"), ("a", "", "main.json", "two")), ["l changed", "a added"]),
        (Past(("c", "b", "main.json", "three"), ("b", "a", "main.json", ""), ("a", "", "main.json", "three")), ["c added", "b removed", "a added"]),
        (Past(("c", "b", "main.json", "three"), ("b", "", "main.json", "broken")), ["c added"]),
        (
            Past(("b", "", "main.json", "three"), ("a", "", "old.json", "two"), renamed={"b": ("old.json", "a")}),
            ["b changed", "a added"],
        ),
    ],
)  # fmt: skip
def test_versions(workspace: Workspace, past: Past, versions: list[str]) -> None:
    assert told(workspace, past) == versions


def test_only_so_many_commits_are_read(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COMMITS", 2)
    past = Past(("c", "b", "main.json", "three"), ("b", "a", "main.json", "two"), ("a", "", "main.json", "one"))
    found = timeline(workspace, past, NOW)
    assert ([v.commit.subject for v in found.versions if v.commit], found.is_cut) == (["c", "b"], True)
