"""`memcli link` and `unlink`: every relation between memories of every kind of space, and what else is done to these."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.app.links import link, unlink
from memcli.app.workspace import Workspace, load_space
from memcli.errors import UsageError
from memcli.model.memory import Memory
from memcli.model.names import text_hash
from memcli.model.shapes import RELATIONS
from memcli.model.space import Policy, Space
from tests.cli.conftest import wrong
from tests.conftest import NOW, Run, memory, open_at, rewrite

LATER = "2026-03-01T00:00:00Z"
MUTUAL = ("contradicts", "relates_to")


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Run:
    """Memories in `main`, in another shared space, in a private and in a derived one."""
    for space, name in (("main", "a"), ("main", "b"), ("notes", "n"), ("diary", "secret/plan")):
        assert run("remember", f"The text of {name}.", "--path", f"x/{name}", "-s", space).code == 0
    assert run("space", "policy", "diary", "--set", "visibility=private").code == 0
    read = memory("read", path="x/read", metadata={"hash": text_hash("The text of read.")})
    derived = Space("repo", policy=Policy(visibility="derived"))
    rewrite(open_at(tmp_path).store, lambda _: derived.put([read], NOW), "repo")
    return run


def links(run: Run, path: str, space: str = "main") -> list[dict[str, Any]]:
    return run("get", path, "-s", space, "--json").json.get("links", [])


def places(run: Run, path: str, space: str = "main") -> list[tuple[str, str]]:
    return [(one["relation"], one["to"]) for one in links(run, path, space)]


def ident(run: Run, path: str, space: str = "main") -> str:
    return str(run("get", path, "-s", space, "--json").json["id"])


def is_sound(run: Run) -> bool:
    return run("check", "store").code == 0 and run("store", "fmt", "--check").code == 0


REFS: dict[str, Callable[[Run], str]] = {
    "path": lambda _: "x/b", "id": lambda run: ident(run, "x/b"), "prefix": lambda run: ident(run, "x/b")[:9],
    "space:path": lambda _: "main:x/b", "space:id": lambda run: f"main:{ident(run, 'x/b')}",
}  # fmt: skip


@pytest.mark.parametrize(("relation", "form"), list(zip(RELATIONS, REFS, strict=True)))
def test_within_a_space(store: Run, relation: str, form: str) -> None:
    b = REFS[form](store)
    done = store("link", "x/a", b, "--relation", relation, "--json")
    assert (done.code, done.json["status"]) == (0, "linked")
    assert places(store, "x/a") == [(relation, ident(store, "x/b"))]
    assert places(store, "x/b") == ([(relation, ident(store, "x/a"))] if relation == "contradicts" else [])
    again = store("link", "x/a", b, "--relation", relation, "--json")
    assert again.json["status"] == "unchanged"
    assert is_sound(store)
    assert store("link", "x/a", b, "--json", "--remove").json["relations"] == [relation]
    assert places(store, "x/a") == places(store, "x/b") == []
    assert store("link", "x/a", b, "--json", "--remove").json["status"] == "unchanged"


@pytest.mark.parametrize("relation", [one for one in RELATIONS if one != "supersedes"])
def test_across_shared_spaces(store: Run, relation: str) -> None:
    assert store("link", "x/a", "notes:x/n", "--relation", relation).code == 0
    a, n = ident(store, "x/a"), ident(store, "x/n", "notes")
    assert places(store, "x/a") == [(relation, f"notes:{n}")]
    assert places(store, "x/n", "notes") == ([(relation, f"main:{a}")] if relation == "contradicts" else [])
    assert is_sound(store)
    ends = ("notes:x/n", "x/a") if relation in MUTUAL else ("x/a", n)  # what is mutual goes from either end
    assert store("link", *ends, "--json", "--remove").json["relations"] == [relation]
    assert places(store, "x/a") == places(store, "x/n", "notes") == []


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_shared_file_names_what_is_private(store: Run, tmp_path: Path, relation: str) -> None:
    done = store("link", "x/a", "diary:x/secret/plan", "--relation", relation)
    plan, a = ident(store, "x/secret/plan", "diary"), ident(store, "x/a")
    is_stored = relation in MUTUAL
    assert done.code == (0 if is_stored else 2 if relation == "supersedes" else 5)
    assert places(store, "x/secret/plan", "diary") == ([(relation, f"main:{a}")] if is_stored else [])
    assert store("link", "diary:x/secret/plan", "x/a", "--relation", relation).code == (
        2 if relation == "supersedes" else 0
    )
    assert is_sound(store)
    assert store("export", "--out", "main.out", "--format", "json").code == 0
    for name in (".memory/spaces/main.json", "main.out"):
        text = (tmp_path / name).read_text()
        assert plan not in text
        assert "diary" not in text


@pytest.mark.parametrize(("relation", "turned"), [(one, n % 2 == 0) for n, one in enumerate(RELATIONS)])
def test_what_was_read_is_copied(store: Run, relation: str, turned: bool) -> None:
    ends = ("repo:x/read", "x/a") if turned else ("x/a", "repo:x/read")
    done = store("link", *ends, "--relation", relation)
    assert done.code == 0, done.err
    assert "copied x/read into space 'main'" in done.err
    copy, a = ident(store, "x/read"), ident(store, "x/a")
    start, end = (copy, a) if turned else (a, copy)
    assert (relation, end) in places(store, start)
    assert is_sound(store)
    assert "already linked" in store("link", *ends, "--relation", relation).out
    assert store("link", *ends, "--remove").code == 0
    assert places(store, start) == []


def test_remember_and_edit_take_links_to_other_spaces(store: Run) -> None:
    n = ident(store, "x/n", "notes")
    assert store("remember", "A text.", "--path", "x/c", "--link", "relates_to:notes:x/n").code == 0
    assert places(store, "x/c") == [("relates_to", f"notes:{n}")]
    given = json.dumps([{"to": f"notes:{n}", "relation": "relates_to"}, {"to": "notes:x/n", "relation": "depends_on"}])
    assert store("edit", "x/c", "--set", f"links={given}").code == 0
    assert places(store, "x/c") == [("relates_to", f"notes:{n}"), ("depends_on", f"notes:{n}")]
    assert store("edit", "x/c", "--set", "kind=decision").code == 0
    for to, code in (("diary:x/secret/plan", 5), ("nots:x/n", 3), ("notes:x/none", 3)):
        assert store("remember", "B text.", "--path", "x/d", "--link", f"relates_to:{to}").code == code
        assert store("edit", "x/b", "--set", f'links=[{{"to": "{to}", "relation": "relates_to"}}]').code == code
    assert store("remember", "B text.", "--path", "x/d", "--link", "supersedes:notes:x/n").code == 2
    assert store("remember", "R text.", "--path", "x/r", "--link", "depends_on:repo:x/read").code == 0
    assert places(store, "x/r") == [("depends_on", ident(store, "x/read"))]
    assert is_sound(store)


def test_a_proposal_is_looked_at_when_it_is_accepted(store: Run, tmp_path: Path) -> None:
    n = ident(store, "x/n", "notes")
    for number, to in enumerate(("notes:x/n", "diary:x/secret/plan", "nots:x/n", "notes:x/none")):
        done = store("remember", f"Text {number}.", "--path", f"p/{number}", "--link", f"relates_to:{to}", "--propose")
        assert done.code == 0, done.err
        assert store("inbox", "accept", f"p/{number}").code == 0
    assert [places(store, f"p/{number}") for number in range(4)] == [[("relates_to", f"notes:{n}")], [], [], []]
    assert "secret" not in (tmp_path / ".memory/spaces/main.json").read_text()
    assert is_sound(store)


def test_what_is_superseded_without_a_link_is_current_again_too(store: Run) -> None:
    assert store("link", "x/a", "x/b", "-r", "supersedes").code == 0
    assert store("edit", "x/a", "--set", "links=[]").code == 0
    assert store("link", "x/a", "x/b", "--json", "--remove").json["relations"] == ["supersedes"]
    assert "x/b" in store("list").out
    assert "valid_until" not in store("get", "x/b", "--json").json


def test_a_name_with_a_colon_is_of_this_space_first(store: Run) -> None:
    assert store("remember", "A path like a reference.", "--path", "notes:x/n", "--id", "notes:mem_1").code == 0
    assert store("link", "x/a", "notes:x/n").code == 0
    assert places(store, "x/a") == [("relates_to", "notes:mem_1")]
    assert store("forget", "notes:mem_1", "--purge", "--yes").code == 0
    assert places(store, "x/a") == []


def test_a_path_that_several_other_spaces_have_needs_its_space(store: Run) -> None:
    assert store("remember", "Once more.", "--path", "x/n", "-s", "other").code == 0
    done = store("link", "x/a", "x/n")
    assert (done.code, "is in spaces 'notes' and 'other'" in done.err, "notes:x/n" in done.err) == (2, True, True)


def test_superseding_is_what_remember_does(store: Run) -> None:
    assert store("remember", "The new text.", "--path", "x/new", "--supersedes", "x/b").code == 0
    by_remember = store("get", "x/b", "--json").json
    assert store("link", "x/new", "x/b", "--remove").code == 0
    current = store("get", "x/b", "--json").json
    assert "superseded_by" not in current
    assert "valid_until" not in current
    assert store("link", "x/new", "x/b", "--relation", "supersedes").code == 0
    by_link = store("get", "x/b", "--json").json
    assert {k: v for k, v in by_link.items() if k != "version"} == {
        k: v for k, v in by_remember.items() if k != "version"
    }
    assert "x/b" not in store("list").out


def test_bad_input_changes_nothing(store: Run, tmp_path: Path) -> None:
    before = (tmp_path / ".memory/spaces/main.json").read_bytes()
    table = [
        ("x/a x/a", 2, "cannot be linked to itself"), ("x/a x/none", 3, "no memory 'x/none'"),
        ("x/none x/a", 3, "no memory 'x/none'"), ("x/a x/b --relation likes", 2, "no relation 'likes'"),
        ("x/a x/b --weight 2", 2, "--weight must be between 0 and 1"), (["x/a", ""], 3, "no memory ''"),
        ("x/a mem_", 2, "matches"), ("x/a ../../etc:x", 3, "no memory"),
    ]  # fmt: skip
    assert wrong(store, table, "link") == ""
    assert store("link", "x/a", "x/b", "--relation", "supersedes").code == 0
    assert wrong(store, [("link x/b x/a --relation supersedes", 2, "would supersede itself")]) == ""
    assert store("link", "x/a", "x/b", "--remove").code == 0
    assert (tmp_path / ".memory/spaces/main.json").read_bytes() != before


def test_the_date_stays_and_the_weight_changes(store: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store("link", "x/a", "notes:x/n", "--weight", "0.3").code == 0
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", LATER)
    assert store("link", "x/a", "notes:x/n").code == 0
    assert [(one["created_at"], one["weight"]) for one in links(store, "x/a")] == [(NOW, 0.3)]
    assert store("link", "notes:x/n", "x/a", "--weight", "0.8").code == 0
    assert [(one["created_at"], one["weight"]) for one in links(store, "x/a")] == [(NOW, 0.8)]
    assert links(store, "x/n", "notes") == []


GOING = {
    "forget --purge": [("forget", "x/n", "-s", "notes", "--purge", "--yes")],
    "gc": [
        ("space", "policy", "notes", "--set", "allow_delete=true"),
        ("gc", "notes", "--ttl-days", "1", "--freeze-clock", LATER),
    ],
    "space delete": [("space", "policy", "notes", "--set", "allow_delete=true"), ("space", "delete", "notes")],
    "space create --reset": [
        ("space", "policy", "notes", "--set", "allow_delete=true"), ("space", "create", "notes", "--reset"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", GOING)
def test_links_go_and_come_back_with_what_they_lead_to(store: Run, way: str) -> None:
    assert store("link", "x/a", "notes:x/n", "--relation", "depends_on").code == 0
    assert store("link", "diary:x/secret/plan", "notes:x/n").code == 0
    before = links(store, "x/a"), links(store, "x/secret/plan", "diary")
    done = [store(*step) for step in GOING[way]][-1]
    assert done.code == 0, done.err
    assert (links(store, "x/a"), links(store, "x/secret/plan", "diary")) == ([], [])
    assert is_sound(store)
    (run_name,) = {one["run"] for one in store("restore", "--list", "--json").json}
    assert store("restore", "--run", run_name).code == 0
    assert (links(store, "x/a"), links(store, "x/secret/plan", "diary")) == before
    assert is_sound(store)


def test_what_is_erased_takes_its_links_for_good(store: Run, tmp_path: Path) -> None:
    assert store("link", "x/a", "notes:x/n").code == 0
    n = ident(store, "x/n", "notes")
    assert store("forget", "x/n", "-s", "notes", "--purge", "--now", "--yes").code == 0
    assert links(store, "x/a") == []
    assert n not in (tmp_path / ".memory/spaces/main.json").read_text()


def test_a_memory_that_comes_back_after_the_end_of_its_link_has_gone(store: Run) -> None:
    assert store("link", "x/a", "notes:x/n").code == 0
    assert store("forget", "x/a", "--purge", "--yes").code == 0
    assert store("forget", "x/n", "-s", "notes", "--purge", "--yes").code == 0
    assert store("restore", "x/a").code == 0
    assert links(store, "x/a") == []
    assert is_sound(store)


def test_export_and_import_keep_links_between_spaces(
    store: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store("link", "x/a", "notes:x/n", "--relation", "contradicts").code == 0
    exports = [str(tmp_path / f"{name}.json") for name in ("main", "notes")]
    for name, file in zip(("main", "notes"), exports, strict=True):
        assert store("export", name, "--out", file).code == 0
    spaces = {name: (tmp_path / f".memory/spaces/{name}.json").read_bytes() for name in ("main", "notes")}
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    assert store("init").code == 0
    for file in exports:
        assert store("import", file).code == 0
        assert store("check", "store").code == 0  # also while the other space is not there
    for name, data in spaces.items():
        assert (other / f".memory/spaces/{name}.json").read_bytes() == data


def test_fsck_finds_and_drops_what_leads_nowhere(store: Run, tmp_path: Path) -> None:
    assert store("link", "x/a", "notes:x/n").code == 0
    file = tmp_path / ".memory/spaces/main.json"
    text = file.read_text()
    n = ident(store, "x/n", "notes")
    file.write_text(text.replace(f"notes:{n}", "notes:mem_gone"))
    found = store("check", "store")
    assert (found.code, "links to notes:mem_gone" in found.out) == (6, True)
    assert store("check", "store", "--repair").code == 0
    assert links(store, "x/a") == []
    file.write_text(text.replace(f"notes:{n}", "elsewhere:mem_gone"))
    assert store("check", "store").code == 0  # no clone has every space


STEPS = st.lists(
    st.tuples(st.booleans(), st.sampled_from("abcn"), st.sampled_from("abcn"), st.sampled_from(RELATIONS)), max_size=8
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6)
@given(STEPS)
def test_any_order_of_links_and_unlinks(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, str, str, str]]
) -> None:
    """Linking and unlinking in any order comes to what the last word on each pair was, and to a sound store."""
    workspace = open_at(tmp_path_factory.mktemp("any"))
    rewrite(workspace.store, lambda s: s.put([memory(n) for n in "abc"], NOW))
    rewrite(workspace.store, lambda s: s.put([memory("n")], NOW), "notes")
    held: set[tuple[str, str, str]] = set()
    for adds, start, end, relation in steps:
        _apply(workspace, held, (adds, start, end, relation))
    found = set()
    for space in ("main", "notes"):
        for one in load_space(workspace.store, space).objects:
            found |= {_place(one, given) for given in one.links}
    assert found == held
    for one in load_space(workspace.store, "main").objects:
        by = {start for start, relation, end in held if relation == "supersedes" and end == one.id[-1]}
        assert (one.superseded_by is None) == (not by)
        assert (one.valid_until is None) == (not by)
        assert one.superseded_by is None or one.superseded_by[-1] in by


def _place(one: Memory, given: Any) -> tuple[str, str, str]:
    start, end = one.id[-1], given["to"][-1]
    if given["relation"] in MUTUAL:
        start, end = sorted((start, end))
    return start, given["relation"], end


def _apply(workspace: Workspace, held: set[tuple[str, str, str]], step: tuple[bool, str, str, str]) -> None:
    adds, start, end, relation = step
    first, second = sorted((start, end)) if relation in MUTUAL else (start, end)
    names = {name: f"notes:mem_{name}" if name == "n" else f"mem_{name}" for name in "abcn"}
    may_fail = adds and (start == end or relation == "supersedes")  # to itself, in a circle, across spaces
    with suppress(UsageError) if may_fail else nullcontext():
        if adds:
            link(workspace, names[start], names[end], relation)
            held.add((first, relation, second))
        else:
            unlink(workspace, names[start], names[end], relation)
            held.discard((first, relation, second))
