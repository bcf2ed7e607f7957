"""What is shown of a memory, and that text and the terminal interface show the same states, in the same order."""

from __future__ import annotations

from pathlib import Path

from memcli.app.workspace import Workspace
from memcli.extras.tui.catalogue import PathCatalogue
from memcli.extras.tui.detail import of_memory
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.present.links import BOTH, IN, OUT, direction
from memcli.present.memory import detail_of, marks
from memcli.render.memory import render_memory
from tests.conftest import NOW, memory, open_at, rewrite

PAST, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
STATES = {
    (): {},
    (("forgotten", ""),): {"active": False},
    (("expired", PAST),): {"valid_until": PAST},
    (("not valid before", FUTURE),): {"valid_from": FUTURE},
    (("superseded", "by mem_new (notes/new)"),): {"superseded_by": "mem_new", "valid_until": PAST},
    (("superseded", "by mem_new (notes/new)"), ("forgotten", "")): {"superseded_by": "mem_new", "active": False},
}  # fmt: skip


def test_the_version_stands_beside_the_time_of_the_change() -> None:
    edited = memory("a", version=3, created_at=PAST, updated_at=NOW)
    assert render_memory(edited, NOW).count("version") == 1


def in_the_browser(workspace: Workspace, shown: Memory) -> list[str]:
    rewrite(workspace.store, lambda _: Space("main", (shown, memory("new", path="notes/new"))))
    return of_memory(shown, PathCatalogue(workspace, CatalogueFilter()), None, NOW).plain.splitlines()


def test_states_are_the_same_in_text_and_in_the_browser(tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    for states, fields in STATES.items():
        shown = memory("a", **fields)
        successor = "notes/new" if shown.superseded_by else ""
        assert detail_of(shown, NOW, successor).states == states, fields
        line = " · ".join(f"{word.upper()} {about}".rstrip() for word, about in states)
        text = render_memory(shown, NOW, successor).splitlines()
        assert text[:3] == [shown.path, line, "mem_a · fact · medium"] if states else text[1].startswith("mem_a"), (
            fields
        )
        seen = in_the_browser(workspace, shown)
        assert seen[1].replace(" (u makes it active again)", "").casefold() == text[1].casefold(), fields


def test_what_is_shown_of_a_memory_beside_its_states() -> None:
    assert [name for name, _, _ in detail_of(memory("a")).dates] == ["created"]
    assert detail_of(memory("a", updated_at=FUTURE, version=2)).dates[1] == ("updated", FUTURE, "version 2")
    note = {"field": "raw", "value": "Old.", "updated_at": PAST}
    detail = detail_of(memory("a", metadata={"conflicts": [note], "source": "chat"}))
    assert detail.conflicts == (f"raw was Old. on the other side of a merge ({PAST})",)
    assert detail.metadata == (("source", "chat"),)
    assert marks(memory("a", pinned=True, active=False, superseded_by="mem_b", metadata={"untrusted": ["x"]})) == "*->!"
    assert [direction("depends_on", is_out=True), direction("depends_on", is_out=False)] == [OUT, IN]
    assert direction("contradicts", is_out=False) == BOTH
