"""`memcli store sync`: clones and a server come to the same, whatever was done to them and in whatever order."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from memcli import Memory
from memcli.app.workspace import load_space
from memcli.codec.space import encode_space
from memcli.errors import CorruptError, MemcliError, NotFoundError, RefusedError, StoreError
from memcli.extras.postgres.opening import close_servers
from memcli.wiring.roots import make_store
from tests.conftest import examples, open_at
from tests.servers import new_schema

PATHS = st.sampled_from([f"notes/n{n}" for n in range(4)])
TEXTS = st.sampled_from([f"Text {n} says {word}." for n, word in enumerate(("one", "two", "three", "four", "five"))])
CLONES = ("a", "b")


class Team:
    """Two clones, and what they sync with; each act is a second after the one before."""

    def __init__(self, folder: Path, there: str = "", clones: Sequence[str] = CLONES) -> None:
        self.folder, self.seconds = folder, 0
        self.there = there or str(folder / "team")
        for name in (*clones, *(() if there else ("team",))):
            make_store({"root": str(folder / name)}, {})

    @property
    def now(self) -> str:
        """The time of the last act."""
        return f"2026-02-01T{self.seconds // 3600:02d}:{self.seconds // 60 % 60:02d}:{self.seconds % 60:02d}Z"

    def memory(self, name: str) -> Memory:
        self.seconds += 1
        return Memory(str(self.folder / name), freeze_clock=self.now)

    def sync(self, name: str, **options: bool) -> dict[str, Any]:
        return self.memory(name).store_sync(with_=self.there, **options)

    def share(self, path: str, text: str, *, edited_there: bool = False) -> None:
        """Has a memory in both clones; one that `b` edits then."""
        self.memory("a").remember(text, path=path)
        self.sync("a")
        self.sync("b")
        if edited_there:
            self.memory("b").edit(path, set=["kind=guide"])

    def settle(self) -> None:
        for name in ("a", "b", "a"):
            with suppress(NotFoundError):
                self.sync(name, accept_deletions=True)

    def bytes(self, name: str) -> bytes:
        return encode_space(load_space(open_at(self.folder / name).store, "main"))

    def texts(self, name: str) -> set[str]:
        return {memory.raw for memory in load_space(open_at(self.folder / name).store, "main").objects}

    def holds(self, text: str) -> list[str]:
        files = (file for file in self.folder.rglob("*") if file.is_file())
        return [str(file.relative_to(self.folder)) for file in files if text.encode() in file.read_bytes()]


@pytest.fixture(params=["folder", "server"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    if request.param == "folder":
        yield Team(tmp_path)
        return
    url = request.getfixturevalue("postgres")
    with new_schema(url) as schema:
        yield Team(tmp_path, f"{url}{'&' if '?' in url else '?'}schema={schema}")
        close_servers()


class Machine(RuleBasedStateMachine):
    """Random work in two clones, with syncs in any order."""

    def __init__(self, there: str = "") -> None:
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        self.team = Team(Path(self.place.name), there)
        self.purged: dict[str, str] = {}

    @rule(clone=st.sampled_from(CLONES), path=PATHS, text=TEXTS)
    def remember(self, clone: str, path: str, text: str) -> None:
        self.team.memory(clone).remember(text, path=path, no_check=True)

    @rule(clone=st.sampled_from(CLONES), path=PATHS, kind=st.sampled_from(["fact", "decision", "guide"]))
    def edit(self, clone: str, path: str, kind: str) -> None:
        with suppress(NotFoundError):
            self.team.memory(clone).edit(path, set=[f"kind={kind}"])

    @rule(clone=st.sampled_from(CLONES), path=PATHS)
    def forget(self, clone: str, path: str) -> None:
        with suppress(NotFoundError):
            self.team.memory(clone).forget(path)

    @rule(clone=st.sampled_from(CLONES), path=PATHS, now=st.booleans())
    def purge(self, clone: str, path: str, now: bool) -> None:
        with suppress(NotFoundError):
            self.team.memory(clone).forget(path, purge=True, now=now, yes=True)

    @rule(clone=st.sampled_from(CLONES), first=PATHS, second=PATHS)
    def link(self, clone: str, first: str, second: str) -> None:
        with suppress(MemcliError):
            self.team.memory(clone).link(first, second)

    @rule(clone=st.sampled_from(CLONES))
    def sync(self, clone: str) -> None:
        with suppress(NotFoundError):
            self.team.sync(clone, accept_deletions=True)

    def teardown(self) -> None:
        try:
            self.team.settle()
            self.team.settle()
            assert self.team.bytes("a") == self.team.bytes("b")
            if "://" not in self.team.there:
                assert self.team.bytes("a") == self.team.bytes("team")
            for clone in ("a", "b"):
                assert self.team.memory(clone).check_store()["findings"] == []
        finally:
            self.place.cleanup()


def test_clones_and_a_server_converge() -> None:
    run_state_machine_as_test(Machine, settings=settings(examples(0.4), stateful_step_count=12))


@pytest.mark.slow
def test_clones_and_a_postgresql_server_converge(postgres: str) -> None:
    with ExitStack() as stack:

        def machine() -> Machine:
            schema = stack.enter_context(new_schema(postgres))
            return Machine(f"{postgres}{'&' if '?' in postgres else '?'}schema={schema}")

        run_state_machine_as_test(machine, settings=settings(examples(0.2), stateful_step_count=12))  # type: ignore[arg-type]
        close_servers()


def test_both_get_what_the_other_added_and_conflicts_are_recorded(team: Team) -> None:
    team.memory("a").remember("We chose PostgreSQL.", path="db/choice")
    first, again = team.sync("a"), team.sync("a")
    assert (first["sent"], again["sent"], again["received"], again["hash"]) == (1, 0, 0, first["hash"])
    assert team.sync("b")["received"] == 1
    waiting = [len(open_at(team.folder / name).trust.waiting("main")) for name in ("a", "b")]
    assert waiting == [0, 1], "what comes waits for review"
    team.memory("a").edit("db/choice", set=["raw=We chose MySQL."])
    team.memory("b").edit("db/choice", set=["raw=We chose SQLite."])
    team.memory("b").remember("Never push.", path="git/never")
    team.sync("a")
    done = team.sync("b")
    assert [one["field"] for one in done["conflicts"]] == ["raw"]
    team.sync("a")
    assert team.bytes("a") == team.bytes("b")
    found = team.memory("a").get("db/choice")
    assert found["raw"] == "We chose SQLite."
    assert "We chose MySQL." in json.dumps(found["metadata"]["conflicts"])


def written(team: Team, name: str, was: str, becomes: str) -> None:
    """Has a hand replace something in the file of a space."""
    file = team.folder / name / ".memory" / "spaces" / "main.json"
    assert was in file.read_text()
    file.write_text(file.read_text().replace(was, becomes, 1))


def test_a_successor_that_nobody_has_does_not_come_in(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.memory("team").remember("We chose PostgreSQL.", path="db/choice")
    written(team, "team", '"tags"', '"superseded_by": "mem_nowhere",\n      "tags"')
    team.sync("a")
    assert "superseded_by" not in team.memory("a").get("db/choice")
    assert team.bytes("a") == team.bytes("team")


@pytest.mark.parametrize(("was", "becomes"), [('"raw"', '"pinned": 1, "raw"'), ('"tags"', '"strength": 1e400, "tags"')])
def test_what_is_wrong_with_the_other_store_is_to_be_mended_there(tmp_path: Path, was: str, becomes: str) -> None:
    team = Team(tmp_path)
    team.memory("team").remember("We chose PostgreSQL.", path="db/choice")
    written(team, "team", was, becomes)
    for work in (lambda: team.sync("a"), lambda: team.memory("a").store_copy(team.there, str(tmp_path / "new"))):
        with pytest.raises(CorruptError) as caught:
            work()
        assert caught.value.message.startswith(f"{team.there}/.memory: ")
        assert "`memcli check store` there" in caught.value.hint


@pytest.mark.parametrize("edited", ["", "before the purge", "after it"])
def test_what_was_purged_for_good_does_not_come_back(team: Team, edited: str) -> None:
    team.share("old/leak", "We meet at swordfish.", edited_there=bool(edited))
    if edited == "before the purge":
        team.sync("b")
    team.memory("a").forget("old/leak", purge=True, now=True, yes=True)
    assert [file for file in team.holds("swordfish") if file.startswith("a/")] == []
    team.sync("a")
    assert [file for file in team.holds("swordfish") if file.startswith("team/")] == []
    team.sync("b")
    assert team.holds("swordfish") == []
    team.sync("a")
    assert team.texts("a") == team.texts("b") == set()
    team.memory("b").remember("Somewhere else.", path="old/leak")
    team.sync("b")
    team.sync("a")
    assert team.texts("a") == {"Somewhere else."}


@pytest.mark.parametrize("is_trashed", [False, True])
def test_what_was_made_anew_after_a_purge_stays_and_what_was_purged_does_not(team: Team, is_trashed: bool) -> None:
    team.share("old/leak", "We meet at swordfish.", edited_there=True)
    if is_trashed:
        team.memory("a").forget("old/leak", purge=True, yes=True)
    team.memory("a").forget("old/leak", purge=True, now=True, yes=True)
    team.memory("a").remember("Ask the vault.", path="old/leak")
    team.sync("a")
    team.sync("b", as_new=True)
    team.sync("a")
    assert team.bytes("a") == team.bytes("b")
    assert (team.texts("a"), team.holds("swordfish")) == ({"Ask the vault."}, [])


def test_a_purge_that_comes_after_a_merge_with_what_was_made_anew_takes_out_what_it_noted(team: Team) -> None:
    for clone in ("a", "b"):
        team.memory(clone).remember(f"{clone} meets us at swordfish.", path="old/leak")
    team.memory("a").forget("old/leak", purge=True, now=True, yes=True)
    team.memory("a").remember("Ask the vault.", path="old/leak")
    team.sync("b")
    team.sync("a")
    team.memory("b").forget("old/leak", purge=True, now=True, yes=True)
    team.sync("b")
    team.sync("a")
    assert team.bytes("a") == team.bytes("b")
    assert (team.texts("a"), team.holds("swordfish")) == ({"Ask the vault."}, [])


def test_offline_nothing_changes_and_the_work_is_pushed_later(team: Team) -> None:
    team.memory("a").remember("We chose PostgreSQL.", path="db/choice")
    before = team.bytes("a")
    with pytest.raises(StoreError) as failed:
        team.memory("a").store_sync(with_="postgresql://ann:hunter2@localhost:1/x?connect_timeout=1")
    assert "hunter2" not in str(failed.value)
    assert "\n" not in failed.value.message
    assert team.bytes("a") == before
    assert not (team.folder / "a" / ".memory" / "local" / "sync").exists()
    assert team.sync("a")["sent"] == 1


def test_what_others_write_meanwhile_is_neither_lost_nor_overwritten(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memcli.extras.stores import syncing

    team.memory("a").remember("We chose PostgreSQL.", path="db/choice")
    real = syncing._receive
    told: list[object] = []

    def receive(*arguments):  # type: ignore[no-untyped-def]
        if not told:
            told.append(team.memory("a").remember("Written meanwhile.", path="git/now"))
        return real(*arguments)

    monkeypatch.setattr(syncing, "_receive", receive)
    assert team.sync("a")["sent"] == 2
    team.sync("b")
    assert team.texts("b") == {"We chose PostgreSQL.", "Written meanwhile."}


def test_a_sync_that_was_interrupted_after_it_sent_goes_on(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    from memcli.extras.stores import syncing

    team.share("db/choice", "We chose PostgreSQL.")
    team.memory("b").edit("db/choice", set=["raw=We chose SQLite."])
    team.sync("b")
    team.memory("a").edit("db/choice", set=["raw=We chose MySQL."])
    with monkeypatch.context() as patched:
        patched.setattr(syncing, "_receive", _fails)
        with pytest.raises(StoreError):
            team.sync("a")
    team.sync("a")
    team.sync("b")
    assert team.bytes("a") == team.bytes("b")
    found = team.memory("b").get("db/choice")
    assert (found["raw"], len(found["metadata"]["conflicts"])) == ("We chose MySQL.", 1)


def _fails(*_: object) -> None:
    raise StoreError("the disk is full", "free some space")


def test_private_spaces_and_untrusted_stores_are_refused(team: Team) -> None:
    with pytest.raises(RefusedError, match="stays on this machine"):
        team.memory("a").store_sync("repo", with_=team.there)
    team.memory("a").trust(revoke=True)
    with pytest.raises(RefusedError, match="not trusted"):
        team.memory("a").store_sync(with_=team.there)


def test_many_deletions_at_once_are_refused_on_either_side(team: Team) -> None:
    for n in range(10):
        team.memory("a").remember(f"Fact number {n}.", path=f"facts/f{n}", no_check=True)
    team.sync("a")
    team.sync("b")
    for n in range(3):
        team.memory("b").forget(f"facts/f{n}", purge=True, yes=True)
    with pytest.raises(RefusedError, match="would delete 3 of the 10 memories of space 'main' in the other store"):
        team.sync("b")
    assert team.sync("b", accept_deletions=True)["sent"] == 3
    with pytest.raises(RefusedError, match="would delete 3 of the 10 memories of space 'main' here"):
        team.sync("a")
    assert len(team.texts("a")) == 10
    team.sync("a", as_new=True)
    assert len(team.texts("a")) == 10
    assert team.sync("b")["received"] == 3
    for n in range(2):  # 20 %
        team.memory("b").forget(f"facts/f{n}", purge=True, yes=True)
    team.sync("b")
    team.sync("a")
    assert len(team.texts("a")) == 8


def test_many_purges_at_once_are_refused(team: Team) -> None:
    for n in range(3):
        team.memory("a").remember(f"Fact number {n}.", path=f"facts/f{n}", no_check=True)
    team.sync("a")
    team.sync("b")
    team.memory("a").forget("facts", recursive=True, purge=True, now=True, yes=True)
    team.sync("a", accept_deletions=True)
    with pytest.raises(RefusedError, match="would delete 3 of the 3"):
        team.sync("b")
    team.sync("b", accept_deletions=True)
    assert (team.texts("b"), team.memory("b").restore(list=True)) == (set(), [])


def test_a_deletion_by_sync_goes_into_the_trash_whatever_grace_there_is(team: Team) -> None:
    """A policy without grace erases what is forgotten here; another store may be wrong."""
    team.share("db/choice", "We chose PostgreSQL.")
    team.memory("b").forget("db/choice", purge=True, yes=True)
    team.memory("a").space_policy("main", set={"grace_days": 0})
    team.sync("b")
    team.sync("a")
    assert team.texts("a") == set()
    team.memory("a").gc()  # and it stays there as long as by default
    team.memory("a").restore("db/choice")
    assert team.texts("a") == {"We chose PostgreSQL."}
    if "://" not in team.there:
        assert any("trash" in file for file in team.holds("PostgreSQL") if file.startswith("team/"))


def test_a_folder_with_a_broken_log_or_made_anew_is_not_obeyed(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.memory("a").remember("We chose PostgreSQL.", path="db/choice")
    team.sync("a")
    log = team.folder / "team/.memory/local/audit/main.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b'"action":"create"', b'"action":"delete"', 1))
    with pytest.raises(CorruptError, match="broken at line 1"):
        team.sync("a")
    assert team.sync("a", as_new=True)["received"] == 0
    log.write_bytes(whole)
    team.sync("a")
    shutil.rmtree(team.there)
    make_store({"root": team.there}, {})
    with pytest.raises(RefusedError, match="does not know the last sync"):
        team.sync("a")
    team.sync("a", as_new=True)
    team.sync("a")
    assert team.texts("team") == team.texts("a") == {"We chose PostgreSQL."}
