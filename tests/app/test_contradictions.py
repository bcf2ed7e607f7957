"""Memories that contradict or repeat others: what is found, linked, shown with its other side, and settled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memcli.app.check import check
from memcli.app.contradictions import link_found
from memcli.app.inbox import waiting
from memcli.app.remember import prepare, remember
from memcli.app.repo import over_main
from memcli.extras.inbox.review import findings
from memcli.extras.upkeep.maintain import keeps_both, scan
from memcli.index.view import IndexedSpace
from memcli.model.findings import Found, Resolution
from memcli.model.memory import Memory
from memcli.render import RENDERERS
from tests.app.conftest import Project

OLD = "The API gateway times out upstream calls after 30 s."
NEW = "The API gateway times out upstream calls after 60 s."
SAME = "Upstream calls of the API gateway time out after 30 seconds."
MODEL, OTHER_MODEL = "The default model is gpt-4o-mini.", "The default model is gpt-7."
TOPIC = "gateway timeout"


class Checked(Project):
    """A store in which every text is compared, and what was found of the last ones."""

    found: list[list[Found]]

    def tell(
        self, *texts: str, path: str = "", space: str = "", supersedes: str | None = None, **how: Any
    ) -> list[str]:
        """Stores texts together; `merges` and `is_accepted` say what becomes of what is found. Their ids."""
        over = self.over(space)
        choice = {name: how.pop(name) for name in ("merges", "is_accepted") if name in how}
        candidates = [prepare(over, {"raw": text, **({"path": path} if path else {}), **how}) for text in texts]
        resolution = Resolution(check(over, candidates, supersedes), **choice)
        outcomes = remember(over, candidates, supersedes, resolution=resolution).outcomes
        self.found = [list(one.found) for one in outcomes]
        return [one.id for one in outcomes]

    def contradicted(self, name: str) -> list[str]:
        (memory,) = [one for one in self.stored().values() if one.id == name]
        return [link["to"] for link in memory.links if link["relation"] == "contradicts"]


@pytest.fixture
def store(tmp_path: Path) -> Checked:
    return Checked(tmp_path)


@pytest.fixture
def both(store: Checked) -> tuple[str, str]:
    """The ids of two memories that contradict each other."""
    return store.tell(OLD)[0], store.tell(NEW)[0]


def test_the_other_is_named_with_the_reason_until_both_are_kept_or_one_is_superseded(store: Checked) -> None:
    (old,) = store.tell(OLD)
    assert store.found == [[]]
    (new,) = store.tell(NEW)
    assert [(one.id, one.kind, one.reason) for one in store.found[0]] == [(old, "contradicts", "60 s here, 30 s there")]
    store.tell(NEW)
    assert [one.id for one in store.found[0]] == [old]
    store.tell(NEW, is_accepted=True)
    store.tell(NEW)
    assert (store.found, store.contradicted(new)) == ([[]], [old])
    assert [keeps_both(newer, older) for _, newer, older in scan(store.over())] == [True]
    assert store.tell(NEW, supersedes=old) == [new]
    assert ({m.id: m.superseded_by for m in store.stored().values()}[old], store.found) == (new, [[]])
    assert [section.opposed for section in store.recall(TOPIC).sections] == [()]


def test_what_is_repeated_strengthens_the_first(store: Checked) -> None:
    (old,) = store.tell(OLD)
    assert store.tell(SAME, merges=True, tags=["net"]) == [old]
    (memory,) = store.stored().values()
    assert (memory.strength, "net" in memory.tags) == (2, True)


@pytest.mark.parametrize(
    ("text", "fields", "lacks"),
    [
        ("Upstream calls of the API gateway time out after 30 seconds in eu-west-1.", {}, "eu-west-1"),
        (SAME, {"triggers": ["gateway"], "kind": "constraint"}, "the triggers"),
        (SAME, {"valid_until": "2030-01-01"}, "the valid until"),
    ],
)
def test_a_merge_drops_nothing_that_only_the_new_one_has(
    store: Checked, text: str, fields: dict[str, Any], lacks: str
) -> None:
    (old,) = store.tell(OLD)
    store.tell(text, merges=True, **fields)
    assert [(one.id, one.reason) for one in store.found[0]] == [(old, f"the same words, but it lacks {lacks}")]
    assert len(store.stored()) == 2


def test_another_value_contradicts_and_is_not_merged(store: Checked) -> None:
    (old,) = store.tell(MODEL)
    store.tell(OTHER_MODEL, merges=True)
    assert [(one.id, one.kind, one.reason) for one in store.found[0]] == [
        (old, "contradicts", "gpt-7 here, gpt-4o-mini there")
    ]
    assert sorted(memory.raw for memory in store.stored().values()) == [MODEL, OTHER_MODEL]


def test_a_memory_that_changed_after_it_was_compared_takes_nothing_in(store: Checked) -> None:
    (old,) = store.tell(OLD)
    over = store.over()
    candidate = prepare(over, {"raw": SAME})
    resolution = Resolution(check(over, [candidate]), merges=True)
    store.edit(old, raw=NEW)
    assert remember(over, [candidate], resolution=resolution).outcomes[0].status == "created"
    assert {memory.raw for memory in store.stored().values()} == {NEW, SAME}


def test_markers_say_that_the_newer_one_holds(store: Checked) -> None:
    (old,) = store.tell(OLD)
    store.tell("The API gateway now times out upstream calls after 60 s.")
    assert [(one.id, one.newer_holds) for one in store.found[0]] == [(old, True)]
    sections = store.recall("When does the API gateway time out upstream calls?").sections
    assert [section.opposed[0].holds for section in sections] == [1, -1]


@pytest.mark.parametrize("form", ["prompt", "text", "md", "table"])
def test_no_side_is_shown_without_the_other_in_any_budget(store: Checked, both: tuple[str, str], form: str) -> None:
    old, new = both
    render = RENDERERS[form]()
    shown = render(store.recall(TOPIC, limit=1)).replace("\\", "")
    first, other = (old, new) if old in shown.split("contradicts")[0] else (new, old)
    assert f"contradicts [{other}]" in shown
    assert (first in shown, {old: OLD, new: NEW}[other] in shown) == (True, True)


def test_no_more_memories_are_read_than_are_named(store: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in range(30, 90, 10):
        store.tell(OLD.replace("30", str(seconds)))
    read, fetch = list[int](), IndexedSpace.fetch

    def counted(view: IndexedSpace, rows: Sequence[int]) -> list[Memory]:
        read.append(len(rows))
        return fetch(view, rows)

    monkeypatch.setattr(IndexedSpace, "fetch", counted)
    (section,) = store.recall(TOPIC, limit=1).sections
    assert (len(store.contradicted(section.memory.id)), len(section.opposed), read) == (5, 3, [1, 3])


def test_a_text_that_is_stored_or_edited_is_compared_anew(store: Checked, both: tuple[str, str]) -> None:
    old, new = both
    path, other = store.get(new).path, "The API gateway writes an access log in JSON."
    store.tell(other, path=path)
    assert store.contradicted(new) == store.contradicted(old) == []

    def edited(text: str) -> list[str]:
        over = over_main(store.over())
        return [one.id for one in link_found(over, store.edit(new, raw=text))]

    assert (edited(NEW), store.contradicted(new), store.contradicted(old)) == ([old], [old], [new])
    assert edited(NEW) == []  # it is linked already
    assert (edited(other), store.contradicted(old)) == ([], [])
    store.link(new, old, "contradicts")  # which somebody made
    store.edit(new, raw="The lift works.")
    assert store.contradicted(new) == [old]
    store.forget(old)
    assert [section.opposed for section in store.recall("lift").sections] == [()]
    store.purge(old)
    assert store.damage() == []


def test_a_batch_is_compared_with_itself_and_the_space(store: Checked) -> None:
    (old,) = store.tell(OLD)
    _, second, third = store.tell(NEW, "Sessions are stored in Redis.", "We store sessions in PostgreSQL.")
    assert [[one.id for one in found] for found in store.found] == [[old], [], [second]]
    assert store.contradicted(second) == [third]


def test_what_a_proposal_contradicts_is_linked_when_it_is_accepted(store: Checked) -> None:
    (old,) = store.tell(OLD)
    store.propose(NEW)
    (found,) = findings(store.over(), waiting(store.over()))
    assert [one.id for one in found] == [old]
    assert store.contradicted(store.accept().outcomes[0].id) == [old]


def test_other_spaces_are_named_and_not_linked_and_accounts_of_what_happened_not_compared(store: Checked) -> None:
    store.tell(OLD, space="journal")
    store.tell("The nightly crawler sleeps for 30 s.", kind="log")
    store.tell(NEW)
    assert [one.space for one in store.found[0]] == ["journal"]
    store.tell("The nightly crawler sleeps for 60 s.")
    assert store.found == [[]]
    store.tell("The nightly crawler sleeps for 90 s.", kind="diff")
    assert (store.found, [m.links for m in store.stored().values()]) == ([[]], [()] * 4)


@pytest.mark.parametrize("place", ["", "auth/old"])
def test_what_supersedes_inherits_no_acceptance(store: Checked, place: str) -> None:
    (old,) = store.tell(OLD, path="auth/old")
    (other,) = store.tell(NEW, is_accepted=True)
    (newer,) = store.tell(OLD.replace("30", "90"), path=place, supersedes=old)
    assert ([one.id for one in store.found[0]], store.contradicted(newer)) == ([other], [other])


@pytest.mark.parametrize("space", ["notes", "journal"])
def test_no_side_is_shown_without_one_of_another_space(store: Checked, space: str) -> None:
    (old,) = store.tell(OLD, path="a/old", space=space)
    (new,) = store.tell(NEW, path="a/new")
    store.link("a/new", f"{space}:a/old", "contradicts")
    if space == "journal":
        sections = store.recall(TOPIC).sections
        assert {s.memory.id: [one.id for one in s.opposed] for s in sections} == {new: [old], old: [new]}
    assert [s.opposed for s in store.recall(TOPIC, space="main").sections] == [()]


def test_scan_lists_a_whole_space(store: Checked, both: tuple[str, str]) -> None:
    store.tell("The linter is ruff.")
    ((relation, newer, older),) = scan(store.over())
    assert ({newer.id, older.id}, relation.kind) == (set(both), "contradicts")
    assert not keeps_both(newer, older)
    assert scan(store.over(), "journal") == []
    assert [relation.kind for relation, *_ in scan(store.over(), by_meaning=True)] in (["contradicts"], [])
