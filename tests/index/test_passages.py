"""What the index knows of passages: which there are, and how near they are."""

from __future__ import annotations

import math

import pytest

from memcli.app.workspace import Workspace, opened
from memcli.model.memory import Memory
from memcli.text.passages import MESSAGE
from tests.conftest import NOW, memory, rewrite
from tests.index.kinds import asked, change, on_both, put

pytestmark = on_both

MESSAGE_TEXT = "Retry when a page times out\n\nThe zebra server drops one request of a hundred."


def of(name: str, file: str, line: str, commit: str = "c1") -> Memory:
    return change(name, file, f"{MESSAGE_TEXT}\n\n{file}\n@@\n+{line}", commit)


FILES = [of("b", "net/b.py", "okapi()"), of("a", "net/a.py", "tapir()"), of("c", "net/c.py", "gnu()")]


def tellers(workspace: Workspace) -> list[str]:
    """The memories that keep a message."""
    with opened(workspace) as (_, view):
        entries = view.entries()
        found = view.passages(["zebra"], sorted(entries))
        return sorted(entries[row].id for row, kept in found.items() if any(one.form == MESSAGE for one in kept))


def test_one_file_of_a_commit_keeps_the_message_whatever_comes_and_goes(workspace: Workspace) -> None:
    put(workspace, FILES[0], FILES[2])
    assert tellers(workspace) == ["mem_b"]
    put(workspace, FILES[1])
    assert tellers(workspace) == ["mem_a"]
    rewrite(workspace.store, lambda space: space.drop(["mem_a"], NOW))
    assert tellers(workspace) == ["mem_b"]
    put(workspace, of("other", "net/o.py", "x()", "c2"))
    assert tellers(workspace) == ["mem_b", "mem_other"]


def test_the_files_of_a_new_commit_are_indexed_once(workspace: Workspace) -> None:
    """A row that was written with the message of another file, and then again without it, would have another number."""
    put(workspace, *FILES)
    with opened(workspace) as (_, view):
        rows = sorted(view.entries())
    assert rows == list(range(rows[0], rows[0] + len(FILES)))


def test_the_message_is_common_by_one_whatever_the_size_of_a_commit(workspace: Workspace) -> None:
    put(workspace, *FILES, memory("z", raw="Bread."))
    with opened(workspace) as (_, view):
        assert view.lexical(["zebra"], 10).frequencies == {"zebra": 1}


def test_a_commit_is_one_entry_that_names_its_other_files(workspace: Workspace) -> None:
    put(workspace, *FILES)
    (section,) = asked(workspace, "tapir in the zebra server").sections
    assert section.memory.id == "mem_a"
    assert section.passage == f"{MESSAGE_TEXT}\nnet/a.py\n@@\n+tapir()"
    assert {name for name, _ in section.also} == {"mem_b", "mem_c"}


def test_changes_that_are_of_no_commit_are_entries_by_themselves(workspace: Workspace) -> None:
    put(workspace, *(memory(n, kind="diff", raw=f"zebra.py\n@@\n+zebra({n})", metadata={"group": "g"}) for n in "ab"))
    assert len(asked(workspace, "zebra").sections) == 2


def test_terms_are_counted_in_the_passage_that_they_stand_in(workspace: Workspace) -> None:
    text = "# Zebra\n\n" + "Stripes. " * 80 + "\n\n## Okapi\n\nzebra zebra tapir"
    put(workspace, memory("a", raw=text))
    with opened(workspace) as (_, view):
        (row,) = view.entries()
        found = view.passages(["zebra", "tapir"], [row])[row]
        assert found[0].counts == {"zebra": (1, 0)}
        assert found[-1].counts == {"zebra": (1, 2), "tapir": (0, 1)}


def test_what_was_read_for_a_question_is_of_no_use_to_another(workspace: Workspace) -> None:
    put(workspace, memory("a", raw="A zebra and a tapir, and a zebra."), memory("b", raw="Two tapirs."), FILES[0])
    for wanted in (["zebra"], ["tapir"], ["zebra", "tapir"], ["tapir", "okapi"]):
        with opened(workspace) as (_, used), opened(workspace) as (_, fresh):
            rows = sorted(used.entries())
            for before in (["zebra"], ["tapir", "zebra"], wanted):
                used.lexical(before, 10)
                assert used.passages(wanted, rows) == fresh.passages(wanted, rows)
                assert used.lexical(wanted, 10) == fresh.lexical(wanted, 10)
            stats = used.lexical(["zebra"], 10)
            assert sorted(sum(counts["zebra"]) for counts in stats.counts.values()) == [1, 2]


def test_a_passage_without_a_vector_has_no_cosine(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    put(workspace, memory("a", raw="The zebra lives in the zoo."))
    with opened(workspace) as (_, view):
        assert view.embed()
    put(workspace, memory("b", raw="The okapi lives in the zoo."))
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 0)
    with opened(workspace) as (_, view):
        (near,) = view.dense(["a zebra"]) or []
        rows = {entry.id: row for row, entry in view.entries().items()}
        assert near.missing == 1
        assert near.rows.tolist() == [rows["mem_a"]]
        assert math.isnan(near.of(rows["mem_b"], 1)[0])
        assert near.of(rows["mem_a"], 1)[0] > 0.3
    with opened(workspace) as (_, view):
        assert view.embed()
        (near,) = view.dense(["a zebra"]) or []
        assert near.missing == 0
