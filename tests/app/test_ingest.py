"""What cannot be ingested keeps nothing else from it, and what was read from a file goes with it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memcli.app import ingest as ingesting
from memcli.app import upsert as desk
from memcli.app.ingest import FilePlace, Ingested, ingest, relocate
from memcli.app.remember import prepare, remember
from memcli.app.workspace import Workspace, load_space
from memcli.errors import LockedError, StoreError, reporting_done
from memcli.ingest import commits, files
from memcli.ingest.commits import CommitSource, StagedSource
from memcli.ingest.files import FileSource
from memcli.model.memory import Memory
from memcli.model.space import Change, Policy
from memcli.ports import Shelf
from memcli.record import replace
from memcli.wiring.sources import redaction
from tests.app.conftest import Given
from tests.conftest import open_at, raising
from tests.ingest.conftest import Repo, unchanged
from tests.ingest.conftest import repo as repo  # noqa: PLC0414 - a fixture is taken over by its name

POISON = "poison"


def poisoned(real: Callable[..., Any], text_of: Callable[..., str]) -> Callable[..., Any]:
    """What fails for a poisoned text, as a rule with a mistake in it would."""

    def act(*arguments: Any) -> Any:
        if POISON in text_of(*arguments):
            raise IndexError("the text itself: poison")
        return real(*arguments)

    return act


def stored(workspace: Workspace) -> dict[str, Memory]:
    return {memory.path: memory for memory in load_space(workspace.store, workspace.space).objects}


def texts(workspace: Workspace) -> list[str]:
    return sorted(memory.raw for memory in stored(workspace).values() if memory.active)


def three(**more: object) -> Given:
    return Given([
        {"path": f"notes/{n}", "raw": text, "metadata": {"source": f"{n}.md"}, **more}
        for n, text in enumerate(["first", POISON, "third"])
    ])  # fmt: skip


def test_one_that_cannot_be_prepared(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingesting, "prepare", poisoned(ingesting.prepare, lambda _, fields: fields["raw"]))
    done = ingest(workspace, three())
    assert (texts(workspace), done.created) == (["first", "third"], 2)
    (failure,) = done.failed
    assert (failure.file, POISON in failure.reason) == ("1.md", False)
    assert failure.reason.startswith("IndexError in test_ingest.py:")


@pytest.mark.parametrize(("replaces", "least"), [([], 32), ([{"under": "notes"}], 32), ([{"under": "notes"}], 2)])
def test_one_that_cannot_be_stored(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, replaces: list[dict[str, str]], least: int
) -> None:
    monkeypatch.setattr(ingesting, "_LEAST", least)  # 2: the poisoned one is in the first write of two
    ingest(workspace, Given([{"path": "notes/old", "raw": "old", "metadata": {"source": "old.md"}}]))
    monkeypatch.setattr(desk, "screened", poisoned(desk.screened, lambda memory: memory.raw))
    done = ingest(workspace, three(replaces=replaces))
    # What it would have replaced stays: perhaps it was this one.
    assert (texts(workspace), [f.file for f in done.failed]) == (["first", "old", "third"], ["1.md"])


def test_a_disk_that_fails_is_no_fault_of_an_item(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest(workspace, three())
    before = texts(workspace)
    more = Given([{"path": f"more/{n}", "raw": f"More {n}.", "metadata": {"source": f"{n}.md"}} for n in range(3)])
    with monkeypatch.context() as patch:
        patch.setattr("memcli.store.snapshot.read_at", raising(OSError(5, "Input/output error")))
        with pytest.raises(StoreError, match="Input/output"):
            ingest(workspace, more)
    assert texts(workspace) == before


def test_a_commit_that_cannot_be_read(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_at(tmp_path)
    repo.commit("one", {"a.py": "a = 1\n"})
    bad = repo.commit(POISON, {"b.py": "b = 1\n"})
    repo.commit("three", {"c.py": "c = 1\n", "d.py": "d = 1\n" * 9})
    monkeypatch.setattr(commits, "candidate", poisoned(commits.candidate, lambda _commit, message, _: message))
    source = CommitSource(str(repo.root), "HEAD")
    done = ingest(workspace, source)
    assert [text.splitlines()[0] for text in texts(workspace)] == ["one", "three", "three"]
    assert [failure.commit for failure in done.failed] == [bad]
    assert source.commits == 2
    monkeypatch.undo()
    again = ingest(workspace, CommitSource(str(repo.root), "HEAD"))
    assert (again.created, again.failed) == (1, [])


def test_a_commit_that_was_read_under_another_policy_is_read_again(repo: Repo, tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    for n in range(3):
        repo.commit(f"{n}", {f"{n}.py": f"n = {n}\n"})

    def governed(shelf: Shelf) -> Change:
        return Change(header=replace(shelf.header, policy=Policy(ttl_days=30)))

    class Changing(CommitSource):
        """Another process sets a policy while the last commit is being read."""

        def candidates(self) -> Any:
            for fields in super().candidates():
                yield fields
                if len(fields) > 1 and fields["metadata"]["subject"] == "0":
                    workspace.store.update(workspace.space, governed)

    ingest(workspace, Changing(str(repo.root), "HEAD"))
    assert (len(texts(workspace)), workspace.commits.load(workspace.space)) == (3, {})
    ingest(workspace, CommitSource(str(repo.root), "HEAD"))
    assert len(workspace.commits.load(workspace.space)) == 3


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.adoc"])
def test_a_file_is_redacted_before_it_is_cut(repo: Repo, tmp_path: Path, name: str) -> None:
    # An empty line after the header, as in an encrypted key, makes the header a heading.
    lines = [b64encode(bytes([n] * 3) + sha256(bytes([n])).digest() + b"plus bytes!!!").decode() for n in range(12)]
    key = ["-----BEGIN RSA" + " PRIVATE KEY-----", "", *lines, "-----END RSA" + " PRIVATE KEY-----"]
    repo.write(name, "\n".join(["Title", "=====", "", *key, "", "After", "-----", "", "The end. " * 200]))
    workspace = open_at(tmp_path)
    done = ingest(workspace, FileSource([str(repo.root)], str(repo.root), redaction(workspace)))
    assert done.redactions == {"private_key": 1}
    told = "\n".join(str(memory) for memory in stored(workspace).values())
    assert [line for line in lines if line in told or line[:24].lower() in told.lower()] == []
    marked = [memory for memory in stored(workspace).values() if "[REDACTED:private_key]" in memory.raw]
    assert [memory.metadata["pii_flags"] for memory in marked] == [["private_key:1"]]


def test_what_makes_a_line_a_secret_may_be_in_another_part_of_the_file(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.txt", f"kind: Secret\n\n{'A note on wool. ' * 90}\n\ndata:\n  one: aHVudGVyMg==\n")
    workspace = open_at(tmp_path)
    done = ingest(workspace, FileSource([str(repo.root)], str(repo.root), redaction(workspace)))
    assert (done.created > 1, done.redactions) == (True, {"assigned_secret": 1})
    assert not any("aHVudGVyMg" in memory.raw for memory in stored(workspace).values())


def test_a_file_that_cannot_be_cut(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_at(tmp_path)
    for name in ("a", POISON, "z"):
        repo.write(f"{name}.md", f"# {name}\n\nText of {name}.\n")
    repo.git("add", "-A")
    monkeypatch.setattr(files, "pieces", poisoned(files.pieces, lambda name, *_: name))
    monkeypatch.setattr(commits, "candidate", poisoned(commits.candidate, lambda _commit, _, diffs: diffs[0].file))
    done = ingest(workspace, FileSource([str(repo.root)], str(repo.root), unchanged))
    assert (done.created, [f.file for f in done.failed]) == (2, [f"{POISON}.md"])
    done = ingest(workspace, StagedSource(str(repo.root)))
    assert (done.created, [f.file for f in done.failed]) == (2, [f"{POISON}.md"])


class FailingAfter:
    """A store whose writes fail after the first `count`."""

    def __init__(self, store: Any, count: int) -> None:
        self._store = store
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def submit(self, *arguments: Any) -> Any:
        self._fail_when_due()
        return self._store.submit(*arguments)

    def update(self, *arguments: Any) -> Any:
        self._fail_when_due()
        return self._store.update(*arguments)

    def _fail_when_due(self) -> None:
        self._count -= 1
        if self._count < 0:
            raise LockedError("space 'main' is locked", "try again")


def test_what_was_stored_before_a_write_failed_is_counted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "_LEAST", 1)
    candidates = three(replaces=()).fields
    source = Given([{**fields, "replaces": [{"under": str(fields["path"])}]} for fields in candidates])
    done = Ingested()
    with pytest.raises(LockedError):
        ingest(workspace.copy_with(store=FailingAfter(workspace.store, 2)), source, done=done)
    assert (done.stored(), texts(workspace)) == ("2 created", ["first", POISON])
    assert ingest(workspace, source).stored() == "1 created"


def test_an_item_stored_by_itself_is_counted_when_a_later_one_cannot_be(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "screened", poisoned(desk.screened, lambda memory: memory.raw))
    done = Ingested()
    with pytest.raises(LockedError):  # the batch as a whole, the first, the poisoned one; then the third fails
        ingest(workspace.copy_with(store=FailingAfter(workspace.store, 3)), three(), done=done)
    assert (done.stored(), texts(workspace)) == ("1 created", ["first"])


def test_writes_grow_with_what_is_stored(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    store = ingesting.offer

    def noted(over: Workspace, candidates: Sequence[Any], **more: Any) -> Any:
        sizes.append(len(candidates))
        return store(over, candidates, **more)

    monkeypatch.setattr(ingesting, "offer", noted)
    count = 900
    ingest(workspace, Given([{"path": f"n/{n}", "raw": f"Text {n}."} for n in range(count)]))
    assert sum(sizes) == count
    for n, size in enumerate(sizes):
        # An interruption loses at most an eighth of what was read, and no more writes are made than that takes.
        assert size <= max(32, sum(sizes[:n]) / 8)
    assert len(sizes) < 24


@pytest.mark.parametrize("least", [1, 2, 3, 100])
def test_a_place_told_of_in_several_writes_loses_what_none_of_them_has(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr(ingesting, "_LEAST", least)
    place = [{"under": "staged", "group": "staged"}]

    def staged(*names: str) -> Given:
        told = [{"replaces": place}]
        return Given([*told, *({
            "path": f"staged/{name}", "raw": f"Text of {name}.", "replaces": place,
            "metadata": {"source": name, "group": "staged"}, "provenance": {"source": "observed"},
        } for name in names)])  # fmt: skip

    ingest(workspace, staged("a", "b", "c", "d", "e"))
    done = ingest(workspace, staged("a", "c", "e", "f"))
    assert (done.created, done.deduplicated, done.retired) == (1, 3, 2)
    assert texts(workspace) == [f"Text of {name}." for name in "acef"]


def test_an_error_between_two_writes_says_what_was_done() -> None:
    done = Ingested(created=2, retired=1)
    with pytest.raises(LockedError) as locked, reporting_done(done.stored):
        raise LockedError("space 'main' is locked", "nothing was changed")
    assert locked.value.message == "stopped after 2 created, 1 retired: space 'main' is locked"
    assert locked.value.hint == "run the command again to do the rest"
    with (
        pytest.raises(StoreError, match="stopped after 2 created, 1 retired: Input/output error"),
        reporting_done(done.stored),
    ):
        raise OSError(5, "Input/output error")
    with pytest.raises(LockedError, match=r"^locked$"), reporting_done(Ingested().stored):
        raise LockedError("locked", "")


def place(name: str) -> FilePlace:
    return FilePlace(name, name)


def read(workspace: Workspace, *paths: str, source: str = "a.md", **fields: object) -> None:
    one = {"metadata": {"source": source}, "provenance": {"source": "observed", "files": [source]}, **fields}
    ingest(workspace, Given([{"path": path, "raw": f"Text of {path}.", **one} for path in paths]))


def test_all_memories_of_a_file_go_with_it(workspace: Workspace) -> None:
    read(workspace, "a.md", "a.md/deploy", anchors=[{"file": "a.md", "hash": "x"}, {"file": "z", "hash": "y"}])
    read(workspace, "b.md", source="b.md")
    before = stored(workspace)
    assert relocate(workspace, [(place("a.md"), place("docs/new.md"))]) == 2
    after = stored(workspace)
    assert sorted(after) == ["b.md", "docs/new.md", "docs/new.md/deploy"]
    moved = after["docs/new.md/deploy"]
    assert (moved.id, moved.created_at) == (before["a.md/deploy"].id, before["a.md/deploy"].created_at)
    assert (moved.version, moved.metadata["source"]) == (2, "docs/new.md")
    assert moved.provenance["files"] == ["docs/new.md"]
    assert [anchor["file"] for anchor in moved.anchors] == ["docs/new.md", "z"]
    assert relocate(workspace, [(place("a.md"), place("docs/new.md"))]) == 0


def test_what_happened_to_a_file_stays_where_it_was(workspace: Workspace) -> None:
    read(workspace, "code/a.md/1", kind="diff", provenance={"commit": "1" * 40})
    read(workspace, "code/a.md/2", provenance={"commit": "1" * 40})
    assert relocate(workspace, [(place("a.md"), place("b.md"))]) == 0


def test_one_that_was_put_elsewhere_or_has_no_room_is_marked(workspace: Workspace) -> None:
    read(workspace, "a.md", "a.mdx", "topics/deploy")
    read(workspace, "b.md", source="b.md")
    assert relocate(workspace, [(place("a.md"), place("b.md"))]) == 3
    assert {path: m.active for path, m in stored(workspace).items()} == {
        "a.md": False, "a.mdx": False, "topics/deploy": False, "b.md": True,
    }  # fmt: skip


def test_a_new_file_in_the_old_place_gets_a_memory_of_its_own(workspace: Workspace) -> None:
    read(workspace, "a.md")
    relocate(workspace, [(place("a.md"), place("b.md"))])
    read(workspace, "a.md")
    read(workspace, "b.md", source="b.md")
    after = stored(workspace)
    assert {path: (m.active, m.metadata["source"]) for path, m in after.items()} == {
        "a.md": (True, "a.md"), "b.md": (True, "b.md"),
    }  # fmt: skip
    assert after["a.md"].id != after["b.md"].id
    again = remember(workspace, [prepare(workspace, {"path": "a.md", "raw": "x", "metadata": {"source": "a.md"}})])
    assert (again.outcomes[0].status, again.outcomes[0].id) == ("updated", after["a.md"].id)


def test_a_secret_in_a_name_is_not_stored(workspace: Workspace) -> None:
    secret = "AKIA" + "Z7QX5RMW2KDJ4TNB"
    read(workspace, "a.md")
    relocate(workspace, [(place("a.md"), place(f"of-{secret}.md"))])
    (after,) = stored(workspace).values()
    assert secret not in str(after)
    assert after.active


def test_a_summary_that_begins_with_the_name_begins_with_the_new_one(workspace: Workspace) -> None:
    read(workspace, "a", source="a", summary_micro="a: Defines a cat.", summary_short="Feeds a cat.")
    relocate(workspace, [(place("a"), place("b"))])
    moved = stored(workspace)["b"]
    assert (moved.summary_micro, moved.summary_short) == ("b: Defines a cat.", "Feeds a cat.")
